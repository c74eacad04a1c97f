"""The interfaces that Relay needs from outside. Clients implement them; nothing below `runtime` imports a client."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol, runtime_checkable

from relay.core.models import ModelRequest, Sound, Step, Transcript


class Database(Protocol):
    """A PostgreSQL database with Relay's functions."""

    async def call(self, function: str, **arguments: Any) -> Any:
        """Calls `relay_<function>` with `p_<name>` arguments and returns its JSON.

        Raises `DatabaseUnavailable` when the call may be repeated, `TurnLost` when a fencing number is stale,
        `SchemaError` when there is no such function, `DatabaseError` otherwise.
        """
        ...


@runtime_checkable
class Snapshots(Protocol):
    """A database that offers a consistent read while others write."""

    def snapshot(self) -> AbstractAsyncContextManager[Database]:
        """Opens a read-only port whose calls all see the same snapshot."""
        ...


@runtime_checkable
class Rewrites(Protocol):
    """A database whose files can be rewritten to remove what deleted rows left in them."""

    async def rewrite(self) -> bool:
        """Rewrites the files of all tables that hold text, and overwrites the write-ahead log where allowed. Returns
        whether it did. Raises the `DatabaseError` tree."""
        ...


class Model(Protocol):
    """A language model."""

    async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> Step:
        """Returns one step of an answer. `on_text` receives each piece of text as it arrives.

        Raises the `ModelError` tree; a stream that breaks off raises `StreamCut` with what had arrived.
        """
        ...


class Messenger(Protocol):
    """The chat server: Telegram's Bot API or a compatible one."""

    async def call(self, method: str, **parameters: Any) -> Any:
        """Calls a Bot API method and returns its result. A parameter may be a `File`, which is uploaded.

        Raises the `MessengerError` tree: `MessengerUnavailable` (not carried out), `DeliveryUncertain` (may have been),
        `MessengerThrottled`, `MessengerRefused`, `ChatGone`.
        """
        ...

    async def fetch(self, file_id: str, most: int) -> bytes:
        """Downloads a file of at most `most` bytes.

        Raises `FileTooLarge`, `MessengerUnavailable` (worth retrying), or others of the `MessengerError` tree.
        """
        ...


class FileExtractor(Protocol):
    """Reads files that people send, in a separate process with limits on time and memory."""

    async def open(self, work: str, content: bytes, **options: Any) -> tuple[dict[str, Any], list[bytes]]:
        """Runs a task on a file: `picture`, `document` and others in `relay.media.extraction`.

        Returns its result and the files it produced. Raises `MediaRefused` with a sentence for the sender.
        """
        ...


class MediaStore(Protocol):
    """Stores files that people sent, by unique id."""

    async def get(self, unique_id: str) -> bytes | None:
        """Returns a file's content; None if it is missing or can't be read now."""
        ...

    async def put(self, unique_id: str, content: bytes) -> None:
        """Stores a file. Failures are only logged, because the answer doesn't depend on it."""
        ...

    async def remove(self, unique_ids: Sequence[str]) -> bool:
        """Deletes files that exist. Returns False if that failed, which is logged."""
        ...


class SpeechToText(Protocol):
    """Speech to text."""

    async def hear(self, recording: bytes) -> Transcript:
        """Transcribes a sound or video file, or its first minutes.

        Raises `MediaRefused` if speech to text is off or not installed, the file has no sound, no speech was found, or
        it took too long.
        """
        ...


class TextToSpeech(Protocol):
    """Text to speech."""

    async def speak(self, text: str, language: str = "") -> Sound:
        """Speaks a plain text. `language`: ISO 639-1, to choose a voice; empty: detected. Raises `VoiceUnavailable`."""
        ...


class Embedder(Protocol):
    """Embeds texts as vectors that are close if the texts mean the same."""

    @property
    def model(self) -> str:
        """The name of the model. Vectors of different models are never compared."""
        ...

    async def embed(self, texts: Sequence[str], query: bool = False) -> list[list[float]]:
        """Returns one vector of length 1 per text, of 384, 512, 768 or 1024 numbers. `query`: the texts are search
        queries. Raises `EmbedderUnavailable`."""
        ...


class Sink(Protocol):
    """Receives an answer while it grows."""

    def text(self, so_far: Callable[[], str]) -> None:
        """Called when the answer has grown; `so_far` returns all of it (Markdown) as it may be shown."""
        ...

    def report_wait(self, sentence: str) -> None:
        """Called when something takes longer than usual; `sentence` says what."""
        ...
