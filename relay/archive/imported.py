"""What others' exports say, made such that it harms no later prompt. Pure."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
MEDIA = ("image", "document")


def usable(row: Json) -> Json:
    """A message of an export. What a person's message shows of files can only be shown again by those files: a block
    that names none becomes a line."""
    if row.get("role") != "user":
        return row
    versions = row.get("versions")
    kept = [one | {"blocks": _blocks(one.get("blocks"))} for one in versions] if isinstance(versions, list) else []
    return row | {"blocks": _blocks(row.get("blocks")), "versions": kept}


def _blocks(blocks: Any) -> list[Json]:
    return [_block(one) for one in blocks if isinstance(one, dict)] if isinstance(blocks, list) else []


def _block(block: Json) -> Json:
    file = block.get("file")
    named = isinstance(file, dict) and all(isinstance(file.get(key), str) for key in ("kind", "file_id", "unique_id"))
    if block.get("type") == "text" and isinstance(block.get("text"), str):
        return block if named else {key: value for key, value in block.items() if key != "file"}
    if block.get("type") in MEDIA and named:
        return block
    marks: Json = {key: block[key] for key in ("untrusted", "from") if key in block}
    return {"type": "text", "text": f"({'file' if named else 'something'} that is not here)", **marks}
