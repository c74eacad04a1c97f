"""Composes step by step, with a draft that its buttons change."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, replace

from relay.commands.context import CommandContext
from relay.commands.contexts import composition
from relay.commands.memory.access import check_switch, require_switch
from relay.core.errors import CommandRefused, require_found
from relay.core.frozen import frozen
from relay.core.limits import COMPOSED_BUDGET, MAX_OFFSET, MOST_BUDGET
from relay.memory.rows.contexts.composition import (
    ComposableSessions,
    ComposedPart,
    ComposeRequest,
    Composition,
    CompositionPlan,
    Draft,
    PartAsked,
)

FORGOTTEN = "I no longer know what you chose here. Start again with /compose."
NOT_CHOSEN = "That session isn't chosen any more."
BUDGET = re.compile(r"(?:(\d{1,9})(?:[.,](\d{1,3}))? ?k|(\d{1,3}(?:([., ])\d{3})?(?:\4\d{3})*|\d{1,9}))(?: ?tokens)?")
"""A budget such as 8.5k, or whole tokens with or without a separator of thousands."""


@frozen
class Drafted:
    """A draft, and what composing it would do."""

    id: int
    draft: Draft
    parts: tuple[ComposedPart, ...] = ()
    """The chosen sessions, in order. Without a plan, they have only what is known of each."""
    plan: CompositionPlan | None = None
    """The plan; None: no session is chosen, or the draft can't be composed."""
    wrong: str = ""
    """Why the draft can't be composed."""

    def part(self, session_id: int) -> ComposedPart:
        """Returns a chosen session. Raises `CommandRefused` if it isn't chosen."""
        part = next((one for one in self.parts if one.session_id == session_id), None)
        return require_found(part, CommandRefused(NOT_CHOSEN))


def read_budget(text: str) -> int | None:
    """Returns a number of tokens as people type it: 8.5k, 16k, 16000, 16,000, 16.000 or 16 000. None: it isn't
    clear."""
    found = BUDGET.fullmatch(" ".join(text.lower().split()))
    if found is None:
        return None
    thousands, part, tokens, _ = found.groups()
    if tokens:
        return int(re.sub(r"\D", "", tokens))
    return int(thousands) * 1_000 + int((part or "").ljust(3, "0"))


async def begin_draft(ctx: CommandContext, name: str = "") -> Drafted:
    """Begins a draft. `name` empty: a free name is used."""
    await require_switch(ctx)
    draft = Draft(composition.check_name(name) if name else await free_name(ctx))
    await ctx.store.keep_draft(ctx.turn, ctx.space, draft)
    return Drafted(ctx.turn.turn_id, draft)


async def draft_of(ctx: CommandContext, composition_id: int) -> Drafted:
    """Begins a draft that changes a composition."""
    one = await composition.open_composition(ctx, composition_id)
    check_switch(ctx, ctx.space)
    draft = Draft(
        one.name, one.budget, one.strategy, parts={part.session_id: part.asked for part in one.parts},
        order=() if one.by_time else tuple(part.session_id for part in one.parts), replaces=one.id,
    )  # fmt: skip
    await ctx.store.keep_draft(ctx.turn, ctx.space, draft)
    return await _plan(ctx, ctx.turn.turn_id, draft)


async def free_name(ctx: CommandContext) -> str:
    """Returns a name that no composition of this space has."""
    taken = {one.name.lower() for one in (await composition.space_compositions(ctx)).compositions}
    return next(name for n in range(1, 1000) if (name := f"context-{n}") not in taken)


async def read_draft(ctx: CommandContext, draft_id: int) -> Drafted:
    """Returns one of this person's drafts."""
    return await change_draft(ctx, draft_id, {})


async def change_draft(ctx: CommandContext, draft_id: int, change: Mapping[str, object]) -> Drafted:
    """Changes the budget, strategy, order or listed sessions of a draft."""
    await ctx.require_sight()
    budget = change.get("budget", COMPOSED_BUDGET)
    composition.check_budget(budget if isinstance(budget, int) else 0)
    draft = await ctx.store.change_draft(draft_id, ctx.space, ctx.user_id, change)
    return await _plan(ctx, draft_id, require_found(draft, CommandRefused(FORGOTTEN)))


