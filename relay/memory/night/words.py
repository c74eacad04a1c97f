"""Nights' results in words. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from relay.core.text import pluralize
from relay.memory.rows.upkeep.night import PlanStep

PHASES = ("backup", "consolidate", "decay", "digest", "prepare", "files")


def format_share(part: int, whole: int) -> str:
    """Describes a part of a number of memories, such as `12 of 40 memories (30 %)`."""
    share = f" ({100 * part / whole:.0f}%)" if whole else ""
    return f"{part:,} of {whole:,} {'memory' if whole == 1 else 'memories'}{share}"


def describe_phase(name: str, told: Mapping[str, Any]) -> str:
    """Describes a phase's result in a few words."""
    if "failed" in told:
        return f"{name} failed: {told['failed']}"
    if "skipped" in told:
        return f"{name}: {told['skipped']}"
    late = [f"{told['left']} left for the next night"] if told.get("left") else []
    match name:
        case "backup":
            return f"backup of {told['rows']:,} rows ({max(1, told['bytes'] // 1000):,} KB)"
        case "consolidate":
            done = [f"{told[word]:,} {word}" for word in ("merged", "superseded", "archived") if told[word]]
            if found := told.get("patterns"):  # earlier versions looked for none
                done.append(pluralize(found, "pattern"))
            asked = [f"asked about {told['asked']}"] if told["asked"] else []
            return f"memory: {', '.join([*done, *asked, *late]) or 'nothing to tidy'}"
        case "decay":
            done = [f"{told[word]:,} {word}" for word in ("made", "dropped") if told[word]]
            return f"versions: {', '.join([*done, *late]) or 'none to make or drop'}"
        case "digest":
            return f"digests: {', '.join([str(told['sent'] or 'none'), *late])}"
        case "files":
            return "database files rewritten without erased data" + (" (except the log)" if told["remains"] else "")
    return f"upkeep: {', '.join(f'{number:,} {word}' for word, number in told.items() if number) or 'nothing to do'}"


def describe_step(step: PlanStep) -> str:
    """Describes what happens to a memory or two."""
    newer = step.newer.content if step.newer else ""
    match step.action:
        case "archive":
            return f"archived: {step.older.content}"
        case "supersede":
            return f"replaced: {step.older.content} (newer: {newer})"
        case "pattern":
            return f"pattern: {step.content}"
        case "merge":
            return f"merged: {step.older.content} + {newer} → {step.content}"
    return f"compared: {step.older.content} / {newer}"


def describe_night(phases: Mapping[str, Any]) -> str:
    """Describes the results of a night's phases in one line."""
    return "; ".join(describe_phase(name, phases[name]) for name in PHASES if name in phases)
