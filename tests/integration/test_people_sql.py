"""Tests who is let in, in the database: the claim link, invitations, requests, decisions, and removal."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from relay.memory.claims import ClaimedTurn
from relay.memory.people import digest, new_nonce
from relay.memory.rows.turns.inbox import InboxRow
from relay.memory.store import Store
from relay.surfaces.telegram.parsing.message_parser import name_of
from relay.surfaces.telegram.parsing.sorting import NAME_LENGTH
from tests.integration.conftest import Sql
from tests.integration.turn_driver import ADA, BEN, BOT, EVE, GROUP, fact, incoming_of, message, private, reply
from tests.telegram_objects import as_user, sorted_row

NOBODY: frozenset[int] = frozenset()
WRONG = "A" * 22
Another = Callable[[], Store]
strangers = itertools.count(7001)


def knocks(user_id: int, nonce: str = "", owned: bool = False, pairing: bool = True) -> InboxRow:
    """Returns the row of a Start by someone whom the settings don't name."""
    row = sorted_row(message(user_id, f"/start {nonce}".strip(), username=None), BOT, NOBODY, True)
    assert row.start is not None
    return replace(row, start=replace(row.start, owned=owned, pairing=pairing))


def asks_in_group(update: dict[str, Any]) -> InboxRow:
    """Returns the row of a group message by someone whom the settings don't name."""
    row = sorted_row(update, BOT, NOBODY, False)
    return replace(row, knock=row.knock and replace(row.knock, pairing=True))


def writes(user_id: int, text: str = "hello") -> InboxRow:
    return sorted_row(message(user_id, text), BOT, NOBODY, True)


async def taken(store: Store, *rows: InboxRow) -> list[ClaimedTurn]:
    turns, _ = await store.intake(BOT.id, list(rows), 64)
    return turns


async def became(store: Store, row: InboxRow) -> Any:
    """Returns the role that a Start gives; None if it gives none."""
    turns = await taken(store, row)
    return turns[0].updates[0].get("person") if turns else None


async def claim_link(store: Store) -> str:
    nonce = new_nonce()
    assert await store.offer_claim(digest(nonce) or "")
    return nonce


async def invited(store: Store, for_whom: str = "", by: int = ADA) -> str:
    nonce = new_nonce()
    assert await store.invite(digest(nonce) or "", for_whom, by, "Ada")
    return nonce


async def owned_by_ada(store: Store) -> None:
    assert await became(store, knocks(ADA, await claim_link(store))) == {"became": "admin"}


async def roles(sql: Sql) -> dict[int, str]:
    return dict(await sql("select user_id, role from person"))  # type: ignore[arg-type]


# The claim link


async def test_only_one_of_several_people_opening_the_claim_link_owns_the_bot(
    store: Store, another: Another, sql: Sql
) -> None:
    nonce = await claim_link(store)
    three = [became(another(), knocks(user_id, nonce)) for user_id in (ADA, BEN, EVE)]
    assert [one["became"] for one in sorted(await asyncio.gather(*three), key=str)] == ["admin", "asking", "asking"]
    assert list((await roles(sql)).values()).count("admin") == 1
    assert not await store.offer_claim(digest(new_nonce()) or ""), "the bot can no longer be claimed"


async def test_the_owner_is_served_from_the_next_message_and_the_link_is_not_stored(store: Store, sql: Sql) -> None:
    nonce = await claim_link(store)
    assert await taken(store, writes(ADA)) == []
    start, said = await taken(store, knocks(ADA, nonce), writes(ADA, "it is me"))
    assert (start.role, said.role) == ("admin", "admin")
    assert said.updates[0]["message"]["text"] == "it is me"
    kept = await sql("select to_jsonb(t)::text from inbox t union select to_jsonb(t)::text from event t")
    kept += await sql("select to_jsonb(t)::text from invite t")
    assert kept
    assert not [line for (line,) in kept if nonce in line]


async def test_a_claim_link_ends_with_a_newer_one_with_time_and_with_a_set_admin(store: Store, sql: Sql) -> None:
    old, late = await claim_link(store), await claim_link(store)
    assert await became(store, knocks(ADA, old)) is None
    assert await became(store, knocks(ADA, late, owned=True, pairing=False)) is None
    await sql("update invite set expires_at = now() - interval '1 second'")
    assert await became(store, knocks(ADA, late)) is None
    assert await roles(sql) == {}
    assert await became(store, knocks(ADA, await claim_link(store))) is not None


