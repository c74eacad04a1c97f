"""Stores a chat of a benchmark in a database as Relay would."""

from __future__ import annotations

import time
from typing import Any

import psycopg

from relay.core.models import Space
from tests.benchmarks.conversations import SPEAKERS
from tests.benchmarks.generated import one as insert

NAME = "Ada"
"""The person who talks with the assistant."""
SPACE = "insert into relay.space (kind, owner_id, chat_id) values (%(kind)s, %(owner_id)s, %(chat_id)s) returning id"
THREAD = "insert into relay.thread (space_id, chat_id) values (%(space)s, %(number)s) returning id"
SESSION = "insert into relay.session (thread_id, space_id) values (%(thread)s, %(space)s) returning id"
TURN = """insert into relay.turn (kind, bot_id, user_id, space_id, thread_id, session_id, status, created_at)
    values ('message', 0, %(number)s, %(space)s, %(thread)s, %(session)s, 'done',
    %(when)s::timestamp at time zone 'UTC') returning id"""
MESSAGE = """insert into relay.message (space_id, thread_id, session_id, turn_id, role, user_id, name, text, blocks,
    created_at) values (%(space)s, %(thread)s, %(session)s, %(turn)s, %(role)s, %(user_id)s, %(name)s, %(text)s, '[]',
    %(when)s::timestamp at time zone 'UTC') returning id"""
SIDES = """update relay.turn t set user_message_id = (select min(m.id) from relay.message m where m.turn_id = t.id),
    assistant_message_id = (select max(m.id) from relay.message m where m.turn_id = t.id)
    where t.space_id = %(space)s returning t.id"""


def store_chat(connection: psycopg.Connection[Any], chat: Any) -> tuple[Space, dict[int, str]]:
    """Stores a chat in a new space: a group for two friends, a private one for a person and the assistant. Returns the
    space and the turn of the chat for each message."""
    number = time.time_ns()
    assistant = next((name for name in chat.speakers if name.casefold() == SPEAKERS[1].casefold()), None)
    private = assistant is not None
    heard = Space("private", owner_id=number) if private else Space("group", chat_id=number)
    row: dict[str, Any] = {"number": number, "turn": None, "session": None}
    row |= {"kind": heard.kind, "owner_id": heard.owner_id, "chat_id": heard.chat_id}
    row["space"] = insert(connection, SPACE, **row)
    row["thread"] = insert(connection, THREAD, **row)
    sessions: dict[int, int] = {}
    said: dict[int, str] = {}
    for turn in chat.turns:
        if turn.session not in sessions:
            sessions[turn.session] = insert(connection, SESSION, **row)
        row |= {"session": sessions[turn.session], "when": turn.when}
        row["text"] = f"{turn.text} [photo: {turn.caption}]" if turn.caption else turn.text
        if not private:
            row |= {"role": "user", "user_id": 1, "name": turn.speaker}
        elif turn.speaker != assistant:
            row |= {"role": "user", "user_id": number, "name": NAME, "turn": insert(connection, TURN, **row)}
        else:
            row |= {"role": "assistant", "user_id": number, "name": None}
        said[insert(connection, MESSAGE, **row)] = turn.dia_id
    if private:
        insert(connection, SIDES, **row)
    return heard, said
