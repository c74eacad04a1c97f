"""`relay session keepits` and `relay session keepit`: marked passages in the shell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from relay.core.errors import CommandRefused
from relay.core.program import RELAY
from relay.core.text import parse_number, shorten
from relay.surfaces.cli.contexts.session import AsJson, Chat, Offset, Topic, Where, run, session

if TYPE_CHECKING:
    from relay.memory.rows.contexts.markers import Keepit, KeepitChange, KeepitPage, OpenedKeepit
    from relay.surfaces.chat.context import ChatContext

PAGE = 100
Marker = Annotated[str, typer.Option("--of", help="Change this marker instead: its id, p7.")]
WEIGHT = "A weight is a number from 0.00 to 1.00, or pinned, critical, important, notable, minor or hint."
WHAT = f"Name a weight and a passage: {RELAY} session keepit 0.80 the gate code is 4711"


@session.command()
def keepits(
    number: Annotated[int | None, typer.Option("--session", help="Only this session's, by its id.")] = None,
    offset: Offset = 0,
    chat: Chat = None,
    topic: Topic = 0,
    as_json: AsJson = False,
) -> None:
    """List what is marked in a conversation, the most important first."""

    async def listed(ctx: ChatContext) -> KeepitPage:
        from relay.commands.contexts.keepit import keepits as list_keepits

        return await list_keepits(ctx, number, offset, PAGE)

    run(Where(chat, topic, as_json), listed, _listed)


@session.command()
def keepit(
    weight: Annotated[
        str, typer.Argument(help="0.00 to 1.00, or pinned, critical, important, notable, minor, hint.")
    ] = "",
    passage: Annotated[
        list[str] | None, typer.Argument(help="Words that were said, as in the newest message with them.")
    ] = None,
    of: Marker = "",
    remove: Annotated[bool, typer.Option("--remove", help="Remove that marker.")] = False,
    chat: Chat = None,
    topic: Topic = 0,
    as_json: AsJson = False,
) -> None:
    """Mark a passage of the running conversation. With --of, show, weigh or remove a marker."""
    where = Where(chat, topic, as_json)
    if of and not weight and not remove:
        run(where, lambda ctx: _opened(ctx, of), _card)
    else:
        run(where, lambda ctx: _changed(ctx, weight, " ".join(passage or []), of, remove), _told)


async def _opened(ctx: ChatContext, of: str) -> OpenedKeepit:
    from relay.commands.contexts.keepit import open_keepit

    return await open_keepit(ctx, _id(of))


async def _changed(ctx: ChatContext, weight: str, passage: str, of: str, remove: bool) -> KeepitChange:
    from relay.commands.contexts.keepit import Passage, keep_passage, remove_keepit, weigh_keepit
    from relay.memory.contexts.markers import read_weight

    if of and remove:
        return await remove_keepit(ctx, _id(of))
    found = read_weight(weight)
    if found is None and weight and of:
        raise CommandRefused(WEIGHT)
    if found is None or remove or not (of or passage):
        raise CommandRefused(WHAT)
    if of:
        return await weigh_keepit(ctx, _id(of), found)
    return await keep_passage(ctx, Passage(text=passage), found)


def _id(of: str) -> int:
    return parse_number(of.lower().removeprefix("p")) or 0


def _listed(ctx: ChatContext, page: KeepitPage) -> str:
    if not page.total:
        return f"Nothing is marked here yet. For example: {RELAY} session keepit 0.80 the gate code is 4711"
    lines = [_line(one) for one in page.keepits]
    return "\n".join([*lines, f"{len(lines):,} of {page.total:,}. `{RELAY} session keepit --of p7` shows one."])


def _card(ctx: ChatContext, found: OpenedKeepit) -> str:
    from relay.surfaces.chat.contexts.marker_buttons import ListKeepits
    from relay.surfaces.chat.contexts.markers.pages import card
    from relay.surfaces.cli.memory.group import plain

    return plain(card(ctx, found, ListKeepits(0, 0)).text)


def _told(ctx: ChatContext, done: KeepitChange) -> str:
    from relay.commands.contexts.keepit import require_marker

    one = require_marker(done)
    return f"{'Removed' if one.removed else 'Kept'} {_line(one)}"


def _line(one: Keepit) -> str:
    from relay.surfaces.chat.contexts.markers.weights import weight_in_words

    return f"p{one.id} {weight_in_words(one.weight)}: {shorten(one.content, 120)}"
