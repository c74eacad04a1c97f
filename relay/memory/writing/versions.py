"""Makes the version that a job owes, from messages or from another version, with a model or without."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence

from relay.core.frozen import frozen
from relay.core.prompt_markup import estimate_tokens
from relay.core.spending.charge import Charge
from relay.memory.contexts.extract import extract, squeeze
from relay.memory.contexts.pieces import Stretch, divide, sort_rows, spans, stretches
from relay.memory.contexts.settings import CompressionSettings, read_settings
from relay.memory.derivations.derivation import Input, make_derivation
from relay.memory.rows.contexts.compression import CompressionWork, MarkerFate, NewVersion, OutlineUnit, SourceUnit
from relay.memory.rows.contexts.versions import VersionRow
from relay.memory.rows.jobs import ClaimedJob
from relay.memory.writing.compressor import Compressor, chunks_of, compress, rows_of

EXTRACT = 2
"""The version of the extractive method."""
GONE = "What it was going to be made from is gone."


@frozen
class Made:
    """The compressed stretches."""

    rows: list[VersionRow]
    model: str | None
    usage: Counter[str]
    version: str


async def make_version(compressor: Compressor, job: ClaimedJob) -> bool:
    """Makes the version that a job owes. Returns whether it was stored. Raises the `RelayError` tree."""
    work = await compressor.store.compression_work(job)
    if work is None:
        return False
    if not work.units:
        await compressor.store.fail_version(job, GONE)
        return False
    settings = read_settings(work.settings)
    parts, fates = await divide_units(compressor, work, settings)
    if settings.method == "extract":
        found = await asyncio.to_thread(extract, parts)  # a second for a long session
        made = Made(found, None, Counter(), f"extract/{EXTRACT}")
    else:
        made = await written(compressor, job, work, settings, parts)
    rows = [*(row for part in parts for row in part.kept), *made.rows]
    if settings.most and sum(estimate_tokens(row.text) for row in rows) > settings.most:
        rows = await asyncio.to_thread(squeeze, rows, settings.most)
    return await compressor.store.store_version(job, new_version(work, settings, sort_rows(rows), fates, made))


async def divide_units(
    compressor: Compressor, work: CompressionWork, settings: CompressionSettings
) -> tuple[list[Stretch], list[MarkerFate]]:
    """Divides the units of a version into stretches by tiers, and asks which markers survive in each."""
    sized = [OutlineUnit(unit.first, unit.through, unit.role, estimate_tokens(unit.text)) for unit in work.units]
    segments = divide(sized, settings)
    asked = spans(sized, segments, work.through)
    fates = await compressor.store.marker_fates(work.session_id, asked, settings.keepit, settings.distance)
    ids = [range(int(str(one["from"])), int(str(one["through"])) + 1) for one in asked]
    return list(stretches(work.units, segments, fates, ids)), fates


async def written(
    compressor: Compressor,
    job: ClaimedJob,
    work: CompressionWork,
    settings: CompressionSettings,
    parts: Sequence[Stretch],
) -> Made:
    """Compresses the stretches with a model, chunk by chunk. Each result is stored at once."""
    model = compressor.model(settings.model)
    chunks = [chunk for part in parts for chunk in chunks_of(part)]
    charge = Charge("compression", user_id=work.user_id, space_id=work.space_id)
    made = Made([], model, Counter(), f"model/{model}")
    for number, chunk in enumerate(chunks):
        await compressor.store.note_progress(job, number, len(chunks))
        done = await compress(compressor, work.space_id, work.source_id, chunk, model, charge)
        made.rows.extend(rows_of(chunk, done))
        made.usage.update(done.usage)
    return made


def new_version(
    work: CompressionWork,
    settings: CompressionSettings,
    rows: tuple[VersionRow, ...],
    fates: Sequence[MarkerFate],
    made: Made,
) -> NewVersion:
    """Returns the new version with how it was made."""
    if work.source_id is None:
        read = [Input("message", unit.first, unit.text) for unit in work.units]
    else:
        read = [Input("version", work.source_id, "\n".join(unit.text for unit in work.units))]
    derivation = make_derivation("version", made.version, read)
    read_at = work.read_at.isoformat()
    made_by = {"name": derivation.name, "version": derivation.version, "hash": derivation.hash, "read_at": read_at}
    return NewVersion(
        rows=rows,
        label=settings.label(),
        inputs=derivation.inputs,
        input_tokens=sum(estimate_tokens(unit.text) for unit in work.units),
        input_messages=len(work.units),
        fates=tuple(fates),
        model=made.model,
        usage=made.usage,
        derivation=made_by,
        tainted=is_tainted(work.units),
    )


def is_tainted(units: Sequence[SourceUnit]) -> bool:
    """Tests whether a version derives from what others wrote, or from several people's words."""
    people = {unit.user_id for unit in units if unit.role == "user"}
    return any(unit.untrusted or unit.tainted for unit in units) or len(people) > 1
