"""Renders /start, /help, /new, /stop, /retry and /browse."""

from __future__ import annotations

import re

from relay.commands.session import session as commands
from relay.core.models import Button
from relay.core.text import escape_markdown
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.contexts.composition import begin_named, list_page
from relay.surfaces.chat.contexts.suggestion import these_fit
from relay.surfaces.chat.handlers import shows
from relay.surfaces.chat.people.bot_rights import BotUser, ask
from relay.surfaces.chat.reply import CommandReply, app_rows

WITH = re.compile(r"\s*with\s+(\S.*)", re.IGNORECASE | re.DOTALL)
"""After /new: the composition that the conversation begins with."""
MORE_HERE = "/help shows what else I can do."
ANSWERS = {
    "all": "I answer every message of the people I know",
    "off": "I'm switched off here; my admins can change that with /answer",
}
ADDRESSED = "I answer the people I know when they mention me, reply to me or use a command"


@shows("start")
async def start(call: ChatContext) -> CommandReply:
    """Greets the person and says how to begin."""
    greeting = await commands.start(call)
    text = hello(call.name) if call.private else _hello_here(greeting)
    return CommandReply(text, rows=app_rows(call, "", "Open my app"), result=greeting)


def hello(name: str, first: str = "") -> str:
    """Returns the greeting in private; `first` comes before everything else."""
    return (
        f"Hello {escape_markdown(name)}! {first}I'm your assistant, and I remember what you tell me, in "
        "all your chats and topics. I show what I learn under my answers, and you can undo it with a tap.\n\n"
        "Just write to me. /help shows the rest."
    )


def _hello_here(greeting: commands.Greeting) -> str:
    """Returns the greeting in a group: when the bot answers there, and which memory it uses."""
    name = escape_markdown(greeting.name)
    if greeting.alone and greeting.answers in (None, "all"):
        return (
            f"Hello {name}! It's just the two of us here, so I answer everything and use your own memory, as in our "
            f"private chat. {MORE_HERE}"
        )
    memory = "This group has its own memory: what I learn here stays here, and I don't use what anyone tells me in "
    memory += "private unless they lend it."
    if greeting.alone:
        memory = "It's just the two of us here, so I use your own memory, as in our private chat."
    return f"Hello {name}! {ANSWERS.get(greeting.answers or '', ADDRESSED)}. {memory} {MORE_HERE}"


@shows("help")
async def show_help(call: ChatContext) -> CommandReply:
    """Lists the commands that this person can use here."""
    sections = await commands.list_help(call)
    lists = [
        "\n".join([*([f"**{one.title}**"] if one.title else []), *(f"/{c.name} – {c.help}" for c in one.commands)])
        for one in sections
    ]
    if call.private:
        texts = ["Write to me as you would to a friend. I answer, and I remember.", *lists]
    else:
        begin = "Write to me as you would to a friend: mention me, or reply to me."
        texts = [begin, *lists, "/help in our private chat lists everything I can do."]
    return CommandReply("\n\n".join(texts), result=sections)


@shows("new")
async def new(call: ChatContext) -> CommandReply:
    """Ends this thread's session. `with <name>`: the new one begins with a composition; without its
    name, they are listed."""
    with_name = WITH.match(call.text)
    if with_name:
        return await begin_named(call, with_name[1])
    if call.text.strip().lower() == "with":
        return await list_page(call)
    done = await commands.new(call, call.text)
    title = done.title
    named = f": **{escape_markdown(title)}**{'' if title[-1] in '.!?…' else '.'}" if title else "."
    if done.ended.private:
        text = f"I've erased what was off the record. A new conversation, on the record{named}"
    elif not done.ended.messages:
        text = f"This is already a new conversation{named}"
    else:
        text = f"A new conversation{named} I still know what I know about you, and /search finds what we said before."
    fitting, rows = await these_fit(call, title)
    return CommandReply(text + fitting, rows=rows, result=done)


@shows("stop")
async def stop(call: ChatContext) -> CommandReply:
    """Stops the running answer, which then says so itself."""
    done = await commands.stop(call)
    return CommandReply("" if done.running else "I'm not writing anything here right now.", result=done)


@shows("two")
async def two(call: ChatContext) -> CommandReply:
    """Refuses, because the worker runs it as a turn."""
    await commands.two(call)
    return CommandReply("")


@shows("retry")
async def retry(call: ChatContext) -> CommandReply:
    """Refuses, because the worker runs a retry as a turn."""
    await commands.retry(call)
    return CommandReply("")


@shows("browse")
async def browse(call: ChatContext) -> CommandReply:
    """Offers the app: in private as a button that opens it, elsewhere as a link to the private chat."""
    app = await commands.browse(call)
    if call.private:
        text = "Look through what I know and keep, and change it:"
        return CommandReply(text, rows=app_rows(call, "", "Open the app"), result=app)
    me = await ask(BotUser, call.messenger, "getMe")
    if not me or not me.username:
        return CommandReply("The app opens in our private chat: write /browse there.", result=app)
    # A link with startapp opens the app at once, but only if @BotFather knows it. Otherwise /start offers it.
    to = "startapp" if me.has_main_web_app else "start=hello"
    rows = [[Button("Open it in our chat", url=f"https://t.me/{me.username}?{to}")]]
    return CommandReply("The app shows your private data, so it opens in our private chat.", rows=rows, result=app)
