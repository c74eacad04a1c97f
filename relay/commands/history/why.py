"""Explains an answer: what was in its prompt, which tools it called, what it cost."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import datetime

from relay.commands.context import CommandContext
from relay.commands.registry import command, operation
from relay.core.errors import NotAllowed, NotFound, require_found
from relay.core.frozen import frozen
from relay.core.models import Space, Thread
from relay.core.spending.prices import Prices
from relay.memory.rows.changes import MemoryChange
from relay.memory.rows.proactive.reminders import Unasked
from relay.memory.rows.turns.preferences import Preference
from relay.memory.rows.turns.record import PreferenceNote
from relay.memory.rows.turns.why import Explanation
from relay.memory.rows.usage import ToolCall

NOT_AN_ANSWER = "That message isn't one of my answers. Reply to an answer, or send the command alone for my last one."
UNASKED = {
    "heartbeat": "your heartbeat found something new. /heartbeat shows its state, /usage what it cost.",
    "digest": "it's your digest. /digest changes it.",
    "growth": "it's an idea for my soul. /soul grow off stops these.",
}
NO_ANSWER_YET = "I haven't answered anything here yet."


@frozen
class ForgottenFact:
    """The result of forgetting a fact used in an answer."""

    changes: tuple[MemoryChange, ...]
    """Empty: nothing was forgotten."""
    gone: bool
    """It had already been forgotten."""
    explanation: Explanation
    """The explanation, with the fact's current state."""


@frozen
class PreferenceDiagnostics:
    """How an answer followed preferences."""

    turn_id: int | None
    """None: there is no answer yet."""
    at: datetime | None
    used: tuple[Preference, ...]
    """The preferences that were in the prompt."""
    notes: tuple[PreferenceNote, ...]
    """The preferences that were left out or replaced, and why."""


@command("why", help="what went into an answer (reply to it), and what it cost")
async def why(ctx: CommandContext, message_id: int = 0) -> Explanation:
    """Explains the answer in a message of the chat; 0: the last one here."""
    turn_id = await ctx.store.find_answered_turn(ctx.bot_id, ctx.thread, message_id)
    if not turn_id:
        said = await ctx.store.find_unasked(ctx.bot_id, ctx.chat_id, message_id, ctx.space) if message_id else None
        raise NotFound(say_unasked(said) if said else NOT_AN_ANSWER if message_id else NO_ANSWER_YET)
    return await explain_turn(ctx, turn_id)


def say_unasked(said: Unasked) -> str:
    """Says why a message was sent unasked."""
    if said.by != "reminder":
        return f"I sent this on my own: {UNASKED.get(said.by, 'it is not an answer.')}"
    checked = any(one.kind == "check" for one in said.reminders)
    made = ", ".join(f"{one.created_at.astimezone(one.tzinfo):%Y-%m-%d}" for one in said.reminders)
    when = f" of {made}" if made else ""
    cost = "I checked first; /usage shows what such checks cost." if checked else "No model was asked."
    return f"I sent this on my own: it's your reminder{when}. {cost} /reminders shows what happened to it."


@operation("http")
async def diagnose_preferences(ctx: CommandContext) -> PreferenceDiagnostics:
    """Returns how the last answer of this space, in any chat, followed its person's preferences."""
    turn_id = await ctx.store.find_answered_turn(ctx.bot_id, Thread(ctx.space, 0, 0), 0)
    if not turn_id:
        return PreferenceDiagnostics(None, None, (), ())
    found = await explain_turn(ctx, turn_id)
    return PreferenceDiagnostics(turn_id, found.at, found.preferences, found.prompt.preference_notes)


@operation("chat", "cli", "http")
async def explain_turn(ctx: CommandContext, turn_id: int) -> Explanation:
    """Explains a turn's answer. Raises `NotFound` unless this person sees its space."""
    found = await ctx.store.explain(turn_id, ctx.user_id)
    if found is None or not await ctx.sees(found.space):
        raise NotFound("I can't show what went into this answer: it isn't yours.")
    return add_cost(found, ctx.services.budget.prices)


def add_cost(found: Explanation, prices: Prices) -> Explanation:
    """Returns an explanation with what the answer cost."""
    return replace(found, cost=prices.cost(found.model, asdict(found.usage)))


async def forget_fact(ctx: CommandContext, turn_id: int, memory_id: int) -> ForgottenFact:
    """Forgets a fact used in an answer. A lent one is forgotten in its owner's space, and only its owner sees it."""
    found = await explain_turn(ctx, turn_id)
    fact = require_found(next((fact for fact in found.memories if fact.id == memory_id), None), NotAllowed())
    space = Space("private", owner_id=ctx.user_id) if fact.lent else found.space
    action = {"action": "forget", "content": "", "memory_id": fact.id} | ({"admin": True} if ctx.admin else {})
    done = await ctx.store.change_memory(ctx.turn, space, [action])
    return ForgottenFact(tuple(done.changes), fact.status != "active", await explain_turn(ctx, turn_id))


async def read_tool_call(ctx: CommandContext, turn_id: int, number: int) -> ToolCall:
    """Returns a tool call of an answer with its result: the one with the nearest number, from 1."""
    await explain_turn(ctx, turn_id)
    return require_found(await ctx.store.tool_call(turn_id, number), NotFound("This answer used no tools."))
