"""How long each background call and each call of people's commands takes in the largest space of a big database."""

from __future__ import annotations

import statistics
import time
from typing import Any

import psycopg

from tests.benchmarks.lab import Row, cpu

BOUND_SECONDS = 2
WORKER = "'00000000-0000-4000-8000-000000000001'"
SPACE = """jsonb_build_object('kind', 'private', 'owner_id', 2000)"""
FIND = """jsonb_build_object('words', '%s', 'phrases', '[]'::jsonb, 'by', null, 'here', null, 'places', '[]'::jsonb,
    'since', null, 'until', null, 'vector', null, 'model', null)"""
THREAD = "(select id from relay.thread where space_id = 1 and topic_id = 0)"
SESSION = "(select min(id) from relay.session where space_id = 1)"
CALLS = {
    "/memory": f"relay_list_memories({SPACE}, '{{}}', 0, 8)",
    "/memory, last page": f"relay_list_memories({SPACE}, '{{}}', 9992, 8)",
    "/memory, words": f"""relay_list_memories({SPACE}, '{{"words": "badebade"}}', 0, 8)""",
    "/memory, words that nothing has": f"""relay_list_memories({SPACE}, '{{"words": "submarine yellow"}}', 0, 8)""",
    "/memory changes": f"relay_memory_history({SPACE}, false, 0, 8, 2000, true)",
    "/memory changes, last page": f"relay_memory_history({SPACE}, false, 9992, 8, 2000, true)",
    "/memory waiting": f"relay_memory_history({SPACE}, true, 0, 8, 2000, true)",
    "a memory": "relay_open_memory(1, 2000, true)",
    "a memory's source": "relay_memory_source(1)",
    "a memory's past": "relay_memory_past(1, 0, 8)",
    "/search, a frequent word": f"relay_find({SPACE}, 12345, {FIND % 'word2'}, 0, 6)",
    "/search, a rare word": f"relay_find({SPACE}, 12345, {FIND % 'word12000'}, 0, 6)",
    "/search, ten frequent words": f"relay_find({SPACE}, 12345, {FIND % 'many'}, 0, 6)",
    "/search, nothing has it": f"relay_find({SPACE}, 12345, {FIND % 'submarine'}, 0, 6)",
    "/search, no words": f"relay_find({SPACE}, 12345, {FIND % ''}, 0, 6)",
    "/usage": f"relay_usage({SPACE}, jsonb_build_array(now() - interval '30 days'), false)",
    "/usage, all spaces": f"relay_usage({SPACE}, jsonb_build_array(now() - interval '30 days'), true)",
    "/usage, all spaces, ten years": f"relay_usage({SPACE}, jsonb_build_array(now() - interval '10 years'), true)",
    "/status": f"relay_status({SPACE})",
    "/queue": "relay_queue(12345)",
    "what was spent today": "relay_spent(now() - interval '1 day', null)",
    "/sessions": f"relay_sessions({SPACE}, 2000, 0, 0, 8)",
    "/sessions, last page": f"relay_sessions({SPACE}, 2000, 0, 490, 8)",
    "/session": f"relay_session({SPACE}, 2000, 0, {SESSION})",
    "/new": f"relay_new_session({SPACE}, 2000, 0, 'Title')",
    "/summary": f"relay_summaries({SPACE}, 2000, 0, 0, 8)",
    "/why": "relay_why(10, 2000)",
    "/controls": f"relay_controls({SPACE}, 2000, 0)",
    "/reset": f"relay.forget_next(relay.find_space({SPACE}), 2000, 0, 9223372036854775807)",
    "/private": f"relay_private({SPACE}, 2000, 0, true, 2000, true)",
    "/forget --erase, preview": f"relay_erase_preview({SPACE}, jsonb_build_object('words', 'word40'), 2000, true)",
    "/forget --erase, preview of a memory": f"relay_erase_preview({SPACE}, '{{\"memory_id\": 1}}', 2000, true)",
    "open_memory": f"relay_look_at({SPACE}, '{{}}', false, 'message', 1000, 0)",
    "what a message says of memory": f"relay_found_context({SPACE}, 12345, {FIND % 'word2'}, 10000, 'after', 4)",
    "people": "relay_everybody(40)",
    "health": "relay_readings(12345, now() - interval '1 hour')",
    "examination": "relay_examine()",
    "examination of work": "relay_examine_work()",
    "tidy": "relay_tidy(1, 5000)",
    "private sessions": "relay_sweep_private(12)",
    "what is due": f"relay_claim(12345, {WORKER}, 64, 30)",
    "summaries due": f"relay_claim_jobs('summary', null, 12345, {WORKER}, 4, 60)",
    "titles due": f"relay_claim_jobs('title', null, 12345, {WORKER}, 4, 60)",
    "judging": f"relay_claim_jobs('judging', null, 12345, {WORKER}, 4, 60)",
    "judging: rests": "relay_jobs_rest('judging', 12345)",
    "judging: how much": "relay_unjudged()",
    "judging: passed by": "relay_pass_judging(500)",
    "near memories": """relay_near_memories(1, '[{"content": "The user likes word40 and word60", "kind": "fact",
        "subject_id": 2000}]', 5)""",
    "index": "relay_index_missing(500)",
    "to embed": "relay_take_embed_due(32, 60)",
    "vectors: status": "relay_embedding_status('benchmark')",
    "vectors: again": "relay_embed_again('other', 500)",
    "vectors: everything": "relay_embed_everything(true, 2000)",
    "night ahead": "relay_night_ahead()",
    "night": "relay_begin_night()",
    "night: statistics of messages": "relay_statistics('memory')",
    "night: statistics of entries": "relay_statistics('document_part')",
    "night: pairs": "relay_pairs(1, 0)",
    "night: goals": "relay_past_goals(1)",
    "digest": f"relay_digest_now({SPACE})",
    "export": f"relay_export_space({SPACE})",
    "export of memories": f"relay_export_rows('memories', {SPACE}, null, null, 500)",
    "export of messages": f"relay_export_rows('messages', {SPACE}, {THREAD}, null, 500)",
    "export of sessions": f"relay_export_rows('sessions', {SPACE}, {THREAD}, null, 500)",
    "export of summaries": f"relay_export_rows('summaries', {SPACE}, {THREAD}, null, 500)",
    "move: state": "relay_move_state()",
    "move: page of messages": "relay_move_page('message', '[500000]', 1000, 1000000)",
    "move: digest of messages": "relay_move_digest('message', '[500000]', 20000)",
    "rederive: summaries": f"relay_derived_summaries({SPACE}, null, 0)",
    "rederive: threads": f"relay_told_threads({SPACE}, null, 0, 'v')",
    "rederive: messages": f"relay_told_messages({THREAD}, null, 0, 50)",
    "rederive: memories": "relay_derived_memories(1, 'judge', '[1, 2, 3]')",
    "rederive: known besides": "relay_known_besides(1, 'judge', '[1, 2, 3]')",
    "answer by its message": f"relay_answered_turn(12345, 2000, 0, null, {SPACE})",
    "a reaction": """relay_react(12345, 2000, 19, 2000, '["👍"]', extract(epoch from now())::bigint)""",
    "known ids": "relay_known_ids(12345, 2000, 999000, 100)",
}


