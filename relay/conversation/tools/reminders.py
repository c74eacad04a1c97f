"""The tools with which the model sets, lists and changes reminders."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from typing import Any, get_args

from relay.conversation.model_loop import ToolInput, ToolRun
from relay.conversation.tools.reminder_input import (
    MENTION_LIMITS,
    again_of,
    limits_of,
    moment_of,
    text_of,
    words_of,
    zone_of,
)
from relay.core.limits import INTENT_WORDS_LENGTH, OPEN_INTENTS, OPEN_REMINDERS
from relay.core.models import Incoming, make_tool
from relay.core.prompt_markup import neutralize_markup
from relay.memory.reminders.due import AGAIN_MINUTES
from relay.memory.rows.proactive.reminders import NewReminder, Reminder, ReminderKind
from relay.memory.store import Store

KINDS: dict[str, ReminderKind] = {one: one for one in get_args(ReminderKind)}
MOST_LISTED = 50
WHEN = {
    "at": {"type": "string", "description": "Local time: 2026-12-24T18:00."},
    "rrule": {
        "type": "string",
        "description": "An RRULE to repeat it from `at` on. Hourly: by day, unless BYHOUR is set.",
    },
    "text": {"type": "string", "description": "What to say, in their language."},
    "zone": {"type": "string", "description": "An IANA zone, if not theirs."},
    "again_minutes": {"type": "integer", "description": "For ask; 60 if left out."},
}
SET_REMINDER = make_tool(
    "set_reminder",
    "Reminds the person later, when asked to. If the time is unclear, ask; never guess an hour. The time is shown "
    "under your answer.",
    {
        **WHEN,
        "kind": {
            "type": "string",
            "enum": list(KINDS),
            "description": "ask: repeats until answered, 3 times at most. check: you first see whether there is "
            "anything to tell.",
        },
        "mention": {
            "type": "string",
            "description": "Instead of `at`: one to three words. You are told `text` when they mention them.",
        },
        **{name: {"type": "integer"} for name in MENTION_LIMITS},
    },
    required=("text",),
)
LIST_REMINDERS = make_tool("list_reminders", "Lists the person's open reminders.", {})
CHANGE_REMINDER = make_tool(
    "change_reminder",
    "Changes a reminder. What is left out stays; an empty rrule: once.",
    {"id": {"type": "integer"}, **{name: {"type": given["type"]} for name, given in WHEN.items()}},
    required=("id",),
)
DELETE_REMINDER = make_tool(
    "delete_reminder",
    "Deletes a reminder, by its id or mention.",
    {"id": {"type": "integer"}, "mention": {"type": "string"}},
)
REMINDER_TOOLS = [SET_REMINDER, LIST_REMINDERS, CHANGE_REMINDER, DELETE_REMINDER]
TAINTED = "Not in this turn: somebody else's words are in it. The person can change it with /reminders."
REFUSED = {
    "many": f"They have {OPEN_REMINDERS} open reminders, which is the limit. They can delete some with /reminders.",
    "mentions": f"They have {OPEN_INTENTS} open mentions, which is the limit. They can delete some with /reminders.",
    "words": "mention needs a word.",
    "private": "This conversation is off the record, so no reminder can be kept.",
}


@dataclass
class ReminderTools:
    """The reminder tools of one turn, and what they did."""

    store: Store
    incoming: Incoming
    zone: tzinfo
    tainted: bool = False
    """The model has read untrusted text, so what is set now waits for a tap, and nothing is changed."""
    made: list[Reminder] = field(default_factory=list)
    """The reminders that were set or changed in this turn, to be shown under the answer."""

    @property
    def runs(self) -> dict[str, ToolRun]:
        """Returns the functions that run the tools, by name."""
        return {
            "set_reminder": self.set,
            "list_reminders": self.list,
            "change_reminder": self.change,
            "delete_reminder": self.delete,
        }

    def note_taint(self, tainted: bool) -> None:
        """Notes whether the model has read untrusted text."""
        self.tainted = tainted

    async def set(self, given: ToolInput) -> tuple[str, bool]:
        """Sets a reminder. Raises `ValueError` for an impossible time or rule."""
        text = text_of(given)
        if given.get("mention"):
            return await self.set_intent(given, text), False
        kind = KINDS.get(str(given.get("kind") or "say"))
        if kind is None:
            raise ValueError("kind is say, ask or check")
        start, rule, first, zone = self.moment_of(given, kind)
        made = await self.store.make_reminder(
            NewReminder(
                space=self.incoming.space,
                bot_id=self.incoming.bot_id,
                chat_id=self.incoming.chat_id or self.incoming.user_id,
                topic_id=self.incoming.topic_id,
                user_id=self.incoming.user_id,
                text=text,
                zone=zone,
                start_at=start,
                next_at=first,
                rule=rule,
                kind=kind,
                repeat_minutes=again_of(given) or AGAIN_MINUTES if kind == "ask" else None,
                origin="tool",
                turn_id=self.incoming.turn_id,
                proposed=self.tainted,
            )
        )
        if isinstance(made, str):
            return REFUSED[made], False
        self.note(made)
        waits = " It begins once they press Yes under your answer." if made.status == "proposed" else ""
        return f"Set: {describe(made)}.{waits}", False

    async def set_intent(self, given: ToolInput, text: str) -> str:
        """Sets a standing intent."""
        about = words_of(given)
        if len(about) > INTENT_WORDS_LENGTH:
            raise ValueError(f"mention can have at most {INTENT_WORDS_LENGTH} characters")
        incoming = self.incoming
        made = await self.store.make_intent({
            "space": incoming.space.as_json(), "chat_id": incoming.chat_id, "topic_id": incoming.topic_id,
            "user_id": incoming.user_id, "about": about, "text": text, "turn_id": incoming.turn_id,
            "proposed": self.tainted, **limits_of(given),
        })  # fmt: skip
        if isinstance(made, str):
            return REFUSED["mentions" if made == "many" else made]
        waits = " It begins once they press Yes in /reminders." if made.status == "proposed" else ""
        return f"Set: when they mention “{made.about}”, you will be told.{waits}"

    async def end_intents(self, about: str) -> str:
        """Deletes the person's standing intents about these words."""
        if self.tainted:
            return TAINTED
        space, user = self.incoming.space, self.incoming.user_id
        found = [one for one in await self.store.intents(space, user) if one.about.casefold() == about.casefold()]
        for one in found:
            await self.store.set_intent(space, user, one.id, "deleted", self.incoming.turn_id)
        return f"Deleted: {len(found)}." if found else "There is no such mention. list_reminders shows them."

    async def list(self, given: ToolInput) -> tuple[str, bool]:
        """Lists open reminders; in a group, also other people's, which are untrusted."""
        user = self.incoming.user_id
        page = await self.store.reminders(self.incoming.space, user, 0, MOST_LISTED)
        lines = [
            {"id": one.id, "text": neutralize_markup(one.text), "next": local_text(one), "rule": one.rule or None,
             "status": one.status, **({} if one.user_id == user else {"whose": "somebody else's"})}
            for one in page.reminders
        ]  # fmt: skip
        intents = await self.store.intents(self.incoming.space, user)
        mentions = [{"mention": one.about, "text": neutralize_markup(one.text)} for one in intents]
        told = {"total": page.total, "reminders": lines, "mentions": mentions}
        return json.dumps(told, ensure_ascii=False), any(one.user_id != user for one in page.reminders)

    async def change(self, given: ToolInput) -> tuple[str, bool]:
        """Changes a reminder. Raises `ValueError` for an impossible time or rule."""

        def change_of(one: Reminder) -> dict[str, Any]:
            change: dict[str, Any] = {"event": "changed"}
            if given.get("text"):
                change["text"] = text_of(given)
            if one.kind == "ask" and (again := again_of(given)):
                change["repeat_minutes"] = again
            if given.get("at"):
                kept = {"rrule": one.rule, "zone": one.zone} if one.rule else {}
                start, rule, first, zone = self.moment_of({**kept, **given}, one.kind)
                change |= {"start_at": start.isoformat(), "rule": rule, "next_at": first.isoformat()}
                change |= {"zone": zone, "occurrence": None, "status": "active"}
            elif given.get("rrule"):
                raise ValueError("`at`, the first time of the rule, is missing")
            return change

        return await self.write(given, change_of)

    async def delete(self, given: ToolInput) -> tuple[str, bool]:
        """Deletes a reminder, or a standing intent."""
        if given.get("mention"):
            return await self.end_intents(words_of(given)), False
        return await self.write(given, lambda _: {"event": "deleted", "status": "deleted"})

    async def write(self, given: ToolInput, change_of: Callable[[Reminder], dict[str, Any]]) -> tuple[str, bool]:
        """Stores a change of the person's own reminder, unless the turn is tainted."""
        if self.tainted:
            return TAINTED, False
        user = self.incoming.user_id
        one = await self.store.reminder(self.incoming.space, user, int(given["id"]))
        if one is None or one.user_id != user or one.status == "deleted":
            return "This person has no such reminder.", False
        change = change_of(one) | {"turn_id": self.incoming.turn_id}
        changed = await self.store.change_reminder(one.id, user_id=user, known=one.next_at, **change)
        if changed is None:
            return "It has changed since. List them again.", False
        self.note(changed)
        return f"Now: {describe(changed)}.", False

    def moment_of(self, given: ToolInput, kind: ReminderKind) -> tuple[datetime, str, datetime, str]:
        """Returns the local start, the rule, the first time, and the name of the zone: the person's own, unless it is
        a rule in another. Raises `ValueError` if they are not valid."""
        zone = zone_of(given) or self.zone
        start, rule, first = moment_of(given, zone, kind)
        if not rule:
            zone, start = self.zone, first.astimezone(self.zone).replace(tzinfo=None)
        return start, rule, first, str(zone)

    def note(self, reminder: Reminder) -> None:
        """Notes a reminder to show under the answer."""
        self.made = [*(one for one in self.made if one.id != reminder.id), reminder]


def local_text(one: Reminder) -> str | None:
    """Formats in its zone when a reminder is due next; None: it is over."""
    return f"{one.next_at.astimezone(one.tzinfo):%a %Y-%m-%d %H:%M} {one.zone}" if one.next_at else None


def describe(one: Reminder) -> str:
    """Formats a reminder for the model."""
    if one.status == "deleted":
        return f"{one.id} is deleted"
    return f"{one.id}, {local_text(one)}{f', {one.rule}' if one.rule else ''}"
