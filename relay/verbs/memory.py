"""Memory by a person's own word."""

from __future__ import annotations

from relay.models import Space
from relay.verbs.changes import changes_keyboard
from relay.verbs.registry import (
    NOT_YOURS,
    Call,
    Json,
    Pressed,
    Told,
    answers,
    literal,
    number_in,
    pressed,
    question,
    verb,
)

PAGE = 25
FACT_LENGTH = 500
FORGET_LETTERS = 4
DECISIONS = {"u": ("undo", "Undone."), "k": ("keep", "Done."), "x": ("discard", "Discarded.")}
CHANGED_SINCE = "This has changed again since. Undo that first."
OURS = ("u:", "c:", "d:", "e:", "n")
"""How the data of the buttons about changes begin."""


@verb("memory", usage="[page]", help="what I know about you")
async def memory(call: Call) -> Told:
    """Lists what is known in this space, newest first."""
    page = max(1, int(call.text)) if call.text.isdecimal() and len(call.text) < 6 else 1
    found = await call.store.memories(call.space, (page - 1) * PAGE, PAGE)
    if not found["total"]:
        waiting = f" {found['pending']} wait for your tap." if found["pending"] else ""
        return Told(f"I know nothing yet. Tell me about yourself, or use /remember.{waiting}")
    if not found["memories"]:
        return Told(f"There is no page {page}: {found['total']} things are known.")
    lines = []
    for row in found["memories"]:
        subject = f"{row['subject']}: " if call.space.kind == "group" and row["subject"] else ""
        mark = "◆ " if row["kind"] == "learning" else ""
        lines.append(f"- `#{row['id']}` {mark}{literal(subject + row['content'])}")
    pages = -(-found["total"] // PAGE)
    head = f"**What I know** ({found['total']}{f', page {page} of {pages}' if pages > 1 else ''})"
    more = f"\n\n/memory {page + 1} shows more." if page < pages else ""
    waiting = f"\n\n{found['pending']} wait for your tap under my answers." if found["pending"] else ""
    return Told(f"{head}\n\n" + "\n".join(lines) + f"\n\n/forget takes a number or words.{more}{waiting}")


@verb("remember", usage="<fact>", help="keep a fact")
async def remember(call: Call) -> Told:
    """Keeps a fact in the person's own words."""
    text = " ".join(call.text.split())
    if not text:
        return Told("What shall I remember? Write it after the command: /remember I like my tea strong")
    if len(text) > FACT_LENGTH:
        return Told(f"That is {len(text)} characters; a fact has at most {FACT_LENGTH}.")
    fact = {
        "action": "learn",
        "kind": "fact",
        "content": text,
        "subject_id": call.user_id,
        "subject": call.name,
        "by": "user",
    }
    done = await call.store.change_memory(call.turn, call.space, [fact])
    return Told("", done["changes"], done["failed"])


@verb("forget", usage="<number or words>", help="forget a fact")
async def forget(call: Call) -> Told:
    """Retires the one fact that is meant; asks when there are several."""
    words = " ".join(call.text.split())
    number = words.lstrip("#").isdecimal()
    if not words or (not number and sum(c.isalnum() for c in words) < FORGET_LETTERS):
        return Told(
            "What shall I forget? Write its number from /memory (/forget #12), "
            f"or at least {FORGET_LETTERS} letters of it."
        )
    action = {"action": "forget", "content": words[:500]} | ({"admin": True} if call.admin else {})
    done = await call.store.change_memory(call.turn, call.space, [action])
    return Told("", done["changes"], done["failed"])


@answers("")
async def edit(call: Call, memory_id: int) -> Told:
    """Puts the person's wording in place of a memory's (the reply to what the Edit button asks)."""
    row = await call.store.memory(call.space, memory_id)
    if row is not None and not may_edit(row, call.space, call.user_id, call.admin):
        return Told("That is not yours to change.")
    text = " ".join(call.text.split())[:FACT_LENGTH]
    change = {"action": "edit", "memory_id": memory_id, "content": text}
    done = await call.store.change_memory(call.turn, call.space, [change])
    return Told("", done["changes"], done["failed"])


@pressed("e")
async def ask_edit(call: Call, memory_id: str) -> Pressed:
    """Asks for the new wording of a memory."""
    row = await call.store.memory(call.space, number_in(memory_id) or 0)
    if row is None or not may_edit(row, call.space, call.user_id, call.admin):
        return Pressed("This is not yours to change, or it is gone.")
    text = f"{question('', row['id'])} – reply to this message with the new wording of:\n{literal(row['content'])}"
    return Pressed(says=Told(text, asks="New wording"))


@pressed("u")
async def open_changes(call: Call, turn_id: str) -> Pressed:
    """Shows what can be decided about each change of a turn."""
    return await redrawn(call, number_in(turn_id) or 0, opened=True)


@pressed("c")
async def close_changes(call: Call, turn_id: str) -> Pressed:
    """Folds that together again."""
    return await redrawn(call, number_in(turn_id) or 0, opened=False)


@pressed("d")
async def decide(call: Call, change_id: str, decision: str) -> Pressed:
    """Undoes, keeps or discards a change."""
    change, (decided, done) = number_in(change_id) or 0, DECISIONS.get(decision, ("", ""))
    changes = await call.store.decide_change(change, call.user_id, call.admin, decided)
    if changes is None:
        return NOT_YOURS
    rows = keyboard(call, changes, await call.store.turn_of_change(change), opened=True)
    stays = any(one["id"] == change and one["status"] == "applied" for one in changes)
    return Pressed(CHANGED_SINCE if decided == "undo" and stays else done, rows=rows)


async def redrawn(call: Call, turn_id: int, opened: bool) -> Pressed:
    """A turn's changes as buttons."""
    changes = await call.store.changes(turn_id, call.user_id, call.admin)
    return NOT_YOURS if changes is None else Pressed(rows=keyboard(call, changes, turn_id, opened))


def keyboard(call: Call, changes: list[Json], turn_id: int, opened: bool) -> list[list[Json]]:
    """A turn's changes as buttons, above those under the same message that are about something else."""
    present = (call.message.get("reply_markup") or {}).get("inline_keyboard") or []
    others = [row for row in present if not any(str(one.get("callback_data"))[:2] in OURS for one in row)]
    return [*changes_keyboard(changes, turn_id, opened), *others]


def may_edit(row: Json, space: Space, user_id: int, admin: bool) -> bool:
    """In a group a memory is reworded by whom it is about, or by an admin; in a private space by its owner."""
    return space.kind == "private" or admin or row["subject_id"] == user_id
