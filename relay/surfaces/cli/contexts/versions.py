"""`relay session versions`, `compare` and `prune`."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from relay.commands.contexts.pruning import PruningPlan, plan_pruning, restore_versions
from relay.commands.contexts.pruning import prune as prune_command
from relay.commands.contexts.versions import all_versions, compare_versions, list_versions, versions_named
from relay.core.errors import CommandRefused
from relay.core.program import RELAY
from relay.core.text import pluralize
from relay.memory.rows.contexts.versions import ComparedVersions, VersionPage
from relay.memory.rows.contexts.versions import Version as VersionRow
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.contexts.comparison import comparison
from relay.surfaces.chat.times import day
from relay.surfaces.cli.contexts.session import Name, Offset, find, session, version_id
from relay.surfaces.cli.output import AsJson
from relay.surfaces.cli.owner import PAGE, Chat, Topic, owner_command, plain, run
from relay.surfaces.cli.where import Where

STATES = {"due": "being made", "failed": "couldn't be made"}
Version = Annotated[str, typer.Argument(help="Its number or name: v002.")]


def _line(ctx: ChatContext, one: VersionRow) -> str:
    said = [f"#{one.id}", one.name, STATES.get(one.status, one.status)]
    said += [pluralize(one.tokens, "token")] if one.status == "ready" else []
    said.append(day(one.created_at, ctx.zone))
    said += [f"used {day(one.last_used_at, ctx.zone)}"] if one.last_used_at else []
    said += [f"in {', '.join(one.compositions)}"] if one.compositions else []
    return " · ".join([*said, *(["in use"] if one.active else [])])


def _list(ctx: ChatContext, page: VersionPage) -> str:
    found = [_line(ctx, one) for one in page.versions]
    return "\n".join([*found, f"{len(found)} of {page.total}"])


@session.command()
@owner_command(_list, anywhere=True)
async def versions(ctx: ChatContext, name: Name, offset: Offset = 0) -> VersionPage:
    """List a session's compressed versions, newest first."""
    return await list_versions(ctx, (await find(ctx, name)).id, offset, PAGE)


def _compare(_: ChatContext, found: ComparedVersions) -> str:
    text, file = comparison(found)
    return plain(text if file is None else file.whole().decode())


@session.command()
@owner_command(_compare, anywhere=True)
async def compare(ctx: ChatContext, name: Name, one: Version, other: Version) -> ComparedVersions:
    """Show two versions of a session side by side, with the words that differ."""
    a, b = await versions_named(ctx, (await find(ctx, name)).id, (one, other))
    return await compare_versions(ctx, a.id, b.id)


@session.command()
def prune(
    name: Name,
    which: Annotated[list[str], typer.Argument(help="Their numbers or names: v001 v002.", metavar="<version>…")],
    yes: Annotated[bool, typer.Option("--yes", help="Drop them. Otherwise, only show them.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Drop even those that a running conversation uses.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Bring back what was pruned, by the id that was shown.")] = False,
    chat: Chat = None,
    topic: Topic = 0,
    as_json: AsJson = False,
) -> None:
    """Drop versions of a session. The original stays, and compositions keep their text."""

    async def pruned(ctx: ChatContext) -> list[VersionRow]:
        own = (await find(ctx, name)).id
        if undo:
            ids = [version_id(one) for one in which]
            back = {one.id for id in ids for one in await restore_versions(ctx, id)}
            return [one for one in await all_versions(ctx, own) if one.id in back]
        ids = [one.id for one in await versions_named(ctx, own, which)]
        require_yes(ctx, await plan_pruning(ctx, own, ids), yes)
        return list(await prune_command(ctx, ids, force))

    def lines(ctx: ChatContext, found: list[VersionRow]) -> str:
        if undo:
            return "\n".join(["Restored:", *(_line(ctx, one) for one in found)])
        place = "" if chat is None else f" --chat {chat}" + (f" --topic {topic}" if topic else "")
        again = f"{RELAY} session prune {shlex.quote(name)} {found[0].id} --undo{place}"
        return "\n".join(
            ["Pruned:", *(_line(ctx, one) for one in found), f"To bring them back within ten minutes: {again}"]
        )

    run(pruned, lines, as_json, Where(chat, topic))


def require_yes(ctx: ChatContext, plan: PruningPlan, yes: bool) -> None:
    """Raises `CommandRefused`, which says what would be dropped, if the plan needs a yes."""
    if plan.asks and not yes:
        found = [_line(ctx, one) for one in plan.versions]
        raise CommandRefused("\n".join([*found, "Nothing was pruned. Add --yes to drop these."]))
