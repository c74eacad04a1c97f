"""Decay: makes and drops versions of conversations that were not used for days, if a space has switched it on."""

from __future__ import annotations

from collections import Counter
from datetime import datetime

import structlog

from relay.core.charge import Charge
from relay.core.errors import RelayError
from relay.core.frozen import frozen
from relay.core.text import pluralize
from relay.memory.rows.upkeep.digest import Decayed
from relay.memory.rows.upkeep.night import PhaseResult
from relay.memory.spending.gate import Gate
from relay.memory.store import Store

log = structlog.get_logger()
SUNDAY = 6


@frozen
class Decay:
    """The parts that decay needs."""

    store: Store
    gate: Gate

    async def run(self, night_id: int) -> PhaseResult:
        """Requests the due versions of all spaces and drops expired ones. Returns how many. A space whose budget is
        used up gets no new ones."""
        told: Counter[str] = Counter(made=0, dropped=0, left=0)
        sunday = datetime.now(self.gate.budget.zone).weekday() == SUNDAY
        after = 0
        while spaces := await self.store.decay_spaces(after):
            for after in spaces:
                try:
                    used_up = await self.gate.used_up(Charge("compression", space_id=after))
                    done = await self.store.decay(after, night_id, sunday, pays=not used_up)
                    told.update(made=done.made, dropped=done.dropped, left=int(bool(used_up)))
                except (RelayError, TimeoutError) as error:
                    log.warning(
                        "a space's old versions were not compressed or dropped", space_id=after, error=str(error)
                    )
                    told["left"] += 1
        return told


def decay_told(done: Decayed) -> str:
    """Describes in a sentence what a night did to a space's versions."""
    said = [f"made {pluralize(done.made, 'compressed version')} of older conversations"] if done.made else []
    said += [f"dropped {pluralize(done.dropped, 'old version')}"] if done.dropped else []
    return f"I {' and '.join(said)} (/sessions)."
