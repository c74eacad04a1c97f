"""A conversation in Anthropic's shape: the history that fits, then the present message. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo

from relay.core.frozen import frozen
from relay.core.limits import SUMMARY_TOKENS
from relay.core.models import Block, Incoming, ModelMessage
from relay.core.prompt_markup import (
    CACHE,
    call_person,
    cut_to_tokens,
    estimate_tokens,
    mark_speaker,
    mark_untrusted,
    neutralize_markup,
    text_block,
)
from relay.media.media_cost import first_kept
from relay.media.showing import describe_file, introduce_file, name_file
from relay.memory.contexts.markers import remove_markers
from relay.memory.rows.turns.context import Context, StoredMessage
from relay.memory.rows.turns.record import PromptRecord
from relay.memory.rows.upkeep.writing import ShownSummary

NO_MEDIA: Mapping[str, Block] = {}
NOBODY: Mapping[int, str] = {}
WROTE_FIRST = "(You wrote first.)"
KEPT_MESSAGES = 10
"""The number of messages (five exchanges) that stay in the prompt, up to twice the budget."""


@frozen
class Prompt:
    """A request in Anthropic's shape, with its contents and whether any is untrusted."""

    system: list[Block]
    messages: list[ModelMessage]
    tainted: bool
    record: PromptRecord
    new_preferences: tuple[int, ...] = ()
    """Ids of preferences that apply for the first time."""


def weight(row: StoredMessage) -> int:
    """Returns an estimate of a stored message's tokens, including file texts."""
    texts = (block.get("text", "") for block in row.blocks) if row.role == "user" else (row.text,)
    return sum(map(estimate_tokens, texts)) + 8


def fit_budget(recent: Sequence[StoredMessage], tokens: int) -> tuple[list[StoredMessage], int]:
    """Returns the newest messages that fit, and how many were left out. Files have their own budgets. Trims in steps of
    a quarter of the budget, so that the cached prefix rarely changes, and starts at a user's message or at one that the
    assistant sent unasked."""
    weights = [weight(row) for row in recent]
    newest = weights[-KEPT_MESSAGES:]
    last = len(weights) - (len(newest) if sum(newest) <= 2 * tokens else 0)
    start = min(first_kept(weights, tokens), last)
    while start < len(recent) and recent[start].role != "user" and not recent[start].started_by:
        start += 1
    return list(recent[start:]), start


def history(
    summary: ShownSummary | None,
    recent: Sequence[StoredMessage],
    group: bool,
    zone: tzinfo,
    shown: Sequence[Mapping[str, Block]],
    composed: str = "",
    people: Mapping[int, str] = NOBODY,
) -> list[ModelMessage]:
    """Returns the composition, the summary, then the recent messages as real turns with tool calls and files. `people`:
    see `Incoming`."""
    messages: list[ModelMessage] = [{"role": "user", "content": [text_block(composed)]}] if composed else []
    if summary:
        text = f"<summary>\n{neutralize_markup(cut_to_tokens(summary.text, SUMMARY_TOKENS))}\n</summary>"
        messages.append({"role": "user", "content": [text_block("What was said earlier in this thread:\n" + text)]})
    before = ""
    for row, media in zip(recent, shown, strict=True):
        if row.role == "user":
            day = day_of(row.created_at, zone)
            content = user_blocks(row.blocks, call_person(row.user_id, row.name or "", people), group, media, day)
            messages.append({"role": "user", "content": [*new_day(before, day), *content]})
            before = day
        else:
            messages.extend(pair_tool_calls(row.blocks))
    if messages and messages[0]["role"] == "assistant":  # the API wants a user's message first
        messages.insert(0, {"role": "user", "content": [text_block(WROTE_FIRST)]})
    return merge_adjacent(messages)


def day_of(at: datetime, zone: tzinfo) -> str:
    """Returns the day of a message, as text."""
    return f"{at.astimezone(zone):%Y-%m-%d}"


def new_day(before: str, day: str) -> list[Block]:
    """Returns a line for a message that was sent on another day than the one before it, so that "tomorrow" has a date
    in both. `before`: empty for the first message."""
    return [text_block(f"(A new day: {day}. The message before is from {before}.)")] if before not in ("", day) else []


