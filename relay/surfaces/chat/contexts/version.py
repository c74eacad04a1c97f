"""Renders a version: its progress, its result, its files, and what it left out."""

from __future__ import annotations

from dataclasses import replace

from relay.commands.contexts.compress import Making, await_version, make_without_model
from relay.commands.contexts.keepit import Passage, keep_passage
from relay.commands.contexts.version_file import version_file
from relay.commands.contexts.versions import left_out, open_version, read_version
from relay.core.models import Rows
from relay.core.text import escape_markdown, pluralize, shorten
from relay.memory.contexts.markers import PRESETS, remove_markers
from relay.memory.rows.contexts.versions import Version
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.contexts.version_buttons import (
    DownloadVersion,
    KeepLeftOut,
    ListLeftOut,
    ListVersions,
    LookAtVersion,
    MakeWithoutModel,
)
from relay.surfaces.chat.handlers import pressed
from relay.surfaces.chat.reply import ButtonReply, CommandReply, button, step_rows
from relay.surfaces.chat.times import moment

PAGE = 6
LONGEST = 160
"""The most characters of a message in a list."""
NOTHING_LEFT_OUT = (
    "No message was left out; they are only shorter. To keep a passage word for word in later versions, reply "
    "to it with /keepit."
)


@pressed(LookAtVersion)
async def press_look(call: ChatContext, to: LookAtVersion) -> ButtonReply:
    return show_making(await await_version(call, to.version_id))


@pressed(MakeWithoutModel)
async def press_without_model(call: ChatContext, to: MakeWithoutModel) -> ButtonReply:
    return show_making(await make_without_model(call, to.version_id))


@pressed(DownloadVersion)
async def press_download(call: ChatContext, to: DownloadVersion) -> ButtonReply:
    opened = await read_version(call, to.version_id)
    file = version_file(opened, to.format, call.zone)
    return ButtonReply(says=CommandReply(escape_markdown(opened.version.name), file=file))


@pressed(ListLeftOut)
async def press_left_out(call: ChatContext, to: ListLeftOut) -> ButtonReply:
    return await left_out_page(call, to)


@pressed(KeepLeftOut)
async def press_keep(call: ChatContext, to: KeepLeftOut) -> ButtonReply:
    opened = await open_version(call, to.version_id, 0, 0)
    done = await keep_passage(call, Passage(message_id=to.message_id), PRESETS["pinned"], "button")
    page = await left_out_page(call, ListLeftOut(opened.version.id, to.offset))
    return replace(page, toast="📌 Kept word for word from the next version on.", result=done)


async def left_out_page(call: ChatContext, to: ListLeftOut) -> ButtonReply:
    """Lists messages that a version left out; a tap marks one."""
    found = await left_out(call, to.version_id, to.offset, PAGE)
    back = [button("‹ Version", LookAtVersion(to.version_id))]
    if not found.total:
        return ButtonReply(text=NOTHING_LEFT_OUT, rows=[back])
    lines = [f"**Left out** ({pluralize(found.total, 'message')}) – tap a number to keep it in later versions"]
    for number, one in enumerate(found.messages, to.offset + 1):
        who = "me" if one.role == "assistant" else escape_markdown(shorten(one.name or "you", 40))
        text = escape_markdown(shorten(remove_markers(one.text), LONGEST))
        lines.append(f"**{number}** · {moment(one.at, call.zone)} · {who}{' 📌' if one.kept else ''}: {text}")
    keep = [
        button(f"📌 {number}", KeepLeftOut(to.version_id, one.id, to.offset))
        for number, one in enumerate(found.messages, to.offset + 1)
        if not one.kept
    ]
    rows = step_rows(
        to.offset, PAGE, found.total, lambda offset: ListLeftOut(to.version_id, offset), ("‹ Earlier", "Later ›")
    )
    return ButtonReply(text="\n\n".join(lines), rows=[keep, *rows, back])


def show_making(made: Making) -> ButtonReply:
    """Shows the progress of a version, in place of the message above the button."""
    one = made.version
    if one is None:
        return ButtonReply(made.detail)
    without = [button("Make it without a model", MakeWithoutModel(one.id))]
    again = [button("↻ Progress", LookAtVersion(one.id))]
    match made.outcome:
        case "ready":
            return ready(one)
        case "failed":
            text = f"⚠️ I couldn't make {one.short}: {escape_markdown(made.detail)}"
            return ButtonReply(text=text, rows=[without], result=made)
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
            button("⬇ Text (.md)", DownloadVersion(one.id, "md")),
            button("⬇ Data (.jsonl)", DownloadVersion(one.id, "jsonl")),
        ],
        [button("What was left out", ListLeftOut(one.id, 0))],
    ]
