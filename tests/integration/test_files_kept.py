"""Tests stored copies of files: unused copies are deleted, and copies that a message refers to stay."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from relay.clients.kept_files import KeptFiles
from relay.core.errors import MediaRefused
from relay.core.models import Attachment, ModelRequest
from relay.media.files import Files
from relay.media.reading import FileContents, Reader, report_refusal
from relay.memory.erasure import remove_files
from relay.memory.store import Store
from tests.integration.conftest import Server, Sql
from tests.integration.dump import holding
from tests.integration.inside import Inside, inside
from tests.integration.test_erase_sql import erase
from tests.integration.test_find_sql import find
from tests.integration.turn_driver import ADA, TurnDriver, message, private
from tests.standins.telegram import Upload

Json = dict[str, Any]


class Opening:
    """Fetches a file and waits until it may be read. A file with the content `broken` is refused."""

    def __init__(self, keeper: KeptFiles) -> None:
        self.keeper = keeper
        self.files: Files | None = None
        self.open, self.holds = asyncio.Event(), asyncio.Event()

    async def read(self, attachment: Attachment) -> FileContents:
        """See `reading.Kind.read`."""
        assert self.files is not None
        async with self.files.open(attachment) as content:
            self.holds.set()
            await self.open.wait()
            if content == b"broken":
                return report_refusal(attachment, MediaRefused("It's damaged."))
            text = {"type": "text", "text": content.decode(), "file": asdict(attachment)}
            return FileContents([text], content.decode())


@pytest.fixture
def opening(tmp_path: Path) -> Opening:
    return Opening(KeptFiles(tmp_path / "media"))


@pytest.fixture
async def relay(embedded: Server, opening: Opening) -> AsyncIterator[Inside]:
    def answers(request: ModelRequest) -> list[Json]:
        return [{"type": "text", "text": "Noted."}]

    reader = Reader(opening, opening, opening)
    async with inside(embedded, answers, frozenset(), frozenset([ADA]), reader) as opened:
        opening.files = Files(opened.wire, 1000, opening.keeper)
        yield opened


def kept(keeper: KeptFiles) -> int:
    """Returns the number of stored files."""
    return sum(path.is_file() for path in keeper._folder.rglob("*"))


async def test_the_file_of_an_unusable_message_is_deleted(relay: Inside, opening: Opening) -> None:
    chat = relay.tg.dm(relay.tg.user(ADA, "Ada"))
    opening.open.set()
    await relay.tg.say(chat, None, document=Upload(b"broken", "a.pdf"))
    await relay.settled()
    assert kept(opening.keeper) == 1
    await remove_files(relay.store, opening.keeper)
    assert kept(opening.keeper) == 0
    assert await relay.sql("select * from file_gone") == []


async def test_a_file_stopped_while_it_is_read_is_deleted(relay: Inside, opening: Opening) -> None:
    chat = relay.tg.dm(relay.tg.user(ADA, "Ada"))
    await relay.tg.say(chat, None, document=Upload(b"fine", "a.txt"))
    await opening.holds.wait()
    await relay.tg.say(chat, None, "/stop")
    await relay.settled()
    assert await relay.sql("select count(*) from message") == [(0,)]
    assert kept(opening.keeper) == 1
    await remove_files(relay.store, opening.keeper)
    assert kept(opening.keeper) == 0


async def test_a_file_that_a_message_refers_to_is_kept_after_a_stop(relay: Inside, opening: Opening) -> None:
    chat = relay.tg.dm(relay.tg.user(ADA, "Ada"))
    opening.open.set()
    first = await relay.tg.say(chat, None, document=Upload(b"fine", "a.txt"))
    await relay.settled()
    opening.open.clear()
    opening.holds.clear()
    await relay.tg.say(chat, None, document=Upload(b"other", "b.txt"), reply_to=first)
    await opening.holds.wait()
    await relay.tg.say(chat, None, "/stop")
    await relay.settled()
    await remove_files(relay.store, opening.keeper)
    ((unique_id,),) = await relay.sql("select blocks #>> '{0,file,unique_id}' from message where role = 'user'")
    assert await opening.keeper.get(unique_id) == b"fine"
    assert kept(opening.keeper) == 1
    assert await relay.sql("select * from file_gone") == []


async def test_the_file_of_a_turn_set_aside_before_it_began_is_deleted(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    update = message(ADA, "")
    update["message"] |= {"document": {"file_id": "f", "file_unique_id": "AgADone"}}
    (turn,) = await driver.say(update)
    assert await store.fail(turn, "trouble", 60) is False
    assert await store.files_gone() == []
    await sql("update turn set failures = 2, not_before = now()")
    (turn,) = await driver.claim()
    assert await store.fail(turn, "trouble", 60) is True
    assert await store.files_gone() == ["AgADone"]
    assert await store.files_gone(["AgADone"]) == []


async def with_file(driver: TurnDriver, sql: Sql, unique_id: str, text: str, say: str = "look") -> int:
    """Returns the id of an answered message with a file."""
    done = await driver.exchange(ADA, say, "I see.")
    blocks = [{"type": "text", "text": text, "untrusted": "document", "file": {"unique_id": unique_id}}]
    await sql("update message set blocks = %s::jsonb where id = %s", json.dumps(blocks), done.context.message_id)
    assert done.context.message_id is not None
    return done.context.message_id


async def reworded(sql: Sql, message_id: int, text: str = "now it is tea") -> None:
    """Gives a message another text, without its file. The old text is kept as an older wording."""
    await sql(
        "insert into message_version (message_id, text, blocks, untrusted)"
        " select id, text, blocks, untrusted from message where id = %s",
        message_id,
    )
    blocks = json.dumps([{"type": "text", "text": text}])
    await sql("update message set text = %s, blocks = %s::jsonb where id = %s", text, blocks, message_id)


async def test_a_file_with_erased_words_is_deleted_while_its_message_stays(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await driver.exchange(ADA, "the zanzibarix", "A bird.")
    await with_file(driver, sql, "AgADone", "a zanzibarix on every page")
    await with_file(driver, sql, "AgADother", "tea on every page")
    await erase(store, private(ADA), {"words": "zanzibarix"})
    assert await store.files_gone() == ["AgADone"]


async def test_all_messages_that_show_a_file_with_erased_words_are_erased(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    said = [
        await with_file(driver, sql, unique_id, "", say="look") for unique_id in ("AgADone", "AgADone", "AgADother")
    ]
    for message_id, unique_id in zip(said[1:], ("AgADone", "AgADother"), strict=True):
        page = {"unique_id": unique_id, "name": "a.pdf", "mime": "", "kind": "PDF", "pages": 1}
        words = ["a zanzibarix on every page" if unique_id == "AgADone" else "tea on every page"]
        await sql("select relay.keep_documents(id, space_id, %s::jsonb) from message where id = %s",
                  json.dumps([page | {"parts": words}]), message_id)  # fmt: skip
    await store.index_missing(50)
    await erase(store, private(ADA), {"words": "zanzibarix"})
    assert await sql("select id from message where role = 'user'") == [(said[2],)]
    assert await store.files_gone() == ["AgADone"]


async def album(driver: TurnDriver, sql: Sql, caption: str, files: dict[str, str | None]) -> int:
    """Returns the id of an answered message with several files: names and what they say; None: a recording, which says
    its name."""
    said = await with_file(driver, sql, "", "")
    blocks: list[Json] = [{"type": "text", "text": caption}]
    lines = [caption]
    for place, (name, text) in enumerate(files.items()):
        file = {"unique_id": f"AgAD{place}", "name": name if text is not None else ""}
        if text is None:
            blocks.append({"type": "text", "text": name, "file": file, "heard": {}})
            lines.append(name)
            continue
        blocks.append({"type": "document", "from": name, "file": file})
        lines.append(f"📄 {name}")
        page = {"unique_id": f"AgAD{place}", "name": name, "mime": "", "kind": "PDF", "pages": 1, "parts": [text]}
        await sql("select relay.keep_documents(id, space_id, %s::jsonb) from message where id = %s",
                  json.dumps([page]), said)  # fmt: skip
    await sql(
        "update message set text = %s, blocks = %s::jsonb where id = %s", "\n".join(lines), json.dumps(blocks), said
    )
    await driver.store.index_missing(50)
    return said


@pytest.mark.parametrize(
    ("caption", "files", "left"),
    [
        ("Read these", {"one.pdf": "a zanzibarix on it", "two.pdf": "tea"}, "Read these\n📄 two.pdf"),
        ("Read", {"one.pdf": "tea", "zanzibarix.pdf": "a bird", "two.pdf": "tea"}, "Read\n📄 one.pdf\n📄 two.pdf"),
        ("Hear these", {"the zanzibarix\nsings": None, "tea for two": None}, "Hear these\ntea for two"),
        ("The zanzibarix", {"one.pdf": "a zanzibarix", "two.pdf": "tea"}, None),
        ("Read these", {"one.pdf": "a zanzibarix", "two.pdf": "the Zanzibarix"}, None),
    ],
)  # fmt: skip
async def test_a_message_keeps_its_other_files(
    driver: TurnDriver, store: Store, sql: Sql, caption: str, files: dict[str, str | None], left: str | None
) -> None:
    said = await album(driver, sql, caption, files)
    gone = [name for name, text in files.items() if left is None or "anzibarix" in f"{name} {text}"]
    shown = await erase(store, private(ADA), {"words": "zanzibarix"})
    assert shown.documents == tuple(name for name in files if name in gone and files[name] is not None)
    assert (shown.counts.messages, len(shown.messages)) == ((0, 0) if left else (1, 1))
    assert await sql("select text from message where id = %s", said) == ([(left,)] if left else [])
    assert await sql("select name from document order by id") == [
        (name,) for name, text in files.items() if name not in gone and text is not None
    ]
    assert await store.files_gone() == [f"AgAD{place}" for place, name in enumerate(files) if name in gone]
    assert await holding(sql, "zanzibarix") == {}
    if left:
        page = await find(driver, left.splitlines()[-1].removeprefix("📄 "))
        assert [row.id for row in page.found if row.kind == "message"] == [said]


async def test_a_message_that_taught_an_erased_memory_goes_with_all_its_files(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    said = await album(driver, sql, "This is him", {"one.pdf": "a parrot called zanzibarix", "two.pdf": "tea"})
    (change,) = await driver.teach(ADA, "has a parrot called Zanzibarix")
    await sql("update memory set evidence = array[%s::bigint]", said)
    shown = await erase(store, private(ADA), {"memory_id": change.memory_id})
    assert shown.documents == ("one.pdf", "two.pdf")
    assert await sql("select id from message where id = %s", said) == []


async def test_files_of_older_wordings_are_deleted_with_their_message(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    said = await with_file(driver, sql, "AgADone", "tea on every page")
    await reworded(sql, said, "the zanzibarix")
    await erase(store, private(ADA), {"words": "zanzibarix"})
    assert await store.files_gone() == ["AgADone"]


async def test_the_file_of_an_erased_older_wording_is_deleted(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await driver.exchange(ADA, "the zanzibarix", "A bird.")
    for unique_id, words in (("AgADone", "a zanzibarix on every page"), ("AgADother", "tea on every page")):
        await reworded(sql, await with_file(driver, sql, unique_id, words))
    await erase(store, private(ADA), {"words": "zanzibarix"})
    assert await store.files_gone() == ["AgADone"]


async def test_an_erased_file_is_kept_while_another_message_or_wording_refers_to_it(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    for unique_id in ("AgADone", "AgADtwo", "AgADthree"):
        await with_file(driver, sql, unique_id, "a page", say="the zanzibarix")
    await with_file(driver, sql, "AgADone", "a page")
    await reworded(sql, await with_file(driver, sql, "AgADtwo", "a page"), "look again")
    await erase(store, private(ADA), {"words": "zanzibarix"})
    assert await store.files_gone() == ["AgADthree"]
    await erase(store, private(ADA), {"words": "look"})
    assert await store.files_gone() == ["AgADone", "AgADthree", "AgADtwo"]
