"""Tests commands without an update, such as the terminal's. Each has a turn of its own, which leaves nothing behind."""

from __future__ import annotations

from relay.memory.store import Store
from tests.integration.conftest import Server, Sql
from tests.integration.inside import inside, speechless
from tests.integration.turn_driver import ADA, BOT, dm, private


async def test_a_command_whose_process_died_is_ended_by_the_next_process(embedded: Server) -> None:
    async with inside(embedded, speechless, frozenset([ADA]), frozenset()) as relay:
        turn = await relay.store.begin_command(relay.worker.bot.id, ADA, 0, ADA)
        assert turn.updates == ()
        await relay.sql("update relay.turn set lease_until = now() - interval '1 second' where id = %s", turn.turn_id)
        await relay.settled()
        assert await relay.sql("select status, error from relay.turn where id = %s", turn.turn_id) == [("done", None)]


async def test_a_running_command_is_not_claimed_by_another_process(store: Store) -> None:
    turn = await store.begin_command(BOT.id, ADA, 0, ADA)
    claimed, _ = await store.claim(BOT.id, 10)
    assert claimed == []
    await store.store_sent(turn, [], True)


async def test_texts_a_command_stored_off_the_record_are_erased_with_the_session(store: Store, sql: Sql) -> None:
    await store.private(dm(ADA), True, ADA)
    turn = await store.begin_command(BOT.id, ADA, 0, ADA)
    await store.keep_search(turn, private(ADA), "zanzibarix")
    await store.store_sent(turn, [], True)
    assert await sql("select count(*) from turn where prompt::text like '%%zanzibarix%%'") == [(1,)]
    await store.private(dm(ADA), False, ADA)
    assert await sql("select count(*) from turn where prompt::text like '%%zanzibarix%%'") == [(0,)]
