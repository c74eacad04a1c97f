"""Tries a soul: answers the person's own questions with the active soul and with a draft."""

import asyncio

from relay.commands.context import CommandContext
from relay.commands.registry import admins_only
from relay.commands.soul.answers import RECENT_TOKENS, Question, Trial, answer_once, estimate, incoming_of, request_for
from relay.core.charge import Charge
from relay.core.errors import CommandRefused
from relay.core.frozen import frozen
from relay.core.models import ModelRequest
from relay.memory.rows.soul import SoulDraft
from relay.memory.rows.turns.context import ShownSoul

NO_QUESTION = "You haven't asked anything here yet that I could try it on. Ask me something first, then try again."
NOT_YOURS = "That isn't one of your questions in this chat. Reply to one of them, or to my answer."
GONE = "That draft no longer exists."
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
        estimate(_trial(ctx), [request for pair in pairs for request in pair]),
    )


@admins_only
async def try_soul(ctx: CommandContext, draft_id: int, message_id: int = 0) -> TriedSoul:
    """Answers the questions with the active soul and with a draft. Stores nothing but the cost. Raises `CommandRefused`
    if there is no question, or today's budget is used up."""
    draft, active = await _souls(ctx, draft_id)
    questions = await _questions(ctx, message_id, 0)
    trial = _trial(ctx)
    if why := await trial.gate.used_up(Charge("soul", user_id=ctx.user_id)):
        raise CommandRefused(why)
    done: list[Tried] = []
    # One after the other, so that their common beginning is read from the model's cache.
    for question, pair in zip(questions, _requests(ctx, questions, draft, active), strict=True):
        now, then = await asyncio.gather(*(answer_once(trial, request) for request in pair))
        done.append(Tried(question.said.text, now, then))
    return TriedSoul(draft_id, active.version, tuple(done))


def _trial(ctx: CommandContext) -> Trial:
    installed = ctx.services.installation
    return Trial(
        gate=ctx.services.summariser.gate,
        model=installed.model,
        space=ctx.space,
        chat_id=ctx.chat_id,
        topic_id=ctx.topic_id,
        user_id=ctx.user_id,
        zone=ctx.zone,
        memory_tokens=installed.memory_tokens,
        operator=ctx.operator,
    )


async def _souls(ctx: CommandContext, draft_id: int) -> tuple[SoulDraft, ShownSoul]:
    draft, active = await ctx.store.soul_drafted(draft_id), await ctx.store.soul()
    if draft is None or draft.status != "open":
        raise CommandRefused(CLOSED if draft else GONE)
    return draft, ShownSoul(active.version, active.text) if active else ShownSoul(0, "")


async def _questions(ctx: CommandContext, message_id: int, replied: int) -> list[Question]:
    """Returns the questions, oldest first. At a terminal without any, returns those of the person's chat with the
    bot."""
    places = [(ctx.bot_id, ctx.chat_id, ctx.topic_id)]
    if ctx.bot_id == 0:
        places.append((0, ctx.user_id, 0))
    for place in places:
        found = await ctx.store.soul_trial(
            ctx.space, place, ctx.user_id, message_id, replied, ctx.services.installation.memory_tokens, RECENT_TOKENS
        )
        asked = [Question(context, context.message) for context in found if context.message is not None]
        if asked:
            return [await _add_recalled(ctx, one) for one in asked]
    raise CommandRefused(NOT_YOURS if message_id or replied else NO_QUESTION)


async def _add_recalled(ctx: CommandContext, one: Question) -> Question:
    """Adds what is relevant to a question and was said before it."""
    found = await ctx.store.recall(incoming_of(_trial(ctx), one.said))
    return Question(one.context, one.said, [row for row in found if (row.message_id or 0) < one.said.id])


def _requests(
    ctx: CommandContext, questions: list[Question], draft: SoulDraft, active: ShownSoul
) -> list[tuple[ModelRequest, ModelRequest]]:
    trial, other = _trial(ctx), ShownSoul(0, draft.text)
    return [(request_for(trial, one, active), request_for(trial, one, other)) for one in questions]
