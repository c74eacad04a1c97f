"""`relay session compress` and `relay session download`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from relay.core.errors import CommandRefused
from relay.core.frozen import frozen
from relay.core.text import pluralize
from relay.surfaces.cli.contexts.session import AsJson, Chat, Topic, Where, run, session, version_id
from relay.surfaces.cli.memory.group import plain

if TYPE_CHECKING:
    from relay.commands.contexts.compress import CompressionPreview
    from relay.memory.rows.contexts.versions import OpenedVersion, Version
    from relay.surfaces.chat.context import ChatContext

Folder = Annotated[Path | None, typer.Option("--to", help="Write its .md and .jsonl into this folder, too.")]
Id = Annotated[str, typer.Argument(help="Its id: 34 or '#34'.", metavar="VERSION")]


@frozen(kw_only=True)
class Options:
    """The options of `relay session compress`."""

    words: str
    skip: int
    markers: str
    model: str
    distance: int
    tiers: str
    source: str
    """The id of the version to start from; empty: the messages."""
    to: Path | None


@session.command()
def compress(
    words: Annotated[
        list[str] | None, typer.Argument(help="Like /compress in the chat: standard 2, or 30:1 moderate.")
    ] = None,
    tiers: Annotated[str, typer.Option(help="Your own tiers: 25=25:1, 75=10:1, 100=3:1 light.")] = "",
    skip: Annotated[int, typer.Option(min=0, max=10_000, help="Keep this many of the first messages as they are.")] = 0,
    markers: Annotated[str, typer.Option(help="decay, preserve-all or ignore.")] = "",
    model: Annotated[str, typer.Option(help="small, big or none.")] = "",
    distance: Annotated[
        int, typer.Option(min=0, help="Treat it as this session from the latest, which is 1. 0: its real place.")
    ] = 0,
    source: Annotated[str, typer.Option("--from", help="Make it from this version, by its id: '#34'.")] = "",
    to: Folder = None,
    yes: Annotated[bool, typer.Option("--yes", help="Make it. Otherwise, only show what it would be.")] = False,
    chat: Chat = None,
    topic: Topic = 0,
    as_json: AsJson = False,
) -> None:
    """Make a shorter version of a session. Without --yes, show what it would be, and exit with 1."""
    options = Options(
        words=" ".join(words or []), skip=skip, markers=markers, model=model, distance=distance, tiers=tiers,
        source=source, to=to,
    )  # fmt: skip
    where = Where(chat, topic, as_json)
    if yes:
        run(where, lambda ctx: make(ctx, options), lambda _, one: version_line(one))
    else:
        run(where, lambda ctx: show(ctx, options), describe_preview)
        raise typer.Exit(1)


async def show(ctx: ChatContext, options: Options) -> CompressionPreview:
    """Returns the preview of a version that is not made. Raises `CommandRefused` if a folder is given."""
    if options.to is not None:
        raise CommandRefused("--to writes a version that was made. Add --yes to make it.")
    return await preview(ctx, options)


async def preview(ctx: ChatContext, options: Options) -> CompressionPreview:
    """Returns the preview of a version."""
    from relay.commands.contexts.compress import compress as compress_command
    from relay.commands.contexts.wish import Wish, adjust, read_wish

    source = version_id(options.source) if options.source else None
    first = await compress_command(ctx, read_wish(options.words), None, source)
    settings = adjust(
        first.settings, skip=options.skip, markers=options.markers, model=options.model, distance=options.distance,
        tiers=options.tiers,
    )  # fmt: skip
    return await compress_command(ctx, Wish(settings=settings), first.session_id, source)


async def make(ctx: ChatContext, options: Options) -> Version:
    """Makes a version, and writes it into a folder if one is given."""
    from relay.commands.contexts.compress import make_version
    from relay.commands.contexts.versions import read_version
    from relay.memory.contexts.settings import read_settings

    found = await preview(ctx, options)
    done = await make_version(ctx, found.session_id, read_settings(found.settings), found.source_id)
    if done.version is None or done.outcome != "ready":
        raise CommandRefused(f"{done.detail or 'It is not ready yet.'} --model none makes it without a model.")
    if options.to is not None:
        write(ctx, await read_version(ctx, done.version.id), options.to)
    return done.version


@session.command()
def download(
    version: Id,
    to: Annotated[Path, typer.Option("--to", help="The folder.")] = Path(),
    chat: Chat = None,
    topic: Topic = 0,
    as_json: AsJson = False,
) -> None:
    """Write a version as a text and as data (.md and .jsonl), under its name."""

    async def written(ctx: ChatContext) -> list[Path]:
        from relay.commands.contexts.versions import read_version

        return write(ctx, await read_version(ctx, version_id(version)), to)

    run(Where(chat, topic, as_json), written, lambda _, paths: "\n".join(map(str, paths)))


def write(ctx: ChatContext, opened: OpenedVersion, folder: Path) -> list[Path]:
    """Writes a version's two files; files of the same name are replaced. Raises `CommandRefused`."""
    from relay.commands.contexts.version_file import version_file

    formats: tuple[Literal["md", "jsonl"], ...] = ("md", "jsonl")
    files = [version_file(opened, format, ctx.zone) for format in formats]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file in files:
            (folder / file.name).write_bytes(file.whole())
    except OSError as error:
        raise CommandRefused(f"{folder} can't be written: {error.strerror}.") from None
    return [folder / file.name for file in files]


def describe_preview(ctx: ChatContext, found: CompressionPreview) -> str:
    """Renders the preview of a version."""
    from relay.surfaces.chat.contexts.compress import preview_text

    return f"{plain(preview_text(found))}\n\nNothing was made. Add --yes to make it."


def version_line(one: Version) -> str:
    """Describes a version that was made."""
    return (
        f"{one.id} {one.name}: {one.input_tokens:,} tokens became {one.output_tokens or 0:,} ({one.ratio}:1), "
        f"{pluralize(one.keepit.preserved, 'marker')} kept, {one.keepit.summarized} summarised"
    )
