"""A message's path, top to bottom: begin, recall, prompt, model and tools, intents, finish."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from datetime import tzinfo
from functools import partial

from relay.conversation.document_tool import READ_DOCUMENT, read_document
from relay.conversation.history import NO_MEDIA, Prompt, files_of, present_blocks, with_steps
from relay.conversation.memory_layer import as_written, diagnostic
from relay.conversation.memory_tools import OPEN_MEMORY, SEARCH_MEMORY, open_memory, search_memory
from relay.conversation.model_loop import Tools, converse
from relay.conversation.outcome import action_row, allowed_actions, aloud, kept_steps, record, second_row, shown_by
from relay.conversation.prompt import MEMORY_TOKENS, build_prompt
from relay.core import metrics
from relay.core.charge import Charge
from relay.core.errors import BudgetUsedUp, ContextTooLong, ModelError, ModelRefused
from relay.core.models import Block, Incoming, ModelMessage, ModelRequest, Reply
from relay.core.ports import Embedder, Sink
from relay.media.attachment_reader import is_spoken
from relay.media.media_context import MediaContext
from relay.memory.intents import Intents, process_intents, without_echoes, without_known
from relay.memory.query_vectors import embed_query
from relay.memory.rows.choices import Choices
from relay.memory.rows.found import FoundEntry
from relay.memory.rows.turns.answer import Answer
from relay.memory.rows.turns.context import Context, FormerAnswer
from relay.memory.spending.budget import Tally
from relay.memory.spending.gate import Gate, Work
from relay.memory.store import Store

SHARES = (1.0, 0.5, 0.2, 0.0)
"""Shares of the recent messages' budget to try in turn if the model finds the prompt too long."""

WEB = [
    {"type": "web_search_20260318", "name": "web_search", "max_uses": 5, "allowed_callers": ["direct"]},
    {"type": "web_fetch_20260318", "name": "web_fetch", "max_uses": 5, "allowed_callers": ["direct"]},
]
"""Only the model itself may call this, not code that it runs at Anthropic."""
ORDERS = ("ab", "ba")
"""Which of two answers is shown as A: by chance, so that the place teaches nothing."""
VECTOR_SECONDS = 0.025
"""How long recall waits for a message's vector; after that it goes by words alone."""


@dataclass(frozen=True, slots=True)
class Engine:
    """What a turn needs."""

    store: Store
    gate: Gate
    model_name: str
    max_tokens: int
    zone: tzinfo
    web: bool = False
    shelf: MediaContext | None = None
    """Provides a conversation's pictures and documents; None: they are only described."""
    memory_tokens: int = MEMORY_TOKENS
    """The prompt's budget for memories in tokens; 0: none."""
    capture: str = "auto"
    """See RELAY_CAPTURE."""
    embedder: Embedder | None = None
    """Embeds messages for recall; None: recall goes by words alone."""


@dataclass(frozen=True, slots=True)
class BegunTurn:
    """A saved input with the contents of its prompt."""

    incoming: Incoming
    context: Context
    recalled: Sequence[FoundEntry]


@dataclass(frozen=True, slots=True)
class Said:
    """An answer of the model's."""

    prompt: Prompt
    reply: Reply
    intents: Intents


class Silent:
    """Shows nothing of an answer while it grows."""

    def text(self, so_far: Callable[[], str]) -> None:
        """See `ports.Sink.text`."""

    def waiting(self, sentence: str) -> None:
        """See `ports.Sink.waiting`."""


async def answer(engine: Engine, incoming: Incoming, sink: Sink, stop: asyncio.Event) -> Answer:
    """Answers one user input and saves everything about it. Setting `stop` ends it with what was said so far. If the
    model can't answer, the `Answer` says so and offers a retry; nothing of it becomes a message."""
    begun = await begin(engine, incoming)
    incoming, context = begun.incoming, begun.context
    choices = context.choices.within(engine.capture)
    engine = replace(engine, zone=choices.zone_or(engine.zone))
    charge = Charge("answer", user_id=incoming.user_id, turn_id=incoming.turn_id)
    before = engine.gate.budget.spent(context.spent)
    async with engine.gate.work(charge, model_of(engine, incoming), before) as work:
        tally = work.tally
        if context.message_id is None:
            line = "There is nothing to answer again here yet."
            return await finish_without(engine, incoming, choices, tally, line, retry=False)
        if incoming.brings_back:
            return await bring_back(engine, incoming, choices, context.former, tally)
        if tally.used_up:
            return await finish_without(engine, incoming, choices, tally, tally.used_up, retry=True)
        try:
            async with shown(engine, incoming, context) as media:
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
        # In a thread: a long answer, or long inputs, take a while.
        said = Said(prompt, reply, await asyncio.to_thread(understood, prompt, reply, context))
        other = await say_second(engine, begun, said, stop, work) if incoming.two else None
        return await finish(engine, incoming, choices, said, tally, other)