async def choose_part(ctx: CommandContext, draft_id: int, session_id: int, asked: PartAsked | None) -> Drafted:
    """Adds a session to a draft, with what is asked for it; None removes it."""
    part = asdict(composition.complete(asked)) if asked else None
    return await change_draft(ctx, draft_id, {"parts": {str(session_id): part}})


async def choose_version(ctx: CommandContext, draft_id: int, session_id: int, version: str | None) -> Drafted:
    """Chooses what to use of a session: original, new or a version's name; None: the version that fits best. A separate
    share stays if the size depends on it."""
    asked = (await read_draft(ctx, draft_id)).part(session_id).asked
    share = asked.allocation if version in (None, "new") else None
    return await choose_part(ctx, draft_id, session_id, PartAsked(version, share))


async def allocate(ctx: CommandContext, draft_id: int, session_id: int, tokens: int | None) -> Drafted:
    """Sets a session's share in tokens; None: the share that the strategy gives it."""
    asked = (await read_draft(ctx, draft_id)).part(session_id).asked
    return await choose_part(ctx, draft_id, session_id, replace(asked, allocation=tokens))


async def move_part(ctx: CommandContext, draft_id: int, session_id: int, later: bool) -> Drafted:
    """Moves a session by one place. From then on, the sessions are in the chosen order, not ordered by time."""
    now = await read_draft(ctx, draft_id)
    order = [part.session_id for part in now.parts]
    at = order.index(now.part(session_id).session_id)
    to = at + 1 if later else at - 1
    if 0 <= to < len(order):
        order[at], order[to] = order[to], order[at]
    return await change_draft(ctx, draft_id, {"order": order})


async def sessions_to_choose(ctx: CommandContext, draft: Draft, offset: int, limit: int) -> ComposableSessions:
    """Returns a page of the sessions that can be added to a draft."""
    await ctx.require_sight()
    return await ctx.store.composable_sessions(ctx.thread, draft.everywhere, min(offset, MAX_OFFSET), limit)


async def make_draft(ctx: CommandContext, draft_id: int) -> Composition:
    """Composes a draft."""
    return await composition.compose(ctx, as_request((await read_draft(ctx, draft_id)).draft))


async def _plan(ctx: CommandContext, draft_id: int, draft: Draft) -> Drafted:
    """Plans a draft."""
    if not draft.parts:
        return Drafted(draft_id, draft)
    request = as_request(draft)
    try:
        plan = await composition.plan_composition(ctx, request)
    except CommandRefused as refusal:
        return Drafted(draft_id, draft, await _known_parts(ctx, request), None, str(refusal))
    return Drafted(draft_id, draft, plan.parts, plan)


async def _known_parts(ctx: CommandContext, request: ComposeRequest) -> tuple[ComposedPart, ...]:
    """Returns what is known of the sessions of a request that can't be composed."""
    asked = dict(request.parts)
    bare = replace(request, budget=MOST_BUDGET, parts=tuple((one, PartAsked()) for one in asked))
    try:
        plan = await composition.plan_composition(ctx, bare)
    except CommandRefused:  # one of them is gone
        return tuple(
            ComposedPart(session_id=one, title=None, words=None, first=None, version="", asked=asked[one])
            for one in asked
        )
    return tuple(replace(part, asked=asked[part.session_id], allocation=None) for part in plan.parts)


def as_request(draft: Draft) -> ComposeRequest:
    """Returns the request of a draft."""
    places = {session_id: place for place, session_id in enumerate(draft.order)}
    parts = sorted(draft.parts.items(), key=lambda part: places.get(part[0], len(places)))
    return ComposeRequest(
        draft.name, tuple(parts), draft.budget, draft.strategy, in_order=draft.in_order, replaces=draft.replaces
    )
