"""Makes shorter versions of sessions."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Literal

from relay.commands.context import CommandContext
from relay.commands.contexts.space_settings import show_settings
from relay.commands.contexts.versions import all_versions, open_version
from relay.commands.contexts.wish import Wish, settings_for
from relay.commands.history.sessions import session_named
from relay.commands.memory.access import may_switch, require_switch
from relay.commands.registry import command, operation
from relay.core.errors import CommandRefused, NotFound, require_found
from relay.core.frozen import frozen
from relay.core.prompt_markup import estimate_tokens
from relay.core.spending.charge import Charge
from relay.memory.contexts.pieces import divide, estimate, spans, two_digits
from relay.memory.contexts.settings import CompressionSettings, read_settings
from relay.memory.rows.contexts.compression import MarkerFate, SessionOutline
from relay.memory.rows.contexts.versions import Version

WAIT_SECONDS = 20.0
LOOK_SECONDS = 0.5
PROMPT_TOKENS = 600
"""The approximate tokens of a call's prompt besides the messages."""
CALL_TOKENS = 30_000
NOTHING = "There's nothing to compress: this session has no complete exchange on the record yet."
NOT_NOW = "I can't make it right now."
NO_SOURCE = "This session has no such version to start from, or it isn't ready."


@frozen(kw_only=True)
class CompressionPreview:
    """What a version would be like."""

    session_id: int
    title: str | None
    source_id: int | None
    source: str | None
    """The name of the version that it is made from; None: the messages."""
    settings: Mapping[str, Any]
    messages: int
    tokens: int
    distance: int
    estimated_messages: int
    estimated_tokens: int
    """Its estimated size, rounded to two digits."""
    cost: float | None
    """The cost in dollars; None: the model has no known price."""
    keeps: int
    """How many markers stay word for word."""
    summarises: int
    thresholds: tuple[Decimal, ...]
    """The least weights that survive in the stretches with markers, ascending."""
    may_make: bool
    no_model: str
    """Why no model can be asked now; empty: one can."""


@frozen
class Making:
    """The state of a requested version."""

    outcome: Literal["ready", "working", "waiting", "failed", "no_budget"]
    """waiting: it failed, and is retried. no_budget: it was not requested."""
    detail: str
    """The reason, with the cause only for operators; else empty."""
    version: Version | None = None


@command(
    "compress",
    usage="[gentle|standard|aggressive|<n>:1] [light|moderate|aggressive] [session]",
    help="make a shorter version of a conversation",
    surfaces=("chat", "cli", "http"),
)
async def compress(
    ctx: CommandContext, wish: Wish, session_id: int | None = None, source_id: int | None = None
) -> CompressionPreview:
    """Returns what a version of a session would be like. `source_id`: the version to make it from. Raises
    `CommandRefused` if there is nothing to compress, `NotFound` if the source doesn't exist."""
    await ctx.require_sight()
    if wish.session:
        session_id = (await session_named(ctx, wish.session)).id
    outline = await ctx.store.session_outline(ctx.thread, session_id, source_id)
    if outline is not None and source_id and not outline.source:
        raise NotFound(NO_SOURCE)
    if outline is None or not outline.units:
        raise CommandRefused(NOTHING)
    settings = settings_for(wish, outline)
    segments = divide(outline.units, settings)
    asked = spans(outline.units, segments, outline.source_through)
    fates = await ctx.store.marker_fates(outline.id, asked, settings.keepit, settings.distance)
    kept = [kept_tokens(fates, one) for one in asked]
    tokens, messages = estimate(outline.units, segments, kept)
    gone = settings.method == "model"
    return CompressionPreview(
        session_id=outline.id,
        title=outline.title,
        source_id=source_id,
        source=outline.source,
        settings=settings.as_json() | {"sessionDistance": settings.distance or outline.distance},
        messages=len(outline.units),
        tokens=outline.tokens,
        distance=settings.distance or outline.distance,
        estimated_messages=messages,
        estimated_tokens=two_digits(tokens),
        cost=cost(ctx, outline, settings, tokens),
        keeps=sum(fate.survived for fate in fates),
        summarises=sum(not fate.survived for fate in fates),
        thresholds=tuple(sorted({min(fate.threshold, Decimal(1)) for fate in fates})),
        may_make=may_switch(ctx, ctx.space),
        no_model=await _no_model(ctx) if gone else "",
    )


def kept_tokens(fates: Sequence[MarkerFate], span: Mapping[str, Any]) -> int:
    """Returns the tokens of a stretch's markers that survive."""
    own = range(span["from"], span["through"] + 1)
    return sum(estimate_tokens(fate.content) for fate in fates if fate.survived and fate.message_id in own)


