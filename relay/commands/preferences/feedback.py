"""Feedback: what people say about an answer, or about answers in general."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from relay.commands.context import CommandContext
from relay.commands.history.why import NO_ANSWER_YET, NOT_AN_ANSWER
from relay.commands.memory.access import find_space
from relay.commands.registry import command, operation
from relay.core.errors import CommandRefused, Conflict, WrongArgument, require_found
from relay.core.frozen import frozen
from relay.memory.preferences.judgements import read_judgement, says_right
from relay.memory.preferences.patterns import TAGS, Pattern, opposite, read_pattern, read_patterns
from relay.memory.rows.turns.preferences import ChosenAnswer, FeedbackResult, ObservedPattern, Preference

BETTER_LENGTH = 20_000
DIMENSIONS = ("shorter", "clearer", "tone", "form", "facts")
"""The reasons why one answer can be better than another."""
NOT_TO_YOU = "That isn't an answer to you. Only the person who asked can say how they like an answer."
LEARNING_OFF = "You've turned learning off, so I don't learn how you like answers. /settings learning on"
REFUSED = {
    "private": "This conversation is off the record, so I learn nothing from it.",
    "off": "I don't learn how you like answers: that's off. /preferences says how to turn it on.",
    "paused": "I'm not learning right now: that's paused. /preferences resume",
    "here": "I don't learn from this chat. /preferences here use",
    "unknown": NOT_TO_YOU,
}


@frozen
class Feedback:
    """What somebody said about answers."""

    patterns: tuple[Pattern, ...]
    """Empty: the answer as a whole was good or not."""
    acts: tuple[Preference, ...]
    """The preferences among the patterns that answers follow from now on."""
    id: int | None = None
    up: bool | None = None
    """Without patterns: the answer was good, or not. None: it was just right."""
    opposed: tuple[Pattern, ...] = ()
    """The patterns of which the person has said the opposite before; answers don't follow them yet."""
    remembered: tuple[str, ...] = ()
    """Memories about the person in the same words, which count more than a preference; three at most."""


@frozen
class Signal:
    """An act that says something about answers, as programs report it."""

    kind: Literal["accept", "thumbs", "tag", "refine", "abandon", "revert", "compare", "said"]
    turn_id: int | None = None
    """The turn of the answer; for compare, of the chosen one; for revert, of the one brought back. Not needed for
    said."""
    up: bool = True
    """For thumbs: approval; for said: prefer."""
    words: str = ""
    """For tag: up to three, separated by commas; for said: one; for refine: the person's own version."""
    over: int | None = None
    """For compare: the turn of the answer that was not chosen; for revert, of the one that was replaced."""
    dimensions: tuple[str, ...] = ()
    """For compare: the reasons; see `DIMENSIONS`."""
    how: Literal["stop", "again"] = "again"
    """For abandon: it was stopped, or asked for again."""


@command("tag", usage="<words>", help="say what's good or bad about an answer (reply to it): too long, no jokes")
async def tag(ctx: CommandContext, words: str, message_id: int = 0) -> Feedback:
    """Puts up to three tags on an answer to this person: that in a message of the chat, or (0) the last one here."""
    one = _read_tag(Signal("tag", words=words))
    patterns, opposed = await _patterns(ctx, one)
    done = await signal(ctx, replace(one, turn_id=await _answer(ctx, message_id)), patterns=patterns)
    acting = {(row.type, row.name) for row in done.acts}
    opposed = tuple(pattern for pattern in opposed if (pattern.type, pattern.pattern) not in acting)
    return Feedback(patterns, done.acts, done.id, one.up if one.kind == "thumbs" else None, opposed)


@operation("chat", "cli", "http")
async def prefer(ctx: CommandContext, words: str, polarity: Literal[-1, 1], source: str = "") -> Feedback:
    """Stores a statement about all answers: prefer (1) or avoid (-1) the pattern. It applies at once."""
    one = Signal("said", up=polarity > 0, words=words)
    patterns, _ = await _patterns(ctx, one)
    done = await signal(ctx, one, source, patterns)
    found = await ctx.store.preference_source(ctx.space, ctx.user_id, done.acts[0].id) if done.acts else None
    return Feedback(patterns, done.acts, done.id, remembered=found.remembered if found else ())


