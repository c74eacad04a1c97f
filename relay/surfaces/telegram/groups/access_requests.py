"""Messages about access: for a new owner, a new user, a person who asks, and the admins."""

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
from relay.surfaces.chat.people.people import make_asked_row, name_person
from relay.surfaces.chat.session.session import hello
from relay.surfaces.telegram.outgoing.menu import register_admin, set_menu_button, unregister
from relay.surfaces.telegram.outgoing.render import message_parts
from relay.surfaces.telegram.parsing.message_parser import name_of
from relay.surfaces.telegram.parsing.objects import Message, PersonChange
from relay.surfaces.telegram.parsing.place import Place
from relay.surfaces.telegram.parsing.updates import topic_of, updates_of

log = structlog.get_logger()

ASKED = (
    "Hello! I'm a private assistant. I've asked my admins whether you may use me. "
    "If they agree, I'll write to you here."
)


ASKED_IN_GROUP = (
    "I only answer people I know. I've asked my admins whether you may use me. "
    "If they agree, I'll answer you from then on."
)


def should_run(turn: ClaimedTurn, role: str | None) -> bool:
    """Whether to run a turn: its user may use the bot, or it is about their access."""
    return role is not None or updates_of(turn)[0].person is not None


class AccessAnnouncer:
    """Tells people and admins about changes of access, and updates command menus."""

    def __init__(self, services: Services, messenger: Messenger) -> None:
        self._services = services
        self._messenger = messenger

    async def announce_change(self, turn: ClaimedTurn, change: PersonChange, sent: Message) -> list[Part]:
        """Returns the messages about a change; none if it has changed again since."""
        if turn.role != change.became:
            return []
        await self._services.people.refresh(self._services.store)
        username = sent.sender.username if sent.sender else ""
        person = Person(turn.user_id, shorten(name_of(sent.sender), 60), change.became, username or None)
        messenger, web_url = self._messenger, self._services.installation.web_url
        match change.became:
            case "admin":
                log.info(f"claimed by {person.name}", user_id=turn.user_id)
                await register_admin(messenger, turn.user_id, turn.user_id)
                await set_menu_button(messenger, turn.user_id, web_url)
                return make_parts(turn.user_id, owner_greeting(self._services, person.name))
            case "user":
                await unregister(messenger, turn.user_id, turn.user_id)
                await set_menu_button(messenger, turn.user_id, web_url)
                return self._welcome(person, change)
            case "asking":
                return self._ask(person, change, sent)
        await unregister(messenger, turn.user_id, turn.user_id)
        await set_menu_button(messenger, turn.user_id, "")
        return []

    def _welcome(self, person: Person, change: PersonChange) -> list[Part]:
        """Greets a new user, and tells the admin who invited them."""
        by = f"{escape_markdown(change.by_name)} has let you in. " if change.by_name else ""
        parts = make_parts(person.user_id, hello(person.name, by))
        if change.invited and change.by is not None:
            for_whom = escape_markdown(change.for_whom or "")
            invited = f" with the invitation for {for_whom}" if for_whom else " with an invitation"
            parts += make_parts(
                change.by, f"{name_person(person)} came{invited} and can use me now. /revoke takes that back."
            )
        return number_parts(parts)

    def _ask(self, person: Person, change: PersonChange, sent: Message) -> list[Part]:
        """Answers the stranger, and asks each admin."""
        group = change.group
        did = "pressed Start" if group is None else f"wrote to me in the group “{escape_markdown(shorten(group, 60))}”"
        question = (
            f"{name_person(person)} {did} and asks for access.\n\n"
            "If you approve, they can use me, with their own memory. If you deny or block them, they won't get another "
            "answer; a blocked person can't use an invitation either."
        )
        private = sent.chat.private
        place = Place(sent.chat.id, topic_of(sent), private, None if private else sent.message_id)
        parts = message_parts(ASKED if private else ASKED_IN_GROUP, place, silent=not private)
        for admin in sorted(self._services.people.admins):
            parts += make_parts(admin, question, [make_asked_row(person)])
        return number_parts(parts)


def make_parts(user_id: int, text: str, buttons: Rows = ()) -> list[Part]:
    """Returns a message to a person's private chat."""
    return message_parts(text, Place(user_id, 0, True), buttons)


def number_parts(parts: list[Part]) -> list[Part]:
    """Numbers parts for several chats as one reply."""
    return [replace(part, seq=seq) for seq, part in enumerate(parts, 1)]


def owner_greeting(services: Services, name: str) -> str:
    """Lists what works, what is off and how to turn it on, and what to try."""
    here = services.installation
    pairing = (
        "people who press Start ask you for access;"
        if services.people.pairing
        else "strangers get no answer (RELAY\\_PAIRING=on lets them ask you for access);"
    )
    works = [
        f"chat: here, in topics of this chat, and in groups you add me to; {escape_markdown(here.model)} answers",
        "memory: I remember what you tell me and say so; /memory shows it, a tap corrects it, /search finds messages",
        f"other people: {pairing} /invite makes a link for someone",
        "photos, PDFs, office files, text and more: send one and ask; reply to an older one to bring it back",
    ]
    off = []
    if here.hears:
        works.append(f"voice notes: I understand them ({escape_markdown(here.hears)})")
    else:
        off.append(f"voice notes: {HOW}")
    if here.speaks:
        aloud = "I answer voice notes aloud" if here.hears else "/say reads an answer aloud"
        changes = "changes that" if here.hears else "can make me always do so"
        works.append(f"my voice: {aloud} ({escape_markdown(here.speaks)}); /voice {changes}")
    else:
        off.append(escape_markdown("my voice: set RELAY_TTS=edge-tts and restart me"))
    if here.web_search:
        works.append("the web: I look things up")
    else:
        off.insert(0, "the web: set RELAY\\_WEB\\_SEARCH=on and restart me")
    sections = {"What works now": works, "What is off": off, "Three things to try": TRY}
    listed = "\n\n".join(
        f"**{title}**\n" + "\n".join(f"- {line}" for line in lines) for title, lines in sections.items() if lines
    )
    return f"Hello {escape_markdown(name)}! You're my admin now; no one else can claim me.\n\n{listed}"


TRY = [
    "tell me something about yourself, such as “I live in Lisbon and like strong tea”, then ask me what I know",
    "/soul shows who I am, and lets you change it",
    "/search tea, once we've talked about it",
]
