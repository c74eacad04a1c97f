"""`relay memory erase`: shows what it would erase, and erases it."""

from __future__ import annotations

import sys

from relay.commands.memory import erase as commands
from relay.core.errors import DatabaseError, SettingsError
from relay.core.frozen import frozen
from relay.core.limits import ERASE_LETTERS
from relay.core.program import RELAY
from relay.core.settings import Settings
from relay.core.text import pluralize
from relay.memory.intents import is_long_enough
from relay.memory.rows.upkeep.erasure import ErasePreview, ErasureStep
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.memory.erase import CLEARED, counts, query_of, remaining
from relay.surfaces.cli.output import print_json
from relay.surfaces.cli.terminal.keyboard import read_line
from relay.surfaces.cli.terminal.messenger import name_commands
from relay.surfaces.cli.terminal.once import open_desk


@frozen
class EraseResult:
    """What `relay memory erase --json` prints."""

    found: ErasePreview | None
    erased: ErasureStep | None
    cleared: bool
    """Whether the database's files were rewritten."""
    backups_removed: int


async def erase(settings: Settings, text: str, yes: bool, purge: bool, as_json: bool) -> bool:
    """Erases everything in the owner's memory that contains some words, or a memory by its #number.

    Without `yes`, shows what would be erased, and asks at a terminal. Returns whether it erases anything. Raises
    `SettingsError` for too few letters.
    """
    query = query_of(text)
    if isinstance(query, commands.ErasedWords) and not is_long_enough(query.words, ERASE_LETTERS):
        raise SettingsError(f"Write at least {ERASE_LETTERS} letters, or a memory's number: {RELAY} memory erase '#12'")
    async with open_desk(settings, "memory", False) as desk, desk.turn() as ctx:
        found = await commands.preview_erasure(ctx, query)
        if found is not None and not as_json:
            print(f"{counts(found.counts)}:")
            texts = (
                *(row.content for row in found.memories),
                *(row.text for row in found.messages),
                *(row.text for row in found.artefacts),
                *found.preferences,
            )
            for one in texts:
                print(f"- {one}")
            for sentence in remaining(found):
                print(name_commands(sentence))
            if not yes and sys.stdin.isatty():
                yes = await read_line("Type erase to erase it for good: ") == "erase"
        if found is None or not yes:
            said = "Nothing was erased. Add --yes to erase it." if found else "Nothing matches."
            print_json(EraseResult(found, None, False, 0)) if as_json else print(said)
            return False
        await _erase(ctx, found, purge, as_json)
        return True


async def _erase(ctx: ChatContext, found: ErasePreview, purge: bool, as_json: bool) -> None:
    """Erases the content of the preview, and reports it."""
    done = await commands.erase_shown(ctx, found.erasure_id)
    remains = await _remains(ctx) if done.step else ""
    purge = purge and done.step is not None
    if as_json:
        removed = await commands.purge_backups(ctx) if purge else 0
        print_json(EraseResult(found, done.step, bool(done.step) and not remains, removed))
    elif done.step is None:
        print("It has to wait for work in progress, and will be finished afterwards. The backups were not changed.")
    else:
        print(f"Erased for good: {counts(done.step.counts)}. {'' if purge else done.remains or ''}".strip())
        if waiting := done.step.waiting:
            print(f"Messages of the bot that repeat it: {waiting}. `{RELAY} run` deletes them.")
        print(remains or CLEARED)
        if purge:
            print(f"{pluralize(await commands.purge_backups(ctx), 'backup')} removed.")


async def _remains(ctx: ChatContext) -> str:
    """Rewrites the database's files. Says where erased content may remain; empty if nowhere."""
    try:
        return await commands.clear_files(ctx)
    except DatabaseError as error:
        return f"The database's files could not be rewritten ({error}). The bot tries again tonight."
