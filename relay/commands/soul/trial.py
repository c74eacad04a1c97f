"""Tries a soul: answers the person's own questions with the active soul and with a draft. Writes nothing, and has no
tools."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from relay.commands.context import CommandContext
from relay.commands.registry import admins_only
from relay.commands.soul.soul import NO_DRAFT
from relay.conversation.prompt import build_prompt
from relay.core.errors import BudgetUsedUp, CommandRefused, ModelError
from relay.core.frozen import frozen
from relay.core.models import Incoming, ModelRequest, Thread
from relay.core.prompt_markup import text_block
from relay.core.spending.charge import Charge
from relay.memory.answers import CUT_OFF
from relay.memory.calls.turn import TOKEN_CHARACTERS
from relay.memory.intents import process_intents
from relay.memory.rows.found import FoundEntry
from relay.memory.rows.soul import SoulDraft
from relay.memory.rows.turns.context import Context, ShownSoul, StoredMessage
from relay.memory.spending.gate import estimate_most

MODEL_SECONDS = 60
MOST_TOKENS = 700
"""The most tokens of one answer."""
RECENT_TOKENS = 8_000
"""The most tokens of the conversation before it. There are fewer than in a turn, so that a trial stays cheap."""
NO_QUESTION = "You haven't asked anything here yet that I could try it on. Ask me something first, then try again."
NOT_YOURS = "That isn't one of your questions in this chat. Reply to one of them, or to my answer."
CLOSED = "That draft is already decided. Try again with /soul try <text>."


@frozen
class SoulTrial:
    """A trial that can begin."""

    draft_id: int
    active_version: int
    message_id: int
    """The message that is the question; 0: the last ones."""
    questions: tuple[str, ...]
    dollars: float | None
    """The most that it costs, in dollars, approximately; None: the model's price is unknown."""


@frozen
class Tried:
    """A question with both answers."""

    question: str
    active: str
    tried: str


@frozen
class TriedSoul:
    """The outcome of a trial."""

    draft_id: int
    active_version: int
    answers: tuple[Tried, ...]


@admins_only
async def plan_trial(ctx: CommandContext, draft_id: int, replied: int = 0) -> SoulTrial:
    """Returns what a trial of a draft would answer, and its cost. `replied`: the message of the chat that selects a
    question; 0: the person's last three. Raises `CommandRefused` if there is none."""
    draft, active = await _souls(ctx, draft_id)
    questions = await _questions(ctx, 0, replied)
    pairs = _requests(ctx, questions, draft, active)
    return SoulTrial(
        draft_id,
        active.version,
        questions[0].said.id if replied else 0,
        tuple(one.said.text for one in questions),
        estimate(ctx, [request for pair in pairs for request in pair]),
    )


@admins_only
async def try_soul(ctx: CommandContext, draft_id: int, message_id: int = 0) -> TriedSoul:
    """Answers the questions with the active soul and with a draft. Stores nothing but the cost. Raises `CommandRefused`
    if there is no question, or today's budget is used up."""
    draft, active = await _souls(ctx, draft_id)
    questions = await _questions(ctx, message_id, 0)
    if why := await ctx.services.summariser.gate.used_up(Charge("soul", user_id=ctx.user_id)):
        raise CommandRefused(why)
    done: list[Tried] = []
    # One after the other, so that their common beginning is read from the model's cache.
    for question, pair in zip(questions, _requests(ctx, questions, draft, active), strict=True):
        now, then = await asyncio.gather(*(answer_once(ctx, request) for request in pair))
        done.append(Tried(question.said.text, now, then))
    return TriedSoul(draft_id, active.version, tuple(done))


async def _souls(ctx: CommandContext, draft_id: int) -> tuple[SoulDraft, ShownSoul]:
    draft, active = await ctx.store.soul_drafted(draft_id), await ctx.store.soul()
    if draft is None or draft.status != "open":
        raise CommandRefused(CLOSED if draft else NO_DRAFT)
    return draft, ShownSoul(active.version, active.text) if active else ShownSoul(0, "")


