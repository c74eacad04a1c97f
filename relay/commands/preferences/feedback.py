"""Feedback: what somebody says about an answer, or about answers in general."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from relay.commands.context import CommandContext
from relay.commands.history.why import NO_ANSWER_YET, NOT_AN_ANSWER
from relay.commands.registry import command
from relay.core.errors import CommandRefused
from relay.memory.preferences.patterns import Pattern, read_pattern, read_patterns
from relay.memory.rows.preferences import FeedbackResult, Preference

REFUSED = {
    "private": "This conversation is off the record, so I learn nothing from it.",
    "off": "I don't learn how you like answers: that's off. /preferences on",
    "paused": "I'm not learning right now: that's paused. /preferences resume",
    "here": "This chat teaches me nothing. /preferences here use",
    "unknown": NOT_AN_ANSWER,
}


@dataclass(frozen=True, slots=True)
class Feedback:
    """What somebody said about answers."""

    patterns: tuple[Pattern, ...]
    acts: tuple[Preference, ...]
    """Of the patterns, those that answers follow from now on."""
    id: int | None = None


@command("tag", usage="<words>", help="say what's good or bad about an answer (reply to it): too long, no jokes")
async def tag(ctx: CommandContext, words: str, message_id: int = 0) -> Feedback:
    """Puts up to three tags on an answer to this person: on a message of the chat, or (0) on the last one here."""
    patterns = read_patterns(words)
    turn_id = await ctx.store.answered_turn(ctx.bot_id, ctx.chat_id, ctx.topic_id, message_id, ctx.space)
    if not turn_id:
        raise CommandRefused(NOT_AN_ANSWER if message_id else NO_ANSWER_YET)
    return await _say(ctx, "tag", patterns, {"tags": [_in_words(one) for one in patterns]}, {"turn_id": turn_id})


async def prefer(ctx: CommandContext, words: str, polarity: Literal[-1, 1]) -> Feedback:
    """Takes a statement about all answers: prefer (1) or avoid (-1) what the words say. It acts at once."""
    said = read_pattern(words, polarity)
    return await _say(ctx, "said", [said], {"pattern": said.pattern, "polarity": polarity}, None)


async def _say(
    ctx: CommandContext,
    kind: Literal["tag", "said"],
    patterns: Sequence[Pattern],
    value: dict[str, object],
    about: dict[str, object] | None,
) -> Feedback:
    act = {
        "kind": kind,
        "about": about,
        "value": value,
        "source": "command" if ctx.bot_id else "cli",
        "observations": [one.observed(kind) for one in patterns],
    }
    done: FeedbackResult = await ctx.store.feedback(ctx.space, ctx.chat_id, ctx.topic_id, ctx.user_id, act)
    if done.refused:
        raise CommandRefused(REFUSED[done.refused])
    return Feedback(tuple(patterns), done.acts, done.id)


def _in_words(one: Pattern) -> str:
    return one.pattern if one.polarity > 0 else f"no {one.pattern}"
