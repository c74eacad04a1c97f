"""Status of a space in numbers and, for operators, of the installation."""

from __future__ import annotations

from dataclasses import replace

from relay.commands.context import CommandContext
from relay.commands.registry import command
from relay.core.frozen import frozen
from relay.memory.rows.controls import Controls
from relay.memory.rows.status import Status


@frozen
class StatusReport:
    """A space and the installation. Fields for operators are empty for others."""

    version: str
    model: str
    """The model that answers; empty if a stand-in does."""
    small_model: str
    now: Status
    memory: Controls
    hears: str
    """The name of the speech-to-text engine; empty: none."""
    speaks: str
    embedder: str
    """The model that searches by meaning; empty: words only."""
    storage: str
    operator: bool
    """An operator asks in private."""


@command("status", help="memory, answers and waiting work, in numbers")
async def status(ctx: CommandContext) -> StatusReport:
    """Returns numbers about this space and the installation."""
    services, now = ctx.services, await ctx.store.status(ctx.space)
    if not ctx.operator:
        now = replace(
            now,
            waiting=0,
            running=0,
            set_aside=0,
            summaries_due=0,
            liked=0,
            disliked=0,
            parked=(),
            incidents=(),
            night=None,
        )
    here = services.installation
    return StatusReport(
        version=here.version,
        model="" if here.offline else here.model,
        small_model="" if here.offline else here.small_model,
        now=now,
        memory=await ctx.store.controls(ctx.thread),
        hears=here.hears,
        speaks=here.speaks,
        embedder=services.embedder.model if services.embedder else "",
        storage=here.storage if ctx.operator else "",
        operator=ctx.operator,
    )
