"""Renders /users: who may use the bot and who asks to, with buttons that decide."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby
from typing import Literal

from relay.commands.people.people import ROLES, Verdict, cancel_invitation, decide
from relay.commands.people.people import users as users_command
from relay.core.errors import CommandRefused, OutOfRange
from relay.core.frozen import frozen
from relay.core.models import Button
from relay.core.text import escape_markdown, parse_number, pluralize, shorten
from relay.memory.people import People
from relay.memory.rows.people import DecidedPerson, Invitation, KnownPeople, Person
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import action, shows
from relay.surfaces.chat.reply import ButtonReply, CommandReply, button, step_rows
from relay.surfaces.chat.times import day, moment

Word = Literal["a", "d", "b", "l"]
VERDICTS: dict[Word, Verdict] = {"a": "approve", "d": "deny", "b": "block", "l": "admit"}
HOW = (
    "Write /users approve, deny or block with the id of someone asking, /users admit or block with the id of someone "
    "who wasn't let in, or /users cancel with an invitation's number. /users lists them all."
)
CANCELLED = "Cancelled: the link no longer works."
TOASTS = {"user": "Approved.", "refused": "Denied.", "blocked": "Blocked."}
LISTED_IDS = 30
PAGE = 10
"""How many lines of the list fit into one message, however long the names are."""
EVERYTHING = 1_000_000
"""The page of a terminal."""


@frozen
class Entry:
    """A line of the list."""

    section: str
    text: str
    make_row: Callable[[int], list[Button]] | None = None
    """Makes the buttons that decide about it, on the page that begins at an offset."""


@shows("users", private=True)
async def users(call: ChatContext) -> CommandReply:
    """Lists all known people, or decides about one: /users approve 333."""
    word, _, number = " ".join(call.text.lower().split()).partition(" ")
    if word:
        return await _decide(call, word, parse_number(number.removeprefix("#")))
    return await _list(call)


async def _decide(call: ChatContext, word: str, number: int | None) -> CommandReply:
    if number is not None and word == "cancel":
        return CommandReply(CANCELLED, result=await cancel_invitation(call, number))
    verdict = next((one for one in VERDICTS.values() if one == word), None)
    if number is None or verdict is None:
        raise OutOfRange(HOW)
    decided = await decide(call, number, verdict, again=True)
    return CommandReply(verdict_line(decided), refused=decided.role != ROLES[verdict], result=decided)


@action("hp")
async def decide_asked(call: ChatContext, user_id: int, word: Word) -> ButtonReply:
    """An admin's decision, under the message about a person who asks for access."""
    decided = await decide(call, user_id, VERDICTS[word])
    by = shorten(decided.decided_by_name or "Someone", 60)
    toast = TOASTS[decided.role] if decided.changed else f"{by} has already decided."
    return ButtonReply(toast, verdict_line(decided), [])


@action("hu")
async def decide_listed(call: ChatContext, user_id: int, word: Word, offset: int = 0) -> ButtonReply:
    """An admin's decision, in the list of people."""
    decided = await decide(call, user_id, VERDICTS[word])
    done = f"{shorten(decided.name, 60)}: {TOASTS[decided.role].lower()}"
    toast = done if decided.changed else "That's already decided."
    return (await _list(call, offset)).redraw(toast)


@action("hi")
async def press_cancel(call: ChatContext, invite_id: int, offset: int = 0) -> ButtonReply:
    """Cancels an invitation."""
    try:
        await cancel_invitation(call, invite_id)
    except CommandRefused as refusal:
        if not call.admin:
            raise
        return (await _list(call, offset)).redraw(str(refusal), refused=True)
    return (await _list(call, offset)).redraw(CANCELLED)


@action("hl")
async def list_people(call: ChatContext, offset: int) -> ButtonReply:
    """Shows another page of the list."""
    return (await _list(call, offset)).redraw()


async def _list(call: ChatContext, offset: int = 0) -> CommandReply:
    """Returns a page of the list; the last one if it has become shorter."""
    known = await users_command(call)
    entries = list_entries(call, known)
    size = PAGE if call.bot_id else EVERYTHING
    offset = min(offset, len(entries) - 1) // size * size
    shown = entries[offset : offset + size]
    rows = [one.make_row(offset) for one in shown if one.make_row]
    rows += step_rows(offset, size, len(entries), list_people, ("‹ Before", "More ›"))
    return CommandReply(render_entries(shown), rows=rows, result=known)


def name_person(person: Person) -> str:
    """Names a person to admins (Markdown). People choose their names; the id is fixed."""
    username = f"{escape_markdown('@' + person.username)}, " if person.username else ""
    return f"{escape_markdown(person.name)} ({username}id {person.user_id})"


