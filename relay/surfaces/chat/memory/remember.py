"""Memory by a person's own word: keeping, forgetting, rewording."""

from __future__ import annotations

import re

from relay.core.text import escape_markdown, parse_number
from relay.memory.api import FACT_LENGTH, LEARNING_LENGTH
from relay.memory.intents import FORGET_LETTERS, is_long_enough
from relay.memory.rows.memories import OpenedMemory
from relay.surfaces.chat.changes import candidates, choice_text, first_rows
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import answers, pressed, verb
from relay.surfaces.chat.memory.erase import ASKED, preview
from relay.surfaces.chat.memory.forgetting import by_pattern
from relay.surfaces.chat.memory.promote import promoted, replied
from relay.surfaces.chat.permissions import at_home, may_edit, may_see
from relay.surfaces.chat.reply import ButtonReply, CommandReply, button, question

NO_EDIT = "This is not yours to change, or it is gone."


@verb("remember", usage="<fact>", help="remember a fact, or the message you reply to")
async def remember(call: ChatContext) -> CommandReply:
    """Keeps a fact in the person's own words, or the message that this replies to."""
    text = " ".join(call.text.split())
    if (message := await replied(call)) is not None:
        return await promoted(call, call.space, message, reworded(call.text, "learning"))
    if not text:
        return CommandReply(
            "What shall I remember? Write it after the command: /remember I like my tea strong", refused=True
        )
    if len(text) > FACT_LENGTH:
        return CommandReply(f"That is {len(text)} characters; a fact has at most {FACT_LENGTH}.", refused=True)
    fact = {
        "action": "learn",
        "kind": "fact",
        "content": text,
        "subject_id": call.user_id,
        "subject": call.name,
        "by": "user",
    }
    done = await call.store.change_memory(call.turn, call.space, [fact])
    return CommandReply("", done.changes, done.failed)


@verb("forget", usage="[--erase] <number, words or job*>", help="forget a fact; --erase: for good")
async def forget(call: ChatContext) -> CommandReply:
    """Retires the one fact that is meant; asks when there are several, or for all that fit a pattern."""
    if erasing := ASKED.match(call.text.strip()):
        return await preview(call, call.text.strip()[erasing.end() :])
    words = " ".join(call.text.split())
    if "*" in words:
        return await by_pattern(call, words)
    number = words.lstrip("#").isdecimal()
    if not words:
        return CommandReply(
            "What should I forget? Write its number from /memory (/forget #12), or some words of it.", refused=True
        )
    if not number and not is_long_enough(words):
        return CommandReply(
            f"“{escape_markdown(words)}” is too short: it could be anything. Write at least {FORGET_LETTERS} letters, "
            "or the number from /memory (/forget #12).",
            refused=True,
        )
    action = {"action": "forget", "content": words[:500]} | ({"admin": True} if call.admin else {})
    done = await call.store.change_memory(call.turn, call.space, [action])
    changes, failed = done.changes, done.failed
    if not candidates(changes):
        return CommandReply("", changes, failed)
    text = choice_text(changes, more=bool(failed), named=call.space.kind == "group")
    rows = first_rows(changes, call.turn.turn_id)
    if failed:
        return CommandReply(f"{text}\n\nFor all of them: {copied(f'/forget *{words}*')}", rows=rows)
    return CommandReply(text, rows=[*rows, [button(f"🗑 All {len(candidates(changes))}", f"fa:{call.turn.turn_id}")]])


@pressed("e")
async def ask_edit(call: ChatContext, memory_id: str) -> ButtonReply:
    """Asks for the new wording of a memory, where its space is at home or else in the person's own chat."""
    row = await editable(call, parse_number(memory_id) or 0)
    if row is None:
        return ButtonReply(NO_EDIT)
    text = f"{question('', row.id)} – reply to this message with the new wording of:\n{copied(row.content)}"
    return ButtonReply(says=CommandReply(text, asks="New wording", private=not at_home(call, row.space)))


@answers("")
async def edit(call: ChatContext, memory_id: int) -> CommandReply:
    """Puts the person's wording in place of a memory's (the reply to what the Edit button asks)."""
    row = await editable(call, memory_id)
    if row is None:
        return CommandReply(NO_EDIT)
    space, text = row.space, reworded(call.text, row.kind)
    what, longest = ("learning", LEARNING_LENGTH) if row.kind == "learning" else ("fact", FACT_LENGTH)
    if not text or len(text) > longest:
        return CommandReply(f"That is {len(text)} characters; a {what} has 1 to {longest}. Reply to my question again.")
    change = {"action": "edit", "memory_id": memory_id, "content": text}
    done = await call.store.change_memory(call.turn, space, [change])
    return CommandReply("", done.changes, done.failed, private=not at_home(call, space))


def copied(text: str) -> str:
    """A text as Markdown code that shows just it: a tap copies it. Several lines are a block, one stands in a line."""
    text = "\n".join(text.strip().splitlines())
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    if "\n" in text:
        fence = fence.ljust(3, "`")
        return f"\n{fence}\n{text}\n{fence}"
    padding = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{padding}{text}{padding}{fence}"


def reworded(text: str, kind: str) -> str:
    """A new wording as it is kept: a fact on one line, a learning with its line breaks."""
    if kind != "learning":
        return " ".join(text.split())
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


async def editable(call: ChatContext, memory_id: int) -> OpenedMemory | None:
    """A memory, active or waiting for a tap, that this person may see and change, in whichever space it is."""
    row = await call.store.opened(memory_id, call.user_id, call.admin)
    if row is None or row.status not in ("active", "pending"):
        return None
    space = row.space
    allowed = may_edit(row, space, call.user_id, call.admin) and await may_see(call, space)
    return row if allowed else None
