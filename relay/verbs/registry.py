"""A verb is one typed async function that declares its doors: where people reach it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from relay.memory.store import Store
from relay.models import Claimed, Space


@dataclass(frozen=True, slots=True)
class Call:
    """Who asks what, where. `text` is what stands after the command."""

    store: Store
    turn: Claimed
    space: Space
    chat_id: int
    topic_id: int
    user_id: int
    name: str
    admin: bool
    text: str
    stop: Callable[[], bool]
    """Ends the answer that is running here; returns whether there was one."""
    about: dict[str, str]
    """What the installation is: version, model and such, to be told in /status."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a verb answers: Markdown (empty: nothing), and what it changed in memory."""

    text: str
    changes: list[dict[str, Any]] = field(default_factory=list)
    failed: list[dict[str, Any]] = field(default_factory=list)


Run = Callable[[Call], Awaitable[Told]]


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb with its name (the command), its doors, and one line of help."""

    name: str
    run: Run
    doors: tuple[str, ...]
    usage: str
    help: str
    admin: bool


VERBS: dict[str, Verb] = {}


def verb(
    name: str, *, help: str, usage: str = "", admin: bool = False, doors: tuple[str, ...] = ("chat", "cli")
) -> Callable[[Run], Run]:
    """Declares a verb."""

    def declare(run: Run) -> Run:
        VERBS[name] = Verb(name, run, doors, usage, help, admin)
        return run

    return declare
