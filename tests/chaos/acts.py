"""What people do: they ask, in writing, aloud and by a document, give commands, reword what they asked, undo."""

from __future__ import annotations

import asyncio
import itertools
import random
import re
from collections import Counter
from collections.abc import Awaitable, Callable

from tests import papers
from tests.chaos.answers import KEPT, WORD, made_up
from tests.chaos.record import Asked, Place
from tests.standins.telegram import StoredMessage, TelegramStandIn, User
from tests.standins.telegram.values import Upload

AGAIN, UNDO, UNDO_ONE = "✎ Answer again", "↩ Undo / Edit…", "↩ Undo: "
HEARD = "🎤"
LEARNED = re.compile(r"🧠 (?:Learned|Already knew): (.+)")
REPLIES = {
    "/stop": re.compile(r"I'm not writing anything here right now\."),
    "/status": re.compile(r"Relay \S+ on "),
    "/memory": re.compile(r"What I know|I don't know anything yet"),
}
"""Commands that no number goes with: how the reply to each begins."""
PATIENCE_SECONDS = 20.0
"""How long somebody waits for a button before they go on."""


class Acts:
    """What everybody did, and what each message of the bot says of it."""

    def __init__(self, tg: TelegramStandIn, chance: random.Random) -> None:
        self.tg = tg
        self.asked: list[Asked] = []
        self.messages: list[StoredMessage] = []
        """Those of people that are to be answered."""
        self.edited: dict[int, int] = {}
        """The number that somebody made of another one by editing their message."""
        self.undone: set[int] = set()
        """The numbers of what was kept and taken back."""
        self.commands: Counter[tuple[Place, str]] = Counter()
        self.did: Counter[str] = Counter()
        self._last: dict[Place, StoredMessage] = {}
        """The last question of each place, if it was a plain one."""
        self._remembered: dict[str, int] = {}
        self._touched: set[tuple[int, int]] = set()
        self._unoffered: dict[int, StoredMessage] = {}
        """The questions that somebody edited and that no new answer was offered to when they looked last, with their
        answers."""
        self._again: set[Place] = set()
        """Where an answer may still be written again."""
        self._chance = chance
        self._numbers = itertools.count(1)

    async def do(self, place: Place, user: User) -> None:
        """Somebody does something."""
        kinds: list[Callable[[Place, User], Awaitable[None]]] = [
            self.ask, self.speak, self.hand_in if hands_in(user) else self.ask, self.command, self.reword, self.undo,
        ]  # fmt: skip
        (act,) = self._chance.choices(kinds, (70, 6, 6, 10, 5, 5))
        await act(place, user)

    async def ask(self, place: Place, user: User) -> None:
        """A question or three."""
        for _ in range(self._chance.choice((1, 1, 1, 2, 3))):
            self._last[place] = await self._say(place, user, f"{self._question(place, user)}, {manner(user)}")

    async def speak(self, place: Place, user: User) -> None:
        """A question aloud."""
        words = f"{self._question(place, user)}, {manner(user)}"
        await self._say(place, user, voice=Upload(words.encode(), "voice.oga", "audio/ogg"))
        self.did["voice note"] += 1

    async def hand_in(self, place: Place, user: User) -> None:
        """A document that asks, or one that a question stands under."""
        words = f"{self._question(place, user)}, {manner(user)}"
        if self._chance.random() < 0.5:
            await self._say(place, user, document=Upload(words.encode(), "note.txt", "text/plain"))
        else:
            sheet = papers.pdf(["Nothing of interest stands here."])
            await self._say(place, user, words, document=Upload(sheet, "sheet.pdf", "application/pdf"))
        self.did["document"] += 1

    async def command(self, place: Place, user: User) -> None:
        """A command. /stop only where nothing is being answered; no question follows it before its reply."""
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
        """Edits the last question once it is answered, waits until that is offered, and has it answered again."""
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
        """Takes back what was kept last."""
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

    # What the bot says of it

    def said(self, place: Place) -> list[StoredMessage]:
        """What the bot says in a place, as it is now."""
        return [message for message in self.tg.messages(place[0]) if message.from_bot and at(message) == place]

    def answers(self, message: StoredMessage) -> tuple[int, ...]:
        """The questions that a message of the bot answers, by the numbers they had at first."""
        if message.text.startswith(HEARD):
            return ()
        numbers = [int(number) for number in WORD.findall(message.text)] or self._learned(message)
        return tuple(self.edited.get(number, number) for number in numbers)

    def kept(self, message: StoredMessage) -> tuple[int, ...]:
        """Those of which it says that it kept something."""
        return tuple([int(number) for number in KEPT.findall(message.text)] or self._learned(message))

    def replies(self, place: Place, command: str) -> list[StoredMessage]:
        """The replies to a command that no number goes with."""
        return [message for message in self.said(place) if REPLIES[command].match(message.text)]

    def unoffered(self) -> list[int]:
        """The questions that were edited, and that are offered no new answer."""
        return [number for number, answer in self._unoffered.items() if AGAIN not in answer.buttons]

    def _learned(self, message: StoredMessage) -> list[int]:
        found = LEARNED.fullmatch(message.text)
        return [self._remembered[found[1]]] if found and found[1] in self._remembered else []

    def _waits(self, place: Place) -> bool:
        answered = {number for message in self.said(place) for number in self.answers(message)}
        return any(one.place == place and one.number not in answered for one in self.asked)

    def _is_touched(self, message: StoredMessage) -> bool:
        """Whether something was done to a message before; from now on it was."""
        key = message.chat_id, message.message_id
        before = key in self._touched
        self._touched.add(key)
        return before

    def _question(self, place: Place, user: User, ordered: bool = True) -> str:
        number = next(self._numbers)
        self.asked.append(Asked(number, place, user.id, ordered))
        self._last.pop(place, None)
        return f"q{number}"

    async def _say(self, place: Place, user: User, text: str = "", **media: Upload) -> StoredMessage:
        message = await self.tg.say(place[0], user, text, topic=place[1] or None, **media)
        self.messages.append(message)
        return message

    async def _seen(self, what: Callable[[], object], most: float | None = PATIENCE_SECONDS) -> bool:
        """Whether something shows before somebody's patience is at its end (None: it never is)."""
        try:
            async with asyncio.timeout(most):
                while not what():  # noqa: ASYNC110 — what is seen is many things
                    await asyncio.sleep(0.2)
        except TimeoutError:
            return False
        return True


def at(message: StoredMessage) -> Place:
    """Where a message is."""
    return message.chat_id, message.topic_id or 0


def hands_in(user: User) -> bool:
    """Whether somebody sends documents."""
    return user.id % 4 == 0


def manner(user: User) -> str:
    """How somebody asks. Nothing is learned from those who send documents: it would wait for a tap of theirs."""
    return "only" if hands_in(user) else "please"
