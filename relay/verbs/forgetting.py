"""Forgetting several memories at once: by a pattern, shown first, undone in one tap."""

from __future__ import annotations

from relay.verbs.changes import candidates
from relay.verbs.decisions import keyboard, refused
from relay.verbs.registry import (
    NOT_YOURS,
    Call,
    Pressed,
    Told,
    button,
    counted,
    literal,
    number_in,
    pressed,
    short,
)

SHOWN = 10


async def by_pattern(call: Call, pattern: str) -> Told:
    """Shows what a pattern (`job*`) would have forgotten, and how many."""
    found = await call.store.forget_preview(call.turn, call.space, pattern[:200], call.user_id, call.admin)
    total = found["total"]
    if not total:
        return Told(f"Nothing that I know fits “{literal(short(pattern, 60))}”.", refused=True)
    lines = [f"- `#{row['number']}` {literal(short(row['content'], 200))}" for row in found["memories"]]
    more = [f"- … and {total - SHOWN:,} more"] if total > SHOWN else []
    asked = f"🧠 **Forget {counted(total, 'memory', 'memories')}?**"
    buttons = [
        button(f"🗑 Forget {'it' if total == 1 else f'all {total:,}'}", f"fp:{call.turn.turn_id}:y"),
        button("✖ Keep", f"fp:{call.turn.turn_id}:n"),
    ]
    return Told("\n".join([asked, "", *lines, *more]), rows=[buttons])


@pressed("fp", confirms=True)
async def decide_pattern(call: Call, turn_id: str, decision: str) -> Pressed:
    """Forgets what was shown, leaves it, or takes the forgetting back."""
    number = number_in(turn_id) or 0
    if decision == "n":
        shown = await call.store.was_shown(number, call.user_id)
        return Pressed("Kept.", "Nothing was forgotten.", []) if shown else NOT_YOURS
    if decision not in ("y", "u"):
        return NOT_YOURS
    undo = decision == "u"
    found = await call.store.forget_shown(number, call.user_id, call.admin, undo)
    while found and found["left"]:
        found = await call.store.forget_shown(number, call.user_id, call.admin, undo)
    if found is None:
        return NOT_YOURS
    many = counted(found["done"], "memory", "memories")
    if undo:
        return Pressed("Undone.", f"↩ {many} brought back.", [])
    said = f"🧠 Forgot {many}."
    return Pressed(said, said, [[button("↩ Undo all", f"fp:{number}:u")]])


@pressed("fa")
async def forget_all(call: Call, turn_id: str) -> Pressed:
    """Forgets all that a forgetting may mean."""
    number = number_in(turn_id) or 0
    where = await call.store.changed_in(turn_id=number)
    refusal = await refused(call, where)
    if where is None or refusal is not None:
        return refusal or NOT_YOURS
    changes = await call.store.changes(number, call.user_id, call.admin)
    if changes is None:
        return NOT_YOURS
    for one in candidates(changes):
        changes = await call.store.decide_change(one["id"], call.user_id, call.admin, "keep") or changes
    return Pressed("Done.", rows=keyboard(call, changes, where, opened=True))
