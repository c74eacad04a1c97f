"""Validation: requests that the API answers with 400 invalid_request_error, in its words."""

import re
from dataclasses import dataclass
from typing import Any

from .blocks import Json, as_blocks, signature
from .files import count, document, image
from .refusal import BadRequestError
from .vocabulary import ASSISTANT_ONLY, BLOCKS, FIELDS, SERVER_RESULTS, TOOLS, USER_ONLY

TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
SAMPLING_VERSION = "2026-10-21"
"""The first API version that refuses sampling parameters."""


@dataclass(slots=True)
class Rules:
    """The configurable rules of the validation."""

    system_messages: bool = False
    """Whether messages with the role system are allowed after the first message."""
    check_signatures: bool = True
    max_output: int = 128_000


def validate(body: Any, version: str, rules: Rules, counting: bool = False) -> None:
    """Raise BadRequestError for a body that the API would refuse. counting is for count_tokens."""
    if not isinstance(body, dict):
        raise BadRequestError("Input should be a valid dictionary")
    _fields(body, version, rules, counting)
    _tools(body.get("tools"))
    _tool_choice(body)
    _system(body.get("system"))
    _messages(body["messages"], version, rules)
    count(body["messages"])
    _tool_pairs(body["messages"])
    _breakpoints(body)
    last = body["messages"][-1]
    # A turn that a server tool paused is sent back unchanged, so that the model continues it.
    paused = as_blocks(last["content"])[-1]["type"] in SERVER_RESULTS | {"server_tool_use"}
    if last["role"] == "assistant" and not counting and not paused:
        raise BadRequestError(
            "This model does not support assistant message prefill. The conversation must end with a user message."
        )


def _fields(body: Json, version: str, rules: Rules, counting: bool) -> None:
    for name in ("model", "messages") if counting else ("model", "max_tokens", "messages"):
        if body.get(name) is None:
            raise BadRequestError(f"{name}: Field required")
    for name in body:
        sampling = name in ("temperature", "top_p", "top_k")
        if (sampling and version >= SAMPLING_VERSION) or (not sampling and name not in FIELDS):
            raise BadRequestError(f"{name}: Extra inputs are not permitted")
    if not isinstance(body["model"], str) or not body["model"]:
        raise BadRequestError("model: String should have at least 1 character")
    if not isinstance(body["messages"], list):
        raise BadRequestError("messages: Input should be a valid list")
    if not body["messages"]:
        raise BadRequestError("messages: at least one message is required")
    if counting:
        return
    limit = body["max_tokens"]
    if not isinstance(limit, int) or isinstance(limit, bool) or limit < 0:
        raise BadRequestError("max_tokens: Input should be greater than or equal to 0")
    if limit > rules.max_output:
        raise BadRequestError(
            f"max_tokens: {limit} > {rules.max_output}, which is the maximum allowed number of output tokens "
            f"for {body['model']}"
        )
    budget = (body.get("thinking") or {}).get("budget_tokens")
    if budget is not None and budget >= limit:
        raise BadRequestError("`max_tokens` must be greater than `thinking.budget_tokens`.")


def _tool_choice(body: Json) -> None:
    choice = body.get("tool_choice")
    if choice is None:
        return
    if not body.get("tools"):
        raise BadRequestError("tool_choice: tool_choice may only be specified while providing tools")
    if choice.get("type") not in ("auto", "any", "tool", "none"):
        raise BadRequestError(
            "tool_choice: Input tag does not match any of the expected tags: 'auto', 'any', 'none', 'tool'"
        )
    if choice["type"] == "tool" and choice.get("name") not in [tool.get("name") for tool in body["tools"]]:
        raise BadRequestError(f"tool_choice: Tool '{choice.get('name')}' not found in provided tools")


