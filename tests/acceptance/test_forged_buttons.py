"""Button data is what anybody can make up: with another person's numbers in it, cut short, of another version."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from itertools import islice, product
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest

from relay.surfaces.chat import BUTTONS
from relay.surfaces.chat.callbacks import CALLBACKS
from relay.surfaces.chat.turn_buttons import CODES
from tests.acceptance.harness import OWNER
from tests.acceptance.house import House
from tests.standins.telegram import Chat, StoredMessage

pytestmark = pytest.mark.asyncio(loop_scope="module")

WORD = "xylorimba"
KINDS = [*BUTTONS, *CODES]
MOST_EACH = 12
"""Data for one button and one number."""
TABLES = ("memory", "memory_change", "persona", "soul", "choice", "session", "summary", "message")


async def lived(house: House) -> Chat:
    """The chat of somebody of whom a lot is known, shown and asked."""
    chat = house.guest()
    house.model.rule(None, f"I see.\n[LEARN: plays the {WORD}]", times=1)
    for text in (
        f"I play the {WORD}", f"/remember sells a {WORD}", f"/forget *{WORD}*", f"/search {WORD}", "/memory", "/why",
        "/sessions", f"/persona a {WORD}", "/settings", "/forget --erase", "/voice", "/summary",
    ):  # fmt: skip
        await house.tg.wait_reply(chat, await house.tg.say(chat, None, text))
    said = await house.tg.say(chat, None, f"a {WORD} of somebody", forward_from="Mallory")
    house.model.rule(None, f"I see.\n[LEARN: owes a {WORD}]", times=1)
    await house.tg.wait_reply(chat, said)
    return chat


def ids(house: House, chat: Chat) -> list[str]:
    """Numbers that a button about this person may hold: their own, and the last of each kind that they have."""
    found = house.sql(
        """
        with own as (select id from relay.space where owner_id = %s)
        select id from own union select max(id) from relay.memory where space_id in (select id from own)
        union select max(id) from relay.memory_change where space_id in (select id from own)
        union (select id from relay.turn where user_id = %s and prompt is not null order by id desc limit 2)
        union select max(id) from relay.erasure
        """,
        chat.id, chat.id,
    )  # fmt: skip
    return [*(str(number) for (number,) in found if number is not None), str(chat.id)]


def forged(numbers: list[str]) -> Iterator[str]:
    """Data for every button, with these numbers wherever one may be."""
    for kind in KINDS:
        for number in numbers:
            if kind in CALLBACKS:
                yield from islice(filled(kind, number), MOST_EACH)
            else:
                yield from (f"{kind}:{number}", *(f"{kind}:{number}:{choice}" for choice in ("y", "k", "1")))


def filled(kind: str, number: str) -> Iterator[str]:
    """A button's data with this number in each field that may hold one, and all choices in the others. One that holds
    no number is about the presser's own chat: nothing can be forged in it."""
    hints = get_type_hints(CALLBACKS[kind])
    fields = [parts(hints[field.name], number) for field in dataclasses.fields(CALLBACKS[kind])]  # type: ignore[arg-type]
    for given in product(*fields) if any(number in one for one in fields) else ():
        yield ":".join([kind, *given])


def parts(kind: Any, number: str) -> list[str]:
    """What a field of a button's data may hold."""
    if get_origin(kind) is Literal:
        return [str(choice) for choice in get_args(kind)]
    if hasattr(kind, "examples"):
        return [one.encode() for one in kind.examples()[:2]]
    return {int: [number, "1"], bool: ["1", "0"]}.get(kind, [number])


def state(house: House) -> list[str]:
    """All that is known, decided and chosen, by table."""
    sums = "select md5(coalesce(string_agg(t::text, '|' order by t::text), '')) from {} t"
    return [f"{name}: {house.sql(sums.format('relay.' + name))[0][0]}" for name in TABLES]


async def pressed(house: House, chat: Chat, under: StoredMessage, data: list[str]) -> list[str]:
    """Presses them all; what pops up."""
    queries = [house.tg.press(chat, None, under, one) for one in data]
    await house.tg.wait_for(lambda: set(queries) <= house.tg.answers.keys(), 100)
    return [str(house.tg.answers[query].get("text") or "") for query in queries]


@pytest.mark.parametrize("who", ["another user", "an admin"])
async def test_with_anothers_numbers_no_button_shows_or_changes_anything(house: House, who: str) -> None:
    ada = await lived(house)
    ben = house.tg.chat(OWNER) if who == "an admin" else house.guest()
    # Their own choices, which need no number of Ada's, are made by no button here.
    harmless = {"tl", "tv", "ts", "tz", "vv", "mk", "ms", "pc", "pu", "pe", "sa", "sx", "sr", "se"}
    data = [one for one in forged(ids(house, ada)) if one.split(":")[0] not in harmless]
    under = await house.tg.wait_reply(ben, await house.tg.say(ben, None, "/help"))
    await house.tg.wait_for(lambda: house.sql("select count(*) from relay.job where kind = 'title'") == [(0,)])
    asked, before = len(house.model.requests), state(house)
    assert len(data) > 100
    told = await pressed(house, ben, under, data)
    await house.tg.wait_for(lambda: not house.tg.pending_updates)
    shown = [text for text in [*told, *house.said(ben)] if WORD in text]
    assert shown == []
    assert len(house.model.requests) == asked
    assert state(house) == before


async def test_cut_short_or_of_another_version_every_button_is_answered(house: House) -> None:
    ada = await lived(house)
    under = house.replies(ada)[0]
    odd = (
        "",
        ":",
        ":1:2:3:4:5",
        ":99999999999999999999",
        ":-1",
        ":1;drop table",
        ":١",
        ":0x1:y",
        ":1:\u202e",
        ":a.1:a.9",
    )
    data = [f"{kind}{rest}" for kind in KINDS for rest in odd] + ["zz:1", "🙂", "\x00", "n" * 64]
    before = state(house)
    told = await pressed(house, ada, under, [one for one in data if one])
    assert len(told) > 200
    assert state(house)[:5] == before[:5]
