"""Compositions and their drafts."""

from __future__ import annotations

from collections.abc import Mapping

from relay.core.models import Space
from relay.memory.calls.base import Calls, encode_row, rpc
from relay.memory.claims import ClaimedTurn
from relay.memory.rows.contexts.composition import (
    ComposableSessions,
    ComposeRequest,
    Composition,
    CompositionPage,
    CompositionPlan,
    Draft,
    DroppedComposition,
    Refusal,
)
from relay.memory.rows.sessions import SessionEnd


class CompositionCalls(Calls):
    """Compositions: versions of several sessions together, within a budget."""

    async def compose(
        self, space: Space, where: Mapping[str, object], user_id: int, request: ComposeRequest
    ) -> Composition | Refusal:
        """Composes sessions and returns the composition. `where`: `{chat_id, topic_id, bot_id, zone}`."""
        return await self._compose(space, user_id, request.as_json() | dict(where))

    @rpc("compose")
    async def _compose(self, space: Space, user_id: int, request: Mapping[str, object]) -> Composition | Refusal: ...

    @rpc()
    async def plan_composition(self, space: Space, request: ComposeRequest) -> CompositionPlan | Refusal:
        """Returns what composing would do."""

    @rpc()
    async def composition(self, space: Space, which: Mapping[str, object], rows: bool = False) -> Composition | None:
        """Returns a composition of a space. `which`: `{id}` or `{name, chat_id, topic_id}`; `rows`: with its text."""

    @rpc()
    async def compositions(self, space: Space, chat_id: int, topic_id: int, offset: int, limit: int) -> CompositionPage:
        """Returns a page of a space's compositions, a thread's first."""

    @rpc()
    async def composable_sessions(
        self, space: Space, chat_id: int, topic_id: int, everywhere: bool, offset: int, limit: int
    ) -> ComposableSessions:
        """Returns a page of the sessions of a thread, or of the whole space, that can be composed."""

    @rpc()
    async def use_composition(
        self, space: Space, chat_id: int, topic_id: int, composition_id: int
    ) -> SessionEnd | Refusal:
        """Ends a thread's session and begins a new one with a composition."""

    @rpc()
    async def drop_composition(self, space: Space, composition_id: int) -> DroppedComposition | None:
        """Drops a composition; None if it is already gone."""

    async def keep_draft(self, turn: ClaimedTurn, space: Space, draft: Draft) -> None:
        """Stores a draft with the turn that began it."""
        await self._call(
            "keep_draft", turn_id=turn.turn_id, fence=turn.fence, space=space.as_json(), draft=encode_row(Draft, draft)
        )

    @rpc()
    async def change_draft(
        self, turn_id: int, space: Space, user_id: int, change: Mapping[str, object]
    ) -> Draft | None:
        """Changes some fields of a person's draft and returns it; None: there is no draft. See `relay_change_draft`."""