def make_asked_row(person: Person) -> list[Button]:
    """Returns the buttons under the message about a person who asks for access."""
    words: dict[Word, str] = {"a": "Approve", "d": "Deny", "b": "Block"}
    return [button(label, decide_asked(person.user_id, word)) for word, label in words.items()]


def make_listed_row(person: Person, offset: int) -> list[Button]:
    """Returns the buttons for a person who asks, in the list; the first one names the person."""
    words: dict[Word, str] = {"a": f"Approve {shorten(person.name, 20)}", "d": "Deny", "b": "Block"}
    return [button(label, decide_listed(person.user_id, word, offset)) for word, label in words.items()]


def verdict_line(person: DecidedPerson) -> str:
    """Says what was decided about a person, and by whom."""
    by = _decider(person)
    match person.role:
        case "user" | "admin":
            return f"✅ {name_person(person)} can use me now, let in by {by}."
        case "blocked":
            who = name_person(person)
            return f"⛔ {who} was blocked by {by}; invitations won't help either. You can change it in /users."
        case "asking":
            return f"⏳ {name_person(person)} is still waiting for your answer: /users approve {person.user_id}"
    return f"🚫 {name_person(person)} was {_explain_refusal(person)} by {by}. You can change that in /users."


def list_entries(call: ChatContext, known: KnownPeople) -> list[Entry]:
    """Lists all known people, by section: first what waits for an admin."""
    asking = [one for one in known.people if one.role == "asking"]
    entries = [Entry("Waiting for an answer", name_person(one), partial(make_listed_row, one)) for one in asking]
    entries += [Entry("Open invitations", _invitation(call, one), partial(_cancel_row, one)) for one in known.invites]
    entries += [Entry("People who can use me", line) for line in _list_people(call, known)]
    for number, one in enumerate(known.out):
        text = f"{name_person(one)} – {_explain_refusal(one)} by {_decider(one)}"
        entries.append(Entry("Not let in", text, partial(_let_in_row, one) if number < 10 else None))
    if (more := known.out_count - len(known.out)) > 0:
        entries.append(Entry("Not let in", f"and {pluralize(more, 'other')} before them"))
    return entries


def render_entries(entries: Sequence[Entry]) -> str:
    """Renders lines under the titles of their sections."""
    return "\n\n".join(
        f"**{section}**\n" + "\n".join(f"- {one.text}" for one in lines)
        for section, lines in groupby(entries, lambda one: one.section)
    )


def _cancel_row(invite: Invitation, offset: int) -> list[Button]:
    whom = f"the invitation for {shorten(invite.for_whom, 40)}" if invite.for_whom else "an invitation"
    return [button(f"✖ Cancel {whom}", press_cancel(invite.id, offset))]


def _let_in_row(person: Person, offset: int) -> list[Button]:
    return [button(f"Let {shorten(person.name, 30)} in", decide_listed(person.user_id, "l", offset))]


def _decider(person: Person) -> str:
    return escape_markdown(person.decided_by_name or "someone")


def _explain_refusal(person: Person) -> str:
    """Says how a person lost or was denied access."""
    if person.role == "blocked":
        return "blocked"
    return "revoked" if person.let_in else "denied"


def _list_people(call: ChatContext, known: KnownPeople) -> list[str]:
    """Lists the people who may use the bot, those named in the settings first."""
    settings = call.services.people
    lines = _list_named(settings)
    for one in known.people:
        named = one.user_id in (settings.named if one.role == "user" else settings.named_admins)
        if named or not one.may_use:
            continue
        runs = ", admin" if one.role == "admin" else ""
        by = f"let in by {escape_markdown(one.decided_by_name)}" if one.decided_by_name else "claimed me"
        when = f", {day(one.decided_at, call.zone)}" if one.decided_at else ""
        lines.append(f"{name_person(one)}{runs} – {by}{when}")
    return lines or ["no one yet"]


def _list_named(settings: People) -> list[str]:
    admins = settings.named_admins
    lines = [f"{_ids(admins)} – admin{'s' if len(admins) > 1 else ''}, set in RELAY\\_ADMINS"] if admins else []
    if others := settings.named - admins:
        lines.append(f"{_ids(others)} – set in RELAY\\_USERS")
    return lines


def _ids(users: frozenset[int]) -> str:
    """Lists people whose names are unknown, by their ids."""
    first, more = sorted(users)[:LISTED_IDS], len(users) - LISTED_IDS
    return ", ".join(str(one) for one in first) + (f" and {pluralize(more, 'other')}" if more > 0 else "")


def _invitation(call: ChatContext, invite: Invitation) -> str:
    whom = f"for {escape_markdown(invite.for_whom)}" if invite.for_whom else "for anyone who opens it"
    by = escape_markdown(invite.made_by_name or "someone")
    return f"#{invite.id} {whom}, by {by}, until {moment(invite.expires_at, call.zone)}"
