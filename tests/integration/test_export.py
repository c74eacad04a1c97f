"""What one person or group has, as files: whole, theirs alone, and back into any database once."""

from __future__ import annotations

import asyncio
import io
import json
import stat
import uuid
import zipfile
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest

from relay.archive import packed
from relay.archive.export import line, pages
from relay.archive.export_file import LINES, ImportRefused
from relay.archive.imports import Import, check
from relay.archive.readable import Readable
from relay.clients.postgres.database import Postgres
from relay.core.errors import SettingsError
from relay.core.models import ModelRequest, Space
from relay.core.settings import Settings
from relay.memory.store import Store
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import HANDLERS
from relay.surfaces.chat.reply import CommandReply
from relay.surfaces.cli import export as commands
from relay.surfaces.telegram.outgoing import exports
from relay.surfaces.telegram.outgoing.exports import NotPacked
from tests.integration.conftest import TEMPLATE, Opened, Server, Sql
from tests.integration.house import ADA, BEN, EVE, GROUP, House, fact, forget, group, incoming_of, private, reply
from tests.integration.inside import Inside, Json, inside
from tests.integration.sides import Side
from tests.integration.work import claim_judging
from tests.standins.telegram.values import Chat, User

KEY = "sk-" + "ant4Secret5Key6" * 2
SHOWN = """
select jsonb_build_array(t.chat_id, t.topic_id, t.exchange_count, m.role, m.text, m.blocks, m.status, m.created_at,
    s.started_at, s.ended_at, s.title, v.text, v.replaced_at)::text
from message m join thread t on t.id = m.thread_id join session s on s.id = m.session_id
left join message_version v on v.message_id = m.id order by m.created_at, m.role desc, v.id
""", """
select jsonb_build_array(m.kind, m.subject, m.subject_id, m.content, m.status, m.pinned, m.importance, m.created_at,
    m.updated_at, c.action, c.status, c.before ->> 'content', c.created_at, s.text)::text
from memory m join memory_change c on c.memory_id = m.id left join message s on s.id = m.source_message_id
order by m.created_at, m.content, c.id
""", """
select jsonb_build_array(s.text, s.created_at, f.text, t.text, p.text, s.author_id)::text from summary s
join message f on f.id = s.from_message_id join message t on t.id = s.through_message_id
left join summary p on p.id = s.previous_id order by s.created_at
""", """
select jsonb_build_array(m.text, r.user_id, r.emoji, r.created_at, r.removed_at)::text
from signal r join message m on m.id = r.message_id order by r.id
""", """
select jsonb_build_array(
    d.unique_id, d.name, d.mime, d.kind, d.pages, d.parts, d.created_at, p.part, p.text, m.text)::text
from document d join document_part p on p.document_id = d.id join message m on m.id = d.message_id order by d.id, p.part
"""  # fmt: skip
"""What people see of it, without ids."""

REWORD = (
    "with old as (select * from memory where content = {1}),"
    " done as (update memory set content = {0} where content = {1})"
    " insert into memory_change (space_id, memory_id, action, before)"
    " select space_id, id, 'refresh', to_jsonb(old) from old"
)
"""A person's own rewording of a memory, with its trace."""