def cost(ctx: CommandContext, outline: SessionOutline, settings: CompressionSettings, tokens: int) -> float | None:
    """Returns the estimated cost of a version in dollars; None: the model has no known price."""
    if settings.method == "extract":
        return 0.0
    calls = len(settings.tiers()) + outline.tokens // CALL_TOKENS
    usage = {"input_tokens": outline.tokens + calls * PROMPT_TOKENS, "output_tokens": tokens}
    here = ctx.services.installation
    return ctx.services.budget.prices.cost(here.model if settings.model == "big" else here.small_model, usage)


async def _no_model(ctx: CommandContext) -> str:
    """Returns why no model can be asked now; empty if one can."""
    return await ctx.services.summariser.gate.used_up(Charge("compression", user_id=ctx.user_id, space=ctx.space))


@operation("chat", "cli", "http")
async def make_version(
    ctx: CommandContext, session_id: int, settings: CompressionSettings, source_id: int | None = None
) -> Making:
    """Makes a version, or requests it if that takes a model and nobody at a terminal waits. Making the same one again
    asks the model again, because the person wants another. Raises `CommandRefused` if there is nothing to make it from,
    and `NotAllowed`."""
    await require_switch(ctx)
    if settings.method == "model":
        if why := await _no_model(ctx):
            return Making("no_budget", why)
        if await find_made(ctx, session_id, settings, source_id):
            await ctx.store.forget_chunks(ctx.space, session_id, source_id)
    made = await ctx.store.make_version(ctx.space, session_id, ctx.user_id, settings.as_json(), source_id)
    return await _run(ctx, require_found(made, CommandRefused(NOTHING)), settings.method == "extract")


async def tell_when_ready(ctx: CommandContext, version_id: int) -> Making:
    """Asks the bot to say in this chat when a version that is being made is ready. Returns its state."""
    await ctx.require_sight()
    if ctx.bot_id:
        await ctx.store.await_version(ctx.thread, version_id, ctx.bot_id, ctx.user_id)
    return await look(ctx, version_id)


async def make_without_model(ctx: CommandContext, version_id: int) -> Making:
    """Makes an unfinished version without a model."""
    await require_switch(ctx)
    if await ctx.store.make_without_model(ctx.space, version_id):
        return await _run(ctx, version_id, True)
    return await look(ctx, version_id)


async def _run(ctx: CommandContext, version_id: int, quick: bool) -> Making:
    """Runs a version's job here if it is quick, or at a terminal. Otherwise it begins when this turn has ended."""
    if quick or not ctx.bot_id:
        await ctx.services.run_job("compression", str(version_id))
    return await look(ctx, version_id)


async def await_version(ctx: CommandContext, version_id: int) -> Making:
    """Waits a while for a version that is being made."""
    waited = 0.0
    found = await look(ctx, version_id)
    while found.outcome == "working" and waited < WAIT_SECONDS:
        await asyncio.sleep(LOOK_SECONDS)
        waited += LOOK_SECONDS
        found = await look(ctx, version_id)
    return found


async def look(ctx: CommandContext, version_id: int) -> Making:
    """Returns the state of a version."""
    version = (await open_version(ctx, version_id, 0, 0)).version
    if version.status == "ready":
        return Making("ready", "", version)
    if version.status == "failed":
        return Making("failed", version.error or "", version)
    job = await ctx.store.job("compression", str(version_id))
    why = job.last_error if job else None
    if why and not ctx.operator:
        why = await _no_model(ctx) or NOT_NOW
    return Making("waiting" if why else "working", why or "", version)


@operation("http")
async def complete_settings(ctx: CommandContext, given: Mapping[str, Any]) -> CompressionSettings:
    """Completes settings in their JSON shape with the space's defaults. A ratio alone means uniform. Raises
    `OutOfRange`."""
    defaults = (await show_settings(ctx)).defaults
    shape = {
        "mode": "uniform" if "compactionRatio" in given and "tierPreset" not in given else "tiered",
        "tierPreset": "custom" if given.get("customTiers") else defaults.preset,
        "keepitMode": "decay" if defaults.decay else "preserve-all",
        "model": defaults.model,
    }
    return read_settings(shape | dict(given))


@operation("http")
async def find_made(
    ctx: CommandContext, session_id: int, settings: CompressionSettings, source_id: int | None
) -> Version | None:
    """Returns the newest ready version of a session that these settings would make again: nothing was said,
    changed or marked since. Raises `CommandRefused` if there is nothing to compress."""
    await ctx.require_sight()
    outline = await ctx.store.session_outline(ctx.thread, session_id, source_id)
    if outline is None or not outline.units:
        raise CommandRefused(NOTHING)
    wanted = settings.as_json() | {"sessionDistance": settings.distance or outline.distance}
    made = await all_versions(ctx, session_id)
    same = (v for v in made if v.status == "ready" and v.settings == wanted and v.source_id == source_id)
    return next((v for v in same if not v.since.told), None)
