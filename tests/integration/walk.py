"""A random walk: people do random things in random chats."""

from __future__ import annotations

import contextlib
import json
import random
import re
from collections import Counter
from typing import Any

from relay.core.models import ModelRequest, Space
from relay.memory.answers import InvalidAnswer
from relay.memory.night.asking import BatchModel
from relay.memory.night.consolidate import Consolidation
from relay.memory.night.digest import as_markdown, notice_of, write_digest
from relay.memory.rows.upkeep.digest import DigestPlace
from relay.memory.writing.summaries import summarise
from relay.surfaces.chat import COMMANDS
from relay.surfaces.chat.turn_buttons import is_turn_button
from tests.integration.apart import Act, Ledger, words_of
from tests.integration.inside import Inside
from tests.integration.work import claim_summaries
from tests.standins.telegram.values import Chat, StoredMessage, User
from tests.standins.telegram.world import present

Json = dict[str, Any]
KNOWN = {1001: "Ada", 1002: "Ben", 1003: "Eve", 1004: "Dan"}
ADMINS = frozenset([1001, 1002])
STRANGER = 6666
LETTERS = str.maketrans("0123456789", "ghijklmnop")
"""Replaces the digits in words, so that a word can name a preference."""
COMMON = ["garden", "piano", "tent", "salad", "recipe", "train", "holiday", "budget", "lantern", "violin", "meadow"]
"""Words that everyone uses, so that every search finds them."""
FOR_ALL = {"soul", "persona", "invite"}
"""Commands whose text everyone may see."""
QUESTION_FOR_ALL = re.compile(rf"✎ ({'|'.join(sorted(FOR_ALL))})\b")
ACTS = {
    "say": 40, "command": 24, "press": 20, "lend": 5, "hear": 4, "edit": 3, "react": 2, "come": 5, "go": 7, "change": 3,
    "sum": 4, "night": 1, "like": 8,
}  # fmt: skip


