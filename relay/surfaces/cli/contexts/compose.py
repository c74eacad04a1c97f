"""`relay compose …`: compositions in the shell; with --json, for programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from relay.commands.contexts import composition as commands
from relay.commands.contexts.draft import read_budget
from relay.core.errors import CommandRefused, OutOfRange
from relay.core.limits import COMPOSED_BUDGET, LEAST_BUDGET, MOST_BUDGET
from relay.core.private_files import write_atomically
from relay.core.text import parse_number, pluralize
from relay.memory.rows.contexts.composition import (
    ComposeRequest,
    Composition,
    CompositionPage,
    DroppedComposition,
    Format,
    PartAsked,
    Strategy,
)
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.contexts.composition import composed_page, describe_begun
from relay.surfaces.cli.chat_commands import YES, chat_command, spelled
from relay.surfaces.cli.command_list import make_group
from relay.surfaces.cli.contexts.session import find
from relay.surfaces.cli.owner import owner_command, plain
from relay.surfaces.cli.parameters import read_file_path

Name = Annotated[str, typer.Argument(help="Its name.")]


compose = make_group("Put past sessions together to begin a new one.", "choose")
compose.command("choose", help="Choose past sessions step by step, as /compose does.")(
    chat_command("compose", spelled("[name]"), YES, anywhere=True)
)


def _describe(_: ChatContext, one: Composition) -> str:
    return plain(composed_page(one).text)


@compose.command()
@owner_command(_describe, anywhere=True)
async def new(
    ctx: ChatContext,
    name: Name,
    session: Annotated[
        list[str],
        typer.Option(
            "--session",
            help="Its number in the list, or its id: #12. 2=original, 2=new or 2=v002 says what to use of it; "
            "2@3000 gives it 3,000 tokens.",
        ),
    ],
    budget: Annotated[str, typer.Option(help=f"Tokens, {LEAST_BUDGET:,} to {MOST_BUDGET:,}: 16000, 8.5k.")] = str(
        COMPOSED_BUDGET
    ),
    strategy: Annotated[str, typer.Option(help="equal, recency or proportional.")] = "equal",
    form: Annotated[str, typer.Option("--format", help="markdown, jsonl or both.")] = "both",
    in_order: Annotated[
        bool, typer.Option("--in-order", help="Keep the order given, instead of ordering by time.")
    ] = False,
) -> Composition:
    """Compose sessions under a name; missing versions are made first."""
    tokens, how, what = read_budget(budget) or 0, one_of(strategy, Strategy), one_of(form, Format)
    request = ComposeRequest(name, tuple([await part(ctx, one) for one in session]), tokens, how, what, in_order)
    return await commands.compose(ctx, request)


def _list(_: ChatContext, page: CompositionPage) -> str:
    if not page.total:
        return "There are no compositions yet."
    return "\n".join([*map(line, page.compositions), f"{len(page.compositions)} of {page.total}"])


@compose.command("list")
@owner_command(_list, anywhere=True)
async def listed(ctx: ChatContext) -> CompositionPage:
    """List compositions, those of the chat first."""
    return await commands.space_compositions(ctx)


@compose.command()
@owner_command(_describe, anywhere=True)
async def show(ctx: ChatContext, name: Name) -> Composition:
    """Show a composition and its parts; with --json, its text too."""
    return await commands.composition_named(ctx, name, rows=True)


@compose.command()
@owner_command(lambda _, done: plain(describe_begun(done).text), anywhere=True)
async def use(ctx: ChatContext, name: Name) -> commands.UsedComposition:
    """Begin a new conversation with a composition."""
    return await commands.use_composition(ctx, (await commands.composition_named(ctx, name)).id)


@compose.command()
@owner_command(lambda _, done: f"Dropped {done.name}.", anywhere=True)
async def drop(
    ctx: ChatContext,
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", help="Confirm that it may be dropped.")] = False,
) -> DroppedComposition:
    """Drop a composition; its sessions and their versions stay."""
    one = await commands.composition_named(ctx, name)
    if commands.drop_asks(ctx, one) and not yes:
        raise CommandRefused("Nothing was done. Add --yes to confirm.")
    return await commands.drop_composition(ctx, one.id)


@compose.command()
@owner_command(lambda _, done: f"Written to {done['path']}.", anywhere=True)
async def export(
    ctx: ChatContext,
    name: Name,
    path: Annotated[
        Path | None, typer.Argument(parser=read_file_path, help="The file. By default, it has the composition's name.")
    ] = None,
) -> dict[str, str]:
    """Write a composition to a zip: composed.md, composed.jsonl and composition.json."""
    file = await commands.export_composition(ctx, (await commands.composition_named(ctx, name)).id)
    target = path or Path(file.name)
    with write_atomically(target, replace=True) as opened:
        opened.write(file.whole())
    return {"path": str(target)}


async def part(ctx: ChatContext, text: str) -> tuple[int, PartAsked]:
    """Reads a session of the command line: 2, #12, 2=v002, 2@3000, #12=new@3000. Returns its id and what to use of
    it."""
    asked, _, tokens = text.partition("@")
    name, _, version = (word.strip() for word in asked.partition("="))
    number, allocation = parse_number(name.removeprefix("#")), read_budget(tokens)
    if number is None or (tokens and allocation is None):
        raise OutOfRange(f"{text} isn't a session. For example: 2, '#12', 2=v002 or 2@3000")
    # An id may be that of another conversation's session, so it is not looked up in this one.
    session_id = number if name.startswith("#") else (await find(ctx, name)).id
    return session_id, PartAsked(version or None, allocation)


def one_of(word: str, choices: Any) -> Any:
    """Returns the word if it is one of the choices. Raises `OutOfRange` otherwise."""
    known = choices.__args__
    if word not in known:
        raise OutOfRange(f"{word} isn't one of {', '.join(known)}.")
    return word


def line(one: Composition) -> str:
    """Describes a composition on one line."""
    total = "" if one.total_tokens is None else f"{one.total_tokens:,} of "
    return f"{one.id} {one.name} · {one.status} · {pluralize(len(one.parts), 'session')} · {total}{one.budget:,} tokens"
