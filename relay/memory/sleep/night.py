"""A night: its phases in order, each once. One that was cut off goes on where it was."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import structlog

from relay.core.errors import RelayError
from relay.memory.rows.upkeep.nights import PhaseResult
from relay.memory.store import Store

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of a night. `run` gets the night's number and returns what it came to, as numbers and words to show; it may
    be run again when it was cut off."""

    name: str
    run: Callable[[int], Awaitable[PhaseResult]]


class NightFailed(RelayError):
    """A part of the nightly work failed; the rest was done."""


async def sleep(store: Store, phases: Sequence[Phase]) -> dict[str, PhaseResult]:
    """Goes through a night, or through what is left of one: what its phases came to.

    A phase that fails is noted, and the others are done. Raises `NightFailed` at the end then.
    """
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
        except Exception as error:  # a night that stayed open for it would be begun again every minute
            log.exception("a phase of the night failed", phase=phase.name)
            told[phase.name] = {"failed": type(error).__name__}
        await store.end_phase(night.id, phase.name, told[phase.name])
    await store.end_night(night.id)
    log.info("slept", night=night.id, **{name: str(done) for name, done in told.items()})
    if failed := [f"{name}: {done['failed']}" for name, done in told.items() if "failed" in done]:
        raise NightFailed(" ".join(failed))
    return told
