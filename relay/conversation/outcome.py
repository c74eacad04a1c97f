"""What is stored with an answer. Pure."""

from __future__ import annotations

from dataclasses import asdict, replace

from relay.conversation.history import Prompt
from relay.core.models import Incoming, ModelMessage, Reply
from relay.core.prompt_markup import text_block
from relay.memory.intents import Forget, Intents, Learn, Remember
from relay.memory.rows.choices import Choices
from relay.memory.rows.turns.record import PromptRecord


def aloud(incoming: Incoming, intents: Intents, choices: Choices, tainted: bool) -> bool:
    """Tests whether to speak an answer too: the model was asked to, or the reader set it, or they spoke. In a tainted
    turn the model's wish doesn't count: someone else may have asked, and speech may go to an external service."""
    wanted = (intents.voice_reply and not tainted) or incoming.spoken or choices.voice == "always"
    return wanted and choices.voice != "never"


def kept_steps(incoming: Incoming, reply: Reply, intents: Intents) -> list[ModelMessage]:
    """Returns the steps that later turns read. If someone's memory was lent for it, others read it too: then only what
    the answer said to everyone."""
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
    return {
        "action": "learn",
        "kind": "learning",
        **asdict(action),
        **(about if action.category != "knowledge" else {}),
    }


def allowed_actions(intents: Intents, choices: Choices) -> list[Learn | Forget | Remember]:
    """What an answer asks of memory, as far as its person lets it learn."""
    return [one for one in intents.actions if choices.learning != "off" or isinstance(one, Forget)]


def second_row(
    incoming: Incoming, choices: Choices, first: Intents, reply: Reply, intents: Intents
) -> dict[str, object]:
    """The second of two answers as it is stored, with what both ask of memory."""
    return {
        "text": intents.text,
        "blocks": kept_steps(incoming, reply, intents),
        "tainted": reply.tainted,
        "actions": [[action_row(one, incoming) for one in allowed_actions(each, choices)] for each in (first, intents)],
    }


def record(prompt: Prompt, reply: Reply, choices: Choices) -> PromptRecord:
    """Returns the record of how an answer came about."""
    by_tool = ("tool",) if reply.tainted and not prompt.tainted else ()
    tainted_by = (*prompt.record.tainted_by, *by_tool)
    return replace(prompt.record, tainted_by=tainted_by, tools=reply.tools, learning=choices.learning)


def shown_by(choices: Choices, tainted: bool) -> dict[str, object]:
    """Returns display options. Untrusted text must not make Telegram fetch addresses."""
    return {
        "sound": choices.sound,
        "previews": choices.previews and not tainted,
        "tools": choices.tools,
        "keep": choices.keep and choices.learning != "off",
        "tags": choices.tags and choices.learning != "off",
    }