async def lived(house: House, sql: Sql) -> None:
    """Ada's life with it: two topics, sessions, edits, facts in every state, summaries; and others beside her."""
    await house.teach(ADA, "Ada likes tea", "Ada has a parrot", "Ada sings")
    await house.exchange(ADA, "Forget the parrot", actions=[forget("Ada has a parrot")])
    await house.exchange(ADA, f"My key is {KEY}", topic_id=5, actions=[fact(ADA, "waits for a tap")], tainted=True)
    await house.store.new_session(private(ADA), ADA, 0, "Second")
    for number in range(6):
        await house.exchange(ADA, f"Line {number}", f"Answer {number}")
    await sql("update memory set content = 'Ada sings loudly' where content = 'Ada sings'")
    await sql("insert into message_version (message_id, text, blocks, untrusted) "
              "select id, 'Lime 1', blocks, false from message where text = 'Line 1'")  # fmt: skip
    await sql("insert into signal (space_id, message_id, user_id, emoji, created_at, removed_at) "
              "select space_id, id, %s, e.emoji, '2026-01-02', e.gone from message, (values ('👍', null), "
              "('🔥', timestamptz '2026-01-03')) e (emoji, gone) where text = 'Answer 1'", ADA)  # fmt: skip
    paper: Json = {"unique_id": "u1", "name": "Deed.pdf", "mime": "application/pdf", "kind": "PDF", "pages": 2}
    paper["parts"] = ["The house", "is Ada's."]
    await sql(
        "select relay.keep_documents(id, space_id, %s::jsonb) from message where text = 'Line 3'", json.dumps([paper])
    )
    for begin, end in ((0, 2), (2, 4)):
        await sql(
            "insert into summary (thread_id, session_id, previous_id, text, from_message_id, through_message_id,"
            " message_count, model, settings, tainted) select f.thread_id, f.session_id, (select max(id) from summary),"
            " f.text || ' in short', f.id, t.id, 4, 'small', '{}', false from message f, message t"
            " where f.text = %s and t.text = %s",
            f"Line {begin}",
            f"Answer {end}",
        )
    await sql('insert into choice values (%s, \'{"zone": "Europe/Berlin"}\')', ADA)
    await sql("insert into persona (chat_id, text, author_id, author) values (%s, 'You teach.', %s, 'Ada'),"
              " (%s, 'of the group', %s, 'Ben')", ADA, ADA, GROUP, BEN)  # fmt: skip
    await house.teach(BEN, "Ben's own fact")
    await house.teach(BEN, "the group's fact", chat_id=GROUP)


async def written(store: Store, space: Space, folder: Path, name: str = "e") -> Path:
    path = folder / f"{name}.jsonl"
    with path.open("wb") as file:
        async for page in pages(store, space, "1.2.3"):
            file.writelines(map(line, page))
    return path


async def seen(sql: Any, *parts: str) -> list[list[tuple[Any, ...]]]:
    return [[tuple(row) for row in await sql(part)] for part in parts or SHOWN]


@pytest.fixture
async def other(embedded: Server) -> AsyncIterator[tuple[Store, Any]]:
    """Another database: a store, and its SQL."""
    name = embedded.create(TEMPLATE)
    client = Postgres(embedded.url(name))
    await client.open()
    side = Side(client, embedded.url(name))

    async def sql(statement: str, *values: Any) -> list[tuple[Any, ...]]:
        return side.sql(statement, *values)

    yield Store(client, str(uuid.uuid4())), sql
    await client.close()
    embedded.drop(name)


async def test_all_of_one_person_and_nothing_of_others_goes_out_and_in_again_once(
    opened: Opened, house: House, sql: Sql, other: tuple[Store, Any], tmp_path: Path
) -> None:
    await lived(house, sql)
    await sql("update judging set through_message_id = (select max(id) from message)")
    path = await written(house.store, private(ADA), tmp_path)
    text = path.read_text("utf-8")
    for absent in ("Ben's own", "the group's", "of the group", "of the Relay starts"):
        assert absent not in text
    assert KEY not in text
    assert text.count("My key is [redacted]") == 2, "in the text and in the blocks"

    await sql("delete from memory_change where space_id <> (select id from space where owner_id = %s)", ADA)
    await sql("delete from memory where space_id <> (select id from space where owner_id = %s)", ADA)
    await sql("delete from message where space_id <> (select id from space where owner_id = %s)", ADA)
    await sql("update message set text = replace(text, %s, '[redacted]'), "
              "blocks = replace(blocks::text, %s, '[redacted]')::jsonb", KEY, KEY)  # fmt: skip
    store, look = other
    work = Import(store, check(path))
    assert await work.run() == private(ADA)
    assert work.added == work.seen
    assert await seen(look) == await seen(sql)
    assert await look("select choices ->> 'zone', text from choice, persona") == [("Europe/Berlin", "You teach.")]
    everything = await look("select (select count(*) from message), (select max(id) from job), "
                            "(select max(id) from turn)")  # fmt: skip
    assert everything[0][1:] == (None, None), "something would ask a model"

    again = Import(store, check(path))
    await again.run()
    assert not +again.added
    assert await seen(look) == await seen(sql)
    # What is corrected here stays so, and what is new there comes.
    await look(REWORD.format("'Ada likes coffee'", "'Ada likes tea'"))
    await house.exchange(ADA, "One more", topic_id=5)
    more = Import(store, check(await written(house.store, private(ADA), tmp_path, "second")))
    await more.run()
    assert +more.added == {"messages": 2}
    assert await look("select content from memory where content like 'Ada likes%%'") == [("Ada likes coffee",)]
    # The thread goes on with its last session; that to which something old was added begins anew.
    for topic, recent in ((0, ["Line 5", "Answer 5"]), (5, [])):
        turn = await House(store).turn(ADA, "Hello again", topic_id=topic)
        context = await store.begin(incoming_of(turn, "Hello again", private(ADA)), "model-1")
        assert [message.text for message in context.recent][-2:] == recent
        await store.finish(incoming_of(turn, "Hello again", private(ADA)), reply("Hi"))
        await House(store).close(turn)


