"""Access to the bot: the owner claims it, lets others in, and revokes their access."""

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
from tests.acceptance.shared_relay import SharedRelay, open_relay
from tests.acceptance.test_terminal import relay
from tests.standins.anthropic import Reply
from tests.standins.telegram import Chat, StoredMessage

LINK = re.compile(r"https://t\.me/(\w+)\?start=([A-Za-z0-9_-]{22})(?![A-Za-z0-9_-])")
CEM, DORA, EVE, FAY, GUS = 3003, 3004, 3005, 3006, 3007
ADMIN_COMMANDS = {name for name, verb in COMMANDS.items() if verb.admin and "private" in verb.places}


@pytest.fixture
async def unclaimed() -> AsyncIterator[SharedRelay]:
    """A bot without an owner."""
    async with open_relay(RELAY_ADMINS="", RELAY_USERS="") as shared_relay:
        yield shared_relay


@pytest.fixture
async def shared_relay() -> AsyncIterator[SharedRelay]:
    """A bot with two admins, named in its settings."""
    async with open_relay(RELAY_ADMINS=f"{OWNER},{FRIEND}", RELAY_USERS="") as shared_relay:
        shared_relay.tg.dm(shared_relay.tg.user(FRIEND, "Ben"))
        yield shared_relay


def newcomer(shared_relay: SharedRelay, user_id: int, name: str, username: str | None = None) -> Chat:
    return shared_relay.tg.dm(shared_relay.tg.user(user_id, name, username))


async def ask(shared_relay: SharedRelay, chat: Chat, text: str) -> StoredMessage:
    """Writes in the person's private chat and returns the bot's first reply."""
    return await shared_relay.tg.wait_reply(chat, await shared_relay.tg.say(chat, None, text))


async def told(shared_relay: SharedRelay, chat: Chat, words: str, count: int = 1) -> StoredMessage:
    """Waits until the bot has said this in a chat `count` times. Returns the last of these messages."""
    found = await shared_relay.tg.wait_for(
        lambda: (them := [one for one in shared_relay.replies(chat) if words in one.text])[count - 1 :] and them
    )
    return found[-1]


async def press(shared_relay: SharedRelay, chat: Chat, message: StoredMessage, label: str) -> str:
    """Presses a button and returns the toast."""
    return await shared_relay.tg.tap(chat, None, message, label)


async def silent(shared_relay: SharedRelay, chat: Chat, *texts: str) -> None:
    """Sends texts and asserts that nothing comes of them: a later message is answered first."""
    before = len(shared_relay.said(chat))
    for text in texts:
        await shared_relay.tg.say(chat, None, text)
    await shared_relay.tg.wait_for(lambda: not shared_relay.tg.pending_updates)
    admin = shared_relay.tg.chat(OWNER)
    await ask(shared_relay, admin, "/users")
    assert len(shared_relay.said(chat)) == before


async def claim_link(shared_relay: SharedRelay, count: int = 1) -> str:
    """Returns the code of the claim link in the log, of the start number `count`."""
    links = await shared_relay.tg.wait_for(
        lambda: (found := LINK.findall(shared_relay.relay.output()))[count - 1 :] and found, timeout=30
    )
    assert len(links) == count
    assert {bot for bot, _ in links} == {shared_relay.tg.bot.username}
    return str(links[-1][1])


def menu(shared_relay: SharedRelay, chat: Chat) -> set[str]:
    """Returns the commands offered in a private chat."""
    offered = [
        commands for (scope, _), commands in shared_relay.tg.commands.items() if f'"chat_id": {chat.id},' in scope
    ]
    return {one["command"] for commands in offered for one in commands}


