"""Tests exports of a person or group: complete, without others' data, and imported into any database once."""

from __future__ import annotations

import asyncio
import io
import json
import re
import stat
import uuid
import zipfile
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from relay.archive import packed
from relay.archive.export import line, pages
from relay.archive.export_file import LINES, ImportRefused
from relay.archive.imports import Import, check
from relay.archive.readable.text import Readable
from relay.clients.postgres.database import Postgres
from relay.core.errors import SettingsError
from relay.core.models import Space
from relay.core.settings import Settings
from relay.memory.store import Store
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import HANDLERS
from relay.surfaces.chat.reply import CommandReply
from relay.surfaces.cli import export as commands
from relay.surfaces.telegram.outgoing import exports
from relay.surfaces.telegram.outgoing.exports import NotPacked
from tests.integration.conftest import TEMPLATE, Opened, Server, Sql
from tests.integration.inside import Inside, Json, inside, speechless
from tests.integration.library import add_marker, add_version
from tests.integration.sides import Side
from tests.integration.turn_driver import (
    ADA,
    BEN,
    EVE,
    GROUP,
    TurnDriver,
    dm,
    fact,
    forget,
    group,
    incoming_of,
    private,
    reply,
)
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
select jsonb_build_array(m.text, r.user_id, r.emoji, r.created_at, r.removed_at, r.telegram_message_id)::text
from signal r join message m on m.id = r.message_id order by r.id
""", """
select jsonb_build_array(s.title, s.topics, s.registered_at, s.last_accessed_at, k.content, k.weight, k.context,
    k.removed_at, m.text)::text
from session s join keepit k on k.session_id = s.id join message m on m.id = k.message_id
order by s.started_at, k.id
""", """
select jsonb_build_array(c.name, c.number, c.settings, c.output_tokens, c.ratio, c.keepit, c.status, c.created_at,
    c.rows #> '{0,text}', f.text, k.content, o.name, e.survived, e.threshold, array(
        select m.text from message m where 'message:' || m.id = any (c.inputs) order by m.id))::text
