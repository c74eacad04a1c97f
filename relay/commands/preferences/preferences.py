"""Preferences: how somebody likes answers, where that comes from, and the switches."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from relay.commands.context import CommandContext
from relay.commands.memory.access import check_switch, find_space
from relay.commands.registry import command
from relay.core.errors import CommandRefused
from relay.core.models import Space
from relay.memory.rows.turns.preferences import ForgottenPreference, Preference, Preferences, PreferenceSource

Here = Literal["use", "ignore", "quiet", "own"]
UNKNOWN = "There's no such preference. /preferences lists them."


@dataclass(frozen=True, slots=True)
class PreferenceSwitch:
    """What to switch; what is None stays as it is."""

    on: bool | None = None
    paused_until: datetime | None = None
    resume: bool = False
    """Ends a pause."""
    here: Here | None = None
    """What this chat does: follows them, ignores them, teaches nothing, or has its own."""

    def as_json(self) -> dict[str, object]:
        """As `relay_preference_control` takes it."""
        change: dict[str, object] = {}
        if self.on is not None:
            change["preferences"] = "on" if self.on else "off"
        if self.paused_until is not None:
            change["paused_until"] = self.paused_until.isoformat()
        elif self.on is not None or self.resume:
            change["paused_until"] = None
        return change | ({"here": self.here} if self.here else {})


@dataclass(frozen=True, slots=True)
class ForgottenPreferences:
    """What was forgotten; its decisions take that back."""

    forgotten: tuple[ForgottenPreference, ...]


@dataclass(frozen=True, slots=True)
class ResetPreferences:
    """How many preferences were forgotten."""

    forgotten: int


@command(
    "preferences",
    usage="[prefer|avoid <words> | forget <words> | on | off | pause 2h | here … | reset]",
    help="how you like answers, and what taught me that",
)
async def list_preferences(ctx: CommandContext, space_id: int | None = None) -> Preferences:
    """Lists how a person likes answers. `space_id`: None is the space where it is asked, 0 one's own."""
    space = await _space(ctx, space_id)
    return await ctx.store.preferences(space, *_place(ctx, space), ctx.user_id)


async def open_preference(ctx: CommandContext, preference_id: int, space_id: int | None = None) -> PreferenceSource:
    """Returns a preference with what taught it."""
    found = await ctx.store.preference_source(await _space(ctx, space_id), ctx.user_id, preference_id)
    if found is None:
        raise CommandRefused(UNKNOWN)
    return found


async def open_listed(ctx: CommandContext, number: int) -> PreferenceSource:
    """Returns the preference with a number in the list, from 1."""
    rows = (await list_preferences(ctx)).rows
    if not 1 <= number <= len(rows):
        raise CommandRefused(UNKNOWN)
    return await open_preference(ctx, rows[number - 1].id)


async def find_preferences(ctx: CommandContext, words: str) -> Sequence[Preference]:
    """Returns the preferences whose pattern is these words, or has them; `*` stands for anything."""
    wanted = " ".join(words.casefold().split())
    if len(wanted.replace("*", "").strip()) < 3 and wanted != "*":
        raise CommandRefused("Say which one: /preferences forget short answers. /preferences reset forgets all.")
    rows = (await list_preferences(ctx)).rows
    exact = [row for row in rows if row.pattern == wanted]
    pattern = re.compile(r"\b" + ".*".join(map(re.escape, wanted.split("*"))) + ("" if "*" in wanted else r"\b"))
    found = exact or [row for row in rows if pattern.search(row.pattern)]
    if not found:
        raise CommandRefused(UNKNOWN)
    return found


async def forget_preferences(
    ctx: CommandContext, preferences: Sequence[int], space_id: int | None = None
) -> ForgottenPreferences:
    """Forgets preferences by their ids: what was observed until now doesn't count any more."""
    done = await ctx.store.forget_preferences(await _space(ctx, space_id), ctx.user_id, preferences)
    if not done:
        raise CommandRefused(UNKNOWN)
    return ForgottenPreferences(tuple(done))


async def undo_forgetting(ctx: CommandContext, decisions: Sequence[int], space_id: int | None = None) -> int:
    """Brings forgotten preferences back. Returns how many."""
    back = await ctx.store.recall_preferences(await _space(ctx, space_id), ctx.user_id, decisions)
    if not back:
        raise CommandRefused("There's nothing to bring back, or I've learned something new about it since.")
    return back


async def decide_waiting(ctx: CommandContext, keep: bool, space_id: int | None = None) -> int:
    """Lets what was learned of a person's acts and waits for their tap count, or discards it. Returns how many acts."""
    done = await ctx.store.decide_observations(await _space(ctx, space_id), ctx.user_id, keep)
    if not done:
        raise CommandRefused("Nothing is waiting for you.")
    return done


async def reset_preferences(ctx: CommandContext, known: int) -> ResetPreferences:
    """Forgets all of a person's preferences here. `known`: how many there are, to confirm it."""
    done = await ctx.store.reset_preferences(ctx.space, ctx.user_id, known)
    if done is None:
        raise CommandRefused("That number doesn't match. Nothing was forgotten.")
    return ResetPreferences(done)


async def switch_preferences(ctx: CommandContext, to: PreferenceSwitch, space_id: int | None = None) -> Preferences:
    """Switches preferences in a space, or what this chat does with them. Returns how they are switched then."""
    space = await _space(ctx, space_id)
    check_switch(ctx, space)
    return await ctx.store.preference_control(space, *_place(ctx, space), ctx.user_id, to.as_json())


async def _space(ctx: CommandContext, space_id: int | None) -> Space:
    return ctx.space if space_id is None else await find_space(ctx, space_id)


def _place(ctx: CommandContext, space: Space) -> tuple[int, int]:
    """This chat and topic, where it is the space's."""
    return (ctx.chat_id, ctx.topic_id) if space == ctx.space else (0, 0)
