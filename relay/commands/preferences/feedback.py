"""Feedback: what somebody says about an answer, or about answers in general."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from relay.commands.context import CommandContext
from relay.commands.history.why import NO_ANSWER_YET, NOT_AN_ANSWER
from relay.commands.registry import command
from relay.core.errors import CommandRefused
from relay.memory.preferences.patterns import TAGS, Pattern, read_pattern, read_patterns
from relay.memory.rows.turns.preferences import ChosenAnswer, FeedbackResult, Preference

BETTER_LENGTH = 20_000
DIMENSIONS = ("shorter", "clearer", "tone", "form", "facts")
"""Why one answer is better than another."""
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
    turn_id = await _answer(ctx, message_id)
    done = await signal(ctx, Signal("tag", turn_id, words=words))
    return Feedback(tuple(patterns), done.acts, done.id)


async def prefer(ctx: CommandContext, words: str, polarity: Literal[-1, 1]) -> Feedback:
    """Takes a statement about all answers: prefer (1) or avoid (-1) what the words say. It acts at once."""
    said = read_pattern(words, polarity)
    done = await signal(ctx, Signal("said", up=polarity > 0, words=words))
    return Feedback((said,), done.acts, done.id)


@dataclass(frozen=True, slots=True)
class AnswerTags:
    """The tags on an answer, by their names in `TAGS`."""

    turn_id: int
    tags: tuple[str, ...]
    acts: tuple[Preference, ...] = ()
    """What answers follow from now on."""


@command("better", usage="<your version>", help="show me how you'd have said it (reply to an answer)")
async def better(ctx: CommandContext, text: str, message_id: int = 0) -> FeedbackResult:
    """Takes a person's own version of an answer, which teaches how they like answers."""
    return await signal(ctx, Signal("refine", await _answer(ctx, message_id), words=_own_version(text)))


@dataclass(frozen=True, slots=True)
class Signal:
    """An act that says something about answers, as programs report it."""

    kind: Literal["accept", "thumbs", "tag", "refine", "abandon", "compare", "said"]
    turn_id: int | None = None
    """The answer that it is about; of compare the chosen one. said needs none."""
    up: bool = True
    """thumbs: approval; said: prefer."""
    words: str = ""
    """tag: up to three, separated by commas; said: one; refine: the person's own version."""
    over: int | None = None
    """compare: the answer that was not chosen."""
    dimensions: tuple[str, ...] = ()
    """compare: the reasons; see `DIMENSIONS`."""


async def signal(ctx: CommandContext, one: Signal, source: str = "") -> FeedbackResult:
    """Takes an act that was made elsewhere; the same row comes of it as of the act in a chat.

    Raises `CommandRefused` for what is no such act, and where nothing may be learned.
    """
    act: dict[str, object] = {"kind": one.kind, "source": source or _source(ctx), "value": {}}
    act["about"] = {"turn_id": one.turn_id} if one.kind != "said" else None
    if one.kind != "said" and one.turn_id is None:
        raise CommandRefused(f"Name the turn of the answer that {one.kind} is about.")
    match one.kind:
        case "thumbs":
            act["value"] = {"up": one.up}
        case "abandon":
            act["value"] = {"how": "again"}
        case "refine":
            act["value"] = {"text": _own_version(one.words)}
        case "compare":
            if one.over is None or one.over == one.turn_id:
                raise CommandRefused("Name the turn of the other answer, too.")
            if unknown := set(one.dimensions) - set(DIMENSIONS):
                raise CommandRefused(f"{', '.join(sorted(unknown))}: the reasons are {', '.join(DIMENSIONS)}.")
            act |= {"over": one.over, "value": {"chose": "a", "dimensions": list(one.dimensions)}}
        case "tag":
            patterns = read_patterns(one.words)
            act["value"] = {"tags": [pattern.words for pattern in patterns]}
            act["observations"] = [pattern.observed("tag") for pattern in patterns]
        case "said":
            pattern = read_pattern(one.words, 1 if one.up else -1)
            act["value"] = {"pattern": pattern.pattern, "polarity": pattern.polarity}
            act["observations"] = [pattern.observed("said")]
        case "accept":
            pass
        case _:
            raise CommandRefused(f"{one.kind} is no act that teaches anything.")
    return _accepted(await ctx.store.feedback(ctx.space, ctx.chat_id, ctx.topic_id, ctx.user_id, act))


async def show_tags(ctx: CommandContext, turn_id: int) -> AnswerTags:
    """Returns the tags that this person has put on an answer."""
    found = await ctx.store.answer_tags(ctx.space, ctx.user_id, turn_id)
    if found is None:
        raise CommandRefused(NOT_AN_ANSWER)
    on = {(one.type, one.pattern, one.polarity) for one in found}
    patterns = {name: tag.pattern for name, tag in TAGS.items()}
    return AnswerTags(
        turn_id, tuple(name for name, one in patterns.items() if (one.type, one.pattern, one.polarity) in on)
    )


async def toggle_tag(ctx: CommandContext, turn_id: int, name: str) -> AnswerTags:
    """Puts a tag of `TAGS` on an answer, in place of its opposite; takes it away where the answer has it."""
    pattern = TAGS[name].pattern
    had = name in (await show_tags(ctx, turn_id)).tags
    await ctx.store.untag(ctx.space, ctx.user_id, turn_id, pattern.type, pattern.pattern)
    acts: tuple[Preference, ...] = ()
    if not had:
        acts = (await signal(ctx, Signal("tag", turn_id, words=TAGS[name].words), "button")).acts
    return replace(await show_tags(ctx, turn_id), acts=acts)


async def _answer(ctx: CommandContext, message_id: int) -> int:
    """The turn of the answer that a message of the chat holds (0: the last one here)."""
    turn_id = await ctx.store.answered_turn(ctx.bot_id, ctx.chat_id, ctx.topic_id, message_id, ctx.space)
    if not turn_id:
        raise CommandRefused(NOT_AN_ANSWER if message_id else NO_ANSWER_YET)
    return turn_id


def _own_version(text: str) -> str:
    if not text.strip():
        raise CommandRefused("Write your version after the command, in reply to the answer: /better …")
    if len(text) > BETTER_LENGTH:
        raise CommandRefused(f"That's {len(text):,} characters; I read at most {BETTER_LENGTH:,}.")
    return text.strip()


def _source(ctx: CommandContext) -> str:
    return "command" if ctx.bot_id else "cli"


def _accepted(done: FeedbackResult) -> FeedbackResult:
    """Raises `CommandRefused` for an act that teaches nothing."""
    if done.refused:
        raise CommandRefused(REFUSED[done.refused])
    return done


async def choose_answer(ctx: CommandContext, turn_id: int, chose: Literal["a", "b", "both", "neither"]) -> ChosenAnswer:
    """Chooses between the two answers of a turn; the conversation goes on from the chosen one."""
    done = await ctx.store.choose_answer(ctx.space, ctx.user_id, turn_id, chose)
    if done is None:
        raise CommandRefused("There's nothing to choose here.")
    if done.refused:
        raise CommandRefused("You've chosen already.")
    return done


async def give_reason(ctx: CommandContext, turn_id: int, reason: str) -> ChosenAnswer:
    """Says why an answer was chosen, or takes that back."""
    done = await ctx.store.choice_reason(ctx.space, ctx.user_id, turn_id, reason) if reason in DIMENSIONS else None
    if done is None:
        raise CommandRefused("That was too long ago.")
    return done