def user_blocks(
    blocks: Sequence[Block], name: str, group: bool, media: Mapping[str, Block] = NO_MEDIA, said_on: str = ""
) -> list[Block]:
    """Returns a user's stored blocks for the model: others' words delimited, files shown or described, speakers named
    in a group by `name`, which is clean."""
    shown: list[Block] = []
    left = dict(media)
    for block in blocks:
        if block["type"] != "text":
            file = left.pop(block["file"]["unique_id"], None)
            shown.extend(introduce_file(block, file) if file else [text_block(describe_file(block, said_on))])
        elif not remove_markers(block["text"]).strip():
            continue
        elif block.get("untrusted"):
            shown.append(text_block(mark_untrusted(block["text"], block["untrusted"], block.get("from", ""))))
        else:
            said = neutralize_markup(remove_markers(block["text"]))
            if block.get("replied") and "file" in block:  # its transcript; the person may have corrected what they said
                said = f"(the {name_file(block)} that this replies to, as transcribed: {said})"
            shown.append(text_block(said))
    shown = shown or [text_block("(an empty message)")]
    return [mark_speaker(name, block) for block in shown] if group else shown


def merge_adjacent(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """Merges adjacent messages of one role, as the API does."""
    merged: list[ModelMessage] = []
    for message in messages:
        if merged and merged[-1]["role"] == message["role"]:
            merged[-1] = {"role": message["role"], "content": [*merged[-1]["content"], *message["content"]]}
        else:
            merged.append(dict(message))
    return merged


def mark_last_said(messages: list[ModelMessage]) -> None:
    """Sets a cache breakpoint before the present message. The previous turn's cache ends there, and the API would not
    look back past a long answer with many tool calls."""
    for place in reversed(range(len(messages))):
        *head, end = messages[place]["content"]
        if messages[place]["role"] == "user" and end["type"] != "tool_result":
            messages[place] = {"role": "user", "content": [*head, {**end, "cache_control": CACHE}]}
            return


def with_steps(prompt: Prompt, steps: Sequence[ModelMessage]) -> list[ModelMessage]:
    """Appends the running turn's steps to a prompt. Moves the cache breakpoint from before the present message to the
    end of the steps, because the API allows four."""
    if not steps or steps[-1]["role"] != "user":
        return [*prompt.messages, *steps]
    *before, last = steps
    *head, end = last["content"]
    *history, present = prompt.messages
    *earlier, said, about = present["content"]
    present = {**present, "content": [*map(remove_breakpoint, earlier), said, about]}
    history = [{**message, "content": list(map(remove_breakpoint, message["content"]))} for message in history]
    return [*history, present, *before, {**last, "content": [*head, {**end, "cache_control": CACHE}]}]


def remove_breakpoint(block: Block) -> Block:
    """Returns a block without its cache breakpoint."""
    return {key: value for key, value in block.items() if key != "cache_control"}


def present_message(
    incoming: Incoming,
    context: Context,
    recent: Sequence[StoredMessage],
    zone: tzinfo,
    group: bool,
    media: Mapping[str, Block],
) -> list[Block]:
    """Returns the present message as the next turn's history will show it. `recent`: the messages shown before it."""
    stored = context.message
    name, at = (stored.name or "", stored.created_at) if stored else (incoming.name, incoming.at)
    name = call_person(stored.user_id if stored else incoming.user_id, name, incoming.people)
    day = day_of(at, zone)
    before = next((day_of(row.created_at, zone) for row in reversed(recent) if row.role == "user"), "")
    return [*new_day(before, day), *user_blocks(present_blocks(incoming, context), name, group, media, day)]


def is_wordless(blocks: Sequence[Block]) -> bool:
    """Tests whether a message is a photo or document without a caption or another text of the sender."""
    own = [block for block in blocks if not block.get("replied")]
    shows = any(block["file"]["kind"] in ("photo", "document") for block in own if "file" in block)
    return shows and not any(
        block.get("text", "").strip() and block.get("untrusted", "caption") == "caption" for block in own
    )


def files_of(row: StoredMessage) -> Sequence[Block]:
    """Returns a user message's blocks; the assistant's have no files."""
    return row.blocks if row.role == "user" else ()


def present_blocks(incoming: Incoming, context: Context) -> list[Block]:
    """Returns the present message's blocks as stored."""
    return context.message.blocks if context.message else incoming.blocks


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
