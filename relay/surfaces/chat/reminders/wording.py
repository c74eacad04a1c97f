"""Says when a reminder is due, how often, and who sends it."""

from __future__ import annotations

from datetime import datetime, timedelta, tzinfo

from relay.commands.session.zones import say_zone
from relay.core.program import RELAY
from relay.memory.rows.proactive.reminders import Reminder
from relay.memory.rows.proactive.rule_words import say_rule
from relay.surfaces.chat.context import ChatContext


def show_moment(at: datetime, zone: tzinfo, now: datetime) -> str:
    """Says a moment (Markdown). In Telegram, people see it in their own zone and language."""
    return f"[{plain_moment(at, zone, now)}](tg://time?unix={int(at.timestamp())})"


def plain_moment(at: datetime, zone: tzinfo, now: datetime) -> str:
    """Says a moment in a zone: today 18:30, tomorrow 9:00, Fri 27 Nov 8:00, 24 Dec 2027 18:00. If the clocks show it
    twice, it says which one: today 2:30 CET."""
    local, today = at.astimezone(zone), now.astimezone(zone).date()
    twice = local.utcoffset() != local.replace(fold=1 - local.fold).utcoffset()
    clock = f"{local.hour}:{local:%M}" + (f" {local:%Z}" if twice else "")
    if local.date() == today:
        return f"today {clock}"
    if local.date() == today + timedelta(days=1):
        return f"tomorrow {clock}"
    if timedelta() < local.date() - today < timedelta(days=300):
        return f"{local:%a} {local.day} {local:%b} {clock}"
    return f"{local.day} {local:%b} {local.year} {clock}"


def say_repeats(one: Reminder, zone: tzinfo) -> str:
    """Says how often a reminder comes. Names its zone if it isn't the reader's."""
    return one.repeats if str(zone) == one.zone else say_rule(one.rule, one.start_at, say_zone(one.zone))


async def say_who_sends(call: ChatContext, does: str = "does that") -> str:
    """Returns a line that a terminal adds, because it sends nothing itself: whether a bot does. Empty in Telegram."""
    if call.bot_id:
        return ""
    known = call.user_id in call.services.people.named or await call.store.person(call.user_id)
    if known and call.services.installation.has_bot:
        return f"\nThe bot {does} in Telegram, as long as `{RELAY} run` is running."
    return f"\nNothing {does} yet: that needs the Telegram bot, with you as its admin."
