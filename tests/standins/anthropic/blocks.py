"""Content blocks: building them, reading their text, counting their tokens."""

import hashlib
import json
import secrets
from collections.abc import Iterable
from typing import Any

Json = dict[str, Any]

IMAGE_TOKENS = 1600
PDF_TOKENS = 3000


def dumps(value: Any) -> str:
    """Return compact JSON, with UTF-8 unescaped and keys in their given order."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def text(value: str, citations: list[Json] | None = None) -> Json:
    """A text block."""
    return {"type": "text", "text": value} | ({"citations": citations} if citations else {})


def tool(name: str, input: Json | None = None, id: str | None = None) -> Json:
    """A tool_use block, with a new id unless one is given."""
    return {"type": "tool_use", "id": id or f"toolu_01{secrets.token_hex(11)}", "name": name, "input": input or {}}


def signature(thought: str) -> str:
    """The signature of a thinking text. It doesn't match an altered text."""
    return "Sig" + hashlib.blake2b(thought.encode("utf-8", "replace"), digest_size=30).hexdigest()


def thinking(thought: str) -> Json:
    """A signed thinking block."""
    return {"type": "thinking", "thinking": thought, "signature": signature(thought)}


def web_search(query: str, results: Iterable[tuple[str, str]] = (("Example", "https://example.org/"),)) -> list[Json]:
    """The two blocks of a web search run by the server. Results are (title, url) pairs."""
    id = f"srvtoolu_01{secrets.token_hex(11)}"
    found = [
        {
            "type": "web_search_result",
            "title": title,
            "url": url,
            "encrypted_content": signature(url),
            "page_age": "1 day ago",
        }
        for title, url in results
    ]
    return [
        {"type": "server_tool_use", "id": id, "name": "web_search", "input": {"query": query}},
        {"type": "web_search_tool_result", "tool_use_id": id, "content": found},
    ]


def as_blocks(content: Any) -> list[Json]:
    """Content as a list of blocks. A plain string becomes one text block."""
    if content is None:
        return []
    return [text(content)] if isinstance(content, str) else list(content)


def plain(content: Any) -> str:
    """The text of some content: text blocks and the content of tool results, joined by newlines."""
    if isinstance(content, str):
        return content
    parts = []
    for block in content or []:
        if block.get("type") == "text":
            parts.append(block.get("text", ""))
        elif block.get("type") == "tool_result":
            parts.append(plain(block.get("content")))
    return "\n".join(parts)


def tokens_of_text(value: str) -> int:
    """Tokens of a text: a quarter of its UTF-8 bytes, rounded up."""
    size = len(value) if value.isascii() else len(value.encode("utf-8", "replace"))
    return -(-size // 4)


def tokens(block: Json) -> int:
    """Tokens of one block (or tool definition) as the stand-in counts them."""
    kind = block.get("type")
    if kind == "text":
        return tokens_of_text(block["text"])
    if kind == "image":
        return IMAGE_TOKENS
    if kind == "document":
        source = block.get("source", {})
        if source.get("type") == "text":
            return tokens_of_text(source.get("data", ""))
        if source.get("type") == "content":
            return sum(tokens(part) for part in as_blocks(source.get("content")))
        return PDF_TOKENS
    if kind == "tool_result":
        return 8 + sum(tokens(part) for part in as_blocks(block.get("content")))
    if kind == "tool_use":
        return tokens_of_text(block.get("name", "") + dumps(block.get("input", {})))
    if kind == "thinking":
        return tokens_of_text(block.get("thinking", ""))
    return tokens_of_text(dumps({key: value for key, value in block.items() if key != "cache_control"}))


def example(schema: Json) -> Any:
    """The smallest value that fits a JSON schema, for forced tools and structured output."""
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][0]
    for union in ("anyOf", "oneOf"):
        if schema.get(union):
            return example(schema[union][0])
    kind = schema.get("type", "object")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        required = schema.get("required", [])
        return {key: example(value) for key, value in schema.get("properties", {}).items() if key in required}
    if kind == "array":
        return [example(schema.get("items", {})) for _ in range(schema.get("minItems", 0))]
    plain_values: Json = {"string": "example", "integer": 0, "number": 0, "boolean": False}
    return plain_values.get(kind)
