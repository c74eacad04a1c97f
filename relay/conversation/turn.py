"""A message's path, top to bottom: begin, recall, prompt, model and tools, intents, finish."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from dataclasses import replace

from relay.conversation.engine import Engine, model_of
from relay.conversation.history import NO_MEDIA, Prompt, files_of, present_blocks, with_steps
from relay.conversation.model_loop import Tools, converse
from relay.conversation.outcome import (
    ModelAnswer,
    action_row,
    describe_answer,
    make_display_options,
    parse_intents,
    record,
    second_row,
    select_allowed_actions,
    select_kept_steps,
)
from relay.conversation.prompt import build_prompt
from relay.conversation.recalling import add_meant_intents, recall_for_turn
from relay.conversation.tools.documents import READ_DOCUMENT, read_document
from relay.conversation.tools.memory import OPEN_MEMORY, SEARCH_MEMORY, open_memory, search_memory
from relay.conversation.tools.reminders import REMINDER_TOOLS, ReminderTools
from relay.conversation.tools.web import WEB
from relay.core import metrics
from relay.core.errors import BudgetUsedUp, ContextTooLong, ModelError, ModelRefused
from relay.core.frozen import as_json, frozen
from relay.core.models import Block, Incoming, ModelMessage, ModelRequest, Reply
from relay.core.ports import Sink
from relay.core.prompt_markup import marked_name
from relay.core.spending.charge import Charge
from relay.media.attachment_reader import is_spoken
from relay.memory.calls.base import encode_row
from relay.memory.contexts.markers import markers_in
from relay.memory.rows.choices import Choices
from relay.memory.rows.found import FoundEntry
from relay.memory.rows.proactive.reminders import Reminder
from relay.memory.rows.turns.answer import Answer
from relay.memory.rows.turns.context import Context, FormerAnswer
from relay.memory.spending.budget import Tally
from relay.memory.spending.gate import Work

SHARES = (1.0, 0.5, 0.2, 0.0)
"""Shares of the recent messages' budget to try in turn if the model finds the prompt too long."""

SHORT = 2_000
"""The longest answer without a bracket, in characters, that is parsed within the event loop: at most some 8 ms, of
empty lines."""

ORDERS = ("ab", "ba")
"""The orders of two answers. One is chosen at random, so that being A or B teaches nothing."""


@frozen
class BegunTurn:
    """A saved input with the contents of its prompt."""

    incoming: Incoming
    context: Context
    recalled: Sequence[FoundEntry]
    reminders: ReminderTools


class NullSink:
    """A sink that shows nothing of an answer while it grows."""

    def text(self, so_far: Callable[[], str]) -> None:
        """See `ports.Sink.text`."""

    def report_wait(self, sentence: str) -> None:
        """See `ports.Sink.report_wait`."""


async def answer(engine: Engine, incoming: Incoming, sink: Sink, stop: asyncio.Event) -> Answer:
    """Answers one user input and saves everything about it. Setting `stop` ends it with what was said so far. If the
    model can't answer, the `Answer` says so and offers a retry; nothing of it becomes a message."""
    charge = Charge("answer", user_id=incoming.user_id, turn_id=incoming.turn_id)
    async with engine.gate.work(charge, model_of(engine, incoming)) as work:
        begun = await begin(engine, incoming)
        incoming, context, tally = begun.incoming, begun.context, work.tally
        await engine.gate.count_before(work, charge, engine.gate.budget.spent(context.spent))
        choices = context.choices.limit_to(engine.capture)
        engine = replace(engine, zone=choices.zone_or(engine.zone))
        begun.reminders.zone = engine.zone
        if context.message_id is None:
            line = "There is nothing to answer again here yet."
            if incoming.retry_turn is not None:
                line = "I can only answer your own messages again, and only in this conversation."
            return await finish_without(engine, incoming, choices, tally, line, retry=False)
        if incoming.brings_back:
            return await bring_back(engine, incoming, choices, context.former, tally)
        if tally.used_up:
            return await finish_without(engine, incoming, choices, tally, tally.used_up, retry=True)
        try:
            async with show_files(engine, incoming, context) as media:
                reply, prompt = await say(engine, begun, media, sink, stop, work)
        except BudgetUsedUp as error:
            return await finish_without(engine, incoming, choices, tally, str(error), retry=True)
        except ModelError as error:
            trouble = not isinstance(error, ModelRefused)
            line = f"⚠️ {error.message_for(incoming.operator)}"
            cause = f"{type(error).__name__}: {error}" if trouble else ""
            return await finish_without(engine, incoming, choices, tally, line, retry=True, cause=cause)
        if not reply.steps:
            return await finish_without(engine, incoming, choices, tally, reply.note or "Stopped.", retry=True)
        said = await interpret(prompt, reply, context)
        other = await say_second(engine, begun, said, stop, work) if incoming.two else None
        return await finish(engine, incoming, choices, said, tally, other, begun.reminders.made)


