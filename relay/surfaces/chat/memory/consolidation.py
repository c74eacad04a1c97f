"""Applies or dismisses what the nightly consolidation proposed."""

from __future__ import annotations

from dataclasses import asdict

from relay.commands.memory.decide import SETTLED, settle_consolidation
from relay.core.models import Rows
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import pressed
from relay.surfaces.chat.memory_buttons import SettleConsolidation
from relay.surfaces.chat.reply import ButtonReply, button

LEFT = "🌙 OK, I'll leave everything as it is."


def question_rows(consolidation_id: int) -> Rows:
    """Returns the buttons that apply or dismiss a proposal."""
    return [
        [
            button("Go on", SettleConsolidation(consolidation_id, "y")),
            button("Leave it", SettleConsolidation(consolidation_id, "n")),
        ]
    ]


@pressed(SettleConsolidation)
async def settle(call: ChatContext, to: SettleConsolidation) -> ButtonReply:
    done = await settle_consolidation(call, to.consolidation_id, to.answer == "y")
    if done is None:
        return ButtonReply(SETTLED, rows=[])
    counts = [f"{number:,} {word}" for word, number in asdict(done).items() if number]
    tidied = f"🌙 Tidied: {', '.join(counts) or 'nothing left to do'}. /memory changes lists it."
    return ButtonReply("Done.", tidied if to.answer == "y" else LEFT, [])
