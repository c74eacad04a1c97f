"""A conversation's summary: read, refreshed, corrected, restored."""

from __future__ import annotations

import asyncio
from typing import Literal

from relay.commands.context import CommandContext
from relay.commands.registry import command
from relay.core.errors import CommandRefused, OutOfRange, WrongArgument, require_found
from relay.core.frozen import frozen
from relay.core.limits import MAX_OFFSET, SUMMARY_TOKENS
from relay.core.prompt_markup import estimate_tokens
from relay.core.spending.charge import Charge
from relay.memory.rows.sessions import SummaryInUse, SummaryPage
from relay.memory.writing.summaries import LEAST_MESSAGES

WAIT_SECONDS = 45.0
LOOK_SECONDS = 0.5
NONE_YET = "This conversation has no summary yet. I still read all of it."
CHANGED = "The summary has changed since you looked at it. Look at the new one first: /summary"


@frozen
class RefreshedSummary:
    """The outcome of a request for a new summary."""

    outcome: Literal["written", "nothing_new", "no_budget", "failed", "slow"]
    """failed and slow: it is still due and will be retried."""
    detail: str
    """Why it failed, or which budget is used up; else empty."""
    present: SummaryInUse
    """The current summary."""


@frozen
class RestoredSummary:
    """The outcome of restoring an older version."""

    restored: bool
    """False: the summary changed in the meantime."""
    present: SummaryInUse


@command("summary", usage="[refresh | correct <text> | history]", help="the summary of this conversation")
async def summary(ctx: CommandContext, version_id: int | None = None) -> SummaryInUse:
    """Returns this conversation's current summary, or another version."""
    await ctx.require_sight()
    return await ctx.store.summary(ctx.thread, version_id)


async def summary_versions(ctx: CommandContext, offset: int = 0, limit: int = 100) -> SummaryPage:
    """Returns a page of versions of this conversation's summary, newest first."""
    await ctx.require_sight()
    return await ctx.store.summaries(ctx.thread, min(offset, MAX_OFFSET), limit)


async def correct_summary(ctx: CommandContext, text: str, of: int = 0) -> SummaryInUse:
    """Replaces the current summary with a person's text. `of`: the version that must still be current; 0: any. Raises
    `CommandRefused` if the text is empty or too long, or there is no such summary."""
    text = text.strip()
    tokens = estimate_tokens(text)
    if not text:
        raise WrongArgument("What should the summary say? Send it as text.")
    if tokens > SUMMARY_TOKENS:
        raise OutOfRange(f"That's about {tokens} tokens; a summary can have at most {SUMMARY_TOKENS}.")
    now = require_found((await summary(ctx)).present, CommandRefused(NONE_YET))
    done = await ctx.store.correct_summary(ctx.thread, of=of or now, user_id=ctx.user_id, name=ctx.name, text=text)
    if not done:
        raise CommandRefused(CHANGED)
    return await summary(ctx)


async def restore_summary(ctx: CommandContext, version_id: int, of: int) -> RestoredSummary:
    """Restores an older version as a new one, if `of` is still current."""
    await ctx.require_sight()
    done = await ctx.store.correct_summary(ctx.thread, of=of, user_id=ctx.user_id, name=ctx.name, version=version_id)
    return RestoredSummary(done, await summary(ctx))


async def refresh_summary(ctx: CommandContext) -> RefreshedSummary:
    """Writes a summary of what is new, and waits a while for it. Returns the outcome."""
    await ctx.require_sight()
    outcome: Literal["written", "nothing_new", "no_budget", "failed", "slow"] = "no_budget"
    detail = await ctx.services.summariser.gate.used_up(Charge("summary", user_id=ctx.user_id))
    if not detail:
        try:
            async with asyncio.timeout(WAIT_SECONDS):
                outcome, detail = await _write(ctx)
        except TimeoutError:
            outcome = "slow"
    return RefreshedSummary(outcome, detail, await summary(ctx))


async def _write(ctx: CommandContext) -> tuple[Literal["written", "nothing_new", "failed"], str]:
    """Writes a summary, or waits for the process that is writing it. Returns the outcome and error."""
    key = await ctx.store.want_summary(ctx.thread, LEAST_MESSAGES, ctx.user_id)
    while key is not None:
        await ctx.services.run_job("summary", key)
        job = await ctx.store.job("summary", key)
        if job is None:
            return "written", ""
        if job.last_error:
            return "failed", job.last_error if ctx.operator else ""
        await asyncio.sleep(LOOK_SECONDS)
    return "nothing_new", ""