class Walk:
    """A seeded random walk, with a ledger of who may see what."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.count: Counter[str] = Counter()
        self.diary: list[str] = []
        self._number = 0
        self._verbs: list[str] = []
        self._buttons: list[tuple[Chat, int, str]] = []

    def settle_in(self, relay: Inside) -> None:
        """Creates the people, the chats and the groups."""
        self.relay, self.tg, self.ledger = relay, relay.tg, Ledger(relay.tg)
        relay.wire.watch = self.ledger.call
        ada, ben, eve, dan = (self.tg.user(user_id, name) for user_id, name in KNOWN.items())
        sam = self.tg.user(STRANGER, "Sam")
        for user in (ada, ben, eve):  # Dan never starts the bot
            self.tg.topic(self.tg.dm(user), "Mine", user)
        self.tg.group(-1001, "Shared", [ada, ben, eve], type="supergroup")
        self.tg.group(-1002, "Own", [ada], type="supergroup", bot_status="member")
        forum = self.tg.group(-1003, "Forum", [ben], forum=True)
        self.tg.topic(forum, "Plans", ben)
        self.tg.group(-1004, "Public", [eve, sam], type="supergroup").username = "public_place"
        self.tg.group(-4242, "Small", [dan, ada, ben])

    # The model

    def answers(self, request: ModelRequest) -> list[Json]:
        """Answers as the model, which randomly repeats, learns, keeps, forgets or ignores what it was shown."""
        self.ledger.prompt(request)
        self.count["prompts"] += 1
        shown = sorted(words_of(request.system, request.messages))
        if "digest of a day" in str(request.system):
            return [{"type": "text", "text": json.dumps([{"topic": "All", "points": shown or ["nothing"]}])}]
        some = self.random.sample(shown, min(len(shown), 2))
        kinds = ["tell", "quiet", "learn", "learn", "copy", "keep", "forget"] + ["look"] * (4 * self._may_look(request))
        kind = self.random.choice(kinds)
        if kind == "look":
            return [self._looks()]
        learned = "\n".join(f"[LEARN: {self._phrase()} {word}]" for word in some)
        kept = f'[REMEMBER] {{"content": "{self._phrase()} {" ".join(some)}", "category": "knowledge", "tags": []}}'
        text = {
            "tell": "I was shown " + " ".join(shown),
            "quiet": "All right.",
            "learn": f"Good.\n{learned}",
            "copy": "Good.\n" + "\n".join(f"[LEARN: {fact}]" for fact in self._facts(request)),
            "keep": f"Good.\n{kept}",
            "forget": "Gone.\n" + "\n".join(f"[FORGET: {word}]" for word in some),
        }[kind]
        return [{"type": "text", "text": text}]

    def _looks(self) -> Json:
        """Returns a tool call that searches for common words or opens an invented id."""
        used: Json = {"type": "tool_use", "id": f"toolu_{self._next()}"}
        if self.random.random() < 0.5:
            self.count["open_memory"] += 1
            return used | {"name": "open_memory", "input": {"id": self._forged()}}
        kinds = self.random.choice([None, ["message"], ["memory"], ["summary", "document"]])
        query = " ".join(self.random.sample(COMMON, 3))
        return used | {"name": "search_memory", "input": {"query": query, "kinds": kinds, "limit": 20}}

    def _forged(self) -> str:
        """Returns an id that is, or may be, in someone's memory."""
        kind, number = self.random.choice("mmkkksd"), self.random.randrange(1, 30)
        return {"m": f"m{number * 9}", "d": f"d{number}.1"}.get(kind, f"{kind}{number}")

    def _facts(self, request: ModelRequest) -> list[str]:
        """Returns some of the facts that the model was shown, unchanged."""
        facts = re.findall(
            r"^- (?:\w+: )?(.*)$", "\n".join(block["text"] for block in request.system[1:]), re.MULTILINE
        )
        return self.random.sample(facts, min(len(facts), 2))

    def _may_look(self, request: ModelRequest) -> bool:
        return bool(request.tools) and request.messages[-1]["content"][-1]["type"] != "tool_result"

    # Steps

    async def steps(self, number: int) -> None:
        """Runs this many steps, one after the other. Raises `Leak`."""
        for _ in range(number):
            name = self.random.choices(list(ACTS), list(ACTS.values()))[0]
            self.count[name] += 1
            try:
                await getattr(self, name)()
                await self.relay.settled()
                self.ledger.end()
            except BaseException:
                print("\n".join(self.diary[-12:]))
                raise
            self._collect()

    def _begin(self, act: Act) -> None:
        self.diary.append(f"{len(self.diary)}: {act.what}")
        self.ledger.begin(act)
        if act.chat is not None and act.actor is not None:
            self.ledger.said(act.typed, self._home(act.chat, act.actor))

    async def say(self) -> None:
        """A person writes in a chat, sometimes as a reply, sometimes with a word seen elsewhere."""
        user = self._somebody()
        chat = self._chat(user)
        text = f"{self._address(chat)}{self._phrase()} {' '.join(self._fresh())}{self._heard(user)}"
        target = self._message(chat) if self.random.random() < 0.25 else None
        more: Json = {"forward_from": self._somebody()} if self.random.random() < 0.08 else {}
        await self._say(chat, user, text, target, turn=True, **more)

    async def command(self) -> None:
        """A person runs a command with some text after it. Each command gets its turn."""
        self._verbs = self._verbs or sorted(name for name, verb in COMMANDS.items() if "chat" in verb.surfaces)
        name = self._verbs.pop(self.random.randrange(len(self._verbs)))
        self.count["/" + name] += 1
        user = self._somebody()
        if COMMANDS[name].admin and self.random.random() < 0.8:
            user = self.tg.users[self.random.choice(sorted(ADMINS))]
        chat = self._chat(user)
        mention = "" if chat.private else f"@{self.tg.bot.username}"
        target = self._message(chat) if self.random.random() < 0.4 else None
        await self._say(
            chat, user, f"/{name}{mention} {self._argument(name, user)}".strip(), target, True, name in ("retry", "two")
        )
        if name == "unlink" and user.id in ADMINS:
            self.ledger.lenders.pop(chat.id, None)

    async def like(self) -> None:
        """A person says how they like answers, gives the chat its own preferences, or forgets preferences."""
        user = self._somebody()
        chat = self._chat(user)
        fresh = self._fresh()
        said = [f"prefer {fresh[0]}", f"avoid {fresh[0]}", "here own", "here use", "forget *"]
        self.ledger.likes[fresh[0]] = user.id
        mention = "" if chat.private else f"@{self.tg.bot.username}"
        told = self.random.choices(said, [6, 6, 1, 1, 1])[0]
        await self._say(chat, user, f"/preferences{mention} {told}", None, True)

    async def _say(
        self,
        chat: Chat,
        user: User,
        text: str,
        target: StoredMessage | None,
        asks: bool = False,
        turn: bool = False,
        **more: Any,
    ) -> None:
        if target is not None and target.from_bot and QUESTION_FOR_ALL.match(target.text):
            text = self._phrase()
        typed = words_of(text, target.raw if target else None)
        where = f"{chat.title or 'DM'}{' alone' if self.ledger.alone(chat) else ''}"
        self._begin(Act(f"{user.first_name} in {where}: {text}", chat, user, asks, turn, typed))
        topics = [None, *(topic for topic in chat.topics if not chat.topics[topic].deleted)]
        topic = target.topic_id if target else self.random.choice(topics)
        await self.tg.say(chat, user, text, topic=topic, reply_to=target, **more)

    async def press(self) -> None:
        """A person presses a button that is or was shown, their own or someone else's."""
        shown = [
            (chat, message, data)
            for chat in self._live()
            for message in list(chat.messages.values())[-25:]
            for data in message.buttons.values()
            if data
        ]
        old = [(chat, chat.messages[number], data) for chat, number, data in self._buttons if chat.migrated_to is None]
        pool = old if not shown or (old and self.random.random() < 0.15) else shown
        if not pool:
            return
        chat, message, data = self.random.choice(pool)
        if self.random.random() < 0.1:
            data = f"qo:{self.random.randrange(1, 200)}:0:{self._forged()}"
        elif data.startswith("qo:") and self.random.random() < 0.5:
            data = f"{data.rpartition(':')[0]}:{self._forged()}"
        people = [self.tg.users[user_id] for user_id in self._people(chat)]
        if not people:
            return
        user = self.random.choice(people)
        await self._press(chat, user, message, data)

    async def _press(self, chat: Chat, user: User, message: StoredMessage, data: str) -> None:
        self.count[f"press {data.split(':')[0]}"] += 1
        turn = is_turn_button(data)
        self._begin(Act(f"{user.first_name} presses {data} in {chat.title}", chat, user, True, turn))
        self.tg.press(chat, user, message, data)
        if data == f"gl:{user.id}:y" and user.id in ADMINS:
            self.ledger.lenders.setdefault(chat.id, user.id)
        if data == f"gu:{self.ledger.lenders.get(chat.id)}" and (user.id in ADMINS or data == f"gu:{user.id}"):
            await self.relay.settled()
            self.ledger.lenders.pop(chat.id)

    async def lend(self) -> None:
        """A person who may lends their memory to a group."""
        user = self.tg.users[self.random.choice(sorted(ADMINS))]
        chats = [chat for chat in self._groups() if user.id in present(chat) and not self.ledger.alone(chat)]
        if not chats:
            return
        chat = self.random.choice(chats)
        await self._say(chat, user, f"/link@{self.tg.bot.username}", None, True)
        await self.relay.settled()
        self.ledger.end()
        for message in list(chat.messages.values())[-1:]:
            for data in [data for data in message.buttons.values() if data.endswith(":y")]:
                await self._press(chat, user, message, data)

    async def hear(self) -> None:
        """A person answers a question of the bot's. The question may be about any space that they may see."""
        asked = [m for chat in self._live() for m in chat.messages.values() if m.from_bot and m.text.startswith("✎")]
        if not asked:
            return
        message = self.random.choice(asked[-5:])
        chat = self.tg.chat(message.chat_id)
        user = self.tg.users[self.random.choice(self._people(chat))]
        fresh = self._fresh()
        await self._say(chat, user, f"{self._phrase()} {' '.join(fresh)}", message, True, True)
        if user.id in KNOWN:
            for home in self.ledger.seen_by(user.id):
                self.ledger.said(fresh, home)

    async def edit(self) -> None:
        """A person edits a message of theirs, which stays in its space."""
        user = self._somebody()
        chat = self._chat(user)
        own = [m for m in chat.messages.values() if m.user_id == user.id and "text" in m.raw and "/" not in m.text]
        if not own:
            return
        message = self.random.choice(own[-3:])
        text = f"{self._address(chat)}{self._phrase()} {' '.join(self._fresh())}"
        self._begin(
            Act(
                f"{user.first_name} edits {message.text} to {text}", chat, user, True, True, words_of(text, message.raw)
            )
        )
        for home in {("private", user.id), ("group", chat.id)}:
            if any(home in self.ledger.homes[word] for word in words_of(message.text)):
                self.ledger.said(words_of(text), home)
        self.tg.edit(chat, message, text)

    async def react(self) -> None:
        """A person reacts to a message."""
        user = self._somebody()
        chat = self._chat(user)
        if message := self._message(chat):
            self._begin(Act(f"{user.first_name} reacts in {chat.title}", chat, user, True))
            self.tg.react(chat, user, message, self.random.choice(["👍", "👎", "🔥", None]))

    async def come(self) -> None:
        """A person joins a group."""
        chat = self.random.choice(self._groups())
        absent = [user for user in map(self.tg.person, [*KNOWN, STRANGER]) if user.id not in present(chat)]
        if absent:
            user = self.random.choice(absent)
            self._begin(Act(f"{user.first_name} joins {chat.title}", chat))
            self.tg.add_member(chat, user)

    async def go(self) -> None:
        """A person leaves a group or is removed. The last known member stays."""
        chat = self.random.choice(self._groups())
        user = self.tg.users[self.random.choice(self._people(chat))]
        if [user_id for user_id in self._people(chat) if user_id in KNOWN] == [user.id]:
            return
        self._begin(Act(f"{user.first_name} leaves {chat.title}", chat))
        self.tg.remove_member(chat, user, by=self.random.choice([None, self.tg.person(STRANGER)]))
        if self.ledger.lenders.get(chat.id) == user.id:
            del self.ledger.lenders[chat.id]

    async def change(self) -> None:
        """The bot gets other rights or is removed and added; or a group becomes public, private or a supergroup."""
        chat = self.random.choice(self._groups())
        by = self.tg.users[next(user_id for user_id in self._people(chat) if user_id in KNOWN)]
        self._begin(Act(f"{chat.title} changes", chat))
        match self.random.choice(["rights", "again", "name", "large"]):
            case "rights":
                self.tg.set_member(chat, self.tg.bot, self.random.choice(["member", "administrator"]), by=by)
            case "again":
                self.tg.remove_member(chat, self.tg.bot, by=by)
                self.tg.add_member(chat, self.tg.bot, by=by)
            case "name" if chat.type == "supergroup":
                chat.username = None if chat.username else f"place{-chat.id}"
            case "large" if chat.type == "group":
                self.ledger.moved(chat.id, -1_000_000_004_242)
                self.tg.migrate(chat, -1_000_000_004_242)

    async def sum(self) -> None:
        """Makes the summaries that are due, one after the other."""
        while due := await claim_summaries(self.relay.store, 1):
            ((kind, owner, chat_id),) = await self.relay.sql(
                "select kind, owner_id, chat_id from space where id = (select space_id from thread where id = %s)",
                due[0].work.thread_id,
            )
            self._begin(Act(f"a summary of {kind} {owner or chat_id}", home=(kind, owner or chat_id)))
            await summarise(self.relay.summariser, due[0].job)
            await self.relay.store.finish_job(due[0].job)
            self.ledger.end()

    async def night(self) -> None:
        """Runs a night in which every space wants its digest. Each digest is made from its space and sent there."""
        store = self.relay.store
        for kind, owner, chat_id in await self.relay.sql("select kind, owner_id, chat_id from space"):
            chat = self.tg.chats.get(owner or chat_id)
            user_id = owner or next((one for one in self._people(chat) if one in KNOWN), 0) if chat else 0
            if user_id in KNOWN and chat is not None and chat.migrated_to is None:
                await store.want_digest(Space(kind, owner, chat_id), DigestPlace(user_id, chat.id, 0))
        mind, bot_id = BatchModel(store, self.relay.summariser.gate, "small"), self.tg.bot.id
        begun = (await store.begin_night()).id
        for space in [*await store.sleepers(begun, "consolidate", 0), *await store.sleepers(begun, "digest", 0)]:
            home = (space.kind, space.owner_id or space.group_id)
            self._begin(Act(f"a night of {home}", home=home))
            work = Consolidation(mind, bot_id, lambda: sorted(ADMINS))
            self.count["pairs"] += len((await work.pairs(space.space_id))[0])
            with contextlib.suppress(InvalidAnswer):
                await work.plan(space.space_id)
            if space.chat_id is not None and (day := await store.digest_due(space.space_id)):
                text = as_markdown(await write_digest(mind, day))
                notice = notice_of(text, ()) if text else None
                self.count["digests"] += await store.post_digest(space.space_id, bot_id, notice)
                self.relay.worker.accept([], 0)  # send it now; otherwise the worker checks every few seconds
            await self.relay.settled()
            self.ledger.end()
        await store.end_night(begun)

    # Choices

    def _next(self) -> int:
        self._number += 1
        return self._number

    def _fresh(self) -> list[str]:
        """Returns two words that were never used. A person who knows one must not learn the other."""
        number = f"{self._next():05x}".translate(LETTERS)
        return [f"q{number}az", f"q{number}bz"]

    def _phrase(self) -> str:
        return " ".join(self.random.sample(COMMON, 3))

    def _heard(self, user: User) -> str:
        """Returns a word that the person may have seen elsewhere."""
        if self.random.random() > 0.15 or user.id not in KNOWN:
            return ""
        seen = self.ledger.seen_by(user.id)
        heard = sorted(word for word, homes in self.ledger.homes.items() if homes & seen)
        return f" {self.random.choice(heard)}" if heard else ""

    def _argument(self, name: str, user: User) -> str:
        if name == "answer":
            return self.random.choice(["all", "all", "addressed", "all everywhere", "addressed everywhere", "off", ""])
        if name in FOR_ALL:
            return self.random.choice(
                ["", "edit", f"set {self._phrase()}", self._phrase(), "history", "restore 1", "clear"]
            )
        if name == "two":
            return ""  # words are refused, and no answers are written
        number = str(self.random.randrange(1, 40))
        word = re.sub(r"\W", "", self._heard(user)) or self.random.choice(COMMON)
        fresh = f"{self._phrase()} {' '.join(self._fresh())}"
        return self.random.choice(
            ["", number, f"#{number}", fresh, fresh, self._phrase(), word, f"{word} in:Own", "all", "7d"]
        )

    def _address(self, chat: Chat) -> str:
        return "" if chat.private or self.random.random() < 0.3 else f"@{self.tg.bot.username} "

    def _somebody(self) -> User:
        return self.tg.users[self.random.choice([*KNOWN, 1001, 1002, STRANGER])]

    def _live(self) -> list[Chat]:
        return [chat for chat in self.tg.chats.values() if chat.migrated_to is None]

    def _groups(self) -> list[Chat]:
        return [chat for chat in self._live() if not chat.private]

    def _people(self, chat: Chat) -> list[int]:
        if chat.user is not None:
            return [chat.user.id]
        return [user_id for user_id in present(chat) if user_id != self.tg.bot.id]

    def _chat(self, user: User) -> Chat:
        """Returns a chat that the person is in. A stranger has no chat with the bot."""
        chats = [chat for chat in self._live() if user.id in self._people(chat)]
        return self.random.choice(chats or [self.tg.chat(-1004)])

    def _message(self, chat: Chat) -> StoredMessage | None:
        said = [message for message in list(chat.messages.values())[-12:] if message.text]
        return self.random.choice(said) if said else None

    def _home(self, chat: Chat, user: User) -> tuple[str, int] | None:
        return self.ledger.home_of(chat, user.id) if user.id in KNOWN else None

    def _collect(self) -> None:
        """Keeps the buttons of the newest messages, to press them after they are gone."""
        for chat in self._live():
            for message in list(chat.messages.values())[-2:]:
                self._buttons += [(chat, message.message_id, data) for data in message.buttons.values() if data]
        self._buttons = self._buttons[-400:]
