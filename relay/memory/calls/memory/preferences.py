"""How people like answers: their feedback, and the preferences derived from it."""

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
        """Keeps what a person says about an answer, or about all: `{kind, about, value, source, observations}`.

        `about`: `{turn_id}`, or a message of ours (`{bot_id, chat_id, telegram_message_id}`); None: all answers.
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
        """The tags that a person has put on an answer. None: it's no answer to them."""
        return await self._find(
            list[ObservedPattern], "answer_tags", space=space.as_json(), user_id=user_id, turn_id=turn_id
        )

    async def untag(self, space: Space, user_id: int, turn_id: int, type: str, pattern: str) -> bool:
        """Takes a tag from an answer. False: it had none such."""
        tag = {"type": type, "pattern": pattern}
        return bool(await self._call("untag", space=space.as_json(), user_id=user_id, turn_id=turn_id, pattern=tag))

    async def choose_answer(self, space: Space, user_id: int, turn_id: int, chose: str) -> ChosenAnswer | None:
        """Chooses between two answers: a, b, both or neither. None: there is no such choice."""
        return await self._find(
            ChosenAnswer, "choose_answer", space=space.as_json(), user_id=user_id, turn_id=turn_id, chose=chose
        )

    async def choice_reason(self, space: Space, user_id: int, turn_id: int, reason: str) -> ChosenAnswer | None:
        """Gives a reason for a choice, or takes it back. None: nothing was chosen within two minutes."""
        return await self._find(
            ChosenAnswer, "choice_reason", space=space.as_json(), user_id=user_id, turn_id=turn_id, reason=reason
        )

    async def preferences(self, space: Space, chat_id: int, topic_id: int, user_id: int) -> Preferences:
        """All preferences of a person, and how they are switched here."""
        return await self._fetch(
            Preferences, "preferences", space=space.as_json(), chat_id=chat_id, topic_id=topic_id, user_id=user_id
        )

    async def preference_source(self, space: Space, user_id: int, preference_id: int) -> PreferenceSource | None:
        """A preference with what taught it. None: the person has none with this id."""
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
        """Forgets preferences: what was observed until now doesn't count any more."""
        return await self._list(
            ForgottenPreference,
            "forget_preferences",
            space=space.as_json(),
            user_id=user_id,
            preferences=list(preferences),
        )

    async def recall_preferences(self, space: Space, user_id: int, decisions: Sequence[int]) -> int:
        """Brings forgotten preferences back, unless something was observed of them since. Returns how many."""
        return int(
            await self._call("recall_preferences", space=space.as_json(), user_id=user_id, decisions=list(decisions))
        )

    async def decide_observations(self, space: Space, user_id: int, keep: bool) -> int:
        """Lets what waits for a tap count, or takes it away. Returns how many acts."""
        return int(await self._call("decide_observations", space=space.as_json(), user_id=user_id, keep=keep))

    async def reset_preferences(self, space: Space, user_id: int, known: int) -> int | None:
        """Forgets all preferences, `known` in number. Returns how many; None: that's not their number."""
        done = await self._call("reset_preferences", space=space.as_json(), user_id=user_id, known=known)
        return None if done is None else int(done)

    async def preference_control(
        self, space: Space, chat_id: int, topic_id: int, user_id: int, change: Mapping[str, object]
    ) -> Preferences:
        """Switches preferences in a space (`{preferences, paused_until}`) or in a thread (`{here}`)."""
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
    """What a model says of acts, and what all of a person's choices say together."""

    async def preference_work(self, job: ClaimedJob) -> AttributionWork | None:
        """What a job is to attribute. None: the act was taken back, or is gone."""
        return await self._find(AttributionWork, "preference_work", job_id=job.id, fence=job.fence)

    async def store_observations(
        self, job: ClaimedJob, observations: Sequence[Mapping[str, object]], derivation: Mapping[str, object]
    ) -> bool:
        """Stores what an act says of patterns, and ends its job. False: this process has lost the job."""
        result = {"observations": [dict(one) for one in observations], "derivation": dict(derivation)}
        return bool(await self._call("store_observations", job_id=job.id, fence=job.fence, result=result))

    async def preference_contrasts(self, space_id: int, user_id: int, thread_id: int | None) -> list[ObservedAct]:
        """A person's acts without a stated reason, oldest first, the newest 500."""
        return await self._list(
            ObservedAct, "preference_contrasts", space_id=space_id, user_id=user_id, thread_id=thread_id
        )

    async def store_estimates(
        self, space_id: int, user_id: int, thread_id: int | None, estimates: Sequence[Mapping[str, object]]
    ) -> None:
        """Stores what these acts say together, in place of what they said before."""
        await self._call(
            "store_estimates",
            space_id=space_id,
            user_id=user_id,
            thread_id=thread_id,
            estimates=[dict(one) for one in estimates],
        )

    async def replace_observations(
        self, feedback_id: int, observations: Sequence[Mapping[str, object]], derivation: Mapping[str, object]
    ) -> bool:
        """Stores what an act says of patterns in place of what it said before. False: it was taken back, or is gone."""
        result = {"observations": [dict(one) for one in observations], "derivation": dict(derivation)}
        return bool(await self._call("replace_observations", feedback_id=feedback_id, result=result))

    async def derived_feedback(
        self, space: Space, since: datetime | None, version: str, after: int, most: int = 100
    ) -> list[DerivedFeedback]:
        """A page of acts since a moment that another version than this one attributed, after an id."""
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
        """Takes over reactions from before feedback was kept. Returns how many."""
        return int(await self._call("backfill_feedback", job_id=job.id, fence=job.fence, most=most) or 0)
