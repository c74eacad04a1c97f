"""How long calls take in a library of 1,000 sessions with 10,000 markers and 3,000 versions of 10,000 tokens."""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from typing import Any

import psycopg

from tests.benchmarks.lab import Lab, Row
from tests.integration.conftest import TEMPLATE, server_of_ours

SPACE = """jsonb_build_object('kind', 'private', 'owner_id', 42)"""
QUERY = """jsonb_build_object('words', '%s', 'phrases', '[]'::jsonb, 'by', null, 'here', null, 'places', '[]'::jsonb,
    'since', null, 'until', null, 'vector', null, 'model', null, 'keepit', %s, 'kinds', %s)"""
FILL = """
set session_replication_role = replica;
set maintenance_work_mem = '1GB';
drop index entry_words;
create temp table word as
select n, left(md5(pick::text), 3 + pick % 4) as word
from generate_series(0, 65535) n, lateral (select floor(50 * power(401, n / 65536.0::float8))::integer - 49 as pick) p;
create unique index on word (n);
create temp table said as
select s.n, string_agg(word, ' ' order by i) as text
from generate_series(0, 9999) as s (n) cross join generate_series(1, 170) i
join word w on w.n = hashint4(s.n * 200 + i) & 65535 group by s.n;
create unique index on said (n);
analyze word, said;
insert into space (kind, owner_id) values ('private', 42);
insert into thread (space_id, chat_id, topic_id, last_at) values (1, 42, 0, now());
insert into session (thread_id, space_id, title, topics, registered_at, started_at)
select 1, 1, 'Session ' || n, array['topic' || n % 50], now(), now() - n * interval '1 hour'
from generate_series(1, 1000) n;
insert into message (space_id, thread_id, session_id, role, user_id, text, blocks, created_at)
select 1, 1, 1 + g % 1000, (array['user', 'assistant'])[1 + g % 2], 42, 'word' || g % 700 || ' '
    || left(text, 200), '[]', now() - (20000 - g) * interval '1 minute'
from generate_series(1, 20000) g join said s on s.n = g % 10000 order by g;
insert into keepit (space_id, thread_id, session_id, message_id, seq, weight, content, block, start_at, end_at, context,
    origin, user_id)
select 1, 1, session_id, id, 0, id % 101 / 100.0, left(text, 120), 0, 0, 120, left(text, 220), 'text', 42 from message
where id <= 10000;
insert into compression (space_id, thread_id, session_id, number, name, settings, inputs, input_tokens, output_tokens,
    output_messages, ratio, rows, status, created_by)
select 1, 1, 1 + v % 1000, 1 + v / 1000, 'v00' || 1 + v / 1000 || '_tiered-standard_10k', '{"tierPreset": "standard"}',
    array(select 'message:' || (v * 7 + i) % 20000 + 1 from generate_series(1, 450) i), 100000, 10000, 42, 9.8, (
        select jsonb_agg(jsonb_build_object('role', 'user', 'from', i, 'through', i + 10, 'text', text))
        from generate_series(1, 42) i join said s on s.n = (v * 42 + i) * 7919 % 10000), 'ready', 42
from generate_series(0, 2999) v;
insert into composition (space_id, thread_id, name, budget, rows, inputs, status, total_tokens, created_by)
select 1, 1, 'Plan ' || id, 16000, rows, inputs, 'ready', 10000, 42 from compression where id <= 200;
select enter('message', array_agg(id), array_agg(null::integer)) from message;
select enter('version', array_agg(id), array_agg(null::integer)) from compression;
create index entry_words on entry using gin (words_of_space(space_id, words)) with (fastupdate = off);
insert into lexeme (space_id, word, entries)
select e.space_id, w.word, count(*) from entry e, counted_words(e) w group by 1, 2;
vacuum analyze;
set session_replication_role = origin;
select public.relay_begin_night()
"""
"""One statement after the other, without triggers and with the index made at once: thousands of entries in one
transaction would be counted again and again. The words are as in a language, few often and most seldom, so that a
version has about 2,000 different ones."""
WEIGHTS = "jsonb_build_object('min', '0.50', 'max', '1.00')"
COMMON = "c4ca"
"""The commonest word: every version has it, and one of eight messages."""
VERSIONS = "jsonb_build_array('version')"
CALLS = {
    "/sessions": (f"relay_sessions({SPACE}, 42, 0, 0, 6)", 50),
    "/sessions, the last page": (f"relay_sessions({SPACE}, 42, 0, 996, 6)", 50),
    "/keepit": (f"relay_keepits({SPACE}, null, 0, 6, 42, 0)", 10),
    "/compose list": (f"relay_compositions({SPACE}, 42, 0, 0, 6)", 10),
    "/compose, its sessions": (f"relay_composable_sessions({SPACE}, 42, 0, true, 0, 6)", 50),
    "a session's versions": (f"relay_versions({SPACE}, 77, 0, 6)", 50),
    "choosing a version": ("relay_select_version(77, jsonb_build_object('maxTokens', 12000))", 10),
    "/search, a rare word": (f"relay_find({SPACE}, 1, {QUERY % ('word77', 'null', 'null')}, 0, 6)", 500),
    "/search keepit:0.5..1": (f"relay_find({SPACE}, 1, {QUERY % ('', WEIGHTS, 'null')}, 0, 6)", 500),
    "/search kind:version": (f"relay_find({SPACE}, 1, {QUERY % (COMMON, 'null', VERSIONS)}, 0, 6)", 500),
    "the night for a space": ("relay_decay(1, (select max(id) from relay.night), true, true)", 2000),
    "a page of an export": (f"relay_export_rows('version', {SPACE}, null, null, 200)", 2000),
    "/status": (f"relay_status({SPACE})", 500),
    "erasing, a rare word": (f"""relay_erase_preview({SPACE}, '{{"words": "word77"}}', 42, false)""", 2000),
    "erasing, a word of all": (f"""relay_erase_preview({SPACE}, '{{"words": "{COMMON}"}}', 42, false)""", 2000),
    "erasing, begun": ("relay_erase_begin((select max(id) from relay.erasure), 42, false)", 2000),
    "erasing, its longest step": ("relay_erase_step(null)", 2000),
}
"""Calls, each with its bound in milliseconds."""
ROUNDS = 5


def measured(cursor: psycopg.Cursor[Any], call: str) -> float:
    """Returns milliseconds: the median of a few rounds. For an erasure, there is one round, and its longest step
    counts."""
    took: list[float] = []
    while True:
        begun = time.perf_counter()
        [(found,)] = cursor.execute(f"select public.{call}".encode()).fetchall()
        took.append(1000 * (time.perf_counter() - begun))
        if "erase_step" in call:
            if found is None or found["done"]:
                return max(took)
        elif "erase" in call or len(took) == ROUNDS:
            return statistics.median(took)


async def library(lab: Lab, options: argparse.Namespace) -> list[Row]:
    """Fills its own database (some minutes), and makes the calls of people and of the nightly work."""
    return await asyncio.to_thread(measure_library)


def measure_library() -> list[Row]:
    """Measures in its own database."""
    rows = []
    with server_of_ours() as server:
        url = server.url(server.create(TEMPLATE), superuser=True)
        with psycopg.connect(url, autocommit=True, options="-c search_path=relay,extensions,public") as connection:
            cursor = connection.cursor()
            for statement in FILL.split(";"):
                cursor.execute(statement.encode())
            for name, (call, bound) in CALLS.items():
                took = measured(cursor, call)
                rows.append(Row(f"contexts: {name}", f"{bound} ms", f"{took:.1f} ms", took <= bound))
    return rows
