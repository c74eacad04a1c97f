"""Who may see which word: every word is at home in the spaces in which it was said, and is looked for in all that Relay
shows to people or to the model."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from relay.core.models import File, ModelRequest
from tests.standins.telegram.people import People
from tests.standins.telegram.values import Chat, User
from tests.standins.telegram.world import present

Json = dict[str, Any]
Home = tuple[str, int]
"""("private", user id) or ("group", chat id)."""
WORD = re.compile(r"\bq[0-9a-f]{5}[ab]z\b")
SHOWS = re.compile(r"^(send|edit|answer|create|set|copy|forward)")
"""How the methods begin that show something to somebody."""


class Leak(AssertionError):
    """Something of one space was shown in another."""


def words_of(*things: Any) -> set[str]:
    """The marked words in anything that can be shown, files included."""
    return set(WORD.findall(json.dumps(things, default=opened)))


def opened(thing: Any) -> Any:
    """What is not JSON: a file, as its name and content, or what is in it."""
    assert isinstance(thing, File)
    if thing.name.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(thing.whole())) as archive:
            return [thing.name, *(archive.read(name).decode("utf-8", "replace") for name in archive.namelist())]
    return [thing.name, thing.whole().decode("utf-8", "replace")]


@dataclass
class Act:
    """What somebody did, and what may be shown because of it."""

    what: str
    chat: Chat | None = None
    actor: User | None = None
    asks: bool = False
    """A command or a button, whose answer may hold what its asker may see anywhere, where nobody else sees it."""
    turn: bool = False
    """Something that the model answers."""
    typed: set[str] = field(default_factory=set)
    """Words that the actor said or quoted themselves."""
    home: Home | None = None
    """Of a summary that is made: whose."""


class Ledger:
    """Which words are at home where and who lends their memory to which group; finds what is shown against that."""

    def __init__(self, tg: People) -> None:
        self.tg = tg
        self.homes: dict[str, set[Home]] = {}
        self.lenders: dict[int, int] = {}
        self.act = Act("nothing")
        self.leaks: list[str] = []
        self.looked_at = 0
        """How many words were shown."""
        self._lent: set[str] = set()
        """What the prompts of the present act held."""

    def begin(self, act: Act) -> None:
        """From now on everything is shown because of this."""
        self.act, self._lent = act, set()

    def end(self) -> None:
        """Raises `Leak` when something was shown where it may not be."""
        if self.leaks:
            raise Leak("\n\n".join(self.leaks))

    def said(self, words: Iterable[str], home: Home | None) -> None:
        """Words were said where this space is; None: by a stranger, for nobody to keep."""
        for word in words:
            self.homes.setdefault(word, set()).update([home] if home else [])

    def moved(self, before: int, now: int) -> None:
        """A group got another id."""
        for homes in self.homes.values():
            if ("group", before) in homes:
                homes.add(("group", now))
        if before in self.lenders:
            self.lenders[now] = self.lenders.pop(before)

    def alone(self, chat: Chat) -> int:
        """The one person who sees a chat, beside the bot; 0 when there are several, or may be: to a bot that is no
        administrator Telegram does not say for sure."""
        if chat.user is not None:
            return chat.user.id
        people = [user_id for user_id in present(chat) if user_id != self.tg.bot.id]
        sure = chat.members.get(self.tg.bot.id) == "administrator" and not chat.username
        return people[0] if len(people) == 1 and sure else 0

    def home_of(self, chat: Chat) -> Home:
        """The space in which something is said in a chat."""
        person = self.alone(chat)
        return ("private", person) if person else ("group", chat.id)

    def seen_by(self, user_id: int) -> set[Home]:
        """All spaces that a person may see."""
        groups = {("group", chat.id) for chat in self.tg.chats.values() if chat.id < 0 and user_id in present(chat)}
        return {("private", user_id)} | groups

    def prompt(self, request: ModelRequest) -> None:
        """Looks at what the model is shown."""
        act, homes, words = self.act, set[Home](), words_of(request.system, request.messages)
        if act.home:
            homes.add(act.home)
        if act.chat is not None:
            homes |= {self.home_of(act.chat), ("group", act.chat.id)}
        if act.actor is not None and self._lends(act):
            self._lent |= words
            homes.add(("private", act.actor.id))
        self._look(f"the model was shown: {request.messages[-1]}", words, homes, act.typed)

    def call(self, method: str, parameters: Json) -> None:
        """Looks at what is about to be shown in Telegram."""
        words = words_of(parameters) if SHOWS.match(method) else set()
        chat = self.tg.chats.get(parameters.get("chat_id", 0))
        act, homes, besides = self.act, set[Home](), set(self.act.typed)
        if chat is None:
            if method == "answerCallbackQuery" and act.actor is not None:
                homes = self.seen_by(act.actor.id)
            self._look(f"{method} {parameters}", words, homes, besides)
            return
        homes = {self.home_of(chat), ("group", chat.id)}
        if act.asks and act.actor is not None and self.alone(chat) == act.actor.id:
            homes |= self.seen_by(act.actor.id)
        message = chat.messages.get(parameters.get("message_id", 0))
        if message is not None and method.startswith("edit"):
            besides |= words_of(message.raw, message.history)  # what stands in a message may stay in it
        if chat is act.chat and self._lends(act):
            besides |= self._lent
            self.said(words & self._lent, ("group", chat.id))  # said to all now
        self._look(f"{method} {parameters}", words, homes, besides)

    def _lends(self, act: Act) -> bool:
        """Whether an act is a turn of the lender's in the group that they lend to."""
        chat, actor = act.chat, act.actor
        if chat is None or actor is None or not act.turn or self.alone(chat):
            return False
        return self.lenders.get(chat.id) == actor.id

    def _look(self, what: str, words: set[str], homes: set[Home], besides: set[str]) -> None:
        self.looked_at += len(words)
        for word in sorted(words - besides):
            if not self.homes.get(word, set()) & homes:
                whose = sorted(self.homes.get(word, set())) or "nobody"
                self.leaks.append(f"{word} of {whose} in {sorted(homes)}, after {self.act.what}:\n{what[:1500]}")
