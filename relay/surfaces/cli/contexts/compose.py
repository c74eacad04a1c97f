"""`relay compose …`: compositions in the shell; with --json, for programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from relay.core.errors import CommandRefused
from relay.core.limits import COMPOSED_BUDGET, LEAST_BUDGET, MOST_BUDGET
from relay.core.private_files import write_atomically
from relay.core.text import parse_number, pluralize
from relay.memory.rows.contexts.composition import ComposeRequest, Format, PartAsked, Strategy
from relay.surfaces.cli.chat_commands import run_command_line
from relay.surfaces.cli.command_list import Commands, VerbCommand
from relay.surfaces.cli.contexts.session import AsJson, Chat, Topic, Where, run
from relay.surfaces.cli.memory.group import plain

if TYPE_CHECKING:
    from relay.commands.contexts.composition import UsedComposition
    from relay.memory.rows.contexts.composition import Composition, CompositionPage, DroppedComposition
    from relay.surfaces.chat.context import ChatContext

Name = Annotated[str, typer.Argument(help="Its name.")]


class Words(Commands):
    """The command group. Words that aren't one of its commands are passed to /compose."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Returns the command that the first word names, else the one that takes all words."""
        known = args and args[0] in self.commands
        return super().resolve_command(ctx, args if known else ["choose", *args])


compose = typer.Typer(
    cls=Words,
    invoke_without_command=True,
    add_completion=False,
    help="Put past sessions together for a new start.",
    rich_markup_mode=None,
)


@compose.callback()
def begin(ctx: typer.Context, as_json: AsJson = False) -> None:
    """Choose past sessions and put them together, as /compose does."""
    if ctx.invoked_subcommand is None:
        run_command_line("compose", "", False, as_json)


@compose.command("choose", cls=VerbCommand)
def choose(
    words: list[str] | None = typer.Argument(None, metavar="[name]"),  # noqa: B008 - its own each
    yes: Annotated[bool, typer.Option("--yes", help="Answer its questions with yes.")] = False,
    as_json: AsJson = False,
) -> None:
    """Choose past sessions step by step, as /compose does."""
    run_command_line("compose", " ".join(words or []), yes, as_json)


@compose.command()
def new(
    name: Name,
    session: Annotated[
        list[str], typer.Option("--session", help="ID, ID=original, ID=new or ID=v002; @3000 gives it 3,000 tokens.")
    ],
    budget: Annotated[str, typer.Option(help=f"Tokens, {LEAST_BUDGET:,} to {MOST_BUDGET:,}: 16000, 8.5k.")] = str(
        COMPOSED_BUDGET
    ),
    strategy: Annotated[str, typer.Option(help="equal, recency or proportional.")] = "equal",
    form: Annotated[str, typer.Option("--format", help="markdown, jsonl or both.")] = "both",
    in_order: Annotated[
        bool, typer.Option("--in-order", help="Keep the order given, instead of ordering by time.")
    ] = False,
    chat: Chat = None,
    topic: Topic = 0,
    as_json: AsJson = False,
) -> None:
    """Compose sessions, by their ids; missing versions are made first."""

    async def made(ctx: ChatContext) -> Composition:
        from relay.commands.contexts.composition import compose as compose_sessions
        from relay.commands.contexts.draft import read_budget

        tokens = read_budget(budget) or 0
        request = ComposeRequest(
            name, tuple(map(part, session)), tokens, one_of(strategy, Strategy), one_of(form, Format), in_order
        )
        return await compose_sessions(ctx, request)

    run(Where(chat, topic, as_json), made, lambda _, one: told(one))


@compose.command("list")
def listed(chat: Chat = None, topic: Topic = 0, as_json: AsJson = False) -> None:
    """List compositions, those of the chat first."""

    async def found(ctx: ChatContext) -> CompositionPage:
        from relay.commands.contexts.composition import space_compositions

        return await space_compositions(ctx)

    def lines(_: ChatContext, page: CompositionPage) -> str:
        if not page.total:
            return "There are no compositions yet."
        return "\n".join([*map(line, page.compositions), f"{len(page.compositions)} of {page.total}"])

    run(Where(chat, topic, as_json), found, lines)


