"""One method per SQL function: the only caller of the database."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from relay.models import Claimed, Context, Incoming, Space
from relay.ports import Database

LEASE_SECONDS = 60
IDLE_HOURS = 12
"""A session ends after this much silence."""
MEMORY_CHARACTERS = 24_000
RECENT_CHARACTERS = 400_000
RECALLED = 5
FAILURES = 3
"""A turn that failed this often is set aside."""

Json = dict[str, Any]
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
"""What no Postgres text can hold: NUL, and halves of a character that JSON can carry."""
SUSPECT = re.compile(r"\\u0000|[\ud800-\udfff]")
"""The same in JSON: found far sooner than by looking at every text."""


class Store:
    """Relay's state. `worker` names this process: what it holds, it alone may write."""

    def __init__(self, database: Database, worker: str) -> None:
        self._database = database
        self._worker = worker

    async def _call(self, function: str, **arguments: Any) -> Any:
        if SUSPECT.search(json.dumps(arguments, ensure_ascii=False)):
            arguments = storable(arguments)
        return await self._database.call(function, **arguments)

    # The queue

    async def intake(
        self, bot_id: int, updates: list[Json], limit: int, running: Sequence[int] = ()
    ) -> tuple[list[Claimed], float | None]:
        """Stores updates (each once) and claims up to `limit` due turns. Returns them and the seconds until more."""
        result = await self._call(
            "intake",
            bot_id=bot_id,
            worker=self._worker,
            updates=updates,
            limit=limit,
            lease_seconds=LEASE_SECONDS,
            running=list(running),
        )
        return [Claimed.from_json(row) for row in result["turns"]], result["wait"]

    async def claim(self, bot_id: int, limit: int, running: Sequence[int] = ()) -> tuple[list[Claimed], float | None]:
        """Claims up to `limit` turns beside those that are `running` here.

        Returns them and the seconds until more may be due (None: nothing known).
        """
        result = await self._call(
            "claim",
            bot_id=bot_id,
            worker=self._worker,
            limit=limit,
            lease_seconds=LEASE_SECONDS,
            running=list(running),
        )
        return [Claimed.from_json(row) for row in result["turns"]], result["wait"]

    async def absorb(self, turn: Claimed) -> Claimed:
        """Lets what its user said meanwhile join a turn that has not answered yet."""
        return Claimed.from_json(await self._call("absorb", turn_id=turn.turn_id, fence=turn.fence))

    async def release(self) -> int:
        """Frees everything this worker's name holds. Returns how many turns that was."""
        return int(await self._call("release", worker=self._worker))

    async def renew(self, turn_ids: Sequence[int]) -> list[int]:
        """Prolongs leases. Returns the turns that are no longer this worker's."""
        return list(await self._call("renew", worker=self._worker, turns=list(turn_ids), lease_seconds=LEASE_SECONDS))

    async def fail(self, turn: Claimed, error: str, retry_seconds: float) -> bool:
        """Gives a turn up for now. Returns whether it was set aside for good."""
        result = await self._call(
            "fail", turn_id=turn.turn_id, fence=turn.fence, error=error, retry_seconds=retry_seconds, most=FAILURES
        )
        return bool(result["set_aside"])

    async def tidy(self, days: int, limit: int) -> int:
        """Drops what only served to recognise repeated updates. Returns how many rows went."""
        return int(await self._call("tidy", days=days, limit=limit))

    # A turn

    async def begin(self, incoming: Incoming, model: str) -> Context:
        """Saves what the user said and loads what the prompt is made of."""
        result = await self._call(
            "begin",
            turn_id=incoming.turn_id,
            fence=incoming.fence,
            input={
                "bot_id": incoming.bot_id,
                "space": incoming.space.as_json(),
                "chat_id": incoming.chat_id,
                "topic_id": incoming.topic_id,
                "user_id": incoming.user_id,
                "name": incoming.name,
                "text": incoming.text,
                "blocks": incoming.blocks,
                "untrusted": incoming.untrusted,
                "telegram_message_ids": incoming.telegram_message_ids,
                "reply_to": asdict(incoming.reply_to) if incoming.reply_to else None,
                "retry": incoming.retry,
                "retry_turn": incoming.retry_turn,
                "model": model,
                "idle_hours": IDLE_HOURS,
                "memory_budget": MEMORY_CHARACTERS,
                "recent_budget": RECENT_CHARACTERS,
            },
        )
        return Context(
            space_id=result["space_id"],
            thread_id=result["thread_id"],
            message_id=result["message_id"],
            soul=result["soul"] or {"version": 0, "text": ""},
            memories=result["memories"],
            summary=result["summary"],
            recent=result["recent"],
            message=result["message"],
            reply_to=result["reply_to"],
        )

    async def topic_of(self, bot_id: int, chat_id: int, telegram_message_id: int) -> int:
        """The topic in which a message of ours stands; 0 when that is not known."""
        found = await self._call("topic_of", bot_id=bot_id, chat_id=chat_id, telegram_message_id=telegram_message_id)
        return int(found or 0)

    async def recall(self, incoming: Incoming) -> list[Json]:
        """What was said elsewhere or earlier in this space that bears on the message, best first."""
        result = await self._call(
            "recall",
            space=incoming.space.as_json(),
            chat_id=incoming.chat_id,
            topic_id=incoming.topic_id,
            query=incoming.text[:2000],
            limit=RECALLED,
        )
        return list(result["messages"])

    async def finish(self, incoming: Incoming, reply: Json) -> Json:
        """Saves the answer with all that it did. Returns what is told about it, with the memory changes."""
        result: Json = await self._call("finish", turn_id=incoming.turn_id, fence=incoming.fence, reply=reply)
        return result

    # Delivery

    async def deliver(self, turn: Claimed, bot_id: int, parts: list[Json]) -> list[Json]:
        """Stores a reply's parts (once) and marks the first as being sent. Returns all of them."""
        return list(await self._call("deliver", turn_id=turn.turn_id, fence=turn.fence, bot_id=bot_id, parts=parts))

    async def preview(self, turn: Claimed, bot_id: int, chat_id: int, request: Json) -> Json:
        """Stores a streaming preview that is a real message, as part 1, marked as being sent."""
        result: Json = await self._call(
            "preview", turn_id=turn.turn_id, fence=turn.fence, bot_id=bot_id, chat_id=chat_id, request=request
        )
        return result

    async def sending(self, turn: Claimed, results: list[Json], seq: int) -> Json:
        """Marks parts by their results and the next one, `seq`, as being sent. Returns that one."""
        result: Json = await self._call("sending", turn_id=turn.turn_id, fence=turn.fence, results=results, seq=seq)
        return result

    async def sent(self, turn: Claimed, results: list[Json], done: bool) -> tuple[bool, bool]:
        """Marks parts by their results; closes the turn when `done`.

        Returns whether the lane has more to do and whether a summary is due.
        """
        result = await self._call("sent", turn_id=turn.turn_id, fence=turn.fence, results=results, done=done)
        return bool(result["more"]), bool(result["summary"])

    async def stop_delivery(self, turn: Claimed, results: list[Json], request: Json) -> Json:
        """Gives up the parts that were not sent; `request` becomes the last, marked as being sent. Returns that one."""
        result: Json = await self._call(
            "stop_delivery", turn_id=turn.turn_id, fence=turn.fence, results=results, request=request
        )
        return result

    async def regroup(self, bot_id: int, before: int, now: int, turn_id: int | None = None) -> None:
        """Moves a group that became a supergroup to its new id, and what of `turn_id` is being sent there."""
        await self._call("regroup", bot_id=bot_id, before=before, now=now, turn_id=turn_id)

    async def known_ids(self, bot_id: int, chat_id: int, above: int, limit: int) -> tuple[set[int], int, list[int]]:
        """The recorded message ids in (above, above + limit], the highest known one, and unrecorded ones near those
        of the chat itself."""
        result = await self._call("known_ids", bot_id=bot_id, chat_id=chat_id, above=above, limit=limit)
        return set(result["known"]), int(result["highest"]), list(result["near"])

    async def posted(self, bot_id: int, chat_id: int, telegram_message_id: int) -> None:
        """Takes down a notice of ours that is no part of an answer."""
        await self._call("posted", bot_id=bot_id, chat_id=chat_id, telegram_message_id=telegram_message_id)

    # Memory

    async def change_memory(self, turn: Claimed, space: Space, actions: list[Json]) -> Json:
        """Remembers or forgets by a person's own word. Returns `{changes, failed}`."""
        result: Json = await self._call(
            "change_memory", turn_id=turn.turn_id, fence=turn.fence, space=space.as_json(), actions=actions
        )
        return result

    async def memories(self, space: Space, offset: int, limit: int) -> Json:
        """A page of what is known: `{total, pending, memories}`, newest first."""
        result: Json = await self._call("memories", space=space.as_json(), offset=offset, limit=limit)
        return result

    async def memory(self, space: Space, memory_id: int) -> Json | None:
        """One active memory of a space; None when there is none of that id."""
        found: Json | None = await self._call("memory", space=space.as_json(), memory_id=memory_id)
        return found

    async def edit_target(self, bot_id: int, chat_id: int, telegram_message_id: int) -> int | None:
        """The memory that an edit prompt of ours asks about; None when the message is no edit prompt."""
        found = await self._call("edit_target", bot_id=bot_id, chat_id=chat_id, telegram_message_id=telegram_message_id)
        return None if found is None else int(found)

    async def changes(self, turn_id: int, user_id: int, admin: bool) -> list[Json] | None:
        """What a turn changed in memory, for a person who may decide about some of it; None for anybody else."""
        found: list[Json] | None = await self._call("changes", turn_id=turn_id, user_id=user_id, admin=admin)
        return found

    async def turn_of_change(self, change_id: int) -> int:
        """The turn that a change belongs to; 0 for none."""
        return int(await self._call("turn_of_change", change_id=change_id) or 0)

    async def decide_change(self, change_id: int, user_id: int, admin: bool, decision: str) -> list[Json] | None:
        """undo, keep or discard. Returns the turn's changes after it; None when this person may not.

        A change whose memory was changed again since is not undone: it stays applied.
        """
        found: list[Json] | None = await self._call(
            "decide_change", change_id=change_id, user_id=user_id, admin=admin, decision=decision
        )
        return found

    async def search_history(
        self, space_id: int, query: str, limit: int, since: str | None, until: str | None
    ) -> list[Json]:
        """Messages of a space by words; `since` and `until` are ISO 8601 times."""
        return list(
            await self._call("search_history", space_id=space_id, query=query, limit=limit, since=since, until=until)
        )

    # Soul, sessions, status

    async def soul(self) -> Json | None:
        """The active soul."""
        found: Json | None = await self._call("soul")
        return found

    async def set_soul(self, text: str, author_id: int, reason: str) -> int:
        """Activates a soul. Returns its version."""
        return int(await self._call("set_soul", text=text, author_id=author_id, reason=reason))

    async def new_session(self, space: Space, chat_id: int, topic_id: int, title: str) -> Json:
        """Ends a thread's session. Returns `{session_id, messages}`."""
        result: Json = await self._call(
            "new_session", space=space.as_json(), chat_id=chat_id, topic_id=topic_id, title=title
        )
        return result

    async def status(self, space: Space) -> Json:
        """How things stand, in numbers."""
        result: Json = await self._call("status", space=space.as_json())
        return result

    # Summaries

    async def claim_summaries(self, limit: int, lease_seconds: int) -> list[Json]:
        """Leases summaries that are due, with what each is made of."""
        return list(await self._call("claim_summaries", worker=self._worker, limit=limit, lease_seconds=lease_seconds))

    async def store_summary(self, due_id: int, summary: Json) -> bool:
        """Stores a summary. Returns False when the lease was lost or it is there already."""
        return bool(await self._call("store_summary", due_id=due_id, worker=self._worker, summary=summary))

    async def skip_summary(self, due_id: int) -> None:
        """Settles a due row for which there is too little to summarise."""
        await self._call("skip_summary", due_id=due_id, worker=self._worker)

    async def fail_summary(self, due_id: int, error: str, retry_seconds: float, most: int) -> None:
        """Puts a summary off, up to `most` times."""
        await self._call(
            "fail_summary", due_id=due_id, worker=self._worker, error=error, retry_seconds=retry_seconds, most=most
        )


def storable(value: Any) -> Any:
    """A JSON value whose texts Postgres can hold: what it cannot becomes the replacement character."""
    if isinstance(value, str):
        return UNSTORABLE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {storable(key): storable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [storable(item) for item in value]
    return value
