"""Who may use it: the owner claims the bot, lets others in, and takes that back."""

from __future__ import annotations

import asyncio
import random
import re
import string
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pexpect
import pytest

from relay.surfaces.chat import COMMANDS
from tests.acceptance.harness import FRIEND, OWNER
from tests.acceptance.house import House, open_house
from tests.acceptance.test_terminal import relay
from tests.standins.anthropic import Reply
from tests.standins.telegram import Chat, StoredMessage

LINK = re.compile(r"https://t\.me/(\w+)\?start=([A-Za-z0-9_-]{22})(?![A-Za-z0-9_-])")
CEM, DORA, EVE, FAY, GUS = 3003, 3004, 3005, 3006, 3007
ADMIN_COMMANDS = {name for name, verb in COMMANDS.items() if verb.admin and "private" in verb.places}


@pytest.fixture
async def unclaimed() -> AsyncIterator[House]:
    """A bot that nobody runs."""
    async with open_house(RELAY_ADMINS="", RELAY_USERS="") as house:
        yield house


@pytest.fixture
async def house() -> AsyncIterator[House]:
    """A bot with two admins, whom its settings name."""
    async with open_house(RELAY_ADMINS=f"{OWNER},{FRIEND}", RELAY_USERS="") as house:
        house.tg.dm(house.tg.user(FRIEND, "Ben"))
        yield house


def newcomer(house: House, user_id: int, name: str, username: str | None = None) -> Chat:
    return house.tg.dm(house.tg.user(user_id, name, username))


async def ask(house: House, chat: Chat, text: str) -> StoredMessage:
    """Somebody writes in their own chat; the bot's first reply."""
    return await house.tg.wait_reply(chat, await house.tg.say(chat, None, text))


async def told(house: House, chat: Chat, words: str, count: int = 1) -> StoredMessage:
    """Waits until the bot has said this in a chat so often; the last message of them."""
    found = await house.tg.wait_for(
        lambda: (them := [one for one in house.replies(chat) if words in one.text])[count - 1 :] and them
    )
    return found[-1]


async def press(house: House, chat: Chat, message: StoredMessage, label: str) -> str:
    """Presses a button; what pops up."""
    return await house.tg.tap(chat, None, message, label)


async def silent(house: House, chat: Chat, *texts: str) -> None:
    """Somebody writes, and nothing comes of it: what is written later is answered first."""
    before = len(house.said(chat))
    for text in texts:
        await house.tg.say(chat, None, text)
    await house.tg.wait_for(lambda: not house.tg.pending_updates)
    admin = house.tg.chat(OWNER)
    await ask(house, admin, "/users")
    assert len(house.said(chat)) == before


async def claim_link(house: House, count: int = 1) -> str:
    """What the claim link in the log carries, at the start that is counted."""
    links = await house.tg.wait_for(
        lambda: (found := LINK.findall(house.relay.output()))[count - 1 :] and found, timeout=30
    )
    assert len(links) == count
    assert {bot for bot, _ in links} == {house.tg.bot.username}
    return str(links[-1][1])


def menu(house: House, chat: Chat) -> set[str]:
    """The commands offered in a chat of one's own."""
    offered = [commands for (scope, _), commands in house.tg.commands.items() if f'"chat_id": {chat.id},' in scope]
    return {one["command"] for commands in offered for one in commands}