def _tools(tools: Any) -> None:
    names = set()
    for index, tool in enumerate(tools or []):
        kind = tool.get("type") or "custom"
        if kind != "custom" and kind not in TOOLS:
            expected = ", ".join(f"'{name}'" for name in sorted(TOOLS | {"custom"}))
            raise BadRequestError(
                f"tools.{index}: Input tag '{kind}' found using 'type' does not match any of the "
                f"expected tags: {expected}"
            )
        if kind == "custom":
            if not TOOL_NAME.fullmatch(str(tool.get("name", ""))):
                raise BadRequestError(
                    f"tools.{index}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
                )
            schema = tool.get("input_schema")
            if not isinstance(schema, dict):
                raise BadRequestError(f"tools.{index}.custom.input_schema: Field required")
            if schema.get("type") != "object":
                raise BadRequestError(f"tools.{index}.custom.input_schema.type: Input should be 'object'")
        if tool.get("name") in names:
            raise BadRequestError("tools: Tool names must be unique.")
        names.add(tool.get("name"))


def _system(system: Any) -> None:
    for index, block in enumerate(as_blocks(system)):
        if block.get("type") != "text":
            raise BadRequestError(f"system.{index}.type: Input should be 'text'")
        # A plain empty string is the same as no system prompt.
        if not block.get("text") and not isinstance(system, str):
            empty = "cache_control cannot be set for empty text blocks"
            raise BadRequestError(
                f"system.{index}: {empty}"
                if block.get("cache_control")
                else "system: text content blocks must be non-empty"
            )


def _messages(messages: list[Any], version: str, rules: Rules) -> None:
    for index, message in enumerate(messages):
        role = message.get("role") if isinstance(message, dict) else None
        if role == "system" and not (rules.system_messages and index):
            raise BadRequestError(
                'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, '
                'not "system" as an input message role.'
            )
        if role not in ("user", "assistant", "system"):
            raise BadRequestError(f"messages.{index}.role: Input should be 'user' or 'assistant'")
        if index == 0 and role != "user":
            raise BadRequestError('messages: first message must use the "user" role')
        content = message.get("content")
        if content is None:
            raise BadRequestError(f"messages.{index}.content: Field required")
        if not content:
            raise BadRequestError(
                f"messages.{index}: all messages must have non-empty content "
                "except for the optional final assistant message"
            )
        for place, block in enumerate(as_blocks(content)):
            _block(f"messages.{index}.content.{place}", role, block, version, rules)


def _block(where: str, role: str, block: Any, version: str, rules: Rules) -> None:
    kind = block.get("type") if isinstance(block, dict) else None
    if kind not in BLOCKS and kind not in SERVER_RESULTS:
        expected = ", ".join(f"'{name}'" for name in sorted(BLOCKS | SERVER_RESULTS))
        raise BadRequestError(
            f"{where}: Input tag '{kind}' found using 'type' does not match any of the expected tags: {expected}"
        )
    if role == "user" and kind in ASSISTANT_ONLY:
        raise BadRequestError(f"{where}: `{kind}` blocks can only be in `assistant` messages")
    if role == "assistant" and kind in USER_ONLY:
        raise BadRequestError(f"{where}: `{kind}` blocks can only be in `user` messages")
    if kind == "text":
        _text(where, role, block, version)
    elif kind == "image":
        image(where, block)
    elif kind == "document":
        document(where, block)
    elif kind == "thinking":
        if block.get("cache_control"):
            raise BadRequestError(f"{where}.thinking.cache_control: Extra inputs are not permitted")
        if rules.check_signatures and block.get("signature") != signature(str(block.get("thinking", ""))):
            raise BadRequestError(f"{where}: Invalid `signature` in `thinking` block")
    elif kind == "tool_use":
        for name in ("id", "name", "input"):
            if block.get(name) is None:
                raise BadRequestError(f"{where}.tool_use.{name}: Field required")
        if not isinstance(block["input"], dict):
            raise BadRequestError(f"{where}.tool_use.input: Input should be a valid dictionary")
    elif kind == "tool_result":
        if not block.get("tool_use_id"):
            raise BadRequestError(f"{where}.tool_result.tool_use_id: Field required")
        if isinstance(block.get("content"), list):
            for place, part in enumerate(block["content"]):
                _block(f"{where}.tool_result.content.{place}", role, part, version, rules)


