"""Renders permanent erasure: the preview, the result, and where copies may remain."""

from __future__ import annotations

import re
from collections.abc import Sequence

from relay.archive.nightly import OVER_REST
from relay.commands.memory import erase as commands
from relay.core.errors import RelayError
from relay.core.text import escape_markdown, plain_digits, pluralize, shorten
from relay.memory.derivations.artefacts import artefact_kind
from relay.memory.rows.upkeep.erasure import ErasedCounts, ErasePreview, ErasureStep, MessageLeft
from relay.surfaces.chat.changes import other_rows
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import action
from relay.surfaces.chat.links import link_to
from relay.surfaces.chat.reply import ButtonReply, CommandReply, button
from relay.surfaces.chat.times import moment

NUMBER = re.compile(r"#([0-9]{1,18})")
MOST_LISTED = 12
TOAST = 190
LAST_WORD = "This can't be undone. I delete my own messages that repeat it; please delete yours in Telegram."
THEIRS = {
    "yours": "Your own messages stay in Telegram until you delete them:",
    "ours": "I can't delete these messages of mine; please delete them yourself:",
    "export": "These files of mine may also contain it; delete those you don't need:",
}
"""Messages that the person has to delete, by kind."""
AT_NIGHT = "Traces stay in the database's files until tonight, when I rewrite them."
CLEARED = "🧹 I rewrote the database's files. None of what you erased is left in them."


def query_of(text: str) -> commands.EraseQuery:
    """Parses what to erase: a memory by its number (#12), or words."""
    number = NUMBER.fullmatch(plain_digits(text.strip()))
    return commands.ErasedMemoryNumber(int(number[1])) if number else commands.ErasedWords(text)


async def preview(call: ChatContext, text: str) -> CommandReply:
    """`/forget --erase …`: shows what an erasure would remove."""
    found = await commands.preview_erasure(call, query_of(text))
    if found is None:
        return CommandReply("I found nothing to erase that matches.", private=True)
    buttons = [
        button("🔥 Erase for good", press_erase(found.erasure_id)),
        button("✖ Keep", press_keep(found.erasure_id)),
    ]
    return CommandReply(preview_text(call, found), rows=[buttons], private=True, result=found)


def preview_text(call: ChatContext, found: ErasePreview) -> str:
    """Lists what an erasure would remove (Markdown)."""
    lines = [f"🔥 **Erase for good?** {counts(found.counts)}"]
    memories = [f"- `#{row.number}` {escape_markdown(shorten(row.content, 160))}" for row in found.memories]
    said, others = [], []
    for message in found.messages:
        author = "I" if message.role == "assistant" else escape_markdown(shorten(message.name or "you", 30))
        said.append(f"- {moment(message.at, call.zone)} · {author}: {escape_markdown(shorten(message.text, 120))}")
    for text in found.artefacts:
        kind = artefact_kind(text.kind)
        others.append(f"- {kind.icon if kind else text.kind} {escape_markdown(shorten(text.text, 120))}")
    for title, rows, count in (
        ("Memories", memories, found.counts.memories),
        ("Messages and answers", said, found.counts.messages),
        ("Other texts", others, found.counts.artefacts),
    ):
        if rows:
            lines += ["", f"**{title}**", *rows]
            more = count - len(rows)
            lines += [f"- … and {more:,} more"] if more > 0 else []
    if found.documents:
        lines += ["", f"Documents: {escape_markdown(shorten(', '.join(found.documents), 300))}"]
    if found.preferences:
        lines += ["", f"Preferences: {escape_markdown(shorten(', '.join(found.preferences), 300))}"]
    if found.counts.summaries:
        lines += ["", "Summaries that include them go too. I'll write new ones without them."]
    lines += ["", *map(began_line, found.began)] if found.began else []
    lines += ["", *map(escape_markdown, rest)] if (rest := remaining(found)) else []
    return "\n".join([*lines, "", LAST_WORD])


def began_line(name: str) -> str:
    """Says that a running conversation loses the composition with which it began."""
    return f"A running conversation began with “{escape_markdown(name)}”, which goes too. Compose it again afterwards."


def remaining(found: ErasePreview) -> list[str]:
    """Says in sentences what an erasure would leave."""
    left = [
        f"{pluralize(row.messages, 'more message mentions', 'more messages mention')} “{row.word}”: "
        f"/forget --erase {row.word} erases those."
        for row in found.left[:2]
    ]
    stays = [
        (found.role, "My role in a chat mentions it too. That stays until an admin changes it with /persona."),
        (found.soul, "The soul mentions it too, now or in an earlier version. That stays; /soul shows it."),
        (found.invitation, "An open invitation mentions it too. /users can cancel it."),
        (found.others, "Other people's messages mention it too. Those stay unless an admin erases them."),
        (found.more, "That's more than I can erase at once, so this covers the newest 2,000. Ask again for the rest."),
    ]
    return [
        *([commands.name_spellings(found.spellings)] if found.spellings else []),
        *left,
        *(say for so, say in stays if so),
    ]