async def test_the_first_who_opens_the_link_in_the_log_owns_the_bot(unclaimed: House) -> None:
    house = unclaimed
    ada, eve = house.tg.chat(OWNER), newcomer(house, EVE, "Eve")
    old = await claim_link(house)
    await house.relay.stop()
    await house.again()
    await house.polled()
    nonce = await claim_link(house, 2)
    assert nonce != old
    for text in ("hello", "/start", f"/start {old}", f"/start {'A' * 22}", "/users"):
        await house.tg.say(eve, None, text)
    group = house.tg.group(-1003000000001, "Group", [house.tg.user(OWNER)])
    await house.tg.say(group, house.tg.user(OWNER), f"/start@{house.tg.bot.username} {nonce}")
    await house.tg.wait_for(lambda: not house.tg.pending_updates)
    await house.tg.say(ada, None, f"/start {nonce}")
    greeting = (await told(house, ada, "What works now")).text
    assert "You're my owner now" in greeting
    assert "RELAY_WEB_SEARCH=on" in greeting
    assert "Three things to try" in greeting
    assert house.said(eve) == house.said(group) == []
    await house.logged("claimed by Ada")
    await house.tg.wait_for(lambda: menu(house, ada) >= ADMIN_COMMANDS)
    await house.asked(ada)
    await house.answered(ada, "q1")
    # The link is used up: who opens it now is a stranger at the door.
    await house.tg.say(eve, None, f"/start {nonce}")
    await told(house, eve, "private assistant")
    await told(house, ada, "Eve (id 3005) pressed Start")
    # Nothing of it is lost with the process, and nobody can claim what has an owner.
    await house.crash()
    await house.polled()
    assert "admin – claimed me" in (await ask(house, ada, "/users")).text
    kept = await ask(house, ada, f"/revoke {OWNER}")
    assert "is my only admin" in kept.text
    assert not kept.buttons
    assert len(LINK.findall(house.relay.output())) == 2
    data = [path for path in house.data.rglob("*") if path.is_file()]
    assert not [path for path in data if nonce.encode() in path.read_bytes()]
    code, shown = await relay(house.relay.environment, house.data.parent, "users")
    assert (code, "Eve (id 3005)" in shown) == (0, True), shown


async def test_after_too_many_guesses_the_right_one_does_not_count_either(unclaimed: House) -> None:
    house = unclaimed
    ada, eve = house.tg.chat(OWNER), newcomer(house, EVE, "Eve")
    nonce = await claim_link(house)
    for _ in range(5):
        await house.tg.say(eve, None, f"/start {nonce[::-1]}")
    await house.tg.say(eve, None, f"/start {nonce}")
    await house.tg.say(ada, None, f"/start {nonce}")
    await told(house, ada, "You're my owner now")
    assert house.said(eve) == []


async def test_on_a_terminal_the_link_comes_with_a_code_that_fits_the_screen(tmp_path: Path) -> None:
    async with open_house(start=False, RELAY_ADMINS="", RELAY_USERS="", RELAY_LOG_FORMAT="console") as house:
        house.relay.log.touch()
        child = pexpect.spawn(
            sys.executable, ["-m", "relay", "run"], env=house.relay.environment, cwd=str(tmp_path), encoding="utf-8",
            dimensions=(24, 80), timeout=40,
        )  # fmt: skip
        try:
            await asyncio.to_thread(child.expect, "It works once, for 15 minutes")
            shown = re.sub(r"\x1b\[[0-9;]*m", "", child.before)
            screen = shown[shown.index("█") :].splitlines()
            assert len(screen) + 1 <= 24
            assert max(map(len, screen)) <= 80
            nonce = LINK.search(shown)[2]  # type: ignore[index]
            await house.tg.say(OWNER, None, f"/start {nonce}")
            await told(house, house.tg.chat(OWNER), "You're my owner now")
            await asyncio.to_thread(child.expect, "claimed by Ada")
        finally:
            child.kill(15)
            await asyncio.to_thread(child.expect, pexpect.EOF)
            child.close()