async def test_the_first_person_who_opens_the_claim_link_owns_the_bot(unclaimed: SharedRelay) -> None:
    shared_relay = unclaimed
    ada, eve = shared_relay.tg.chat(OWNER), newcomer(shared_relay, EVE, "Eve")
    old = await claim_link(shared_relay)
    await shared_relay.relay.stop()
    await shared_relay.again()
    await shared_relay.polled()
    nonce = await claim_link(shared_relay, 2)
    assert nonce != old
    for text in ("hello", "/start", f"/start {old}", f"/start {'A' * 22}", "/users"):
        await shared_relay.tg.say(eve, None, text)
    group = shared_relay.tg.group(-1003000000001, "Group", [shared_relay.tg.user(OWNER)])
    await shared_relay.tg.say(group, shared_relay.tg.user(OWNER), f"/start@{shared_relay.tg.bot.username} {nonce}")
    await shared_relay.tg.wait_for(lambda: not shared_relay.tg.pending_updates)
    await shared_relay.tg.say(ada, None, f"/start {nonce}")
    greeting = (await told(shared_relay, ada, "What works now")).text
    assert "You're my admin now" in greeting
    assert "RELAY_WEB_SEARCH=on" in greeting
    assert "Three things to try" in greeting
    assert shared_relay.said(eve) == shared_relay.said(group) == []
    await shared_relay.logged("claimed by Ada")
    await shared_relay.tg.wait_for(lambda: menu(shared_relay, ada) >= ADMIN_COMMANDS)
    await shared_relay.asked(ada)
    await shared_relay.answered(ada, "q1")
    # The link is used up: anyone who opens it now is a stranger.
    await shared_relay.tg.say(eve, None, f"/start {nonce}")
    await told(shared_relay, eve, "private assistant")
    await told(shared_relay, ada, "Eve (id 3005) pressed Start")
    # A restart loses nothing, and nobody can claim a bot that has an owner.
    await shared_relay.crash()
    await shared_relay.polled()
    assert "admin – claimed me" in (await ask(shared_relay, ada, "/users")).text
    kept = await ask(shared_relay, ada, f"/revoke {OWNER}")
    assert "is my only admin" in kept.text
    assert not kept.buttons
    assert len(LINK.findall(shared_relay.relay.output())) == 2
    data = [path for path in shared_relay.data.rglob("*") if path.is_file()]
    assert not [path for path in data if nonce.encode() in path.read_bytes()]
    code, shown = await relay(shared_relay.relay.environment, shared_relay.data.parent, "users")
    assert (code, "Eve (id 3005)" in shown) == (0, True), shown


async def test_after_too_many_wrong_claims_the_guesser_is_locked_out(unclaimed: SharedRelay) -> None:
    shared_relay = unclaimed
    ada, eve = shared_relay.tg.chat(OWNER), newcomer(shared_relay, EVE, "Eve")
    nonce = await claim_link(shared_relay)
    for _ in range(5):
        await shared_relay.tg.say(eve, None, f"/start {nonce[::-1]}")
    await shared_relay.tg.say(eve, None, f"/start {nonce}")
    await shared_relay.tg.say(ada, None, f"/start {nonce}")
    await told(shared_relay, ada, "You're my admin now")
    assert shared_relay.said(eve) == []


async def test_on_a_terminal_the_claim_link_is_shown_with_a_qr_code_that_fits(tmp_path: Path) -> None:
    async with open_relay(start=False, RELAY_ADMINS="", RELAY_USERS="", RELAY_LOG_FORMAT="console") as own_relay:
        own_relay.relay.log.touch()
        child = pexpect.spawn(
            sys.executable, ["-m", "relay", "run"], env=own_relay.relay.environment, cwd=str(tmp_path),
            encoding="utf-8", dimensions=(24, 80), timeout=40,
        )  # fmt: skip
        try:
            await asyncio.to_thread(child.expect, "It works once, for 15 minutes")
            shown = re.sub(r"\x1b\[[0-9;]*m", "", child.before)
            screen = shown[shown.index("█") :].splitlines()
            assert len(screen) + 1 <= 24
            assert max(map(len, screen)) <= 80
            nonce = LINK.search(shown)[2]  # type: ignore[index]
            await own_relay.tg.say(OWNER, None, f"/start {nonce}")
            await told(own_relay, own_relay.tg.chat(OWNER), "You're my admin now")
            await asyncio.to_thread(child.expect, "claimed by Ada")
        finally:
            child.kill(15)
            await asyncio.to_thread(child.expect, pexpect.EOF)
            child.close()


