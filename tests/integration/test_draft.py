"""Tests composing by buttons: shares, order, what can't be planned, and what fits."""

from __future__ import annotations

import pytest

from relay.commands.contexts.composition import compose, composition_named
from relay.commands.contexts.draft import Drafted, as_request, change_draft, draft_of, make_draft
from relay.memory.rows.contexts.composition import ComposeRequest, PartAsked
from relay.memory.store import Store
from relay.surfaces.chat.callbacks import encode
from relay.surfaces.chat.contexts.compose import press_share, press_take
from relay.surfaces.chat.dispatch import run_command
from tests.integration.conftest import Sql
from tests.integration.long_session import Obedient, long_session
from tests.integration.test_version_chat import Phone
from tests.integration.turn_driver import ADA, TurnDriver, dm


async def two_sessions(driver: TurnDriver, store: Store, sql: Sql) -> tuple[int, int]:
    """Returns the ids of two ended sessions, older one first."""
    for title, words in (("Gates", "The gate is vermilion."), ("Sheds", "The shed leans.")):
        await store.new_session(dm(ADA), title)
        await driver.exchange(ADA, words, "I see.")
    await store.new_session(dm(ADA), "")
    found = [row[0] for row in await sql("select id from session where title is not null order by id")]
    return found[0], found[1]


async def drafted(phone: Phone, *sessions: int) -> int:
    """Begins a draft with these sessions. Returns its id."""
    async with phone.call("mine") as call:
        begun = (await run_command(call, "compose")).result
    assert isinstance(begun, Drafted)
    draft_id = begun.id
    for session in sessions:
        await phone.press_data(encode(press_take(draft_id, session, True, 0)))
    return draft_id


@pytest.fixture
def phone(store: Store) -> Phone:
    return Phone(store, Obedient())


async def test_a_given_order_is_kept_when_a_composition_is_changed(
    phone: Phone, driver: TurnDriver, store: Store, sql: Sql
) -> None:
    old, new = await two_sessions(driver, store, sql)
    parts = ((new, PartAsked()), (old, PartAsked()))
    async with phone.call("") as call:
        for name, in_order in (("ordered", True), ("by time", False)):
            made = await compose(call, ComposeRequest(name, parts, in_order=in_order))
            draft = await draft_of(call, made.id)
            assert as_request(draft.draft).in_order == in_order
            await change_draft(call, draft.id, {"budget": 8_000})
            await make_draft(call, draft.id)
            again = await composition_named(call, name)
            assert again.budget == 8_000
            assert [part.session_id for part in again.parts] == ([new, old] if in_order else [old, new])


async def test_sessions_are_reordered_with_buttons(phone: Phone, driver: TurnDriver, store: Store, sql: Sql) -> None:
    draft = await drafted(phone, *await two_sessions(driver, store, sql))
    assert (await phone.press_data(f"bc:{draft}")).index("1. Gates") > 0
    await phone.press("1 ⚙")
    assert ["↓ Later"] in phone.buttons()
    await phone.press("↓ Later")
    assert ["↑ Earlier"] in phone.buttons()
    assert "1. Sheds" in await phone.press_data(f"bc:{draft}")
    await phone.press("2 ⚙")
    await phone.press("↑ Earlier")
    assert "1. Gates" in await phone.press_data(f"bc:{draft}")


async def test_a_share_is_enlarged_and_reduced_with_buttons(phone: Phone, store: Store, sql: Sql) -> None:
    big = await long_session(sql, 60, 12_000)
    draft = await drafted(phone, big.id)
    await phone.press_data(f"bb:{draft}:4000")
    assert "Its share: 4,000." in await phone.press("1 ⚙")
    assert ["Larger share", "Smaller share"] in phone.buttons()
    assert "Its share: 3,000, as you chose." in await phone.press("Smaller share")
    assert "Its share: 4,000, as you chose." in await phone.press("Larger share")
    assert "1. " in await phone.press("A new version that fits its share"), "the chosen share must be kept"
    assert "Its share: 4,000, as you chose." in await phone.press("1 ⚙")
    assert "Its share: 4,000." in await phone.press("↩ Usual share")
    await phone.press(next(one for row in phone.buttons() for one in row if one.startswith("All of it")))
    await phone.press("1 ⚙")
    assert not any("er share" in one for row in phone.buttons() for one in row), "the share of an original is fixed"
    assert "A part takes 1 to 100,000 tokens" in await phone.press_data(encode(press_share(draft, big.id, 10**9)))


async def test_an_impossible_composition_is_fixed_part_by_part(
    phone: Phone, driver: TurnDriver, store: Store, sql: Sql
) -> None:
    old, _ = await two_sessions(driver, store, sql)
    big = await long_session(sql, 60, 12_000)
    draft = await drafted(phone, old, big.id)
    await phone.press_data(encode(press_share(draft, old, 16_000)))
    said = await phone.press_data(f"bc:{draft}")
    assert "The parts you chose use the whole budget. Raise the budget, or leave a part out." in said
    assert "2. Gates" in said
    await phone.press("2 ⚙")
    await phone.press("↩ Usual share")
    assert "fits in full" in await phone.press_data(f"bc:{draft}")
    await sql("update session set private = true where id = %s", old)
    said = await phone.press_data(f"bc:{draft}")
    assert f"There's no session {old} here" in said
    await phone.press("1 ⚙")
    assert "1 session chosen" in await phone.press("🗑 Leave it out")
    assert "12,139 – fits in full" in await phone.press_data(f"bc:{draft}")


async def test_a_budget_can_be_typed_in_thousands(phone: Phone, driver: TurnDriver, store: Store, sql: Sql) -> None:
    draft = await drafted(phone, *await two_sessions(driver, store, sql))
    assert "8,500 tokens" in await phone.answer("8.5k", "compose", draft)
    assert "from 1,000 to 100,000" in await phone.answer("8.5", "compose", draft)


async def test_a_name_suggests_matching_sessions(phone: Phone, driver: TurnDriver, store: Store, sql: Sql) -> None:
    old, _ = await two_sessions(driver, store, sql)
    assert "An earlier conversation fits: “Gates”." in await phone.say("vermilion gate", "compose")
    assert "1 session chosen" in await phone.press("➕ Gates")
    [(parts,)] = await sql("select prompt #> '{draft,parts}' from turn where prompt ? 'draft'")
    assert list(parts) == [str(old)]
    assert "fits" not in await phone.say("", "compose")
    await driver.exchange(ADA, "Which colour has the vermilion gate?", "Vermilion.")
    assert "An earlier conversation fits: “Gates”." in await phone.say("", "compose"), "as it is talked about now"
