"""What a reply of the model says, and what is stored with it. Pure."""

from __future__ import annotations

from dataclasses import asdict, replace

from relay.conversation.history import Prompt
from relay.conversation.memory_layer import diagnostic
from relay.conversation.taint import foreign_texts
from relay.core.frozen import frozen
from relay.core.models import Incoming, ModelMessage, Reply
from relay.core.prompt_markup import text_block
from relay.memory.intents import Forget, Intents, Learn, Remember, process_intents, remove_echoes, remove_known
from relay.memory.rows.choices import Choices
from relay.memory.rows.turns.context import Context
from relay.memory.rows.turns.record import PromptRecord


@frozen
class ModelAnswer:
    """An answer of the model."""

    prompt: Prompt
    reply: Reply
    intents: Intents


def parse_intents(prompt: Prompt, reply: Reply, context: Context) -> Intents:
    """Parses the intents of a reply's own tags."""
    intents = remove_echoes(process_intents(reply.text), foreign_texts(prompt, reply))
    return remove_known(intents, [row.content for row in context.lent])


def should_speak(incoming: Incoming, intents: Intents, choices: Choices, tainted: bool) -> bool:
    """Tests whether to speak an answer too: because the model was asked to, the reader chose it, or they spoke. In a
    tainted turn the model's wish doesn't count: someone else may have asked, and speech may go to an external
    service."""
    wanted = (intents.voice_reply and not tainted) or incoming.spoken or choices.voice == "always"
    return wanted and choices.voice != "never"


def select_kept_steps(incoming: Incoming, reply: Reply, intents: Intents) -> list[ModelMessage]:
    """Returns the steps that later turns read. If someone's memory was lent for the answer, others read them too, so
    only what the answer said to everyone is kept."""
    if incoming.lent is None or not reply.steps:
        return reply.steps
    return [{"role": "assistant", "content": [text_block(intents.text or "👌")]}]


def action_row(action: Learn | Forget | Remember, incoming: Incoming) -> dict[str, object]:
    """Converts an intent for `relay.apply_actions`. Knowledge is about nobody; everything else is about the speaker."""
    if isinstance(action, Forget):
        return {"action": "forget", "content": action.text}
    about = {"subject_id": incoming.user_id, "subject": incoming.name}
    if isinstance(action, Learn):
        return {"action": "learn", "kind": "fact", "content": action.text, **about}
    learned = asdict(action) | ({} if action.category == "knowledge" else about)
    return {"action": "learn", "kind": "learning", **learned}


def select_allowed_actions(intents: Intents, choices: Choices) -> list[Learn | Forget | Remember]:
    """Returns the actions on memory that an answer requests, as far as its person lets it learn."""
    return [one for one in intents.actions if choices.learning != "off" or isinstance(one, Forget)]


def second_row(
    incoming: Incoming, choices: Choices, first: Intents, reply: Reply, intents: Intents
) -> dict[str, object]:
    """Returns the second of two answers as it is stored, with the actions on memory of both."""
    return {
        "text": intents.text,
        "blocks": select_kept_steps(incoming, reply, intents),
        "tainted": reply.tainted,
        "actions": [
            [action_row(one, incoming) for one in select_allowed_actions(each, choices)] for each in (first, intents)
        ],
    }


def record(prompt: Prompt, reply: Reply, choices: Choices) -> PromptRecord:
    """Returns the record of how an answer came about."""
    by_tool = ("tool",) if reply.tainted and not prompt.tainted else ()
    tainted_by = (*prompt.record.tainted_by, *by_tool)
    return replace(prompt.record, tainted_by=tainted_by, tools=reply.tools, learning=choices.learning)


def make_display_options(choices: Choices, tainted: bool) -> dict[str, object]:
    """Returns display options. Untrusted text must not make Telegram fetch addresses."""
    return {
        "sound": choices.sound,
        "previews": choices.previews and not tainted,
        "tools": choices.tools,
        "keep": choices.keep and choices.learning != "off",
        "tags": choices.tags and choices.learning != "off",
        "compare": choices.compare and choices.learning != "off",
    }


def describe_answer(
    incoming: Incoming, choices: Choices, said: ModelAnswer, other: ModelAnswer | None
) -> dict[str, object]:
    """Returns what is shown with an answer: see `Answer`."""
    reply, intents = said.reply, said.intents
    return {
        "text": intents.text,
        "tools": list(reply.tools),
        "note": " ".join(note for note in (*incoming.notices, reply.note) if note),
        "aloud": reply.status == "complete" and should_speak(incoming, intents, choices, reply.tainted),
        "retry": reply.status == "cut",
        "failed": [{"tag": r.tag, "text": r.text, "failed": r.reason} for r in intents.rejected],
        "choices": make_display_options(choices, reply.tainted),
        "unlearned": len(select_allowed_actions(intents, choices)) < len(intents.actions),
        "diagnostic": diagnostic(said.prompt.record) if choices.diagnostics else "",
        "acting": list(said.prompt.new_preferences),
        "other": other.intents.text if other else "",
        "tainted_by": list(said.prompt.record.tainted_by),
    }
