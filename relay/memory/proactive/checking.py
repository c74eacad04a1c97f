"""Reminders of the kind check: the model looks at what it knows before anything is sent."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta

from relay.core.errors import RelayError
from relay.core.prompt_markup import neutralize_markup
from relay.memory.proactive.looking import Lookout, Notice, Task, explain_closed, look
from relay.memory.rows.found import FoundEntry
from relay.memory.rows.proactive.reminders import Checked, DueReminder

RECALLED = 8
ALL_DAY = (0, 24)
"""All hours are active, because the person chose the hour."""
CHECK_SECONDS = 240
AGAIN = timedelta(minutes=30)
"""How long to wait after a failure before checking again."""


async def check(lookout: Lookout, one: DueReminder, now: datetime) -> Checked:
    """Checks whether a reminder has something to say. A closed gate or a failure is also a result."""
    state = await lookout.store.proactive_gate(one.space_id, one.user_id, lookout.gate.budget.day())
    if why := explain_closed(state, lookout.limits, one.tzinfo, ALL_DAY):
        return Checked("", why, again=now + AGAIN if state.answering else None)
    try:
        found = await recall(lookout, one)
        async with asyncio.timeout(CHECK_SECONDS):
            notice = await ask(lookout, one, found, now)
    except (RelayError, TimeoutError) as error:
        why = error.plain if isinstance(error, RelayError) else "it took too long."
        return Checked("", f"the model couldn't be asked: {why}", again=now + AGAIN)
    if not notice.send:
        return Checked("", "nothing to say")
    return Checked(notice.text, tainted=notice.tainted or has_others(one, found))


def has_others(one: DueReminder, found: Sequence[FoundEntry]) -> bool:
    """Tests whether others' words are among what is known."""
    speaker = one.user_id if one.space.kind == "group" else None
    return any(row.is_foreign(speaker) for row in found)


async def recall(lookout: Lookout, one: DueReminder) -> list[FoundEntry]:
    """Returns what is known about a reminder's words."""
    asker: dict[str, object] = {"chat_id": one.chat_id, "topic_id": one.topic_id, "bot_id": 0, "turn_id": None}
    return await lookout.store.look_up(one.space, asker, {"text": one.text}, RECALLED) or []


async def ask(lookout: Lookout, one: DueReminder, found: Sequence[FoundEntry], now: datetime) -> Notice:
    """Asks the model, with what is known about the reminder's words."""
    lines = [f"- {row.at.astimezone(one.tzinfo):%Y-%m-%d}: {neutralize_markup(row.snippet)}" for row in found]
    material = "What is known about it:\n" + ("\n".join(lines) or "(nothing)")
    at = now.astimezone(one.tzinfo)
    key = f"{one.id} {one.occurrence or one.next_at}"
    tools = lookout.tools_for(one, one.tainted or has_others(one, found)) if lookout.tools_for else None
    return await look(lookout, Task("check", key, one.space_id, one.user_id, one.text, material, at, tools=tools))
