"""Renders memory changes as text and buttons. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from relay.core.models import Button, Rows
from relay.core.text import escape_markdown, shorten
from relay.memory.rows.changes import ChangeStatus, Failure, MemoryChange
from relay.surfaces.chat.callbacks import Callback, decode
from relay.surfaces.chat.memory_buttons import (
    CloseChanges,
    DecideChange,
    EditMemory,
    ForgetCandidates,
    ForgetOne,
    KeepAnswer,
    OpenChanges,
)
from relay.surfaces.chat.reply import NOTHING, arrange, button

BUTTON = 40
CANDIDATES = 250
"""The most characters for all candidates together, on the line under an answer."""
MOST_MATCH = 10
"""`relay.forget_memory` proposes at most this many candidates."""
ABOUT_CHANGES = (OpenChanges, CloseChanges, DecideChange, EditMemory, KeepAnswer, ForgetCandidates, ForgetOne)
NONE = "✖ None of these"
KEEP_IT = "✖ Keep it"
WHICH = "🧠 Which one should I forget?"
DID_YOU_MEAN = "🧠 Did you mean"
SHOULD_I_REMEMBER = "◆ Should I remember this?"
REMINDED = " (the reminder for it stays: /reminders)"
STATES: tuple[ChangeStatus, ...] = ("pending", "applied", "undone", "discarded")
DECIDES = (OpenChanges, CloseChanges, DecideChange, ForgetCandidates, ForgetOne)
"""The buttons under a message that shows changes."""


def first_rows(changes: Sequence[MemoryChange], turn_id: int, keeps: bool = False) -> list[list[Button]]:
    """Returns the buttons under a new answer: candidates to forget at once, the rest behind one button."""
    rest = [one for one in changes if not asks_which(one, changes)]
    return [*choice_rows(changes), *make_closed_row(rest, turn_id, keeps)]


def choice_rows(changes: Sequence[MemoryChange]) -> list[list[Button]]:
    """Returns a button for each candidate, by its number in the text, and one for none of them."""
    asked = candidates(changes)
    if not asked:
        return []
    numbered = [button(f"🗑 {number}", DecideChange(one.id, "k")) for number, one in enumerate(asked, 1)]
    return [*arrange(numbered, 5), [button(NONE, DecideChange(asked[0].id, "n"))]]


def choice_text(changes: Sequence[MemoryChange], more: bool, named: bool) -> str:
    """Lists the candidates by number (Markdown). `more`: others match too. `named`: say whom each is about."""
    lines = [WHICH, ""]
    for number, one in enumerate(candidates(changes), 1):
        subject = f"{shorten(one.subject, 30)}: " if named and one.subject else ""
        lines.append(f"- **{number}** · {escape_markdown(shorten(subject + one.content))}")
    return "\n".join([*lines, "", "There are more. Use more specific words to find them."] if more else lines)


def candidates(changes: Sequence[MemoryChange]) -> list[MemoryChange]:
    """Returns the memories that `forget` may refer to: two or more, or none if nothing is left to choose."""
    return [change for change in changes if asks_which(change, changes)][:MOST_MATCH]


def make_closed_row(changes: Sequence[MemoryChange], turn_id: int, keeps: bool = False) -> list[list[Button]]:
    """Returns the button that opens a turn's changes, if there are any, and the one that keeps its answer (`keeps`)."""
    row = []
    if changes:
        pending = any(change.status == "pending" for change in changes)
        row.append(button("🧠 Keep or discard…" if pending else "↩ Undo / Edit…", OpenChanges(turn_id)))
    if keeps:
        row.append(button("◆ Keep this", KeepAnswer(turn_id)))
    return [row] if row else []


