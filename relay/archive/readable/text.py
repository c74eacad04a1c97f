"""A space as readable Markdown: memories by subject, how people like answers, then every conversation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Any

from relay.archive.export_file import (
    CompositionRow,
    CompressionRow,
    MemoryRow,
    MessageRow,
    PersonaRow,
    RawRow,
    ReminderRow,
    SessionRow,
    SummaryRow,
    ThreadRow,
    header_of,
)
from relay.core.frozen import frozen
from relay.core.text import pluralize, shorten
from relay.media.reading import NAMES
from relay.memory.calls.base import decode_row
from relay.memory.rows.turns.preferences import Evidence, Preference

ACTS = {
    "accept": "keeping an answer",
    "refine": "improving an answer",
    "tag": "a tag",
    "thumbs": "a reaction",
    "abandon": "stopping an answer",
    "revert": "bringing an answer back",
    "compare": "a choice between two answers",
    "said": "saying so",
}
PREFERENCE_STATES = {"under_review": "in doubt", "archived": "retired"}
EVENTS = {"fired": "rang", "looked": "checked", "failed": "not delivered"}
EVENTS_SHOWN = 10
"""The most events of a reminder; the lines of the export hold all."""
QUOTED = 80
MEDIA = {"image": "picture", "document": "document"}
NAME_LENGTH = 120
STATES = {
    "superseded": "Replaced",
    "archived": "Archived",
    "forgotten": "Forgotten",
    "discarded": "Undone",
    "pending": "Waiting for your decision",
}
WORDINGS = ("refresh", "restore", "supersede", "merge")
"""Changes that give a memory another wording."""


@frozen
class PreferenceRow:
    """A preference in an export, with the newest of the acts that taught it."""

    preference: Preference
    learned_from: tuple[Evidence, ...]
    total: int
    """How many acts taught it."""
    name: str | None = None
    """In a group, the name of the person whose preference it is."""


def preferences_text(rows: Sequence[PreferenceRow], zone: tzinfo) -> Iterator[str]:
    """Yields lines with what each person prefers and avoids, the strongest first; none if nothing is known."""
    for name in dict.fromkeys(row.name for row in rows):
        yield f"\n## How {name} likes answers\n" if name else "\n## How you like answers\n"
        own = sorted((row for row in rows if row.name == name), key=lambda row: -row.preference.strength)
        for title, polarity in (("Prefer", 1), ("Avoid", -1)):
            part = [row for row in own if row.preference.polarity == polarity]
            if part:
                yield f"\n### {title}\n\n"
            for row in part:
                yield from _lines(row, zone)


def _lines(row: PreferenceRow, zone: tzinfo) -> Iterator[str]:
    one = row.preference
    state = PREFERENCE_STATES.get(one.status) or (one.level if one.acts else f"{one.level}: not sure yet")
    yield f"- {one.pattern} ({state}{', only in one chat' if one.here else ''})\n"
    for act in row.learned_from:
        sign = "from" if one.agrees(act.polarity) else "against it:"
        quote = f": “{shorten(act.text, QUOTED)}”" if act.text else ""
        yield f"  - {sign} {ACTS.get(act.kind, act.kind)} ({act.at.astimezone(zone):%Y-%m-%d %H:%M}){quote}\n"
    if row.total > len(row.learned_from):
        yield f"  - and {row.total - len(row.learned_from)} earlier\n"


class Readable:
    """Builds the text from an export's rows."""

    def __init__(self, title: str, zone: tzinfo) -> None:
        self._title = title
        self._zone = zone
        self._memories: list[MemoryRow] = []
        self._preferences: list[PreferenceRow] = []
        self._told = False
        self._sessions: dict[int, SessionRow] = {}
        self._session = 0
        self._place = ""
        self._sections: set[str] = set()

    def add(self, rows: Sequence[RawRow]) -> str:
        """Returns the text for these rows."""
        return "".join(text for row in rows for text in self._row(row))

    def end(self) -> str:
        """Returns the rest of the text."""
        return "".join(self._format_memories())

    def _row(self, row: RawRow) -> Iterator[str]:
        match row.get("type"):
            case None:
                yield f"# {self._title}\n\nExported on {self._moment(header_of(row).exported_at)}.\n"
            case "persona":
                persona = decode_row(PersonaRow, row)
                if persona.text:
                    yield f"\nMy role in this chat (set by {persona.author}): {persona.text}\n"
            case "memory":
                self._memories.append(decode_row(MemoryRow, row))
            case "preference":
                self._preferences.append(decode_row(PreferenceRow, row))
            case "thread":
                yield from self._format_memories()
                self._place = f"\n## {_place(decode_row(ThreadRow, row))}\n"
                self._sessions, self._session = {}, 0
            case "session":
                session = decode_row(SessionRow, row)
                self._sessions[session.id] = session
            case "message":
                yield from self._message(decode_row(MessageRow, row))
            case "version" | "composition":
                yield from self._context(row)
            case "reminder" | "intent":
                yield from self._begin_section("Reminders")
                yield self._reminder(row)
            case "summary":
                summary = decode_row(SummaryRow, row)
                yield from self._enter_place()
                by = " (corrected by hand)" if summary.author_id else ""
                yield f"\n**Summary of {self._moment(summary.created_at)}{by}:** {summary.text}\n"

    def _context(self, row: RawRow) -> Iterator[str]:
        """Formats a compressed version of a session, or a composition of several, in a line."""
        yield from self._begin_section("Versions and compositions")
        if row["type"] == "version":
            version = decode_row(CompressionRow, row["row"])
            shorter = (
                f"{pluralize(version.input_messages, 'message')} in {pluralize(version.output_tokens or 0, 'token')}"
            )
            yield f"- 🗜 {_inline(version.name)}: {shorter} ({self._day(version.created_at)})\n"
        else:
            made = decode_row(CompositionRow, row["row"])
            parts = pluralize(len(made.composition_part), "session")
            size = pluralize(made.total_tokens or 0, "token")
            yield f"- 🧩 {_inline(made.name)}: {parts} in {size} ({self._day(made.created_at)})\n"

    def _reminder(self, row: RawRow) -> str:
        """Formats a reminder, for a time or for when something is mentioned, in a line."""
        made = decode_row(ReminderRow, row["row"])
        if row["type"] == "intent":
            return f"- 💡 When “{_inline(made.about)}” comes up: {_inline(made.text)} ({made.status})\n"
        due = f", next {self._moment(made.next_at)}" if made.next_at else ""
        text = f"- ⏰ {_inline(made.text)} ({made.status}{', repeats' if made.rule else ''}{due})\n"
        for one in made.reminder_event[-EVENTS_SHOWN:]:
            detail = f", {_inline(one.detail)}" if one.detail else ""
            text += f"  - {self._moment(one.at)}: {EVENTS.get(one.kind, one.kind)}{detail}\n"
        return text

    def _enter_place(self) -> Iterator[str]:
        """Yields the heading of a conversation before its first words."""
        yield self._place
        self._place = ""

    def _begin_section(self, title: str) -> Iterator[str]:
        """Yields the heading of a section before its first line."""
        if title not in self._sections:
            self._sections.add(title)
            yield f"\n## {title}\n\n"

    def _format_memories(self) -> Iterator[str]:
        """Formats the memories and preferences, once, before the conversations."""
        if self._told:
            return
        self._told = True
        yield "\n## What I know\n"
        for state in ("active", *STATES):
            rows = [row for row in self._memories if row.status == state]
            if rows and state in STATES:
                yield f"\n### {STATES[state]}\n"
            grouped: dict[str, list[MemoryRow]] = {}
            for row in rows:
                grouped.setdefault(_format_heading(row), []).append(row)
            for about, facts in grouped.items():
                yield f"\n{'####' if state in STATES else '###'} {about}\n\n"
                yield from map(self._fact, facts)
        if not self._memories:
            yield "\nNothing.\n"
        yield from preferences_text(self._preferences, self._zone)
        self._memories, self._preferences = [], []

    def _fact(self, row: MemoryRow) -> str:
        pinned = "📌 " if row.pinned else ""
        tags = f" [{', '.join(row.tags)}]" if row.tags else ""
        until = f", until {self._day(row.valid_until)}" if row.valid_until else ""
        kind = f"{row.kind.capitalize()}: " if row.kind not in ("fact", "learning") else ""
        text = f"- {pinned}{kind}{_inline(row.content)}{tags} ({self._day(row.created_at)}{until})\n"
        for change in row.changes:
            if change.before and change.action in WORDINGS and change.before != row.content:
                text += f"  - until {self._day(change.created_at)}: {_inline(change.before)}\n"
        return text

    def _message(self, row: MessageRow) -> Iterator[str]:
        if row.status == "replaced":
            return
        yield from self._enter_place()
        if row.session != self._session:
            self._session = row.session
            session = self._sessions.get(row.session) or SessionRow(row.session)
            title = f" – {_inline(session.title)}" if session.title else ""
            yield f"\n### {self._moment(session.started_at or row.created_at)}{title}\n"
        who = "Relay" if row.role == "assistant" else _inline(row.name or "You")
        yield f"\n**{who}** ({self._moment(row.created_at)}): {row.text}\n"
        for kind in dict.fromkeys(_media(row.blocks)):
            yield f"[{kind}]\n"
        given = [_inline(one.emoji) for one in row.reactions if not one.removed_at]
        if given:
            yield f"(reactions: {' '.join('✨' if name.startswith('custom:') else name for name in given)})\n"
        for version in row.versions:
            yield f"(until {self._moment(version.replaced_at)} it said: {_inline(version.text)})\n"

    def _moment(self, at: str) -> str:
        return self._time(at, "%Y-%m-%d %H:%M")

    def _day(self, at: str) -> str:
        return self._time(at, "%Y-%m-%d")

    def _time(self, at: str, form: str) -> str:
        try:
            return format(datetime.fromisoformat(at).astimezone(self._zone), form)
        except (ValueError, OverflowError):
            return at


def _format_heading(row: MemoryRow) -> str:
    """Returns a memory's heading."""
    if row.kind != "learning":
        return f"About {_inline(row.subject)}" if row.subject else "Facts"
    return f"Learnings: {row.category}" if row.category else "Learnings"


def _place(row: ThreadRow) -> str:
    where = "Private chat" if row.chat_id > 0 else "Terminal" if row.chat_id == 0 else "Group"
    topic = f", topic {row.topic or row.topic_id}" if row.topic_id else ""
    return where + topic


def _media(blocks: Any) -> Iterator[str]:
    """Describes a message's non-text parts: a person's blocks, or an answer's steps."""
    for block in blocks if isinstance(blocks, list) else []:
        if isinstance(block, dict):
            if isinstance(block.get("file"), dict):
                yield _file(block["file"])
            elif block.get("type") in MEDIA:
                yield MEDIA[block["type"]]
            yield from _media(block.get("content"))


def _file(file: Mapping[str, object]) -> str:
    kind = str(file.get("kind"))
    return f"{NAMES.get(kind, 'file')} {_inline(str(file.get('name') or ''))[:NAME_LENGTH]}".rstrip()


def _inline(text: str) -> str:
    return " ".join(text.split())
