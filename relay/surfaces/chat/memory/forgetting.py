"""Forgetting several memories at once: by a pattern, shown first, undone in one tap."""

from __future__ import annotations

from relay.core.text import escape_markdown, parse_number, pluralize, shorten
from relay.surfaces.chat.changes import candidates
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import pressed
from relay.surfaces.chat.memory.decisions import keyboard, refused
from relay.surfaces.chat.reply import NOT_YOURS, ButtonReply, CommandReply, button

SHOWN = 10


async def by_pattern(call: ChatContext, pattern: str) -> CommandReply:
    """Shows what a pattern (`job*`) would have forgotten, and how many."""
    found = await call.store.forget_preview(call.turn, call.space, pattern[:200], call.user_id, call.admin)
    total = found.total
    if not total:
        return CommandReply(f"Nothing that I know fits “{escape_markdown(shorten(pattern, 60))}”.", refused=True)
    lines = [f"- `#{row.number}` {escape_markdown(shorten(row.content, 200))}" for row in found.memories]
    more = [f"- … and {total - SHOWN:,} more"] if total > SHOWN else []
    asked = f"🧠 **Forget {pluralize(total, 'memory', 'memories')}?**"
    buttons = [
        button(f"🗑 Forget {'it' if total == 1 else f'all {total:,}'}", f"fp:{call.turn.turn_id}:y"),
        button("✖ Keep", f"fp:{call.turn.turn_id}:n"),
    ]
    return CommandReply("\n".join([asked, "", *lines, *more]), rows=[buttons])


@pressed("fp", confirms=True)
async def decide_pattern(call: ChatContext, turn_id: str, decision: str) -> ButtonReply:
    """Forgets what was shown, leaves it, or takes the forgetting back."""
    number = parse_number(turn_id) or 0
    if decision == "n":
        shown = await call.store.was_shown(number, call.user_id)
        return ButtonReply("Kept.", "Nothing was forgotten.", []) if shown else NOT_YOURS
    if decision not in ("y", "u"):
        return NOT_YOURS
    undo = decision == "u"
    found = await call.store.forget_shown(number, call.user_id, call.admin, undo)
    while found and found.left:
        found = await call.store.forget_shown(number, call.user_id, call.admin, undo)
    if found is None:
        return NOT_YOURS
    many = pluralize(found.done, "memory", "memories")
    if undo:
        return ButtonReply("Undone.", f"↩ {many} brought back.", [])
    said = f"🧠 Forgot {many}."
    return ButtonReply(said, said, [[button("↩ Undo all", f"fp:{number}:u")]])


@pressed("fa")
async def forget_all(call: ChatContext, turn_id: str) -> ButtonReply:
    """Forgets all that a forgetting may mean."""
    number = parse_number(turn_id) or 0
    where = await call.store.changed_in(turn_id=number)
    refusal = await refused(call, where)
    if where is None or refusal is not None:
        return refusal or NOT_YOURS
    changes = await call.store.changes(number, call.user_id, call.admin)
    if changes is None:
        return NOT_YOURS
    for one in candidates(changes):
        changes = await call.store.decide_change(one.id, call.user_id, call.admin, "keep") or changes
    return ButtonReply("Done.", rows=keyboard(call, changes, where, opened=True))
