"""Documents that people sent."""

from __future__ import annotations

from relay.memory.calls.base import Calls, Json
from relay.models import Space


class DocumentCalls(Calls):
    """The texts that are kept in parts."""

    async def open_document(self, space: Space, name: str, part: int, version: int | None) -> Json:
        """A part of the document of a name, of several the `version` (1: the oldest) or the newest: `{document, part,
        text, others: [document]}`; `text` is None when there is no such part. When no name is like it, or several are,
        or there is no such version: `{documents}`. A document is `{name, kind, pages, parts, version, versions,
        sent_by, sent_at}`."""
        found: Json = await self._call("open_document", space=space.as_json(), name=name, part=part, version=version)
        return found
