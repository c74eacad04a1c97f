"""Documents that people sent."""

from __future__ import annotations

from relay.memory.calls.base import Calls, Json
from relay.models import Space


class DocumentCalls(Calls):
    """The texts that are kept in parts."""

    async def read_document(self, space: Space, name: str, part: int) -> Json:
        """A part of the document of a name: `{document, part, text, versions}`; `text` is None when there is no such
        part. When no name is like it, or several are: `{documents}`."""
        found: Json = await self._call("read_document", space=space.as_json(), name=name, part=part)
        return found
