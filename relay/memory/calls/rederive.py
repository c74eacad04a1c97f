"""What was derived from the record, and what takes its place when it is derived again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from relay.memory.calls.base import Calls, Json
from relay.models import Space


class RederiveCalls(Calls):
    """Deriving again."""

    async def derived_summaries(self, space: Space, since: datetime | None, after: int) -> list[Json]:
        """The next summaries of a space that a model made since then: `{id, thread_id}`."""
        since_then = since and since.isoformat()
        return list(await self._call("derived_summaries", space=space.as_json(), since=since_then, after=after))

    async def derived_summary(self, id: int) -> Json | None:
        """A summary with what it was made of: `{id, thread_id, space_id, text, hash, previous, messages}`."""
        found: Json | None = await self._call("derived_summary", id=id)
        return found

    async def replace_summary(self, id: int, was: str, summary: Json) -> bool:
        """Puts another text in a summary's place, if it still says `was`; whether it did."""
        return bool(await self._call("replace_summary", id=id, was=was, summary=summary))

    async def told_threads(self, space: Space, since: datetime | None, after: int, version: str) -> list[Json]:
        """The next threads of a space in which something was said since then that another version may have judged:
        `{id, space_id}`."""
        found = await self._call(
            "told_threads", space=space.as_json(), since=since and since.isoformat(), after=after, version=version
        )
        return list(found)

    async def rejudged(self, thread_id: int, version: str) -> None:
        """A thread holds findings of this version of the judge alone."""
        await self._call("rejudged", thread_id=thread_id, version=version)

    async def told_messages(self, thread_id: int, since: datetime | None, after: int, limit: int) -> list[Json]:
        """The next messages of a thread from which something may be learned."""
        since_then = since and since.isoformat()
        return list(await self._call("told_messages", thread_id=thread_id, since=since_then, after=after, limit=limit))

    async def derived_memories(self, space_id: int, name: str, messages: Sequence[int]) -> list[Json]:
        """What a derivation keeps now of some messages: `{id, content, kind, subject_id, subject, evidence, held}`."""
        found = await self._call(
            "derived_memories", space_id=space_id, name=name, messages=[str(number) for number in messages]
        )
        return list(found)

    async def known_besides(self, space_id: int, name: str, messages: Sequence[int]) -> list[Json]:
        """What else is known of some messages, or was until it was over, beside what a derivation keeps of them now:
        `{content, subject_id, evidence, tainted}`."""
        found = await self._call(
            "known_besides", space_id=space_id, name=name, messages=[str(number) for number in messages]
        )
        return list(found)

    async def wanted(self, space_id: int, candidates: Sequence[Json]) -> list[bool]:
        """Which of these candidates (`{subject_id, evidence}`) nobody has forgotten, undone or discarded before."""
        told = [{"subject_id": one["subject_id"], "evidence": list(one["evidence"])} for one in candidates]
        return list(await self._call("wanted", space_id=space_id, candidates=told))

    async def apply_derived(self, space_id: int, was: Json | None, memory: Json | None) -> bool:
        """Keeps what was derived again in the place of what it was until now; whether it did. `memory` may tell how it
        stands to that: `{action: refine or supersede, memory_id}`."""
        return bool(await self._call("apply_derived", space_id=space_id, was=was, memory=memory))