def _text(where: str, role: str, block: Json, version: str) -> None:
    value = block.get("text")
    if not isinstance(value, str):
        raise BadRequestError(f"{where}.text.text: Field required")
    if not value:
        if block.get("cache_control"):
            raise BadRequestError(f"{where}.text: cache_control cannot be set for empty text blocks")
        raise BadRequestError("messages: text content blocks must be non-empty")
    if not value.strip():
        raise BadRequestError("messages: text content blocks must contain non-whitespace text")
    if role == "user" and block.get("citations") and version >= SAMPLING_VERSION:
        raise BadRequestError(f"{where}.text.citations: citations can only be in `assistant` messages")


def _tool_pairs(messages: list[Json]) -> None:
    """Check that each tool_use is answered at the start of the next message, and that nothing else is."""
    seen: set[str] = set()
    waiting: list[str] = []
    previous_role, opened = "", 0
    for index, message in enumerate(messages):
        blocks, role = as_blocks(message["content"]), message["role"]
        if role == "user":
            waiting = _results(index, opened, blocks, waiting)
        elif role == "assistant":
            if waiting and previous_role == "user":
                break
            for place, block in enumerate(blocks):
                if block["type"] == "tool_use":
                    if block["id"] in seen:
                        raise BadRequestError(f"messages.{index}.content.{place}: `tool_use` ids must be unique")
                    seen.add(block["id"])
                    waiting.append(block["id"])
            opened = index
        previous_role = role
    if waiting:
        raise BadRequestError(_missing(opened, waiting))


def _results(index: int, opened: int, blocks: list[Json], waiting: list[str]) -> list[str]:
    left, answered = list(waiting), set()
    for place, block in enumerate(blocks):
        if block["type"] != "tool_result":
            if left:
                raise BadRequestError(_missing(opened, left))
            continue
        id = block["tool_use_id"]
        if id in answered:
            raise BadRequestError(
                f"messages.{index}.content.{place}: each tool_use must have a single result. "
                f"Found multiple `tool_result` blocks with id: {id}"
            )
        if id not in left:
            raise BadRequestError(
                f"messages.{index}.content.{place}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. "
                "Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
            )
        answered.add(id)
        left.remove(id)
    return left


def _missing(index: int, ids: list[str]) -> str:
    return (
        f"messages.{index}: `tool_use` ids were found without `tool_result` blocks immediately after: "
        f"{', '.join(ids)}. Each `tool_use` block must have a corresponding `tool_result` block in the next message."
    )


def _breakpoints(body: Json) -> None:
    found: list[str] = []

    def look(blocks: list[Json]) -> None:
        for block in blocks:
            control = block.get("cache_control")
            if control:
                if control.get("type") != "ephemeral" or control.get("ttl", "5m") not in ("5m", "1h", None):
                    raise BadRequestError("cache_control: Input should be ephemeral, with a ttl of '5m' or '1h'")
                found.append(control.get("ttl") or "5m")
            if block.get("type") == "tool_result" and isinstance(block.get("content"), list):
                look(block["content"])

    look(body.get("tools") or [])
    look(as_blocks(body.get("system")))
    for message in body["messages"]:
        look(as_blocks(message["content"]))
    if body.get("cache_control"):
        found.append(body["cache_control"].get("ttl") or "5m")
    if len(found) > 4:
        raise BadRequestError(f"A maximum of 4 blocks with cache_control may be provided. Found {len(found)}.")
    if "5m" in found and "1h" in found[found.index("5m") :]:
        raise BadRequestError(
            "cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block."
        )
