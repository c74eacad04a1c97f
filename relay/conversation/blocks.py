"""Content blocks that the API accepts: every tool call with its result, and every result with its call."""

from __future__ import annotations

from collections.abc import Sequence

from relay.core.models import Block, ModelMessage


def pair_tool_calls(steps: Sequence[ModelMessage]) -> list[ModelMessage]:
    """Removes unanswered tool calls (cut off, stopped) and stray results from steps (`{role, content}`). The next step
    answers our calls; a later block of the same step answers server calls."""
    kept: list[ModelMessage] = []
    for index, step in enumerate(steps):
        before = steps[index - 1]["content"] if index else []
        after = steps[index + 1]["content"] if index + 1 < len(steps) else []
        content = [block for block in step["content"] if _has_partner(block, before, step["content"], after)]
        if content:
            kept.append({**step, "content": content})
    return kept


def _has_partner(block: Block, before: Sequence[Block], own: Sequence[Block], after: Sequence[Block]) -> bool:
    match block["type"]:
        case "tool_use":
            return any(other.get("tool_use_id") == block["id"] for other in after)
        case "server_tool_use":
            return any(other.get("tool_use_id") == block["id"] for other in own)
        case "tool_result":
            return any(other.get("id") == block["tool_use_id"] for other in before)
    return True