async def test_strangers_may_ask_for_access_and_the_first_admin_decides(shared_relay: SharedRelay) -> None:
    ada, ben = shared_relay.tg.chat(OWNER), shared_relay.tg.chat(FRIEND)
    names = ((CEM, "Cem *the* [x](y)"), (DORA, "Dora"), (EVE, "Eve"), (FAY, "Fayqueen"), (GUS, "Gus"))
    cem, dora, eve, fay, gus = (newcomer(shared_relay, user_id, name, f"user{user_id}") for user_id, name in names)
    for chat in (cem, dora, eve):
        assert "I've asked my admins" in (await ask(shared_relay, chat, "/start")).text
    questions = {
        (admin.id, name): await told(shared_relay, admin, f"{name} (@user{user_id}, id {user_id}) pressed Start")
        for admin in (ada, ben)
        for user_id, name in names[:3]
    }
    await silent(shared_relay, cem, "/start", "let me in!", "/help")
    await silent(shared_relay, fay, "/start", "/start again")
    assert not shared_relay.sql("select 1 from relay.person where user_id = %s", FAY)
    assert not shared_relay.sql("select 1 from relay.event where payload::text like '%%Fayqueen%%'")

    # Buttons survive a restart. Only admins' presses count. The later admin sees who decided first.
    await shared_relay.crash()
    await shared_relay.polled()
    question = questions[ada.id, "Cem *the* [x](y)"]
    shared_relay.tg.press(ada, shared_relay.tg.user(EVE), question, question.buttons["Approve"])
    assert await press(shared_relay, ada, question, "Approve") == "Approved."
    await shared_relay.tg.wait_for(lambda: "can use me now, let in by Ada" in question.text)
    assert await press(shared_relay, ben, questions[ben.id, "Cem *the* [x](y)"], "Block") == "Ada has already decided."
    await told(shared_relay, cem, "Ada has let you in")
    assert await press(shared_relay, ben, questions[ben.id, "Dora"], "Deny") == "Denied."
    assert await press(shared_relay, ada, questions[ada.id, "Dora"], "Approve") == "Ben has already decided."
    assert await press(shared_relay, ben, questions[ben.id, "Eve"], "Block") == "Blocked."
    await shared_relay.answered(cem, await shared_relay.asked(cem))
    assert await ask(shared_relay, cem, "/users")
    assert "for my admins" in shared_relay.said(cem)[-1]
    for chat in (dora, eve):
        await silent(shared_relay, chat, "/start", "please")

    # A person who was denied can be let in later. Fay, who came too late, may ask now and is let in at the terminal.
    listed = await ask(shared_relay, ada, "/users")
    assert await press(shared_relay, ada, listed, "Let Dora in") == "Dora: approved."
    await told(shared_relay, dora, "Ada has let you in")
    await ask(shared_relay, fay, "/start")
    code, shown = await relay(shared_relay.relay.environment, shared_relay.data.parent, "users", "approve", str(fay.id))
    assert (code, "let in by someone at the terminal" in shown) == (0, True), shown
    await told(shared_relay, fay, "someone at the terminal has let you in")

    link = LINK.search((await ask(shared_relay, ada, "/invite Gus")).text)
    assert link
    await silent(shared_relay, eve, f"/start {link[2]}")
    assert "Ada has let you in" in (await ask(shared_relay, gus, f"/start {link[2]}")).text
    await told(shared_relay, ada, "Gus (@user3007, id 3007) came with the invitation for Gus")
    ian = newcomer(shared_relay, 3009, "Ian")
    assert "I've asked" in (await ask(shared_relay, ian, f"/start {link[2]}")).text, "an invitation admits one person"


