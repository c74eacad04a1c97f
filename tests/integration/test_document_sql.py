"""Tests documents in the database: stored with their message, found only in their space, and read part by part."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest

from relay.conversation.tools.documents import AMBIGUOUS, NONE, OTHERS, UNKNOWN, read_document
from relay.core.models import Space
from relay.media.attachment_reader import MOST_KEPT
from relay.memory.claims import ClaimedTurn
from relay.memory.rows.search import SearchQuery
from relay.memory.store import Store
from tests.integration.conftest import Sql
from tests.integration.turn_driver import ADA, BEN, BOT, EVE, GROUP, TurnDriver, group, incoming_of, private, reply

Json = dict[str, Any]


def paper(name: str, *parts: str, unique_id: str = "") -> Json:
    return {
        "unique_id": unique_id or name,
        "name": name,
        "mime": "application/pdf",
        "kind": "PDF",
        "pages": 3,
        "parts": list(parts),
    }


async def send(driver: TurnDriver, user_id: int, *documents: Json, topic: int = 0, space: Space | None = None) -> None:
    """Sends documents in one message and closes the answered turn."""
    await driver.close(await answered(driver, user_id, *documents, topic=topic, space=space))


async def answered(
    driver: TurnDriver, user_id: int, *documents: Json, topic: int = 0, space: Space | None = None
) -> ClaimedTurn:
    """Returns an open turn with documents and an answer."""
    text = "\n".join(f"📄 {one['name']}" for one in documents)
    turn = await driver.turn(user_id, text, space.chat_id if space else None, topic)
    incoming = incoming_of(turn, text, space or private(user_id), untrusted=True)
    incoming = replace(incoming, documents=list(documents))
    await driver.store.begin(incoming, "model-1")
    await driver.store.begin(incoming, "model-1")
    await driver.store.finish(incoming, reply("Read.", tainted=True))
    return turn


async def read(
    store: Store, name: str, part: int = 1, space: Space | None = None, lent: Space | None = None, version: int = 0
) -> str:
    given = {"name": name, "part": part, "version": version}
    text, dirty = await read_document(store, space or private(ADA), lent)(given)
    assert dirty
    return text


async def test_a_document_is_read_part_by_part_by_some_words_of_its_name(driver: TurnDriver) -> None:
    assert await read(driver.store, "lease") == NONE
    await send(driver, ADA, paper("Lease of the flat.pdf", "Rent is 900.", "Notice is six weeks."))
    first = await read(driver.store, "LEASE")
    assert first.startswith('"Lease of the flat.pdf" (PDF, sent by Ada, ')
    assert first.endswith("UTC), part 1 of 2\n\nRent is 900.")
    assert (await read(driver.store, "lease of the flat.pdf", 2)).endswith("part 2 of 2\n\nNotice is six weeks.")
    assert (await read(driver.store, "lease", 3)).endswith("It has no such part.")
    assert await read(driver.store, "lease", space=private(BEN)) == NONE


async def test_several_documents_with_similar_names_are_distinguished(driver: TurnDriver) -> None:
    await send(driver, ADA, paper("lease.pdf", "old", unique_id="u1"))
    await send(driver, ADA, paper("Lease.pdf", "new", unique_id="u2"))
    await send(driver, ADA, paper("lease 100%_x.pdf", "third"), paper("will.pdf", "fourth"))
    found = await read(driver.store, "lease.pdf")
    assert "UTC, version 2 of 2), part 1 of 1\n" in found
    assert found.endswith("version 1 of 2)\n\nnew")
    assert (await read(driver.store, "lease.pdf", version=1)).endswith("version 2 of 2)\n\nold")
    assert (await read(driver.store, "lease.pdf", version=3)).startswith(AMBIGUOUS)
    assert (await read(driver.store, "100%_")).endswith("third")
    several = await read(driver.store, "lease")
    assert several.startswith(AMBIGUOUS)
    assert "will.pdf" not in several
    unknown = await read(driver.store, "trumpet")
    assert unknown.startswith(UNKNOWN)
    assert "will.pdf" in unknown
    assert (await read(driver.store, "")).startswith(UNKNOWN)


async def test_a_document_never_hides_another_of_the_same_name(driver: TurnDriver) -> None:
    await send(driver, ADA, paper("contract.pdf", "The rent is 900.", unique_id="u1"), space=group(GROUP))
    await send(driver, BEN, paper("Contract.pdf", "The rent is 9.", unique_id="u2"), space=group(GROUP))
    newest = await read(driver.store, "contract", space=group(GROUP))
    head, others, one, _, text = newest.split("\n")
    assert head.startswith('"Contract.pdf" (PDF, sent by Ben, ')
    assert others == OTHERS
    assert one.startswith('- "contract.pdf" (PDF, sent by Ada, ')
    assert one.endswith("version 1 of 2)")
    assert text == "The rent is 9."
    assert (await read(driver.store, "contract", space=group(GROUP), version=1)).endswith("The rent is 900.")


async def test_documents_follow_a_group_that_gets_another_id(driver: TurnDriver, sql: Sql) -> None:
    small = group(-77)
    await send(driver, ADA, paper("ours.pdf", "first words"), paper("both.pdf", "of old", unique_id="u"), space=small)
    await send(driver, BEN, paper("both.pdf", "of now", "and more", unique_id="u"), space=group(GROUP))
    await send(driver, BEN, paper("theirs.pdf", "other words"), space=group(GROUP))
    await driver.store.regroup(BOT.id, -77, GROUP)
    assert (await read(driver.store, "ours", space=group(GROUP))).endswith("first words")
    assert (await read(driver.store, "theirs", space=group(GROUP))).endswith("other words")
    assert await read(driver.store, "ours", space=small) == NONE
    assert await sql("select count(*) from document where unique_id = 'u'") == [(1,)]
    assert "of old" in await read(driver.store, "both", space=group(GROUP))
    assert await sql(
        "select count(*) from document_part p join document d on d.id = p.document_id where p.space_id <> d.space_id"
    ) == [(0,)]
    found = await driver.look_up(group(GROUP), "words")
    assert {row.document for row in found} == {"ours.pdf", "theirs.pdf"}


async def test_documents_from_a_lent_space_are_marked_untrusted(driver: TurnDriver) -> None:
    await send(driver, ADA, paper("lease.pdf", "The notice period is six weeks."))
    await send(driver, BEN, paper("secret.pdf", "The notice period is a secret of Ben."))
    await send(driver, EVE, paper("rules.pdf", "The notice period of the group."), space=group(GROUP), topic=3)
    asked = "what notice period is it?"
    turn = await driver.turn(ADA, asked, GROUP)
    for lent, name in ((private(ADA), "lease.pdf"), (None, "rules.pdf")):
        recalled = await driver.store.recall(incoming_of(turn, asked, group(GROUP)), lent)
        assert [(row.document, row.untrusted) for row in recalled] == [(name, True)]
    found = await driver.look_up(group(GROUP), "notice period")
    assert [(row.document, row.untrusted) for row in found] == [("rules.pdf", True)]


async def test_the_same_file_sent_again_is_one_document(driver: TurnDriver, sql: Sql) -> None:
    await send(driver, ADA, paper("a.pdf", "one", "two", "three", unique_id="u"))
    await send(driver, ADA, paper("b.pdf", "one", "other", unique_id="u"), topic=5)
    await send(driver, BEN, paper("a.pdf", "one", unique_id="u"))
    assert await sql("select name, d.parts, count(*) from document d join document_part p on p.document_id = d.id "
                     "group by d.id order by d.id") == [("b.pdf", 2, 2), ("a.pdf", 1, 1)]  # fmt: skip
    assert (await read(driver.store, "b.pdf", 2)).endswith("other")
    assert await sql("select topic_id from document d join message m on m.id = d.message_id "
                     "join thread t on t.id = m.thread_id where d.name = 'b.pdf'") == [(5,)]  # fmt: skip


async def test_a_reply_to_an_older_document_does_not_make_it_the_newest(driver: TurnDriver) -> None:
    old = paper("contract.pdf", "The rent is 900.", unique_id="u1")
    await send(driver, ADA, old, space=group(GROUP))
    await send(driver, ADA, paper("contract.pdf", "The rent is 950.", unique_id="u2"), space=group(GROUP))
    before = await read(driver.store, "contract", space=group(GROUP))
    await send(driver, BEN, old | {"replied": True}, space=group(GROUP))
    assert await read(driver.store, "contract", space=group(GROUP)) == before
    await send(driver, BEN, paper("new.pdf", "Unseen.") | {"replied": True}, space=group(GROUP))
    assert (await read(driver.store, "new", space=group(GROUP))).endswith("Unseen.")


async def test_search_and_recall_find_documents_only_in_their_space(driver: TurnDriver) -> None:
    await send(driver, ADA, paper("lease.pdf", "The rent.", "Notice period: six weeks before the quarter ends."))
    found = await driver.look_up(private(ADA), "notice period")
    assert [(row.document, row.part, row.parts, row.untrusted) for row in found] == [("lease.pdf", 2, 2, True)]
    assert found[0].snippet == "Notice period: six weeks before the quarter ends."
    asked = "what notice period did that contract say?"
    for user_id, topic, seen in ((ADA, 7, ["lease.pdf"]), (ADA, 0, []), (BEN, 0, [])):
        turn = await driver.turn(user_id, asked, topic_id=topic)
        recalled = await driver.store.recall(incoming_of(turn, asked, private(user_id)))
        assert [row.document for row in recalled] == seen
        await driver.close(turn)
    lent = await driver.store.recall(incoming_of(turn, asked, group(GROUP)), private(ADA))
    assert [row.document for row in lent] == ["lease.pdf"]


async def test_a_long_document_is_searched_at_once(driver: TurnDriver) -> None:
    parts = [f"Clause {number} is about gardens." for number in range(60)]
    await send(driver, ADA, paper("contract.pdf", *parts, "Notice period: six weeks before the quarter ends."))
    found = await driver.look_up(private(ADA), "notice period")
    assert (found[0].document, found[0].part) == ("contract.pdf", 61)


async def test_a_lent_space_is_read_if_the_own_space_has_no_such_document(driver: TurnDriver) -> None:
    await send(driver, ADA, paper("lease.pdf", "private words"))
    await send(driver, BEN, paper("rules.pdf", "of the group"), space=group(GROUP))
    assert "lease" not in await read(driver.store, "lease", space=group(GROUP))
    assert (await read(driver.store, "lease", space=group(GROUP), lent=private(ADA))).endswith("private words")
    assert (await read(driver.store, "rules", space=group(GROUP), lent=private(ADA))).endswith("of the group")


async def test_people_find_documents_and_open_the_matching_part(driver: TurnDriver) -> None:
    await driver.exchange(ADA, "nothing about it")
    await send(driver, ADA, paper("lease.pdf", "The rent.", "Notice period: six weeks."), topic=5)
    await driver.exchange(ADA, "period pieces", topic_id=5)
    query = SearchQuery("notice period")
    found = await driver.store.find(private(ADA), 77, query, 0, 6)
    assert (found.total, found.every) == (1, True)
    assert found.found[0].text == "📄 lease.pdf, part 2: \x02Notice\x03 \x02period\x03: six weeks."
    context = await driver.store.find_context(private(ADA), 77, query, found.found[0].id, "around", 3)
    assert context is not None
    assert context.messages[0].text.startswith("📄 lease.pdf, part 2: ")
    phrase = SearchQuery("", ("six weeks",))
    assert (await driver.store.find(private(ADA), 77, phrase, 0, 6)).total == 1
    assert (await driver.store.find(private(BEN), 77, query, 0, 6)).total == 0
    some = await driver.store.find(private(ADA), 77, SearchQuery("notice period trumpets"), 0, 6)
    assert not some.every
    assert "lease.pdf" in some.found[0].text, "the result with the most matching words must come first"


async def test_a_document_is_deleted_with_its_message(driver: TurnDriver, sql: Sql) -> None:
    await send(driver, ADA, paper("lease.pdf", "words"))
    await sql("delete from posted")
    await sql("delete from message where role = 'user'")
    assert await sql("select count(*) from document_part") == [(0,)]


@pytest.mark.slow("the other documents of this file")
async def test_the_largest_allowed_input_is_stored_in_time(driver: TurnDriver, sql: Sql) -> None:
    parts = [" ".join(f"word{number}x{n}" for n in range(450)) for number in range(MOST_KEPT // 4_600)]
    began = time.monotonic()
    turn = await answered(driver, ADA, paper("long.txt", *parts))
    took = time.monotonic() - began
    print("kept in", took)
    assert took < 8, "it must take less than Supabase's statement limit"
    assert (await read(driver.store, "long", len(parts))).endswith(parts[-1])
    assert await sql("select count(*) from entry where kind = 'part'") == [(0,)], "that many parts are indexed later"
    await driver.close(turn)
    while await driver.store.index_missing(1000):
        pass
    found = await driver.look_up(private(ADA), "word299x7", 1)
    assert (found[0].document, found[0].part) == ("long.txt", 300)
    assert await sql("select count(*) from index_due") == [(0,)]
    await sql("update session set private = true")
    assert await sql("select count(*) from entry where kind = 'part'") == [(0,)], "the entries must be removed at once"
    await sql("delete from document_part where part > 60")  # enough to be indexed later, too
    await sql("update session set private = false")
    while await driver.store.index_missing(1000):
        pass
    assert await sql("select count(*) from entry where kind = 'part'") == [(60,)]
