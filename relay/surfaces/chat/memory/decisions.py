"""What a person decides about changes of memory: undo, keep, discard; under an answer, and in a list of all of them."""

from __future__ import annotations

from relay.core.models import Space
from relay.core.text import parse_number
from relay.memory.rows.changes import ChangePlace, MemoryChange
from relay.surfaces.chat.changes import changes_keyboard
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import pressed
from relay.surfaces.chat.memory_pages import LAST_PAGE, PAGE, Page, history_page
from relay.surfaces.chat.permissions import GONE, at_home, may_see, place_of, shown, space_of
from relay.surfaces.chat.reply import NOT_YOURS, ButtonReply, Json

DECISIONS = {"u": ("undo", "Undone."), "k": ("keep", "Done."), "x": ("discard", "Discarded.")}
CHANGED_SINCE = "This has changed again since. Undo that first."
SETTLED = "That is settled already."
ELSEWHERE = ButtonReply("Others are here, and this is not for them. /memory changes shows it in our own chat.")
OURS = ("u:", "c:", "d:", "e:", "k:", "n", "n:", "fa")
"""How the data of the buttons about changes begin."""


@pressed("u")
async def open_changes(call: ChatContext, turn_id: str) -> ButtonReply:
    """Shows what can be decided about each change of a turn."""
    return await redrawn(call, parse_number(turn_id) or 0, opened=True)


@pressed("c")
async def close_changes(call: ChatContext, turn_id: str) -> ButtonReply:
    """Folds that together again."""
    return await redrawn(call, parse_number(turn_id) or 0, opened=False)


@pressed("d")
async def decide(call: ChatContext, change_id: str, decision: str) -> ButtonReply:
    """Undoes, keeps or discards a change; `n` is none of those that a forgetting may mean."""
    change = parse_number(change_id) or 0
    where = await call.store.changed_in(change_id=change)
    refusal = await refused(call, where)
    if where is None or refusal is not None:
        return refusal or NOT_YOURS
    before = await call.store.changes(where.turn_id or 0, call.user_id, call.admin) if decision == "n" else None
    changes, toast = await decided(call, change, "x" if decision == "n" else decision)
    if changes is not None and decision in ("k", "n") and toast != SETTLED:
        changes = await settled(call, change, changes)
    if changes is not None and decision == "n":
        waited = any(one.action == "forget" and one.status == "pending" for one in before or ())
        toast = "I forget none of them." if waited else SETTLED
    return ButtonReply(toast, rows=None if changes is None else keyboard(call, changes, where, opened=True))


async def settled(call: ChatContext, change: int, changes: list[MemoryChange]) -> list[MemoryChange]:
    """A turn's changes once one of those that a forgetting may mean is decided: the others are not forgotten."""
    forgets = {one.id: one.status for one in changes if one.action == "forget"}
    if change not in forgets:
        return changes
    for other in (id for id, status in forgets.items() if status == "pending"):
        changes = await call.store.decide_change(other, call.user_id, call.admin, "discard") or changes
    return changes


async def redrawn(call: ChatContext, turn_id: int, opened: bool) -> ButtonReply:
    """A turn's changes as buttons."""
    where = await call.store.changed_in(turn_id=turn_id)
    refusal = await refused(call, where)
    if where is None or refusal is not None:
        return refusal or NOT_YOURS
    changes = await call.store.changes(turn_id, call.user_id, call.admin)
    return NOT_YOURS if changes is None else ButtonReply(rows=keyboard(call, changes, where, opened))


async def refused(call: ChatContext, where: ChangePlace | None) -> ButtonReply | None:
    """Why changes are not shown to this person in this place; None when they may be."""
    if where is None or not await may_see(call, where.space):
        return NOT_YOURS
    return None if at_home(call, where.space) else ELSEWHERE


async def decided(call: ChatContext, change: int, decision: str) -> tuple[list[MemoryChange] | None, str]:
    """Decides about a change: the changes of its turn after that (None: it is not this person's) and what to say."""
    if decision not in DECISIONS:
        return None, GONE.toast
    decision, done = DECISIONS[decision]
    changes = await call.store.decide_change(change, call.user_id, call.admin, decision)
    if changes is None:
        return None, NOT_YOURS.toast
    status = next((one.status for one in changes if one.id == change), "")
    if status != {"keep": "applied", "discard": "discarded"}.get(decision, status):
        return changes, SETTLED
    return changes, CHANGED_SINCE if decision == "undo" and status == "applied" else done


def keyboard(call: ChatContext, changes: list[MemoryChange], where: ChangePlace, opened: bool) -> list[list[Json]]:
    """A turn's changes as buttons, above those under the same message that are about something else."""
    present = (call.message.get("reply_markup") or {}).get("inline_keyboard") or []
    others = [row for row in present if not any(str(one.get("callback_data"))[:2] in OURS for one in row)]
    return [*changes_keyboard(changes, where.turn_id or 0, opened, where.keeps), *others]


@pressed("mc")
async def show_history(call: ChatContext, space_id: str, view: str) -> ButtonReply:
    """A page of a space's changes: all (`a.1`), or those that wait (`w.1`)."""
    space = await space_of(call, space_id)
    return GONE if space is None else shown(await history(call, space, view))


@pressed("md")
async def decide_in_history(call: ChatContext, change_id: str, decision: str, view: str) -> ButtonReply:
    """Undoes, keeps or discards a change in the list of them."""
    change = parse_number(change_id) or 0
    where = await call.store.changed_in(change_id=change) if call.private else None
    if where is None or not await may_see(call, where.space):
        return GONE
    changes, toast = await decided(call, change, decision)
    if changes is None:
        return ButtonReply(toast)
    page = await history(call, where.space, view)
    return ButtonReply(toast, page.text, page.rows)


async def history(call: ChatContext, space: Space, view: str) -> Page:
    """A page of a space's changes, for this person."""
    kind, _, number = view.partition(".")
    start = (min(max(parse_number(number) or 1, 1), LAST_PAGE) - 1) * PAGE
    found = await call.store.history(space, kind == "w", start, PAGE, call.user_id, call.admin)
    return history_page(found, kind == "w", await place_of(call, space), call.zone)
