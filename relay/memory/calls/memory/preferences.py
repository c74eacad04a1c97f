"""Feedback on answers, and the preferences derived from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from relay.core.models import Space
from relay.memory.calls.base import Calls
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
    """Feedback and preferences of one person in a space."""

    async def feedback(
        self, space: Space, chat_id: int, topic_id: int, user_id: int, act: Mapping[str, object]
    ) -> FeedbackResult:
        """Stores what a person says about an answer, or about all answers: `{kind, about, value, source,
        observations}`.

        `about`: `{turn_id}`, or a message of the bot (`{bot_id, chat_id, telegram_message_id}`); None: all answers.
        """
        return await self._fetch(
            FeedbackResult,
            "feedback",
            space=space.as_json(),
            chat_id=chat_id,
            topic_id=topic_id,
            user_id=user_id,
            input=dict(act),
        )

    async def answer_tags(self, space: Space, user_id: int, turn_id: int) -> list[ObservedPattern] | None:
        """Returns the tags that a person has put on an answer. None: it is not an answer to them."""
        return await self._find(
            list[ObservedPattern], "answer_tags", space=space.as_json(), user_id=user_id, turn_id=turn_id
        )

    async def untag(self, space: Space, user_id: int, turn_id: int, type: str, pattern: str, polarity: int) -> bool:
        """Removes a tag from an answer. Returns False if it had no such tag."""
        tag = {"type": type, "pattern": pattern, "polarity": polarity}
        return bool(await self._call("untag", space=space.as_json(), user_id=user_id, turn_id=turn_id, pattern=tag))

    async def choose_answer(self, space: Space, user_id: int, turn_id: int, chose: str) -> ChosenAnswer | None:
        """Chooses between two answers: a, b, both or neither. None: there is no such choice."""
        return await self._find(
            ChosenAnswer, "choose_answer", space=space.as_json(), user_id=user_id, turn_id=turn_id, chose=chose
        )

    async def choice_reason(self, space: Space, user_id: int, turn_id: int, reason: str) -> ChosenAnswer | None:
        """Adds a reason for a choice, or removes it. None: nothing was chosen within the last two minutes."""
        return await self._find(
            ChosenAnswer, "choice_reason", space=space.as_json(), user_id=user_id, turn_id=turn_id, reason=reason
        )

    async def preferences(self, space: Space, chat_id: int, topic_id: int, user_id: int) -> Preferences:
        """Returns all preferences of a person, and their switches here."""
        return await self._fetch(
            Preferences, "preferences", space=space.as_json(), chat_id=chat_id, topic_id=topic_id, user_id=user_id
        )

    async def preference_source(self, space: Space, user_id: int, preference_id: int) -> PreferenceSource | None:
        """Returns a preference with what taught it. None: the person has no preference with this id."""
        return await self._find(
            PreferenceSource,
            "preference_source",
            space=space.as_json(),
            user_id=user_id,
            preference_id=preference_id,
        )

    async def forget_preferences(
        self, space: Space, user_id: int, preferences: Sequence[int]
    ) -> list[ForgottenPreference]:
        """Forgets preferences: earlier observations no longer count."""
        return await self._list(
            ForgottenPreference,
            "forget_preferences",
            space=space.as_json(),
            user_id=user_id,
            preferences=list(preferences),
        )

    async def recall_preferences(self, space: Space, user_id: int, decisions: Sequence[int]) -> int:
        """Restores forgotten preferences, unless they were observed again since. Returns how many."""
        return int(
            await self._call("recall_preferences", space=space.as_json(), user_id=user_id, decisions=list(decisions))
        )

    async def decide_observations(self, space: Space, user_id: int, keep: bool) -> int:
        """Lets what waits for a tap count, or discards it. Returns how many acts."""
        return int(await self._call("decide_observations", space=space.as_json(), user_id=user_id, keep=keep))

    async def reset_preferences(self, space: Space, user_id: int, known: int) -> int | None:
        """Forgets all preferences. `known`: their number, as confirmation. Returns how many; None: the number is
        wrong."""
        done = await self._call("reset_preferences", space=space.as_json(), user_id=user_id, known=known)
        return None if done is None else int(done)

    async def preference_control(
        self, space: Space, chat_id: int, topic_id: int, user_id: int, change: Mapping[str, object]
    ) -> Preferences:
        """Sets the switches of preferences in a space (`{preferences, paused_until}`) or a thread (`{here}`)."""
        return await self._fetch(
            Preferences,
            "preference_control",
            space=space.as_json(),
            chat_id=chat_id,
            topic_id=topic_id,
            user_id=user_id,
            change=dict(change),
        )


class AttributionCalls(Calls):
    """Attribution of acts by a model, and estimates from all of a person's choices."""

    async def preference_work(self, job: ClaimedJob) -> AttributionWork | None:
        """Returns the act that a job has to attribute. None: the act was taken back, or is gone."""
        return await self._find(AttributionWork, "preference_work", job_id=job.id, fence=job.fence)

    async def store_observations(
        self, job: ClaimedJob, observations: Sequence[Mapping[str, object]], derivation: Mapping[str, object]
    ) -> bool:
        """Stores the observations of an act, and ends its job. Returns False if this process has lost the job."""
        result = {"observations": [dict(one) for one in observations], "derivation": dict(derivation)}
        return bool(await self._call("store_observations", job_id=job.id, fence=job.fence, result=result))

    async def estimate_work(self, job: ClaimedJob) -> list[ObservedAct] | None:
        """Returns a person's acts without a stated reason, oldest first, at most the newest 500. None: this process has
        lost the job."""
        return await self._find(list[ObservedAct], "estimate_work", job_id=job.id, fence=job.fence)

    async def store_estimates(self, job: ClaimedJob, estimates: Sequence[Mapping[str, object]]) -> bool:
        """Replaces what these acts say together, and ends the job. Returns False if this process has lost it."""
        rows = [dict(one) for one in estimates]
        return bool(await self._call("store_estimates", job_id=job.id, fence=job.fence, estimates=rows))

    async def replace_observations(
        self, feedback_id: int, observations: Sequence[Mapping[str, object]], derivation: Mapping[str, object]
    ) -> bool:
        """Replaces the observations of an act. Returns False if the act was taken back, or is gone."""
        result = {"observations": [dict(one) for one in observations], "derivation": dict(derivation)}
        return bool(await self._call("replace_observations", feedback_id=feedback_id, result=result))

    async def list_derived_feedback(
        self, space: Space, since: datetime | None, version: str, after: int, most: int = 100
    ) -> list[DerivedFeedback]:
        """Returns a page of acts since `since` that another version attributed, after an id."""
        return await self._list(
            DerivedFeedback,
            "derived_feedback",
            space=space.as_json(),
            since=since.isoformat() if since else None,
            version=version,
            after=after,
            most=most,
        )

    async def backfill_feedback(self, job: ClaimedJob, most: int) -> int:
        """Adopts reactions from before feedback was stored. Returns how many."""
        return int(await self._call("backfill_feedback", job_id=job.id, fence=job.fence, most=most) or 0)