def calls(url: str, repeats: int = 3) -> list[Row]:
    """Makes each call a few times, each in a transaction that is rolled back, with JIT and parallelism as configured in
    the server. Reports the slowest ten and those beyond the bound, each with its CPU time."""
    took: dict[str, tuple[float, float]] = {}
    with psycopg.connect(url) as connection:
        words = spoken(connection)
        for name, call in CALLS.items():
            took[name] = statistics.median_low(_once(connection, call, words) for _ in range(repeats))
    slow = [name for name, (seconds, _) in took.items() if seconds > BOUND_SECONDS]
    slowest = sorted(took, key=lambda name: -took[name][0])[: max(10, len(slow))]
    told = "; ".join(f"{name} {took[name][0] * 1000:.0f} ms (CPU {took[name][1] * 1000:.0f})" for name in slowest)
    return [Row(f"scale: {len(took)} calls of background and commands", f"≤ {BOUND_SECONDS} s", told, not slow)]


def spoken(connection: psycopg.Connection[Any]) -> dict[str, str]:
    """Returns words from messages, named by their frequency rank."""
    rows = connection.execute("""select word from relay.lexeme where space_id = 1 and word ~ '^[a-z]+$'
        order by entries desc, word""").fetchall()
    words = {f"word{place}": str(word) for place, (word,) in enumerate(rows) if place in (2, 40, 60, 12000)}
    return {**words, "many": " ".join(str(word) for (word,) in rows[:10])}


def _once(connection: psycopg.Connection[Any], call: str, words: dict[str, str]) -> tuple[float, float]:
    """Returns the elapsed seconds and the CPU seconds of a call."""
    for name, word in sorted(words.items(), reverse=True):
        call = call.replace(name, word)
    started, used = time.perf_counter(), cpu(connection.info.backend_pid)
    connection.execute(f"select {call}".encode())
    took = time.perf_counter() - started, cpu(connection.info.backend_pid) - used
    connection.rollback()
    return took
