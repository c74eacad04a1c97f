"""Answers an earlier message with any soul, active or not. Writes nothing, and has no tools."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import tzinfo

from relay.conversation.prompt import build_prompt
from relay.core.charge import Charge
from relay.core.errors import BudgetUsedUp, ModelError
from relay.core.frozen import frozen
from relay.core.models import Incoming, ModelRequest, Space
from relay.core.prompt_markup import text_block
from relay.memory.intents import process_intents
from relay.memory.rows.found import FoundEntry
from relay.memory.rows.turns.context import Context, ShownSoul, StoredMessage
from relay.memory.spending.gate import Gate, estimate_most

MODEL_SECONDS = 60
MOST_TOKENS = 700
"""The most tokens of one answer."""
RECENT_TOKENS = 8_000
"""The most tokens of the conversation before it. There are fewer than in a turn, so that a trial stays cheap."""


@frozen
class Question:
    """A message of a person, with what its prompt needs."""

    context: Context
    said: StoredMessage
    recalled: Sequence[FoundEntry] = ()


@frozen
class Trial:
    """The person who tries a soul, the place, and the parts that a trial needs."""

    gate: Gate
    model: str
    space: Space
    chat_id: int
    topic_id: int
    user_id: int
    zone: tzinfo
    memory_tokens: int
    operator: bool
    """Causes of errors may be shown."""


def incoming_of(trial: Trial, said: StoredMessage) -> Incoming:
    """Returns a stored message as the input from which it came."""
    return Incoming(
        turn_id=0,
        fence=0,
        bot_id=0,
        chat_id=trial.chat_id,
        topic_id=trial.topic_id,
        space=trial.space,
        user_id=trial.user_id,
        name=said.name or "",
        text=said.text,
        blocks=said.blocks,
        untrusted=said.untrusted,
        telegram_message_ids=[],
        at=said.created_at,
        reply_to=said.reply_to,
    )


def request_for(trial: Trial, question: Question, soul: ShownSoul) -> ModelRequest:
    """Returns the request that answers a question with a soul: a turn's prompt, without tools and their results."""
    recent = tuple(map(remove_tools, question.context.recent))
    context = replace(question.context, soul=soul, recent=recent)
    prompt = build_prompt(
        incoming_of(trial, question.said), context, question.recalled, trial.zone, memory_tokens=trial.memory_tokens
    )
    return ModelRequest(trial.model, prompt.system, prompt.messages, MOST_TOKENS)


def remove_tools(row: StoredMessage) -> StoredMessage:
    """Returns a message of the assistant with its text alone: a request without tools must not have their results."""
    if row.role == "user":
        return row
    return replace(row, blocks=[{"role": "assistant", "content": [text_block(row.text or "👌")]}])


def estimate(trial: Trial, requests: Sequence[ModelRequest]) -> float | None:
    """Returns the most that requests cost, in dollars, approximately; None: the model's price is unknown."""
    costs = [trial.gate.budget.prices.cost(one.model, estimate_most(one)) for one in requests]
    return None if None in costs else sum(cost or 0.0 for cost in costs)


async def answer_once(trial: Trial, request: ModelRequest) -> str:
    """Returns the answer to a request, without tags; or a sentence in parentheses that says why there is none."""
    charge = Charge("soul", user_id=trial.user_id)
    try:
        step = await trial.gate.ask(request, charge, MODEL_SECONDS)
    except (ModelError, BudgetUsedUp) as error:
        return f"({error.message_for(trial.operator)})"
    if step.stop_reason == "refusal":
        return "(no answer: the model refused)"
    text = process_intents("".join(block.get("text", "") for block in step.blocks)).text.strip()
    return f"{text} […]" if step.stop_reason == "max_tokens" else text or "(an empty answer)"
