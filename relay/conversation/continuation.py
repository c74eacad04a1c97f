"""Continues an answer that broke off, and joins the parts."""

from __future__ import annotations

from relay.core.errors import StreamCut
from relay.core.models import Block, ModelMessage, Step

CONTINUE = (
    "(The connection broke off in the middle of your answer above. Go on exactly where it stops: "
    "repeat nothing, say nothing about the interruption.)"
)


def cut_text(cut: StreamCut) -> str:
    """Returns the text of an answer that broke off."""
    return "".join(str(block["text"]) for block in cut.blocks if block["type"] == "text")


def continue_messages(partial: str) -> list[ModelMessage]:
    """Returns the messages that make the model continue its text (it doesn't accept a prefilled answer)."""
    if not partial.strip():
        return []
    return [
        {"role": "assistant", "content": [{"type": "text", "text": partial.rstrip()}]},
        {"role": "user", "content": [{"type": "text", "text": CONTINUE}]},
    ]


def join_continuation(partial: str, step: Step) -> Step:
    """Joins the cut text and its continuation in one block."""
    blocks: list[Block] = [dict(block) for block in step.blocks]
    for block in blocks:
        if block["type"] == "text":
            block["text"] = join_text(partial, block["text"])
            return Step(blocks, step.stop_reason, step.usage, step.model)
    return Step([{"type": "text", "text": partial}, *blocks], step.stop_reason, step.usage, step.model)


def join_text(cut: str, rest: str) -> str:
    """Joins a cut text and its continuation; white space on both sides counts once."""
    head, tail = cut.rstrip(), rest.lstrip()
    return head + max(cut[len(head) :], rest[: len(rest) - len(tail)], key=len) + tail
