"""Renders a version: its progress, its result, its files, and what it left out."""

from __future__ import annotations

from dataclasses import replace

from relay.commands.contexts.compress import Making, await_version, make_without_model
from relay.commands.contexts.keepit import Passage, keep_passage
from relay.commands.contexts.version_file import Format, version_file
from relay.commands.contexts.versions import left_out, open_version, read_version
from relay.core.models import Rows
from relay.core.text import escape_markdown, pluralize, shorten
from relay.memory.contexts.markers import PRESETS, remove_markers
from relay.memory.rows.contexts.versions import Version
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.contexts.buttons import ListVersions
from relay.surfaces.chat.handlers import action
from relay.surfaces.chat.reply import ButtonReply, CommandReply, button, step_rows
from relay.surfaces.chat.times import moment

PAGE = 6
LONGEST = 160
"""The most characters of a message in a list."""
NOTHING_LEFT_OUT = (
    "No message was left out; they are only shorter. To keep a passage word for word in later versions, reply "
    "to it with /keepit."
)


@action("lh")
async def press_look(call: ChatContext, version_id: int) -> ButtonReply:
    """Shows how far a version is."""
    return show_making(await await_version(call, version_id))


@action("ln")
async def press_without_model(call: ChatContext, version_id: int) -> ButtonReply:
    """Makes a requested version, without a model."""
    return show_making(await make_without_model(call, version_id))


@action("lf")
async def press_download(call: ChatContext, version_id: int, format: Format = "md") -> ButtonReply:
    """Sends a version as a file."""
    opened = await read_version(call, version_id)
    file = version_file(opened, format, call.zone)
    return ButtonReply(says=CommandReply(escape_markdown(opened.version.name), file=file))


@action("lx")
async def press_left_out(call: ChatContext, version_id: int, offset: int) -> ButtonReply:
    """Shows the messages that a version left out, starting at an offset; a tap marks one."""
    return await left_out_page(call, version_id, offset)


@action("lk")
async def press_keep(call: ChatContext, version_id: int, message_id: int, offset: int) -> ButtonReply:
    """Marks a message that a version left out; `offset` leads back to the list."""
    opened = await open_version(call, version_id, 0, 0)
    done = await keep_passage(call, Passage(message_id=message_id), PRESETS["pinned"], "button")
    page = await left_out_page(call, opened.version.id, offset)
    return replace(page, toast="📌 Kept word for word from the next version on.", result=done)


async def left_out_page(call: ChatContext, version_id: int, offset: int) -> ButtonReply:
    """Lists messages that a version left out; a tap marks one."""
    found = await left_out(call, version_id, offset, PAGE)
    back = [button("‹ Version", press_look(version_id))]
    if not found.total:
        return ButtonReply(text=NOTHING_LEFT_OUT, rows=[back])
    lines = [f"**Left out** ({pluralize(found.total, 'message')}) – tap a number to keep it in later versions"]
    for number, one in enumerate(found.messages, offset + 1):
        who = "me" if one.role == "assistant" else escape_markdown(shorten(one.name or "you", 40))
        text = escape_markdown(shorten(remove_markers(one.text), LONGEST))
        lines.append(f"**{number}** · {moment(one.at, call.zone)} · {who}{' 📌' if one.kept else ''}: {text}")
    keep = [
        button(f"📌 {number}", press_keep(version_id, one.id, offset))
        for number, one in enumerate(found.messages, offset + 1)
        if not one.kept
    ]
    rows = step_rows(offset, PAGE, found.total, lambda at: press_left_out(version_id, at), ("‹ Earlier", "Later ›"))
    return ButtonReply(text="\n\n".join(lines), rows=[keep, *rows, back])


def show_making(made: Making) -> ButtonReply:
    """Shows the progress of a version, in place of the message above the button."""
    one = made.version
    if one is None:
        return ButtonReply(made.detail, refused=True)
    without = [button("Make it without a model", press_without_model(one.id))]
    again = [button("↻ Progress", press_look(one.id))]
    match made.outcome:
        case "ready":
            return ready(one)
        case "failed":
            text = f"⚠️ I couldn't make {one.short}: {escape_markdown(made.detail)}"
            return ButtonReply(text=text, rows=[without], refused=True, result=made)
        case "waiting":
            text = f"⚠️ {one.short} has to wait: {escape_markdown(made.detail)} I'll retry automatically."
            return ButtonReply(text=text, rows=[without, again], result=made)
    far = f" {one.done} of {one.total} parts are done." if one.total else ""
    tells = " I'll tell you when it's ready." if one.tells else ""
    return ButtonReply(text=f"⏳ I'm making {one.short}.{far}{tells}", rows=[again, without], result=made)


def describe_made(one: Version) -> ButtonReply:
    """Says what became of a version that somebody waits for."""
    return ready(one) if one.status == "ready" else show_making(Making("failed", one.error or "", one))


def ready(one: Version) -> ButtonReply:
    """Shows a version that is ready."""
    lines = [
        f"✅ **{escape_markdown(one.name)}**",
        f"{one.input_tokens:,} tokens became {one.output_tokens or 0:,} ({one.ratio}:1), "
        f"{pluralize(one.input_messages, 'message')} became {one.output_messages or 0:,}.",
    ]
    if one.keepit.preserved + one.keepit.summarized:
        lines.append(f"📌 {one.keepit.preserved} kept word for word, {one.keepit.summarized} summarised.")
    if one.source:
        lines.append(f"Made from {escape_markdown(one.source)}.")
    if one.since.told:
        lines.append(f"{one.since.told} since.")
    rows = [*use_rows(one), [button("All versions", ListVersions(one.session_id))]]
    return ButtonReply(text="\n\n".join(lines), rows=rows, result=one)


def use_rows(one: Version) -> Rows:
    """Returns the buttons under a version that is ready: its files, and what it left out."""
    return [
        [
            button("⬇ Text (.md)", press_download(one.id, "md")),
            button("⬇ Data (.jsonl)", press_download(one.id, "jsonl")),
        ],
        [button("What was left out", press_left_out(one.id, 0))],
    ]
