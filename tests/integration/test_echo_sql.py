"""Tests echoes of transcripts and their corrections in the database, on every backend."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from relay.core.errors import TurnLost
from relay.memory.claims import ClaimedTurn
from relay.memory.rows.delivery import Part, PartResult
from relay.memory.rows.turns.edits import Correction
from relay.memory.store import Store
from tests.integration.conftest import Sql
from tests.integration.turn_driver import ADA, BEN, BOT, TurnDriver, incoming_of, message, private, reply

Json = dict[str, Any]
FILE = {"kind": "voice", "file_id": "F", "unique_id": "U"}
HEARD = {"type": "text", "text": "herd", "file": FILE, "heard": {"language": "en", "engine": "tiny", "seconds": 2}}
REQUEST = {"chat_id": ADA, "text": "🎤 herd"}


async def shown(driver: TurnDriver, store: Store) -> tuple[ClaimedTurn, Json]:
    """Returns a voice note with its echo in the chat as message 800 and its answer as message 900."""
    update = message(ADA, "", voice={"file_id": "F"})
    (turn,) = await driver.say(update)
    row = await store.echo(turn, update["message"]["message_id"], REQUEST)
    await store.store_sent(turn, [PartResult(row.seq, "sent", 800)], False)
    incoming = replace(incoming_of(turn, "herd", private(ADA)), blocks=[HEARD])
    await store.begin(incoming, "m")
    await store.finish(incoming, reply("What?"))
    await store.deliver(turn, BOT.id, [Part(1, ADA, {"chat_id": ADA, "text": "What?"})])
    await store.store_sent(turn, [PartResult(1, "sent", 900)], True)
    return turn, update


async def test_an_echo_is_stored_once_before_it_is_sent(driver: TurnDriver, store: Store, sql: Sql) -> None:
    turn = await driver.turn(ADA, "x")
    first = await store.echo(turn, 11, REQUEST)
    assert (first.status, first.uncertain, first.seq < 1) == ("sending", False, True)
    again = await store.echo(turn, 11, REQUEST | {"text": "🎤 otherwise"})
    assert (again.id, again.uncertain, again.request) == (first.id, True, REQUEST)
    second = await store.echo(turn, 12, REQUEST)
    assert second.seq < first.seq
    await store.store_sent(turn, [PartResult(first.seq, "sent", 800)], False)
    assert (await store.echo(turn, 11, REQUEST)).status == "sent"
    with pytest.raises(TurnLost):
        await store.echo(replace(turn, fence=turn.fence + 1), 13, REQUEST)
    rows = await store.deliver(turn, BOT.id, [Part(1, ADA, {"chat_id": ADA, "text": "a"})])
    assert [(row.seq, row.status, row.uncertain) for row in rows] == [
        (second.seq, "sending", True),
        (first.seq, "sent", False),
        (1, "waiting", False),
    ]
    assert await sql("select count(*) from outbox") == [(3,)]


async def test_a_correction_is_stored_once_and_keeps_the_old_wording(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    turn, _ = await shown(driver, store)
    correcting = await driver.turn(ADA, "heard")
    for _ in range(2):
        assert await store.correct(correcting, ADA, 800, "heard") == Correction(turn.turn_id, True, turn.turn_id)
    assert await sql("select text, blocks -> 0 -> 'heard' -> 'corrected' from message where role = 'user'") == [
        ("heard", True)
    ]
    assert await sql("select text from message_version") == [("herd",)]
    # the new answer replaces the old one, and the echo stays
    retry = incoming_of(correcting, "", private(ADA), retry=True, retry_turn=turn.turn_id)
    await store.begin(replace(retry, replaces=True), "m")
    await store.finish(retry, reply("Yes."))
    rows = await store.deliver(correcting, BOT.id, [Part(1, ADA, {"chat_id": ADA, "text": "Yes."})])
    assert [(row.telegram_message_id, row.request.get("delete")) for row in rows] == [(900, None)]


async def test_only_the_persons_own_echo_can_be_corrected(driver: TurnDriver, store: Store, sql: Sql) -> None:
    _, update = await shown(driver, store)
    own, others = await driver.turn(ADA, "heard"), await driver.turn(BEN, "heard")
    assert await store.correct(own, ADA, 900, "heard") is None, "an answer"
    assert await store.correct(own, ADA, update["message"]["message_id"], "heard") is None, "the person's own message"
    assert await store.correct(own, BEN, 800, "heard") is None, "another chat"
    assert await store.correct(others, ADA, 800, "heard") is None, "another person"
    assert await sql("select count(*) from message_version") == [(0,)]


async def test_an_edited_caption_keeps_the_content_of_its_file(driver: TurnDriver, store: Store, sql: Sql) -> None:
    update = message(ADA, "", caption="a captoin", photo=[{"file_id": "F"}])
    (turn,) = await driver.say(update)
    picture = {"type": "image", "file": FILE}
    caption = {"type": "text", "text": "a captoin", "untrusted": "caption"}
    incoming = replace(incoming_of(turn, "(a photo)\na captoin", private(ADA)), blocks=[picture, caption])
    await store.begin(incoming, "m")
    await store.finish(incoming, reply("Nice."))
    await driver.close(turn)
    raw = update["message"]
    edit = {
        "bot_id": BOT.id,
        "chat_id": ADA,
        "topic_id": 0,
        "telegram_message_id": raw["message_id"],
        "user_id": ADA,
        "edited_at": raw["date"] + 1,
        "text": "a caption",
        "blocks": [{"type": "attachment", "file": FILE}, caption | {"text": "a caption"}],
        "message": raw | {"caption": "a caption"},
    }
    await store.edit(edit | {"text": "a captoin", "blocks": [{"type": "attachment", "file": FILE}, caption]})
    assert await sql("select count(*) from message_version") == [(0,)], "an unchanged caption must not make a version"
    await store.edit(edit)
    ((text, blocks),) = await sql("select text, blocks from message where role = 'user'")
    assert text == "(a photo)\na caption"
    assert blocks == [picture, caption | {"text": "a caption"}]
