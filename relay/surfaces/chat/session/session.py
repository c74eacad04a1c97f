"""Conversations: beginning, ending, what one can do."""

from __future__ import annotations

from datetime import tzinfo

from relay.commands.context import Services
from relay.commands.registry import COMMANDS, list_commands
from relay.commands.session.usage import sum_up
from relay.core.text import escape_markdown, pluralize
from relay.memory.rows.controls import Controls
from relay.memory.rows.status import Status
from relay.memory.sleep.words import night_told
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import verb
from relay.surfaces.chat.memory.controls import may_switch
from relay.surfaces.chat.memory.private import NOT_ENDED
from relay.surfaces.chat.reply import CommandReply
from relay.surfaces.chat.session.usage import price
from relay.surfaces.chat.times import moment


@verb("start", help="say hello", doors=("chat",), places=("private",))
async def start(call: ChatContext) -> CommandReply:
    """Greets, and says how to begin."""
    return CommandReply(hello(call.name) if call.private else await hello_here(call))


async def hello_here(call: ChatContext) -> str:
    """The greeting in a group: when the bot answers there, and what memory it has there."""
    name = escape_markdown(call.name)
    if call.space.kind == "private":
        return (
            f"Hello {name}! It's just the two of us here, so I answer everything, with your own memory, as in our "
            f"private chat. {MORE_HERE}"
        )
    place = await call.store.place(call.chat_id, call.topic_id)
    match place.answers:
        case "all":
            when = "I answer every message of the people I know"
        case "off":
            when = "I'm switched off here; the people who run me can change that with /answer"
        case _:
            when = "I answer the people I know when they mention me, reply to me or use a command"
    return (
        f"Hello {name}! {when}. This group has a memory of its own: what I learn here stays here, and I don't use what "
        f"anybody tells me in private, unless they lend it. {MORE_HERE}"
    )


MORE_HERE = "/help says what else I can do."


def hello(name: str, first: str = "") -> str:
    """The greeting; `first`: what is said before all else."""
    return (
        f"Hello {escape_markdown(name)}! {first}I am your assistant, and I remember: what you tell me in one "
        "chat or topic I know in all of yours. What I learn I say under my answer, and a tap there undoes it.\n\n"
        "Just write to me. /help shows the rest."
    )


@verb("help", help="what I can do", doors=("chat",))
async def help_text(call: ChatContext) -> CommandReply:
    """Lists the verbs that this person can use here."""
    if not call.private:
        return CommandReply(help_here(call.admin))
    sections = list_commands("private", call.admin)
    text = "\n\n".join(
        f"**{title}**\n" + "\n".join(f"/{one.name} – {one.help}" for one in verbs) for title, verbs in sections.items()
    )
    return CommandReply(f"Write to me as you would to a friend; I answer, and I remember.\n\n{text}")


def help_here(admin: bool) -> str:
    """The short form for groups, where thirty lines would be in everybody's way."""
    sections = list_commands("group", admin)
    shown = [COMMANDS[name] for name in ("memory", "search", "new", "stop")] + sections.get("In this group", [])
    return (
        "Write to me as you would to a friend: mention me, or reply to me.\n\n"
        + "\n".join(f"/{one.name} – {one.help}" for one in shown)
        + "\n\n/help in our private chat lists everything I can do."
    )


@verb("new", usage="[title]", help="start a new conversation; what I know stays")
async def new(call: ChatContext) -> CommandReply:
    """Ends this thread's session."""
    title = " ".join(call.text.split())[:80]
    if not may_switch(call, call.space):
        ended = await call.store.private(call.space, call.chat_id, call.topic_id, False, call.user_id, may=False)
        if ended.refused:
            return CommandReply(NOT_ENDED)
    done = await call.store.new_session(call.space, call.chat_id, call.topic_id, title)
    named = f": **{escape_markdown(title)}**{'' if title[-1] in '.!?…' else '.'}" if title else "."
    if done.private:
        return CommandReply(f"What was off the record is erased. A new conversation, on the record{named}")
    if not done.messages:
        return CommandReply(f"This is a new conversation already{named}")
    return CommandReply(
        f"A new conversation{named} I keep what I know about you; what was said before can still be searched."
    )


