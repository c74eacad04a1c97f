"""The pages of preferences (the list, one preference opened) with their buttons; and what was said about an answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import tzinfo
from typing import Literal

from relay.commands.preferences import preferences as commands
from relay.commands.preferences.feedback import Feedback
from relay.core.models import Button
from relay.core.text import escape_markdown, pluralize, shorten
from relay.memory.rows.turns.preferences import Evidence, Preference, Preferences, PreferenceSource, in_words
from relay.surfaces.chat.changes import acts_on
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import action
from relay.surfaces.chat.links import link_to
from relay.surfaces.chat.reply import ButtonReply, CommandReply, button
from relay.surfaces.chat.times import moment

DROPPED = "🎚 Forgotten"
FORMER_ACTING = re.compile(rf"(?:🎚 From now on: [^\n]*?|{DROPPED})(?= · |$)", re.MULTILINE)
"""What `describe_acting` says, or what is said once all of them are forgotten."""
FADES = "Without another sign, it gets weaker after 90 days and ends after 180."
LISTED = 30
"""The most preferences in a list."""
OPENED = 8
"""The most preferences with a button that opens them."""
NONE = (
    "I don't know yet how you like answers. Tell me, and the next answer follows it:\n"
    "- /preferences prefer short answers\n"
    "- /preferences avoid emoji\n\n"
    "Or say it about my last answer: /tag too long."
)
HERE = {
    "use": "",
    "ignore": "This chat doesn't follow them. /preferences here use",
    "quiet": "I don't learn any from this chat. /preferences here use",
    "own": "What I learn in this chat counts only here. /preferences here use",
}
KINDS = {
    "accept": "you kept it",
    "refine": "you improved it",
    "tag": "your tag",
    "thumbs": "your reaction",
    "abandon": "you stopped it",
    "revert": "you brought it back",
    "compare": "your choice",
    "said": "you told me",
}


@action("fl")
async def show_list(call: ChatContext, space_id: int) -> ButtonReply:
    """Shows the list. Space 0 is the person's own."""
    return await _redraw_list(call, space_id)


async def _redraw_list(call: ChatContext, space_id: int, toast: str = "") -> ButtonReply:
    return list_page(await commands.list_preferences(call, space_id), space_id, call.zone).redraw(toast)


@action("fk")
async def press_waiting(call: ChatContext, space_id: int, keep: bool) -> ButtonReply:
    """Keeps or discards waiting reactions."""
    await commands.decide_waiting(call, keep, space_id)
    return await _redraw_list(call, space_id, "Kept." if keep else "Discarded.")


@action("fs")
async def press_switch(call: ChatContext, space_id: int, to: Literal["on", "off"]) -> ButtonReply:
    """Turns preferences on or off, or ends a pause."""
    now = await commands.switch_preferences(call, commands.PreferenceSwitch(on=to == "on"), space_id)
    return list_page(now, space_id, call.zone).redraw("Done.")


@action("fo")
async def show_card(call: ChatContext, space_id: int, preference_id: int) -> ButtonReply:
    """Shows a preference with what taught it. Space 0 is the person's own."""
    return card(await commands.open_preference(call, preference_id, space_id), space_id, call.zone).redraw()


@action("ff")
async def press_forget(call: ChatContext, space_id: int, preference_id: int) -> ButtonReply:
    """Forgets a preference; the same message has a button that undoes it."""
    done = (await commands.forget_preferences(call, [preference_id], space_id)).forgotten[0]
    rows = [[button("↩ Undo", press_undo(space_id, done.decision_id))], [button("‹ All", show_list(space_id))]]
    return ButtonReply("Forgotten.", f"🎚 Forgot: {escape_markdown(done.pattern)}.", rows)


@action("fx")
async def press_drop(call: ChatContext, preference_id: int) -> ButtonReply:
    """Forgets a preference under the answer that announced it."""
    done = await commands.forget_preferences(call, [preference_id])
    rows = [row for row in call.said.rows if not any(acts_on(one, preference_id, press_drop) for one in row)]
    return ButtonReply(f"Forgotten: {done.forgotten[0].pattern}", rows=rows)


