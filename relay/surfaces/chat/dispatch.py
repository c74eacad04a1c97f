"""Runs the handler of a command, a button or a question. A refusal becomes a reply."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import replace

from relay.commands.registry import ADMINS_ONLY, COMMANDS
from relay.core.errors import CommandRefused, WrongArgument
from relay.core.text import escape_markdown, escape_sentence
from relay.surfaces.chat.callbacks import decode
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import ANSWERS, BUTTONS, HANDLERS, PRIVATE
from relay.surfaces.chat.reply import NOTHING, ButtonReply, CommandReply

INDULGENT = ("help", "start", "stop", "unlink", "why")
"""Commands that ignore the words after them: “/stop please”."""
TOO_OLD = ButtonReply("This button no longer works.", refused=True)


async def run_command(call: ChatContext, name: str) -> CommandReply:
    """Runs a command by name, with `call.text` as its arguments."""
    command = COMMANDS.get(name)
    if command is None or "chat" not in command.surfaces:
        return CommandReply(f"I don't know /{escape_markdown(name)}. /help lists what I can do.", refused=True)
    if command.admin and not call.admin:
        return CommandReply(ADMINS_ONLY, refused=True)
    if refusal := refuse_words(name, call.text):
        return CommandReply(refusal, refused=True, wrong=True)
    reply = await _or_refusal(call, HANDLERS[name](call))
    return replace(reply, private=True) if name in PRIVATE else reply


def refuse_words(name: str, words: str) -> str:
    """Returns the refusal of words after a command that takes none; empty: the command takes them, or is unknown."""
    command = COMMANDS.get(name)
    if command is None or command.usage or name in INDULGENT or not words.strip():
        return ""
    return f"/{name} takes no words. Write it alone."


async def hear_answer(call: ChatContext, word: str, number: int) -> CommandReply:
    """Handles the reply to a question."""
    return await _or_refusal(call, ANSWERS[word](call, number))


async def press_button(call: ChatContext, data: str) -> ButtonReply:
    """Runs a button, whose data may come from another version or be forged."""
    pressed = decode(data)
    if pressed is None:
        return ButtonReply() if data.split(":")[0] == NOTHING else TOO_OLD
    try:
        return await BUTTONS[pressed.code](call, pressed)
    except CommandRefused as refusal:
        return ButtonReply(refusal.message_for(call.operator), refused=True)


async def _or_refusal(call: ChatContext, work: Awaitable[CommandReply]) -> CommandReply:
    try:
        return await work
    except CommandRefused as refusal:
        sentences = refusal.message_for(call.operator).split("\n\n")
        text = "\n\n".join(map(escape_sentence, sentences))
        return CommandReply(text, refused=True, wrong=isinstance(refusal, WrongArgument))