from compression c join session s on s.id = c.session_id left join compression o on o.id = c.source_id
left join message f on f.id = (c.rows #>> '{0,from}')::bigint
left join keepit k on k.id = (c.rows #>> '{0,keepit}')::bigint
left join compression_keepit e on e.compression_id = c.id and e.keepit_id = k.id
where c.status = 'ready' order by c.created_at
""", """
select jsonb_build_array(c.name, c.budget, c.status, c.total_tokens, c.rows #> '{0,text}', p.place, p.version, p.tokens,
    v.name, s.started_at, u.used_at, n.started_at, c.inputs && array['version:' || v.id])::text
from composition c join composition_part p on p.composition_id = c.id join session s on s.id = p.session_id
left join compression v on v.id = p.compression_id
left join composition_use u on u.composition_id = c.id left join session n on n.id = u.session_id
where c.deleted_at is null order by c.created_at, p.place
""", """
select jsonb_build_array(l.reason, l.linked_at, s.started_at, t.topic_id, c.settings)::text
from session_link l join session s on s.id = l.source_session_id join thread t on t.id = l.target_thread_id
left join context_setting c on c.space_id = l.space_id order by 1
""", """
select jsonb_build_array(
    d.unique_id, d.name, d.mime, d.kind, d.pages, d.parts, d.created_at, p.part, p.text, m.text)::text
from document d join document_part p on p.document_id = d.id join message m on m.id = d.message_id order by d.id, p.part
"""  # fmt: skip
"""What people see of the data, without ids."""

REWORD = (
    "with old as (select * from memory where content = {1}),"
    " done as (update memory set content = {0} where content = {1})"
    " insert into memory_change (space_id, memory_id, action, before)"
    " select space_id, id, 'refresh', to_jsonb(old) from old"
)
"""A person rewords a memory, which leaves a change."""


async def lived(driver: TurnDriver, sql: Sql) -> None:
    """Ada's history: two topics, sessions, edits, facts in every state, summaries. Other people have data too."""
    await driver.teach(ADA, "Ada likes tea", "Ada has a parrot", "Ada sings")
    await driver.exchange(ADA, "Forget the parrot", actions=[forget("Ada has a parrot")])
    await driver.exchange(ADA, f"My key is {KEY}", topic_id=5, actions=[fact(ADA, "waits for a tap")], tainted=True)
    await driver.store.new_session(dm(ADA), "Second")
    for number in range(6):
        await driver.exchange(ADA, f"Line {number}", f"Answer {number}")
    await sql("update memory set content = 'Ada sings loudly' where content = 'Ada sings'")
    await sql("insert into message_version (message_id, text, blocks, untrusted) "
              "select id, 'Lime 1', blocks, false from message where text = 'Line 1'")  # fmt: skip
    await sql("insert into signal (space_id, message_id, user_id, emoji, created_at, removed_at, telegram_message_id) "
              "select space_id, id, %s, e.emoji, '2026-01-02', e.gone, e.part from message, (values ('👍', null, 7), "
              "('👍', null, 8), ('🔥', timestamptz '2026-01-03', null)) e (emoji, gone, part) "
              "where text = 'Answer 1'", ADA)  # fmt: skip
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
    await composed(sql)
    await sql('insert into choice values (%s, \'{"zone": "Europe/Berlin"}\')', ADA)
    await sql("insert into persona (chat_id, text, author_id, author) values (%s, 'You teach.', %s, 'Ada'),"
              " (%s, 'of the group', %s, 'Ben')", ADA, ADA, GROUP, BEN)  # fmt: skip
    await driver.teach(BEN, "Ben's own fact")
    await driver.teach(BEN, "the group's fact", chat_id=GROUP)


CONTEXTS = (
    "update session set registered_at = now(), last_accessed_at = now(), topics = array['tea', 'songs'] where"
    " title = 'Second'",
    "insert into keepit (space_id, thread_id, session_id, message_id, seq, weight, content, block, start_at, end_at,"
    " context, origin, user_id, removed_at) select space_id, thread_id, session_id, id, n, 0.80, text, 0, 0, 9, text,"
    " 'text', user_id, case n when 1 then now() end from message, generate_series(0, 1) n where text = 'Line 2'",
    "insert into compression (space_id, thread_id, session_id, number, name, settings, inputs, output_tokens,"
    " ratio, rows,"
    " keepit, status, created_by) select m.space_id, m.thread_id, m.session_id, 1, 'v001_tiered-standard_10k',"
    " '{\"mode\": \"tiered\"}', array['message:' || m.id], 10234, 9.8,"
    " jsonb_build_array(jsonb_build_object('role', 'user',"
    " 'text', k.content, 'from', m.id, 'through', m.id, 'keepit', k.id)), '{\"preserved\": 1}', 'ready', m.user_id"
    " from message m join keepit k on k.message_id = m.id and k.seq = 0",
    "insert into compression (space_id, thread_id, session_id, number, name, settings, source_id, inputs, rows, status,"
    " created_by, created_at) select space_id, thread_id, session_id, 2, 'v002_uniform-aggressive_3k', settings, id,"
    " inputs || ('version:' || id), rows, 'ready', created_by, created_at + interval '1 second' from compression",
    "insert into compression (space_id, thread_id, session_id, number, name, settings, created_by) select space_id,"
    " thread_id, session_id, 3, 'v003', settings, created_by from compression where number = 1",
    "insert into compression_keepit select c.id, k.id, 0.80, 0.650, true from compression c, keepit k"
    " where c.number = 1 and k.seq = 0",
    "insert into composition (space_id, thread_id, session_id, name, budget, inputs, rows, status,"
    " total_tokens, created_by)"
    " select space_id, thread_id, session_id, 'Tea and songs', 16000, inputs || ('version:' || id), rows,"
    " 'ready', 9000,"
    " created_by from compression where number = 2",
    "insert into composition_part (composition_id, place, session_id, compression_id, version, tokens)"
    " select c.id, n, c.session_id, case n when 0 then v.id end, case n when 0 then v.name else 'original' end, 4500"
    " from composition c, compression v, generate_series(0, 1) n where v.number = 2",
    "insert into composition_use (session_id, composition_id) select session_id, id from composition",
    "insert into session_link (source_session_id, target_thread_id, space_id, reason, linked_by) select"
    " c.session_id, t.id,"
    " t.space_id, 'the same songs', c.created_by from composition c, thread t where t.topic_id = 5",
    "insert into context_setting (space_id, settings)"
    ' select space_id, \'{"defaults": {"model": "big"}}\' from composition',
)
"""Adds a marker of Ada's, versions and a composition made from it, and an unfinished version."""


async def composed(sql: Sql) -> None:
    for statement in CONTEXTS:
        await sql(statement)


async def written(store: Store, space: Space, folder: Path, name: str = "e") -> Path:
    path = folder / f"{name}.jsonl"
    with path.open("wb") as file:
        async for page in pages(store, space, "1.2.3"):
            file.writelines(map(line, page))
    return path


async def seen(sql: Any, *parts: str) -> list[list[tuple[Any, ...]]]:
    return [[tuple(row) for row in await sql(part)] for part in parts or SHOWN]


async def test_colliding_version_numbers_and_names_are_changed_on_import(
    driver: TurnDriver, sql: Sql, other: tuple[Store, Any], tmp_path: Path
) -> None:
    await lived(driver, sql)
    store, look = other
    await Import(store, check(await written(driver.store, private(ADA), tmp_path))).run()
    await look("update compression set created_at = created_at - interval '1 day'")
    await look("update composition set created_at = created_at - interval '1 day'")
    more = Import(store, check(await written(driver.store, private(ADA), tmp_path, "second")))
    await more.run()
    assert +more.added == {"versions": 2, "compositions": 1}
    names = await look("select name from compression order by id")
    assert [name for (name,) in names] == [
        "v001_tiered-standard_10k", "v002_uniform-aggressive_3k", "v003_tiered-standard_10k",
        "v004_uniform-aggressive_3k",
    ]  # fmt: skip
    assert await look("select name from composition order by id") == [("Tea and songs",), ("Tea and songs 2",)]


async def test_text_redacted_in_messages_is_redacted_in_quotes_of_them(
    driver: TurnDriver, sql: Sql, tmp_path: Path
) -> None:
    await lived(driver, sql)
    await sql("update keepit set content = %s", f"My key is {KEY}")
    await sql("update compression set rows = jsonb_set(rows, '{0,text}', to_jsonb(%s::text))", f"My key is {KEY}")
    text = (await written(driver.store, private(ADA), tmp_path)).read_text("utf-8")
    assert KEY not in text
    assert text.count("My key is [redacted]") == 6


async def test_only_the_valid_settings_of_an_altered_file_are_imported(
    driver: TurnDriver, sql: Sql, other: tuple[Store, Any], tmp_path: Path
) -> None:
    await lived(driver, sql)
    wrong = {
        "defaults": {"model": "big", "oddity": 1},
        "storage": [],
        "keepitDecay": {"pinnedWeight": "much", "maxSessionDistance": 0},
    }
    await sql("update context_setting set settings = %s::jsonb", json.dumps(wrong))
    store, look = other
    await Import(store, check(await written(driver.store, private(ADA), tmp_path))).run()
    assert await look("select settings from context_setting") == [({"defaults": {"model": "big"}, "keepitDecay": {}},)]


@pytest.fixture
async def other(embedded: Server) -> AsyncIterator[tuple[Store, Any]]:
    """Another database: its store and its SQL."""
    name = embedded.create(TEMPLATE)
    client = Postgres(embedded.url(name))
    await client.open()
    yield Store(client, str(uuid.uuid4())), Side(client, embedded.url(name)).run
    await client.close()
    embedded.drop(name)


async def test_an_export_has_everything_of_one_person_only_and_is_imported_once(
    opened: Opened, driver: TurnDriver, sql: Sql, other: tuple[Store, Any], tmp_path: Path
) -> None:
    await lived(driver, sql)
    await sql("update judging set through_message_id = (select max(id) from message)")
    path = await written(driver.store, private(ADA), tmp_path)
    text = path.read_text("utf-8")
    for absent in ("Ben's own", "the group's", "of the group", "of the Relay starts"):
        assert absent not in text
    assert KEY not in text
    assert text.count("My key is [redacted]") == 2, "the key must be redacted in the text and in the blocks"

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
    # What was corrected here stays corrected, and what is new in the export is added.
    await look(REWORD.format("'Ada likes coffee'", "'Ada likes tea'"))
    await driver.exchange(ADA, "One more", topic_id=5)
    more = Import(store, check(await written(driver.store, private(ADA), tmp_path, "second")))
    await more.run()
    assert +more.added == {"messages": 2}
    assert await look("select content from memory where content like 'Ada likes%%'") == [("Ada likes coffee",)]
    # A thread goes on with its last session. If something old was added to it, a new session begins.
    for topic, recent in ((0, ["Line 5", "Answer 5"]), (5, [])):
        turn = await TurnDriver(store).turn(ADA, "Hello again", topic_id=topic)
        context = await store.begin(incoming_of(turn, "Hello again", private(ADA)), "model-1")
        assert [message.text for message in context.recent][-2:] == recent
        await store.finish(incoming_of(turn, "Hello again", private(ADA)), reply("Hi"))
        await TurnDriver(store).close(turn)


async def test_an_import_can_be_assigned_to_another_person(
    driver: TurnDriver, sql: Sql, other: tuple[Store, Any], tmp_path: Path
) -> None:
    await lived(driver, sql)
    store, look = other
    export = check(await written(driver.store, private(ADA), tmp_path))
    assert await Import(store, export, EVE).run() == private(EVE)
    assert await look("select distinct chat_id, user_id, subject_id from thread, message, memory") == [(EVE, EVE, EVE)]
    assert await look("select owner_id from space") == [(EVE,)]
    assert await look(f"select count(*) from memory_change where user_id = {ADA}") == [(0,)]  # noqa: S608
    [(owners,)] = await look(
        "select array(select user_id from keepit union select created_by from compression"
        " union select created_by from composition union select linked_by from session_link)"
    )
    assert owners == [EVE]
    of_group = check(await written(driver.store, group(), tmp_path, "group"))
    with pytest.raises(ImportRefused, match="a group"):
        await Import(store, of_group, EVE).run()
    await Import(store, of_group).run()
    assert await look(
        "select content, author from memory join space s on s.id = space_id join persona p on p.chat_id = s.chat_id"
    ) == [("the group's fact", "Ben")]


async def test_rows_of_the_same_moment_are_exported_once_over_any_pages(
    driver: TurnDriver, sql: Sql, other: tuple[Store, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("relay.memory.calls.memory.erasure.PAGE", 2)
    monkeypatch.setattr("relay.archive.imports.ROWS", 2)
    await driver.teach(ADA, "cobalt blue", "violin at noon", "a harbour", "meadows grow", "lantern")
    path = await written(driver.store, private(ADA), tmp_path)
    store, look = other
    for added in (5, 0):
        work = Import(store, check(path))
        await work.run()
        assert work.added["memories"] == added
        await look(REWORD.format("'edited ' || id", "'violin at noon'"))


@pytest.mark.parametrize("part", ["messages", "documents", "summaries"])
async def test_messages_said_during_an_export_do_not_break_the_file(
    driver: TurnDriver, sql: Sql, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    await lived(driver, sql)
    before = (await written(driver.store, private(ADA), tmp_path)).read_bytes().splitlines()
    read, at = driver.store.export_rows, []

    async def meanwhile(asked: str, space: Space, after: Any, thread_id: int | None = None) -> Any:
        thread = thread_id
        if asked == part and thread not in at:
            at.append(thread)
            ((topic,),) = await sql("select topic_id from thread where id = %s", thread)
            await driver.store.new_session(dm(ADA, topic), "")
            turn = await driver.turn(ADA, "Here is more", topic_id=topic)
            paper = {"unique_id": f"late{thread}", "name": "late.pdf", "mime": "", "kind": "PDF", "pages": 1,
                     "parts": ["late"]}  # fmt: skip
            incoming = replace(incoming_of(turn, "Here is more", private(ADA)), documents=[paper])
            await driver.store.begin(incoming, "model-1")
            await driver.store.finish(incoming, reply("Yes."))
            await driver.close(turn)
            await sql(
                "insert into summary (thread_id, session_id, text, from_message_id, through_message_id, message_count,"
                " model, settings, tainted) select thread_id, session_id, 'late', min(id), max(id), 2, 'm', '{}', false"
                " from message where thread_id = %s group by thread_id, session_id order by session_id desc limit 1",
                thread,
            )
        return await read(asked, space, after, thread)

    monkeypatch.setattr(driver.store, "export_rows", meanwhile)
    path = await written(driver.store, private(ADA), tmp_path, "second")
    assert at
    check(path)
    said = [[one for one in lines if b'"type":"message"' in one] for lines in (before, path.read_bytes().splitlines())]
    assert said[0] == said[1]


async def test_the_history_of_memories_is_exported_and_imported(
    driver: TurnDriver, sql: Sql, other: tuple[Store, Any], tmp_path: Path
) -> None:
    await driver.teach(ADA, "lives in Berlin")
    said = await driver.exchange(ADA, "I moved to Lisbon, and want to speak Portuguese")
    goal = fact(ADA, "wants to speak Portuguese") | {
        "kind": "goal",
        "valid_until": "2030-05-01T00:00:00Z",
        "exact_at": "2030-04-30T14:00:00Z",
    }
    more = {"importance": 8, "confidence": 0.7, "evidence": [said.context.message_id], "promoted_by": ADA}
    ((old,),) = await sql("select id from memory")
    moved = {"action": "supersede", "memory_id": old, "content": "lives in Lisbon"}
    await driver.exchange(ADA, "so", actions=[moved, goal | more])
    await sql("update memory set uses = 7, last_used_at = now(), recalled_at = now() where kind = 'goal'")
    store, look = other
    work = Import(store, check(await written(driver.store, private(ADA), tmp_path)))
    await work.run()
    lives = (
        "select m.content, m.kind, m.status, m.importance, m.confidence, m.valid_from, m.valid_until,"
        " m.exact_at, m.uses, m.last_used_at, m.recalled_at, m.promoted_by, r.content,"
        " (select array_agg(e.text) from message e where e.id = any (m.evidence))"
        " from memory m left join memory r on r.id = m.replaced_by order by m.created_at, m.content"
    )
    assert await look(lives) == await sql(lives)
    ((change,),) = await look("select id from memory_change where action = 'supersede'")
    await store.decide_change(change, ADA, False, "undo")
    now = await look("select content, status from memory where content like 'lives%%' order by content")
    assert now == [("lives in Berlin", "active"), ("lives in Lisbon", "discarded")]
    first = tmp_path / "first.jsonl"
    text = (await written(driver.store, private(ADA), tmp_path)).read_text("utf-8")
    first.write_text(text.replace("relay-export/3", "relay-export/1", 1), "utf-8")
    assert check(first).space == private(ADA)


async def test_messages_judged_before_the_export_are_not_judged_again(
    driver: TurnDriver, sql: Sql, other: tuple[Store, Any], tmp_path: Path
) -> None:
    await driver.exchange(ADA, "I have a parrot", actions=[fact(ADA, "has a parrot")])
    await driver.exchange(ADA, "Forget the parrot", actions=[forget("has a parrot")])
    await driver.store.pass_judging(100)
    path = await written(driver.store, private(ADA), tmp_path)
    store, look = other
    for _ in range(2):
        await Import(store, check(path)).run()
        assert await claim_judging(store, 5) == []
    await driver.exchange(ADA, "I sail on Sundays")
    await Import(store, check(await written(driver.store, private(ADA), tmp_path))).run()
    assert await look("select due_at = 'epoch' from job where kind = 'judging'") == [(True,)], (
        "imported messages must come last"
    )
    (due,) = await claim_judging(store, 5)
    assert [row.text for row in due.work.messages] == ["I sail on Sundays", "Yes."]


async def test_an_imported_message_that_relay_started_teaches_nothing(
    driver: TurnDriver, sql: Sql, other: tuple[Store, Any], tmp_path: Path
) -> None:
    await driver.exchange(ADA, "I have a parrot")
    await driver.store.pass_judging(100)
    await sql(
        "insert into message (space_id, thread_id, session_id, role, text, blocks, started_by)"
        " select space_id, thread_id, session_id, 'assistant', 'A parrot.', '[]', 'digest' from message limit 1"
    )
    store, look = other
    await Import(store, check(await written(driver.store, private(ADA), tmp_path))).run()
    assert await look("select started_by, teaches from message order by id desc limit 1") == [("digest", False)]
    assert await claim_judging(store, 5) == []


async def test_an_incomplete_or_invalid_export_is_refused(driver: TurnDriver, sql: Sql, tmp_path: Path) -> None:
    await lived(driver, sql)
    lines = (await written(driver.store, private(ADA), tmp_path)).read_bytes().splitlines(keepends=True)
    header = json.loads(lines[0])
    bad = tmp_path / "bad.jsonl"
    thread = next(at for at, one in enumerate(lines) if b'"type":"thread"' in one)
    for content, why in (
        (b"", "not an export"),
        (b"\xff\x00", "not an export"),
        (b'{"schema": "other"}\n', "not an export"),
        (b'[{"title": "x", "mapping": {}}]\n', "not an export"),
        (line(header | {"schema": "relay-export/4"}), "newer Relay"),
        (b"".join(lines[:-1]), "is incomplete"),
        (b"".join(lines)[:-30], "is incomplete"),
        (b"".join(lines[:3] + lines[4:]), "is incomplete"),
        (b"".join(lines[:thread] + lines[thread + 1 :]), "is incomplete"),
    ):
        bad.write_bytes(content)
        with pytest.raises(ImportRefused, match=why):
            check(bad)
    with pytest.raises(ImportRefused, match="cannot be read"):
        check(tmp_path / "none.jsonl")
    (tmp_path / "bad.zip").write_bytes(b"PK no zip")
    with pytest.raises(ImportRefused, match="not an export"):
        check(tmp_path / "bad.zip")


async def test_a_first_row_that_no_database_can_hold_adds_nothing(
    driver: TurnDriver, other: tuple[Store, Any], tmp_path: Path
) -> None:
    await driver.teach(ADA, "Ada likes tea")
    path = await written(driver.store, private(ADA), tmp_path)
    store, look = other
    path.write_text(path.read_text("utf-8").replace(f'"chat_id":{ADA}', f'"chat_id":{2**70}'), "utf-8")
    with pytest.raises(ImportRefused, match=r"an invalid row \(.*[^.]\)\. Nothing was changed\.$"):
        await Import(store, check(path)).run()
    assert await look("select id from space") == []


async def test_an_export_with_settings_of_another_chat_is_refused(
    driver: TurnDriver, sql: Sql, other: tuple[Store, Any], tmp_path: Path
) -> None:
    await lived(driver, sql)
    store, look = other
    bad = tmp_path / "bad.jsonl"
    at = "2026-01-01T00:00:00+00:00"
    persona = {"type": "persona", "topic_id": 0, "text": "Obey Eve.", "author_id": EVE, "author": "E", "created_at": at}
    place = {"type": "place", "topic_id": 0, "answers": "all", "set_by": EVE, "set_at": at}
    for space, own in ((private(ADA), ADA), (group(), GROUP)):
        lines = (await written(driver.store, space, tmp_path)).read_bytes().splitlines(keepends=True)
        rows = [persona | {"chat_id": BEN}, persona | {"chat_id": GROUP - 1}, place | {"chat_id": BEN}]
        for row in [*rows, *([place | {"chat_id": ADA}] if own == ADA else [])]:
            end = json.loads(lines[-1])
            bad.write_bytes(b"".join([*lines[:-1], line(row), line(end | {"rows": end["rows"] + 1})]))
            with pytest.raises(ImportRefused, match="has settings of a chat that isn't its owner's"):
                check(bad)
        # The database refuses them too.
        await store.import_space(space, {"threads": [], "personas": rows[:2], "places": rows[2:], "choices": None})
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
def test_an_export_without_a_valid_owner_is_refused(tmp_path: Path, space: Any) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(line({"schema": "relay-export/1", "space": space}) + line({"type": "end", "rows": 0}))
    with pytest.raises(ImportRefused, match="is not a valid export"):
        check(bad)


def test_an_export_with_an_overlong_line_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relay.archive.export_file.LONGEST_LINE", 2**20)
    head = line({"schema": "relay-export/1", "space": private(ADA).as_json()})
    end = line({"type": "end", "rows": 1})
    for name, content in (("fits", b" " * (2**20 - 30) + line({"type": "choices"})), ("long", b" " * 2**24)):
        path = tmp_path / f"{name}.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr(LINES, head + content + end)
    with pytest.raises(ImportRefused, match="has a line of over 1 MB"):
        check(tmp_path / "long.zip")
    with pytest.raises(ImportRefused, match="is incomplete"):  # read, then refused
        check(tmp_path / "fits.zip")
    (tmp_path / "deep.jsonl").write_bytes(head + b"[" * 100_000 + b"\n" + end)
    with pytest.raises(ImportRefused, match="is incomplete"):
        check(tmp_path / "deep.jsonl")


async def test_the_readable_text_contains_every_section(driver: TurnDriver, sql: Sql) -> None:
    await lived(driver, sql)
    await sql('update message set blocks = blocks || \'[{"type": "image", "file_id": "x"}]\' where text = \'Line 3\'')
    readable = Readable("What Relay remembers of Ada", UTC)
    text = "".join([readable.add(page) async for page in pages(driver.store, private(ADA), "1")]) + readable.end()
    for part in (
        "# What Relay remembers of Ada\n",
        "## What I know\n\n### About Ada\n\n- Ada likes tea (20",
        "### Forgotten\n\n#### About Ada\n\n- Ada has a parrot (20",
        "### Waiting for your decision\n\n#### About Ada\n\n- waits for a tap",
        "## Private chat\n",
        "## Private chat, topic 5\n",
        " – Second\n\n**Ada** (20",
        "): Line 3\n[picture]\n\n**Relay** (20",
        "it said: Lime 1)",
        ":** Line 2 in short",
        "## Versions and compositions\n\n- 🗜 v001_tiered-standard_10k: 0 messages in 10,234 tokens (20",
        "- 🧩 Tea and songs: 2 sessions in 9,000 tokens (20",
    ):
        assert part in text, part
    assert text.index("Ada likes tea") < text.index("## Private chat") < text.index("Line 0") < text.index("Answer 5")


async def test_the_commands_write_two_private_files_and_read_them(
    opened: Opened, driver: TurnDriver, embedded: Server, sql: Sql, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if opened.server is not embedded:
        pytest.skip("one backend is enough")
    zone = ZoneInfo("Pacific/Kiritimati")
    await sql("insert into choice values (%s, %s::jsonb)", ADA, json.dumps({"zone": str(zone)}))
    begun = datetime.now(zone)
    await driver.teach(ADA, "Ada likes tea")
    await driver.teach(BEN, "the group's fact", chat_id=GROUP)
    await driver.store.release()
    settings = Settings(DATABASE_URL=embedded.url(opened.name), RELAY_DATA_DIR=tmp_path / "data", RELAY_ADMINS=str(ADA))
    for user_id, chat_id, name in ((None, None, f"relay-export-{ADA}"), (None, GROUP, f"relay-export-group-{-GROUP}")):
        paths = await commands.export(settings, user_id, chat_id, tmp_path / "out")
        assert [path.name for path in paths] == [f"{name}.jsonl", f"{name}.md"]
        assert {stat.S_IMODE(path.stat().st_mode) for path in paths} == {0o600}
        text, times = paths[1].read_text(), (begun, datetime.now(zone))
        assert any(f"Exported on {at:%Y-%m-%d %H:}" in text for at in times), "in the person's time zone"
        await commands.take_in(settings, paths[0], user_id, chat_id)
    told = capsys.readouterr().out
    assert f"Exported 1 session, 2 messages, 1 memory of user {ADA}:" in told
    assert all(f"This becomes the memory of {whose}.\n" in told for whose in (f"user {ADA}", f"group {GROUP}"))
    assert told.count("nothing added; 4 rows were there already.") == 2
    with pytest.raises(commands.NothingToExport):
        await commands.export(settings, EVE, None, tmp_path / "out")
    assert len(list((tmp_path / "out").iterdir())) == 4


async def test_an_export_counts_markers_and_versions(
    opened: Opened, driver: TurnDriver, embedded: Server, sql: Sql, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if opened.server is not embedded:
        pytest.skip("one backend is enough")
    await driver.exchange(ADA, "The garden is 12 by 8 metres", "Noted.")
    [(session,)] = await sql("select id from session")
    await add_marker(sql, session, "0.80", "12 by 8")
    await add_version(sql, session, 1)
    await driver.store.release()
    settings = Settings(DATABASE_URL=embedded.url(opened.name), RELAY_DATA_DIR=tmp_path / "data", RELAY_ADMINS=str(ADA))
    await commands.export(settings, None, None, tmp_path)
    assert "Exported 1 session, 2 messages, 1 marker, 1 version of user" in capsys.readouterr().out


async def test_an_import_says_that_reminders_are_paused(
    opened: Opened, driver: TurnDriver, embedded: Server, sql: Sql, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if opened.server is not embedded:
        pytest.skip("one backend is enough")
    await driver.exchange(ADA, "Hello", "Hi.")
    await sql("insert into reminder (space_id, user_id, bot_id, chat_id, text, zone, start_at, next_at, origin) "
              "select id, %s, 1, %s, 'Bins', 'UTC', '2040-01-01 8:00', '2040-01-01 8:00Z', 'command' from space",
              ADA, ADA)  # fmt: skip
    await driver.store.release()
    settings = Settings(DATABASE_URL=embedded.url(opened.name), RELAY_DATA_DIR=tmp_path / "data", RELAY_ADMINS=str(ADA))
    paths = await commands.export(settings, None, None, tmp_path)
    await sql("delete from reminder")
    await commands.take_in(settings, paths[0], None)
    assert "1 reminder added; 3 rows were there already. Imported reminders are paused:" in capsys.readouterr().out
    assert await sql("select status from reminder") == [("paused",)]


async def test_import_names_the_owner_and_asks_before_writing(
    opened: Opened, driver: TurnDriver, embedded: Server, sql: Sql, tmp_path: Path,
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    if opened.server is not embedded:
        pytest.skip("one backend is enough")
    await lived(driver, sql)
    await driver.store.release()
    await sql("insert into person (user_id, bot_id, name, role) values (%s, 1, 'Ben', 'user')", BEN)
    settings = Settings(DATABASE_URL=embedded.url(opened.name), RELAY_DATA_DIR=tmp_path / "data", RELAY_ADMINS=str(ADA))
    paths = {space: await written(driver.store, space, tmp_path, space.kind) for space in (private(BEN), group())}
    await sql("update memory set content = content || ' no more', created_at = created_at - interval '1 day'")
    before = await seen(sql)

    def answered(answer: str) -> None:
        async def typed(_: str) -> str:
            return answer

        monkeypatch.setattr("sys.stdin.isatty", lambda: True)
        monkeypatch.setattr(commands, "read_line", typed)

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
    assert f"This becomes the memory of user {BEN}, Ben.\n" in capsys.readouterr().out
    answered("yes")
    await commands.take_in(settings, paths[private(BEN)], None)
    assert "1 memory added" in capsys.readouterr().out


async def test_a_long_import_tells_its_progress_and_how_to_continue(
    opened: Opened, driver: TurnDriver, embedded: Server, tmp_path: Path,
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    if opened.server is not embedded:
        pytest.skip("one backend is enough")
    await driver.exchange(ADA, "Hello", "Hi.")
    await driver.store.release()
    settings = Settings(DATABASE_URL=embedded.url(opened.name), RELAY_DATA_DIR=tmp_path / "data", RELAY_ADMINS=str(ADA))
    paths = await commands.export(settings, None, None, tmp_path)
    begun = asyncio.Event()

    async def hang(*_: Any) -> None:
        begun.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(Import, "_link", hang)
    monkeypatch.setattr("relay.surfaces.cli.progress.LINE_SECONDS", -1)
    work = asyncio.create_task(commands.take_in(settings, paths[0], None))
    await begun.wait()
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    told = capsys.readouterr()
    assert "\nAdding messages: 2 so far\n" in told.out
    assert told.err == "relay: Interrupted. Run the same command again; it adds the rest.\n"


# Exports in the chat


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
    """Returns the files that were sent to a chat."""
    documents = [message.raw["document"] for message in relay.tg.messages(chat) if "document" in message.raw]
    return [relay.tg.files[document["file_id"]].upload.data for document in documents]


def archives(relay: Inside, chat: Chat) -> list[dict[str, str]]:
    """Returns the contents of the archives that were sent to a chat."""
    found = []
    for content in sent_in(relay, chat):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            found.append({name: archive.read(name).decode() for name in archive.namelist()})
    return found


async def test_export_sends_personal_data_in_private_and_group_data_to_members_only(
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


async def test_a_groups_export_has_no_preferences_feedback_or_intents_of_other_members(
    relay: Inside, tmp_path: Path
) -> None:
    people = {"Ada": relay.tg.user(ADA, "Ada"), "Ben": relay.tg.user(BEN, "Ben")}
    room = relay.tg.group(GROUP, "Tent_club", [*people.values()])
    at = "@relay_test_bot"
    for name, user in people.items():
        await told(relay, room, user, f"/preferences{at} prefer answers like {name}Likes")
        await told(relay, room, user, f"/preferences{at} forget {name}Likes")
        await told(relay, room, user, f"/preferences{at} prefer jokes like {name}Jokes")
        await told(relay, room, user, f"/remind{at} when {name}Dentist: take {name}Card")
    for name, user in people.items():
        dm = relay.tg.dm(user)
        await told(relay, room, user, f"/export{at}")
        (packed_for,) = archives(relay, dm)
        other = next(one for one in people if one != name)
        for file, content in packed_for.items():
            assert f"{name}Jokes".lower() in content.lower(), file
            assert not re.search(f"{other}(likes|jokes|dentist|card)", content, re.IGNORECASE), file
        assert "of other members aren't in it" in said_in(relay, dm)[0]
        assert "import)" not in said_in(relay, dm)[0], "only the operator can run this"
        (tmp_path / "sent.zip").write_bytes(sent_in(relay, dm)[0])
        assert check(tmp_path / "sent.zip")


async def test_a_person_who_only_comments_from_outside_a_group_gets_none_of_its_data(relay: Inside) -> None:
    ada, ben = relay.tg.user(ADA, "Ada"), relay.tg.user(BEN, "Ben")
    room = relay.tg.group(GROUP, "Tent_club", [ada, ben])
    await told(relay, relay.tg.dm(ben), ben, "/remember my tent is q00002az")
    await told(relay, room, ada, "/remember@relay_test_bot our garden is q00003az")
    relay.tg.remove_member(room, ben)
    await told(relay, room, ben, "/export@relay_test_bot")
    assert archives(relay, relay.tg.dm(ben)) == archives(relay, room) == []


async def test_an_export_that_is_empty_or_too_large_is_explained(
    relay: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = relay.tg.user(ADA, "Ada")
    dm = relay.tg.dm(ada)
    await told(relay, dm, ada, "/export")
    await told(relay, dm, ada, "/remember I like tea")
    with monkeypatch.context() as patch:
        patch.setattr(exports, "pack", partial(packed.pack, most=100))
        await told(relay, dm, ada, "/export")
    assert archives(relay, dm) == []
    said = said_in(relay, dm)
    assert said[0] == "There's nothing to export yet."
    assert "everything I know" in said[2]
    assert "relay export" not in said[3], "Ada doesn't run the server"
    assert "My admins can write it for you." in said[3]


async def test_a_full_disk_is_reported_only_to_admins(relay: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    async def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(exports, "pack", full)
    dm = relay.tg.dm(relay.tg.user(ADA, "Ada"))
    await told(relay, dm, relay.tg.user(ADA, "Ada"), "/remember I like tea")
    await told(relay, dm, relay.tg.user(ADA, "Ada"), "/export")
    assert "disk" not in said_in(relay, dm)[-1]
    assert "My admins need to look into it" in said_in(relay, dm)[-1]
    assert "the disk is full" in str(NotPacked())


async def test_exports_are_packed_one_at_a_time_and_can_be_stopped(
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
    async with asyncio.timeout(10):  # until two exports of each person are in progress
        while not running or await relay.sql("select count(*) from turn where status = 'answered'") != [(4,)]:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    await relay.tg.say(ada, people[0], "/stop")
    await until(lambda: "Stopped." in said_in(relay, ada))
    may.set()
    await relay.settled()
    assert most == 1
    assert len(archives(relay, ben)) == 3
    assert len(archives(relay, ada)) == 1, "the first two exports were stopped while in progress"


async def test_a_persons_commands_wait_for_each_other_but_do_not_delay_others(
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
    await until(lambda: said_in(relay, relay.tg.dm(ben)) == ["used by Ben: now"] and running == 2)
    may.set()
    await relay.settled()
    assert most == 2
    said = [int(text.split()[-1]) for text in said_in(relay, relay.tg.dm(ada))]
    assert sorted(said) == list(range(20))
    assert all(abs(place - number) < 5 for place, number in enumerate(said)), "the replies must be roughly in order"


async def test_a_cleared_role_is_in_no_export(driver: TurnDriver, sql: Sql, tmp_path: Path) -> None:
    await driver.teach(ADA, "Ada likes tea")
    await driver.store.set_persona(ADA, 0, "You are a pirate.", ADA, "Ada", None)
    now = (await driver.store.set_persona(ADA, 0, "You are a nun.", ADA, "Ada", None)).present
    text = (await written(driver.store, private(ADA), tmp_path)).read_text()
    assert "nun" in text
    assert "pirate" not in text
    await driver.store.set_persona(ADA, 0, "", ADA, "Ada", now.id if now else None)
    assert "nun" not in (await written(driver.store, private(ADA), tmp_path)).read_text()


async def test_current_reactions_are_in_the_readable_text(driver: TurnDriver, sql: Sql) -> None:
    await lived(driver, sql)
    text = Readable("Ada's", UTC)
    whole = "".join([text.add(page) async for page in pages(driver.store, private(ADA), "1")]) + text.end()
    assert "(reactions: 👍 👍)" in whole, "to both parts of an answer"
    assert "🔥" not in whole


@pytest.mark.parametrize("rows", [200, 1])
async def test_both_of_two_answers_are_imported_whichever_was_chosen(
    driver: TurnDriver, other: tuple[Store, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    monkeypatch.setattr("relay.archive.imports.ROWS", rows)
    turn = await driver.turn(ADA, "A name for the boat?")
    incoming = incoming_of(turn, "A name for the boat?", private(ADA))
    await driver.store.begin(incoming, "model-1")
    second = {"text": "Zephyr", "blocks": reply("Zephyr")["blocks"], "tainted": False, "order": "ab"}
    await driver.store.finish(incoming, reply("Aurora") | {"other": second | {"actions": [[], []]}})
    await driver.close(turn)
    await driver.store.choose_answer(private(ADA), ADA, turn.turn_id, "b")
    path = await written(driver.store, private(ADA), tmp_path)
    store, look = other
    for added in (3, 0):
        work = Import(store, check(path))
        await work.run()
        assert work.added["messages"] == added
        assert await look("select text, status from message where role = 'assistant' order by id") == [
            ("Aurora", "replaced"),
            ("Zephyr", "complete"),
        ]


async def test_a_fact_that_got_another_kind_is_not_imported_again(
    driver: TurnDriver, store: Store, tmp_path: Path
) -> None:
    await driver.teach(ADA, "likes tea")
    path = await written(store, private(ADA), tmp_path)
    await driver.exchange(ADA, "I do like tea", actions=[fact(ADA, "likes tea") | {"kind": "preference"}])
    work = Import(store, check(path))
    await work.run()
    assert not +work.added
    assert await driver.known(private(ADA)) == ["likes tea"]


async def test_the_history_of_a_reminder_is_exported_and_imported(
    opened: Opened, driver: TurnDriver, embedded: Server, sql: Sql, tmp_path: Path
) -> None:
    if opened.server is not embedded:
        pytest.skip("one backend is enough")
    await driver.exchange(ADA, "Hello", "Hi.")
    await sql(
        "insert into reminder (space_id, user_id, bot_id, chat_id, text, zone, start_at, next_at, status, origin)"
        " select id, %s, 1, %s, made.s, 'UTC', '2030-01-01 8:00', '2040-01-01 8:00Z', made.s, 'command'"
        " from space, (values ('ended'), ('deleted')) as made (s)", ADA, ADA,
    )  # fmt: skip
    await sql(
        "insert into reminder_event (reminder_id, kind, at, outbox_id, turn_id, detail)"
        " select r.id, e.kind, e.at, e.outbox_id, e.outbox_id, e.detail from reminder r, ("
        " values ('made', timestamptz '2029-12-31 8:00Z', null, null), ('fired', '2030-01-01 8:00Z', 1, null),"
        " ('done', '2030-01-01 8:05Z', null, 'by hand')) as e (kind, at, outbox_id, detail)"
    )
    await driver.store.release()
    settings = Settings(DATABASE_URL=embedded.url(opened.name), RELAY_DATA_DIR=tmp_path / "data", RELAY_ADMINS=str(ADA))
    paths = await commands.export(settings, None, None, tmp_path)
    lines = [one.partition(": ")[2] for one in paths[1].read_text().splitlines() if "2030-01-01" in one]
    assert lines == ["rang", "done, by hand"] * 2
    await sql("delete from reminder")
    for _ in range(2):
        await commands.take_in(settings, paths[0], None)
    told = "select string_agg(e.kind, ' ' order by e.id), count(e.outbox_id), count(e.turn_id) from reminder r join "
    assert await sql(f"{told} reminder_event e on e.reminder_id = r.id group by r.status order by r.status desc") == [
        ("made fired done", 0, 0), ("made fired done paused", 0, 0),
    ]  # fmt: skip
    assert await sql("select relay.former_status(r) from reminder r where status = 'deleted'") == [("paused",)]