async def test_a_person_has_five_guesses_and_all_together_have_thirty(store: Store, another: Another, sql: Sql) -> None:
    nonce = await claim_link(store)
    guesses = [knocks(EVE, WRONG) for _ in range(5)]
    for row in guesses:
        assert await became(another(), row) is None
    await taken(store, guesses[0])  # the same update again is no further guess
    assert await sql("select guesses from invite") == [({str(EVE): 5},)]
    assert await became(store, knocks(EVE, nonce)) is None, "even the right code must be refused"
    crowd = [knocks(next(strangers), WRONG) for _ in range(60)]
    await taken(store, *crowd)
    assert await sql("select count(*), sum(value::int) from invite, jsonb_each_text(guesses)") == [(26, 30)]
    assert await became(store, knocks(ADA, nonce)) is None
    await sql("update invite set created_at = created_at - interval '14 minutes'")
    assert await became(store, knocks(ADA, nonce)) is None
    assert (await roles(sql), await sql("select count(*) from event")) == ({}, [(0,)])
    assert await became(store, knocks(ADA, await claim_link(store))) is not None, (
        "a new claim link after a restart must work"
    )


async def test_a_person_allowed_by_the_settings_may_claim_the_bot(store: Store) -> None:
    nonce = await claim_link(store)
    row = sorted_row(message(BEN, f"/start {nonce}"), BOT, frozenset([BEN]), True)
    assert row.start is not None
    row = replace(row, start=replace(row.start, pairing=True))
    assert await became(store, row) == {"became": "admin"}


# Requests


async def test_only_three_people_may_ask_once_each_and_others_leave_no_trace(
    store: Store, another: Another, sql: Sql
) -> None:
    await owned_by_ada(store)
    events = await sql("select count(*) from event")
    crowd = [next(strangers) for _ in range(9)]
    asked = await asyncio.gather(*(became(another(), knocks(user_id)) for user_id in crowd))
    assert [one for one in asked if one] == [{"became": "asking"}] * 3
    assert [await became(store, knocks(user_id)) for user_id in crowd] == [None] * 9
    assert list((await roles(sql)).values()).count("asking") == 3
    assert await sql("select count(*) from event") == [(events[0][0] + 3,)]
    waiting = next(user_id for user_id, one in zip(crowd, asked, strict=True) if one)
    assert await taken(store, writes(waiting)) == [], "a person who asks is not let in yet"


async def test_start_is_ignored_without_an_owner_or_with_pairing_off(store: Store, sql: Sql) -> None:
    assert await became(store, knocks(EVE)) is None
    await owned_by_ada(store)
    assert await became(store, knocks(EVE, pairing=False)) is None
    assert await roles(sql) == {ADA: "admin"}
    assert await sql("select user_id, payload from inbox where status = 'ignored'") == [(None, None)] * 2


async def test_only_the_first_decision_about_a_person_counts(store: Store, another: Another) -> None:
    await owned_by_ada(store)
    await became(store, knocks(EVE))
    words = [another().decide(EVE, ["asking"], role, ADA, role) for role in ("user", "refused", "blocked")]
    decided = [one for one in await asyncio.gather(*words) if one is not None]
    assert sorted(one.changed for one in decided) == [False, False, True]
    assert {(one.role, one.decided_by_name) for one in decided} == {(decided[0].role, decided[0].role)}
    assert await store.decide(4711, ["asking"], "user", ADA, "Ada") is None


async def test_a_person_who_is_let_in_is_told_through_the_queue_and_served(store: Store, another: Another) -> None:
    await owned_by_ada(store)
    await became(store, knocks(EVE))
    await store.decide(EVE, ["asking"], "user", ADA, "Ada")
    (told,), _ = await another().claim(BOT.id, 8)
    assert (told.user_id, told.role, told.kind) == (EVE, "user", "control")
    assert told.updates[0]["person"] == {"became": "user", "by": ADA, "by_name": "Ada"}
    assert told.updates[0]["message"]["chat"] == {"id": EVE, "type": "private"}
    (said,) = await taken(store, writes(EVE))
    assert said.role == "user"


# Invitations


async def test_an_invitation_is_valid_for_one_person_and_some_days(store: Store, another: Another, sql: Sql) -> None:
    await owned_by_ada(store)
    nonce = await invited(store, "Ben")
    both = await asyncio.gather(*(became(another(), knocks(one, nonce, pairing=False)) for one in (BEN, EVE)))
    assert [one for one in both if one] == [
        {"became": "user", "invited": True, "by": ADA, "by_name": "Ada", "for_whom": "Ben"}
    ]
    nonce = await invited(store)
    await sql("update invite set expires_at = now() - interval '1 second' where used_by is null")
    assert await became(store, knocks(next(strangers), nonce, pairing=False)) is None


