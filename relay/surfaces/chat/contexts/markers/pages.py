"""Renders a marker as a page (its passage, its place, and which versions keep it) with the buttons that change it."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from itertools import groupby

from relay.commands.contexts import keepit as commands
from relay.core.errors import OutOfRange
from relay.core.models import Button
from relay.core.text import escape_markdown, shorten
from relay.memory.contexts.markers import name_weight
from relay.memory.rows.contexts.markers import Keepit, OpenedKeepit, Survival
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.contexts.buttons import ListKeepits
from relay.surfaces.chat.contexts.markers.weights import preset_rows, weight_in_words
from relay.surfaces.chat.handlers import action
from relay.surfaces.chat.memory_pages import cut_units
from relay.surfaces.chat.reply import ButtonReply, CommandReply, button
from relay.surfaces.chat.times import moment

LONGEST = 1_200
"""The most UTF-16 units of a passage to show."""
BARELY = Decimal("0.02")
"""A weight less than this above the threshold barely survives."""
VERSIONS = 3
"""The most versions named."""
NO_WEIGHT = "A weight is from 0 to 1, such as /keepit 0.8"


@action("io")
async def press_open(call: ChatContext, keepit_id: int, session_id: int = 0, offset: int = 0) -> ButtonReply:
    """Opens a marker. Session and offset lead back to the list."""
    return await opened(call, keepit_id, ListKeepits(session_id, offset))


@action("iw")
async def press_weigh(
    call: ChatContext, keepit_id: int, percent: int, session_id: int = 0, offset: int = 0
) -> ButtonReply:
    """Gives a marker another weight, in hundredths."""
    done = await commands.weigh_keepit(call, keepit_id, weight_of(percent))
    toast = f"Now {weight_in_words(commands.require_marker(done).weight)}."
    return await opened(call, keepit_id, ListKeepits(session_id, offset), toast, done.before)


@action("ix")
async def press_remove(call: ChatContext, keepit_id: int, session_id: int = 0, offset: int = 0) -> ButtonReply:
    """Removes a marker; the same page has a button that undoes it."""
    one = commands.require_marker(await commands.remove_keepit(call, keepit_id))
    return removed_card(one, ListKeepits(session_id, offset)).redraw("Removed.")


@action("iy")
async def press_restore(call: ChatContext, keepit_id: int, session_id: int = 0, offset: int = 0) -> ButtonReply:
    """Brings a removed marker back."""
    await commands.remove_keepit(call, keepit_id, removed=False)
    return await opened(call, keepit_id, ListKeepits(session_id, offset), "Back again.")


async def opened(
    call: ChatContext, keepit_id: int, back: ListKeepits, toast: str = "", before: Decimal | None = None
) -> ButtonReply:
    """Shows a marker's card. `before`: the weight that Undo gives back."""
    found = await commands.open_keepit(call, keepit_id)
    if found.keepit.removed:
        return removed_card(found.keepit, back).redraw(toast)
    return card(call, found, back, before).redraw(toast)


def weight_of(percent: int) -> Decimal:
    """Returns the weight in a button's data. Raises `CommandRefused` for a forged one."""
    if percent > 100:
        raise OutOfRange(NO_WEIGHT)
    return Decimal(percent) / 100


def card(call: ChatContext, found: OpenedKeepit, back: ListKeepits, before: Decimal | None = None) -> CommandReply:
    """Shows a marker. `before`: its former weight, which Undo gives back."""
    one = found.keepit
    heading = f"📌 **{one.weight:.2f} · {name_weight(one.weight)}**"
    lines = [heading, passage(one), place(call, one)]
    lines += fate("Kept in", one.survived) + fate("Summarised in", one.summarized)
    lines.append(decay(one, found.decay))
    rows = preset_rows(lambda percent: press_weigh(one.id, percent, back.session_id, back.offset), one.weight)
    if undo := undo_weight(one, before, back):
        rows.append(undo)
    remove = button("🗑 Remove", press_remove(one.id, back.session_id, back.offset))
    return CommandReply("\n\n".join(lines), rows=[*rows, [remove, button("‹ Markers", back)]])


def undo_weight(one: Keepit, before: Decimal | None, back: ListKeepits) -> list[Button]:
    """Returns the button that gives a marker its former weight again; none if it has that."""
    if before is None or before == one.weight:
        return []
    undo = press_weigh(one.id, int(before * 100), back.session_id, back.offset)
    return [button(f"↩ Undo: {before:.2f} again", undo)]


def removed_card(one: Keepit, back: ListKeepits) -> CommandReply:
    """Says that a marker is removed, and offers to bring it back."""
    undo = button("↩ Undo", press_restore(one.id, back.session_id, back.offset))
    text = f"🗑 No longer marked. The message itself hasn't changed.\n\n{passage(one)}"
    return CommandReply(text, rows=[[undo, button("‹ Markers", back)]])


def passage(one: Keepit) -> str:
    """Quotes a marked passage, line by line."""
    lines = [line for line in cut_units(one.content, LONGEST).splitlines() if line.strip()]
    return "> " + "\n>\n> ".join(map(escape_markdown, lines))


def place(call: ChatContext, one: Keepit) -> str:
    """Says who said it, when and in which session, and quotes the text beside it."""
    who = "Said by me" if one.role == "assistant" else f"Said by {escape_markdown(shorten(one.name or 'you', 40))}"
    if one.role == "user" and call.space.kind == "private":
        who = "Said by you"
    where = f", in “{escape_markdown(shorten(one.title, 60))}”" if one.title else ""
    beside = f"\nAround it: {escape_markdown(shorten(one.context, 110))}" if one.context else ""
    return f"{who}, {moment(one.at, call.zone)}{where}{beside}"


def fate(label: str, versions: Sequence[str]) -> list[str]:
    """Names the versions that kept a marker, or did not; empty if there are none."""
    if not versions:
        return []
    more = len(versions) - VERSIONS
    named = ", ".join(map(escape_markdown, versions[-VERSIONS:])) + (f" and {more} more" if more > 0 else "")
    return [f"{label}: {named}"]


def decay(one: Keepit, survivals: Sequence[Survival]) -> str:
    """Says at which distances a marker survives which compression: kept, barely, summarised."""
    distances = dict.fromkeys(survival.distance for survival in survivals)
    places = " · ".join("latest" if one == 1 else f"{one}th latest" for one in distances)
    lines = [f"If it's compressed while its session is the {places}:"]
    for (level, ratio), row in groupby(survivals, key=lambda one: (one.level, one.ratio)):
        signs = " · ".join(f"{sign(one.weight, survival)} {threshold(survival.threshold)}" for survival in row)
        lines.append(f"- {level} {ratio}:1: {signs}")
    return "\n".join([*lines, "", "✅ kept, ⚠️ barely, ✖ summarised; the number is the weight it takes."])


def sign(weight: Decimal, survival: Survival) -> str:
    """Shows whether a weight survives."""
    if not survival.survives:
        return "✖"
    return "⚠️" if 0 <= weight - survival.threshold < BARELY and weight < 1 else "✅"


def threshold(value: Decimal) -> str:
    """Formats a threshold with two decimals, or three if the third is not 0."""
    text = f"{value:.3f}"
    return text[:-1] if text.endswith("0") else text
