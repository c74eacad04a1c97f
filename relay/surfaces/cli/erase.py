"""`relay memory erase`: shows what would go, and takes it away."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from pydantic import TypeAdapter

from relay.archive.backup_purge import Leftovers
from relay.core.errors import DatabaseError, SettingsError
from relay.core.models import Space
from relay.core.program import RELAY
from relay.core.settings import Settings
from relay.core.text import pluralize
from relay.memory.erasure import erased, remove_files
from relay.memory.people import People
from relay.memory.rows.erasure import ErasePreview, ErasureStep
from relay.runtime.app import make_leftovers, open_relay
from relay.surfaces.chat.memory.erase import CLEARED, LETTERS, counts, query_of
from relay.surfaces.cli.terminal.keyboard import typed


async def _remains(leftovers: Leftovers) -> str:
    """Writes the database's files anew: where what was erased still may be, in words; empty: nowhere."""
    try:
        return await leftovers.clear()
    except DatabaseError as error:
        return f"The database's files could not be written anew ({error}). The coming night tries it again."


@dataclass(frozen=True, slots=True)
class EraseResult:
    """What `relay memory erase --json` prints."""

    found: ErasePreview | None
    erased: ErasureStep | None
    cleared: bool
    """The database's files were written anew."""
    backups_removed: int


async def erase(settings: Settings, text: str, yes: bool, purge: bool, as_json: bool) -> None:
    """Erases what of the owner's memory has some words, or a memory by its #number.

    Without `yes` it is shown, and at a terminal asked. Raises `SettingsError` for words that are too few.
    """
    query = query_of(text)
    if query is None:
        raise SettingsError(f"Write at least {LETTERS} letters, or a memory's number: {RELAY} memory erase '#12'")
    async with open_relay(settings) as relay:
        people = People(settings.admins)
        await people.refresh(relay.store)
        owner = people.owner
        leftovers = make_leftovers(relay)
        found = await relay.store.erase_preview(Space("private", owner_id=owner), query, owner, True)
        if found is not None and not as_json:
            print(f"{counts(found.counts)}:")
            for text in (*(one.content for one in found.memories), *(one.text for one in found.messages)):
                print(f"- {text}")
        if found is not None and not yes and not as_json and sys.stdin.isatty():
            yes = await typed("Type erase to erase it for good: ") == "erase"
        begun = found is not None and yes and await relay.store.erase_begin(found.erasure_id, owner, True)
        done = None
        if found is not None and begun:
            done = await erased(relay.store, found.erasure_id)
            await remove_files(relay.store, leftovers.keeper)
        remains = await _remains(leftovers) if done else ""
        removed = (await leftovers.purge())[1] if done and purge else 0
        if as_json:
            result = EraseResult(found, done, bool(done) and not remains, removed)
            print(TypeAdapter(EraseResult).dump_json(result, indent=2).decode())
        elif found is None:
            print("There is nothing like that.")
        elif begun and done is None:
            print("It is being erased by another process, and goes on by itself.")
            if purge:
                print(f"The backups were left alone. {leftovers.told()}")
        elif done is None:
            print("Nothing was erased. With --yes it is.")
        else:
            print(f"Erased for good. {f'{removed} backups removed.' if purge else leftovers.told()}")
            if done.waiting:
                print(f"{pluralize(done.waiting, 'message')} of the bot's repeat it: `relay run` takes them back.")
            print(remains or CLEARED)