async def test_strangers_may_ask_and_the_first_admin_who_says_something_decides(house: House) -> None:
    ada, ben = house.tg.chat(OWNER), house.tg.chat(FRIEND)
    names = ((CEM, "Cem *the* [x](y)"), (DORA, "Dora"), (EVE, "Eve"), (FAY, "Fayqueen"), (GUS, "Gus"))
    cem, dora, eve, fay, gus = (newcomer(house, user_id, name, f"user{user_id}") for user_id, name in names)
    for chat in (cem, dora, eve):
        assert "I've asked the people who run me" in (await ask(house, chat, "/start")).text
    questions = {
        (admin.id, name): await told(house, admin, f"{name} (@user{user_id}, id {user_id}) pressed Start")
        for admin in (ada, ben)
        for user_id, name in names[:3]
    }
    await silent(house, cem, "/start", "let me in!", "/help")
    await silent(house, fay, "/start", "/start again")
    assert not house.sql("select from relay.person where user_id = %s", FAY)
    assert not house.sql("select from relay.event where payload::text like '%%Fayqueen%%'")

    # Buttons outlive the process; only admins' presses count; whoever comes second sees who was first.
    await house.crash()
    await house.polled()
    question = questions[ada.id, "Cem *the* [x](y)"]
    house.tg.press(ada, house.tg.user(EVE), question, question.buttons["Approve"])
    assert await press(house, ada, question, "Approve") == "Approved."
    await house.tg.wait_for(lambda: "can use me now, let in by Ada" in question.text)
    assert await press(house, ben, questions[ben.id, "Cem *the* [x](y)"], "Block") == "Ada has already decided."
    await told(house, cem, "Ada has let you in")
    assert await press(house, ben, questions[ben.id, "Dora"], "Deny") == "Denied."
    assert await press(house, ada, questions[ada.id, "Dora"], "Approve") == "Ben has already decided."
    assert await press(house, ben, questions[ben.id, "Eve"], "Block") == "Blocked."
    await house.answered(cem, await house.asked(cem))
    assert await ask(house, cem, "/users")
    assert "for the people who run me" in house.said(cem)[-1]
    for chat in (dora, eve):
        await silent(house, chat, "/start", "please")

    # Who was denied can be let in later. The one who came too late may ask now, and gets in at the terminal.
    listed = await ask(house, ada, "/users")
    assert await press(house, ada, listed, "Let Dora in") == "Approved."
    await told(house, dora, "Ada has let you in")
    await ask(house, fay, "/start")
    code, shown = await relay(house.relay.environment, house.data.parent, "users", "approve", str(fay.id))
    assert (code, "let in by somebody at the terminal" in shown) == (0, True), shown
    await told(house, fay, "somebody at the terminal has let you in")

    link = LINK.search((await ask(house, ada, "/invite Gus")).text)
    assert link
    await silent(house, eve, f"/start {link[2]}")
    assert "Ada has let you in" in (await ask(house, gus, f"/start {link[2]}")).text
    await told(house, ada, "Gus (@user3007, id 3007) came with the invitation for Gus")
    ian = newcomer(house, 3009, "Ian")
    assert "I've asked" in (await ask(house, ian, f"/start {link[2]}")).text, "it is good for one person"


