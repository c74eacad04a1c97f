"""Renders /answer, /link and /unlink."""

from __future__ import annotations

from typing import Literal, get_args

from relay.commands.people.groups import Answering, Lending, Mode, find_lending, lend, take_back
from relay.commands.people.groups import answer as answer_command
from relay.commands.people.groups import unlink as unlink_command
from relay.core.errors import NotAllowed, OutOfRange
from relay.core.models import Rows
from relay.core.text import escape_markdown
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import action, shows
from relay.surfaces.chat.people.bot_rights import find_standing, name_in
from relay.surfaces.chat.reply import ButtonReply, CommandReply, button, require_own

MODES = {
    "all": "every message of the people I know",
    "addressed": "only messages addressed to me: a mention, a reply to me, a command",
    "off": "nothing; only my admins' commands work",
}
LABELS: dict[Mode, str] = {"all": "All", "addressed": "When addressed", "off": "Off"}
BY_MYSELF = "every message while only one person is here, otherwise messages addressed to me"
HOW = (
    "Write /answer all, /answer addressed or /answer off. In a topic, that applies to the topic; "
    "add everywhere (/answer off everywhere) to change the whole group."
)
LEND = (
    "**Lend your own memory to this group?**\n\n"
    "When you talk to me here, I'll also use what I know about you and what we said in private. "
    "**Everyone here can see my answers**, and what I say in them stays in this group's memory. "
    "I use it for your own messages only, never for anyone else's; what I learn here stays here. "
    "/unlink takes it back; so does leaving the group."
)
LENT = "**Your memory is lent to this group**, for your own messages only. Everyone here can see my answers to them."
TAKEN_BACK = "Taken back. From now on I only use this group's own memory here."


@shows("answer")
async def answer(call: ChatContext) -> CommandReply:
    """Shows or sets which messages the bot answers in a group or topic."""
    word, *rest = call.text.lower().split() or [""]
    mode = next((one for one in get_args(Mode) if one == word), None)
    if not call.private and word and (mode is None or rest not in ([], ["here"], ["everywhere"])):
        raise OutOfRange(HOW)
    now = await answer_command(call, call.said.forum, mode, rest == ["everywhere"])
    return CommandReply(await _page(call, now, mode), rows=_rows(now), result=now)


@action("ga")
async def choose_answer(call: ChatContext, mode: Mode) -> ButtonReply:
    """Sets which messages the bot answers here."""
    now = await answer_command(call, call.said.forum, mode)
    return ButtonReply(f"{LABELS[mode]}.", await _page(call, now, mode), _rows(now))


async def _page(call: ChatContext, now: Answering, mode: Mode | None) -> str:
    """Describes the settings, with a warning if Telegram's own settings prevent them."""
    lines = [f"**What I answer in this {'topic' if now.topic else 'group'}**: {MODES.get(now.here or '', BY_MYSELF)}."]
    if now.topic:
        lines.append(f"Elsewhere in this group: {MODES.get(now.everywhere or '', BY_MYSELF)}.")
        lines.append("/answer all everywhere (or addressed, or off) changes the whole group.")
    if mode == "all":
        rights = await find_standing(call.messenger, call.bot_id, call.chat_id)
        if rights.reads is False:
            lines.append(f"⚠️ But Telegram only shows me messages addressed to me here. {rights.remedy}")
    return "\n\n".join(lines)


def _rows(now: Answering) -> Rows:
    return [[button(label, choose_answer(mode), mode == now.here) for mode, label in LABELS.items()]]


@shows("link")
async def link(call: ChatContext) -> CommandReply:
    """Explains lending and asks, or shows whose memory is lent."""
    now = await find_lending(call)
    if now.lender is None:
        yes, no = press_lend(call.user_id, "y"), press_lend(call.user_id, "n")
        return CommandReply(LEND, rows=[[button("Lend my memory here", yes), button("Cancel", no)]], result=now)
    if now.lender == call.user_id:
        return CommandReply(LENT, rows=_unlink_row(now), result=now)
    name = escape_markdown(await name_in(call.messenger, call.chat_id, now.lender))
    text = f"{name} has already lent their memory here. Only one can be lent at a time."
    return CommandReply(text, rows=_unlink_row(now), result=now)


@shows("unlink")
async def unlink(call: ChatContext) -> CommandReply:
    """Takes back a lent memory."""
    return CommandReply(TAKEN_BACK, result=await unlink_command(call))


@action("gl")
async def press_lend(call: ChatContext, owner_id: int, sure: Literal["y", "n"]) -> ButtonReply:
    """Lends a person's memory to the group, or cancels."""
    require_own(call, owner_id)
    if not call.admin:
        raise NotAllowed
    if sure != "y" or call.private:
        return ButtonReply(text="OK, I won't use your memory here.", rows=[])
    now = await lend(call)
    return ButtonReply("Lent.", LENT, _unlink_row(now), result=now)


@action("gu")
async def press_unlink(call: ChatContext, lender: int) -> ButtonReply:
    """Takes back a lent memory."""
    return ButtonReply("Taken back.", TAKEN_BACK, [], result=await take_back(call, lender))


def _unlink_row(now: Lending) -> Rows:
    return [[button("Unlink", press_unlink(now.lender or 0))]]
