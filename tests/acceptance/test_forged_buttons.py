"""Button data can be forged: with another person's numbers, cut short, or of another version. It must do nothing."""

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
from tests.acceptance.shared_relay import SharedRelay
from tests.standins.telegram import Chat, StoredMessage

pytestmark = pytest.mark.asyncio(loop_scope="module")

WORD = "xylorimba"
KINDS = [*BUTTONS, *CODES]
MOST_EACH = 6
"""The most data for one button and one number."""
TABLES = ("memory", "memory_change", "persona", "soul", "choice", "session", "summary", "message")


async def lived(shared_relay: SharedRelay) -> Chat:
    """Returns the chat of a person with many memories, messages and open questions."""
    chat = shared_relay.guest()
    shared_relay.model.rule(None, f"I see.\n[LEARN: plays the {WORD}]", times=1)
    for text in (
        f"I play the {WORD}", f"/remember sells a {WORD}", f"/forget *{WORD}*", f"/search {WORD}", "/memory", "/why",
        "/sessions", f"/persona a {WORD}", "/settings", "/forget --erase", "/voice", "/summary",
    ):  # fmt: skip
        await shared_relay.tg.wait_reply(chat, await shared_relay.tg.say(chat, None, text))
    said = await shared_relay.tg.say(chat, None, f"a {WORD} of somebody", forward_from="Mallory")
    shared_relay.model.rule(None, f"I see.\n[LEARN: owes a {WORD}]", times=1)
    await shared_relay.tg.wait_reply(chat, said)
    return chat


def ids(shared_relay: SharedRelay, chat: Chat) -> list[str]:
    """Returns numbers that a button about this person may hold: their own, and the last of each kind that they have."""
    found = shared_relay.sql(
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
    """Yields data for every button, with these numbers in each possible field."""
    for kind in KINDS:
        for number in numbers:
            if kind in CALLBACKS:
                yield from islice(filled(kind, number), MOST_EACH)
            else:
                yield from (f"{kind}:{number}", *(f"{kind}:{number}:{choice}" for choice in ("y", "k", "1")))


def filled(kind: str, number: str) -> Iterator[str]:
    """Yields a button's data with this number in one or more fields that may hold one, and all choices in the others.
    A button without a number is about the presser's own chat, so nothing can be forged in it."""
    hints = get_type_hints(CALLBACKS[kind])
    fields = [parts(hints[field.name], number) for field in dataclasses.fields(CALLBACKS[kind])]  # type: ignore[arg-type]
    for given in product(*fields):
        if number in given:
            yield ":".join([kind, *given])


def parts(kind: Any, number: str) -> list[str]:
    """Returns the values that a field of a button's data may hold."""
    if get_origin(kind) is Literal:
        return [str(choice) for choice in get_args(kind)]
    if hasattr(kind, "examples"):
        return [one.encode() for one in kind.examples()[:2]]
    return {int: [number, "1"], bool: ["1", "0"]}.get(kind, [number])


def state(shared_relay: SharedRelay) -> list[str]:
    """Returns a checksum of each table."""
    sums = "select md5(coalesce(string_agg(t::text, '|' order by t::text), '')) from {} t"
    return [f"{name}: {shared_relay.sql(sums.format('relay.' + name))[0][0]}" for name in TABLES]


async def pressed(shared_relay: SharedRelay, chat: Chat, under: StoredMessage, data: list[str]) -> list[str]:
    """Presses them all and returns the toasts. Each hundred has 100 seconds."""
    answers = shared_relay.tg.answers

    async def press(some: list[str]) -> list[str]:
        queries = [shared_relay.tg.press(chat, None, under, one) for one in some]
        await shared_relay.tg.wait_for(lambda: set(queries) <= answers.keys(), 100)
        return [str(answers[query].get("text") or "") for query in queries]

    return [toast for begin in range(0, len(data), 100) for toast in await press(data[begin : begin + 100])]


@pytest.mark.slow("test_buttons.py, test_spaces_apart.py and test_api_apart.py")
@pytest.mark.parametrize(
    "who", ["another user", pytest.param("an admin", marks=pytest.mark.slow("another user's presses"))]
)
async def test_buttons_with_another_persons_numbers_do_nothing(shared_relay: SharedRelay, who: str) -> None:
    ada = await lived(shared_relay)
    ben = shared_relay.tg.chat(OWNER) if who == "an admin" else shared_relay.guest()
    # These set the presser's own choices and need no number of Ada's.
    harmless = {"tl", "tv", "ts", "tz", "vv", "mk", "ms", "pc", "pu", "pe", "sa", "sx", "sr", "se"}
    data = [one for one in forged(ids(shared_relay, ada)) if one.split(":")[0] not in harmless]
    under = await shared_relay.tg.wait_reply(ben, await shared_relay.tg.say(ben, None, "/help"))
    await shared_relay.tg.wait_for(
        lambda: shared_relay.sql("select count(*) from relay.job where kind = 'title'") == [(0,)]
    )
    asked, before = len(shared_relay.model.requests), state(shared_relay)
    assert len(data) > 100
    told = await pressed(shared_relay, ben, under, data)
    await shared_relay.tg.wait_for(lambda: not shared_relay.tg.pending_updates)
    shown = [text for text in [*told, *shared_relay.said(ben)] if WORD in text]
    assert shown == []
    assert len(shared_relay.model.requests) == asked
    assert state(shared_relay) == before


@pytest.mark.slow("test_callbacks.py and test_buttons.py")
async def test_truncated_and_unknown_button_data_is_acknowledged(shared_relay: SharedRelay) -> None:
    ada = await lived(shared_relay)
    under = shared_relay.replies(ada)[0]
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
    data = [f"{kind}{rest}" for place, kind in enumerate(KINDS) for rest in odd[place % 2 :: 2]] + [
        "zz:1",
        "🙂",
        "\x00",
        "n" * 64,
    ]
    before = state(shared_relay)
    told = await pressed(shared_relay, ada, under, [one for one in data if one])
    assert len(told) > 200
    assert state(shared_relay)[:5] == before[:5]
