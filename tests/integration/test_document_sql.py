"""Documents in the database: kept with their message, found in their space alone, read part by part."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from relay.memory.store import Store
from relay.models import Space
from relay.reading import AMBIGUOUS, NONE, UNKNOWN, read_document
from tests.integration.conftest import Sql
from tests.integration.house import ADA, BEN, GROUP, House, group, incoming_of, private, reply

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


async def send(house: House, user_id: int, *documents: Json, topic: int = 0, space: Space | None = None) -> int:
    """Somebody sends documents in one message; returns the id of their space."""
    text = "\n".join(f"📄 {one['name']}" for one in documents)
    turn = await house.turn(user_id, text, space.chat_id if space else None, topic)
    incoming = incoming_of(turn, text, space or private(user_id), untrusted=True)
    incoming = replace(incoming, documents=list(documents))
    await house.store.begin(incoming, "model-1")
    context = await house.store.begin(incoming, "model-1")
    await house.store.finish(incoming, reply("Read.", tainted=True))
    await house.close(turn)
    return context.space_id


async def read(store: Store, name: str, part: int = 1, space: Space | None = None, lent: Space | None = None) -> str:
    text, dirty = await read_document(store, space or private(ADA), lent)({"name": name, "part": part})
    assert dirty
    return text


async def test_a_document_is_read_part_by_part_by_some_of_its_name(house: House) -> None:
    assert await read(house.store, "lease") == NONE
    await send(house, ADA, paper("Lease of the flat.pdf", "Rent is 900.", "Notice is six weeks."))
    first = await read(house.store, "LEASE")
    assert first.startswith("Lease of the flat.pdf (PDF, sent ")
    assert first.endswith("part 1 of 2:\n\nRent is 900.")
    assert (await read(house.store, "lease of the flat.pdf", 2)).endswith("part 2 of 2:\n\nNotice is six weeks.")
    assert (await read(house.store, "lease", 3)).endswith("it has no such part.")
    assert await read(house.store, "lease", space=private(BEN)) == NONE


async def test_several_documents_of_a_name_are_told_apart(house: House) -> None:
    await send(house, ADA, paper("lease.pdf", "old", unique_id="u1"))
    await send(house, ADA, paper("Lease.pdf", "new", unique_id="u2"))
    await send(house, ADA, paper("lease 100%_x.pdf", "third"), paper("will.pdf", "fourth"))
    found = await read(house.store, "lease.pdf")
    assert found.endswith("the newest of 2 of this name:\n\nnew")
    assert (await read(house.store, "100%_")).endswith("third")
    several = await read(house.store, "lease")
    assert several.startswith(AMBIGUOUS)
    assert "will.pdf" not in several
    unknown = await read(house.store, "trumpet")
    assert unknown.startswith(UNKNOWN)
    assert "will.pdf" in unknown
    assert (await read(house.store, "")).startswith(UNKNOWN)


async def test_the_same_file_again_is_one_document(house: House, sql: Sql) -> None:
    await send(house, ADA, paper("a.pdf", "one", "two", "three", unique_id="u"))
    await send(house, ADA, paper("b.pdf", "one", "other", unique_id="u"), topic=5)
    await send(house, BEN, paper("a.pdf", "one", unique_id="u"))
    assert await sql("select name, d.parts, count(*) from document d join document_part p on p.document_id = d.id "
                     "group by d.id order by d.id") == [("b.pdf", 2, 2), ("a.pdf", 1, 1)]  # fmt: skip
    assert (await read(house.store, "b.pdf", 2)).endswith("other")
    assert await sql("select topic_id from document d join message m on m.id = d.message_id "
                     "join thread t on t.id = m.thread_id where d.name = 'b.pdf'") == [(5,)]  # fmt: skip


async def test_search_and_recall_find_what_stands_in_documents_of_the_space_alone(house: House) -> None:
    own = await send(house, ADA, paper("lease.pdf", "The rent.", "Notice period: six weeks before the quarter ends."))
    found = await house.store.search_history(own, "notice period", 5, None, None)
    assert [(row["document"], row["part"], row["parts"], row["untrusted"]) for row in found] == [
        ("lease.pdf", 2, 2, True)
    ]
    assert found[0]["snippet"] == "Notice period: six weeks before the quarter ends."
    asked = "what notice period did that contract say?"
    for user_id, topic, seen in ((ADA, 7, ["lease.pdf"]), (ADA, 0, []), (BEN, 0, [])):
        turn = await house.turn(user_id, asked, topic_id=topic)
        recalled = await house.store.recall(incoming_of(turn, asked, private(user_id)))
        assert [row.get("document") for row in recalled] == seen
        await house.close(turn)
    lent = await house.store.recall(incoming_of(turn, asked, group(GROUP)), private(ADA))
    assert [row["document"] for row in lent] == ["lease.pdf"]


async def test_a_lent_space_is_read_where_the_own_one_has_no_such_document(house: House) -> None:
    await send(house, ADA, paper("lease.pdf", "private words"))
    await send(house, BEN, paper("rules.pdf", "of the group"), space=group(GROUP))
    assert "lease" not in await read(house.store, "lease", space=group(GROUP))
    assert (await read(house.store, "lease", space=group(GROUP), lent=private(ADA))).endswith("private words")
    assert (await read(house.store, "rules", space=group(GROUP), lent=private(ADA))).endswith("of the group")


async def test_what_is_looked_for_is_found_in_documents_and_opened(house: House) -> None:
    await house.exchange(ADA, "nothing about it")
    await send(house, ADA, paper("lease.pdf", "The rent.", "Notice period: six weeks."), topic=5)
    await house.exchange(ADA, "period pieces", topic_id=5)
    query: Json = {"words": "notice period", "phrases": [], "by": None, "here": None, "places": []}
    query |= {"since": None, "until": None}
    found = await house.store.find(private(ADA), 77, query, 0, 6)
    assert (found["total"], found["every"]) == (1, True)
    assert found["found"][0]["text"] == "📄 lease.pdf, part 2: \x02Notice\x03 \x02period\x03: six weeks."
    context = await house.store.found_context(private(ADA), 77, query, found["found"][0]["id"], "around", 3)
    assert context is not None
    assert context["messages"][0]["text"].startswith("📄 lease.pdf, part 2: ")
    phrase = query | {"words": "", "phrases": ["six weeks"]}
    assert (await house.store.find(private(ADA), 77, phrase, 0, 6))["total"] == 1
    assert (await house.store.find(private(BEN), 77, query, 0, 6))["total"] == 0
    some = await house.store.find(private(ADA), 77, query | {"words": "notice period trumpets"}, 0, 6)
    assert not some["every"]
    assert "lease.pdf" in some["found"][0]["text"], "what has most of the words comes first"


async def test_a_document_goes_with_its_message(house: House, sql: Sql) -> None:
    await send(house, ADA, paper("lease.pdf", "words"))
    await sql("delete from posted")
    await sql("delete from message where role = 'user'")
    assert await sql("select count(*) from document_part") == [(0,)]


async def test_a_long_document_is_kept_in_time(house: House) -> None:
    parts = [" ".join(f"word{number}x{n}" for n in range(600)) for number in range(400)]
    own = await send(house, ADA, paper("long.txt", *parts[:200]), paper("longer.txt", *parts))
    assert (await read(house.store, "longer", 400)).endswith(parts[399])
    found = await house.store.search_history(own, "word399x7", 1, None, None)
    assert (found[0]["document"], found[0]["part"]) == ("longer.txt", 400)