@action("fu")
async def press_undo(call: ChatContext, space_id: int, decision_id: int) -> ButtonReply:
    """Brings back a forgotten preference."""
    await commands.undo_forgetting(call, [decision_id], space_id)
    return await _redraw_list(call, space_id, "It's back.")


def list_page(found: Preferences, space_id: int, zone: tzinfo) -> CommandReply:
    """Renders the list of preferences, with its buttons."""
    lines = [*state(found, zone, space_id)]
    if not found.rows:
        lines.append(NONE)
    for title, rows in sections(found.rows):
        lines.append(f"\n**{title}**")
        lines += [f"**{number}** · {line(row)}" for number, row in rows]
    if len(found.rows) > LISTED:
        lines.append(f"\n… and {len(found.rows) - LISTED} more")
    openers = [button(str(number), show_card(space_id, row.id)) for number, row in enumerate(found.rows[:OPENED], 1)]
    waiting = [button("✓ Keep", press_waiting(space_id, True)), button("✖ Discard", press_waiting(space_id, False))]
    buttons = [openers, waiting if found.waiting else [], switch_row(found, space_id)]
    return CommandReply("\n".join(lines).strip(), rows=[row for row in buttons if row])


def switch_row(found: Preferences, space_id: int) -> list[Button]:
    """Returns the button that turns preferences on or off; none while memory is off."""
    if found.memory_off:
        return []
    if found.on and not found.paused_until:
        return [button("⛔ Turn off", press_switch(space_id, "off"))]
    return [button("🎚 Turn on", press_switch(space_id, "on"))]


def state(found: Preferences, zone: tzinfo, space_id: int = 0) -> list[str]:
    """Returns the heading, and a line for each switch that differs from its default."""
    lines = ["**How you like answers in that group**" if space_id else "**How you like answers**"]
    if found.memory_off:
        lines.append("⛔ Memory is off, so I don't follow this or learn more. /memory on")
    elif not found.on:
        lines.append("⛔ This is off: I don't follow it or learn more. /preferences on")
    elif found.paused_until:
        lines.append(f"💤 Paused until {moment(found.paused_until, zone)}. /preferences resume")
    if HERE[found.here]:
        lines.append(HERE[found.here])
    if found.waiting:
        named = ", ".join(in_words(one.polarity, one.pattern) for one in found.waits)
        lines.append(
            f"⏳ {pluralize(found.waiting, 'reaction')} of yours may tell me: {escape_markdown(named)}. Keep that?"
        )
    return lines


def sections(rows: Sequence[Preference]) -> list[tuple[str, list[tuple[int, Preference]]]]:
    """Returns the numbered rows under headings, without empty sections."""
    numbered = list(enumerate(rows[:LISTED], 1))
    parts = [
        ("Prefer", [(n, row) for n, row in numbered if row.acts and row.polarity > 0]),
        ("Avoid", [(n, row) for n, row in numbered if row.acts and row.polarity < 0]),
        ("Not sure yet", [(n, row) for n, row in numbered if not row.acts and row.status == "stable"]),
        ("In doubt", [(n, row) for n, row in numbered if row.status == "under_review"]),
        ("Retired", [(n, row) for n, row in numbered if row.status == "archived"]),
    ]
    return [(title, part) for title, part in parts if part]


def line(row: Preference) -> str:
    """Renders a preference on one line."""
    verb = "" if row.acts else ("prefer " if row.polarity > 0 else "avoid ")
    notes: list[str] = [row.level] if row.acts else []
    if row.here:
        notes.append("in this chat")
    signs = pluralize(row.observations, "sign") if row.observations else "from your reactions and choices"
    notes.append("not seen for 180 days" if row.faded else signs)
    return f"{verb}{escape_markdown(row.pattern)} · {', '.join(notes)}"