async def test_what_is_taken_back_is_taken_back_at_once_and_for_good(house: House) -> None:
    ada, cem = house.tg.chat(OWNER), newcomer(house, CEM, "Cem", "user3003")
    link = LINK.search((await ask(house, ada, "/invite")).text)
    assert link
    await ask(house, cem, f"/start {link[2]}")
    house.model.rule(lambda request: "boat" in request.last_text, "Nice. [LEARN: Cem has a boat]", times=1)
    said = await house.tg.say(cem, None, "I have a boat")
    learned = await house.tg.wait_reply(cem, said)
    house.model.rule("q71", Reply("[LEARN: Cem has a cat] " + "word " * 2000, spread=120))
    await house.tg.say(cem, None, "running q71")
    await house.tg.wait_for(lambda: house.tg.drafts(cem), 30)
    await house.tg.say(cem, None, "queued q72")
    await house.until("select count(*) = 1 from relay.inbox where status = 'pending'")
    question = await ask(house, ada, "/revoke @user3003")
    assert "Cem (@user3003, id 3003)" in question.text
    before = len(house.said(cem))
    assert await press(house, ada, question, "Revoke") == "Done."
    presses = [house.tg.press(cem, None, learned, data) for data in learned.buttons.values()]
    house.tg.edit(cem, said, "I have two boats")
    house.tg.react(cem, None, learned, "👎")
    await house.tg.wait_for(lambda: all(query in house.tg.answers for query in presses))
    await house.tg.wait_for(lambda: not house.tg.pending_updates)
    assert not house.sql("select from relay.signal")
    await house.until(
        "select not exists (select from relay.turn where status in ('working', 'answered'))"
        " and not exists (select from relay.inbox where status = 'pending')",
        timeout=20,
    )
    assert house.times(cem, "q72") == 0
    assert len(house.said(cem)) == before + 1, "what was being written, as far as it was"
    assert len(house.said(cem)[-1]) < 4000
    assert "q72" not in "".join(request.text for request in house.model.requests)
    assert house.sql("select status from relay.memory") == [("active",)], "what is remembered stays, and no more comes"

    await house.crash()
    await house.polled()
    await silent(house, cem, "/start", "hello?", f"/start {link[2]}")
    listed = await ask(house, ada, "/users")
    assert "revoked by Ada" in listed.text
    assert await press(house, ada, listed, "Let Cem in") == "Approved."
    await told(house, cem, "Ada has let you in", 2)
    assert "Cem has a boat" in (await ask(house, cem, "/memory")).text

    question = await ask(house, ada, f"/revoke {CEM}")
    assert await press(house, ada, question, "Cancel") == ""
    await house.answered(cem, await house.asked(cem))
    assert "RELAY_ADMINS" in (await ask(house, ada, f"/revoke {FRIEND}")).text
    assert "I don't know that person" in (await ask(house, ada, "/revoke 4711")).text


async def test_an_invitation_is_cancelled_and_who_was_denied_is_not_called_revoked(house: House) -> None:
    ada, cem, dora = house.tg.chat(OWNER), newcomer(house, CEM, "Cem"), newcomer(house, DORA, "Dora")
    link = LINK.search((await ask(house, ada, "/invite Cem")).text)
    assert link
    listed = await ask(house, ada, "/users")
    forged = house.tg.press(ada, house.tg.user(EVE), listed, listed.buttons["✖ Cancel the invitation for Cem"])
    await house.tg.wait_for(lambda: house.tg.answers.get(forged))
    assert await press(house, ada, listed, "Cancel the invitation") == "Cancelled: the link no longer works."
    assert "invitation" not in listed.text
    data = "hi:1"
    query = house.tg.press(ada, None, listed, data)
    answer = await house.tg.wait_for(lambda: house.tg.answers.get(query))
    assert answer["text"] == "It isn't open any more."
    assert "I've asked" in (await ask(house, cem, f"/start {link[2]}")).text, "the link lets nobody in"
    await ask(house, dora, "/start")
    question = await told(house, ada, "Dora (id 3004) pressed Start")
    assert await press(house, ada, question, "Deny") == "Denied."
    assert "Dora (id 3004) – denied by Ada" in (await ask(house, ada, "/users")).text


