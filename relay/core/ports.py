"""What Relay needs from outside, as Protocols. Clients implement them; nothing below imports a client."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, runtime_checkable

from relay.core.models import Heard, ModelRequest, Sound, Step


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


@runtime_checkable
class Rewrites(Protocol):
    """A database whose files can be written anew, without what deleted rows have left in them."""

    async def rewrite(self) -> bool:
        """Writes the files of all tables with words anew, and the write-ahead log over where that may be: whether it
        was. Raises the `DatabaseError` tree."""
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


class FileExtractor(Protocol):
    """Whatever reads files that somebody sent: in a process of its own, with bounds on time and memory."""

    async def open(self, work: str, content: bytes, **options: Any) -> tuple[dict[str, Any], list[bytes]]:
        """Does a piece of work on a file: `picture`, `document` and others of `relay.media.extraction`.

        Returns what it tells, and the files that it makes.

        Raises `MediaRefused`, with a sentence for whoever sent the file.
        """
        ...


class MediaStore(Protocol):
    """Where the files that people sent are kept, by their unique ids."""

    async def get(self, unique_id: str) -> bytes | None:
        """A file's content; None when it is not there, or cannot be read now."""
        ...

    async def put(self, unique_id: str, content: bytes) -> None:
        """Keeps a file. One that cannot be kept is logged: the answer does not depend on it."""
        ...

    async def remove(self, unique_ids: Sequence[str]) -> bool:
        """Removes files, if they are there. False: they could not be removed now, which is logged."""
        ...


class SpeechToText(Protocol):
    """Speech to text."""

    async def hear(self, recording: bytes) -> Heard:
        """What is said in a sound or video file, or in its first minutes.

        Raises `MediaRefused`: speech to text is not installed or switched off, the file holds no sound, nothing was
        heard, or it took too long.
        """
        ...


class TextToSpeech(Protocol):
    """Text to speech."""

    async def speak(self, text: str, language: str = "") -> Sound:
        """Says a text without marks. `language`: ISO 639-1, for the choice of a voice; empty: it is guessed.

        Raises `VoiceUnavailable`.
        """
        ...


class Embedder(Protocol):
    """Text to vectors that are near each other where the texts mean alike."""

    @property
    def model(self) -> str:
        """Which vectors it makes: those of two models are never compared."""
        ...

    @property
    def dimensions(self) -> int:
        """How many numbers a vector has: 384, 512, 768 or 1024."""
        ...

    async def embed(self, texts: Sequence[str], query: bool = False) -> list[list[float]]:
        """One vector of length 1 for each text. `query`: they are what somebody looks for, not what is found.

        Raises `EmbedderUnavailable`.
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