@metrics.time_stage("begin")
async def begin(engine: Engine, incoming: Incoming) -> BegunTurn:
    """Saves the message, loads the prompt's contents, and recalls what is relevant. A message answered again returns
    with its original text and reply."""
    since = engine.gate.budget.day() if engine.gate.budget.limited else None
    reminders = ReminderTools(engine.store, incoming, engine.zone)
    if not incoming.retry:
        incoming = replace(incoming, keepits=markers_in(incoming.blocks))
    began = engine.store.begin(incoming, model_of(engine, incoming), since, engine.memory_tokens)
    if not incoming.retry:
        context, found = await asyncio.gather(began, recall_for_turn(engine, incoming))
    else:
        context = await began
        if context.message is None:
            return BegunTurn(incoming, context, [], reminders)
        said = context.message
        incoming = replace(incoming, text=said.text, reply_to=said.reply_to, spoken=is_spoken(said.blocks))
        found = await recall_for_turn(engine, incoming)
    people = {user_id: marked_name(one.name, one.mark) for user_id, one in context.people.items()}
    context = await add_meant_intents(engine, incoming, context, found.query)
    incoming = replace(incoming, people=people)
    memories = tuple(replace(row, zone=row.zone or str(engine.zone)) for row in context.memories)
    return BegunTurn(incoming, replace(context, memories=memories), found.rows, reminders)


def show_files(
    engine: Engine, incoming: Incoming, context: Context
) -> AbstractAsyncContextManager[Mapping[str, Block]]:
    """Provides the files that the model sees, while it runs."""
    if engine.shelf is None:
        return nullcontext(NO_MEDIA)
    return engine.shelf.shown(present_blocks(incoming, context), [*map(files_of, context.recent)])


@metrics.time_stage("model")
async def say(
    engine: Engine, begun: BegunTurn, media: Mapping[str, Block], sink: Sink, stop: asyncio.Event, work: Work
) -> tuple[Reply, Prompt]:
    """Runs prompt, model and tools, with fewer recent messages if the prompt is too long. `media`: the files shown."""
    tried: list[ModelMessage] = []
    incoming, context = begun.incoming, begun.context
    for share in SHARES:
        prompt = build_prompt(incoming, context, begun.recalled, engine.zone, share, media, engine.memory_tokens)
        if prompt.messages == tried:
            continue  # as long as the one that was too long
        tried = prompt.messages
        tools = make_tools(engine, begun, prompt.tainted)

        def request(steps: Sequence[ModelMessage], dirty: bool, prompt: Prompt = prompt) -> ModelRequest:
            now = make_tools(engine, begun, prompt.tainted or dirty).definitions
            messages = with_steps(prompt, steps)
            return ModelRequest(model_of(engine, incoming), prompt.system, messages, engine.max_tokens, now)

        with suppress(ContextTooLong):
            return await converse(work, request, prompt, tools, sink, stop), prompt
    raise ContextTooLong()


async def interpret(prompt: Prompt, reply: Reply, context: Context) -> ModelAnswer:
    """Parses an answer's tags: in a thread if that may take a while, as with a long answer, or with long inputs that
    its tags are compared with."""
    if "[" in reply.text or len(reply.text) > SHORT:
        return ModelAnswer(prompt, reply, await asyncio.to_thread(parse_intents, prompt, reply, context))
    return ModelAnswer(prompt, reply, parse_intents(prompt, reply, context))


def make_tools(engine: Engine, begun: BegunTurn, tainted: bool) -> Tools:
    """Returns a turn's tools. With untrusted text in the prompt, web tools need a tap."""
    incoming = begun.incoming
    web = WEB if engine.web and (not tainted or incoming.web) else []
    runs = {
        "search_memory": search_memory(engine.store, incoming, engine.zone, engine.embedder),
        "open_memory": open_memory(engine.store, incoming, engine.zone),
        "read_document": read_document(engine.store, incoming.space, incoming.lent),
        **begun.reminders.runs,
    }
    definitions = [SEARCH_MEMORY, OPEN_MEMORY, READ_DOCUMENT, *REMINDER_TOOLS, *web]
    return Tools(definitions, runs, begun.reminders.note_taint)


