"""The names in the API: fields, block types and tool types that a request may use."""

FIELDS = frozenset(
    [
        "model",
        "messages",
        "max_tokens",
        "cache_control",
        "container",
        "context_management",
        "diagnostics",
        "fallbacks",
        "inference_geo",
        "mcp_servers",
        "metadata",
        "output_config",
        "service_tier",
        "speed",
        "stop_sequences",
        "stream",
        "system",
        "thinking",
        "tool_choice",
        "tools",
    ]
)
SERVER_RESULTS = frozenset(
    [
        "bash_code_execution_tool_result",
        "code_execution_tool_result",
        "text_editor_code_execution_tool_result",
        "tool_search_tool_result",
        "web_fetch_tool_result",
        "web_search_tool_result",
    ]
)
BLOCKS = frozenset(
    [
        "container_upload",
        "document",
        "image",
        "redacted_thinking",
        "search_result",
        "server_tool_use",
        "text",
        "thinking",
        "tool_result",
        "tool_use",
    ]
)
USER_ONLY = frozenset({"tool_result", "image", "document", "search_result"})
ASSISTANT_ONLY = frozenset({"tool_use", "server_tool_use", "thinking", "redacted_thinking"}) | SERVER_RESULTS
TOOLS = frozenset(
    [
        "bash_20250124",
        "browser_toolset_20260801",
        "code_execution_20250522",
        "code_execution_20250825",
        "code_execution_20260120",
        "code_execution_20260521",
        "computer_toolset_20260801",
        "memory_20250818",
        "text_editor_20250124",
        "text_editor_20250429",
        "text_editor_20250728",
        "tool_search_tool_bm25",
        "tool_search_tool_bm25_20251119",
        "tool_search_tool_regex",
        "tool_search_tool_regex_20251119",
        "web_fetch_20250910",
        "web_fetch_20260209",
        "web_fetch_20260309",
        "web_fetch_20260318",
        "web_search_20250305",
        "web_search_20260209",
        "web_search_20260318",
    ]
)
IMAGES = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
