"""Shows what came of a night's tidying that a person was asked about."""

from __future__ import annotations

from dataclasses import asdict

from relay.commands.memory.consolidation import settle_consolidation
from relay.core.models import Rows
from relay.memory.rows.upkeep.nights import Tidied
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import pressed
from relay.surfaces.chat.memory_buttons import SettleConsolidation
from relay.surfaces.chat.reply import ButtonReply, button

SETTLED = "That is settled already."
LEFT = "🌙 I leave everything as it is."


def question_rows(consolidation_id: int) -> Rows:
    """The buttons under the question whether what a night found is to be done."""
    return [
        [
            button("Go on", SettleConsolidation(consolidation_id, "y")),
            button("Leave it", SettleConsolidation(consolidation_id, "n")),
        ]
    ]


@pressed(SettleConsolidation)
async def settle(call: ChatContext, to: SettleConsolidation) -> ButtonReply:
    """Does what a night found, or leaves it."""
    done = await settle_consolidation(call, to.consolidation_id, to.answer == "y")
    if done is None:
        return ButtonReply(SETTLED, rows=[])
    return ButtonReply("Done.", told(done) if to.answer == "y" else LEFT, [])


def told(done: Tidied) -> str:
    """What was done, in words."""
    counts = [f"{number:,} {word}" for word, number in asdict(done).items() if number]
    return f"🌙 Tidied: {', '.join(counts) or 'nothing was left to do'}. /memory changes shows it."
