"""A verb is one typed async function that declares its doors: where people reach it. Its buttons, and the answers to
its questions, are declared beside it."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import tzinfo
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any

from relay.core.errors import RelayError
from relay.core.models import Export, File, Space
from relay.core.ports import Embedder, Messenger
from relay.memory.claims import ClaimedTurn
from relay.memory.people import People
from relay.memory.spending.budget import UNLIMITED, Budget
from relay.memory.store import Store
from relay.memory.writing.summaries import Summariser

if TYPE_CHECKING:
    from relay.archive.backup_purge import Leftovers

Json = dict[str, Any]
Rows = Sequence[Sequence[Json]]
"""Rows of inline buttons in the Bot API's shape."""


@dataclass(frozen=True, slots=True)
class Services:
    """The installation, as far as verbs may use it."""

    store: Store
    people: People
    messenger: Messenger
    summariser: Summariser
    zone: tzinfo
    version: str
    model: str
    small_model: str
    storage: str
    budget: Budget = UNLIMITED
    web_search: bool = False
    hears: str = ""
    """What hears voice notes; empty: nothing does."""
    speaks: str = ""
    """What says answers aloud."""
    scratch: Path = Path(gettempdir())
    """Where what is too large for memory lies for a while."""
    embedder: Embedder | None = None
    """What finds by meaning; None: words alone do."""
    leftovers: Leftovers | None = None
    """What stays of erased texts outside of the tables."""
    capture: str = "auto"
    """How memories come about: see RELAY_CAPTURE."""
    on_told: Callable[[CommandReply], None] | None = None
    """Is given each answer of a verb before it is sent."""


@dataclass(frozen=True, slots=True)
class CommandContext:
    """Who asks what, where."""

    services: Services
    turn: ClaimedTurn
    bot_id: int
    space: Space
    chat_id: int
    topic_id: int
    private: bool
    """Asked in a private chat."""
    user_id: int
    name: str
    admin: bool
    text: str
    """What stands after the command; of an answer to a question, all of it."""
    message: Json
    """The Telegram message that asks, or under which the button hangs."""
    stop: Callable[[], Awaitable[bool]]
    """Ends the answer that is running here, in whichever process; returns whether there was one."""
    sees: Callable[[Space], Awaitable[bool]]
    """Whether this person may see what a space holds: their own, or that of a group in which they are."""

    @property
    def store(self) -> Store:
        return self.services.store

    @property
    def zone(self) -> tzinfo:
        """The time zone in which this person reads dates."""
        return self.turn.choices.zone_or(self.services.zone)


@dataclass(frozen=True, slots=True)
class CommandReply:
    """What a verb answers: Markdown (empty: nothing), and what it changed in memory."""

    text: str
    changes: list[Json] = field(default_factory=list)
    failed: list[Json] = field(default_factory=list)
    rows: Rows = ()
    private: bool = False
    """For the person alone: asked in a group, it is said in their private chat."""
    asks: str = ""
    """It is a question, answered by a reply to it: the field's placeholder. Its text begins as `question` makes it."""
    file: File | Export | None = None
    aloud: str = ""
    """Markdown that is said as a voice note."""
    refused: bool = False
    """What was asked is not done, as the text says."""


@dataclass(frozen=True, slots=True)
class ButtonReply:
    """What a button did: a line that pops up, and what becomes of the message under which it hangs."""

    toast: str = ""
    text: str | None = None
    """Takes the place of the message's text (Markdown), with `rows` under it."""
    rows: Rows | None = None
    """Take the place of its buttons."""
    says: CommandReply | None = None
    """A message of its own."""


def cause(call: CommandContext, error: RelayError) -> str:
    """What went wrong (Markdown): all of it for people who run Relay, in private."""
    return escape_markdown(error.told_to(call.admin and call.private))


TURNING = re.compile("[\u202a-\u202e\u2066-\u2069]")
"""Signs that turn the direction of writing for all that stands behind them."""
NOT_YOURS = ButtonReply("This is not yours to decide.")
ADMINS_ONLY = "That is for the people who run me."

Run = Callable[[CommandContext], Awaitable[CommandReply]]
Press = Callable[..., Awaitable[ButtonReply]]
"""Takes the call and what stands after the kind in the button's data, as texts."""
Hear = Callable[[CommandContext, int], Awaitable[CommandReply]]
"""Takes the call and the number in the question (0: none)."""


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb with its name (the command), its doors, and one line of help."""

    name: str
    run: Run
    doors: tuple[str, ...]
    usage: str
    help: str
    admin: bool
    places: tuple[str, ...]
    """Where Telegram's menu offers it: private, group."""


