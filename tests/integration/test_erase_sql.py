"""Erase means erase: of what was erased no table holds a word, and what stays is whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from relay.clients.fakes import FakeMessenger
from relay.clients.kept_files import KeptFiles
from relay.core.models import Space
from relay.jobs.erasure import erasure_kind
from relay.jobs.runner import Runner
from relay.memory.rows.delivery import Part, PartResult
from relay.memory.rows.memories import MemoryFilter
from relay.memory.rows.upkeep.erasure import ErasedCounts, ErasePreview, WordLeft
from relay.memory.store import Store
from tests.integration.conftest import Sql
from tests.integration.dump import holding
from tests.integration.house import ADA, BEN, BOT, FINISHED, GROUP, House, fact, group, incoming_of, private, reply
from tests.integration.work import claim_summaries, written

Json = dict[str, Any]
WORDS = ("zanzibarix", "quetzalcoatlus")


async def erase(store: Store, space: Space, query: Json, user_id: int = ADA, admin: bool = False) -> ErasePreview:
    """Shows what would go, lets it go, to the end; what was shown."""
    shown = await store.erase_preview(space, query, user_id, admin)
    assert shown is not None
    assert await store.erase_begin(shown.erasure_id, user_id, admin)
    while not (await store.erase_step(shown.erasure_id) or FINISHED).done:
        pass
    return shown


async def told_of(house: House, sql: Sql) -> Json:
    """Ada tells of her parrot; it is learned, answered, asked for again, summarised, and found by a tool."""
    learned = await house.exchange(
        ADA,
        "My parrot is called Zanzibarix, a quetzalcoatlus of a bird",
        "Zanzibarix, what a name!",
        actions=[fact(ADA, "has a parrot called Zanzibarix (quetzalcoatlus)")],
    )
    await house.exchange(ADA, "I also like tea", "Noted.", actions=[fact(ADA, "likes tea")])
    await house.exchange(ADA, "How is the weather?", "Fine.")
    turn = await house.turn(ADA, "What did I say about pets?")
    incoming = incoming_of(turn, "What did I say about pets?", private(ADA))
    await house.store.begin(incoming, "model-1")
    found = "My parrot is called Zanzibarix, a quetzalcoatlus of a bird"
    steps = [
        {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "search", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": found}]},
        {"role": "assistant", "content": [{"type": "text", "text": "About a bird."}]},
    ]
    await house.store.finish(incoming, reply("About a bird.") | {"blocks": steps})
    part = {"chat_id": ADA, "text": "About a bird. It was: Zanzibarix the quetzalcoatlus"}
    await house.store.deliver(turn, BOT.id, [Part(1, ADA, part)])
    await house.store.sent(turn, [PartResult(1, "sent", 99)], True)
    await house.exchange(ADA, "Thanks", "You are welcome.")
    (due,) = await claim_summaries(house.store, 1)
    summary = written(due, "Ada has a parrot, Zanzibarix, a quetzalcoatlus.")
    assert await house.store.store_summary(due.job, summary)
    await sql("update session set title = 'Zanzibarix the parrot', titled_by = 'model'")
    return learned.told.changes[0]


async def test_of_an_erased_memory_no_table_holds_a_word(house: House, store: Store, sql: Sql) -> None:
    change = await told_of(house, sql)
    before = await holding(sql, *WORDS)
    assert {"memory", "message", "event", "outbox", "summary", "session"} <= before.keys()
    shown = await erase(store, private(ADA), {"memory_id": change.memory_id})
    assert shown.counts == ErasedCounts(1, 2, 1, 0)
    assert [row.text for row in shown.messages] == [
        "My parrot is called Zanzibarix, a quetzalcoatlus of a bird",
        "Zanzibarix, what a name!",
    ]
    assert await holding(sql, *WORDS) == {}
    assert await house.known(private(ADA)) == ["likes tea"]
    assert (await sql("select count(*) from message"))[0][0] == 8
    assert await sql("select status, work, counts ->> 'messages' from erasure") == [("done", None, "2")]


async def test_by_words_all_that_has_them_goes_with_its_history(house: House, store: Store, sql: Sql) -> None:
    await told_of(house, sql)
    await house.exchange(ADA, "Zanzibarix bit me", "Bad Zanzibarix! A quetzalcoatlus bites.")
    turn = await house.turn(ADA, "reword")
    memory = (await store.memories(private(ADA), 0, 10, MemoryFilter(words="Zanzibarix"))).memories[0]
    edit = {"action": "edit", "memory_id": memory.id, "content": "has a parrot"}
    await store.change_memory(turn, private(ADA), [edit])
    await house.close(turn)
    await erase(store, private(ADA), {"words": "zanzibarix"})
    assert await holding(sql, WORDS[0]) == {}
    assert await house.known(private(ADA)) == ["likes tea"]


async def test_summaries_are_owed_anew_without_the_old_texts(house: House, store: Store, sql: Sql) -> None:
    await told_of(house, sql)
    await erase(store, private(ADA), {"words": "Zanzibarix"})
    assert (await sql("select count(*) from summary"))[0][0] == 0
    assert await sql("select summary_id from thread") == [(None,)]
    (due,) = await claim_summaries(store, 4)
    assert due.work.previous is None
    texts = [message.text for message in due.work.messages]
    assert "I also like tea" in texts
    assert not [text for text in texts if "anzibarix" in text]


async def test_a_kill_between_two_steps_loses_nothing(house: House, store: Store, sql: Sql, another: Any) -> None:
    await told_of(house, sql)
    shown = await store.erase_preview(private(ADA), {"words": "zanzibarix"}, ADA, False)
    assert shown is not None
    assert await store.erase_begin(shown.erasure_id, ADA, False)
    assert (await holding(sql, WORDS[0])).keys() >= {"message", "memory"}
    del store  # the process that began dies; another takes the oldest up
    while not (await another().erase_step() or FINISHED).done:
        pass
    assert await holding(sql, WORDS[0]) == {}
    assert await another().erase_step() is None
    assert await sql("select count(*) from job where kind = 'erasure'") == [(0,)]


async def test_an_erasure_that_was_begun_is_a_job_of_whoever_is_there(
    house: House, store: Store, sql: Sql, another: Any, tmp_path: Path
) -> None:
    await told_of(house, sql)
    shown = await store.erase_preview(private(ADA), {"words": "zanzibarix"}, ADA, False)
    assert shown is not None
    assert await store.erase_begin(shown.erasure_id, ADA, False)
    assert "erasure" in (await another().claim(BOT.id, 0))[1].owed
    (job,) = await store.claim_jobs("erasure", BOT.id, 1)
    await store.release()  # its process dies and starts anew
    messenger = FakeMessenger()
    kind = erasure_kind(another(), KeptFiles(tmp_path), messenger, BOT.id)
    assert await Runner(store, [kind], BOT.id).run_due("erasure") == 1
    assert await holding(sql, WORDS[0]) == {}
    assert [method for method, _ in messenger.calls] == ["deleteMessage"]
    assert await store.job("erasure", job.key) is None


async def test_a_preview_changes_nothing_and_is_forgotten(house: House, store: Store, sql: Sql) -> None:
    await told_of(house, sql)
    before = await holding(sql, WORDS[0])
    shown = await store.erase_preview(private(ADA), {"words": "zanzibarix"}, ADA, False)
    assert shown is not None
    await sql("update erasure set created_at = now() - interval '20 minutes'")
    await store.sweep_private(12)
    assert await sql("select count(*) from erasure") == [(0,)]
    assert not await store.erase_begin(shown.erasure_id, ADA, False)
    assert await store.erase_step() is None
    assert await store.erase_preview(private(ADA), {"words": "nothing like it"}, ADA, False) is None
    assert await holding(sql, WORDS[0]) == before


async def test_nobody_erases_what_is_anothers(house: House, store: Store, sql: Sql) -> None:
    await house.exchange(ADA, "I hid the zanzibarix", "Did you.", chat_id=GROUP, actions=[fact(ADA, "hid zanzibarix")])
    await house.exchange(BEN, "What zanzibarix?", "Ask Ada.", chat_id=GROUP)
    await house.exchange(BEN, "My own zanzibarix", "Fine.")
    mine = await store.erase_preview(group(), {"words": "zanzibarix"}, BEN, False)
    assert mine is not None
    assert (mine.counts.memories, mine.counts.messages) == (0, 1)
    assert not await store.erase_begin(mine.erasure_id, ADA, True), "what Ben was shown, Ben decides"
    await erase(store, group(), {"words": "zanzibarix"}, ADA, admin=True)
    held = await sql("select m.text from message m where m.text ilike '%%zanzibarix%%'")
    assert held == [("My own zanzibarix",)], "another space stays as it is"
    assert await store.erase_preview(private(BEN), {"words": "zanzibarix"}, ADA, True) is None


async def test_documents_and_older_wordings_go_too(house: House, store: Store, sql: Sql) -> None:
    turn = await house.turn(ADA, "read this")
    incoming = incoming_of(turn, "read this", private(ADA))
    row = replace(incoming, documents=documents("the zanzibarix stands on page two"))
    await store.begin(row, "model-1")
    await store.finish(row, reply("It has two pages."))
    await house.close(turn)
    await sql(
        "insert into message_version (message_id, text, blocks, untrusted)"
        " select id, 'zanzibarix once', '[]', false from message where role = 'assistant'"
    )
    shown = await erase(store, private(ADA), {"words": "zanzibarix"})
    assert shown.documents == ("birds.pdf",)
    assert await holding(sql, WORDS[0]) == {}


def documents(*parts: str) -> Sequence[Json]:
    return [
        {
            "unique_id": "u1",
            "name": "birds.pdf",
            "mime": "application/pdf",
            "kind": "PDF",
            "pages": 2,
            "parts": list(parts),
        }
    ]


async def test_what_is_left_of_a_memorys_words_is_told(house: House, store: Store) -> None:
    change = (await house.teach(ADA, "has a parrot called Zanzibarix"))[0]
    await house.exchange(ADA, "Zanzibarix sings", "How nice.")
    shown = await store.erase_preview(private(ADA), {"memory_id": change.memory_id}, ADA, False)
    assert shown is not None
    assert shown.left == (WordLeft("zanzibarix", 1),)


async def test_odd_words_are_looked_for_as_they_are(house: House, store: Store, sql: Sql) -> None:
    for text in ("it's o'neill-x9 here", "a back\\slash and c:\\dir", "100%_sure"):
        await house.exchange(ADA, text, "Yes.")
        await erase(store, private(ADA), {"words": text.split()[-1] if "slash" in text else text})
        assert await sql("select text from message where role = 'user'") in ([], [(text,)])
    await house.exchange(ADA, "it's o'neill-x9 here", "Yes.")
    await erase(store, private(ADA), {"words": "o'neill-x9"})
    assert await holding(sql, "neill") == {}
