"""`relay preferences`: as /preferences in the chat, and `signal`, by which programs report acts."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from relay.surfaces.cli.chat_commands import run_command_line
from relay.surfaces.cli.command_list import Commands, VerbCommand
from relay.surfaces.cli.memory.group import run
from relay.surfaces.cli.output import AsJson

USAGE = "[prefer|avoid <words> | show <n> | forget <words> | on | off | pause 2h | here … | reset]"


class Words(Commands):
    """The command group. Words that aren't one of its commands are passed to /preferences."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Returns the command that the first word names, else the one that takes all words."""
        known = args and args[0] in self.commands
        return super().resolve_command(ctx, args if known else ["list", *args])


preferences = typer.Typer(
    cls=Words,
    invoke_without_command=True,
    add_completion=False,
    help="How you like answers, and what taught Relay that.",
    rich_markup_mode=None,
)


@preferences.callback()
def show(ctx: typer.Context, as_json: AsJson = False) -> None:
    """How you like answers, and what taught Relay that."""
    if ctx.invoked_subcommand is None:
        run_command_line("preferences", "", False, as_json)


@preferences.command("list", cls=VerbCommand)
def listed(
    words: list[str] | None = typer.Argument(None, metavar=USAGE),  # noqa: B008 - its own each
    yes: Annotated[bool, typer.Option("--yes", help="Yes to what it asks.")] = False,
    as_json: AsJson = False,
) -> None:
    """List preferences, or change them as in the chat: prefer short answers."""
    run_command_line("preferences", " ".join(words or []), yes, as_json)


@preferences.command()
def signal(
    kind: Annotated[str, typer.Option(help="accept, thumbs, tag, refine, abandon, revert, compare or said.")],
    turn: Annotated[
        int | None, typer.Option(help="Its turn: of compare the chosen answer's, of revert the one's back.")
    ] = None,
    up: Annotated[bool, typer.Option("--up/--down", help="Approval, or prefer; else disapproval, or avoid.")] = True,
    words: Annotated[str, typer.Option(help="The tags, the pattern, or your own version.")] = "",
    over: Annotated[int | None, typer.Option(help="compare, revert: the turn of the other answer.")] = None,
    reason: Annotated[list[str] | None, typer.Option(help="compare: shorter, clearer, tone, form or facts.")] = None,
    how: Annotated[str, typer.Option(help="abandon: stop or again.")] = "again",
    as_json: AsJson = False,
) -> None:
    """Report an act that says something about an answer."""
    from relay.commands.preferences.feedback import Signal
    from relay.commands.preferences.feedback import signal as take

    one = Signal(kind, turn, up, words, over, tuple(reason or ()), how)  # type: ignore[arg-type]
    run(lambda ctx: take(ctx, one), lambda _, done: "Noted." if done.id else "", as_json)
