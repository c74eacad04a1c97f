"""Reads the record of a run from the stand-ins' logs, the database, the files and the processes."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg

from tests.chaos.acts import REPLIES
from tests.chaos.crowd import Crowd
from tests.chaos.record import Count, Kept, Record, Shown

Rows = psycopg.Connection[tuple[Any, ...]]

UNHEARD_SECONDS = 120
"""The longest time from a send to the storing of its id, with an unreachable database. A kill may fall into it."""
LEFT = {
    "updates that wait": "select count(*) from relay.inbox where status in ('pending', 'claimed')",
    "updates that were set aside": "select count(*) from relay.inbox where status = 'failed'",
    "turns that are not done": "select count(*) from relay.turn where status <> 'done'",
    "lanes that are held": "select count(*) from relay.lane where open_turn_id is not null",
    "lanes that are due": "select count(*) from relay.lane where due_at is not null",
    "parts that were not sent": "select count(*) from relay.outbox where status <> 'sent'",
    # A refused job, or one due by a clock that was ahead, waits for its time; setting the clock back delays it.
    "jobs that are owed": "select count(*) from relay.job where parked_at is not null or due_at <= now()",
    "messages that are queued": """select count(*) from relay.outbox
        where status = 'queued' and not_before <= now()""",
    "leases of the stopped": "select count(*) from relay.duty where lease_owner is not null",
    "leases of turns": "select count(*) from relay.turn where lease_owner is not null",
}
STANDING = """create or replace temporary view standing as
    select t.thread_id from relay.turn t join relay.message m on m.id = t.assistant_message_id
    where t.status = 'done' and m.status <> 'replaced'"""
"""The turns whose answers were not replaced by later ones."""
OWED = """create or replace temporary view owed as
    select thread_id, session_id, through from (
        select m.thread_id, m.session_id, m.id as through,
            row_number() over (partition by m.thread_id order by m.id) as of_thread
        from relay.message m join relay.turn t on t.id = m.turn_id
        where m.role = 'assistant' and m.id = (
            select min(first.id) from relay.message first join relay.turn own on own.id = first.turn_id
            where first.role = 'assistant' and own.user_message_id = t.user_message_id)) exchange
    where of_thread % 5 = 0
    union
    select s.thread_id, s.id, max(m.id) from relay.session s join relay.message m on m.session_id = s.id
    where s.ended_at is not null group by s.id"""
"""Where a summary should end: at each fifth exchange, which the first answer to its message completes, and at a
session's end."""
COUNTS = {
    "exchanges of all threads": ("select sum(exchange_count) from relay.thread", "select count(*) from standing"),
    "threads whose exchanges are not those of their turns": (
        """select count(*) from relay.thread t
            where exchange_count <> (select count(*) from standing where thread_id = t.id)""",
        "select 0",
    ),
    "summaries that end elsewhere than at a fifth exchange or a session's end": (
        """select count(*) from relay.summary s
            where not exists (
                select from owed o where o.thread_id = s.thread_id and o.through = s.through_message_id)""",
        "select 0",
    ),
    "fifth exchanges and ends of sessions, at least three messages after the last summary, without a summary": (
        """select count(*) from owed o where not exists (
                select from relay.summary s where s.thread_id = o.thread_id and s.through_message_id = o.through)
            and not exists (select from relay.job where kind = 'summary' and key = o.through::text)
            and 3 <= (select count(*) from relay.message m
                where m.session_id = o.session_id and m.status <> 'replaced' and m.id <= o.through
                    and m.id > coalesce((select max(s.through_message_id) from relay.summary s
                        where s.thread_id = o.thread_id and s.through_message_id < o.through), 0))""",
        "select 0",
    ),
    "messages kept of people, one a turn": (
        "select count(*) from relay.message where role = 'user'",
        "select count(distinct turn_id) from relay.message where role = 'user'",
    ),
    "answers kept, one a turn": (
        "select count(*) from relay.message where role = 'assistant' and status <> 'replaced'",
        "select count(*) from standing",
    ),
    "Telegram messages behind two parts": (
        """select count(*) from (
            select from relay.outbox d where telegram_message_id is not null and not exists (
                select from relay.turn n where n.replaces_turn_id = d.turn_id and n.assistant_message_id is not null)
            group by chat_id, telegram_message_id having count(*) > 1) twice""",
        "select 0",
    ),
}
SURPRISE = re.compile(r"Traceback|\"level\": ?\"critical\"")
PASSING = re.compile(r"\.(tmp|part|new)$|^(tmp|postgres\.new)")


