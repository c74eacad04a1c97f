"""Thirty places where people talk to the bot: private chats, private topics, forum topics and groups."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator

from tests.chaos.acts import Acts
from tests.chaos.record import Place, Question
from tests.standins.telegram import Chat, TelegramStandIn, User

PEOPLE = range(3001, 3040)
PRIVATE, TOPIC_OWNERS, FORUMS, GROUPS, TOPICS = 10, 4, 3, 6, 2
ANSWERED_SOON = "↻ Retry"
"""The button under a failed answer."""


class Crowd:
    """The people, their places, and their questions."""

    def __init__(self, tg: TelegramStandIn, chance: random.Random) -> None:
        self.tg = tg
        self.acts = Acts(tg, chance)
        self.retries = 0
        self._chance = chance
        self.places: list[tuple[Place, User]] = list(self._settle(iter(PEOPLE)))

    @property
    def asked(self) -> list[Question]:
        """Returns all questions, in the order asked."""
        return self.acts.asked

    def _settle(self, people: Iterator[int]) -> Iterator[tuple[Place, User]]:
        def somebody() -> User:
            return self.tg.user(next(people), "Guest")

        for _ in range(PRIVATE):
            yield (self.tg.dm(user := somebody()).id, 0), user
        for _ in range(TOPIC_OWNERS):
            yield from self._topics(self.tg.dm(user := somebody()), user)
        for number in range(FORUMS):
            user = somebody()
            yield from self._topics(self.tg.group(-1002000000000 - number, "Forum", [user], forum=True), user)
        for number in range(GROUPS):
            user = somebody()
            yield (self.tg.group(-1003000000000 - number, "Group", [user]).id, 0), user

    def _topics(self, chat: Chat, user: User) -> Iterator[tuple[Place, User]]:
        for name in ("Garden", "Kitchen")[:TOPICS]:
            yield (chat.id, self.tg.topic(chat, name, user)), user

    async def talk(self, pause: float) -> None:
        """Lets each person act again and again, `pause` seconds apart on average, until cancelled."""
        async with asyncio.TaskGroup() as everybody:
            for place, user in self.places:
                everybody.create_task(self._talk(place, user, pause))

    async def _talk(self, place: Place, user: User, pause: float) -> None:
        while True:
            await asyncio.sleep(self._chance.uniform(0.2, 1.8) * pause)
            await self.acts.do(place, user)

    def unanswered(self) -> list[Question]:
        """Returns the questions without an answer so far."""
        answered = {
            (place, number)
            for place, _ in self.places
            for message in self.acts.said(place)
            for number in self.acts.answers(message)
        }
        return [question for question in self.asked if (question.place, question.number) not in answered]

    def press_retry(self) -> None:
        """Presses Retry under failed answers."""
        for place, user in self.places:
            for message in self.acts.said(place):
                if data := message.buttons.get(ANSWERED_SOON):
                    self.retries += 1
                    self.tg.press(place[0], user, message, data)

    def transcripts(self) -> str:
        """Returns the messages of every place, one per line."""
        lines = []
        for place, user in self.places:
            lines.append(f"{place}, {user.id}")
            for message in self.tg.messages(place[0], place[1]):
                media = " ".join(kind for kind in ("voice", "document") if kind in message.raw)
                who = "bot" if message.from_bot else "they"
                lines.append(f"  {message.message_id} {who}: {media} {message.text!r} {list(message.buttons)}")
        return "\n".join(lines)
