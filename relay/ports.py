"""What the house needs from outside, as Protocols. Clients implement them; nothing below imports a client."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, runtime_checkable

from relay.models import ModelRequest, Step


class Database(Protocol):
    """A Postgres with Relay's functions in it."""

    async def call(self, function: str, **arguments: Any) -> Any:
        """Calls `relay_<function>` with `p_<name>` arguments and returns its JSON.

        Raises `DatabaseUnavailable` when the call may be repeated, `TurnLost` when a fencing number is stale,
        `SchemaError` when there is no such function, `DatabaseError` otherwise.
        """
        ...


@runtime_checkable
class Snapshots(Protocol):
    """A database that can be read as it is at one moment, while others write."""

    def snapshot(self) -> AbstractAsyncContextManager[Database]:
        """A port for reading whose calls all see the same moment, until it is closed."""
        ...


class Model(Protocol):
    """A language model."""

    async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> Step:
        """One step of an answer. `on_text` gets each piece of text as it comes.

        Raises the `ModelError` tree; a stream that breaks off raises `StreamCut` with what had come.
        """
        ...


class Messenger(Protocol):
    """The chat's server: Telegram's Bot API, or something that speaks it."""

    async def call(self, method: str, **parameters: Any) -> Any:
        """Carries out a Bot API method and returns its result. A parameter may be a `File`, which is uploaded.

        Raises the `MessengerError` tree: `MessengerUnavailable` (not carried out), `DeliveryUncertain` (may have
        been), `MessengerThrottled`, `MessengerRefused`, `ChatGone`.
        """
        ...

    async def fetch(self, file_id: str, most: int) -> bytes:
        """Downloads a file that somebody sent, of `most` bytes at most.

        Raises `FileTooLarge`, `MessengerUnavailable` (worth another try), or the rest of the `MessengerError` tree.
        """
        ...


class Sink(Protocol):
    """Whoever watches an answer grow."""

    def text(self, so_far: Callable[[], str]) -> None:
        """The answer has grown; `so_far` gives all of it (Markdown) as it may be shown."""
        ...

    def waiting(self, sentence: str) -> None:
        """Something takes longer than it should; `sentence` says what."""
        ...
