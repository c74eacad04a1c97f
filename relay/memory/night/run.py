"""A night: its phases in order, each once. An interrupted night continues."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import TypeVar

import structlog

from relay.core.errors import RelayError
from relay.core.frozen import frozen
from relay.core.spending.charge import Charge
from relay.core.text import pluralize
from relay.memory.rows.upkeep.digest import Decayed
from relay.memory.rows.upkeep.night import NightSpace, PhaseResult
from relay.memory.spending.gate import Gate
from relay.memory.store import Store

log = structlog.get_logger()
SUNDAY = 6
Due = TypeVar("Due", int, NightSpace)
"""A space that is due: its id, or with more of it."""


@frozen
class Phase:
    """A phase of a night. `run` gets the night's id and returns its result as numbers and words; it may run again
    after an interruption."""

    name: str
    run: Callable[[int], Awaitable[PhaseResult]]


class NightFailed(RelayError):
    """A phase of the nightly work failed; the rest was done."""


async def work_through(
    told: Counter[str],
    list_after: Callable[[int], Awaitable[Sequence[Due]]],
    work: Callable[[Due], Awaitable[Mapping[str, int]]],
    failed: str,
) -> PhaseResult:
    """Works on all spaces of a phase, and returns the sum of what `work` returns, from `told`. A space whose work fails
    is left for the next night, and logged as `failed`."""
    after = 0
    while spaces := await list_after(after):
        for space in spaces:
            after = space if isinstance(space, int) else space.space_id
            try:
                told.update(await work(space))
            except (RelayError, TimeoutError) as error:
                log.warning(failed, space_id=after, error=str(error))
                told["left"] += 1
    return told


async def run_night(store: Store, phases: Sequence[Phase]) -> dict[str, PhaseResult]:
    """Runs a night, or the rest of one; returns its phases' results. A failed phase is recorded and the others run.
    Raises `NightFailed` at the end then."""
    night = await store.begin_night()
    told = dict(night.phases)
    for phase in phases:
        if phase.name in told:
            continue
        try:
            told[phase.name] = await phase.run(night.id)
        except (RelayError, TimeoutError) as error:
            log.warning("a phase of the night failed", phase=phase.name, error=str(error))
            told[phase.name] = {"failed": str(error)}
        except Exception as error:  # an open night would be started again every minute
            log.exception("a phase of the night failed", phase=phase.name)
            told[phase.name] = {"failed": type(error).__name__}
        await store.end_phase(night.id, phase.name, told[phase.name])
    await store.end_night(night.id)
    log.info("night done", night=night.id, **{name: str(done) for name, done in told.items()})
    if failed := [f"{name}: {done['failed']}" for name, done in told.items() if "failed" in done]:
        raise NightFailed(" ".join(failed))
    return told


async def prepare(store: Store, owed: Mapping[str, Callable[[], Awaitable[int]]], night_id: int) -> PhaseResult:
    """Writes owed texts with these functions, by name, and analyses the tables. Returns the counts."""
    told = {name: await write() for name, write in owed.items()}
    tables, last = 0, await store.statistics(None)
    while last is not None:
        tables, last = tables + 1, await store.statistics(last)
    return told | {"tables analysed": tables}


async def decay(store: Store, gate: Gate, night_id: int) -> PhaseResult:
    """Requests the due versions of all spaces and drops expired ones. Returns how many. A space whose budget is used up
    gets no new ones."""
    told: Counter[str] = Counter(made=0, dropped=0, left=0)
    sunday = datetime.now(gate.budget.zone).weekday() == SUNDAY

    async def work(space_id: int) -> dict[str, int]:
        used_up = await gate.used_up(Charge("compression", space_id=space_id))
        done = await store.decay(space_id, night_id, sunday, pays=not used_up)
        return {"made": done.made, "dropped": done.dropped, "left": int(bool(used_up))}

    return await work_through(told, store.decay_spaces, work, "a space's old versions were not compressed or dropped")


def decay_told(done: Decayed) -> str:
    """Describes in a sentence what a night did to a space's versions."""
    said = [f"made {pluralize(done.made, 'compressed version')} of older conversations"] if done.made else []
    said += [f"dropped {pluralize(done.dropped, 'old version')}"] if done.dropped else []
    return f"I {' and '.join(said)} (/sessions)."