async def test_an_invitation_whose_response_was_lost_is_made_once(store: Store, sql: Sql) -> None:
    hash = digest(new_nonce()) or ""
    assert await store.invite(hash, "Ben", ADA, "Ada")
    assert await store.invite(hash, "Ben", ADA, "Ada")
    assert await sql("select for_whom from invite") == [("Ben",)]


async def test_a_command_that_runs_again_after_a_kill_leaves_one_invitation(store: Store, sql: Sql) -> None:
    await owned_by_ada(store)
    nonces = [new_nonce() for _ in range(2)]
    for nonce in nonces:
        assert await store.invite(digest(nonce) or "", "Ben", ADA, "Ada", 1)
    assert await store.invite(digest(new_nonce()) or "", "Eve", ADA, "Ada", 2)
    assert len((await store.list_everybody()).invites) == 2
    lost, given = [await became(store, knocks(next(strangers), nonce, pairing=False)) for nonce in nonces]
    assert lost is None
    assert given
    assert given["for_whom"] == "Ben"


async def test_at_most_twenty_invitations_are_open(store: Store, sql: Sql) -> None:
    for _ in range(20):
        await invited(store)
    assert await store.invite(digest(new_nonce()) or "", "", ADA, "Ada") is None
    assert len((await store.list_everybody()).invites) == 20
    await sql("update invite set expires_at = now() - interval '1 second'")
    await invited(store)
    assert await sql("select count(*) from invite") == [(1,)]


async def test_a_refused_person_needs_a_newer_invitation_and_a_blocked_one_gets_none(store: Store) -> None:
    await owned_by_ada(store)
    old = await invited(store)
    for user_id, role in ((BEN, "refused"), (EVE, "blocked")):
        await became(store, knocks(user_id))
        await store.decide(user_id, ["asking"], role, ADA, "Ada")
    assert await became(store, knocks(BEN, old)) is None
    assert await became(store, knocks(EVE, await invited(store))) is None
    assert (await became(store, knocks(BEN, await invited(store))) or {})["became"] == "user"


# Removal


async def test_a_revoked_person_is_no_longer_served_also_in_waiting_turns(
    store: Store, another: Another, sql: Sql
) -> None:
    await owned_by_ada(store)
    await became(store, knocks(BEN, await invited(store)))
    link = await invited(store, by=BEN)
    (running,) = await taken(store, writes(BEN, "one"))
    assert await taken(store, writes(BEN, "two")) == []
    assert await store.revoke(BEN, False, ADA, "Ada") == "done"
    (told,) = await taken(store, writes(BEN, "three"))
    assert (told.role, told.updates[0]["person"]) == ("refused", {"became": "refused"})
    assert await became(store, knocks(EVE, link, pairing=False)) is None
    await store.deliver(running, BOT.id, [])
    await store.store_sent(running, [], True)
    (waited,), _ = await another().claim(BOT.id, 8)
    assert (waited.role, waited.updates[0]["message"]["text"]) == ("refused", "two")
    assert await store.revoke(BEN, False, ADA, "Ada") == "unknown"


async def test_a_running_answer_to_a_revoked_person_is_stopped_and_teaches_nothing(
    store: Store, another: Another, sql: Sql
) -> None:
    await owned_by_ada(store)
    await became(store, knocks(BEN, await invited(store)))
    (bens,) = await taken(store, writes(BEN, "I have a boat"))
    (adas,) = await taken(store, writes(ADA, "I have a car"))
    turns = {BEN: bens, ADA: adas}
    incoming = {user_id: incoming_of(turn, "hello", private(user_id)) for user_id, turn in turns.items()}
    for one in incoming.values():
        await store.begin(one, "model-1")
    assert await another().revoke(BEN, False, ADA, "Ada") == "done"
    _, news = await store.claim(BOT.id, 0, [bens.turn_id, adas.turn_id])
    assert news.stopped == (bens.turn_id,)
    told = [await store.finish(one, reply("I see.", [fact(one.user_id, "a fact")])) for one in incoming.values()]
    assert [len(one.changes) for one in told] == [0, 1]
    assert await sql("select subject_id from memory") == [(ADA,)]
    assert await sql("select count(*) from message where text = 'I see.'") == [(2,)]


async def test_a_channel_whose_post_names_the_bot_does_not_ask_for_access(store: Store, sql: Sql) -> None:
    await owned_by_ada(store)
    await taken(store, sorted_row(message(ADA, "@relay_bot hello", GROUP), BOT, NOBODY, False))
    channel = {"id": -1009, "type": "channel", "title": "News"}
    made_up = {"id": 777000, "is_bot": False, "first_name": "Telegram"}
    post = message(777000, "Ask @relay_bot!", GROUP, **{"from": made_up, "sender_chat": channel})
    assert await taken(store, asks_in_group(post)) == []
    assert await roles(sql) == {ADA: "admin"}
    assert await taken(store, asks_in_group(message(EVE, "@relay_bot hello", GROUP)))
    assert await roles(sql) == {ADA: "admin", EVE: "asking"}


