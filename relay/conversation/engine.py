"""The parts that every turn needs."""

from __future__ import annotations

from datetime import tzinfo

from relay.conversation.prompt import MEMORY_TOKENS
from relay.core.frozen import frozen
from relay.core.models import Incoming
from relay.core.ports import Embedder
from relay.media.media_context import MediaContext
from relay.memory.spending.gate import Gate
from relay.memory.store import Store


@frozen
class Engine:
    """The parts that a turn needs."""

    store: Store
    gate: Gate
    model_name: str
    max_tokens: int
    zone: tzinfo
    web: bool = False
    shelf: MediaContext | None = None
    """Provides a conversation's pictures and documents; None: they are only described."""
    memory_tokens: int = MEMORY_TOKENS
    """The prompt's budget for memories in tokens; 0: none."""
    capture: str = "auto"
    """What may be learned: RELAY_CAPTURE."""
    embedder: Embedder | None = None
    """Embeds messages for recall; None: recall uses words only."""


def model_of(engine: Engine, incoming: Incoming) -> str:
    """Returns the model for an input."""
    return incoming.model or engine.model_name
