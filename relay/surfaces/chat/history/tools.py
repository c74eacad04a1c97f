"""Describes the tools that an answer used, those of earlier versions included."""

from __future__ import annotations

from collections.abc import Iterable

TOOL_NAMES = {
    "search_memory": "searched memory",
    "open_memory": "opened a memory",
    "search_history": "searched earlier messages",
    "read_document": "read a document",
    "set_reminder": "set a reminder",
    "list_reminders": "looked at your reminders",
    "change_reminder": "changed a reminder",
    "delete_reminder": "deleted a reminder",
    "web_search": "searched the web",
    "web_fetch": "read a web page",
}


def describe_tools(tools: Iterable[str]) -> str:
    """Says what the tools did, each once; empty without tools. Not Markdown."""
    return ", ".join(dict.fromkeys(TOOL_NAMES.get(name, name) for name in tools))
