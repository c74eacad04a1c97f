"""Feedback on answers, and the preferences derived from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from relay.core.models import Space, Thread
from relay.memory.calls.base import Calls, rpc
from relay.memory.rows.jobs import ClaimedJob
from relay.memory.rows.turns.preferences import (
    AttributionWork,
    ChosenAnswer,
    DerivedFeedback,
    FeedbackResult,
    ForgottenPreference,
    ObservedAct,
    ObservedPattern,
    Preferences,
    PreferenceSource,
)


class PreferenceCalls(Calls):
    """Feedback, preferences and estimates of one person in a space."""

    @rpc()
    async def feedback(self, thread: Thread, user_id: int, input: Mapping[str, object]) -> FeedbackResult:
        """Stores what a person says about an answer, or about all answers: `{kind, about, value, source,
        observations}`.

        `about`: `{turn_id}`, or a message of the bot (`{bot_id, chat_id, telegram_message_id}`); None: all answers.
        """

    @rpc()
    async def answer_tags(self, space: Space, user_id: int, turn_id: int) -> list[ObservedPattern] | None:
        """Returns the tags that a person has put on an answer. None: it is not an answer to them."""

    async def untag(self, space: Space, user_id: int, turn_id: int, type: str, pattern: str, polarity: int) -> bool:
        """Removes a tag from an answer. Returns False if it had no such tag."""
        tag = {"type": type, "pattern": pattern, "polarity": polarity}
        return bool(await self._call("untag", space=space.as_json(), user_id=user_id, turn_id=turn_id, pattern=tag))

    @rpc()
    async def withdraw_feedback(self, space: Space, user_id: int, feedback_id: int) -> list[ObservedPattern] | None:
        """Takes a person's act back. Returns the patterns that it named. None: they have no such act, or no longer."""

    @rpc()
    async def choose_answer(self, space: Space, user_id: int, turn_id: int, chose: str) -> ChosenAnswer | None:
        """Chooses between two answers: a, b, both or neither. None: there is no such choice."""

    @rpc()
    async def choice_reason(self, space: Space, user_id: int, turn_id: int, reason: str) -> ChosenAnswer | None:
        """Adds a reason for a choice, or removes it. None: nothing was chosen within the last two minutes."""

    @rpc()
    async def preferences(self, thread: Thread, user_id: int) -> Preferences:
        """Returns all preferences of a person, and their switches here."""

    @rpc()
    async def preference_source(self, space: Space, user_id: int, preference_id: int) -> PreferenceSource | None:
        """Returns a preference with what taught it. None: the person has no preference with this id."""

    @rpc()
    async def forget_preferences(
        self, space: Space, user_id: int, preferences: Sequence[int]
    ) -> list[ForgottenPreference]:
        """Forgets preferences: earlier observations no longer count."""

    @rpc()
    async def recall_preferences(self, space: Space, user_id: int, decisions: Sequence[int]) -> int:
        """Restores forgotten preferences, unless they were observed again since. Returns how many."""

    @rpc()
    async def decide_observations(self, space: Space, user_id: int, keep: bool) -> int:
        """Lets what waits for a tap count, or discards it. Returns how many acts."""

    @rpc()
    async def reset_preferences(self, space: Space, user_id: int, known: int) -> int | None:
        """Forgets all preferences. `known`: their number, as confirmation. Returns how many; None: the number is
        wrong."""

    @rpc()
    async def preference_control(self, thread: Thread, user_id: int, change: Mapping[str, object]) -> Preferences:
        """Sets the switches of preferences in a space (`{preferences, paused_until}`) or a thread (`{here}`)."""

    @rpc()
    async def preference_work(self, job: ClaimedJob) -> AttributionWork | None:
        """Returns the act that a job has to attribute. None: the act was taken back, or is gone."""

    @rpc()
    async def store_observations(self, job: ClaimedJob, result: Mapping[str, object]) -> bool:
        """Stores the `{observations, derivation}` of an act, and ends its job. Returns False if this process has lost
        the job."""

    @rpc()
    async def estimate_work(self, job: ClaimedJob) -> list[ObservedAct] | None:
        """Returns a person's acts without a stated reason, oldest first, at most the newest 500. None: this process has
        lost the job."""

    @rpc()
    async def store_estimates(self, job: ClaimedJob, estimates: Sequence[Mapping[str, object]]) -> bool:
        """Replaces what these acts say together, and ends the job. Returns False if this process has lost it."""

    @rpc()
    async def replace_observations(self, feedback_id: int, result: Mapping[str, object]) -> bool:
        """Replaces the `{observations, derivation}` of an act. Returns False if the act was taken back, or is gone."""

    @rpc("derived_feedback", most=100)
    async def list_derived_feedback(
        self, space: Space, since: datetime | None, version: str, after: int
    ) -> list[DerivedFeedback]:
        """Returns a page of acts since `since` that another version attributed, after an id."""

    @rpc()
    async def backfill_feedback(self, job: ClaimedJob, most: int) -> int:
        """Adopts reactions from before feedback was stored. Returns how many."""
