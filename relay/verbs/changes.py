"""What memory did, in words and buttons. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from relay.verbs.registry import Json, button, short

BUTTON = 40


def closed_row(changes: Sequence[Json], turn_id: int) -> list[list[Json]]:
    """The one button that opens what can be decided about a turn's changes; none without changes."""
    if not changes:
        return []
    pending = any(change["status"] == "pending" for change in changes)
    return [[button("🧠 Keep or discard…" if pending else "↩ Undo / Edit…", f"u:{turn_id}")]]


def memory_line(changes: Sequence[Json], failed: Sequence[Json]) -> str:
    """One small line about what memory did, and what it was asked but did not do."""
    told = [change_line(change) for change in changes if not asks_which(change, changes)]
    asked = [change for change in changes if asks_which(change, changes)]
    if asked:
        told.append(f"🧠 Which one should I forget? ({len(asked)} match)")
    told.extend(f"⚠️ {failure_line(failure)}" for failure in failed)
    return " · ".join(told)


def asks_which(change: Json, changes: Sequence[Json]) -> bool:
    """Whether a change is one of several that its words may have meant."""
    waiting = [c for c in changes if c["action"] == "forget" and c["status"] == "pending"]
    return change in waiting and len(waiting) > 1


def change_line(change: Json) -> str:
    """What happened to one memory, in words."""
    content = short(change["content"])
    match change["action"], change["status"]:
        case _, "undone":
            return f"↩ Undone: {content}"
        case _, "discarded":
            return f"✖ Discarded: {content}"
        case "forget", "pending":
            return f"🧠 Forget “{content}”? It waits for your tap"
        case _, "pending":
            return f"🧠 To remember: {content}. It waits for your tap"
    return done_line(change)


def done_line(change: Json) -> str:
    """What a change did, whatever became of it since."""
    content = short(change["content"])
    match change["action"]:
        case "forget":
            return f"🧠 Forgot: {content}"
        case "pin":
            return f"📌 Pinned: {content}"
        case "unpin":
            return f"📌 Unpinned: {content}"
        case "refresh" if change["before"] and change["before"] != change["content"]:
            return f"🧠 Updated: {content} (was: {short(change['before'], 60)})"
        case "refresh":
            return f"🧠 Knew already: {content}"
    return f"{'◆ Kept' if change['kind'] == 'learning' else '🧠 Learned'}: {content}"


def failure_line(failure: Json) -> str:
    """Why memory did not do what it was asked."""
    verbs = {"learn": "Not learned", "forget": "Not forgotten", "remember": "Not kept"}
    return f"{verbs.get(str(failure['tag']).lower(), 'Not done')} ({failure['failed']}): {short(failure['text'], 60)}"


def changes_keyboard(changes: Sequence[Json], turn_id: int, opened: bool) -> list[list[Json]]:
    """The buttons under an answer: closed, one button; opened, what can be decided about each change."""
    if not opened:
        return closed_row(changes, turn_id)
    rows: list[list[Json]] = []
    for change in changes:
        content = short(change["content"], BUTTON)
        if change["status"] == "pending":
            verb = "🗑 Forget" if change["action"] == "forget" else "✅ Keep"
            rows.append(
                [button(f"{verb}: {content}", f"d:{change['id']}:k"), button("✖ Discard", f"d:{change['id']}:x")]
            )
        elif change["status"] == "applied":
            rows.append([button(f"↩ Undo: {content}", f"d:{change['id']}:u")])
            if change["action"] != "forget":
                rows[-1].append(button("✎ Edit", f"e:{change['memory_id']}"))
        else:
            rows.append([button(change_line(change)[:60], "n")])
    rows.append([button("‹ Close", f"c:{turn_id}")])
    return rows