@compose.command()
def show(name: Name, chat: Chat = None, topic: Topic = 0, as_json: AsJson = False) -> None:
    """Show a composition and its parts; with --json, its text too."""

    async def found(ctx: ChatContext) -> Composition:
        from relay.commands.contexts.composition import composition_named

        return await composition_named(ctx, name, rows=True)

    run(Where(chat, topic, as_json), found, lambda _, one: told(one))


@compose.command()
def use(name: Name, chat: Chat = None, topic: Topic = 0, as_json: AsJson = False) -> None:
    """Begin a new conversation with a composition."""

    async def used(ctx: ChatContext) -> UsedComposition:
        from relay.commands.contexts.composition import composition_named, use_composition

        return await use_composition(ctx, (await composition_named(ctx, name)).id)

    def lines(_: ChatContext, done: UsedComposition) -> str:
        from relay.surfaces.chat.contexts.composition import describe_begun

        return plain(describe_begun(done).text)

    run(Where(chat, topic, as_json), used, lines)


@compose.command()
def drop(
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", help="Confirm that it may be dropped.")] = False,
    chat: Chat = None,
    topic: Topic = 0,
    as_json: AsJson = False,
) -> None:
    """Drop a composition; its sessions and their versions stay."""

    async def dropped(ctx: ChatContext) -> DroppedComposition:
        from relay.commands.contexts.composition import composition_named, drop_asks, drop_composition

        one = await composition_named(ctx, name)
        if drop_asks(ctx, one) and not yes:
            raise CommandRefused("Nothing was done. Add --yes to confirm.")
        return await drop_composition(ctx, one.id)

    run(Where(chat, topic, as_json), dropped, lambda _, done: f"Dropped {done.name}.")


@compose.command()
def export(
    name: Name,
    path: Annotated[Path | None, typer.Argument(help="The file. By default, it has the composition's name.")] = None,
    chat: Chat = None,
    topic: Topic = 0,
    as_json: AsJson = False,
) -> None:
    """Write a composition to a zip: composed.md, composed.jsonl and composition.json."""

    async def written(ctx: ChatContext) -> dict[str, str]:
        from relay.commands.contexts.composition import composition_named, export_composition

        file = await export_composition(ctx, (await composition_named(ctx, name)).id)
        target = path or Path(file.name)
        with write_atomically(target, replace=True) as opened:
            opened.write(file.whole())
        return {"path": str(target)}

    run(Where(chat, topic, as_json), written, lambda _, done: f"Written to {done['path']}.")


def part(text: str) -> tuple[int, PartAsked]:
    """Parses a session of the command line: 12, 12=v002, 12@3000, 12=new@3000."""
    from relay.commands.contexts.draft import read_budget

    asked, _, tokens = text.partition("@")
    session, _, version = asked.partition("=")
    number, allocation = parse_number(session.strip()), read_budget(tokens)
    if number is None or (tokens and allocation is None):
        raise CommandRefused(f"{text} isn't a session. For example: 12, 12=v002 or 12@3000")
    return number, PartAsked(version.strip() or None, allocation)


def one_of(word: str, choices: Any) -> Any:
    """Returns the word if it is one of the choices. Raises `CommandRefused` otherwise."""
    known = choices.__args__
    if word not in known:
        raise CommandRefused(f"{word} isn't one of {', '.join(known)}.")
    return word


def told(one: Composition) -> str:
    """Describes a composition."""
    from relay.surfaces.chat.contexts.composition import composed_page

    return plain(composed_page(one).text)


def line(one: Composition) -> str:
    """Describes a composition on one line."""
    total = "" if one.total_tokens is None else f"{one.total_tokens:,} of "
    return f"{one.id} {one.name} · {one.status} · {pluralize(len(one.parts), 'session')} · {total}{one.budget:,} tokens"
