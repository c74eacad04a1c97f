"""Assembles the phases of a night."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from relay.archive.nightly import make_nightly_backup
from relay.memory.rows.upkeep.nights import PhaseResult
from relay.memory.sleep.asking import BatchModel
from relay.memory.sleep.consolidate import Consolidation
from relay.memory.sleep.digest import Digests
from relay.memory.sleep.night import Phase
from relay.memory.sleep.prepare import Preparation
from relay.memory.spending.gate import Gate
from relay.runtime.runtime import Runtime


def phases(relay: Runtime, bot_id: int, owed: Mapping[str, Callable[[], Awaitable[int]]]) -> list[Phase]:
    """Returns a night's phases in order. `bot_id`: the sender of digests and questions; `owed`: functions that write
    owed texts, by name."""
    mind = make_batch_model(relay, relay.background_gate)
    consolidation = Consolidation(mind, bot_id, lambda: sorted(relay.people.admins))
    return [
        Phase("backup", lambda _: back_up_database(relay)),
        Phase("consolidate", consolidation.run),
        Phase("digest", Digests(mind, bot_id).run),
        Phase("prepare", Preparation(relay.store, owed).run),
        Phase("files", lambda _: rewrite_files(relay)),
    ]


def make_batch_model(relay: Runtime, gate: Gate) -> BatchModel:
    """Returns the small model for nightly work."""
    settings = relay.settings
    return BatchModel(relay.store, gate, settings.small_model, settings.result_cache)


async def rewrite_files(relay: Runtime) -> PhaseResult:
    """Rewrites the database's files if anything was erased."""
    cleanup = relay.erasure_cleanup
    if not cleanup.clears:
        return {"skipped": "the host's to clear"}
    if not await cleanup.owed():
        return {"skipped": "nothing was erased"}
    return {"remains": await cleanup.clear()}


async def back_up_database(relay: Runtime) -> PhaseResult:
    """Makes the night's backup and deletes old ones; returns its rows and bytes."""
    settings = relay.settings
    if not settings.backup_days:
        return {"skipped": "off (RELAY_BACKUP_DAYS)"}
    made = await make_nightly_backup(relay.backup, settings.backups, settings.backup_days)
    return {"rows": sum(made.rows.values()), "bytes": made.bytes}