VERBS: dict[str, Verb] = {}
SECTIONS = {
    "Talking": ("new", "stop", "retry", "say", "search", "summary", "digest", "sessions"),
    "What I remember": ("memory", "remember", "forget", "private", "why", "export"),
    "You and me": ("settings", "voice", "usage", "status", "help", "start"),
    "In this group": ("answer", "link", "unlink"),
    "Who I am": ("soul", "persona"),
    "Who may use me": ("users", "invite", "revoke"),
}
"""The verbs as people find them in /help and in Telegram's menu."""
BUTTONS: dict[str, Press] = {}
CONFIRMING: set[str] = set()
"""The kinds of buttons that answer a question with yes; where several hang under a message, the first does."""
ANSWERS: dict[str, Hear] = {}


def list_commands(place: str, admin: bool) -> dict[str, list[Verb]]:
    """The commands that somebody may use in a kind of chat (private or group), by section."""
    sections = {
        title: [
            one
            for name in names
            if (one := VERBS.get(name)) and "chat" in one.doors and place in one.places and (admin or not one.admin)
        ]
        for title, names in SECTIONS.items()
    }
    return {title: verbs for title, verbs in sections.items() if verbs}


def verb(
    name: str,
    *,
    help: str,
    usage: str = "",
    admin: bool = False,
    doors: tuple[str, ...] = ("chat", "cli"),
    places: tuple[str, ...] = ("private", "group"),
) -> Callable[[Run], Run]:
    """Declares a verb."""

    def declare(run: Run) -> Run:
        VERBS[name] = Verb(name, run, doors, usage, help, admin, places)
        return run

    return declare


def pressed(kind: str, *, confirms: bool = False) -> Callable[[Press], Press]:
    """Declares what a button does whose data is `kind:…`, its parts separated by colons, 64 bytes at most.

    It is run with as many texts as its data has parts after the kind; it must check who presses, and what it is told:
    data may be years old. Running it twice must do no harm. `confirms`: the first button of this kind under a message
    does what was asked; `--yes` presses it.
    """

    def declare(run: Press) -> Press:
        if kind in BUTTONS:
            raise ValueError(f"two buttons are called {kind}")
        BUTTONS[kind] = run
        if confirms:
            CONFIRMING.add(kind)
        return run

    return declare


def answers(word: str) -> Callable[[Hear], Hear]:
    """Declares who hears the reply to a question that `question(word, …)` begins."""

    def declare(run: Hear) -> Hear:
        ANSWERS[word] = run
        return run

    return declare


def question(word: str, number: int = 0) -> str:
    """How a question of ours begins, so that the reply to it finds its way also after a restart. Where no word stands,
    its number is a memory's id, not the number that people see."""
    return " ".join(part for part in ("✎", word, f"{'#' * bool(word)}{number}" if number else "") if part)


def button(label: str, data: str) -> Json:
    """An inline button; its data is what `pressed` declared."""
    return {"text": label, "callback_data": data}


def escape_markdown(text: str) -> str:
    """A text as Markdown that shows just it, on one line, and turns no words of ours around."""
    # As character references: a backslash before a bracket would begin a formula.
    return "".join(f"&#{ord(c)};" if c in "\\`*_[]()<>#~|$!&" else c for c in " ".join(TURNING.sub("", text).split()))


def shorten(text: str, length: int = 90) -> str:
    """A text on one line, cut to a length, that turns no words of ours around."""
    text = " ".join(TURNING.sub("", text).split())
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def parse_number(text: str) -> int | None:
    """The number that a part of a button's data or of a command is; None when it is none that an id can be."""
    return int(text) if re.fullmatch(r"[0-9]{1,18}", text) else None


def pluralize(number: int, one: str, many: str = "") -> str:
    """A number of things in words; `many`: what several are called, when an s is not enough."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def format_tokens(number: float, beside: float = 0) -> str:
    """A number of tokens in at most five characters, in the unit of a larger one that it stands beside."""
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if max(number, beside) >= limit:
            value = number / limit
            return f"{value:.0f}{unit}" if value >= 100 else f"{value:.1f}{unit}"
    return f"{number:.0f}"
