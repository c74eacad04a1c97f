"""Weights of markers in words and as buttons. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import Decimal

from relay.core.models import Button
from relay.memory.contexts.markers import PRESETS, name_weight
from relay.surfaces.chat.callbacks import Callback
from relay.surfaces.chat.contexts.buttons import UndoTyped
from relay.surfaces.chat.reply import arrange, button

UNMARKED = "📌 No longer marked"
FORMER_KEPT = re.compile(rf"(?:📌 Kept [^\n]*?|{UNMARKED})(?= · |$)", re.MULTILINE)
"""What `kept_line` says, or what is said once the markers are removed."""
NAMED = 3
"""The most weights named on one line."""


def weight_in_words(weight: Decimal) -> str:
    """Formats a weight: 0.80 (important)."""
    return f"{weight:.2f} ({name_weight(weight)})"


def kept_line(weights: Sequence[Decimal]) -> str:
    """Says on one line what a message marks; empty if it marks nothing."""
    if not weights:
        return ""
    if len(weights) > NAMED:
        return f"📌 Kept {len(weights)} passages ({min(weights):.2f}–{max(weights):.2f})"
    return f"📌 Kept {', '.join(map(weight_in_words, weights))}"


def undo_typed(turn_id: int, removed: bool = False) -> Button:
    """Returns the button that removes a message's markers, or restores them."""
    return button("📌 Keep it again" if removed else "↩ Undo 📌", UndoTyped(turn_id, not removed))


def preset_rows(to: Callable[[int], Callback], now: Decimal | None = None) -> list[list[Button]]:
    """Returns a button for each preset; `now`: the one that is marked as current."""
    row = [
        button(f"{'• ' if weight == now else ''}{weight} {name}", to(int(weight * 100)))
        for name, weight in PRESETS.items()
    ]
    return arrange(row, 3)
