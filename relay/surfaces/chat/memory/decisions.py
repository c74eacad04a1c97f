"""Renders memory changes, under an answer and in a list, with buttons that undo, keep or discard them; and applies or
dismisses what a night proposed."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Literal

from relay.commands.memory import decide as commands
from relay.commands.memory.access import NOT_YOURS, find_space
from relay.commands.memory.browse import PAGE
from relay.core.errors import NotAllowed
from relay.core.models import Button, Rows
from relay.surfaces.chat import memory_buttons as buttons
from relay.surfaces.chat.changes import changes_keyboard, other_rows
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import action, pressed
from relay.surfaces.chat.memory.places import place_of
from relay.surfaces.chat.memory_pages import history_page
from relay.surfaces.chat.memory_views import HistoryView
from relay.surfaces.chat.reminders.dated import standing_offers
from relay.surfaces.chat.reply import ButtonReply, CommandReply, button

LEFT = "🌙 OK, I won't change anything."
DECISIONS: dict[str, commands.Decision] = {"u": "undo", "k": "keep", "x": "discard"}
DONE: dict[commands.Decision, str] = {"undo": "Undone.", "keep": "Done.", "discard": "Discarded."}


@pressed(buttons.OpenChanges)
async def open_changes(call: ChatContext, to: buttons.OpenChanges) -> ButtonReply:
    return ButtonReply(rows=_keyboard(call, await commands.turn_changes(call, to.turn_id), opened=True))


@pressed(buttons.CloseChanges)
async def close_changes(call: ChatContext, to: buttons.CloseChanges) -> ButtonReply:
    return ButtonReply(rows=_keyboard(call, await commands.turn_changes(call, to.turn_id), opened=False))


@pressed(buttons.ForgetOne)
async def forget_one(call: ChatContext, to: buttons.ForgetOne) -> ButtonReply:
    done = await decide_under_answer(call, buttons.DecideChange(to.change_id, to.decision))
    return replace(done, toast="Kept.") if done.toast == DONE["discard"] else done


@pressed(buttons.DecideChange)
async def decide_under_answer(call: ChatContext, to: buttons.DecideChange) -> ButtonReply:
    if to.decision == "n":
        decided = await commands.choose_none(call, to.change_id)
        toast = "OK, I won't forget any of them." if decided.outcome == "done" else commands.SETTLED
    elif to.decision == "k":
        decided = await commands.choose(call, to.change_id)
        toast = outcome_line(decided, "keep")
    else:
        decided = await commands.decide(call, to.change_id, DECISIONS[to.decision])
        toast = outcome_line(decided, DECISIONS[to.decision])
    return ButtonReply(toast, rows=_keyboard(call, decided, opened=True))


@pressed(buttons.ForgetCandidates)
async def forget_all(call: ChatContext, to: buttons.ForgetCandidates) -> ButtonReply:
    return ButtonReply("Done.", rows=_keyboard(call, await commands.choose_all(call, to.turn_id), opened=True))


@pressed(buttons.ListChanges)
async def show_history(call: ChatContext, to: buttons.ListChanges) -> ButtonReply:
    return (await history(call, to.view, to.space_id)).redraw()


@pressed(buttons.DecideInList)
async def press_in_list(call: ChatContext, to: buttons.DecideInList) -> ButtonReply:
    decision, view = DECISIONS[to.decision], to.view
    done = await commands.decide_in_list(call, to.change_id, decision, view.waiting, (view.page - 1) * PAGE)
    page = history_page(done.page, view.waiting, await place_of(call, done.decided.place.space), call.zone)
    return page.redraw(outcome_line(done.decided, decision))


@pressed(buttons.DecideWaiting)
async def decide_all(call: ChatContext, to: buttons.DecideWaiting) -> ButtonReply:
    done = await commands.decide_waiting(call, "keep" if to.decision == "k" else "discard", to.space_id)
    page = await history(call, HistoryView(waiting=True), to.space_id)
    left = f" {done.pending} still waiting." if done.pending else ""
    return page.redraw(f"{'Kept' if to.decision == 'k' else 'Discarded'}: {done.decided}.{left}")


async def history(call: ChatContext, view: HistoryView, space_id: int | None = None) -> CommandReply:
    """Lists a page of a space's changes, as `/memory changes` and `/memory waiting` do. `space_id` None: this space."""
    space = await find_space(call, space_id)
    found = await commands.list_changes(call, view.waiting, (view.page - 1) * PAGE, space_id=space_id)
    return history_page(found, view.waiting, await place_of(call, space), call.zone).returning(found, private=True)


def outcome_line(decided: commands.Decided, decision: commands.Decision) -> str:
    """Says what a decision did."""
    return DONE[decision] if decided.outcome == "done" else commands.REFUSALS[decided.outcome]


def _keyboard(call: ChatContext, found: commands.TurnChanges, opened: bool) -> list[list[Button]]:
    """Returns the buttons of a turn's changes, above the other buttons of the same message."""
    if found.place.turn_id is None:
        raise NotAllowed(NOT_YOURS)
    own = changes_keyboard(found.changes, found.place.turn_id, opened, found.place.keeps)
    return [*own, *standing_offers(other_rows(call.said.rows), found.changes)]


def question_rows(consolidation_id: int) -> Rows:
    """Returns the buttons that apply or dismiss a proposal."""
    return [[button("Go on", settle(consolidation_id, "y")), button("Leave it", settle(consolidation_id, "n"))]]


@action("nt")
async def settle(call: ChatContext, consolidation_id: int, answer: Literal["y", "n"]) -> ButtonReply:
    """Applies what a night proposed (y), or changes nothing (n)."""
    done = await commands.settle_consolidation(call, consolidation_id, answer == "y")
    if done is None:
        return ButtonReply(commands.SETTLED, rows=[], refused=True)
    counts = [f"{number:,} {word}" for word, number in asdict(done).items() if number]
    tidied = f"🌙 Tidied: {', '.join(counts) or 'nothing left to do'}. /memory changes lists it."
    return ButtonReply("Done.", tidied if answer == "y" else LEFT, [])
