"""Which messages of a group are for the bot, if one of them addresses it."""

from __future__ import annotations

from typing import Any

import pytest

from relay.surfaces.telegram.parsing.updates import Bot, for_bot
from tests.telegram_objects import as_message, sorted_row
from tests.updates import ADA, BOT

Json = dict[str, Any]


def said(number: int, text: str, date: int = 9, **more: Any) -> Json:
    chat = {"id": -1001, "type": "supergroup"}
    return {"message_id": number, "date": date, "chat": chat, "from": {"id": ADA}, "text": text, **more}


def forwarded(number: int, text: str, date: int = 9) -> Json:
    return said(number, text, date, forward_date=1)


@pytest.mark.parametrize(
    ("there", "ours"),
    [
        ([said(1, "@relay_bot sum up"), forwarded(2, "a"), forwarded(3, "b")], [1, 2, 3]),
        ([said(1, "@relay_bot sum up"), forwarded(3, "a", 11)], [1, 3]),
        ([said(1, "@relay_bot sum up"), forwarded(2, "a", 12)], [1]),
        ([said(1, "@relay_bot sum up"), forwarded(4, "a")], [1]),
        ([said(1, "@relay_bot hi"), said(2, "lunch?"), forwarded(3, "a")], [1]),
        ([said(1, "lunch?"), forwarded(2, "a")], []),
        ([forwarded(1, "a"), said(2, "@relay_bot what's that?")], [2]),
        ([said(1, "@relay_bot " + "x" * 4000), said(2, "y"), said(3, "lunch?")], [1, 2]),
        ([said(1, "x" * 4096), said(2, "y" * 4096), said(3, "z, @relay_bot")], [1, 2, 3]),
        ([said(1, "x" * 4096), said(2, "y")], []),
        ([said(1, "@relay_bot " + "x" * 4000), said(2, "Ben, lunch?", 15)], [1]),
        ([said(1, "x" * 4096), said(2, "@relay_bot what time is it?", 15)], [2]),
    ],
)
def test_what_continues_a_message_for_the_bot_is_for_it_too(there: list[Json], ours: list[int]) -> None:
    bot = Bot(BOT, "relay_bot")
    assert [one.message_id for one in for_bot([as_message(body) for body in there], bot)] == ours


@pytest.mark.parametrize(
    ("body", "kind"),
    [(said(1, "x" * 4000), "turn"), (forwarded(1, "x" * 4000), "overheard"), (said(1, "x"), "overheard")],
)
def test_a_long_text_waits_for_its_end_that_may_address_the_bot(body: Json, kind: str) -> None:
    row = sorted_row({"update_id": 1, "message": body}, Bot(BOT, "relay_bot"), frozenset([ADA]), False)
    assert row.kind == kind
