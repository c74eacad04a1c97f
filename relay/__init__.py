"""Relay: a self-hosted Telegram assistant on Claude that remembers.

For scripts: `async with relay.open() as opened: await opened.memory.recall("…")`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from relay.core.models import Space as Space
    from relay.runtime.runtime import open as open

__all__ = ["Space", "open"]


def __getattr__(name: str) -> Any:
    """What scripts use. Imported on first use, because every child process imports this package."""
    if name == "open":
        from relay.runtime.runtime import open as opening

        return opening
    if name == "Space":
        from relay.core.models import Space

        return Space
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