async def test_a_stranger_who_turns_to_the_bot_in_a_group_is_offered_to_the_admins(house: House) -> None:
    ada, ben = house.tg.chat(OWNER), house.tg.chat(FRIEND)
    owner, cem, eve = house.tg.user(OWNER), house.tg.user(CEM, "Cem"), house.tg.user(EVE, "Eve")
    at = f"@{house.tg.bot.username}"
    theirs = house.tg.group(-1003000000003, "Theirs", [eve])
    await house.tg.say(theirs, eve, f"{at} let me in here")
    group = house.tg.group(-1003000000004, "Choir", [owner, cem, eve])
    await house.tg.say(group, cem, f"{at} a word of xylophones")
    await house.tg.wait_for(lambda: not house.tg.pending_updates)
    assert not house.sql("select from relay.person"), "nobody whom it knows has used it there"
    await house.tg.wait_reply(group, await house.tg.say(group, owner, f"{at} hello"))
    for text in ("what are they saying?", "/help"):
        await house.tg.say(group, cem, text)
    said = await house.tg.say(group, cem, f"{at} a word of xylophones")
    line = await house.tg.wait_reply(group, said)
    assert line.text.startswith("I only answer people I know. I've asked the people who run me")
    questions = [await told(house, chat, "Cem (id 3003) wrote to me in the group “Choir”") for chat in (ada, ben)]
    asked = len(house.model.requests)
    before = len(house.said(group))
    await house.tg.say(group, cem, f"{at} hello?")
    await house.tg.wait_for(lambda: not house.tg.pending_updates)
    assert not house.sql("select from relay.event where payload::text like '%%xylophones%%'")
    assert not house.sql("select from relay.inbox where payload::text like '%%xylophones%%'")
    assert await press(house, ada, questions[0], "Approve") == "Approved."
    await house.until("select not exists (select from relay.turn where status in ('working', 'answered'))")
    assert (len(house.said(group)), len(house.model.requests)) == (before, asked)
    said = await house.tg.say(group, cem, f"{at} and now q99?")
    assert "q99" in (await house.tg.wait_reply(group, said)).text
    assert not [text for text in house.said(ada) if "Telegram refused part of it" in text], "they never pressed Start"
    # Where it is switched off nobody is offered.
    await house.tg.wait_reply(group, await house.tg.say(group, owner, f"/answer{at} off"))
    await house.tg.say(group, eve, f"{at} me too")
    await house.tg.wait_for(lambda: not house.tg.pending_updates)
    assert not house.sql("select from relay.person where user_id = %s", EVE)


async def test_with_pairing_off_only_an_invitation_lets_somebody_in() -> None:
    async with open_house(RELAY_PAIRING="off") as house:
        ada, cem = house.tg.chat(OWNER), newcomer(house, CEM, "Cem")
        await silent(house, cem, "/start", "/start hello")
        assert not house.sql("select from relay.person")
        made = await ask(house, ada, "/invite")
        link = LINK.search(made.text)
        assert link, made.text
        kept = "select not exists (select from relay.outbox d where to_jsonb(d)::text like %s)"
        await house.until(kept, f"%{link[2]}%")
        assert "Ada has let you in" in (await ask(house, cem, f"/start {link[2]}")).text
        group = house.tg.group(-1003000000002, "Group", [house.tg.user(OWNER), house.tg.user(CEM)])
        said = await house.tg.say(group, house.tg.user(CEM), f"@{house.tg.bot.username} q88")
        assert "q88" in (await house.tg.wait_reply(group, said)).text


async def test_who_guesses_invitations_finds_none_and_hears_nothing() -> None:
    async with open_house(RELAY_PAIRING="off") as house:
        ada, eve, cem = house.tg.chat(OWNER), newcomer(house, EVE, "Eve"), newcomer(house, CEM, "Cem")
        link = LINK.search((await ask(house, ada, "/invite Cem")).text)
        assert link
        code = link[2]
        close = [code[:-1], code + "A", code.swapcase(), code[::-1], f"{code[0]}%", "_" * 22, "%", f"{code[:-1]}_"]
        chance = random.Random(1)
        other = ["".join(chance.choices(string.ascii_letters + string.digits + "-_", k=22)) for _ in range(30)]
        await silent(house, eve, *(f"/start {guess}" for guess in (*close, *other) if guess != code))
        assert house.said(eve) == []
        assert not house.sql("select from relay.person where user_id = %s", EVE)
        assert not house.sql("select from relay.event where payload::text like '%%Eve%%'")
        assert "Eve" not in house.relay.output()
        assert "Ada has let you in" in (await ask(house, cem, f"/start {code}")).text, "the guesses did not use it up"
