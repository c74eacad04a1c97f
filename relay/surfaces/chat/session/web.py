"""Renders /browse: a button that opens the web app."""

from __future__ import annotations

from relay.commands.session.web import browse as browse_command
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import shows
from relay.surfaces.chat.people.bot_rights import BotUser, ask
from relay.surfaces.chat.reply import CommandReply, app_rows, link_button


@shows("browse")
async def browse(call: ChatContext) -> CommandReply:
    """Offers the app: in private as a button that opens it, elsewhere as a link to the private chat."""
    app = await browse_command(call)
    if call.private:
        text = "Look through what I know and keep, and change it:"
        return CommandReply(text, rows=app_rows(call, "", "Open the app"), result=app)
    me = await ask(BotUser, call.messenger, "getMe")
    if not me or not me.username:
        return CommandReply("The app opens in our private chat: write /browse there.", result=app)
    # A link with startapp opens the app at once, but only if @BotFather knows it. Otherwise /start offers it.
    to = "startapp" if me.has_main_web_app else "start=hello"
    rows = [[link_button("Open it in our chat", f"https://t.me/{me.username}?{to}")]]
    return CommandReply("The app shows your private data, so it opens in our private chat.", rows=rows, result=app)
