"""The embedder: whether it is installed and works."""

from __future__ import annotations

from relay.clients.embedding.installed import INSTEAD, NANO, parse_embedder
from relay.core.errors import EmbedderUnavailable
from relay.core.program import version_of
from relay.core.settings import Settings
from relay.runtime.clients import open_clients
from relay.surfaces.cli.doctor.finding import Finding, ok, skipped, warning

NAMES = ("meaning",)
NEEDS = ("RELAY_EMBEDDER",)
SECONDS = 90.0
BY_WORDS = "search uses words only"


async def meaning(settings: Settings) -> list[Finding]:
    """Embeds one word with the configured embedder."""
    what = parse_embedder(settings.embedder)
    if what is None:
        return [skipped("meaning", f"off (RELAY_EMBEDDER); {BY_WORDS}")]
    async with open_clients(settings) as clients:
        if clients.embedder is None:
            return [warning("meaning", f"{what.engine} {what.missing}; {BY_WORDS}", what.how)]
        try:
            await clients.embedder.embed(["word"], query=True)
        except EmbedderUnavailable:
            more = "RELAY_LOG_LEVEL=DEBUG shows more. RELAY_EMBEDDER names the model."
            fix = INSTEAD if what.engine == NANO else more
            return [warning("meaning", f"{what.vectors} does not work here; {BY_WORDS}", fix)]
    return [ok("meaning", f"{what.engine} {version_of(what.engine)}, {what.model}")]
