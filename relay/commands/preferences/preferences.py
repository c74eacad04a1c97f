"""Preferences: how a person likes answers, what taught them, and the switches."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from relay.commands.context import CommandContext
from relay.commands.memory.access import PauseSwitch, check_pause, check_switch, find_space
from relay.commands.registry import command, operation
from relay.core.errors import Conflict, NotFound, WrongArgument, require_found
from relay.core.frozen import frozen
from relay.memory.preferences.patterns import Pattern, as_tagged, resolve_name, split_direction
from relay.memory.rows.turns.preferences import ForgottenPreference, Preference, Preferences, PreferenceSource

Here = Literal["use", "ignore", "quiet", "own"]
UNKNOWN = "There's no such preference, or no longer. /preferences lists them."


@frozen
class PreferenceSwitch(PauseSwitch):
    """The switches of preferences to change; None: unchanged."""

    here: Here | None = None
    """What this chat does with them: follows them, ignores them, teaches nothing, or has its own."""

    def as_json(self) -> dict[str, object]:
        """Returns the JSON that `relay_preference_control` takes."""
        return self.changes("preferences") | ({"here": self.here} if self.here else {})


@frozen
class ForgottenPreferences:
    """The forgotten preferences, with the decisions that undoing takes."""

    forgotten: tuple[ForgottenPreference, ...]


@frozen
class ResetPreferences:
    """How many preferences were forgotten."""

    forgotten: int


@command(
    "preferences",
    usage="[prefer|avoid <words> | forget <words> | on | off | pause 2h | here … | reset]",
    help="how you like answers, and what taught me that",
    surfaces=("chat", "cli", "http"),
)
async def list_preferences(ctx: CommandContext, space_id: int | None = None) -> Preferences:
    """Returns how a person likes answers. `space_id` None: this space; 0: the person's own."""
    space = await find_space(ctx, space_id)
    return await ctx.store.preferences(ctx.thread_in(space), ctx.user_id)


@operation("chat", "cli", "http")
async def open_preference(ctx: CommandContext, preference_id: int, space_id: int | None = None) -> PreferenceSource:
    """Returns a preference with what taught it."""
    found = await ctx.store.preference_source(await find_space(ctx, space_id), ctx.user_id, preference_id)
    return require_found(found, NotFound(UNKNOWN))


async def open_listed(ctx: CommandContext, number: int) -> PreferenceSource:
    """Returns the preference with a number in the list, from 1."""
    rows = (await list_preferences(ctx)).rows
    if not 1 <= number <= len(rows):
        raise NotFound(UNKNOWN)
    return await open_preference(ctx, rows[number - 1].id)


async def find_preferences(ctx: CommandContext, words: str) -> Sequence[Preference]:
    """Returns the preferences whose pattern is these words or says the same, or contains them; `*` matches anything. A
    type may come first: length short answers."""
    wanted = " ".join(words.casefold().split())
    if len(wanted.replace("*", "").strip()) < 3 and wanted != "*":
        raise WrongArgument("Say which one: /preferences forget short answers. /preferences reset forgets all.")
    rows = (await list_preferences(ctx)).rows
    about, _ = split_direction(wanted)
    names = {wanted, resolve_name(about, [row.name for row in rows]), as_tagged(Pattern("other", about, 1)).pattern}
    exact = [row for row in rows if names & {row.pattern, row.name} or wanted == f"{row.type} {row.pattern}".casefold()]
    found = exact or [row for row in rows if contains(row.pattern.casefold(), wanted)]
    if not found:
        raise NotFound(UNKNOWN)
    # Forgetting one forgets its opposite, too.
    return list({(one.type, one.name, one.here): one for one in found}.values())


def contains(pattern: str, words: str) -> bool:
    """Tests whether a pattern contains words, from the beginning of a word on; `*` matches anything. Looks for one part
    after the other: a regular expression would try all ways to place them."""
    first, *rest = words.split("*")
    begin = re.search(rf"\b{re.escape(first)}" + ("" if rest else r"\b"), pattern)
    if begin is None:
        return False
    left = pattern[begin.end() :]
    for part in rest:
        if part not in left:
            return False
        left = left[left.index(part) + len(part) :]
    return True


@operation("chat", "cli", "http")
async def forget_preferences(
    ctx: CommandContext, preferences: Sequence[int], space_id: int | None = None
) -> ForgottenPreferences:
    """Forgets preferences by their ids: earlier observations no longer count."""
    done = await ctx.store.forget_preferences(await find_space(ctx, space_id), ctx.user_id, preferences)
    if not done:
        raise NotFound(UNKNOWN)
    return ForgottenPreferences(tuple(done))


@operation("chat", "http")
async def undo_forgetting(ctx: CommandContext, decisions: Sequence[int], space_id: int | None = None) -> int:
    """Restores forgotten preferences. Returns how many."""
    back = await ctx.store.recall_preferences(await find_space(ctx, space_id), ctx.user_id, decisions)
    if not back:
        raise Conflict("There's nothing to bring back, or I've learned something new about it since.")
    return back


@operation("chat", "http")
async def decide_waiting(ctx: CommandContext, keep: bool, space_id: int | None = None) -> int:
    """Lets a person's acts that wait for their tap count, or discards them. Returns how many acts."""
    done = await ctx.store.decide_observations(await find_space(ctx, space_id), ctx.user_id, keep)
    if not done:
        raise Conflict("Nothing is waiting for you.")
    return done


@operation("chat", "cli", "http")
async def reset_preferences(ctx: CommandContext, known: int, space_id: int | None = None) -> ResetPreferences:
    """Forgets all of a person's preferences in a space. `known`: their number, as confirmation."""
    done = await ctx.store.reset_preferences(await find_space(ctx, space_id), ctx.user_id, known)
    return ResetPreferences(require_found(done, Conflict("That number doesn't match. Nothing was forgotten.")))


@operation("chat", "cli", "http")
async def switch_preferences(ctx: CommandContext, to: PreferenceSwitch, space_id: int | None = None) -> Preferences:
    """Sets the switches of preferences in a space, or what this chat does with them. Returns the new state. Raises
    `OutOfRange` for a pause that has ended or is too long."""
    space = await find_space(ctx, space_id)
    check_switch(ctx, space)
    check_pause(to.paused_until)
    return await ctx.store.preference_control(ctx.thread_in(space), ctx.user_id, to.as_json())
