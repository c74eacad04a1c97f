"""Checks who sees which word. Each word belongs to the spaces in which it was said, and is searched for in everything
that Relay shows to people or to the model."""

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
WORD = re.compile(r"\bq[a-p]{5}[ab]z\b")
LIKES = re.compile(r"^(?:Prefer \(|Avoid \(|In this conversation: |How they like answers: ).*$", re.MULTILINE)
"""Matches the lines of a prompt that say how a person likes answers."""
SHOWS = re.compile(r"^(send|edit|answer|create|set|copy|forward)")
"""Matches the Bot API methods that show something."""


class Leak(AssertionError):
    """Content of one space was shown in another."""


def words_of(*things: Any) -> set[str]:
    """Returns the marked words in anything that can be shown, including files."""
    return set(WORD.findall(json.dumps(things, default=opened)))


def texts_of(request: ModelRequest) -> list[str]:
    """Returns the texts of a prompt."""
    blocks = [*request.system, *(block for message in request.messages for block in message["content"])]
    return [str(block.get("text", "")) for block in blocks]


def opened(thing: Any) -> Any:
    """Returns a file, which isn't JSON, as its name and content, or as the contents of the archive."""
    assert isinstance(thing, File)
    if thing.name.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(thing.whole())) as archive:
            return [thing.name, *(archive.read(name).decode("utf-8", "replace") for name in archive.namelist())]
    return [thing.name, thing.whole().decode("utf-8", "replace")]


@dataclass
class Act:
    """What a person did, and what may be shown because of it."""

    what: str
    chat: Chat | None = None
    actor: User | None = None
    asks: bool = False
    """A command or a button. Its answer may hold everything that the person may see, if nobody else sees the answer."""
    turn: bool = False
    """The model answers it."""
    typed: set[str] = field(default_factory=set)
    """Words that the person typed or quoted."""
    home: Home | None = None
    """The space of a summary that is made."""


class Ledger:
    """Records which space each word belongs to and who lends memory to which group. Checks what is shown."""

    def __init__(self, tg: People) -> None:
        self.tg = tg
        self.homes: dict[str, set[Home]] = {}
        self.lenders: dict[int, int] = {}
        self.likes: dict[str, int] = {}
        """The person whose preference a word names."""
        self.act = Act("nothing")
        self.leaks: list[str] = []
        self.looked_at = 0
        """The number of words shown."""
        self.liked = 0
        """The number of lines about how a person likes answers."""
        self._lent: set[str] = set()
        """The words in the prompts of the current act."""

    def begin(self, act: Act) -> None:
        """Begins an act. Everything shown after this is shown because of it."""
        self.act, self._lent = act, set()

    def end(self) -> None:
        """Raises `Leak` if something was shown where it may not be."""
        if self.leaks:
            raise Leak("\n\n".join(self.leaks))

    def said(self, words: Iterable[str], home: Home | None) -> None:
        """Records that words were said in a space. None: a stranger said them, so no space keeps them."""
        for word in words:
            self.homes.setdefault(word, set()).update([home] if home else [])

    def moved(self, before: int, now: int) -> None:
        """Records that a group got another id."""
        for homes in self.homes.values():
            if ("group", before) in homes:
                homes.add(("group", now))
        if before in self.lenders:
            self.lenders[now] = self.lenders.pop(before)

    def alone(self, chat: Chat) -> int:
        """Returns the one person who sees a chat beside the bot; 0 if there are or may be several. Telegram is only
        reliable about this if the bot is an administrator."""
        if chat.user is not None:
            return chat.user.id
        people = [user_id for user_id in present(chat) if user_id != self.tg.bot.id]
        sure = chat.members.get(self.tg.bot.id) == "administrator" and not chat.username
        return people[0] if len(people) == 1 and sure else 0

    def home_of(self, chat: Chat, user_id: int = 0) -> Home:
        """Returns the space of what somebody (0: anyone there) says in a chat. An outsider's words are the group's."""
        person = self.alone(chat)
        return ("private", person) if person and user_id in (0, person) else ("group", chat.id)

    def seen_by(self, user_id: int) -> set[Home]:
        """Returns all spaces that a person may see."""
        groups = {("group", chat.id) for chat in self.tg.chats.values() if chat.id < 0 and user_id in present(chat)}
        return {("private", user_id)} | groups

    def prompt(self, request: ModelRequest) -> None:
        """Checks what the model is shown."""
        act, homes, words = self.act, set[Home](), words_of(request.system, request.messages)
        if act.home:
            homes.add(act.home)
        if act.chat is not None:
            homes |= {self.home_of(act.chat, act.actor.id if act.actor else 0), ("group", act.chat.id)}
        if act.actor is not None and self._lends(act):
            self._lent |= words
            homes.add(("private", act.actor.id))
        self._look(f"the model was shown: {request.messages[-1]}", words, homes, act.typed)
        for line in LIKES.findall("\n".join(texts_of(request))):
            self.liked += 1
            if not act.actor or {self.likes.get(word) for word in words_of(line)} - {act.actor.id}:
                self.leaks.append(f"{act.what}: the model was shown what others like: {line}")

    def call(self, method: str, parameters: Json) -> None:
        """Checks what is about to be shown in Telegram."""
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
            besides |= words_of(message.raw, message.history)  # an edited message may keep its words
        if chat is act.chat and self._lends(act):
            besides |= self._lent
            self.said(words & self._lent, ("group", chat.id))  # now everyone in the group has seen them
        self._look(f"{method} {parameters}", words, homes, besides)

    def _lends(self, act: Act) -> bool:
        """Returns whether an act is the lender's turn in the group that they lend their memory to."""
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
