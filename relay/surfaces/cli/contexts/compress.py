"""`relay session compress` and `relay session download`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from relay.commands.contexts.compress import CompressionPreview, make_version
from relay.commands.contexts.compress import compress as compress_command
from relay.commands.contexts.version_file import version_file
from relay.commands.contexts.versions import read_version
from relay.commands.contexts.wish import Wish, adjust, read_wish
from relay.core.errors import CommandRefused
from relay.core.private_files import write_atomically
from relay.core.text import pluralize
from relay.memory.contexts.settings import read_settings
from relay.memory.rows.contexts.versions import OpenedVersion, Version
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.contexts.compress import preview_text
from relay.surfaces.cli.contexts.session import session, version_id
from relay.surfaces.cli.output import AsJson
from relay.surfaces.cli.owner import Chat, Topic, owner_command, plain, run
from relay.surfaces.cli.parameters import read_folder
from relay.surfaces.cli.where import Where

Folder = Annotated[
    Path | None, typer.Option("--to", parser=read_folder, help="Write its .md and .jsonl into this folder, too.")
]
Id = Annotated[str, typer.Argument(help="Its id: 34 or '#34'.", metavar="<version>")]


@session.command()
def compress(
    words: Annotated[
        list[str] | None, typer.Argument(help="Like /compress in the chat: standard 2, or 30:1 moderate.")
    ] = None,
    tiers: Annotated[str, typer.Option(help="Your own tiers: 25=25:1, 75=10:1, 100=3:1 light.")] = "",
    skip: Annotated[int, typer.Option(min=0, max=10_000, help="Keep this many of the first messages unchanged.")] = 0,
    markers: Annotated[str, typer.Option(help="decay, preserve-all or ignore.")] = "",
    model: Annotated[str, typer.Option(help="small, big or none.")] = "",
    distance: Annotated[
        int, typer.Option(min=0, help="Treat it as this many sessions old. 1: the latest; 0: its real place.")
    ] = 0,
    source: Annotated[str, typer.Option("--from", help="Make it from this version, by its id: '#34'.")] = "",
    to: Folder = None,
    yes: Annotated[bool, typer.Option("--yes", help="Make it. Otherwise, only show what it would be.")] = False,
    chat: Chat = None,
    topic: Topic = 0,
    as_json: AsJson = False,
) -> None:
    """Make a shorter version of a session. Without --yes, show what it would be, and exit with 1."""
    change = partial(adjust, skip=skip, markers=markers, model=model, distance=distance, tiers=tiers)

    async def preview(ctx: ChatContext) -> CompressionPreview:
        if to is not None and not yes:
            raise CommandRefused("--to writes a version that was made. Add --yes to make it.")
        change({})  # refuses wrong options first
        start = version_id(source) if source else None
        first = await compress_command(ctx, read_wish(" ".join(words or [])), None, start)
        return await compress_command(ctx, Wish(settings=change(first.settings)), first.session_id, start)

    async def make(ctx: ChatContext) -> Version:
        found = await preview(ctx)
        done = await make_version(ctx, found.session_id, read_settings(found.settings), found.source_id)
        if done.version is None or done.outcome != "ready":
            raise CommandRefused(f"{done.detail or 'It is not ready yet.'} --model none makes it without a model.")
        if to is not None:
            write(ctx, await read_version(ctx, done.version.id), to)
        return done.version

    where = Where(chat, topic)
    if yes:
        run(make, lambda _, one: version_line(one), as_json, where)
    else:
        run(
            preview,
            lambda _, found: f"{plain(preview_text(found))}\n\nNothing was made. Add --yes to make it.",
            as_json,
            where,
        )
        raise typer.Exit(1)


@session.command()
@owner_command(lambda _, paths: "\n".join(map(str, paths)), anywhere=True)
async def download(
    ctx: ChatContext,
    version: Id,
    to: Annotated[Path, typer.Option("--to", parser=read_folder, help="The folder.")] = Path(),
) -> list[Path]:
    """Write a version as a text and as data (.md and .jsonl), under its name."""
    return write(ctx, await read_version(ctx, version_id(version)), to)


def write(ctx: ChatContext, opened: OpenedVersion, folder: Path) -> list[Path]:
    """Writes a version's two files; files of the same name are replaced. Raises `FileRefused`."""
    formats: tuple[Literal["md", "jsonl"], ...] = ("md", "jsonl")
    files = [version_file(opened, format, ctx.zone) for format in formats]
    for file in files:
        with write_atomically(folder / file.name, replace=True) as opened_file:
            opened_file.write(file.whole())
    return [folder / file.name for file in files]


def version_line(one: Version) -> str:
    """Describes a version that was made."""
    return (
        f"{one.id} {one.name}: {one.input_tokens:,} tokens became {one.output_tokens or 0:,} ({one.ratio}:1), "
        f"{pluralize(one.keepit.preserved, 'marker')} kept, {one.keepit.summarized} summarised"
    )
