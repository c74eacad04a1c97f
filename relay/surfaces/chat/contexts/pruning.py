"""Renders a session's versions: the list with a selection, one version, pruning with an undo, two side by side."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from relay.commands.contexts.compress import look
from relay.commands.contexts.pruning import PruningPlan, plan_pruning, prune, restore_versions
from relay.commands.contexts.versions import compare_versions, list_versions, open_version
from relay.core.errors import CommandRefused
from relay.core.models import Button, Rows
from relay.core.text import escape_markdown, format_tokens, pluralize, shorten
from relay.memory.rows.contexts.versions import OpenedVersion, Version, VersionRow
from relay.surfaces.chat.callbacks import Callback, decode
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.contexts.buttons import ListVersions, OpenSession
from relay.surfaces.chat.contexts.comparison import comparison
from relay.surfaces.chat.contexts.version import show_making, use_rows
from relay.surfaces.chat.handlers import action, pressed
from relay.surfaces.chat.reply import ButtonReply, CommandReply, button, step_rows
from relay.surfaces.chat.times import day

PAGE = 6
BEGINNING = 20
"""Rows of a version that its page may quote from."""
QUOTED = 1_000
"""The most characters that it quotes. A row with less room than `LEAST_QUOTED` is left out."""
LEAST_QUOTED = 40


@pressed(ListVersions)
async def press_versions(call: ChatContext, to: ListVersions) -> ButtonReply:
    return await _page(call, to.session_id, _selection(call), to.offset)


class SelectVersion(Callback, code="ld"):
    """Selects or deselects a version. The buttons of the message hold the selection."""

    version_id: int
    chosen: bool = False
    """Whether it is selected now."""
    offset: int = 0
    """The page to show."""


@pressed(SelectVersion)
async def press_select(call: ChatContext, to: SelectVersion) -> ButtonReply:
    one = (await open_version(call, to.version_id, 0, 0)).version
    chosen = _selection(call) - {one.id} if to.chosen else _selection(call) | {one.id}
    return await _page(call, one.session_id, chosen, to.offset)


@action("lo")
async def press_version(call: ChatContext, version_id: int) -> ButtonReply:
    """Shows one version."""
    opened = await open_version(call, version_id, 0, BEGINNING)
    one = opened.version
    back = [button("‹ Versions", ListVersions(one.session_id))]
    if one.status != "ready":
        shown = show_making(await look(call, one.id))
        return replace(shown, rows=[*(shown.rows or ()), back])
    return ButtonReply(text=_describe(call, opened), rows=[*use_rows(one), back])


@action("lp")
async def press_prune(call: ChatContext, session_id: int) -> ButtonReply:
    """Asks whether to drop the selected versions."""
    plan = await plan_pruning(call, session_id, _selection(call))
    if plan.asks:
        return _confirm(session_id, plan)
    return await _prune(call, session_id, False)


@action("ly", confirms=True)
async def press_confirm(call: ChatContext, session_id: int, force: bool) -> ButtonReply:
    """Drops the selected versions; with `force` also those in use."""
    return await _prune(call, session_id, force)


async def _prune(call: ChatContext, session_id: int, force: bool) -> ButtonReply:
    """Drops the selected versions, and offers to undo it."""
    plan = await plan_pruning(call, session_id, _selection(call))
    gone = await prune(call, [one.id for one in plan.versions], force)
    text = f"Pruned: {', '.join(one.short for one in gone)} ({_size(gone)}). You can undo this for ten minutes."
    back = [button("Undo", press_undo(session_id, gone[0].id)), button("‹ Versions", ListVersions(session_id))]
    return ButtonReply("Done.", text, [back], result=gone)


@action("lu")
async def press_undo(call: ChatContext, session_id: int, version_id: int) -> ButtonReply:
    """Brings back what was pruned together with a version."""
    await restore_versions(call, version_id)
    return replace(await _page(call, session_id, set()), toast="Restored.")


def undo_rows(version_id: int) -> Rows:
    """Returns the button under a digest that reports dropped versions."""
    return [[button("↩ Restore", press_undo_night(version_id))]]


@action("lg")
async def press_undo_night(call: ChatContext, version_id: int) -> ButtonReply:
    """Brings back what the night dropped together with a version."""
    back = await restore_versions(call, version_id)
    return ButtonReply(f"Restored {pluralize(len(back), 'version')}.", rows=[], result=back)


@action("lm")
async def press_compare(call: ChatContext, session_id: int) -> ButtonReply:
    """Shows the two selected versions side by side."""
    chosen = sorted(_selection(call))
    if len(chosen) != 2:
        raise CommandRefused("First tap the two versions to compare.")
    found = await compare_versions(call, *chosen)
    text, file = await asyncio.to_thread(comparison, found)  # long texts take a while
    return ButtonReply(says=CommandReply(text, file=file, result=found))


def _selection(call: ChatContext) -> set[int]:
    """Returns the versions that are selected in the buttons of the message."""
    found = (decode(data) for data in call.said.buttons)
    return {one.version_id for one in found if isinstance(one, SelectVersion) and one.chosen}


async def _page(call: ChatContext, session_id: int, chosen: set[int], offset: int = 0) -> ButtonReply:
    """Lists a session's versions; a tap on ☐ selects one. Versions selected on other pages have buttons here too,
    because the buttons hold the selection."""
    found = await list_versions(call, session_id, offset, PAGE)
    listed = found.versions
    back = [button("‹ Session", OpenSession(session_id))]
    if not listed:
        text = "There are no more." if found.total else "This session has no compressed versions yet."
        return ButtonReply(text=text, rows=[back])
    shown = {one.id for one in listed}
    others = [(await open_version(call, one, 0, 0)).version for one in sorted(chosen - shown)]
    selected = [one for one in listed if one.id in chosen] + [one for one in others if one.session_id == session_id]
    lines = [f"**Versions** ({found.total})", *(_line(call, one) for one in listed)]
    if selected:
        lines.append(f"Selected: {pluralize(len(selected), 'version')}, {_size(selected)}")
    acts = [button(f"Prune {len(selected)}…", press_prune(session_id))] if selected else []
    acts += [button("Compare", press_compare(session_id))] if len(selected) == 2 else []
    rows = [[*([_select(one, chosen, offset)] if one.status != "due" else []),
             button(f"Open {one.short}", press_version(one.id))] for one in listed]  # fmt: skip
    rows += [[_select(one, chosen, offset)] for one in selected if one.id not in shown]
    rows += step_rows(offset, PAGE, found.total, lambda to: ListVersions(session_id, to))
    return ButtonReply(text="\n\n".join(lines), rows=[*rows, *([acts] if acts else []), back])


def _select(one: Version, chosen: set[int], offset: int) -> Button:
    on = one.id in chosen
    return button(f"{'☑' if on else '☐'} {one.short}", SelectVersion(one.id, on, offset))


def _confirm(session_id: int, plan: PruningPlan) -> ButtonReply:
    """Asks before pruning, and warns by name. The selection stays in the buttons."""
    chosen = plan.versions
    lines = [f"Prune {pluralize(len(chosen), 'version')}, {_size(chosen)}?"]
    for one in chosen:
        if one.active:
            lines.append(f"⚠️ {one.short} is in use by a conversation that hasn't ended.")
        if one.compositions:
            names = ", ".join(f"“{escape_markdown(name)}”" for name in one.compositions)
            lines.append(f"⚠️ {one.short} is used in {names}. Its text stays there.")
    yes = button(
        f"Prune {len(chosen)} anyway" if plan.active else f"Yes, prune {len(chosen)}",
        press_confirm(session_id, plan.active),
    )
    kept = [[button(f"☑ {one.short}", SelectVersion(one.id, True))] for one in chosen]
    return ButtonReply(text="\n\n".join(lines), rows=[[yes], *kept, [button("‹ Keep them", ListVersions(session_id))]])


def _line(call: ChatContext, one: Version) -> str:
    """Describes a version on two lines: name and size; when it was made and used."""
    if one.status != "ready":
        state = "being made" if one.status == "due" else "couldn't be made"
        return f"**{escape_markdown(one.name)}** · {state}"
    used = f"used {day(one.last_used_at, call.zone)}" if one.last_used_at else "not used yet"
    held = f" · in {pluralize(len(one.compositions), 'composition')}" if one.compositions else ""
    return (
        f"**{escape_markdown(one.name)}**\n{format_tokens(one.tokens)} tokens, {float(one.ratio or 0):g}:1 · made "
        f"{day(one.created_at, call.zone)} · {used}{held}"
    )


def _describe(call: ChatContext, opened: OpenedVersion) -> str:
    """Renders a version that is ready: sizes, settings, markers, origin, and how it begins."""
    one = opened.version
    origin = f"from {escape_markdown(one.source)}" if one.source else "from the original"
    marked = one.keepit.preserved + one.keepit.summarized
    lines = [
        _line(call, one),
        f"{pluralize(one.input_messages, 'message')} → {one.output_messages or 0:,}, {origin}"
        + (f"\n📌 {one.keepit.preserved} kept word for word, {one.keepit.summarized} summarised" if marked else ""),
    ]
    if one.since.told:
        lines.append(f"{one.since.told} since")
    if one.compositions:
        lines.append(f"Used in {escape_markdown(', '.join(one.compositions))}")
    return "\n\n".join([*lines, _beginning(call, opened.rows)])


def _beginning(call: ChatContext, rows: Sequence[VersionRow]) -> str:
    """Quotes the beginning of a version: who said what, and with 📌 what stayed word for word."""
    user = "you" if call.space.kind == "private" else "user"
    left, said = QUOTED, []
    for row in rows:
        said.append(
            f"{'📌 ' if row.kept else ''}{'me' if row.role == 'assistant' else user}: {shorten(row.text, left)}"
        )
        left -= len(said[-1])
        if left < LEAST_QUOTED:
            break
    return "> " + "\n>\n> ".join(map(escape_markdown, said))


def _size(versions: Sequence[Version]) -> str:
    return f"{format_tokens(sum(one.tokens for one in versions))} tokens"