@verb("stop", help="stop the answer I'm writing", doors=("chat",))
async def stop(call: ChatContext) -> CommandReply:
    """Ends the running answer; it says so itself."""
    return CommandReply("" if await call.stop() else "I am not writing anything here right now.")


@verb("status", help="how things stand")
async def status(call: ChatContext) -> CommandReply:
    """Numbers about this space and the installation."""
    now = await call.store.status(call.space)
    memory = await call.store.controls(call.space, call.chat_id, call.topic_id)
    today = now.today
    cached = f", {100 * today.cached // today.asked} % from the cache" if today.asked else ""
    lines = [
        f"**Relay {call.services.version}** on {escape_markdown(call.services.model)} "
        f"(summaries: {escape_markdown(call.services.small_model)})",
        f"- {pluralize(now.memories, 'memory', 'memories')}, {now.pending:,} waiting for a tap; "
        f"soul version {now.soul}",
        *resting_lines(memory, call.zone),
        f"- {pluralize(now.threads, 'conversation')}, {pluralize(now.exchanges, 'answer')}",
        f"- last 24 hours: {pluralize(today.turns, 'turn')}, {pluralize(today.asked, 'token')} in{cached}, "
        f"{today.output:,} out, "
        f"{price(sum_up(now.used, call.services.budget.prices))} with summaries and titles",
        f"- voice: {heard_by(call.services)}",
        f"- found by {found_by(call.services)}",
    ]
    if call.admin and call.private:
        lines += of_the_house(call, now)
    return CommandReply("\n".join(lines))


def resting_lines(memory: Controls, zone: tzinfo) -> list[str]:
    """What is unusual about memory now; nothing when it is simply on."""
    lines = []
    if memory.memory == "off":
        lines.append("- ⛔ memory is off (/memory on)")
    elif memory.paused_until:
        lines.append(f"- 💤 memory rests until {moment(memory.paused_until, zone)} (/memory resume)")
    if not memory.recalls:
        lines.append("- this chat ignores what I know (/memory here)")
    if not memory.teaches:
        lines.append("- this chat teaches me nothing (/memory here)")
    if memory.private:
        lines.append("- 🕶 this conversation is off the record (/private off)")
    return lines


def of_the_house(call: ChatContext, now: Status) -> list[str]:
    """How things stand for the people who run it."""
    lines = [
        f"- queue: {now.waiting} waiting, {now.running} running, {now.set_aside} set aside today, "
        f"{pluralize(now.summaries_due, 'summary', 'summaries')} due",
        f"- reactions in 30 days: 👍 {now.liked}, 👎 {now.disliked}",
        f"- storage: {escape_markdown(call.services.storage)}",
    ]
    if night := now.night:
        when = moment(night.begun_at, call.zone) + ("" if night.ended_at else " (not over yet)")
        lines.append(f"- last sleep: {when}; {escape_markdown(night_told(night.phases) or 'nothing is done yet')}")
    lines += [
        f"- ⚠️ since {moment(incident.begun_at, call.zone)}: {escape_markdown(incident.detail)}"
        for incident in now.incidents
    ]
    return lines


def heard_by(services: Services) -> str:
    """What hears people and what speaks to them, in words (Markdown)."""
    heard = (
        f"heard by {escape_markdown(services.hears)}" if services.hears else "not heard (no engine is installed and on)"
    )
    said = f"answers said by {escape_markdown(services.speaks)}" if services.speaks else "answers are not said aloud"
    return f"{heard}; {said}"


def found_by(services: Services) -> str:
    """How things are found, in words (Markdown)."""
    return f"words and meaning ({escape_markdown(services.embedder.model)})" if services.embedder else "words"


@verb("retry", usage="[big|small|model]", help="answer my last message again", doors=("chat",))
async def retry(call: ChatContext) -> CommandReply:
    """Runs through the turn itself (see `bot/worker.py`); here so that it is listed and declared."""
    raise AssertionError("retry is a turn, not a control")
