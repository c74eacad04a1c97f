"""`relay preferences`: as /preferences in the chat, and `signal`, by which programs report acts."""

from __future__ import annotations

from typing import Annotated

import typer

from relay.commands.preferences import preferences as commands
from relay.commands.preferences.feedback import Signal
from relay.commands.preferences.feedback import signal as take
from relay.core.errors import SettingsError
from relay.core.program import RELAY
from relay.core.text import pluralize
from relay.memory.rows.turns.preferences import FeedbackResult, Preferences
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.preferences.preferences import read_here
from relay.surfaces.cli.chat_commands import YES, chat_command, spelled
from relay.surfaces.cli.command_list import make_group
from relay.surfaces.cli.memory.group import confirm_reset
from relay.surfaces.cli.owner import owner_command

USAGE = "[prefer|avoid <words> | show <n> | on | off | pause 2h]"


preferences = make_group("How you like answers, and what taught Relay that.", "list")
preferences.command("list", help="List preferences, or change them as in the chat: prefer short answers.")(
    chat_command("preferences", spelled(USAGE), YES)
)


@preferences.command()
@owner_command(lambda _, done: f"Forgot: {', '.join(one.pattern for one in done.forgotten)}.")
async def forget(
    ctx: ChatContext,
    words: list[str],
    yes: Annotated[bool, typer.Option("--yes", help="Forget all that match.")] = False,
) -> commands.ForgottenPreferences:
    """Forget the preference with these words, or all that contain them."""
    found = await commands.find_preferences(ctx, " ".join(words))
    if len(found) > 1 and not yes:
        listed = ", ".join(f"{row.pattern}{' (in this chat)' * row.here}" for row in found)
        raise SettingsError(f"{len(found)} preferences match: {listed}. Name one, or add --yes to forget all.")
    return await commands.forget_preferences(ctx, [row.id for row in found])


@preferences.command()
@owner_command(lambda _, done: f"Forgot all {pluralize(done.forgotten, 'preference')}.")
async def reset(
    ctx: ChatContext,
    number: Annotated[
        int,
        typer.Option("--yes", show_default=False, help="The number of preferences, to confirm that all are forgotten."),
    ] = -1,
) -> commands.ResetPreferences:
    """Forget all preferences. Needs --yes with their number."""
    known = (await commands.list_preferences(ctx)).known
    how = f"{RELAY} preferences reset --yes {known}"
    confirm_reset(known, number, f"That would forget {pluralize(known, 'preference')}. To confirm: {how}")
    return await commands.reset_preferences(ctx, known)


@preferences.command()
@owner_command(lambda _, done: "Noted." if done.id else "")
async def signal(
    ctx: ChatContext,
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
) -> FeedbackResult:
    """Report an act that says something about an answer."""
    return await take(ctx, Signal(kind, turn, up, words, over, tuple(reason or ()), how))  # type: ignore[arg-type]


@preferences.command()
@owner_command(lambda _, now: f"Preferences in this conversation: {now.here}.", anywhere=True)
async def here(ctx: ChatContext, to: Annotated[str, typer.Argument(help="use, ignore, quiet or own.")]) -> Preferences:
    """Set what one conversation does with preferences: use or ignore them, teach none, or keep its own."""
    return await commands.switch_preferences(ctx, read_here(to))
