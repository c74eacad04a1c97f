"""Erase means erase: shown first, then taken away for good."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from contextlib import suppress

from relay.archive.backup_purge import OVER_REST
from relay.commands.registry import ADMINS_ONLY
from relay.core.errors import RelayError
from relay.core.text import escape_markdown, parse_number, pluralize, shorten
from relay.memory.erasure import erased, remove_files, retract
from relay.memory.rows.erasure import ErasedCounts, ErasedMessage, ErasePreview, ErasureStep, MessageLeft
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import pressed
from relay.surfaces.chat.links import link_to
from relay.surfaces.chat.reply import NOT_YOURS, ButtonReply, CommandReply, Json, button
from relay.surfaces.chat.times import moment

ASKED = re.compile(r"(?:--|[—–])erase\b\s*", re.IGNORECASE)
"""How a forgetting is asked for that erases; phones make a dash of two hyphens."""
LETTERS = 4
NUMBER = re.compile(r"#([0-9]{1,18})")
CHAT_SECONDS = 20.0
"""So long the chats are cleared before the erasure is reported; the rest follows."""
MOST_LISTED = 12
LAST_WORD = "It cannot be undone. My messages that repeat it go, too; what you wrote in Telegram is yours to delete."
THEIRS = {
    "yours": "What you wrote stays in Telegram until you delete it there:",
    "ours": "Telegram keeps these messages of mine; please delete them:",
    "export": "These exports may hold it, too; delete the files you don't need:",
}
"""What the person has to delete, by its kind."""
TOO_LATE = "That is erased already, was shown too long ago, or is not yours. Ask again: /forget --erase"
AT_NIGHT = "In the database's files the words stay until the coming night: then I write those anew."
CLEARED = "🧹 The database's files are written anew: nothing of what was erased is left in them."


def query_of(text: str) -> dict[str, object] | None:
    """What is to be erased: `{number}` (a memory's) or `{words}`; None when the text is too short to tell."""
    number = NUMBER.fullmatch(text.strip())
    if number is not None:
        return {"number": int(number[1])}
    words = " ".join(text.split())[:200]
    return {"words": words} if sum(c.isalnum() for c in words) >= LETTERS else None


async def preview(call: ChatContext, text: str) -> CommandReply:
    """Shows what an erasure would take."""
    query = query_of(text)
    if query is None:
        return CommandReply(
            "What shall I erase for good? Write its number from /memory (/forget --erase #12), or words that all of it "
            f"has, at least {LETTERS} letters.",
            private=True,
        )
    found = await call.store.erase_preview(call.space, query, call.user_id, call.admin, call.turn.turn_id)
    if found is None:
        return CommandReply("I find nothing like that which is yours to erase.", private=True)
    number = found.erasure_id
    buttons = [button("🔥 Erase for good", f"xe:{number}"), button("✖ Keep", f"xk:{number}")]
    return CommandReply(preview_text(call, found), rows=[buttons], private=True)


def preview_text(call: ChatContext, found: ErasePreview) -> str:
    """What would go, in words (Markdown)."""
    lines = [f"🔥 **Erase for good?** {counts(found.counts)}"]
    memories = [f"- `#{row.number}` {escape_markdown(shorten(row.content, 160))}" for row in found.memories]
    said = [
        f"- {moment(row.at, call.zone)} · {who(row)}: {escape_markdown(shorten(row.text, 120))}"
        for row in found.messages
    ]
    for title, rows, count in (
        ("Memories", memories, found.counts.memories),
        ("Messages and answers", said, found.counts.messages),
    ):
        if rows:
            lines += ["", f"**{title}**", *rows]
            more = count - len(rows)
            lines += [f"- … and {more:,} more"] if more > 0 else []
    if found.documents:
        lines += ["", f"Documents: {escape_markdown(shorten(', '.join(found.documents), 300))}"]
    if found.counts.summaries:
        lines += ["", "Summaries made from them go too, and are written anew without them."]
    lines += [
        f"Besides, {pluralize(row.messages, 'message names', 'messages name')} “{escape_markdown(row.word)}”: "
        f"/forget --erase {escape_markdown(row.word)} takes those."
        for row in found.left[:2]
    ]
    if found.more:
        lines += ["That is more than I take at once: the newest 2,000. Ask again for the rest."]
    return "\n".join([*lines, "", LAST_WORD])


def who(row: ErasedMessage) -> str:
    """Who said a message."""
    return "I" if row.role == "assistant" else escape_markdown(shorten(row.name or "you", 30))


def counts(number: ErasedCounts) -> str:
    """How much goes, in words."""
    told = [
        pluralize(number.memories, "memory", "memories"),
        pluralize(number.messages, "message"),
        pluralize(number.summaries, "summary", "summaries"),
        pluralize(number.documents, "document"),
    ]
    return ", ".join(one for one in told if not one.startswith("0 ")) or "nothing"


@pressed("xk")
async def keep(call: ChatContext, erasure_id: str) -> ButtonReply:
    """Leaves it all as it is."""
    kept = await call.store.erase_keep(parse_number(erasure_id) or 0, call.user_id)
    return ButtonReply("Kept.", "Nothing was erased.", []) if kept else ButtonReply(TOO_LATE)


@pressed("xe")
async def erase(call: ChatContext, erasure_id: str) -> ButtonReply:
    """Erases what was shown."""
    number = parse_number(erasure_id) or 0
    if not await call.store.erase_begin(number, call.user_id, call.admin):
        return ButtonReply(TOO_LATE)
    done = await erased(call.store, number)
    if done is None:
        return ButtonReply("It is being erased, and goes on by itself.", "🔥 It is being erased.", [])
    with suppress(TimeoutError):
        async with asyncio.timeout(CHAT_SECONDS):
            await retract(call.store, call.services.messenger, call.bot_id, number)
    done = await erased(call.store, number) or done
    buttons = []
    leftovers = call.services.leftovers
    if call.admin and leftovers is not None and leftovers.clears:
        buttons.append([button("🧹 Write the database's files anew now", f"xf:{number}")])
    if call.admin and leftovers is not None and leftovers.files():
        buttons.append([button("🗄 Purge the backups", f"xp:{number}")])
    return ButtonReply("Erased.", await told(call, done), buttons)


async def told(call: ChatContext, done: ErasureStep) -> str:
    """What was erased, and where it may still be."""
    lines = [f"🔥 Erased for good: {counts(done.counts)}."]
    leftovers = call.services.leftovers
    if leftovers is not None:
        await remove_files(call.store, leftovers.keeper)
        lines.append(leftovers.told())
        lines.append(AT_NIGHT if leftovers.clears else OVER_REST)
    lines += [ours(done), *theirs(call, done.theirs)]
    return "\n\n".join(line for line in lines if line)


def ours(done: ErasureStep) -> str:
    """What became of our messages that repeated it; empty when none did."""
    number = done.counts
    did = [
        f"{word} {pluralize(count, 'message')} of mine"
        for count, word in ((number.deleted, "deleted"), (number.edited, "took it out of"))
        if count
    ]
    waiting = f"{pluralize(done.waiting, 'message')} of mine will follow." if done.waiting else ""
    return " ".join(part for part in (f"I {' and '.join(did)}." if did else "", waiting) if part)


def theirs(call: ChatContext, posted: Sequence[MessageLeft]) -> list[str]:
    """What the person has to delete, by kind: when it was said, and where Telegram has an address, where."""
    said = []
    for what, line in THEIRS.items():
        rows = [one for one in posted if one.what == what]
        if rows:
            more = f" and {len(rows) - MOST_LISTED} before" if len(rows) > MOST_LISTED else ""
            said.append(f"{line} {', '.join(place_of(call, one) for one in rows[-MOST_LISTED:])}{more}.")
    return said


def place_of(call: ChatContext, one: MessageLeft) -> str:
    """A message of a chat by its time (Markdown)."""
    at = moment(one.at, call.zone)
    link = link_to(one, 0)
    return f"[{at}]({link})" if link else at if one.chat_id == call.chat_id else f"{at} in another chat"


@pressed("xf")
async def clear_files(call: ChatContext, erasure_id: str) -> ButtonReply:
    """Writes the database's files anew, without what was erased."""
    leftovers = call.services.leftovers
    if not call.admin or leftovers is None:
        return ButtonReply(ADMINS_ONLY) if not call.admin else NOT_YOURS
    try:
        remains = await leftovers.clear()
    except RelayError as error:
        return ButtonReply(shorten(str(error), 190))
    return ButtonReply("Done.", rows=others(call, "xf:"), says=CommandReply(remains or CLEARED))


@pressed("xp")
async def purge(call: ChatContext, erasure_id: str) -> ButtonReply:
    """Replaces all backups by a fresh one."""
    leftovers = call.services.leftovers
    if not call.admin or leftovers is None:
        return ButtonReply(ADMINS_ONLY) if not call.admin else NOT_YOURS
    try:
        _, removed = await leftovers.purge()
    except RelayError as error:
        return ButtonReply(shorten(str(error), 190))
    said = f"{pluralize(removed, 'backup')} removed; a fresh one is there."
    return ButtonReply(said, rows=others(call, "xp:"), says=CommandReply(f"🗄 {said}"))


def others(call: ChatContext, kind: str) -> list[list[Json]]:
    """The message's other buttons."""
    present = (call.message.get("reply_markup") or {}).get("inline_keyboard") or []
    return [row for row in present if not any(str(one.get("callback_data")).startswith(kind) for one in row)]
