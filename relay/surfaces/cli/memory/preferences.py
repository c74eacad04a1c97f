"""`relay preferences`: as /preferences in the chat, and `signal`, by which programs report acts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from relay.core.errors import CommandRefused, SettingsError
from relay.core.program import RELAY
from relay.core.text import pluralize
from relay.surfaces.cli.chat_commands import run_command_line
from relay.surfaces.cli.command_list import Commands, VerbCommand
from relay.surfaces.cli.memory.group import run
from relay.surfaces.cli.output import AsJson

if TYPE_CHECKING:
    from relay.commands.preferences.preferences import ForgottenPreferences, ResetPreferences
    from relay.surfaces.chat.context import ChatContext

USAGE = "[prefer|avoid <words> | show <n> | on | off | pause 2h]"


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
    yes: Annotated[bool, typer.Option("--yes", help="Answer its questions with yes.")] = False,
    as_json: AsJson = False,
) -> None:
    """List preferences, or change them as in the chat: prefer short answers."""
    run_command_line("preferences", " ".join(words or []), yes, as_json)


@preferences.command()
def forget(
    words: list[str],
    yes: Annotated[bool, typer.Option("--yes", help="Forget all that match.")] = False,
    as_json: AsJson = False,
) -> None:
    """Forget the preference with these words, or all that contain them."""

    async def forget_found(ctx: ChatContext) -> ForgottenPreferences:
        from relay.commands.preferences.preferences import find_preferences, forget_preferences

        found = await find_preferences(ctx, " ".join(words))
        if len(found) > 1 and not yes:
            listed = ", ".join(f"{row.pattern}{' (in this chat)' * row.here}" for row in found)
            raise SettingsError(f"{len(found)} preferences match: {listed}. Name one, or add --yes to forget all.")
        return await forget_preferences(ctx, [row.id for row in found])

    run(forget_found, lambda _, done: f"Forgot: {', '.join(one.pattern for one in done.forgotten)}.", as_json)


@preferences.command()
def reset(
    number: Annotated[
        int, typer.Option("--yes", help="The number of preferences, to confirm that all are forgotten.")
    ] = -1,
    as_json: AsJson = False,
) -> None:
    """Forget all of them. Needs --yes with their number."""

    async def forget_all(ctx: ChatContext) -> ResetPreferences:
        from relay.commands.preferences.preferences import list_preferences, reset_preferences

        known = (await list_preferences(ctx)).known
        if not known:
            raise CommandRefused("There is nothing to forget.")
        if number != known:
            how = f"{RELAY} preferences reset --yes {known}"
            raise SettingsError(f"Relay knows {pluralize(known, 'preference')}. To forget everything: {how}")
        return await reset_preferences(ctx, known)

    run(forget_all, lambda _, done: f"Forgot all {pluralize(done.forgotten, 'preference')}.", as_json)


@preferences.command()
def signal(
    kind: Annotated[str, typer.Option(help="accept, thumbs, tag, refine, abandon, revert, compare or said.")],
    turn: Annotated[
        int | None,
        typer.Option(
            help="The answer's turn. For compare, the chosen one; for revert, the one brought back.",
            min=1,
            max=2**63 - 1,
        ),
    ] = None,
    up: Annotated[bool, typer.Option("--up/--down", help="Approve (or prefer), or disapprove (or avoid).")] = True,
    words: Annotated[str, typer.Option(help="The tags, the pattern, or your own version.")] = "",
    over: Annotated[
        int | None, typer.Option(help="For compare and revert: the turn of the other answer.", min=1, max=2**63 - 1)
    ] = None,
    reason: Annotated[
        list[str] | None, typer.Option(help="For compare: shorter, clearer, tone, form or facts.")
    ] = None,
    how: Annotated[str, typer.Option(help="For abandon: stop or again.")] = "again",
    as_json: AsJson = False,
) -> None:
    """Report an act that says something about an answer."""
    from relay.commands.preferences.feedback import Signal
    from relay.commands.preferences.feedback import signal as take

    one = Signal(kind, turn, up, words, over, tuple(reason or ()), how)  # type: ignore[arg-type]
    run(lambda ctx: take(ctx, one), lambda _, done: "Noted." if done.id else "", as_json)