async def withdraw_feedback(
    ctx: CommandContext, feedback_id: int, space_id: int | None = None
) -> Sequence[ObservedPattern]:
    """Takes an act back, and no other: what was said before it counts again. Returns the patterns that it named."""
    space = await find_space(ctx, space_id)
    gone = await ctx.store.withdraw_feedback(space, ctx.user_id, feedback_id)
    return require_found(gone, Conflict("You've taken that back already."))


@frozen
class AnswerTags:
    """The tags on an answer, by their names in `TAGS`."""

    turn_id: int
    tags: tuple[str, ...]
    acts: tuple[Preference, ...] = ()
    """The preferences that answers follow from now on."""


@command("better", usage="<your version>", help="show me how you'd have worded an answer (reply to it)")
async def better(ctx: CommandContext, text: str, message_id: int = 0) -> FeedbackResult:
    """Stores a person's own version of an answer, which teaches how they like answers."""
    return await signal(ctx, Signal("refine", await _answer(ctx, message_id), words=_find_own_version(text)))


@operation("chat", "cli", "http")
async def signal(
    ctx: CommandContext, one: Signal, source: str = "", patterns: Sequence[Pattern] | None = None
) -> FeedbackResult:
    """Stores an act from outside of the chat, in the same form as one in a chat. `patterns`: those that its words name;
    None: they are to be read.

    Raises `CommandRefused` for an invalid act, and if nothing may be learned.
    """
    one = _read_tag(one)
    patterns = (await _patterns(ctx, one))[0] if patterns is None else patterns
    source = source or ("command" if ctx.bot_id else "cli")
    act: dict[str, object] = {"kind": one.kind, "source": source, "value": {}, "by": ctx.turn.turn_id}
    act["about"] = {"turn_id": one.turn_id} if one.kind != "said" else None
    if one.kind != "said" and one.turn_id is None:
        raise WrongArgument(f"Name the turn of the answer that {one.kind} is about.")
    act |= _content(one, patterns)
    return _require_effect(ctx, await ctx.store.feedback(ctx.thread, ctx.user_id, act))


def _read_tag(one: Signal) -> Signal:
    """Returns the act of a tag: words that only judge an answer name no pattern."""
    if one.kind != "tag":
        return one
    if says_right(one.words):
        return replace(one, kind="accept")
    good = read_judgement(one.words)
    return one if good is None else replace(one, kind="thumbs", up=good)


async def _patterns(ctx: CommandContext, one: Signal) -> tuple[tuple[Pattern, ...], tuple[Pattern, ...]]:
    """Returns the patterns that an act names, under the names and types of the person's preferences; and those of which
    the opposite is known."""
    if one.kind not in ("tag", "said"):
        return (), ()
    known = (await ctx.store.preferences(ctx.thread, ctx.user_id)).rows
    types = {row.name: row.type for row in reversed(known)}
    if one.kind == "said":
        return (read_pattern(one.words, 1 if one.up else -1, types),), ()
    patterns = tuple(read_patterns(one.words, types))
    said = [row for row in known if row.status != "archived" and not row.shadow]
    return patterns, tuple(one for one in patterns if any(is_opposite(one, row) for row in said))


def is_opposite(pattern: Pattern, known: Preference) -> bool:
    """Tests whether a pattern is the opposite of a known preference."""
    same = (pattern.type, pattern.pattern) == (known.type, known.name)
    return same and not known.agrees(pattern.polarity)


