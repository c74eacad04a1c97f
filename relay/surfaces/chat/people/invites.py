"""Renders /invite and /revoke."""

from __future__ import annotations

from typing import Literal

from relay.commands.people.people import NewInvitation, find_revocable, only_one
from relay.commands.people.people import invite as invite_command
from relay.commands.people.people import revoke as revoke_command
from relay.core.errors import CommandRefused, NotAllowed
from relay.core.frozen import frozen
from relay.core.program import RELAY
from relay.core.text import escape_markdown, parse_number
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import action, shows
from relay.surfaces.chat.people.bot_rights import BotUser, ask
from relay.surfaces.chat.people.people import name_person
from relay.surfaces.chat.reply import ButtonReply, CommandReply, button
from relay.surfaces.chat.times import moment

NO_NAME = "I can't ask Telegram for my name right now, and the link needs it. Try again later."
NO_BOT = (
    "An invitation is a link to the Telegram bot, and there is none here. Set TELEGRAM_BOT_TOKEN "
    f"({RELAY} setup asks for it), then invite people in the chat with the bot, or in {RELAY} chat without --offline."
)
WHOM = "Say who: reply with /revoke to one of their messages, or write /revoke and their id or @name."
REVOKE = (
    "This takes effect at once. I stop the answer I'm writing to them and don't learn from it, I won't answer their "
    "waiting messages, and their open invitations end. I keep what I remember about them in case you let them in "
    "again (/users)."
)


@frozen(kw_only=True)
class SentInvitation(NewInvitation):
    """A new invitation, with the link to send."""

    link: str


@shows("invite", private=True)
async def invite(call: ChatContext) -> CommandReply:
    """Makes a link that lets one person in, once."""
    me = await ask(BotUser, call.messenger, "getMe")
    username = me.username if me else ""
    if not username:
        raise CommandRefused(NO_NAME if call.bot_id else NO_BOT)
    made = await invite_command(call, call.text)
    whom = escape_markdown(made.for_whom) if made.for_whom else "one person"
    link = invite_link(username, made.nonce)
    return CommandReply(
        f"This link lets {whom} in, once, until {moment(made.until, call.zone)}:\n\n"
        f"{escape_markdown(link)}\n\n"
        "Don't share it with anyone else: the first person to open it is in. I'll tell you who it was. You can cancel "
        "it in /users.",
        result=SentInvitation(made.nonce, made.for_whom, made.until, link=link),
    )


@shows("revoke", private=True)
async def revoke(call: ChatContext) -> CommandReply:
    """Asks before removing the access of the person who is named, or replied to."""
    word = call.text.strip()
    replied = call.said.replied.author_id if call.said.replied else None
    number = parse_number(word)
    if not word and replied is None and not call.private:
        raise CommandRefused(WHOM)
    person = await find_revocable(call, (number if number is not None else word) if word else replied)
    rows = [[button("Revoke", press_revoke(person.user_id, "y")), button("Cancel", press_revoke(person.user_id, "n"))]]
    return CommandReply(f"**Remove access for {name_person(person)}?**\n\n{REVOKE}", rows=rows, result=person)


@action("hr", confirms=True)
async def press_revoke(call: ChatContext, user_id: int, sure: Literal["y", "n"]) -> ButtonReply:
    """Confirms or cancels the removal of a person's access."""
    if not call.admin:
        raise NotAllowed
    done = await revoke_command(call, user_id) if sure == "y" else None
    if done is None:
        return ButtonReply(text="Nothing has changed.", rows=[])
    match done.outcome:
        case "done":
            text = f"{name_person(done.person)} can't use me any more. What I remember about them stays."
            return ButtonReply("Done.", text, rows=[], result=done)
        case "last":
            return ButtonReply(text=escape_markdown(only_one(done.person)), rows=[], refused=True, result=done)
    return ButtonReply(text=f"{name_person(done.person)} doesn't have access anyway.", rows=[], result=done)


def invite_link(username: str, nonce: str) -> str:
    """Returns the link that sends the bot Start with a nonce."""
    return f"https://t.me/{username}?start={nonce}"