@metrics.time_stage("finish")
async def finish(
    engine: Engine,
    incoming: Incoming,
    choices: Choices,
    said: ModelAnswer,
    tally: Tally,
    other: ModelAnswer | None = None,
    reminders: Sequence[Reminder] = (),
) -> Answer:
    """Saves the answer and applies its tags. In a tainted turn, memory changes wait for a tap; of two answers, both are
    saved, and their changes wait for the choice."""
    prompt, reply, intents = said.prompt, said.reply, said.intents
    order = secrets.choice(ORDERS) if other else ""
    second = second_row(incoming, choices, intents, other.reply, other.intents) | {"order": order} if other else None
    actions = select_allowed_actions(intents, choices)
    told = describe_answer(incoming, choices, said, other) | {
        "web": is_held_back(engine, incoming, reply),
        "model": "" if model_of(engine, incoming) == engine.model_name else incoming.model,
        "warning": engine.gate.budget.nearly_used_up(tally.spent),
        "order": order,
        "reminders": [encode_row(Reminder, one) for one in reminders],
    }
    return await engine.store.finish(
        incoming,
        {
            "text": intents.text,
            "blocks": select_kept_steps(incoming, reply, intents),
            "status": reply.status,
            "again": incoming.retry and not incoming.web,
            "tainted": reply.tainted,
            "model": reply.model,
            "usage": reply.usage,
            "spent": as_json(tally.make_spending(done=True)),
            "warned_since": engine.gate.budget.day().isoformat(),
            "prompt": record(prompt, reply, choices).as_json(),
            "actions": [] if other else [action_row(action, incoming) for action in actions],
            "other": second,
            "ask": choices.learning == "ask" or incoming.lent is not None,
            "told": told,
        },
    )


def is_held_back(engine: Engine, incoming: Incoming, reply: Reply) -> bool:
    """Tests whether an answer could have used the web if it had not been tainted."""
    looked = any(tool["name"] in reply.tools for tool in WEB)
    return engine.web and reply.tainted and not incoming.web and not looked


async def say_second(
    engine: Engine, begun: BegunTurn, first: ModelAnswer, stop: asyncio.Event, work: Work
) -> ModelAnswer | None:
    """Returns another answer to the same message; None if there can be none, or the first was not finished."""
    if first.reply.status != "complete" or work.tally.used_up:
        return None
    begun = replace(begun, incoming=replace(begun.incoming, first=first.intents.text))
    try:
        async with show_files(engine, begun.incoming, begun.context) as media:
            reply, prompt = await say(engine, begun, media, NullSink(), stop, work)
    except (BudgetUsedUp, ModelError):
        return None
    if reply.status != "complete" or not reply.steps:
        return None
    return await interpret(prompt, reply, begun.context)


async def bring_back(
    engine: Engine, incoming: Incoming, choices: Choices, former: FormerAnswer | None, tally: Tally
) -> Answer:
    """Puts a former answer back in its place. What the newer one taught is taken back, and what the former one had
    taught applies again."""
    if former is None:
        line = "There's no earlier answer to bring back."
        return await finish_without(engine, incoming, choices, tally, line, retry=False)
    shown = make_display_options(choices, former.tainted)
    told = {"text": former.text, "tools": [], "note": "↩ Brought back", "failed": [], "choices": shown}
    ended = {"text": former.text, "blocks": former.blocks, "status": "complete", "tainted": former.tainted}
    ended |= {"actions": [], "told": told, "again": "back", "preferred": incoming.prefers_first, "spent": None}
    return await engine.store.finish(incoming, ended)


async def finish_without(
    engine: Engine, incoming: Incoming, choices: Choices, tally: Tally, sentence: str, retry: bool, cause: str = ""
) -> Answer:
    """Ends a turn without an answer: sends the sentence, but stores it as no message. `cause`: the failure to count,
    Relay's or the model's; only then does the message make a sound, as the expected answer would."""
    told = {"text": "", "tools": [], "note": sentence, "retry": retry, "web": False, "failed": []}
    told["choices"] = make_display_options(replace(choices, sound=choices.sound and bool(cause)), True)
    ended = {"text": "", "blocks": [], "status": "cut", "tainted": False, "actions": [], "told": told}
    ended |= {"error": cause or None, "spent": as_json(tally.make_spending(done=False))}
    return await engine.store.finish(incoming, ended)
