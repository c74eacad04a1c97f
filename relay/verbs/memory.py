"""Memory by a person's own word."""

from __future__ import annotations

from typing import Any

from relay.models import Space
from relay.verbs.registry import Call, Told, verb

PAGE = 25
FACT_LENGTH = 500
FORGET_LETTERS = 4


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


async def edit(call: Call, memory_id: int) -> Told:
    """Puts the person's wording in place of a memory's (reached by the Edit button)."""
    row = await call.store.memory(call.space, memory_id)
    if row is not None and not may_edit(row, call.space, call.user_id, call.admin):
        return Told("That is not yours to change.")
    text = " ".join(call.text.split())[:FACT_LENGTH]
    change = {"action": "edit", "memory_id": memory_id, "content": text}
    done = await call.store.change_memory(call.turn, call.space, [change])
    return Told("", done["changes"], done["failed"])


def may_edit(row: dict[str, Any], space: Space, user_id: int, admin: bool) -> bool:
    """In a group a memory is reworded by whom it is about, or by an admin; in a private space by its owner."""
    return space.kind == "private" or admin or row["subject_id"] == user_id


def literal(text: str) -> str:
    """A text as Markdown that shows just it."""
    # As character references: a backslash before a bracket would begin a formula.
    return "".join(f"&#{ord(c)};" if c in "\\`*_[]()<>#~|$!&" else c for c in " ".join(text.split()))
