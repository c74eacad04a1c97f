"""Moves code that is too long for the chat from an answer to files. Pure."""

from __future__ import annotations

import re

import pyromark
import structlog
from telegramify_markdown.converter import STANDARD_OPTIONS

from relay.core.frozen import frozen
from relay.core.models import File
from relay.core.text import utf16_offsets
from relay.surfaces.telegram.formatting.split import LIMIT, split
from relay.surfaces.telegram.formatting.styled import Span, tidy
from relay.surfaces.telegram.formatting.tables import name_of, payload_of

log = structlog.get_logger()

MOST_MESSAGES = 3
"""Code that needs more messages than this becomes a file."""
MOST_FILES = 10
_WORD = re.compile(r"[\w+#-]*")
_ENDINGS = {
    "bash": "sh", "c": "c", "c#": "cs", "c++": "cpp", "clojure": "clj", "cpp": "cpp", "csharp": "cs", "css": "css",
    "csv": "csv", "dart": "dart", "diff": "diff", "elixir": "ex", "erlang": "erl", "go": "go", "golang": "go",
    "graphql": "graphql", "haskell": "hs", "html": "html", "ini": "ini", "java": "java", "javascript": "js",
    "js": "js", "json": "json", "jsx": "jsx", "julia": "jl", "kotlin": "kt", "latex": "tex", "lua": "lua",
    "markdown": "md", "md": "md", "mermaid": "mmd", "nix": "nix", "ocaml": "ml", "perl": "pl", "php": "php",
    "powershell": "ps1", "proto": "proto", "py": "py", "python": "py", "r": "r", "rb": "rb", "rs": "rs",
    "ruby": "rb", "rust": "rs", "scala": "scala", "scss": "scss", "sh": "sh", "shell": "sh", "sql": "sql",
    "svelte": "svelte", "svg": "svg", "swift": "swift", "terraform": "tf", "tex": "tex", "toml": "toml", "ts": "ts",
    "tsx": "tsx", "typescript": "ts", "vue": "vue", "xml": "xml", "yaml": "yaml", "yml": "yml", "zig": "zig",
    "zsh": "sh",
}  # fmt: skip
"""File extensions by language; others get txt."""


@frozen
class _Block:
    """A fenced block: its place in the UTF-8 source, its language, and its code."""

    start: int
    end: int
    language: str
    code: str


def extract_long_code(markdown: str) -> tuple[str, list[File]]:
    """Replaces code blocks that would fill more than three messages with a line. Returns the text, and the blocks as
    files in order. Never raises."""
    if len(markdown) <= LIMIT:
        return markdown, []
    source = markdown.encode("utf-8", "replace")
    try:
        blocks = [block for block in _find_blocks(source.decode()) if _is_long(block.code)][:MOST_FILES]
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of the Rust parser is not an Exception
        log.warning("code left in the answer", error=type(error).__name__)
        return markdown, []
    if not blocks:
        return markdown, []
    written: list[bytes] = []
    files: list[File] = []
    copied = 0
    for number, block in enumerate(blocks, 1):
        ending = _ENDINGS.get(block.language, "txt")
        name = f"code-{number}.{ending}" if len(blocks) > 1 else f"code.{ending}"
        files.append(File(name, block.code.encode()))
        # On a line of its own; as code, since Telegram would take the name for an address.
        alone = "\n" if source[block.start - 1 : block.start] in (b"", b"\n") else ""
        line = f"📎 `{name}` ({len(block.code.splitlines()):,} lines){alone}"
        written += [source[copied : block.start], line.encode()]
        copied = block.end
    return b"".join([*written, source[copied:]]).decode(), files


def _find_blocks(source: str) -> list[_Block]:
    """Finds the fenced blocks of a source, in order."""
    found: list[_Block] = []
    opened: tuple[int, int, str] | None = None
    code: list[str] = []
    for event in pyromark.events_with_range(source, options=STANDARD_OPTIONS):
        key, value = payload_of(event)
        if key == "Start" and name_of(value) == "CodeBlock":
            kind = value["CodeBlock"]
            if isinstance(kind, dict):
                word = _WORD.match(kind["Fenced"].strip().lower())
                opened = event[1]["start"], event[1]["end"], word[0] if word else ""
                code = []
        elif key == "Text" and opened:
            code.append(value)
        elif key == "End" and opened and name_of(value) == "CodeBlock":
            found.append(_Block(*opened, "".join(code)))
            opened = None
    return found


def _is_long(code: str) -> bool:
    """Tests whether code alone would need more than three messages."""
    text = code.expandtabs(4).strip("\n")
    if utf16_offsets(text)[-1] <= 2 * LIMIT:  # two adjacent parts are always longer than the limit of one
        return False
    return len(split(text, tidy(text, [Span(0, len(text), "pre")]))) > MOST_MESSAGES
