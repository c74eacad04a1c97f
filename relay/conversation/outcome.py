"""What is stored of an answer. Pure."""

from __future__ import annotations

from dataclasses import asdict, replace

from relay.conversation.history import Prompt
from relay.core.models import Incoming, ModelMessage, Reply
from relay.core.prompt_markup import text_block
from relay.memory.intents import Forget, Intents, Learn, Remember
from relay.memory.rows.choices import Choices
from relay.memory.rows.turns.record import PromptRecord


def aloud(incoming: Incoming, intents: Intents, choices: Choices, tainted: bool) -> bool:
    """Whether an answer is also said: the model was asked to, or its reader always wants it so, or spoke themselves.

    Speaking may hand an answer to a service. In a tainted turn somebody else may have asked the model for that.
    """
    wanted = (intents.voice_reply and not tainted) or incoming.spoken or choices.voice == "always"
    return wanted and choices.voice != "never"


def kept_steps(incoming: Incoming, reply: Reply, intents: Intents) -> list[ModelMessage]:
    """What later turns read of an answer. Where somebody's memory was lent for it, they are turns of others too: just
    what the answer said to all."""
    if incoming.lent is None or not reply.steps:
        return reply.steps
    return [{"role": "assistant", "content": [text_block(intents.text or "👌")]}]


def action_row(action: Learn | Forget | Remember, incoming: Incoming) -> dict[str, object]:
    """An intent as `relay.apply_actions` takes it. What is knowledge is about nobody; all else is the speaker's."""
    if isinstance(action, Forget):
        return {"action": "forget", "content": action.text}
    about = {"subject_id": incoming.user_id, "subject": incoming.name}
    if isinstance(action, Learn):
        return {"action": "learn", "kind": "fact", "content": action.text, **about}
    return {
        "action": "learn",
        "kind": "learning",
        **asdict(action),
        **(about if action.category != "knowledge" else {}),
    }


def record(prompt: Prompt, reply: Reply, choices: Choices) -> PromptRecord:
    """What is kept about how an answer came about, for whoever asks why."""
    by_tool = ("tool",) if reply.tainted and not prompt.tainted else ()
    tainted_by = (*prompt.record.tainted_by, *by_tool)
    return replace(prompt.record, tainted_by=tainted_by, tools=reply.tools, learning=choices.learning)


def shown_by(choices: Choices, tainted: bool) -> dict[str, object]:
    """How an answer is to be shown. What others wrote must not make Telegram fetch the addresses in it."""
    return {
        "sound": choices.sound,
        "previews": choices.previews and not tainted,
        "tools": choices.tools,
        "keep": choices.keep and choices.learning != "off",
        "tags": choices.tags and choices.learning != "off",
    }
