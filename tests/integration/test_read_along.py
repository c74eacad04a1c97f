"""Checks that a group uses and shows private memory only while nobody but its owner and the bot can read there."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from relay.core.models import ModelRequest
from relay.surfaces.telegram.outgoing.delivery import OVERHEARD
from tests.integration.conftest import Server
from tests.integration.inside import Inside, Json, inside
from tests.integration.turn_driver import ADA, BEN, EVE, GROUP
from tests.standins.telegram.values import Chat, StoredMessage

SECRET = "Is allergic to walnuts"
BOT = "@relay_test_bot"


class PromptRecorder:
    """Records the prompts. `during` is called while the model answers."""

    def __init__(self) -> None:
        self.prompts: list[str] = []
        self.during: Callable[[], object] = lambda: None

    def __call__(self, request: ModelRequest) -> list[Json]:
        self.prompts.append(f"{request.system}")
        self.during()
        return [{"type": "text", "text": "Mind the walnuts."}]


@pytest.fixture
def asked() -> PromptRecorder:
    return PromptRecorder()


@pytest.fixture
async def relay(embedded: Server, asked: PromptRecorder) -> AsyncIterator[Inside]:
    async with inside(embedded, asked, frozenset([EVE]), frozenset([ADA, BEN])) as opened:
        ada, _ = opened.tg.user(ADA, "Ada"), opened.tg.user(BEN, "Ben")
        await opened.tg.say(opened.tg.dm(ada), ada, f"/remember {SECRET}")
        await opened.settled()
        yield opened


def room(relay: Inside, **more: Any) -> Chat:
    """Returns a group of Ada and the bot."""
    return relay.tg.group(GROUP, "Kitchen", [ADA], **more)


def said(relay: Inside, chat: Chat) -> list[str]:
    return [message.text for message in relay.tg.messages(chat) if message.from_bot]


async def test_a_group_with_one_person_and_the_bot_uses_that_persons_memory(
    relay: Inside, asked: PromptRecorder
) -> None:
    kitchen = room(relay)
    await relay.tg.say(kitchen, ADA, "what can I bake?")
    await relay.settled()
    assert SECRET in asked.prompts[-1]
    assert said(relay, kitchen) == ["Mind the walnuts."]


async def test_private_memory_is_not_used_for_someone_else_left_in_the_group(
    relay: Inside, asked: PromptRecorder
) -> None:
    """The group still has two members, the bot and one human, but the human is someone else."""
    kitchen = room(relay)
    await relay.tg.say(kitchen, ADA, f"what can I bake, {BOT}?")
    relay.tg.add_member(kitchen, BEN)
    relay.tg.remove_member(kitchen, ADA)
    await relay.settled()
    assert all(SECRET not in prompt for prompt in asked.prompts)


@pytest.mark.parametrize("how", ["comment", "public", "community", "no administrator"])
async def test_a_group_that_others_could_read_uses_no_private_memory(
    relay: Inside, asked: PromptRecorder, how: str
) -> None:
    kitchen = room(relay, bot_status="member" if how == "no administrator" else "administrator")
    kitchen.username = "kitchen" if how == "public" else None
    kitchen.community = {"id": 7, "name": "Village"} if how == "community" else None
    if how == "comment":
        kitchen.members[BEN] = kitchen.members.pop(ADA)
        kitchen.linked_chat_id = -1009999
    await relay.tg.say(kitchen, ADA, f"what can I bake, {BOT}?")
    await relay.settled()
    assert len(asked.prompts) == 1
    assert SECRET not in asked.prompts[0]


async def test_a_person_who_joins_while_the_model_writes_cannot_read_the_answer(
    relay: Inside, asked: PromptRecorder
) -> None:
    kitchen = room(relay)
    asked.during = lambda: relay.tg.set_member(kitchen, BEN, "member")
    await relay.tg.say(kitchen, ADA, "what can I bake?")
    await relay.settled()
    assert SECRET in asked.prompts[-1]
    assert said(relay, kitchen) == [OVERHEARD]


async def test_a_person_who_joins_before_a_command_is_answered_cannot_read_it(relay: Inside) -> None:
    kitchen = room(relay)

    def join(method: str, parameters: Json) -> None:
        if method == "sendChatAction" or (method == "getChatMember" and parameters["user_id"] == ADA):
            kitchen.members[BEN] = "member"

    relay.wire.watch = join
    await relay.tg.say(kitchen, ADA, "/memory")
    await relay.settled()
    assert said(relay, kitchen) == [OVERHEARD]


async def test_a_reminder_of_private_memory_reaches_its_person_after_others_have_joined(relay: Inside) -> None:
    kitchen = room(relay)
    await relay.tg.say(kitchen, ADA, "/remind 2031-01-01 9:00 buy walnuts")
    await relay.settled()
    shown = said(relay, kitchen)
    relay.tg.add_member(kitchen, BEN)
    await relay.sql(
        "select relay.say_first(%s, chat_id, 0, user_id, space_id, %s, '{reminder:1}', 'reminder 1', 'reminder', false)"
        " from reminder",
        relay.worker.bot.id,
        Jsonb({"text": "⏰ buy walnuts", "plain": "⏰ buy walnuts", "reminders": [1]}),
    )
    await relay.worker.claim()
    await relay.settled()
    assert said(relay, kitchen) == shown
    [told] = [one for one in relay.tg.messages(relay.tg.dm(relay.tg.user(ADA, "Ada"))) if "buy walnuts" in one.text]
    assert told.text == "⏰ buy walnuts"
    assert await relay.sql("select status from outbox where dedupe_key = 'reminder 1'") == [("sent",)]


@pytest.mark.parametrize("alone", [True, False])
async def test_a_command_whose_reply_was_stored_before_a_crash_is_shown_only_to_those_who_may_read_it(
    relay: Inside, alone: bool
) -> None:
    kitchen = relay.tg.group(GROUP, "Kitchen", [ADA] if alone else [ADA, BEN])
    crashes = iter([RuntimeError("the process dies")])

    def crash(method: str, parameters: Json) -> None:
        if method == "sendMessage" and (error := next(crashes, None)):
            kitchen.members[BEN] = "member"
            raise error

    relay.wire.watch = crash
    await relay.tg.say(kitchen, ADA, f"/search{BOT} walnuts")
    await relay.settled()
    (shown,) = said(relay, kitchen)
    assert (shown == OVERHEARD) is alone
    assert SECRET not in shown


async def lend(relay: Inside) -> Chat:
    """Returns a group to which Ada, now an admin, lends her memory."""
    kitchen = relay.tg.group(GROUP, "Kitchen", [ADA, BEN, relay.tg.user(EVE, "Eve")])
    await relay.sql("insert into person (user_id, bot_id, name, role) values (%s, 1, 'Ada', 'admin')", ADA)
    await relay.sql("insert into link (chat_id, owner_id) values (%s, %s)", kitchen.id, ADA)
    return kitchen


async def test_a_lender_who_is_no_admin_any_more_lends_nothing(relay: Inside, asked: PromptRecorder) -> None:
    kitchen = await lend(relay)
    for role in ("admin", "user"):
        await relay.sql("update person set role = %s", role)
        await relay.tg.say(kitchen, ADA, f"what can I bake, {BOT}?")
        await relay.settled()
        assert (SECRET in asked.prompts[-1]) is (role == "admin")
    await relay.tg.say(kitchen, EVE, f"/link{BOT}")
    await relay.settled()
    assert "already lent" not in said(relay, kitchen)[-1]
    assert await relay.sql("select count(*) from link") == [(0,)]


async def test_a_lender_who_leaves_the_group_takes_their_memory_along(relay: Inside, asked: PromptRecorder) -> None:
    kitchen = await lend(relay)
    await relay.tg.say(kitchen, ADA, f"what can I bake, {BOT}?")
    await relay.settled()
    assert SECRET in asked.prompts[-1]
    asked.during = lambda: kitchen.members.pop(ADA)
    await relay.tg.say(kitchen, ADA, f"and with nuts, {BOT}?")
    await relay.settled()
    assert SECRET in asked.prompts[-1]
    assert said(relay, kitchen)[-1] == OVERHEARD
    asked.during = lambda: None
    await relay.tg.say(kitchen, ADA, f"and now, {BOT}?")  # people outside the group can still comment
    await relay.settled()
    assert SECRET not in asked.prompts[-1]


@pytest.mark.parametrize(
    "command",
    [
        f"/memory{BOT}",
        f"/memory{BOT} 1",
        f"/memory{BOT} changes",
        f"/search{BOT} key",
        f"/forget{BOT} key",
        f"/forget{BOT} *key*",
    ],
)
async def test_a_person_who_comments_from_outside_sees_no_memory_of_the_group(relay: Inside, command: str) -> None:
    kitchen = relay.tg.group(GROUP, "Kitchen", [ADA, relay.tg.user(EVE, "Eve")])
    kitchen.linked_chat_id = -1009999
    await relay.tg.say(kitchen, ADA, f"/remember{BOT} The key is under the mat")
    await relay.settled()
    shown = []
    for person in (BEN, ADA):
        chats = (kitchen, relay.tg.dm(relay.tg.user(person)))
        before = [len(said(relay, chat)) for chat in chats]
        await relay.tg.say(kitchen, person, command)
        await relay.settled()
        shown.append("\n".join(text for chat, n in zip(chats, before, strict=True) for text in said(relay, chat)[n:]))
    assert "That's not yours to decide." in shown[0]
    assert "under the mat" not in shown[0]
    assert "under the mat" in shown[1]


@pytest.mark.parametrize(
    "command", ["/summary", "/summary history", "/summary refresh", "/summary correct x", "/critique", "/new"]
)
async def test_a_person_who_comments_from_outside_reads_no_summary_and_ends_no_conversation(
    relay: Inside, command: str
) -> None:
    kitchen = relay.tg.group(GROUP, "Kitchen", [ADA, relay.tg.user(EVE, "Eve")])
    kitchen.linked_chat_id = -1009999
    await relay.tg.say(kitchen, ADA, f"what can I bake, {BOT}?")
    await relay.settled()
    word, _, rest = command.partition(" ")
    shown = []
    for person in (BEN, ADA):
        chats = (kitchen, relay.tg.dm(relay.tg.user(person)))
        before = [len(said(relay, chat)) for chat in chats]
        await relay.tg.say(kitchen, person, f"{word}{BOT} {rest}".strip())
        await relay.settled()
        shown.append("\n".join(text for chat, n in zip(chats, before, strict=True) for text in said(relay, chat)[n:]))
    assert "That's not yours to decide." in shown[0]
    assert "That's not yours to decide." not in shown[1]


async def test_the_card_of_what_a_group_knows_about_nobody_offers_rewording_only_to_admins(relay: Inside) -> None:
    ben, eve = relay.tg.user(BEN), relay.tg.user(EVE, "Eve")
    kitchen = relay.tg.group(GROUP, "Kitchen", [ADA, ben, eve])
    await relay.tg.say(kitchen, ADA, f"/remember{BOT} The oven runs hot")
    await relay.settled()
    await relay.sql("update memory set subject_id = null, subject = null where content = 'The oven runs hot'")
    for person, edits in ((ben, False), (eve, True)):
        dm = relay.tg.dm(person)
        await relay.tg.say(kitchen, person, f"/memory{BOT} 1")
        await relay.settled()
        card = [one for one in relay.tg.messages(dm) if one.from_bot][-1]
        assert "The oven runs hot" in card.text
        assert ("✎ Edit" in card.buttons, "🗑 Forget" in card.buttons) == (edits, True)


async def test_in_a_group_a_person_may_reword_what_they_propose_to_keep(relay: Inside) -> None:
    ben = relay.tg.user(BEN)
    kitchen = relay.tg.group(GROUP, "Kitchen", [ADA, ben])

    def last() -> StoredMessage:
        return [one for one in relay.tg.messages(kitchen) if one.from_bot][-1]

    await relay.tg.say(kitchen, ben, f"what can I bake, {BOT}?")
    await relay.settled()
    for label in ("◆ Keep this", "✎ Edit"):
        shown = last()
        relay.tg.press(kitchen, ben, shown, shown.buttons[label])
        await relay.settled()
    await relay.tg.say(kitchen, ben, "Mind all nuts.", reply_to=last())
    await relay.settled()
    assert await relay.sql("select content, status from memory where promoted_by = 1002") == [
        ("Mind all nuts.", "active")
    ]