async def _questions(ctx: CommandContext, message_id: int, replied: int) -> list[Question]:
    """Returns the questions, oldest first. At a terminal without any, returns those of the person's chat with the
    bot."""
    threads = [ctx.thread] if ctx.bot_id else [ctx.thread, Thread(ctx.space, ctx.user_id, 0)]
    memory = ctx.services.installation.memory_tokens * TOKEN_CHARACTERS
    for thread in threads:
        found = await ctx.store.soul_trial(
            ctx.bot_id, thread, ctx.user_id, message_id, replied, memory, RECENT_TOKENS * TOKEN_CHARACTERS
        )
        asked = [Question(context, context.message) for context in found if context.message is not None]
        if asked:
            return [await _add_recalled(ctx, one) for one in asked]
    raise CommandRefused(NOT_YOURS if message_id or replied else NO_QUESTION)


async def _add_recalled(ctx: CommandContext, one: Question) -> Question:
    """Adds what is relevant to a question and was said before it."""
    found = await ctx.store.recall(incoming_of(ctx, one.said))
    return Question(one.context, one.said, [row for row in found if (row.message_id or 0) < one.said.id])


def _requests(
    ctx: CommandContext, questions: list[Question], draft: SoulDraft, active: ShownSoul
) -> list[tuple[ModelRequest, ModelRequest]]:
    other = ShownSoul(0, draft.text)
    return [(request_for(ctx, one, active), request_for(ctx, one, other)) for one in questions]


@frozen
class Question:
    """A message of a person, with what its prompt needs."""

    context: Context
    said: StoredMessage
    recalled: Sequence[FoundEntry] = ()


def incoming_of(ctx: CommandContext, said: StoredMessage) -> Incoming:
    """Returns a stored message as the input from which it came."""
    return Incoming(
        turn_id=0,
        fence=0,
        bot_id=0,
        chat_id=ctx.chat_id,
        topic_id=ctx.topic_id,
        space=ctx.space,
        user_id=ctx.user_id,
        name=said.name or "",
        text=said.text,
        blocks=said.blocks,
        untrusted=said.untrusted,
        telegram_message_ids=[],
        at=said.created_at,
        reply_to=said.reply_to,
    )


def request_for(ctx: CommandContext, question: Question, soul: ShownSoul) -> ModelRequest:
    """Returns the request that answers a question with a soul: a turn's prompt, without tools and their results."""
    recent = tuple(map(remove_tools, question.context.recent))
    context = replace(question.context, soul=soul, recent=recent)
    installed, incoming = ctx.services.installation, incoming_of(ctx, question.said)
    prompt = build_prompt(incoming, context, question.recalled, ctx.zone, memory_tokens=installed.memory_tokens)
    return ModelRequest(installed.model, prompt.system, prompt.messages, MOST_TOKENS)


def remove_tools(row: StoredMessage) -> StoredMessage:
    """Returns a message of the assistant with its text alone: a request without tools must not have their results."""
    if row.role == "user":
        return row
    return replace(row, blocks=[{"role": "assistant", "content": [text_block(row.text or "👌")]}])


def estimate(ctx: CommandContext, requests: Sequence[ModelRequest]) -> float | None:
    """Returns the most that requests cost, in dollars, approximately; None: the model's price is unknown."""
    prices = ctx.services.summariser.gate.budget.prices
    costs = [prices.cost(one.model, estimate_most(one)) for one in requests]
    return None if None in costs else sum(cost or 0.0 for cost in costs)


async def answer_once(ctx: CommandContext, request: ModelRequest) -> str:
    """Returns the answer to a request, without tags; or a sentence in parentheses that says why there is none."""
    try:
        step = await ctx.services.summariser.gate.ask(request, Charge("soul", user_id=ctx.user_id), MODEL_SECONDS)
    except (ModelError, BudgetUsedUp) as error:
        return f"({error.message_for(ctx.operator)})"
    if step.stop_reason == "refusal":
        return "(no answer: the model refused)"
    text = process_intents("".join(block.get("text", "") for block in step.blocks)).text.strip()
    return f"{text} […]" if step.stop_reason in CUT_OFF else text or "(an empty answer)"
