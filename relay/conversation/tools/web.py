"""The tools for the web, which run at Anthropic."""

from relay.core.models import ToolDefinition

WEB: list[ToolDefinition] = [
    {"type": "web_search_20260318", "name": "web_search", "max_uses": 5, "allowed_callers": ["direct"]},
    {"type": "web_fetch_20260318", "name": "web_fetch", "max_uses": 5, "allowed_callers": ["direct"]},
]
"""Only the model itself may call them, not code that it runs at Anthropic."""