async def test_a_revoked_admin_no_longer_lends_their_memory(store: Store, sql: Sql) -> None:
    await sql("insert into person (user_id, bot_id, name, role) values (%s, 77, 'Ben', 'admin')", BEN)
    await store.link(GROUP, BEN)
    assert await store.revoke(BEN, True, ADA, "Ada") == "done"
    assert (await store.place(GROUP, 0)).lender is None


async def test_the_last_admin_cannot_be_revoked(store: Store, sql: Sql) -> None:
    await owned_by_ada(store)
    assert await store.revoke(ADA, False, ADA, "Ada") == "last"
    await sql("insert into person (user_id, bot_id, name, role) values (%s, 77, 'Ben', 'admin')", BEN)
    both = await asyncio.gather(store.revoke(ADA, False, BEN, "Ben"), store.revoke(BEN, False, ADA, "Ada"))
    assert sorted(both) == ["done", "last"]
    last = next(user_id for user_id, role in (await roles(sql)).items() if role == "admin")
    assert await store.revoke(last, True, last, "Ada") == "done", "the settings name another admin"


async def test_a_person_is_found_by_username_in_any_case(store: Store, sql: Sql) -> None:
    row = "insert into person (user_id, bot_id, name, username, role) values (%s, 77, 'B', 'Benny', %s)"
    await sql(row, BEN, "refused")
    await sql(row, EVE, "user")
    found = await store.person(None, "benny")
    assert found is not None
    assert found.user_id == EVE, "a present user must come before a former one"
    assert await store.person(None, "") is None


def named(user_id: int, first: str, username: str | None = None, **more: Any) -> InboxRow:
    """Returns the row of a message by someone with this name, whom the settings don't name."""
    sender = {"id": user_id, "first_name": first, "username": username, **more}
    update = message(user_id, "hello", **{"from": {key: value for key, value in sender.items() if value}})
    return sorted_row(update, BOT, NOBODY, True)


async def test_a_known_persons_names_follow_those_in_telegram(store: Store, sql: Sql) -> None:
    row = "insert into person (user_id, bot_id, name, username, role) values (%s, 77, %s, %s, %s)"
    await sql(row, BEN, "Ben", "ben_old", "user")
    await sql(row, EVE, "Eve", "Ben_New", "refused")
    await taken(store, named(BEN, "Ben", "ben_new", last_name="Ray"))
    people = "select name, username from person where user_id = %s"
    assert await sql(people, BEN) == [("Ben Ray", "ben_new")]
    assert await sql(people, EVE) == [("Eve", None)], "a username is one person's"
    assert await store.person(None, "ben_old") is None
    await taken(store, named(BEN, "Ben"))
    assert await sql(people, BEN) == [("Ben", None)]
    await taken(store, named(EVE, "Evil", "evil"))
    assert await sql(people, EVE) == [("Eve", None)], "of people without access, nothing new is stored"
    press = {"callback_query": {"id": "1", "from": {"id": BEN, "first_name": "Benny"}, "data": "n"}}
    sent = {"message_id": 9, "date": 1, "chat": {"id": BEN, "type": "private"}, "from": {"id": BOT.id, "is_bot": True}}
    press["callback_query"]["message"] = sent
    await taken(store, sorted_row({"update_id": next(strangers), **press}, BOT, NOBODY, True))
    assert await sql(people, BEN) == [("Ben", None)], "the name above a button is the bot's"


@pytest.mark.parametrize(
    "sender",
    [
        {"first_name": "Ben", "last_name": "Ray", "username": "ben"},
        {"first_name": " Ben\n  B. ", "last_name": "\u202eyaR\u200b \ufe0f"},
        {"first_name": "\U000e0041\u3164", "username": "ben"},
        {"first_name": "\u2060"},
        {"first_name": "Ben" * 30},
    ],
)
async def test_the_database_reads_a_name_as_the_code_does(store: Store, sql: Sql, sender: dict[str, str]) -> None:
    await sql("insert into person (user_id, bot_id, name, role) values (%s, 77, '', 'user')", BEN)
    update = message(BEN, "hello", **{"from": {"id": BEN, **sender}})
    await taken(store, sorted_row(update, BOT, NOBODY, True))
    assert await sql("select name from person") == [(name_of(as_user({"id": BEN, **sender}))[:NAME_LENGTH],)]
