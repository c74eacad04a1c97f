"""Random acts of people on answers. Each act is also recorded in the ledger, with its expected effect."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

from relay.commands.preferences.feedback import DIMENSIONS, Signal, signal, toggle_tag
from relay.core.models import Thread
from tests.integration.preference_cast import SPOKEN, TAGS, TURNS, Answered, Person, made_of
from tests.integration.preference_year import TOPIC, Year
from tests.integration.turn_driver import BOT, private
from tests.preference_ledger import Observed, attributed
from tests.preference_selection import Key


class Life(Year):
    """A year in which people act at random."""

    async def turn(self, person: Person) -> None:
        """Runs one turn and one act on its answer."""
        topic = TOPIC if person.rng.random() < person.in_topic else 0
        if len(person.answers) == TURNS // 2:
            person.change()
        answered = await self.answer(person, topic)
        await self.do(person, person.act(), answered)

    async def do(self, person: Person, name: str, answered: Answered) -> None:
        """Runs one act, sometimes a while after the answer."""
        if person.rng.random() < 0.2:
            await self.wait(timedelta(seconds=person.rng.randint(31, 3000)))
        act: Callable[[Person, Answered], Awaitable[None]] | None = getattr(self, f"_{name}", None)
        if act:
            await act(person, answered)
            self.unsettled = True

    async def _tag(self, person: Person, answered: Answered) -> None:
        words = person.rng.sample(list(TAGS), person.rng.randint(1, 2))
        if person.ledger.about(answered.turn.turn_id, "tag") or TAGS[words[0]][1] == TAGS[words[-1]][1]:
            words = words[:1]
        await signal(self.context(answered), Signal("tag", answered.turn.turn_id, words=", ".join(words)))
        observed = [Observed(TAGS[one][1], TAGS[one][2]) for one in words]
        act = await self.keep(person, "tag", answered, observed)
        if person.rng.random() < 0.3:
            again = person.rng.choice(list(TAGS))
            await signal(self.context(answered), Signal("tag", answered.turn.turn_id, words=again))
            act.observed = [one for one in act.observed if one.key != TAGS[again][1]]
            act.observed.append(Observed(TAGS[again][1], TAGS[again][2]))
            person.ledger.changed()

    async def _retag(self, person: Person, answered: Answered) -> None:
        """The person adds a tag by its button, and may remove it or replace it by its opposite."""
        await self._tag(person, answered)
        [act] = person.ledger.about(answered.turn.turn_id, "tag")
        if person.rng.random() < 0.5:
            await self.wait(timedelta(minutes=5))
        for name, key, polarity in person.rng.sample(list(TAGS.values()), 3):
            had = [one for one in act.observed if one.key == key]
            if had:
                await toggle_tag(self.context(answered), answered.turn.turn_id, name)
                act.observed = [one for one in act.observed if one.key != key]
                person.ledger.changed()
                if had[0].polarity != polarity:
                    await self._tagged_anew(person, answered, Observed(key, polarity))

    async def _tagged_anew(self, person: Person, answered: Answered, observed: Observed) -> None:
        ((number,),) = await self.sql("select max(id) from feedback where user_id = %s", person.user_id)
        for act in person.ledger.acts:
            if act.number == number:
                act.observed.append(observed)
                person.ledger.changed()
                return
        await self.keep(person, "tag", answered, [observed])

    async def _say(self, person: Person, answered: Answered) -> None:
        key = person.rng.choice(SPOKEN)
        likes = person.rng.random() < 0.1 or person.tastes.get(key, 1) > 0
        await signal(self.context(answered), Signal("said", up=likes, words=key[1]))
        await self.keep(person, "said", answered, [Observed(key, 1 if likes else -1)])

    async def _reacted(self, answered: Answered, *emojis: str) -> None:
        self.clock += 1
        user_id = answered.incoming.user_id
        await self.store.react(BOT.id, user_id, answered.shown_as, user_id, list(emojis), self.clock)

    async def _react(self, person: Person, answered: Answered) -> None:
        """The person reacts, and may change the reaction at once or later."""
        up, act = person.mood(answered.made) > 0, None
        for _ in range(person.rng.choice([1, 1, 1, 2])):
            await self._reacted(answered, person.rng.choice(["👍", "❤️", "🔥"] if up else ["👎", "🥱"]))
            if act:
                person.ledger.withdraw(act)
            made = [] if answered.tainted else attributed("thumbs", answered.made, up=up)
            act = await self.keep(person, "thumbs", answered, made, up=up)
            up = not up
            await self.wait(timedelta(seconds=person.rng.choice([5, 300])))

    async def _unreact(self, person: Person, answered: Answered) -> None:
        """The person removes a reaction, perhaps months later."""
        reacted = [one for one in person.answers if person.ledger.about(one.turn.turn_id, "thumbs")]
        if reacted:
            chosen = person.rng.choice(reacted[-4:])
            await self._reacted(chosen)
            for act in person.ledger.about(chosen.turn.turn_id, "thumbs"):
                person.ledger.withdraw(act)

    async def _accept(self, person: Person, answered: Answered) -> None:
        await signal(self.context(answered), Signal("accept", answered.turn.turn_id))
        made = [] if answered.tainted else attributed("accept", answered.made)
        await self.keep(person, "accept", answered, made)

    async def _better(self, person: Person, answered: Answered) -> None:
        likes = [key for key in person.rng.sample(person.made_of, len(person.made_of)) if person.tastes.get(key, 0) > 0]
        own = [key for key in answered.made if person.tastes.get(key, 0) >= 0]
        own += [key for key in likes if key not in own][: person.rng.choice([0, 1, 2]) if own else 1]
        own = own or answered.made[:1]
        await signal(self.context(answered), Signal("refine", answered.turn.turn_id, words=made_of(own)))
        made = [] if answered.tainted else attributed("refine", answered.made, own, chosen="b")
        await self.keep(person, "refine", answered, made)

    async def _compare(self, person: Person, answered: Answered) -> None:
        others = [one for one in person.answers[:-1] if one.scope == answered.scope and one.incoming.text]
        if not others:
            return
        other = person.rng.choice(others[-3:])
        if person.mood(other.made) > person.mood(answered.made):
            answered, other = other, answered
        reasons = person.rng.sample(DIMENSIONS, person.rng.choice(person.reasons))
        one = Signal("compare", answered.turn.turn_id, over=other.turn.turn_id, dimensions=tuple(reasons))
        await signal(self.context(answered), one)
        foreign = answered.tainted or other.tainted
        answer, over = ([], []) if foreign else (answered.made, other.made)
        await self.keep(person, "compare", answered, attributed("compare", answer, over, reasons=reasons))

    async def _stop(self, person: Person, answered: Answered) -> None:
        """The next answer is stopped while it is written."""
        stopped = await self.answer(person, answered.incoming.topic_id, status="stopped")
        await self.keep(person, "abandon", stopped, [] if stopped.tainted else attributed("abandon", stopped.made))

    async def _again(self, person: Person, answered: Answered) -> None:
        """The person asks for the answer again."""
        await self.answer(person, answered.incoming.topic_id, over=answered, again=True)
        about = person.ledger.about(answered.turn.turn_id, "accept", "tag", "compare", "thumbs")
        if all(act.kind == "thumbs" and not act.up for act in about):
            made = [] if answered.tainted else attributed("abandon", answered.made)
            await self.keep(person, "abandon", answered, made)

    async def _back(self, person: Person, answered: Answered) -> None:
        """The person asks for the answer again, and then brings the old one back."""
        await self._again(person, answered)
        newer = person.answers[-1]
        await self.wait(timedelta(minutes=2))
        back = await self.answer(person, answered.incoming.topic_id, over=newer, again="back", made=answered.made)
        foreign = back.tainted or newer.tainted
        await self.keep(person, "revert", back, [] if foreign else attributed("revert", back.made, newer.made))

    # Decisions about what is known

    async def _known(self, person: Person) -> list[tuple[int, int | None, Key]]:
        rows = await self.sql(
            "select id, thread_id, type, pattern from preference where user_id = %s order by 3, 4, 2, 1", person.user_id
        )
        return [(number, thread, (type, words)) for number, thread, type, words in rows]

    async def _forget(self, person: Person, answered: Answered) -> None:
        """The person forgets some of their preferences."""
        known = await self._known(person)
        if known:
            some = person.rng.sample(known, min(len(known), person.rng.randint(1, 2)))
            done = await self.store.forget_preferences(
                private(person.user_id), person.user_id, [number for number, *_ in some]
            )
            at = await self._decided(person)
            kept = [person.ledger.forget(scope, key, at) for scope, key in dict.fromkeys(one[1:] for one in some)]
            person.decisions.append(([one.decision_id for one in done], kept))

    async def _recall(self, person: Person, answered: Answered) -> None:
        """The person undoes the last forgetting."""
        if person.decisions:
            numbers, kept = person.decisions.pop()
            back = await self.store.recall_preferences(private(person.user_id), person.user_id, numbers)
            assert back == sum(person.ledger.recall(one) for one in kept)

    async def _reset(self, person: Person, answered: Answered) -> None:
        """The person forgets all preferences."""
        space = private(person.user_id)
        known = (await self.store.preferences(Thread(space, person.user_id, 0), person.user_id)).known
        assert await self.store.reset_preferences(space, person.user_id, known + 1) is None
        assert await self.store.reset_preferences(space, person.user_id, known) == known
        at = await self._decided(person)
        for scope, key in {(act.scope, one.key) for act in person.ledger.acts for one in act.observed}:
            person.ledger.forget(scope, key, at)
        person.decisions.clear()

    async def _decided(self, person: Person) -> datetime:
        ((at,),) = await self.sql("select max(at) from preference_decision where user_id = %s", person.user_id)
        return (at or datetime.min) + self.passed if at else await self.now()