def read_shown(crowd: Crowd, connection: Rows, killed_at: list[float]) -> list[Shown]:
    """Returns the bot's messages shown at the end."""
    rows = connection.execute("select chat_id, telegram_message_id from relay.posted where from_bot").fetchall()
    posted = {(int(chat_id), int(message_id)) for chat_id, message_id in rows}
    sends = {
        (record.params.get("chat_id"), record.result["message_id"]): record
        for record in crowd.tg.calls("sendMessage")
        if isinstance(record.result, dict)
    }
    shown = []
    for place, _ in crowd.places:
        for message in crowd.acts.said(place):
            send = sends.get((place[0], message.message_id))
            unheard = ""
            if send is not None and send.fault in ("lost", "late", "timeout"):
                unheard = f"the response to sendMessage was {send.fault}"
            elif send is not None and any(0 <= at - send.at < UNHEARD_SECONDS for at in killed_at):
                unheard = "a kill before the response was stored"
            answers, kept = crowd.acts.answers(message), crowd.acts.kept(message)
            known = (place[0], message.message_id) in posted
            command = next((name for name, reply in REPLIES.items() if reply.match(message.text)), "")
            shown.append(Shown(place, message.message_id, answers, kept, known, unheard, command))
    return shown


def read_kept(connection: Rows) -> list[Kept]:
    """Returns the active memories and their owners."""
    rows = connection.execute(
        "select m.content, s.owner_id from relay.memory m join relay.space s on s.id = m.space_id"
        " where m.status = 'active'"
    ).fetchall()
    return [Kept(str(content), int(owner or 0)) for content, owner in rows]


def read_counts(connection: Rows, crowd: Crowd) -> list[Count]:
    """Compares the database's counters with its content and with what Telegram handed out."""
    connection.execute(STANDING)
    connection.execute(OWED)
    counts = [
        Count(what, _number(connection, found), _number(connection, wanted)) for what, (found, wanted) in COUNTS.items()
    ]
    said = {(message.chat_id, message.message_id) for message in crowd.acts.messages}
    numbers = [update_id for update_id, update in crowd.tg.queue.known.items() if _message(update) in said]
    done = "select count(*) from relay.inbox where status = 'done' and update_id = any (%s)"
    stored = connection.execute(done, [numbers]).fetchone()
    assert stored is not None
    counts.append(Count("messages of people, each stored and done once", int(stored[0]), len(numbers)))
    counts.append(Count("messages of people that Telegram handed out", len(numbers), len(said)))
    return counts


def _message(update: dict[str, Any]) -> tuple[int, int]:
    message = update.get("message") or {"chat": {}}
    return message["chat"].get("id", 0), message.get("message_id", 0)


def read_left(connection: Rows) -> list[str]:
    """Returns what still waits in queues that should be empty."""
    found = {what: _number(connection, query) for what, query in LEFT.items()}
    return [f"{number} {what}" for what, number in found.items() if number]


def files_left(folder: Path) -> list[str]:
    """Returns the files of finished work."""
    files = [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]
    ours = [path for path in files if "postgres" not in path.parts]
    return [f"the file {path}" for path in ours if "tmp" in path.parts or PASSING.search(path.name)]


def surprises(logs: list[Path]) -> list[str]:
    """Returns each log entry that must never occur, with everything logged about it and the error's own words last."""
    return [surprise for log in logs for surprise in _surprises(log.read_text("utf-8", "replace").splitlines())]


def _surprises(lines: list[str]) -> Iterator[str]:
    for place, line in enumerate(lines):
        if not SURPRISE.search(line):
            continue
        try:
            logged = json.loads(line)
            yield f"{logged.pop('exception', '')}\n{json.dumps(logged)}".strip()
        except ValueError:  # from a program that doesn't log JSON, or cut off by a kill: up to the next JSON line
            after = itertools.takewhile(lambda one: not one.startswith("{"), lines[place + 1 :])
            yield "\n".join([line, *(one for one in after if not SURPRISE.search(one))])


def read(crowd: Crowd, connection: Rows, killed_at: list[float]) -> Record:
    """Returns the record, without what is left after everything has ended."""
    acts = crowd.acts
    return Record(
        list(acts.asked), read_shown(crowd, connection, killed_at), dict(acts.commands), acts.edited, acts.unoffered(),
        acts.undone, read_kept(connection), read_counts(connection, crowd),
    )  # fmt: skip


def _number(connection: Rows, query: str) -> int:
    row = connection.execute(query.encode()).fetchone()
    return int(row[0] or 0) if row else 0