async def test_revoking_access_takes_effect_at_once(shared_relay: SharedRelay) -> None:
    ada, cem = shared_relay.tg.chat(OWNER), newcomer(shared_relay, CEM, "Cem", "user3003")
    link = LINK.search((await ask(shared_relay, ada, "/invite")).text)
    assert link
    await ask(shared_relay, cem, f"/start {link[2]}")
    shared_relay.model.rule(lambda request: "boat" in request.last_text, "Nice. [LEARN: Cem has a boat]", times=1)
    said = await shared_relay.tg.say(cem, None, "I have a boat")
    learned = await shared_relay.tg.wait_reply(cem, said)
    shared_relay.model.rule("q71", Reply("[LEARN: Cem has a cat] " + "word " * 2000, spread=120))
    await shared_relay.tg.say(cem, None, "running q71")
    await shared_relay.tg.wait_for(lambda: shared_relay.tg.drafts(cem), 30)
    await shared_relay.tg.say(cem, None, "queued q72")
    await shared_relay.until("select count(*) = 1 from relay.inbox where status = 'pending'")
    assert "only by their ids" in (await ask(shared_relay, ada, "/revoke @user2002")).text
    question = await ask(shared_relay, ada, "/revoke @user3003")
    assert "Cem (@user3003, id 3003)" in question.text
    before = len(shared_relay.said(cem))
    assert await press(shared_relay, ada, question, "Revoke") == "Done."
    presses = [shared_relay.tg.press(cem, None, learned, data) for data in learned.buttons.values()]
    shared_relay.tg.edit(cem, said, "I have two boats")
    shared_relay.tg.react(cem, None, learned, "👎")
    await shared_relay.tg.wait_for(lambda: all(query in shared_relay.tg.answers for query in presses))
    await shared_relay.tg.wait_for(lambda: not shared_relay.tg.pending_updates)
    assert not shared_relay.sql("select 1 from relay.signal")
    await shared_relay.until(
        "select not exists (select from relay.turn where status in ('working', 'answered'))"
        " and not exists (select from relay.inbox where status = 'pending')",
        timeout=20,
    )
    assert shared_relay.times(cem, "q72") == 0
    assert len(shared_relay.said(cem)) == before + 1, "only the unfinished answer arrives"
    assert len(shared_relay.said(cem)[-1]) < 4000
    assert "q72" not in "".join(request.text for request in shared_relay.model.requests)
    assert shared_relay.sql("select status from relay.memory") == [("active",)], "the memory stays and none is added"

    await shared_relay.crash()
    await shared_relay.polled()
    await silent(shared_relay, cem, "/start", "hello?", f"/start {link[2]}")
    listed = await ask(shared_relay, ada, "/users")
    assert "revoked by Ada" in listed.text
    assert await press(shared_relay, ada, listed, "Let Cem in") == "Cem: approved."
    await told(shared_relay, cem, "Ada has let you in", 2)
    assert "Cem has a boat" in (await ask(shared_relay, cem, "/memory")).text

    question = await ask(shared_relay, ada, f"/revoke {CEM}")
    assert await press(shared_relay, ada, question, "Cancel") == ""
    await shared_relay.answered(cem, await shared_relay.asked(cem))
    question = await ask(shared_relay, ada, f"/revoke {CEM}")
    assert await press(shared_relay, ada, question, "Revoke") == "Done."
    assert "was blocked by Ada" in (await ask(shared_relay, ada, f"/users block {CEM}")).text
    assert "RELAY_ADMINS" in (await ask(shared_relay, ada, f"/revoke {FRIEND}")).text
    assert "I don't know that person" in (await ask(shared_relay, ada, "/revoke 4711")).text


async def test_an_invitation_can_be_cancelled_and_a_request_denied(shared_relay: SharedRelay) -> None:
    ada, cem, dora = (
        shared_relay.tg.chat(OWNER),
        newcomer(shared_relay, CEM, "Cem"),
        newcomer(shared_relay, DORA, "Dora"),
    )
    link = LINK.search((await ask(shared_relay, ada, "/invite Cem")).text)
    assert link
    listed = await ask(shared_relay, ada, "/users")
    forged = shared_relay.tg.press(
        ada, shared_relay.tg.user(EVE), listed, listed.buttons["✖ Cancel the invitation for Cem"]
    )
    await shared_relay.tg.wait_for(lambda: shared_relay.tg.answers.get(forged))
    assert await press(shared_relay, ada, listed, "Cancel the invitation") == "Cancelled: the link no longer works."
    assert "invitation" not in listed.text
    data = "hi:1"
    query = shared_relay.tg.press(ada, None, listed, data)
    answer = await shared_relay.tg.wait_for(lambda: shared_relay.tg.answers.get(query))
    assert answer["text"] == "There's no such open invitation. /users lists them."
    assert "I've asked" in (await ask(shared_relay, cem, f"/start {link[2]}")).text, (
        "the cancelled link gives no access"
    )
    await ask(shared_relay, dora, "/start")
    question = await told(shared_relay, ada, "Dora (id 3004) pressed Start")
    assert await press(shared_relay, ada, question, "Deny") == "Denied."
    assert "Dora (id 3004) – denied by Ada" in (await ask(shared_relay, ada, "/users")).text


