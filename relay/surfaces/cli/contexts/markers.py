"""`relay session keepits` and `relay session keepit`: marked passages in the shell."""

from __future__ import annotations

from typing import Annotated

import typer

from relay.commands.contexts import keepit as commands
from relay.core.errors import OutOfRange
from relay.core.program import RELAY
from relay.core.text import parse_number, shorten
from relay.memory.contexts.markers import read_weight
from relay.memory.rows.contexts.markers import Keepit, KeepitChange, KeepitPage, OpenedKeepit
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.contexts.buttons import ListKeepits
from relay.surfaces.chat.contexts.markers.pages import card
from relay.surfaces.chat.contexts.markers.weights import weight_in_words
from relay.surfaces.cli.contexts.session import Offset, find, session
from relay.surfaces.cli.owner import PAGE, owner_command, plain

Marker = Annotated[str, typer.Option("--of", help="Change this marker instead: its id, p7.")]
WEIGHT = "A weight is a number from 0.00 to 1.00, or pinned, critical, important, notable, minor or hint."
WHAT = f"Name a weight and a passage: {RELAY} session keepit 0.80 the gate code is 4711"


def _list(_: ChatContext, page: KeepitPage) -> str:
    if not page.total:
        return f"Nothing is marked here yet. For example: {RELAY} session keepit 0.80 the gate code is 4711"
    lines = [_line(one) for one in page.keepits]
    return "\n".join([*lines, f"{len(lines):,} of {page.total:,}. `{RELAY} session keepit --of p7` shows one."])


def _line(one: Keepit) -> str:
    return f"p{one.id} {weight_in_words(one.weight)}: {shorten(one.content, 120)}"


@session.command()
@owner_command(_list, anywhere=True)
async def keepits(
    ctx: ChatContext,
    name: Annotated[str, typer.Option("--session", help="Only this session's: its number in the list, or #12.")] = "",
    offset: Offset = 0,
) -> KeepitPage:
    """List what is marked in a conversation, the most important first."""
    return await commands.keepits(ctx, (await find(ctx, name)).id if name else None, offset, PAGE)


def _describe(ctx: ChatContext, found: OpenedKeepit | KeepitChange) -> str:
    if isinstance(found, OpenedKeepit):
        return plain(card(ctx, found, ListKeepits(0, 0)).text)
    one = commands.require_marker(found)
    return f"{'Removed' if one.removed else 'Kept'} {_line(one)}"


@session.command()
@owner_command(_describe, anywhere=True)
async def keepit(
    ctx: ChatContext,
    weight: Annotated[
        str, typer.Argument(help="0.00 to 1.00, or pinned, critical, important, notable, minor, hint.")
    ] = "",
    passage: Annotated[
        list[str] | None, typer.Argument(help="The words to keep. The newest message that contains them is marked.")
    ] = None,
    of: Marker = "",
    remove: Annotated[bool, typer.Option("--remove", help="Remove that marker.")] = False,
) -> OpenedKeepit | KeepitChange:
    """Mark a passage of the running conversation. With --of, show, weigh or remove a marker."""
    marker = parse_number(of.lower().removeprefix("p")) or 0
    if of and remove:
        return await commands.remove_keepit(ctx, marker)
    if of and not weight:
        return await commands.open_keepit(ctx, marker)
    found = read_weight(weight)
    if found is None and weight and of:
        raise OutOfRange(WEIGHT)
    if found is None or remove or not (of or passage):
        raise OutOfRange(WHAT)
    if of:
        return await commands.weigh_keepit(ctx, marker, found)
    return await commands.keep_passage(ctx, commands.Passage(text=" ".join(passage or [])), found)
