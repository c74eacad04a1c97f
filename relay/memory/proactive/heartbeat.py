"""The checks of a heartbeat and of a reminder. If nothing has changed, no model is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import groupby

from relay.core.errors import RelayError
from relay.core.prompt_markup import neutralize_markup
from relay.core.text import escape_markdown
from relay.memory.proactive.looking import ACTIVE_HOURS, Lookout, Notice, Task, explain_closed, look
from relay.memory.reminders.recurrence import keep_to_day
from relay.memory.rows.found import FoundEntry
from relay.memory.rows.jobs import ClaimedJob
from relay.memory.rows.proactive.heartbeat import Heartbeat, HeartbeatWork, Looked
from relay.memory.rows.proactive.reminders import Checked, DueReminder
from relay.memory.writing.summaries import format_message

RECALLED = 8
ALL_DAY = (0, 24)
"""All hours are active, because the person chose the hour. A rule of hours that names none comes only by day."""
CHECK_SECONDS = 240
AGAIN = timedelta(minutes=30)
"""How long to wait after a failure before checking again."""
UNCHANGED = "nothing was new"
SILENT = "nothing to say"
SAID = "told you something"
NO_ACCESS = "you no longer have access"
LOOKED = (UNCHANGED, SILENT, SAID)
"""The outcomes of a check that no gate stopped."""
FOR_ALL = "Whatever needs their attention today: dates, promises, open ends."
"""The task for people who wrote no checklist."""


async def check(lookout: Lookout, one: DueReminder, now: datetime) -> Checked:
    """Checks whether a reminder has something to say. A closed gate or a failure is also a result."""
    state = await lookout.store.proactive_gate(one.space_id, one.user_id, lookout.gate.budget.day())
    if one.user_id not in lookout.allowed():
        return Checked("", NO_ACCESS)
    hours = ALL_DAY if keep_to_day(one.rule, one.start_at) == one.rule else ACTIVE_HOURS
    if why := explain_closed(state, lookout.limits, one.tzinfo, hours):
        return Checked("", why, again=now + AGAIN if state.answering or not one.rule else None)
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


async def beat(lookout: Lookout, bot_id: int, job: ClaimedJob) -> bool:
    """Does a heartbeat's check. Returns whether a message is sent. Raises the `ModelError` tree and `BudgetUsedUp`."""
    work = await lookout.store.heartbeat_work(job)
    if work is None:
        return False
    return await lookout.store.looked(job, bot_id, await judge_look(lookout, work))


async def judge_look(lookout: Lookout, work: HeartbeatWork) -> Looked:
    """Returns the result of a check."""
    own = work.heartbeat
    state = await lookout.store.proactive_gate(own.space_id, own.user_id, lookout.gate.budget.day())
    again = next_look(own, state.now)
    if not work.changed:
        return Looked(UNCHANGED, again, "", work.through_message, work.through_reminder)
    if own.user_id not in lookout.allowed():
        return Looked(NO_ACCESS, again)
    if why := explain_closed(state, lookout.limits, own.tzinfo, (own.from_hour, own.to_hour)):
        return Looked(why, again)
    words = own.checklist or FOR_ALL
    at = state.now.astimezone(own.tzinfo)
    task = Task("heartbeat", f"{work.through_message}", own.space_id, own.user_id, words, material_of(work), at)
    notice = await look(lookout, task)
    said = f"💓 {escape_markdown(notice.text)}" if notice.send else ""
    return Looked(SAID if said else SILENT, again, said, work.through_message, work.through_reminder, work.tainted)


def material_of(work: HeartbeatWork) -> str:
    """Formats what is new since the last check, with days and times in the person's time zone."""
    zone = work.heartbeat.tzinfo
    lines = ["New messages:"]
    for day, messages in groupby(work.messages, lambda one: one.at.astimezone(zone).date()):
        lines.append(f"({day:%A, %Y-%m-%d})")
        lines += [format_message(m.role, m.name, m.text, m.untrusted) for m in messages]
    if work.learned:
        lines += ["Noted since:", *(f"- {neutralize_markup(one)}" for one in work.learned)]
    if work.reminders:
        lines += ["Reminders within a day:"]
        due = [(one.text, one.next_at.astimezone(zone)) for one in work.reminders if one.next_at]
        lines += [f"- {neutralize_markup(text)} ({at:%Y-%m-%d %H:%M})" for text, at in due]
    return "\n".join(lines)


def next_look(own: Heartbeat, now: datetime) -> datetime:
    """Returns the time of the next check: after the interval, within the person's active hours."""
    at = now.astimezone(own.tzinfo) + timedelta(hours=own.every_hours)
    if at.hour < own.from_hour:
        return at.replace(hour=own.from_hour, minute=0, second=0, microsecond=0)
    if at.hour >= own.to_hour:
        tomorrow = at + timedelta(days=1)
        return tomorrow.replace(hour=own.from_hour, minute=0, second=0, microsecond=0)
    return at