@metrics.time_stage("begin")
async def begin(engine: Engine, incoming: Incoming) -> BegunTurn:
    """Saves the message, loads the prompt's contents, and recalls what is relevant. A message answered again returns
    with its original text and reply."""
    since = engine.gate.budget.day() if engine.gate.budget.limited else None
    if not incoming.retry:
        began = engine.store.begin(incoming, model_of(engine, incoming), since, engine.memory_tokens)
        return BegunTurn(incoming, *await asyncio.gather(began, recalled_for(engine, incoming)))
    context = await engine.store.begin(incoming, model_of(engine, incoming), since, engine.memory_tokens)
    if context.message is None:
        return BegunTurn(incoming, context, [])
    said = context.message
    incoming = replace(incoming, text=said.text, reply_to=said.reply_to, spoken=is_spoken(said.blocks))
    found = await recalled_for(engine, incoming)
    return BegunTurn(incoming, context, [row for row in found if row.message_id != context.message_id])


@metrics.time_stage("recall")
async def recalled_for(engine: Engine, incoming: Incoming) -> list[FoundEntry]:
    """What bears on a message in its own space, then, marked `lent`, in the one that its speaker lends."""
    query = await embed_query(engine.embedder, incoming.text, VECTOR_SECONDS)
    recall = partial(engine.store.recall, incoming, vector=query.vector, model=query.model)
    if incoming.lent is None:
        return await recall()
    own, lent = await asyncio.gather(recall(), recall(incoming.lent))
    return [*own, *(replace(row, lent=True) for row in lent)]


def model_of(engine: Engine, incoming: Incoming) -> str:
    """Returns the model for an input."""
    return incoming.model or engine.model_name


def understood(prompt: Prompt, reply: Reply, context: Context) -> Intents:
    """Parses the intents of a reply's own tags."""
    intents = without_echoes(process_intents(reply.text), foreign_texts(prompt, reply))
    return without_known(intents, [row.content for row in context.lent])


def foreign_texts(prompt: Prompt, reply: Reply) -> Iterator[str]:
    """Yields what the model read in this turn and didn't write: memory, the present message with its quote and
    recalled passages, untrusted text, and tool results. Tags in these aren't the assistant's."""
    yield from (as_written(block["text"]) for block in prompt.system[1:])
    for message in [*prompt.messages, *reply.steps]:
        for block in message["content"]:
            text = str(block.get("text") or "") if message["role"] == "user" else ""
            if block["type"].endswith("tool_result"):
                yield str(block.get("content")).replace('\\"', '"').replace("\\n", "\n")
            elif message is prompt.messages[-1] or text.startswith(("<untrusted ", "<said ")):
                yield text
                yield as_written(text)


def shown(engine: Engine, incoming: Incoming, context: Context) -> AbstractAsyncContextManager[Mapping[str, Block]]:
    """Provides the files that the model sees, while it runs."""
    if engine.shelf is None:
        return nullcontext(NO_MEDIA)
    return engine.shelf.shown(present_blocks(incoming, context), [*map(files_of, context.recent)])


@metrics.time_stage("model")
async def say(
    engine: Engine,
    begun: BegunTurn,
    media: Mapping[str, Block],
    sink: Sink,
    stop: asyncio.Event,
    work: Work,
) -> tuple[Reply, Prompt]:
    """Runs prompt, model and tools, with fewer recent messages if the prompt is too long. `media`: the files shown."""
    tried: list[ModelMessage] = []
    incoming, context = begun.incoming, begun.context
    for share in SHARES:
        prompt = build_prompt(incoming, context, begun.recalled, engine.zone, share, media, engine.memory_tokens)
        if prompt.messages == tried:
            continue  # as long as the one that was too long
        tried = prompt.messages
        tools = offered(engine, incoming, prompt.tainted)

        def request(steps: Sequence[ModelMessage], dirty: bool, prompt: Prompt = prompt) -> ModelRequest:
            now = offered(engine, incoming, prompt.tainted or dirty).definitions
            messages = with_steps(prompt, steps)
            return ModelRequest(model_of(engine, incoming), prompt.system, messages, engine.max_tokens, now)

        with suppress(ContextTooLong):
            return await converse(work, request, prompt, tools, sink, stop), prompt
    raise ContextTooLong()


def offered(engine: Engine, incoming: Incoming, tainted: bool) -> Tools:
    """Returns a turn's tools. With untrusted text in the prompt, web tools need a tap."""
    web = WEB if engine.web and (not tainted or incoming.web) else []
    runs = {
        "search_memory": search_memory(engine.store, incoming, engine.zone, engine.embedder),
        "open_memory": open_memory(engine.store, incoming, engine.zone),
        "read_document": read_document(engine.store, incoming.space, incoming.lent),
    }
    return Tools([SEARCH_MEMORY, OPEN_MEMORY, READ_DOCUMENT, *web], runs)


