"""Assembles the phases of a night."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from relay.archive.nightly import make_nightly_backup
from relay.jobs.night import back_up
from relay.jobs.runner import Runner
from relay.memory.index import enter
from relay.memory.night.asking import BatchModel
from relay.memory.night.consolidate import Consolidation
from relay.memory.night.digest import Digests
from relay.memory.night.run import Phase, decay, prepare
from relay.memory.rows.upkeep.night import PhaseResult
from relay.memory.spending.gate import Gate
from relay.runtime.runtime import Runtime


def phases(relay: Runtime, bot_id: int, runner: Runner) -> list[Phase]:
    """Returns a night's phases in order. `bot_id`: the sender of digests and questions; `runner` makes the backup and
    writes owed texts."""
    batch = make_batch_model(relay, relay.background_gate)
    consolidation = Consolidation(batch, bot_id, lambda: sorted(relay.people.admins))
    digests = Digests(batch, bot_id, lambda: relay.people.admins)
    return [
        Phase("backup", partial(back_up, runner)),
        Phase("consolidate", consolidation.run),
        Phase("decay", partial(decay, relay.store, relay.background_gate)),
        Phase("digest", digests.run),
        Phase("prepare", partial(prepare, relay.store, writings(runner))),
        Phase("files", lambda _: rewrite_files(relay)),
    ]


def writings(runner: Runner) -> dict[str, Callable[[], Awaitable[int]]]:
    """Returns functions that write owed texts, by name."""
    names = {"summaries": "summary", "titles": "title"}
    owed: dict[str, Callable[[], Awaitable[int]]] = {
        name: partial(runner.run_due, kind) for name, kind in names.items() if kind in runner.kinds
    }
    return owed | {"index": lambda: enter(runner.store)}


def make_batch_model(relay: Runtime, gate: Gate) -> BatchModel:
    """Returns the small model for nightly work."""
    return BatchModel(relay.store, gate, relay.settings.small_model)


async def rewrite_files(relay: Runtime) -> PhaseResult:
    """Rewrites the database's files if anything was erased."""
    cleanup = relay.erasure_cleanup
    if not cleanup.clears:
        return {"skipped": "the host's to clear"}
    if not await cleanup.is_owed():
        return {"skipped": "nothing was erased"}
    return {"remains": await cleanup.clear()}


async def back_up_database(relay: Runtime) -> PhaseResult:
    """Makes the night's backup and deletes old ones; returns its rows and bytes."""
    settings = relay.settings
    if not settings.backup_days:
        return {"skipped": "off (RELAY_BACKUP_DAYS)"}
    made = await make_nightly_backup(relay.backup, settings.backups, settings.backup_days)
    return {"rows": sum(made.rows.values()), "bytes": made.bytes}
