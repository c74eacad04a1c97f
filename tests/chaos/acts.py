"""What people do: they ask in writing, aloud and by document, give commands, edit their questions, and undo."""

from __future__ import annotations

import asyncio
import itertools
import random
import re
from collections import Counter
from collections.abc import Awaitable, Callable

from tests import papers
from tests.chaos.answers import KEPT, WORD, made_up
from tests.chaos.record import Place, Question
from tests.standins.telegram import StoredMessage, TelegramStandIn, User
from tests.standins.telegram.values import Upload

AGAIN, UNDO, UNDO_ONE = "✎ Answer again", "↩ Undo / Edit…", "↩ Undo: "
HEARD = "🎤"
LEARNED = re.compile(r"(?:🧠 (?:Learned|Already knew)|↩ Undone): (.+)")
REPLIES = {
    "/stop": re.compile(r"I'm not writing anything here right now\."),
    "/status": re.compile(r"Relay \S+ on "),
    "/memory": re.compile(r"What I know|I don't know anything yet"),
}
"""Commands without a question number, with the pattern of their replies."""
PATIENCE_SECONDS = 20.0
"""How long a person waits for a button before going on."""


class Acts:
    """Everything that people did, and how each message of the bot relates to it."""

    def __init__(self, tg: TelegramStandIn, chance: random.Random) -> None:
        self.tg = tg
        self.asked: list[Question] = []
        self.messages: list[StoredMessage] = []
        """People's messages that must be answered."""
        self.edited: dict[int, int] = {}
        """Numbers of edited questions, each with the number it replaced."""
        self.undone: set[int] = set()
        """Numbers of the memories that were kept and then undone."""
        self.commands: Counter[tuple[Place, str]] = Counter()
        self.did: Counter[str] = Counter()
        self._last: dict[Place, StoredMessage] = {}
        """The last question of each place, if it was a plain one."""
        self._remembered: dict[str, int] = {}
        self._touched: set[tuple[int, int]] = set()
        self._unoffered: dict[int, StoredMessage] = {}
        """The answers to edited questions, by question, that had no offer of a new answer at the last look."""
        self._again: set[Place] = set()
        """Places where an answer may still be rewritten."""
        self._chance = chance
        self._numbers = itertools.count(1)

    async def do(self, place: Place, user: User) -> None:
        """Does one random act."""
        kinds: list[Callable[[Place, User], Awaitable[None]]] = [
            self.ask, self.speak, self.hand_in if hands_in(user) else self.ask, self.command, self.reword, self.undo,
        ]  # fmt: skip
        (act,) = self._chance.choices(kinds, (70, 6, 6, 10, 5, 5))
        await act(place, user)

    async def ask(self, place: Place, user: User) -> None:
        """Asks one to three questions."""
        for _ in range(self._chance.choice((1, 1, 1, 2, 3))):
            self._last[place] = await self._say(place, user, f"{self._question(place, user)}, {manner(user)}")

    async def speak(self, place: Place, user: User) -> None:
        """Asks a question by voice note."""
        words = f"{self._question(place, user)}, {manner(user)}"
        await self._say(place, user, voice=Upload(words.encode(), "voice.oga", "audio/ogg"))
        self.did["voice note"] += 1

    async def hand_in(self, place: Place, user: User) -> None:
        """Sends a document that asks a question or has one as its caption."""
        words = f"{self._question(place, user)}, {manner(user)}"
        if self._chance.random() < 0.5:
            await self._say(place, user, document=Upload(words.encode(), "note.txt", "text/plain"))
        else:
            sheet = papers.pdf(["Nothing of interest stands here."])
            await self._say(place, user, words, document=Upload(sheet, "sheet.pdf", "application/pdf"))
        self.did["document"] += 1

    async def command(self, place: Place, user: User) -> None:
        """Gives a command. Sends /stop only if no answer is pending, and asks nothing before its reply."""
        at_rest = place not in self._again and not self._waits(place)
        kinds = ["/status", "/new", "/remember"] + ["/stop"] * at_rest + ["/memory"] * (place[0] > 0)
        name = self._chance.choice(kinds)
        self.did[name] += 1
        if name == "/new":
            await self._say(place, user, f"/new {self._question(place, user)}")
        elif name == "/remember":
            number = self._question(place, user, ordered=False).removeprefix("q")
            self._remembered[made_up(int(number))] = int(number)
            await self._say(place, user, f"/remember {made_up(int(number))}")
        else:
            self.commands[place, name] += 1
            await self._say(place, user, name)
            if name == "/stop":
                replied = self.commands[place, name]
                await self._seen(lambda: len(self.replies(place, name)) >= replied, None)

    async def reword(self, place: Place, user: User) -> None:
        """Edits the last question once it is answered, waits for the offer of a new answer, and accepts it."""
        answer, said = next(reversed(self.said(place)), None), self._last.pop(place, None)
        if said is None or answer is None or self._waits(place) or self._is_touched(answer):
            return
        (old,) = map(int, WORD.findall(said.text))
        if old not in self.answers(answer):
            return
        number = next(self._numbers)
        self.edited[number] = old
        self.tg.edit(place[0], said, f"q{number}, {manner(user)}")
        self.did["edit"] += 1
        self._unoffered[old] = answer
        await self._seen(lambda: AGAIN in answer.buttons, None)
        del self._unoffered[old]
        self.tg.press(place[0], user, answer, answer.buttons[AGAIN])
        self.did["answer again"] += 1
        self._again.add(place)
        if await self._seen(lambda: str(number) in WORD.findall(answer.text)):
            self._again.discard(place)

    async def undo(self, place: Place, user: User) -> None:
        """Undoes the latest memory."""
        answer = next((one for one in reversed(self.said(place)) if UNDO in one.buttons), None)
        if answer is None or self._is_touched(answer):
            return
        self.tg.press(place[0], user, answer, answer.buttons[UNDO])
        if await self._seen(lambda: any(label.startswith(UNDO_ONE) for label in answer.buttons)):
            label = next(label for label in answer.buttons if label.startswith(UNDO_ONE))
            kept = {made_up(number): number for number in self.kept(answer)}
            self.undone.add(kept[label.removeprefix(UNDO_ONE)])
            self.tg.press(place[0], user, answer, answer.buttons[label])
            self.did["undo"] += 1

    # The bot's messages

    def said(self, place: Place) -> list[StoredMessage]:
        """Returns the bot's messages in a place, as they are now."""
        return [message for message in self.tg.messages(place[0]) if message.from_bot and at(message) == place]

    def answers(self, message: StoredMessage) -> tuple[int, ...]:
        """Returns the questions that a message of the bot answers, by their original numbers."""
        if message.text.startswith(HEARD):
            return ()
        numbers = [int(number) for number in WORD.findall(message.text)] or self._learned(message)
        return tuple(self.edited.get(number, number) for number in numbers)

    def kept(self, message: StoredMessage) -> tuple[int, ...]:
        """Returns the questions from which it says that it kept something."""
        return tuple([int(number) for number in KEPT.findall(message.text)] or self._learned(message))

    def replies(self, place: Place, command: str) -> list[StoredMessage]:
        """Returns the replies to a command without a question number."""
        return [message for message in self.said(place) if REPLIES[command].match(message.text)]

    def unoffered(self) -> list[int]:
        """Returns the edited questions that were offered no new answer."""
        return [number for number, answer in self._unoffered.items() if AGAIN not in answer.buttons]

    def _learned(self, message: StoredMessage) -> list[int]:
        found = LEARNED.fullmatch(message.text)
        return [self._remembered[found[1]]] if found and found[1] in self._remembered else []

    def _waits(self, place: Place) -> bool:
        answered = {number for message in self.said(place) for number in self.answers(message)}
        return any(one.place == place and one.number not in answered for one in self.asked)

    def _is_touched(self, message: StoredMessage) -> bool:
        """Whether a message was touched before. Marks it as touched."""
        key = message.chat_id, message.message_id
        before = key in self._touched
        self._touched.add(key)
        return before

    def _question(self, place: Place, user: User, ordered: bool = True) -> str:
        number = next(self._numbers)
        self.asked.append(Question(number, place, user.id, ordered))
        self._last.pop(place, None)
        return f"q{number}"

    async def _say(self, place: Place, user: User, text: str = "", **media: Upload) -> StoredMessage:
        message = await self.tg.say(place[0], user, text, topic=place[1] or None, **media)
        self.messages.append(message)
        return message

    async def _seen(self, what: Callable[[], object], most: float | None = PATIENCE_SECONDS) -> bool:
        """Whether something appears before the person's patience ends (None: no limit)."""
        try:
            async with asyncio.timeout(most):
                while not what():  # noqa: ASYNC110 — what is seen is many things
                    await asyncio.sleep(0.2)
        except TimeoutError:
            return False
        return True


def at(message: StoredMessage) -> Place:
    """Returns a message's place."""
    return message.chat_id, message.topic_id or 0


def hands_in(user: User) -> bool:
    """Whether a user sends documents."""
    return user.id % 4 == 0


def manner(user: User) -> str:
    """Returns the manner of a user's questions. Nothing is learned from users who send documents, since it would wait
    for their tap."""
    return "only" if hands_in(user) else "please"
