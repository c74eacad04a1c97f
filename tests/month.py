"""A month of conversation for `relay import`: thousands of messages about everyday things, and one thing that is said
only once."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

Json = dict[str, Any]
BEGAN = datetime(2026, 3, 1, 7, 0, tzinfo=UTC)
TOPICS = {11: "Garden", 12: "Repairs", 13: "Travels"}
ABOUT = {
    0: ["the weekly shopping", "a birthday present for Ruth", "the choir's rehearsal", "a soup with lentils"],
    11: ["the tomato seedlings", "a bed of leeks", "the compost heap", "the hedge along the lane"],
    12: ["the dripping tap", "a squeaking door", "the bicycle's brakes", "the lamp over the stairs"],
    13: ["the night train to Vienna", "a cabin by the lake", "the ferry's timetable", "a walk over the pass"],
}
ASKED = [
    "Could you help me plan {about} for {day}? I have about {number} minutes and no great wish to hurry.",
    "I spent the morning with {about} and wonder whether {number} euros were too much for what came of it.",
    "What would you do about {about} when it rains on {day}, as they say it will, all through the afternoon?",
    "Number {number} on my list is {about}; remind me what we said needs doing before {day} comes around.",
    "ok",
    "thanks",
]
ANSWERED = [
    "Begin with the small part of it: {about} needs a plan of three steps, and {day} leaves room for two of them.",
    "For {about} I would set aside {number} minutes, make a list, and see on {day} what is left.",
    "That sounds fair for {about}. Note down the {number} so that you can compare it next time.",
]
DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
PLANTED = (
    "We buried the time capsule with the children's letters under the old quince tree behind the shed; "
    "nobody may dig it up before 2046."
)
PLANTED_AT = 20
"""The number of the planted message, which is in the garden's thread."""


def rows(owner: int, messages: int, seed: int = 7) -> list[Json]:
    """The lines of an export, the header first. A user's messages and the answers alternate; the thread changes now and
    then. The planted message is said once, near the beginning."""
    chance = random.Random(seed)
    topics = [0, *TOPICS]
    threads = [
        {"type": "thread", "id": number, "chat_id": owner, "topic_id": topic, "created_at": BEGAN.isoformat()}
        for number, topic in enumerate(topics, 1)
    ]
    sessions = [
        {"type": "session", "id": number, "thread": number, "title": None, "titled_by": None,
         "started_at": BEGAN.isoformat(), "ended_at": None}
        for number in range(1, len(topics) + 1)
    ]  # fmt: skip
    lines: list[Json] = [
        {"schema": "relay-export/1", "relay": "1.0.0", "exported_at": BEGAN.isoformat(), "source": "a month",
         "space": {"kind": "private", "owner_id": owner, "chat_id": None}},
    ]  # fmt: skip
    said: dict[int, list[Json]] = {number: [] for number in range(1, len(topics) + 1)}
    at, step, thread = BEGAN, timedelta(days=30) / messages, 1
    for number in range(1, messages + 1):
        at += step
        if number % 40 == 1:
            thread = chance.randrange(1, len(topics) + 1)
        planted = number in (PLANTED_AT - 1, PLANTED_AT)
        where = topics.index(11) + 1 if planted else thread
        words = {"about": chance.choice(ABOUT[topics[where - 1]]), "day": chance.choice(DAYS)}
        user = number % 2 == 1
        text = chance.choice(ASKED if user else ANSWERED).format(**words, number=chance.randrange(5, 300))
        if number == PLANTED_AT - 1:
            text = PLANTED
        elif number == PLANTED_AT:
            text = "What a lovely thing to have done."
        said[where].append(message(len(said[where]) * 10 + where, where, user, owner, text, at))
    for own, session in zip(threads, sessions, strict=True):
        lines += [own, session, *said[own["id"]]]
    return [*lines, {"type": "end", "rows": len(lines)}]


def message(number: int, thread: int, user: bool, owner: int, text: str, at: datetime) -> Json:
    """A message of an export."""
    block: Json = {"type": "text", "text": text}
    return {
        "type": "message", "id": number, "thread": thread, "session": thread, "role": "user" if user else "assistant",
        "user_id": owner if user else None, "name": "Ada" if user else None, "text": text,
        "blocks": [block] if user else [{"role": "assistant", "content": [block]}], "status": "complete",
        "untrusted": False, "tainted": False, "created_at": at.isoformat(), "versions": [],
    }  # fmt: skip


def written(path: Path, owner: int, messages: int) -> Path:
    """Writes the export to a file."""
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows(owner, messages)), "utf-8")
    return path
