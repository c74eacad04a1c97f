"""The pictures and documents of a conversation, brought back for the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relay.models import Block


class Shelf:
    """Shows the files that were sent lately, as blocks of Anthropic's."""

    async def shown(self, present: Sequence[Block], recent: Sequence[dict[str, Any]]) -> dict[str, Block]:
        """The files that are shown as they are, by their unique ids: of the present message, then of recent ones, the
        newest first, within a budget."""
        return {}
