"""Explains an answer: what was in its prompt, which tools it called, what it cost."""

from __future__ import annotations

from dataclasses import dataclass

from relay.commands.context import CommandContext
from relay.commands.registry import command
from relay.core.errors import CommandRefused, NotAllowed
from relay.core.models import Space
from relay.memory.rows.changes import MemoryChange
from relay.memory.rows.turns.why import Explanation
from relay.memory.rows.usage import ToolCall

NOT_AN_ANSWER = "That message isn't one of my answers. Reply to an answer, or send the command alone for my last one."
NO_ANSWER_YET = "I haven't answered anything here yet."


@dataclass(frozen=True, slots=True)
class ForgottenFact:
    """What became of a fact used in an answer."""

    changes: tuple[MemoryChange, ...]
    """Empty: nothing was forgotten."""
    gone: bool
    """It was already forgotten."""
    explanation: Explanation
    """Its current state."""


@command("why", help="what went into an answer (reply to it), and what it cost")
async def why(ctx: CommandContext, message_id: int = 0) -> Explanation:
    """Explains the answer in a message of the chat; 0: the last one here."""
    turn_id = await ctx.store.answered_turn(ctx.bot_id, ctx.chat_id, ctx.topic_id, message_id, ctx.space)
    if not turn_id:
        raise CommandRefused(NOT_AN_ANSWER if message_id else NO_ANSWER_YET)
    return await explain_turn(ctx, turn_id)


async def explain_turn(ctx: CommandContext, turn_id: int) -> Explanation:
    """Explains a turn's answer. Raises `NotAllowed` unless this person sees its space."""
    found = await ctx.store.why(turn_id, ctx.user_id)
    if found is None or not await ctx.sees(found.space):
        raise NotAllowed("This answer is not yours to look into.")
    return found


async def forget_fact(ctx: CommandContext, turn_id: int, memory_id: int) -> ForgottenFact:
    """Forgets a fact used in an answer. A lent one is forgotten in its owner's space, and only its owner sees it."""
    found = await explain_turn(ctx, turn_id)
    fact = next((fact for fact in found.memories if fact.id == memory_id), None)
    if fact is None:
        raise NotAllowed
    space = Space("private", owner_id=ctx.user_id) if fact.lent else found.space
    action = {"action": "forget", "content": "", "memory_id": fact.id} | ({"admin": True} if ctx.admin else {})
    done = await ctx.store.change_memory(ctx.turn, space, [action])
    return ForgottenFact(tuple(done.changes), fact.status != "active", await explain_turn(ctx, turn_id))


async def read_tool_call(ctx: CommandContext, turn_id: int, number: int) -> ToolCall:
    """Returns a tool call of an answer with its result: the one with the nearest number, from 1."""
    await explain_turn(ctx, turn_id)
    used = await ctx.store.tool_call(turn_id, number)
    if used is None:
        raise CommandRefused("This answer called no tool.")
    return used
