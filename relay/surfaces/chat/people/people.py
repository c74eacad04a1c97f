"""Renders /users: who may use the bot and who asks to, with buttons that decide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from relay.commands.people.people import ROLES, Verdict, cancel_invitation, decide
from relay.commands.people.people import users as users_command
from relay.core.errors import CommandRefused
from relay.core.models import Button
from relay.core.text import escape_markdown, parse_number, pluralize, shorten
from relay.memory.people import People
from relay.memory.rows.people import DecidedPerson, Invitation, KnownPeople, Person
from relay.surfaces.chat.callbacks import AboutPerson, Callback
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import pressed, shows
from relay.surfaces.chat.reply import ButtonReply, CommandReply, button
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


class DecideAsked(AboutPerson, code="hp"):
    """An admin's decision, under the message about a person who asks for access."""

    word: Word


class DecideListed(AboutPerson, code="hu"):
    """An admin's decision, in the list of people."""

    word: Word


class CancelInvitation(Callback, code="hi"):
    """Cancels an invitation."""

    invite_id: int


@shows("users", private=True)
async def users(call: ChatContext) -> CommandReply:
    """Lists all known people, or decides about one: /users approve 333."""
    word, number = [*call.text.lower().split(), "", ""][:2]
    if word:
        return await _decide(call, word, parse_number(number.removeprefix("#")))
    known = await users_command(call)
    return CommandReply(people_page(call, known), rows=people_rows(known), result=known)


async def _decide(call: ChatContext, word: str, number: int | None) -> CommandReply:
    if number is not None and word == "cancel":
        return CommandReply(CANCELLED, result=await cancel_invitation(call, number))
    verdict = next((one for one in VERDICTS.values() if one == word), None)
    if number is None or verdict is None:
        raise CommandRefused(HOW)
    decided = await decide(call, number, verdict, again=True)
    return CommandReply(verdict_line(decided), refused=decided.role != ROLES[verdict], result=decided)


@pressed(DecideAsked)
async def decide_asked(call: ChatContext, to: DecideAsked) -> ButtonReply:
    decided = await decide(call, to.user_id, VERDICTS[to.word])
    by = shorten(decided.decided_by_name or "Someone", 60)
    toast = TOASTS[decided.role] if decided.changed else f"{by} has already decided."
    return ButtonReply(toast, verdict_line(decided), [])


@pressed(DecideListed)
async def decide_listed(call: ChatContext, to: DecideListed) -> ButtonReply:
    decided = await decide(call, to.user_id, VERDICTS[to.word])
    return await _show_list(call, TOASTS[decided.role] if decided.changed else "That's already decided.")


@pressed(CancelInvitation)
async def press_cancel(call: ChatContext, to: CancelInvitation) -> ButtonReply:
    try:
        await cancel_invitation(call, to.invite_id)
    except CommandRefused as refusal:
        if not call.admin:
            raise
        return await _show_list(call, str(refusal))
    return await _show_list(call, CANCELLED)


async def _show_list(call: ChatContext, toast: str) -> ButtonReply:
    known = await users_command(call)
    return ButtonReply(toast, people_page(call, known), people_rows(known))


def name_person(person: Person) -> str:
    """Names a person to admins (Markdown). People choose their names; the id is fixed."""
    username = f"{escape_markdown('@' + person.username)}, " if person.username else ""
    return f"{escape_markdown(person.name)} ({username}id {person.user_id})"


def make_asked_row(person: Person) -> list[Button]:
    """Returns the buttons under the message about a person who asks for access."""
    words: dict[Word, str] = {"a": "Approve", "d": "Deny", "b": "Block"}
    return [button(label, DecideAsked(person.user_id, word)) for word, label in words.items()]


def make_listed_row(person: Person) -> list[Button]:
    """Returns the buttons for a person who asks, in the list; the first one names the person."""
    words: dict[Word, str] = {"a": f"Approve {shorten(person.name, 20)}", "d": "Deny", "b": "Block"}
    return [button(label, DecideListed(person.user_id, word)) for word, label in words.items()]


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


def people_page(call: ChatContext, known: KnownPeople) -> str:
    """Lists all known people, by section."""
    out = [f"{name_person(one)} – {_explain_refusal(one)} by {_decider(one)}" for one in known.out]
    if (more := known.out_count - len(out)) > 0:
        out.append(f"and {pluralize(more, 'other')} before them")
    sections: list[tuple[str, Sequence[str]]] = [
        ("People who can use me", _list_people(call, known)),
        ("Waiting for an answer", [name_person(one) for one in known.people if one.role == "asking"]),
        ("Open invitations", [_invitation(call, one) for one in known.invites]),
        ("Not let in", out),
    ]
    return "\n\n".join(
        f"**{title}**\n" + "\n".join(f"- {line}" for line in lines) for title, lines in sections if lines
    )


def people_rows(known: KnownPeople) -> list[list[Button]]:
    """Returns the buttons for everything that can be decided."""
    rows = [make_listed_row(one) for one in known.people if one.role == "asking"]
    for invite in known.invites:
        whom = f"the invitation for {shorten(invite.for_whom, 40)}" if invite.for_whom else "an invitation"
        rows.append([button(f"✖ Cancel {whom}", CancelInvitation(invite.id))])
    rows += [[button(f"Let {shorten(one.name, 30)} in", DecideListed(one.user_id, "l"))] for one in known.out[:10]]
    return rows


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
    whom = f"for {escape_markdown(invite.for_whom)}" if invite.for_whom else "for whoever opens it"
    by = escape_markdown(invite.made_by_name or "someone")
    return f"#{invite.id} {whom}, by {by}, until {moment(invite.expires_at, call.zone)}"
