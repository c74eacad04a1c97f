"""What the tools that an answer used are called to people, those of earlier versions too."""

from __future__ import annotations

from collections.abc import Iterable

TOOL_NAMES = {
    "search_memory": "searched memory",
    "open_memory": "opened a memory",
    "search_history": "searched earlier messages",
    "read_document": "read a document",
    "web_search": "searched the web",
    "web_fetch": "read a web page",
}


def tools_told(tools: Iterable[str]) -> str:
    """What was done with tools, each once; empty without any. Not Markdown."""
    return ", ".join(dict.fromkeys(TOOL_NAMES.get(name, name) for name in tools))