def counts(number: ErasedCounts) -> str:
    """Lists how many things an erasure removes."""
    parts = [
        pluralize(number.memories, "memory", "memories"),
        pluralize(number.messages, "message"),
        pluralize(number.summaries, "summary", "summaries"),
        pluralize(number.artefacts, "other text", "other texts"),
        pluralize(number.documents, "document"),
        pluralize(number.preferences, "preference"),
        pluralize(number.feedback, "piece of feedback", "pieces of feedback"),
    ]
    return ", ".join(one for one in parts if not one.startswith("0 ")) or "what commands, titles or edits say about it"


@action("xk")
async def press_keep(call: ChatContext, erasure_id: int) -> ButtonReply:
    """Cancels an erasure."""
    await commands.keep_shown(call, erasure_id)
    return ButtonReply("Kept.", "Nothing was erased.", [])


@action("xe")
async def press_erase(call: ChatContext, erasure_id: int) -> ButtonReply:
    """Erases the content of a preview."""
    done = await commands.erase_shown(call, erasure_id)
    if done.step is None:
        return ButtonReply("Erasing. I'll finish this in the background.", "🔥 Erasing…", [])
    buttons = []
    if done.clears:
        buttons.append([button("🧹 Rewrite the database's files now", press_clear(erasure_id))])
    if done.backups:
        buttons.append([button("🗄 Purge the backups", press_purge(erasure_id))])
    return ButtonReply("Erased.", describe_erased(call, done, done.step), buttons)


def describe_erased(call: ChatContext, done: commands.Erasing, step: ErasureStep) -> str:
    """Says what was erased, and where copies may remain."""
    lines = [f"🔥 Erased for good: {counts(step.counts)}."]
    if done.remains is not None:
        lines += [done.remains, AT_NIGHT if done.at_night else OVER_REST]
    lines += [describe_own_messages(step), *list_their_messages(call, step.theirs)]
    return "\n\n".join(line for line in lines if line)


def describe_own_messages(done: ErasureStep) -> str:
    """Says what happened to the bot's messages that repeated it; empty if none did."""
    number = done.counts
    did = [
        f"{word} {pluralize(count, 'message')} of mine"
        for count, word in ((number.deleted, "deleted"), (number.edited, "removed it from"))
        if count
    ]
    waiting = f"{pluralize(done.waiting, 'message')} of mine will follow." if done.waiting else ""
    return " ".join(part for part in (f"I {' and '.join(did)}." if did else "", waiting) if part)


def list_their_messages(call: ChatContext, posted: Sequence[MessageLeft]) -> list[str]:
    """Lists what the person has to delete, by kind: the time, with a link if Telegram has one."""
    lines = []
    for what, line in THEIRS.items():
        rows = [one for one in posted if one.what == what]
        if rows:
            more = f" and {len(rows) - MOST_LISTED} older" if len(rows) > MOST_LISTED else ""
            lines.append(f"{line} {', '.join(place_of(call, one) for one in rows[-MOST_LISTED:])}{more}.")
    return lines


def place_of(call: ChatContext, one: MessageLeft) -> str:
    """Names a message by its time (Markdown)."""
    at = moment(one.at, call.zone)
    link = link_to(one, 0)
    return f"[{at}]({link})" if link else at if one.chat_id == call.chat_id else f"{at} in another chat"


@action("xf")
async def press_clear(call: ChatContext, erasure_id: int) -> ButtonReply:
    """Rewrites the database's files."""
    try:
        remains = await commands.clear_files(call)
    except RelayError as error:
        return ButtonReply(shorten(str(error), TOAST), refused=True)
    return ButtonReply("Done.", rows=other_rows(call.said.rows, press_clear), says=CommandReply(remains or CLEARED))


@action("xp")
async def press_purge(call: ChatContext, erasure_id: int) -> ButtonReply:
    """Replaces all backups with a fresh one."""
    try:
        removed = await commands.purge_backups(call)
    except RelayError as error:
        return ButtonReply(shorten(str(error), TOAST), refused=True)
    line = f"Removed {pluralize(removed, 'backup')} and made a fresh one."
    return ButtonReply(line, rows=other_rows(call.said.rows, press_purge), says=CommandReply(f"🗄 {line}"))