@metrics.time_stage("finish")
async def finish(
    engine: Engine,
    incoming: Incoming,
    choices: Choices,
    said: Said,
    tally: Tally,
    other: Said | None = None,
) -> Answer:
    """Saves the answer and applies its tags. In a tainted turn, memory changes wait for a tap; of two answers, both are
    saved, and their changes wait for the choice."""
    prompt, reply, intents = said.prompt, said.reply, said.intents
    order = secrets.choice(ORDERS) if other else ""
    second = second_row(incoming, choices, intents, other.reply, other.intents) | {"order": order} if other else None
    actions = allowed_actions(intents, choices)
    looked = any(tool["name"] in reply.tools for tool in WEB)
    held_back = engine.web and reply.tainted and not incoming.web and not looked
    told = {
        "text": intents.text,
        "tools": list(reply.tools),
        "note": " ".join(note for note in (*incoming.notices, reply.note) if note),
        "aloud": reply.status == "complete" and aloud(incoming, intents, choices, reply.tainted),
        "retry": reply.status == "cut",
        "web": held_back,
        "failed": [{"tag": r.tag, "text": r.text, "failed": r.reason} for r in intents.rejected],
        "choices": shown_by(choices, reply.tainted),
        "unlearned": len(actions) < len(intents.actions),
        "model": "" if model_of(engine, incoming) == engine.model_name else incoming.model,
        "diagnostic": diagnostic(prompt.record) if choices.diagnostics else "",
        "warning": engine.gate.budget.nearly_used_up(tally.spent),
        "acting": list(prompt.new_preferences),
        "other": other.intents.text if other else "",
        "order": order,
    }
    return await engine.store.finish(
        incoming,
        {
            "text": intents.text,
            "blocks": kept_steps(incoming, reply, intents),
            "status": reply.status,
            "again": incoming.retry and not incoming.web,
            "tainted": reply.tainted,
            "model": reply.model,
            "usage": reply.usage,
            "spent": stored_spending(tally, done=True),
            "warned_since": engine.gate.budget.day().isoformat(),
            "prompt": record(prompt, reply, choices).as_json(),
            "actions": [] if other else [action_row(action, incoming) for action in actions],
            "other": second,
            "ask": choices.learning == "ask" or incoming.lent is not None,
            "told": told,
        },
    )


async def say_second(engine: Engine, begun: BegunTurn, first: Said, stop: asyncio.Event, work: Work) -> Said | None:
    """Another answer to the same message; None where there can be none, or the first was not finished."""
    if first.reply.status != "complete" or work.tally.used_up:
        return None
    begun = replace(begun, incoming=replace(begun.incoming, first=first.intents.text))
    try:
        async with shown(engine, begun.incoming, begun.context) as media:
            reply, prompt = await say(engine, begun, media, Silent(), stop, work)
    except (BudgetUsedUp, ModelError):
        return None
    if reply.status != "complete" or not reply.steps:
        return None
    return Said(prompt, reply, await asyncio.to_thread(understood, prompt, reply, begun.context))


async def bring_back(
    engine: Engine, incoming: Incoming, choices: Choices, former: FormerAnswer | None, tally: Tally
) -> Answer:
    """Gives an answer back its place. It teaches nothing again, and what the newer one taught is taken back."""
    if former is None:
        line = "There's no earlier answer to bring back."
        return await finish_without(engine, incoming, choices, tally, line, retry=False)
    shown = shown_by(choices, former.tainted)
    told = {"text": former.text, "tools": [], "note": "↩ Brought back", "failed": [], "choices": shown}
    ended = {"text": former.text, "blocks": former.blocks, "status": "complete", "tainted": former.tainted}
    return await engine.store.finish(incoming, ended | {"actions": [], "told": told, "again": "back", "spent": None})


async def finish_without(
    engine: Engine,
    incoming: Incoming,
    choices: Choices,
    tally: Tally,
    sentence: str,
    retry: bool,
    cause: str = "",
) -> Answer:
    """Ends a turn without an answer: sends the sentence, but saves it as nobody's message. `cause`: the failure to
    count, ours or the model's. It makes a sound only then, as the expected answer would."""
    told = {"text": "", "tools": [], "note": sentence, "retry": retry, "web": False, "failed": []}
    told["choices"] = shown_by(replace(choices, sound=choices.sound and bool(cause)), True)
    ended = {"text": "", "blocks": [], "status": "cut", "tainted": False, "actions": [], "told": told}
    ended |= {"error": cause or None, "spent": stored_spending(tally, done=False)}
    return await engine.store.finish(incoming, ended)


def stored_spending(tally: Tally, done: bool) -> dict[str, object] | None:
    """Returns a turn's use as it is stored."""
    spending = tally.spending(done)
    return spending.as_json() if spending else None
