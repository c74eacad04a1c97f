"""Content blocks that the API accepts: no tool call without its result, no result without its call."""

from __future__ import annotations

from collections.abc import Sequence

from relay.core.models import Block, ModelMessage


def paired(steps: Sequence[ModelMessage]) -> list[ModelMessage]:
    """Steps (`{role, content}`) without tool calls that were never answered (cut off, stopped) and stray results.

    A call of ours is answered by the next step; a call that the server runs, by a later block of the same step.
    """
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
