"""The real model in the place of a gate: asked over HTTP on 127.0.0.1 by the client that asks Claude."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from relay.clients.anthropic.client import Claude
from relay.core.models import ModelRequest, Step
from relay.core.spending.charge import Charge
from tests.realmodel.server import RealModel, RecordedRequest

WINDOW, PATIENCE = 4096, 600.0


class Loopback:
    """Asks one thing after the other, and takes the likeliest words, so that the same is answered each time."""

    def __init__(self, weights: Path | None = None) -> None:
        self._server = RealModel(WINDOW, temperature=0.0, forcing=True, weights=weights)

    @property
    def asked(self) -> list[RecordedRequest]:
        """All requests."""
        return self._server.asked

    async def __aenter__(self) -> Self:
        await self._server.__aenter__()
        self._client = Claude("sk-ant-test", self._server.url, PATIENCE)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.close()
        await self._server.__aexit__()

    async def ask(self, request: ModelRequest, charge: Charge, seconds: float) -> Step:
        """See `Gate.ask`. It waits as long as it takes: this is no measurement of speed."""
        return await self._client.reply(request, lambda _: None)