async def test_a_decision_in_a_long_list_of_people_is_shown_and_nothing_vanishes(shared_relay: SharedRelay) -> None:
    ada, zed = shared_relay.tg.chat(OWNER), newcomer(shared_relay, CEM, "Zed")
    shared_relay.sql(
        "insert into relay.person (user_id, bot_id, name, username, role, decided_by_name, decided_at, let_in)"
        " select 9000 + n, 77, repeat('N', 60) || n, repeat('u', 30) || n,"
        " case when n < 80 then 'user' else 'refused' end, repeat('A', 60), now(), true from generate_series(1, 90) n"
    )
    await ask(shared_relay, ada, "/invite Dora")
    await ask(shared_relay, zed, "/start")
    await told(shared_relay, ada, "Zed (id 3003) pressed Start")
    before = len(shared_relay.replies(ada))
    listed = await ask(shared_relay, ada, "/users")
    sections = re.findall(r"^\w[^•\n]*$", listed.text, re.MULTILINE)
    assert sections == ["Waiting for an answer", "Open invitations", "People who can use me"]
    assert await press(shared_relay, ada, listed, "Approve Zed") == "Zed: approved."
    await shared_relay.tg.wait_for(lambda: f"Zed (id {CEM})" not in listed.text)
    assert "Dora" in listed.text, "it shows the page on which the admin pressed"
    pages = []
    await press(shared_relay, ada, listed, "Cancel the invitation for Dora")
    await shared_relay.tg.wait_for(lambda: "Dora" not in listed.text)
    while "More ›" in listed.buttons:
        pages.append(listed.text)
        await press(shared_relay, ada, listed, "More ›")
        await shared_relay.tg.wait_for(lambda: listed.text != pages[-1])
    pages.append(listed.text)
    assert "Not let in" in listed.text
    assert f"Zed (id {CEM}) – let in by Ada" in "".join(pages)
    assert all(f"id {9000 + number})" in "".join(pages) for number in range(1, 91))
    assert len(shared_relay.replies(ada)) == before + 1


async def test_a_decision_keeps_the_page_on_which_it_was_made(shared_relay: SharedRelay) -> None:
    ada = shared_relay.tg.chat(OWNER)
    shared_relay.sql(
        "insert into relay.person (user_id, bot_id, name, role)"
        " select 9000 + n, 77, 'New' || n, 'asking' from generate_series(1, 24) n"
    )
    listed = await ask(shared_relay, ada, "/users")
    first = listed.text
    await press(shared_relay, ada, listed, "More ›")
    await shared_relay.tg.wait_for(lambda: listed.text != first)
    second = re.findall(r"New\d+", listed.text)
    assert len(second) == 10
    toast = await press(shared_relay, ada, listed, f"Approve {second[0]}")
    assert toast == f"{second[0]}: approved."
    await shared_relay.tg.wait_for(lambda: re.findall(r"New\d+", listed.text)[:9] == second[1:])
    assert {"‹ Before", "More ›"} <= set(listed.buttons)


