"""Suggests past sessions that fit a new conversation."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from relay.commands.contexts.library import UNASKED_FLOOR, suggest
from relay.commands.history.sessions import sessions as list_sessions
from relay.core.models import Button
from relay.core.text import escape_markdown, format_tokens, shorten
from relay.memory.rows.contexts.library import Suggestion
from relay.surfaces.chat.callbacks import Callback
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.contexts.buttons import OpenSession
from relay.surfaces.chat.reply import button

NAMED = 3
"""The most sessions named without being asked."""


async def these_fit(
    call: ChatContext, words: str, to: Callable[[int], Callback] = OpenSession, icon: str = "📖"
) -> tuple[str, list[list[Button]]]:
    """Returns a line that names past sessions that fit, and a button for each; empty if none fits. `to`: makes the
    button's action from a session's id."""
    found = (await suggest(call, words, floor=UNASKED_FLOOR))[:NAMED] if words.strip() else []
    if not found:
        return "", []
    fits = "An earlier conversation fits" if len(found) == 1 else "Earlier conversations fit"
    named = ", ".join(f"“{escape_markdown(name(one))}”" for one in found)
    return f"\n\n{fits}: {named}.", [[button(f"{icon} {shorten(name(one), 30)}", to(one.session_id))] for one in found]


async def present_topic(call: ChatContext) -> str:
    """Returns what the running conversation is about: its title or first words; empty if nothing was said."""
    latest = (await list_sessions(call, 0, 1)).sessions
    if not latest or not latest[0].present:
        return ""
    return latest[0].title or (latest[0].first.text if latest[0].first else "")


def name(one: Suggestion) -> str:
    """Returns a session's title, or its first words."""
    return shorten(one.title or one.first or "without a title", 60)


def suggestion_lines(found: Sequence[Suggestion]) -> str:
    """Lists suggestions, one per line, with the tokens that each would take."""
    return "\n".join(
        f"#{one.session_id} {name(one)} · {one.score:.2f} · "
        + ("needs a version of " if one.make else f"{one.version}, " if one.version else "original, ")
        + f"{format_tokens(one.tokens)} tokens"
        + (" · linked" + (f": {one.linked}" if one.linked else "") if one.linked is not None else "")
        for one in found
    )
