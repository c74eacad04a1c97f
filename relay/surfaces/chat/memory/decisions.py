"""Shows changes of memory, under an answer and in a list, with buttons that undo, keep or discard them."""

from __future__ import annotations

from relay.commands.memory.access import NOT_YOURS, find_change, find_space
from relay.commands.memory.browse import PAGE
from relay.commands.memory.decide import (
    Decided,
    Decision,
    TurnChanges,
    choose,
    choose_all,
    choose_none,
    decide,
    decide_waiting,
    list_changes,
    turn_changes,
)
from relay.core.errors import NotAllowed
from relay.core.models import Button
from relay.surfaces.chat.changes import changes_keyboard, other_rows
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import pressed
from relay.surfaces.chat.memory.places import place_of
from relay.surfaces.chat.memory_buttons import (
    CloseChanges,
    DecideChange,
    DecideInList,
    DecideWaiting,
    ForgetAllMeant,
    HistoryView,
    ListChanges,
    OpenChanges,
)
from relay.surfaces.chat.memory_pages import Page, history_page
from relay.surfaces.chat.reply import ButtonReply, CommandReply

DECISIONS: dict[str, Decision] = {"u": "undo", "k": "keep", "x": "discard"}
DONE: dict[Decision, str] = {"undo": "Undone.", "keep": "Done.", "discard": "Discarded."}
CHANGED_SINCE = "This has changed again since. Undo that first."
SETTLED = "That is settled already."


@pressed(OpenChanges)
async def open_changes(call: ChatContext, to: OpenChanges) -> ButtonReply:
    """Shows what can be decided about each change of a turn."""
    return ButtonReply(rows=_keyboard(call, await turn_changes(call, to.turn_id), opened=True))


@pressed(CloseChanges)
async def close_changes(call: ChatContext, to: CloseChanges) -> ButtonReply:
    """Folds that together again."""
    return ButtonReply(rows=_keyboard(call, await turn_changes(call, to.turn_id), opened=False))


@pressed(DecideChange)
async def decide_under_answer(call: ChatContext, to: DecideChange) -> ButtonReply:
    """Undoes, keeps or discards a change."""
    if to.decision == "n":
        decided = await choose_none(call, to.change_id)
        said = "I forget none of them." if decided.outcome == "done" else SETTLED
    elif to.decision == "k":
        decided = await choose(call, to.change_id)
        said = said_of(decided, "keep")
    else:
        decided = await decide(call, to.change_id, DECISIONS[to.decision])
        said = said_of(decided, DECISIONS[to.decision])
    return ButtonReply(said, rows=_keyboard(call, decided, opened=True))


@pressed(ForgetAllMeant)
async def forget_all(call: ChatContext, to: ForgetAllMeant) -> ButtonReply:
    """Forgets all that a forgetting may mean."""
    return ButtonReply("Done.", rows=_keyboard(call, await choose_all(call, to.turn_id), opened=True))


@pressed(ListChanges)
async def show_history(call: ChatContext, to: ListChanges) -> ButtonReply:
    """Shows a page of a space's changes."""
    page = await _page(call, to.view, to.space_id)
    return ButtonReply(text=page.text, rows=page.rows)


@pressed(DecideInList)
async def decide_in_list(call: ChatContext, to: DecideInList) -> ButtonReply:
    """Undoes, keeps or discards a change in the list of them."""
    await find_change(call, to.change_id)
    decided = await decide(call, to.change_id, DECISIONS[to.decision])
    found = await call.store.history(
        decided.place.space, to.view.waiting, (to.view.page - 1) * PAGE, PAGE, call.user_id, call.admin
    )
    page = history_page(found, to.view.waiting, await place_of(call, decided.place.space), call.zone)
    return ButtonReply(said_of(decided, DECISIONS[to.decision]), page.text, page.rows)


@pressed(DecideWaiting)
async def decide_all(call: ChatContext, to: DecideWaiting) -> ButtonReply:
    """Keeps or discards all that waits."""
    done = await decide_waiting(call, "keep" if to.decision == "k" else "discard", to.space_id)
    page = await _page(call, HistoryView(waiting=True), to.space_id)
    left = f" {done.pending} still wait." if done.pending else ""
    return ButtonReply(f"{'Kept' if to.decision == 'k' else 'Discarded'}: {done.decided}.{left}", page.text, page.rows)


async def history(call: ChatContext, view: HistoryView) -> CommandReply:
    """`/memory changes` and `/memory waiting`."""
    found = await list_changes(call, view.waiting, (view.page - 1) * PAGE)
    page = history_page(found, view.waiting, await place_of(call, call.space), call.zone)
    return CommandReply(page.text, rows=page.rows, private=True, result=found)


async def _page(call: ChatContext, view: HistoryView, space_id: int) -> Page:
    space = await find_space(call, space_id)
    found = await list_changes(call, view.waiting, (view.page - 1) * PAGE, space_id=space_id)
    return history_page(found, view.waiting, await place_of(call, space), call.zone)


def said_of(decided: Decided, decision: Decision) -> str:
    """What became of a decision, in words."""
    return {"done": DONE[decision], "settled": SETTLED, "changed since": CHANGED_SINCE}[decided.outcome]


def _keyboard(call: ChatContext, found: TurnChanges, opened: bool) -> list[list[Button]]:
    """A turn's changes as buttons, above those under the same message that are about something else."""
    if found.place.turn_id is None:
        raise NotAllowed(NOT_YOURS)
    own = changes_keyboard(found.changes, found.place.turn_id, opened, found.place.keeps)
    return [*own, *other_rows(call.said.rows)]
