"""Adds memories explicitly: a fact in a person's words, or a message they want to keep."""

from __future__ import annotations

from relay.commands.context import CommandContext
from relay.commands.memory.access import find_place
from relay.commands.registry import command
from relay.core.errors import CommandRefused, Conflict, OutOfRange, WrongArgument, require_found
from relay.core.frozen import frozen
from relay.core.limits import FACT_LENGTH, LEARNING_LENGTH
from relay.core.models import Space
from relay.core.prompt_markup import remove_invisible
from relay.memory.review.judging import Judge
from relay.memory.review.stated import find_contradicted
from relay.memory.rows.changes import Changed
from relay.memory.rows.memories import KeepableMessage
from relay.memory.writing.proposals import propose_words

OFF_THE_RECORD = "That's off the record, so I won't keep it."
NO_WORDS = "That message has no text. Write what I should keep after the command."


@frozen
class KeptMessage:
    """The outcome of keeping a message."""

    changed: Changed
    proposed: bool
    """A model proposed the words, so the memory waits for a tap."""


@command(
    "remember", usage="<fact>", help="remember a fact, or the message you reply to", surfaces=("chat", "cli", "http")
)
async def remember(ctx: CommandContext, fact: str) -> Changed:
    """Stores a fact in the person's own words. A known one that it contradicts ends."""
    text = " ".join(fact.split())
    if not remove_invisible(text).strip():
        raise WrongArgument(
            "What should I remember? Write it after the command: /remember I like my tea strong",
        )
    if len(text) > FACT_LENGTH:
        raise OutOfRange(f"That's {len(text)} characters; a fact can have at most {FACT_LENGTH}.")
    action: dict[str, object] = {
        "action": "learn",
        "kind": "fact",
        "content": text,
        "subject_id": ctx.user_id,
        "subject": ctx.name,
        "by": "user",
    }
    contradicted = await find_known(ctx, text)
    if contradicted is not None:
        supersede = {**action, "action": "supersede", "memory_id": contradicted}
        done = await ctx.store.change_memory(ctx.turn, ctx.space, [supersede])
        if not done.failed:  # as it would if that fact were gone
            return done
    return await ctx.store.change_memory(ctx.turn, ctx.space, [action])


async def find_known(ctx: CommandContext, text: str) -> int | None:
    """Returns the fact that a new one contradicts. None: there is none, or it won't be stored, so no model reads it."""
    here = await ctx.store.controls(ctx.thread)
    if here.space_id is None or not here.memories or not here.remembers or here.private:
        return None
    services = ctx.services
    judge = Judge(ctx.store, services.summariser.gate, services.summariser.model_name, embedder=services.embedder)
    return await find_contradicted(judge, ctx.space, here.space_id, ctx.user_id, ctx.name, text)


async def keep_message(
    ctx: CommandContext, message: KeepableMessage, words: str = "", space: Space | None = None
) -> KeptMessage:
    """Stores a message as a learning with these words; without words, proposes some, which wait for a tap."""
    if message.private:
        raise Conflict(OFF_THE_RECORD)
    if len(words) > LEARNING_LENGTH:
        raise OutOfRange(f"That's {len(words)} characters; a learning can have at most {LEARNING_LENGTH}.")
    space = space or ctx.space
    content = words or await propose_words(ctx.services.summariser, space, ctx.user_id, message.text)
    if not content:
        raise CommandRefused(NO_WORDS)
    action: dict[str, object] = {
        "action": "learn",
        "kind": "learning",
        "category": "knowledge",
        "content": content,
        "by": "promoted",
        "promoted_by": ctx.user_id,
        "tainted": message.untrusted,
        "ask": not words,
    }
    if message.id:
        action["source"] = message.id
    return KeptMessage(await ctx.store.change_memory(ctx.turn, space, [action]), proposed=not words)


async def find_message(ctx: CommandContext, telegram_message_id: int) -> KeepableMessage | None:
    """Returns the stored message for a message of this chat; None: it is not stored."""
    return await ctx.store.keepable(ctx.space, ctx.bot_id, ctx.chat_id, telegram_message_id)


async def keep_answer(ctx: CommandContext, turn_id: int) -> KeptMessage:
    """Proposes to keep a turn's answer."""
    place = await find_place(ctx, turn_id=turn_id)
    found = await ctx.store.keepable(place.space, turn_id=turn_id)
    message = require_found(found, CommandRefused("There's nothing to keep."))
    return await keep_message(ctx, message, space=place.space)