def memory_line(changes: Sequence[MemoryChange], failed: Sequence[Failure]) -> str:
    """Describes on one line what memory did, and what it could not do."""
    parts = [change_line(change) for change in changes if not asks_which(change, changes)]
    if asked := candidates(changes):
        length = min(60, CANDIDATES // len(asked))
        numbered = "  ".join(f"{number} {shorten(one.content, length)}" for number, one in enumerate(asked, 1))
        parts.insert(0, f"{WHICH} {numbered}")  # first, since a long line is cut at its end
    parts.extend(f"⚠️ {failure_line(failure)}" for failure in failed)
    return " · ".join(parts)


def find_uncertain(changes: Sequence[MemoryChange]) -> MemoryChange | None:
    """Returns the one memory that `forget` may refer to, if it waits for a decision and nothing else happened."""
    alone = len(changes) == 1 and changes[0].action == "forget" and changes[0].status == "pending"
    return changes[0] if alone else None


def asks_which(change: MemoryChange, changes: Sequence[MemoryChange]) -> bool:
    """Whether a change is one of several candidates for the same request."""
    waiting = [c for c in changes if c.action == "forget" and c.status == "pending"]
    return change in waiting and len(waiting) > 1


def change_line(change: MemoryChange) -> str:
    """Describes one change and its present state."""
    content = shorten(change.content)
    match change.action, change.status:
        case "refresh", "undone":
            return f"↩ Undone, back to: {shorten(change.before or change.content)}"
        case _, "undone":
            return f"↩ Undone: {content}"
        case "forget", "discarded":
            return f"✖ Not forgotten: {content}"
        case _, "discarded":
            return f"✖ Discarded: {content}"
        case "forget", "pending":
            return f"🧠 Forget “{content}”? Waiting for your tap"
        case "supersede" | "merge", "pending":
            return f"🧠 To remember: {content} (instead of: {shorten(change.before or '', 60)}). Waiting for your tap"
        case _, "pending":
            return f"🧠 To remember: {content}. Waiting for your tap"
    return describe_done(change)


def describe_done(change: MemoryChange) -> str:
    """Describes what a change did, even if it was undone since."""
    content = shorten(change.content)
    was = f" (was: {shorten(change.before, 60)})" if change.before and change.before != change.content else ""
    stays = REMINDED if change.reminded else ""
    match change.action:
        case "forget":
            return f"🧠 Forgot: {content}{stays}"
        case "pin":
            return f"📌 Pinned: {content}"
        case "unpin":
            return f"📌 Unpinned: {content}"
        case "archive":
            return f"🗄 Archived: {content}"
        case "restore":
            return f"🧠 Restored: {content}{was}"
        case "refresh" | "supersede" | "merge" if was:
            return f"🧠 Updated: {content}{was}{stays}"
        case "refresh":
            return f"🧠 Already knew: {content}"
    return f"{'◆ Kept' if change.kind == 'learning' else '🧠 Learned'}: {content}"


def failure_line(failure: Failure) -> str:
    """Says why memory could not do something."""
    verbs = {"learn": "Not learned", "forget": "Not forgotten", "remember": "Not saved"}
    why = f"{failure.failed}, {failure.hint}" if failure.hint else failure.failed
    return f"{verbs.get(str(failure.tag).lower(), 'Not done')} ({why}): {shorten(failure.text, 60)}"


def former_lines(changes: Sequence[MemoryChange]) -> list[tuple[re.Pattern[str], str]]:
    """Returns patterns for what a message may still say about changes, each with the present state."""
    forgets = [one for one in changes if one.action == "forget"]
    found: list[tuple[re.Pattern[str], str]] = []
    if len(forgets) > 1 and not candidates(changes):
        asked = memory_line([replace(one, status="pending") for one in forgets], [])
        settled = [one for one in forgets if one.status != "discarded"] or forgets
        found.append((re.compile(re.escape(asked)), memory_line(settled, [])))
    for one in changes:
        said = [re.escape(change_line(replace(one, status=state, reminded=False))) for state in STATES]
        if one.before:  # an undone change has its former wording again
            said.append(rf"🧠 (?:Updated|Restored): [^\n]{{1,90}} \(was: {re.escape(shorten(one.before, 60))}\)")
        pattern = rf"(?:{'|'.join(said)})(?:{re.escape(REMINDED)})?(?= · |$)"
        found.append((re.compile(pattern, re.MULTILINE), change_line(one)))
    waiting = any(one.waits for one in changes)
    if changes and (not waiting or (len(forgets) > 1 and not candidates(changes))):
        over = (WHICH,) if waiting else (WHICH, DID_YOU_MEAN, SHOULD_I_REMEMBER)
        questions = "|".join(map(re.escape, over))
        settled = [one for one in changes if one.status != "discarded"] or list(changes)
        found.append((re.compile(rf"\A(?:{questions}).*", re.DOTALL), memory_line(settled, [])))
    return found


def current_rows(
    changes: Sequence[MemoryChange], turn_id: int, shown: Rows, keeps: bool | None = None, opened: bool | None = None
) -> list[list[Button]]:
    """Returns the buttons of a message that shows a turn's changes. `keeps`: whether it has ◆ while closed; None: as
    before; `opened`: likewise, whether it is open."""
    opened = is_open(shown) if opened is None else opened
    keeps = has_button(shown, KeepAnswer) if keeps is None else keeps
    rest = [one for one in changes if not asks_which(one, changes)]
    return [*choice_rows(changes), *changes_keyboard(rest, turn_id, opened, keeps), *other_rows(shown)]


def is_open(shown: Rows) -> bool:
    """Tests whether a message shows the buttons of each change."""
    return has_button(shown, CloseChanges)


def has_button(shown: Rows, kind: type[Callback]) -> bool:
    """Tests whether a message has a button of a kind."""
    return any(isinstance(decode(one.callback_data or NOTHING), kind) for row in shown for one in row)


def changes_keyboard(
    changes: Sequence[MemoryChange], turn_id: int, opened: bool, keeps: bool = False
) -> list[list[Button]]:
    """Returns the buttons under an answer: one while closed; when opened, those for each change."""
    if not opened:
        return make_closed_row(changes, turn_id, keeps)
    rows: list[list[Button]] = []
    unforgotten = [change for change in changes if change.action == "forget" and change.status == "discarded"]
    for change in changes:
        content = shorten(change.content, BUTTON)
        if change.status == "pending":
            verb = "🗑 Forget" if change.action == "forget" else "✅ Keep"
            keep = button(f"{verb}: {content}", DecideChange(change.id, "k"))
            rows.append([keep, button("✖ Discard", DecideChange(change.id, "x"))])
        elif change.status == "applied":
            rows.append([button(f"↩ Undo: {content}", DecideChange(change.id, "u"))])
            if change.action not in ("forget", "archive"):
                rows[-1].append(button("✎ Edit", EditMemory(change.memory_id)))
        elif change not in unforgotten:
            rows.append([button(change_line(change)[:60], NOTHING)])
    if unforgotten:
        which = shorten(unforgotten[0].content, BUTTON) if len(unforgotten) == 1 else f"{len(unforgotten)} of these"
        rows.append([button(f"✖ Not forgotten: {which}", NOTHING)])
    rows.append([button("‹ Close", CloseChanges(turn_id))])
    return rows


def acts_on(one: Button, number: int, *kinds: Callable[..., Callback]) -> bool:
    """Tests whether a button is of one of these kinds and about this id, the first value in its data."""
    found = decode(one.callback_data)
    return found is not None and type(found) in kinds and next(iter(vars(found).values())) == number


def other_rows(rows: Rows, *kinds: Callable[..., Callback]) -> list[list[Button]]:
    """Returns a message's rows of buttons without those of these kinds (by default, those about changes)."""
    return [list(row) for row in rows if not any(_is_one(button, kinds) for button in row)]


def _is_one(shown: Button, kinds: tuple[Callable[..., Callback], ...]) -> bool:
    data = shown.callback_data or NOTHING
    return (data == NOTHING and not kinds) or type(decode(data)) in (kinds or ABOUT_CHANGES)
