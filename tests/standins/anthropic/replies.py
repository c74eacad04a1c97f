"""Replies of the model: by script, by rule, by directive or by default."""

import inspect
from dataclasses import dataclass, field, replace
from typing import Any

from .blocks import Json, dumps, example, plain, text, tokens, tokens_of_text, tool
from .faults import Fault, Match
from .record import Recorded

Spec = Any
"""A reply as a test gives it: str, block, list of those, Reply, Fault, or a callable(request) → any of them."""


@dataclass(slots=True)
class Reply:
    """One answer of the model. Delays are in seconds; None means the stand-in's own."""

    content: str | Json | list[str | Json] = ""
    first_delay: float | None = None
    chunk_delay: float | None = None
    spread: float | None = None
    """Seconds spread evenly over all deltas, instead of chunk_delay."""
    stop_reason: str | None = None
    stop_sequence: str | None = None
    stop_details: Json | None = None
    fault: Fault | None = None

    @property
    def blocks(self) -> list[Json]:
        """The content as blocks."""
        parts = self.content if isinstance(self.content, list) else [self.content]
        return [text(part) if isinstance(part, str) else part for part in parts if part != ""]


@dataclass(slots=True, eq=False)
class Rule:
    """Answers requests that match. The newest matching rule wins."""

    match: Match
    reply: Spec
    times: int | None = None
    model: str | None = None
    hits: int = 0


@dataclass(slots=True, eq=False)
class Script:
    """Replies given in order, each once."""

    replies: list[Spec] = field(default_factory=list)
    model: str | None = None


def from_json(spec: Any) -> Spec:
    """Convert a reply from JSON: a text, a list of blocks, or {"content": …, "fault": kind, delays …}."""
    if isinstance(spec, dict) and "type" not in spec:
        options = dict(spec)
        options["content"] = options.pop("text", options.pop("blocks", options.get("content", "")))
        fault = options.pop("fault", None)
        return Reply(**options, fault=Fault(**fault) if isinstance(fault, dict) else Fault(fault) if fault else None)
    return spec


async def resolve(spec: Spec, request: Recorded) -> Reply:
    """Return the Reply for a spec."""
    while callable(spec):
        spec = spec(request)
        if inspect.isawaitable(spec):
            spec = await spec
    if isinstance(spec, Reply):
        return spec
    return Reply(fault=spec) if isinstance(spec, Fault) else Reply(spec)


def default_reply(request: Recorded, user_text: str, small: bool) -> Reply:
    """Return the default reply: an echo, a summary from a small model, or what a schema forces."""
    wanted = (request.body.get("output_config") or {}).get("format") or {}
    if wanted.get("type") == "json_schema":
        return Reply(dumps(example(wanted.get("schema", {}))))
    if request.tool_results:
        return Reply(f"The tool said: {plain(request.tool_results)[:500]}")
    choice = request.body.get("tool_choice") or {}
    if choice.get("type") in ("any", "tool"):
        tools = request.body.get("tools") or [{}]
        chosen = next((one for one in tools if one.get("name") == choice.get("name")), tools[0])
        return Reply([tool(chosen.get("name", "tool"), example(chosen.get("input_schema", {})))])
    if small:
        words = request.last_text.split()
        return Reply(f"Summary of {len(request.messages)} messages, {len(words)} words: {' '.join(words[:12])}")
    return Reply(f"You said: {user_text}")


@dataclass(slots=True)
class Answer:
    """A reply in the form that is sent."""

    blocks: list[Json]
    stop_reason: str
    stop_sequence: str | None = None
    stop_details: Json | None = None
    first_delay: float = 0.0
    chunk_delay: float = 0.0
    spread: float | None = None
    output_tokens: int = 0


