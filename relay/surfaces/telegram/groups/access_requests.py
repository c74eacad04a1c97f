"""People whose standing has changed: who claimed the bot, was let in, asks to be, or may not use it any more."""

from __future__ import annotations

from dataclasses import replace

import structlog

from relay.clients.speech.installed import HOW
from relay.commands.context import Services
from relay.core.models import Rows
from relay.core.ports import Messenger
from relay.core.text import escape_markdown, shorten
from relay.memory.claims import ClaimedTurn
from relay.memory.rows.delivery import Part
from relay.memory.rows.people import Person
from relay.surfaces.chat.people.people import asked_row, who
from relay.surfaces.chat.session.session import hello
from relay.surfaces.telegram.outgoing.menu import register_admin, unregister
from relay.surfaces.telegram.outgoing.render import message_parts
from relay.surfaces.telegram.parsing.message_parser import name_of
from relay.surfaces.telegram.parsing.objects import Message, PersonChange
from relay.surfaces.telegram.parsing.place import Place
from relay.surfaces.telegram.parsing.updates import topic_of, updates_of

log = structlog.get_logger()

ASKED = (
    "Hello! I am a private assistant. I have asked the people who run me whether you may use me; "
    "if they agree, I write to you here."
)


ASKED_IN_GROUP = "I only answer people I know. I've asked the people who run me whether you may use me."


def served(turn: ClaimedTurn, role: str | None) -> bool:
    """Whether a turn is run: its user may use the bot now, or it is about whether they may."""
    return role is not None or updates_of(turn)[0].person is not None


class Newcomers:
    """Tells people of their new standing, tells others of them, and gives them their menu."""

    def __init__(self, services: Services, messenger: Messenger) -> None:
        self._services = services
        self._messenger = messenger

    async def told(self, turn: ClaimedTurn, change: PersonChange, sent: Message) -> list[Part]:
        """What is said about a change, and to whom, as parts of a reply. What has changed again since is not told."""
        if turn.role != change.became:
            return []
        await self._services.people.refresh(self._services.store)
        username = sent.sender.username if sent.sender else ""
        person = Person(turn.user_id, shorten(name_of(sent.sender), 60), change.became, username or None)
        messenger = self._messenger
        match change.became:
            case "admin":
                log.info(f"claimed by {person.name}", user_id=turn.user_id)
                await register_admin(messenger, turn.user_id, turn.user_id)
                return to(turn.user_id, owner_greeting(self._services, person.name))
            case "user":
                await unregister(messenger, turn.user_id, turn.user_id)
                return self._welcomed(person, change)
            case "asking":
                return self._asked(person, change, sent)
        await unregister(messenger, turn.user_id, turn.user_id)
        return []

    def _welcomed(self, person: Person, change: PersonChange) -> list[Part]:
        """A greeting; and whoever invited them hears that they came."""
        by = f"{escape_markdown(change.by_name)} has let you in. " if change.by_name else ""
        parts = to(person.user_id, hello(person.name, by))
        if change.invited and change.by is not None:
            for_whom = escape_markdown(change.for_whom or "")
            meant = f" with the invitation for {for_whom}" if for_whom else " by invitation"
            parts += to(change.by, f"{who(person)} came{meant}, and may use me now. /revoke takes that back.")
        return numbered(parts)

    def _asked(self, person: Person, change: PersonChange, sent: Message) -> list[Part]:
        """A line for the stranger, where they turned to the bot, and the question for everybody who runs it."""
        group = change.group
        did = "pressed Start" if group is None else f"wrote to me in the group “{escape_markdown(shorten(group, 60))}”"
        question = (
            f"{who(person)} {did} and asks to be let in.\n\n"
            "Approved, they may use me, with a memory of their own. Denied or blocked, they hear nothing more; "
            "who is blocked gets in with no invitation either."
        )
        private = sent.chat.private
        place = Place(sent.chat.id, topic_of(sent), private, None if private else sent.message_id)
        parts = message_parts(ASKED if private else ASKED_IN_GROUP, place, silent=not private)
        for admin in sorted(self._services.people.admins):
            parts += to(admin, question, [asked_row(person)])
        return numbered(parts)


def to(user_id: int, text: str, buttons: Rows = ()) -> list[Part]:
    """A text for somebody's private chat."""
    return message_parts(text, Place(user_id, 0, True), buttons)


def numbered(parts: list[Part]) -> list[Part]:
    """Parts for several chats as those of one reply."""
    return [replace(part, seq=seq) for seq, part in enumerate(parts, 1)]


def owner_greeting(services: Services, name: str) -> str:
    """What works now, what does not and why, and what to try."""
    here = services.installation
    pairing = (
        "who presses Start in my chat asks you first, and"
        if services.people.pairing
        else "strangers get no answer (RELAY\\_PAIRING=on lets them ask you), but"
    )
    works = [
        f"talking: here, in topics of this chat, in groups you add me to; {escape_markdown(here.model)} answers",
        "memory: what you tell me I keep, and say so; /memory shows it, a tap corrects it, /search finds what was said",
        f"company: {pairing} /invite makes a link for somebody",
        "photos, PDFs, office files, text and more: send one and ask; a reply to an older one brings it back",
    ]
    off = []
    if here.hears:
        works.append(f"voice notes: I hear them ({escape_markdown(here.hears)})")
    else:
        off.append(f"voice notes: {HOW}")
    if here.speaks:
        works.append(f"my voice: I answer a voice note with one ({escape_markdown(here.speaks)}); /voice changes that")
    else:
        off.append(escape_markdown("my voice: put RELAY_TTS=edge-tts into my settings, and start me again"))
    if here.web_search:
        works.append("the web: I look things up")
    else:
        off.insert(0, "the web: put RELAY\\_WEB\\_SEARCH=on into my settings and start me again")
    sections = {"What works now": works, "What is off": off, "Three things to try": TRY}
    listed = "\n\n".join(
        f"**{title}**\n" + "\n".join(f"- {line}" for line in lines) for title, lines in sections.items() if lines
    )
    return f"Hello {escape_markdown(name)}! You run me from now on, and nobody else can claim me.\n\n{listed}"


TRY = [
    "tell me something about you: “I live in Lisbon and like strong tea”, then ask me what I know",
    "/soul shows who I am, and lets you change it",
    "/search tea, once we have talked about it",
]