def card(found: PreferenceSource, space_id: int, zone: tzinfo) -> CommandReply:
    """Renders a preference with what taught it, and its buttons."""
    row = found.preference
    verb = "Prefer" if row.polarity > 0 else "Avoid"
    lines = [f"**{verb}: {escape_markdown(row.pattern)}**", explain_preference(row)]
    lines += ["", "**What taught me this**"]
    lines += [f"- {evidence_line(one, zone)}" for one in found.evidence]
    if found.total > len(found.evidence):
        lines.append(f"- … and {found.total - len(found.evidence)} earlier")
    if found.remembered:
        lines += ["", "**What I remember**", *(f"- {escape_markdown(text)}" for text in found.remembered)]
        lines.append("If the two differ, what I remember counts more, because you told me.")
    rows = [
        [button("🗑 Forget", press_forget(space_id, row.id))],
        [button("‹ All", show_list(space_id))],
    ]
    return CommandReply("\n".join(lines), rows=rows)


def explain_preference(row: Preference) -> str:
    """Says what a preference does now, and why."""
    place = " in this chat" if row.here else ""
    if row.status == "archived":
        why = "I haven't seen it for 180 days" if row.faded else "you've shown me the opposite"
        return f"Retired: {why}, so I don't follow it any more."
    if row.status == "under_review":
        return "In doubt: you've shown me the opposite, so I don't follow it for now."
    if row.acts:
        return f"I follow it{place} ({row.level}, strength {row.strength:.2f}). {FADES}"
    if row.strength >= 0.40:
        return f"I don't follow it yet: I've only seen small signs of it (strength {row.strength:.2f})."
    return f"I don't follow it yet: I'm not sure enough (strength {row.strength:.2f})."


def evidence_line(one: Evidence, zone: tzinfo) -> str:
    """Renders an act on one line, with a link to the answer if there is one."""
    sign = "for" if one.polarity > 0 else "against"
    text = f"{moment(one.at, zone)}, {KINDS.get(one.kind, one.kind)} ({sign})"
    if one.text is None:
        return text
    quote = escape_markdown(shorten(one.text, 60))
    link = link_to(one.posted, one.topic_id)
    return f"{text}: [“{quote}”]({link})" if link else f"{text}: “{quote}”"


def describe_feedback(done: Feedback) -> str:
    """Says what was noted about an answer, and what follows from it."""
    if not done.patterns:
        if done.up is None:
            return "🎯 Noted: it was just right."
        return "👍 Noted: it was good." if done.up else "👎 Noted. What should I change? /tag too long"
    said = escape_markdown(", ".join(one.words for one in done.patterns))
    if new := [row for row in done.acts if row.new]:
        return f"{escape_markdown(describe_acting(new))}.{describe_remembered(done.remembered)}"
    acting = {(row.type, row.name) for row in done.acts}
    already = [one.words for one in done.patterns if (one.type, one.pattern) in acting]
    if len(already) == len(done.patterns):
        return f"🏷 Noted: {said}. I follow that already.{describe_remembered(done.remembered)}"
    if done.opposed:
        turn = escape_markdown(done.opposed[0].words)
        return f"🏷 Noted: {said}. You've said the opposite before. To turn it around at once: /preferences {turn}"
    if already:
        rest = f"I follow “{escape_markdown(', '.join(already))}” already, the rest once you've said so a few times."
        return f"🏷 Noted: {said}. {rest}"
    return f"🏷 Noted: {said}. I'll follow it once you've said so a few times."


def describe_remembered(memories: Sequence[str]) -> str:
    """Says which memories have the same words as a preference, and that they count more; empty for none."""
    if not memories:
        return ""
    said = ", ".join(f"“{escape_markdown(shorten(one, 100))}”" for one in memories)
    return f"\n🧠 I also remember: {said}. If that differs, it counts more. /memory lets you change it."


def drop_label(row: Preference) -> str:
    """Returns the label of the button that forgets a preference which takes effect."""
    return f"✖ Forget: {_say_pattern(row)}"


def describe_acting(rows: Sequence[Preference]) -> str:
    """Says which preferences answers follow from now on, in plain text; empty for none."""
    return f"🎚 From now on: {', '.join(map(_name_acting, rows))}" if rows else ""


def _name_acting(row: Preference) -> str:
    notes = [f"from {pluralize(row.observations, 'sign')}"] if row.observations > 1 else []
    if row.here:
        notes.append("only in this chat")
    said = _say_pattern(row)
    return f"{said} ({', '.join(notes)})" if notes else said


def _say_pattern(row: Preference) -> str:
    return row.pattern if row.polarity > 0 else f"no {row.pattern}"
