"""Applies or dismisses what the nightly consolidation proposed."""

from __future__ import annotations

from dataclasses import asdict
from typing import Literal

from relay.commands.memory.decide import SETTLED, settle_consolidation
from relay.core.models import Rows
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import action
from relay.surfaces.chat.reply import ButtonReply, button

LEFT = "🌙 OK, I'll leave everything as it is."


def question_rows(consolidation_id: int) -> Rows:
    """Returns the buttons that apply or dismiss a proposal."""
    return [
        [
            button("Go on", settle(consolidation_id, "y")),
            button("Leave it", settle(consolidation_id, "n")),
        ]
    ]


@action("nt")
async def settle(call: ChatContext, consolidation_id: int, answer: Literal["y", "n"]) -> ButtonReply:
    """Applies what a night proposed (y), or leaves everything as it is (n)."""
    done = await settle_consolidation(call, consolidation_id, answer == "y")
    if done is None:
        return ButtonReply(SETTLED, rows=[])
    counts = [f"{number:,} {word}" for word, number in asdict(done).items() if number]
    tidied = f"🌙 Tidied: {', '.join(counts) or 'nothing left to do'}. /memory changes lists it."
    return ButtonReply("Done.", tidied if answer == "y" else LEFT, [])