def _content(one: Signal, patterns: Sequence[Pattern]) -> dict[str, object]:
    """Returns what an act says, as `relay_feedback` takes it. Raises `CommandRefused` if it is invalid."""
    match one.kind:
        case "accept":
            return {}
        case "thumbs":
            return {"value": {"up": one.up}}
        case "abandon" if one.how in ("stop", "again"):
            return {"value": {"how": one.how}}
        case "refine":
            return {"value": {"text": _find_own_version(one.words)}}
        case "compare" | "revert" if one.over is None or one.over == one.turn_id:
            raise WrongArgument("Name the turn of the other answer, too.")
        case "revert":
            return {"over": one.over}
        case "compare":
            if unknown := set(one.dimensions) - set(DIMENSIONS):
                raise WrongArgument(f"{', '.join(sorted(unknown))}: the reasons are {', '.join(DIMENSIONS)}.")
            return {"over": one.over, "value": {"chose": "a", "dimensions": list(one.dimensions)}}
        case "tag":
            return {
                "value": {"tags": [pattern.words for pattern in patterns]},
                "observations": [pattern.as_observed("tag") for pattern in patterns],
            }
        case "said":
            [pattern] = patterns
            return {
                "value": {"pattern": pattern.pattern, "polarity": pattern.polarity},
                "observations": [pattern.as_observed("said")],
            }
        case "abandon":
            raise WrongArgument(f"abandon takes stop or again, not {one.how}.")
        case _:
            raise WrongArgument(f"I don't know the kind of feedback {one.kind}.")


async def show_tags(ctx: CommandContext, turn_id: int) -> AnswerTags:
    """Returns the tags that this person has put on an answer."""
    found = require_found(await ctx.store.answer_tags(ctx.space, ctx.user_id, turn_id), CommandRefused(NOT_TO_YOU))
    on = {(one.type, one.pattern, one.polarity) for one in found}
    patterns = {name: tag.pattern for name, tag in TAGS.items()}
    return AnswerTags(
        turn_id, tuple(name for name, one in patterns.items() if (one.type, one.pattern, one.polarity) in on)
    )


async def toggle_tag(ctx: CommandContext, turn_id: int, name: str) -> AnswerTags:
    """Puts a tag of `TAGS` on an answer in place of its opposite, or removes it if the answer has it."""
    pattern = TAGS[name].pattern
    had = name in (await show_tags(ctx, turn_id)).tags
    acts: tuple[Preference, ...] = ()
    if not had:
        acts = (await signal(ctx, Signal("tag", turn_id, words=TAGS[name].words), "button")).acts
    gone = pattern if had else opposite(pattern)
    await ctx.store.untag(ctx.space, ctx.user_id, turn_id, gone.type, gone.pattern, gone.polarity)
    return replace(await show_tags(ctx, turn_id), acts=acts)


async def _answer(ctx: CommandContext, message_id: int) -> int:
    """Returns the turn of the answer in a message of the chat (0: the last one here)."""
    turn_id = await ctx.store.find_answered_turn(ctx.bot_id, ctx.thread, message_id)
    if not turn_id:
        raise CommandRefused(NOT_AN_ANSWER if message_id else NO_ANSWER_YET)
    return turn_id


def _find_own_version(text: str) -> str:
    if not text.strip():
        raise WrongArgument("Write your version after the command, in reply to the answer: /better …")
    if len(text) > BETTER_LENGTH:
        raise WrongArgument(f"That's {len(text):,} characters; I read at most {BETTER_LENGTH:,}.")
    return text.strip()


def _require_effect(ctx: CommandContext, done: FeedbackResult) -> FeedbackResult:
    """Returns the result. Raises `CommandRefused` if the act teaches nothing."""
    if done.refused == "off" and ctx.turn.choices.learning == "off":
        raise CommandRefused(LEARNING_OFF)
    if done.refused:
        raise CommandRefused(REFUSED[done.refused])
    return done


async def choose_answer(ctx: CommandContext, turn_id: int, chose: Literal["a", "b", "both", "neither"]) -> ChosenAnswer:
    """Chooses between the two answers of a turn. The conversation continues from the chosen one."""
    chosen = await ctx.store.choose_answer(ctx.space, ctx.user_id, turn_id, chose)
    done = require_found(chosen, CommandRefused("There's nothing to choose here."))
    if done.refused:
        raise CommandRefused("You've chosen already.")
    return done


async def give_reason(ctx: CommandContext, turn_id: int, reason: str) -> ChosenAnswer:
    """Adds a reason for a choice, or removes it."""
    done = await ctx.store.choice_reason(ctx.space, ctx.user_id, turn_id, reason) if reason in DIMENSIONS else None
    return require_found(done, CommandRefused("That was too long ago."))
