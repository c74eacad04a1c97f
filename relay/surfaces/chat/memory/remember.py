"""Renders /remember, the ◆ button and rewording."""

from __future__ import annotations

from relay.commands.memory.access import GONE, is_at_home
from relay.commands.memory.change import MemoryPatch, clean_wording, find_editable, patch_memory
from relay.commands.memory.remember import KeptMessage, find_message, keep_answer, keep_message
from relay.commands.memory.remember import remember as remember_command
from relay.core.errors import NotFound, OutOfRange
from relay.memory.rows.memories import KeepableMessage
from relay.surfaces.chat.changes import SHOULD_I_REMEMBER
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import answers, pressed, shows
from relay.surfaces.chat.memory.forgetting import as_code
from relay.surfaces.chat.memory.origin import quote
from relay.surfaces.chat.memory_buttons import DecideChange, EditMemory, KeepAnswer
from relay.surfaces.chat.memory_pages import cut_units
from relay.surfaces.chat.reply import ButtonReply, CommandReply, button, question

KNOWN = "I already know that."
WAITING = "That's already waiting for your tap: /memory waiting"


@shows("remember")
async def remember(call: ChatContext) -> CommandReply:
    """Saves a fact in the person's own words, or the message that this replies to."""
    replied = call.said.replied
    if replied is not None and replied.message_id:
        message = await find_message(call, replied.message_id)
        message = message or KeepableMessage(replied.text, untrusted=True, private=False)
        return _show_saved(await keep_message(call, message, clean_wording(call.text, "learning")))
    done = await remember_command(call, call.text)
    return CommandReply("", done.changes, done.failed, result=done)


async def keep_marked(call: ChatContext, telegram_message_id: int) -> CommandReply:
    """Proposes to save a message that someone marked with ✍; silent if it is unknown."""
    found = await find_message(call, telegram_message_id)
    return _show_saved(await keep_message(call, found)) if found and found.text.strip() else CommandReply("")


@pressed(KeepAnswer)
async def press_keep(call: ChatContext, to: KeepAnswer) -> ButtonReply:
    return ButtonReply(says=_show_saved(await keep_answer(call, to.turn_id)))


def _show_saved(done: KeptMessage) -> CommandReply:
    """Shows what was saved, or a proposal to save, edit or skip."""
    changed = done.changed
    if not done.proposed or changed.failed:
        return CommandReply("", changed.changes, changed.failed, result=done)
    waiting = next((one for one in changed.changes if one.waits), None)
    if waiting is None:
        return CommandReply(WAITING if changed.waits else KNOWN, result=done)
    row = [
        button("✅ Keep", DecideChange(waiting.id, "k")),
        button("✎ Edit", EditMemory(waiting.memory_id)),
        button("✖ Skip", DecideChange(waiting.id, "x")),
    ]
    return CommandReply(f"{SHOULD_I_REMEMBER}\n\n{quote(cut_units(waiting.content, 2500))}", rows=[row], result=done)


@pressed(EditMemory)
async def ask_edit(call: ChatContext, to: EditMemory) -> ButtonReply:
    row = await find_editable(call, to.memory_id)
    if row.status not in ("active", "pending"):  # an answer could not change it
        raise NotFound(GONE)
    text = f"{question('', row.id)} – reply to this message with the new wording of:\n{as_code(row.content)}"
    return ButtonReply(says=CommandReply(text, asks="New wording", private=not is_at_home(call, row.space)))


@answers("")
async def edit(call: ChatContext, memory_id: int) -> CommandReply:
    """Replaces a memory's wording with the reply to the Edit button's question."""
    try:
        done = await patch_memory(call, memory_id, MemoryPatch(text=call.text))
    except OutOfRange as error:
        raise OutOfRange(f"{error} Reply to my question again.") from None
    return CommandReply("", done.changed.changes, private=not is_at_home(call, done.memory.space), result=done)