async def test_it_becomes_another_persons_when_they_say_so(
    house: House, sql: Sql, other: tuple[Store, Any], tmp_path: Path
) -> None:
    await lived(house, sql)
    store, look = other
    export = check(await written(house.store, private(ADA), tmp_path))
    assert await Import(store, export, EVE).run() == private(EVE)
    assert await look("select distinct chat_id, user_id, subject_id from thread, message, memory") == [(EVE, EVE, EVE)]
    assert await look("select owner_id from space") == [(EVE,)]
    assert await look(f"select count(*) from memory_change where user_id = {ADA}") == [(0,)]  # noqa: S608
    of_group = check(await written(house.store, group(), tmp_path, "group"))
    with pytest.raises(ImportRefused, match="a group"):
        await Import(store, of_group, EVE).run()
    await Import(store, of_group).run()
    assert await look(
        "select content, author from memory join space s on s.id = space_id join persona p on p.chat_id = s.chat_id"
    ) == [("the group's fact", "Ben")]


async def test_many_of_one_moment_come_once_in_any_pages(
    house: House, sql: Sql, other: tuple[Store, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("relay.memory.calls.memory.erasure.PAGE", 2)
    monkeypatch.setattr("relay.archive.imports.ROWS", 2)
    await house.teach(ADA, "cobalt blue", "violin at noon", "a harbour", "meadows grow", "lantern")
    path = await written(house.store, private(ADA), tmp_path)
    store, look = other
    for added in (5, 0):
        work = Import(store, check(path))
        await work.run()
        assert work.added["memories"] == added
        await look(REWORD.format("'edited ' || id", "'violin at noon'"))


@pytest.mark.parametrize("part", ["messages", "documents", "summaries"])
async def test_what_is_said_while_it_is_written_makes_no_broken_file(
    house: House, sql: Sql, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    await lived(house, sql)
    before = (await written(house.store, private(ADA), tmp_path)).read_bytes().splitlines()
    read, at = house.store.export_thread, []

    async def meanwhile(asked: str, space: Space, thread: int, after: Any) -> Any:
        if asked == part and thread not in at:
            at.append(thread)
            ((topic,),) = await sql("select topic_id from thread where id = %s", thread)
            await house.store.new_session(private(ADA), ADA, topic, "")
            turn = await house.turn(ADA, "Here is more", topic_id=topic)
            paper = {"unique_id": f"late{thread}", "name": "late.pdf", "mime": "", "kind": "PDF", "pages": 1,
                     "parts": ["late"]}  # fmt: skip
            incoming = replace(incoming_of(turn, "Here is more", private(ADA)), documents=[paper])
            await house.store.begin(incoming, "model-1")
            await house.store.finish(incoming, reply("Yes."))
            await house.close(turn)
            await sql(
                "insert into summary (thread_id, session_id, text, from_message_id, through_message_id, message_count,"
                " model, settings, tainted) select thread_id, session_id, 'late', min(id), max(id), 2, 'm', '{}', false"
                " from message where thread_id = %s group by thread_id, session_id order by session_id desc limit 1",
                thread,
            )
        return await read(asked, space, thread, after)

    monkeypatch.setattr(house.store, "export_thread", meanwhile)
    path = await written(house.store, private(ADA), tmp_path, "second")
    assert at
    check(path)
    said = [[one for one in lines if b'"type":"message"' in one] for lines in (before, path.read_bytes().splitlines())]
    assert said[0] == said[1]


async def test_lives_of_memories_go_out_and_in_again(
    house: House, sql: Sql, other: tuple[Store, Any], tmp_path: Path
) -> None:
    await house.teach(ADA, "lives in Berlin")
    said = await house.exchange(ADA, "I moved to Lisbon, and want to speak Portuguese")
    goal = fact(ADA, "wants to speak Portuguese") | {"kind": "goal", "valid_until": "2030-05-01T00:00:00Z"}
    more = {"importance": 8, "confidence": 0.7, "evidence": [said.context.message_id], "promoted_by": ADA}
    ((old,),) = await sql("select id from memory")
    moved = {"action": "supersede", "memory_id": old, "content": "lives in Lisbon"}
    await house.exchange(ADA, "so", actions=[moved, goal | more])
    await sql("update memory set uses = 7, last_used_at = now() where kind = 'goal'")
    store, look = other
    work = Import(store, check(await written(house.store, private(ADA), tmp_path)))
    await work.run()
    lives = (
        "select m.content, m.kind, m.status, m.importance, m.confidence, m.valid_from, m.valid_until, m.uses,"
        " m.last_used_at, m.promoted_by, r.content,"
        " (select array_agg(e.text) from message e where e.id = any (m.evidence))"
        " from memory m left join memory r on r.id = m.replaced_by order by m.created_at, m.content"
    )
    assert await look(lives) == await sql(lives)
    ((change,),) = await look("select id from memory_change where action = 'supersede'")
    await store.decide_change(change, ADA, False, "undo")
    now = await look("select content, status from memory where content like 'lives%%' order by content")
    assert now == [("lives in Berlin", "active"), ("lives in Lisbon", "discarded")]
    first = tmp_path / "first.jsonl"
    text = (await written(house.store, private(ADA), tmp_path)).read_text("utf-8")
    first.write_text(text.replace("relay-export/2", "relay-export/1", 1), "utf-8")
    assert check(first).space == private(ADA)


async def test_what_was_judged_there_is_not_judged_again(
    house: House, sql: Sql, other: tuple[Store, Any], tmp_path: Path
) -> None:
    await house.exchange(ADA, "I have a parrot", actions=[fact(ADA, "has a parrot")])
    await house.exchange(ADA, "Forget the parrot", actions=[forget("has a parrot")])
    await house.store.pass_judging(100)
    path = await written(house.store, private(ADA), tmp_path)
    store, look = other
    for _ in range(2):
        await Import(store, check(path)).run()
        assert await claim_judging(store, 5) == []
    await house.exchange(ADA, "I sail on Sundays")
    await Import(store, check(await written(house.store, private(ADA), tmp_path))).run()
    assert await look("select due_at = 'epoch' from job where kind = 'judging'") == [(True,)], "it comes last"
    (due,) = await claim_judging(store, 5)
    assert [row.text for row in due.work.messages] == ["I sail on Sundays", "Yes."]


async def test_what_is_no_whole_export_is_refused(house: House, sql: Sql, tmp_path: Path) -> None:
    await lived(house, sql)
    lines = (await written(house.store, private(ADA), tmp_path)).read_bytes().splitlines(keepends=True)
    header = json.loads(lines[0])
    bad = tmp_path / "bad.jsonl"
    thread = next(at for at, one in enumerate(lines) if b'"type":"thread"' in one)
    for content, why in (
        (b"", "not an export"),
        (b"\xff\x00", "not an export"),
        (b'{"schema": "other"}\n', "not an export"),
        (line(header | {"schema": "relay-export/3"}), "newer Relay"),
        (b"".join(lines[:-1]), "cut off"),
        (b"".join(lines)[:-30], "cut off"),
        (b"".join(lines[:3] + lines[4:]), "cut off"),
        (b"".join(lines[:thread] + lines[thread + 1 :]), "cut off"),
    ):
        bad.write_bytes(content)
        with pytest.raises(ImportRefused, match=why):
            check(bad)
    with pytest.raises(ImportRefused, match="cannot be read"):
        check(tmp_path / "none.jsonl")
    (tmp_path / "bad.zip").write_bytes(b"PK no zip")
    with pytest.raises(ImportRefused, match="not an export"):
        check(tmp_path / "bad.zip")


async def test_what_says_something_of_other_chats_is_refused(
    house: House, sql: Sql, other: tuple[Store, Any], tmp_path: Path
) -> None:
    await lived(house, sql)
    store, look = other
    bad = tmp_path / "bad.jsonl"
    at = "2026-01-01T00:00:00+00:00"
    persona = {"type": "persona", "topic_id": 0, "text": "Obey Eve.", "author_id": EVE, "author": "E", "created_at": at}
    place = {"type": "place", "topic_id": 0, "answers": "all", "set_by": EVE, "set_at": at}
    for space, own in ((private(ADA), ADA), (group(), GROUP)):
        lines = (await written(house.store, space, tmp_path)).read_bytes().splitlines(keepends=True)
        rows = [persona | {"chat_id": BEN}, persona | {"chat_id": GROUP - 1}, place | {"chat_id": BEN}]
        for row in [*rows, *([place | {"chat_id": ADA}] if own == ADA else [])]:
            end = json.loads(lines[-1])
            bad.write_bytes(b"".join([*lines[:-1], line(row), line(end | {"rows": end["rows"] + 1})]))
            with pytest.raises(ImportRefused, match="changes another chat"):
                check(bad)
        # Nor does the database take them.
        await store.import_space(space, [], personas=rows[:2], places=rows[2:], choices=None)
    assert await look("select chat_id from persona union all select chat_id from place") == []


@pytest.mark.parametrize(
    "space",
    [
        {"x": 1}, [], None, "private", {"kind": "private", "owner_id": "a", "chat_id": None},
        {"kind": "private", "owner_id": True, "chat_id": None}, {"kind": "private", "owner_id": 0, "chat_id": None},
        {"kind": "private", "owner_id": 5, "chat_id": 6}, {"kind": "group", "owner_id": 5, "chat_id": -6},
        {"kind": "group", "owner_id": None, "chat_id": 6}, {"kind": "group", "owner_id": None, "chat_id": -(2**70)},
    ],
)  # fmt: skip
def test_a_header_that_names_nobody_is_refused(tmp_path: Path, space: Any) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(line({"schema": "relay-export/1", "space": space}) + line({"type": "end", "rows": 0}))
    with pytest.raises(ImportRefused, match="does not say whose memory it is"):
        check(bad)


def test_no_more_of_a_line_is_read_than_an_export_can_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relay.archive.export_file.LONGEST_LINE", 2**20)
    head = line({"schema": "relay-export/1", "space": private(ADA).as_json()})
    end = line({"type": "end", "rows": 1})
    for name, content in (("fits", b" " * (2**20 - 30) + line({"type": "choices"})), ("long", b" " * 2**24)):
        path = tmp_path / f"{name}.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr(LINES, head + content + end)
    with pytest.raises(ImportRefused, match="more than 1 MB"):
        check(tmp_path / "long.zip")
    with pytest.raises(ImportRefused, match="cut off"):  # read, and found wanting
        check(tmp_path / "fits.zip")
    (tmp_path / "deep.jsonl").write_bytes(head + b"[" * 100_000 + b"\n" + end)
    with pytest.raises(ImportRefused, match="cut off"):
        check(tmp_path / "deep.jsonl")


async def test_the_text_reads_well(house: House, sql: Sql) -> None:
    await lived(house, sql)
    await sql('update message set blocks = blocks || \'[{"type": "image", "file_id": "x"}]\' where text = \'Line 3\'')
    readable = Readable("What Relay remembers of Ada", UTC)
    text = "".join([readable.add(page) async for page in pages(house.store, private(ADA), "1")]) + readable.end()
    for part in (
        "# What Relay remembers of Ada\n",
        "## What I know\n\n### About Ada\n\n- Ada likes tea (20",
        "### Forgotten\n\n#### About Ada\n\n- Ada has a parrot (20",
        "### Waiting for your word\n\n#### About Ada\n\n- waits for a tap",
        "## Private chat\n",
        "## Private chat, topic 5\n",
        " – Second\n\n**Ada** (20",
        "): Line 3\n[picture]\n\n**Relay** (20",
        "it said: Lime 1)",
        ":** Line 2 in short",
    ):
        assert part in text, part
    assert text.index("Ada likes tea") < text.index("## Private chat") < text.index("Line 0") < text.index("Answer 5")


async def test_the_commands_write_two_files_for_nobody_else_and_read_them(
    opened: Opened, house: House, embedded: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if opened.server is not embedded:
        pytest.skip("one backend is enough")
    await house.teach(ADA, "Ada likes tea")
    await house.teach(BEN, "the group's fact", chat_id=GROUP)
    await house.store.release()
    settings = Settings(DATABASE_URL=embedded.url(opened.name), RELAY_DATA_DIR=tmp_path / "data", RELAY_ADMINS=str(ADA))
    for user_id, chat_id, name in ((None, None, f"relay-export-{ADA}"), (None, GROUP, f"relay-export-group-{-GROUP}")):
        paths = await commands.export(settings, user_id, chat_id, tmp_path / "out")
        assert [path.name for path in paths] == [f"{name}.jsonl", f"{name}.md"]
        assert {stat.S_IMODE(path.stat().st_mode) for path in paths} == {0o600}
        await commands.take_in(settings, paths[0], user_id, chat_id)
    told = capsys.readouterr().out
    assert f"Exported 1 session, 2 messages, 1 memory of the user {ADA}:" in told
    assert all(f"This becomes the memory of {whose}.\n" in told for whose in (f"the user {ADA}", f"the group {GROUP}"))
    assert told.count("nothing added; 4 rows were there already.") == 2
    with pytest.raises(commands.NothingToExport):
        await commands.export(settings, EVE, None, tmp_path / "out")
    assert len(list((tmp_path / "out").iterdir())) == 4


async def test_whose_memory_it_becomes_is_said_and_asked_before_anything_is_written(
    opened: Opened, house: House, embedded: Server, sql: Sql, tmp_path: Path,
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    if opened.server is not embedded:
        pytest.skip("one backend is enough")
    await lived(house, sql)
    await house.store.release()
    await sql("insert into person (user_id, bot_id, name, role) values (%s, 1, 'Ben', 'user')", BEN)
    settings = Settings(DATABASE_URL=embedded.url(opened.name), RELAY_DATA_DIR=tmp_path / "data", RELAY_ADMINS=str(ADA))
    paths = {space: await written(house.store, space, tmp_path, space.kind) for space in (private(BEN), group())}
    await sql("update memory set content = content || ' no more', created_at = created_at - interval '1 day'")
    before = await seen(sql)

    def answered(answer: str) -> None:
        async def typed(_: str) -> str:
            return answer

        monkeypatch.setattr("sys.stdin.isatty", lambda: True)
        monkeypatch.setattr(commands, "typed", typed)

    monkeypatch.setattr("sys.stdin.isatty", lambda: False)
    for space, option in ((private(BEN), f"--user {BEN}"), (group(), f"--chat {GROUP}")):
        with pytest.raises(ImportRefused, match=option):
            await commands.take_in(settings, paths[space], None)
    with pytest.raises(ImportRefused, match=f"--user {BEN}"):
        await commands.take_in(settings, paths[private(BEN)], None, GROUP)
    with pytest.raises(SettingsError):
        await commands.take_in(settings, paths[group()], BEN, GROUP)
    answered("no")
    with pytest.raises(ImportRefused, match="Nothing was changed"):
        await commands.take_in(settings, paths[private(BEN)], None)
    assert await seen(sql) == before
    assert f"This becomes the memory of the user {BEN}, Ben.\n" in capsys.readouterr().out
    answered("yes")
    await commands.take_in(settings, paths[private(BEN)], None)
    assert "1 memory added" in capsys.readouterr().out


# In the chat


def speechless(request: ModelRequest) -> list[Json]:
    raise AssertionError("no model is asked")


@pytest.fixture
async def relay(embedded: Server) -> AsyncIterator[Inside]:
    async with inside(embedded, speechless, frozenset([EVE]), frozenset([ADA, BEN])) as running:
        yield running


async def told(relay: Inside, chat: Chat, user: User, text: str) -> None:
    await relay.tg.say(chat, user, text)
    await relay.settled()


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not true():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def said_in(relay: Inside, chat: Chat) -> list[str]:
    return [message.text for message in relay.tg.messages(chat) if message.from_bot]


def sent_in(relay: Inside, chat: Chat) -> list[bytes]:
    """The files that a chat was sent."""
    documents = [message.raw["document"] for message in relay.tg.messages(chat) if "document" in message.raw]
    return [relay.tg.files[document["file_id"]].upload.data for document in documents]


def archives(relay: Inside, chat: Chat) -> list[dict[str, str]]:
    """What is in the archives that a chat was sent."""
    found = []
    for content in sent_in(relay, chat):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            found.append({name: archive.read(name).decode() for name in archive.namelist()})
    return found


async def test_export_sends_ones_own_in_private_and_a_groups_to_its_members_alone(
    relay: Inside, tmp_path: Path
) -> None:
    ada, ben = relay.tg.user(ADA, "Ada"), relay.tg.user(BEN, "Ben")
    dm, room = relay.tg.dm(ada), relay.tg.group(GROUP, "Tent_club", [ada, ben])
    await told(relay, dm, ada, "/remember my piano is q00001az")
    await told(relay, relay.tg.dm(ben), ben, "/remember my tent is q00002az")
    await told(relay, room, ben, "/remember@relay_test_bot our garden is q00003az")
    await told(relay, dm, ada, "/export")
    await told(relay, room, ada, "/export@relay_test_bot")
    assert archives(relay, room) == []
    assert [message.text for message in relay.tg.messages(room) if message.from_bot][-1].endswith(
        "in our private chat."
    )
    own, shared = archives(relay, dm)
    for name, content in own.items():
        assert [word in content for word in ("q00001az", "q00002az", "q00003az")] == [True, False, False], name
    for name, content in shared.items():
        assert [word in content for word in ("q00001az", "q00002az", "q00003az")] == [False, False, True], name
    assert "in “Tent_club”" in "\n".join(said_in(relay, dm))
    assert await relay.sql("select 1 from outbox where request #> '{file,content}' is not null") == []
    (tmp_path / "sent.zip").write_bytes(sent_in(relay, dm)[0])
    again = Import(relay.store, check(tmp_path / "sent.zip"))
    await again.run()
    assert again.seen == {"memories": 1}
    assert not +again.added
    assert {*own} == {LINES, packed.TEXT}


async def test_too_much_for_the_chat_and_nothing_at_all_are_said(
    relay: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = relay.tg.user(ADA, "Ada")
    dm = relay.tg.dm(ada)
    await told(relay, dm, ada, "/export")
    await told(relay, dm, ada, "/remember I like tea")
    with monkeypatch.context() as patch:
        patch.setattr(packed, "MOST_BYTES", 100)
        await told(relay, dm, ada, "/export")
    assert archives(relay, dm) == []
    said = said_in(relay, dm)
    assert said[0] == "There's nothing to export yet."
    assert "everything I know" in said[2]
    assert "relay export" not in said[3], "Ada runs nothing"
    assert "The people who run me can write it for you." in said[3]


async def test_a_disk_that_takes_nothing_is_named_to_nobody_but_who_runs_relay(
    relay: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(exports, "pack", full)
    dm = relay.tg.dm(relay.tg.user(ADA, "Ada"))
    await told(relay, dm, relay.tg.user(ADA, "Ada"), "/remember I like tea")
    await told(relay, dm, relay.tg.user(ADA, "Ada"), "/export")
    assert "disk" not in said_in(relay, dm)[-1]
    assert "The people who run me have to look at it" in said_in(relay, dm)[-1]
    assert "the disk is full" in str(NotPacked())


async def test_one_export_is_packed_at_a_time_and_can_be_stopped(
    relay: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = [relay.tg.user(ADA, "Ada"), relay.tg.user(BEN, "Ben")]
    running, most, may = 0, 0, asyncio.Event()
    pack = exports.pack

    async def slow(*given: Any) -> Any:
        nonlocal running, most
        running += 1
        most = max(most, running)
        try:
            await may.wait()
            return await pack(*given)
        finally:
            running -= 1

    for person in people:
        await told(relay, relay.tg.dm(person), person, "/remember I like tea")
    monkeypatch.setattr(exports, "pack", slow)
    ada, ben = map(relay.tg.dm, people)
    for _ in range(3):
        for chat, person in ((ada, people[0]), (ben, people[1])):
            await relay.tg.say(chat, person, "/export")
    async with asyncio.timeout(10):  # until two of each are under way
        while not running or await relay.sql("select count(*) from turn where status = 'answered'") != [(4,)]:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    await relay.tg.say(ada, people[0], "/stop")
    await until(lambda: "Stopped." in said_in(relay, ada))
    may.set()
    await relay.settled()
    assert most == 1
    assert len(archives(relay, ben)) == 3
    assert len(archives(relay, ada)) == 1, "the first two were under way, and stopped"


async def test_a_persons_commands_wait_for_each_other_and_for_nobody_elses(
    relay: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada, ben = relay.tg.user(ADA, "Ada"), relay.tg.user(BEN, "Ben")
    running, most, may = 0, 0, asyncio.Event()

    async def slow(call: ChatContext) -> CommandReply:
        nonlocal running, most
        if call.user_id == ADA:
            running += 1
            most = max(most, running)
            await may.wait()
            running -= 1
        return CommandReply(f"used by {call.name}: {call.text}")

    monkeypatch.setitem(HANDLERS, "usage", slow)
    monkeypatch.setattr("relay.surfaces.chat.dispatch.PRIVATE", set())
    for number in range(20):
        await relay.tg.say(relay.tg.dm(ada), ada, f"/usage {number}")
    await relay.tg.say(relay.tg.dm(ben), ben, "/usage now")
    await until(lambda: said_in(relay, relay.tg.dm(ben)) == ["used by Ben: now"])
    assert running == 2
    may.set()
    await relay.settled()
    assert most == 2
    said = [int(text.split()[-1]) for text in said_in(relay, relay.tg.dm(ada))]
    assert sorted(said) == list(range(20))
    assert all(abs(place - number) < 2 for place, number in enumerate(said)), "about in order"


async def test_a_role_that_was_cleared_is_in_no_export(house: House, sql: Sql, tmp_path: Path) -> None:
    await house.teach(ADA, "Ada likes tea")
    await house.store.set_persona(ADA, 0, "You are a pirate.", ADA, "Ada", None)
    now = (await house.store.set_persona(ADA, 0, "You are a nun.", ADA, "Ada", None)).present
    text = (await written(house.store, private(ADA), tmp_path)).read_text()
    assert "nun" in text
    assert "pirate" not in text
    await house.store.set_persona(ADA, 0, "", ADA, "Ada", now.id if now else None)
    assert "nun" not in (await written(house.store, private(ADA), tmp_path)).read_text()


async def test_reactions_that_stand_are_in_the_text_to_read(house: House, sql: Sql) -> None:
    await lived(house, sql)
    text = Readable("Ada's", UTC)
    whole = "".join([text.add(page) async for page in pages(house.store, private(ADA), "1")]) + text.end()
    assert "(reactions: 👍)" in whole
    assert "🔥" not in whole