async def test_admins_can_admit_a_stranger_who_addresses_the_bot_in_a_group(shared_relay: SharedRelay) -> None:
    ada, ben = shared_relay.tg.chat(OWNER), shared_relay.tg.chat(FRIEND)
    owner, cem, eve = shared_relay.tg.user(OWNER), shared_relay.tg.user(CEM, "Cem"), shared_relay.tg.user(EVE, "Eve")
    at = f"@{shared_relay.tg.bot.username}"
    theirs = shared_relay.tg.group(-1003000000003, "Theirs", [eve])
    await shared_relay.tg.say(theirs, eve, f"{at} let me in here")
    group = shared_relay.tg.group(-1003000000004, "Choir", [owner, cem, eve])
    await shared_relay.tg.say(group, cem, f"{at} a word of xylophones")
    await shared_relay.tg.wait_for(lambda: not shared_relay.tg.pending_updates)
    assert not shared_relay.sql("select 1 from relay.person"), "no known person has used the bot there"
    await shared_relay.tg.wait_reply(group, await shared_relay.tg.say(group, owner, f"{at} hello"))
    for text in ("what are they saying?", "/help"):
        await shared_relay.tg.say(group, cem, text)
    said = await shared_relay.tg.say(group, cem, f"{at} a word of xylophones")
    line = await shared_relay.tg.wait_reply(group, said)
    assert line.text.startswith("I only answer people I know. I've asked my admins")
    questions = [
        await told(shared_relay, chat, "Cem (id 3003) wrote to me in the group “Choir”") for chat in (ada, ben)
    ]
    asked = len(shared_relay.model.requests)
    before = len(shared_relay.said(group))
    await shared_relay.tg.say(group, cem, f"{at} hello?")
    await shared_relay.tg.wait_for(lambda: not shared_relay.tg.pending_updates)
    assert not shared_relay.sql("select 1 from relay.event where payload::text like '%%xylophones%%'")
    assert not shared_relay.sql("select 1 from relay.inbox where payload::text like '%%xylophones%%'")
    assert await press(shared_relay, ada, questions[0], "Approve") == "Approved."
    await shared_relay.until("select not exists (select from relay.turn where status in ('working', 'answered'))")
    assert (len(shared_relay.said(group)), len(shared_relay.model.requests)) == (before, asked)
    said = await shared_relay.tg.say(group, cem, f"{at} and now q99?")
    assert "q99" in (await shared_relay.tg.wait_reply(group, said)).text
    assert not [text for text in shared_relay.said(ada) if "Telegram refused part of it" in text], (
        "no private message is sent to people who never pressed Start"
    )
    # Where the bot is switched off, nobody is offered to the admins.
    await shared_relay.tg.wait_reply(group, await shared_relay.tg.say(group, owner, f"/answer{at} off"))
    await shared_relay.tg.say(group, eve, f"{at} me too")
    await shared_relay.tg.wait_for(lambda: not shared_relay.tg.pending_updates)
    assert not shared_relay.sql("select 1 from relay.person where user_id = %s", EVE)


async def test_with_pairing_off_only_an_invitation_gives_access() -> None:
    async with open_relay(RELAY_PAIRING="off") as own_relay:
        ada, cem = own_relay.tg.chat(OWNER), newcomer(own_relay, CEM, "Cem")
        await silent(own_relay, cem, "/start", "/start hello")
        assert not own_relay.sql("select 1 from relay.person")
        made = await ask(own_relay, ada, "/invite")
        link = LINK.search(made.text)
        assert link, made.text
        kept = "select not exists (select from relay.outbox d where to_jsonb(d)::text like %s)"
        await own_relay.until(kept, f"%{link[2]}%")
        assert "Ada has let you in" in (await ask(own_relay, cem, f"/start {link[2]}")).text
        group = own_relay.tg.group(-1003000000002, "Group", [own_relay.tg.user(OWNER), own_relay.tg.user(CEM)])
        said = await own_relay.tg.say(group, own_relay.tg.user(CEM), f"@{own_relay.tg.bot.username} q88")
        assert "q88" in (await own_relay.tg.wait_reply(group, said)).text


async def test_a_person_who_guesses_invitations_gets_no_reply() -> None:
    async with open_relay(RELAY_PAIRING="off") as own_relay:
        ada, eve, cem = own_relay.tg.chat(OWNER), newcomer(own_relay, EVE, "Eve"), newcomer(own_relay, CEM, "Cem")
        link = LINK.search((await ask(own_relay, ada, "/invite Cem")).text)
        assert link
        code = link[2]
        close = [code[:-1], code + "A", code.swapcase(), code[::-1], f"{code[0]}%", "_" * 22, "%", f"{code[:-1]}_"]
        chance = random.Random(1)
        other = ["".join(chance.choices(string.ascii_letters + string.digits + "-_", k=22)) for _ in range(30)]
        await silent(own_relay, eve, *(f"/start {guess}" for guess in (*close, *other) if guess != code))
        assert own_relay.said(eve) == []
        assert not own_relay.sql("select 1 from relay.person where user_id = %s", EVE)
        assert not own_relay.sql("select 1 from relay.event where payload::text like '%%Eve%%'")
        assert "Eve" not in own_relay.relay.output()
        assert "Ada has let you in" in (await ask(own_relay, cem, f"/start {code}")).text, (
            "wrong guesses do not use up the invitation"
        )
