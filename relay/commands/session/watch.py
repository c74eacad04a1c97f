"""Watching for changes, so that an open page follows the chat."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from relay.commands.context import CommandContext
from relay.commands.registry import operation
from relay.core.models import Space
from relay.memory.rows.proactive.feed import Marks

SPACES_LOOKS = 24
"""After how many checks the groups in which the person speaks are read again."""


@dataclass(slots=True)
class Watch:
    """What a page has seen."""

    looks: int = 0
    spaces: Sequence[Space] = ()
    known: Mapping[Space, Marks] = field(default_factory=dict)


@operation("http")
async def look_for_changes(ctx: CommandContext, watch: Watch) -> list[str]:
    """Returns the subjects that have changed since the last check, in the person's own space or in a group that they
    are in now. Telegram is asked only about groups in which something has changed."""
    if watch.looks % SPACES_LOOKS == 0:
        around = await ctx.store.spaces_around(ctx.user_id)
        watch.spaces = tuple(dict.fromkeys((ctx.space, *around)))
    watch.looks += 1
    before, now = watch.known, {one.space: one for one in await ctx.store.marks(watch.spaces, ctx.user_id)}
    watch.known = now
    changed = {space: now[space].changed_since(before[space]) for space in now if space in before}
    heard = [changed[space] for space in changed if changed[space] and await ctx.sees(space)]
    return list(dict.fromkeys(subject for subjects in heard for subject in subjects))