def compose(reply: Reply, request: Recorded) -> Answer:
    """Bring a reply into its final form: stop sequences, max_tokens, odd answers, stop reason."""
    blocks = [dict(block) for block in reply.blocks]
    answer = Answer(blocks, "end_turn", reply.stop_sequence, reply.stop_details, spread=reply.spread)
    if any(block["type"] == "tool_use" for block in blocks):
        answer.stop_reason = "tool_use"
    for sequence in request.body.get("stop_sequences") or []:
        _stop_at(answer, sequence)
    if reply.fault is not None:
        _distort(answer, reply.fault, request)
    _limit(answer, request.body["max_tokens"])
    if reply.stop_reason:
        answer.stop_reason = reply.stop_reason
    answer.output_tokens = max(1, sum(_output_tokens(block) for block in answer.blocks))
    return answer


def _output_tokens(block: Json) -> int:
    if block["type"] == "web_search_tool_result":
        return 0
    return tokens_of_text(block["_json"]) if "_json" in block else tokens(block)


def _stop_at(answer: Answer, sequence: str) -> None:
    for index, block in enumerate(answer.blocks):
        if block["type"] == "text" and sequence in block["text"]:
            block["text"] = block["text"].split(sequence, 1)[0]
            del answer.blocks[index + 1 :]
            answer.stop_reason, answer.stop_sequence = "stop_sequence", sequence


def _limit(answer: Answer, left: int) -> None:
    """Cut the answer where max_tokens is used up."""
    for index, block in enumerate(answer.blocks):
        size = _output_tokens(block)
        if size <= left:
            left -= size
            continue
        _cut(block, left)
        del answer.blocks[index + 1 if left else index :]
        answer.stop_reason, answer.stop_sequence = "max_tokens", None
        return
    if not left and not answer.blocks:
        answer.stop_reason = "max_tokens"


def _cut(block: Json, left: int) -> None:
    key = {"text": "text", "thinking": "thinking"}.get(block["type"])
    if key:
        block[key] = block[key].encode("utf-8", "replace")[: left * 4].decode("utf-8", "ignore")
    elif "input" in block:
        block["_json"] = dumps(block["input"])[: left * 4]


def _distort(answer: Answer, fault: Fault, request: Recorded) -> None:
    """Apply a fault that produces an odd answer."""
    kind = fault.name
    if kind == "empty":
        answer.blocks = []
        answer.stop_reason = "end_turn"
    elif kind == "refusal":
        _keep(answer, (fault.deltas or 0) * 24)
        answer.stop_reason = "refusal"
        explanation = fault.message or "This request was declined for safety reasons."
        answer.stop_details = {"type": "refusal", "category": "general_harms", "explanation": explanation}
    elif kind in ("max_tokens", "context_window"):
        answer.blocks = [block for block in answer.blocks if block["type"] != "tool_use"]
        _keep(answer, sum(len(block.get("text", "")) for block in answer.blocks) // 2)
        answer.stop_reason = "max_tokens" if kind == "max_tokens" else "model_context_window_exceeded"
    elif kind in ("garbage_tool_input", "invalid_tool_input"):
        use = next((block for block in answer.blocks if block["type"] == "tool_use"), None)
        if use is None:
            use = tool((request.tool_names or ["search_memory"])[0], {"query": "something", "limit": 5})
            answer.blocks = [*answer.blocks, use]
        whole = dumps(use["input"])
        use["_json"] = whole[: len(whole) // 2] if kind == "garbage_tool_input" else whole[:-1] + ',"oops" "x"}'
        answer.stop_reason = "tool_use"
    if fault.stop_reason:
        answer.stop_reason = fault.stop_reason


def _keep(answer: Answer, characters: int) -> None:
    """Keep this many characters of the answer's text."""
    kept = []
    for block in answer.blocks:
        if block["type"] == "text" and characters > 0:
            kept.append(block | {"text": block["text"][:characters]})
            characters -= len(block["text"])
    answer.blocks = kept


def with_fault(reply: Reply, fault: Fault | None) -> Reply:
    """Return the reply with the fault, unless it has one of its own."""
    return reply if fault is None or reply.fault is not None else replace(reply, fault=fault)
