"""Renders standing intents: made by /remind, listed under /reminders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from relay.commands.reminders import intents as commands
from relay.core.models import Button
from relay.core.text import escape_markdown, pluralize, shorten
from relay.memory.rows.proactive.reminders import Intent
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import action
from relay.surfaces.chat.reply import ButtonReply, button

STATUSES = {"delete": "deleted", "back": "active", "yes": "active"}


def describe(one: Intent) -> str:
    """Renders an intent (Markdown)."""
    text = f"💡 When you mention “{escape_markdown(one.about)}”: {escape_markdown(one.text)}"
    if one.status == "deleted":
        return f"~~{text}~~\nDeleted."
    if one.status == "proposed":
        return f"{text}\nNeeds your OK."
    left = pluralize(one.most - one.used, "more time")
    return f"{text}\n{say_rest(one.cooldown_hours)}, up to {left} until {one.expires_at:%Y-%m-%d}."


def say_rest(hours: int) -> str:
    """Says how often an intent applies at most."""
    if hours == 24:
        return "At most once a day"
    return f"At most once every {pluralize(hours, 'hour')}" if hours else "Each time"


def lines(found: Sequence[Intent]) -> list[str]:
    """Renders the intents under the list of reminders."""
    if not found:
        return []
    shown = [f"💡 {escape_markdown(one.about)}: {escape_markdown(shorten(one.text, 60))}" for one in found]
    return ["**When you mention**\n" + "\n".join(shown)]


def list_rows(found: Sequence[Intent]) -> list[list[Button]]:
    """Returns buttons that open the intents."""
    return [[button(f"💡 {shorten(one.about, 20)}", open_intent(one.id)) for one in found]] if found else []


def rows_of(one: Intent) -> list[list[Button]]:
    """Returns the buttons under an intent."""
    if one.status == "deleted":
        return [[button("↩ Undo", act_on_intent(one.id, "back"))]]
    yes = [button("✅ Yes", act_on_intent(one.id, "yes"))] if one.status == "proposed" else []
    return [[*yes, button("🗑 Delete", act_on_intent(one.id, "delete"))]]


@action("rw")
async def open_intent(call: ChatContext, intent_id: int) -> ButtonReply:
    """Shows one intent."""
    found = next((one for one in await commands.intents(call) if one.id == intent_id), None)
    if found is None:
        return ButtonReply(commands.GONE, refused=True)
    return ButtonReply(text=describe(found), rows=rows_of(found), result=found)


@action("ri")
async def act_on_intent(call: ChatContext, intent_id: int, what: Literal["delete", "back", "yes"]) -> ButtonReply:
    """Deletes an intent, restores it, or starts it."""
    now = await commands.set_intent(call, intent_id, STATUSES[what])
    return ButtonReply(text=describe(now), rows=rows_of(now), result=now)
