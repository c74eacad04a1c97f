"""How well recall finds messages in long chats, asked through the database: evidence within the first few results."""

from __future__ import annotations

import argparse
import importlib
import statistics
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import psycopg

from relay.clients.embedding.embedder import ChildEmbedder
from relay.core.models import Space
from relay.memory.index import EmbedderRouter, Indexer, enter
from relay.memory.query_vectors import embed_query
from relay.memory.store import Store
from tests.benchmarks import conversations
from tests.benchmarks.bm25 import BM25
from tests.benchmarks.chats import store_chat
from tests.benchmarks.lab import Lab, Row, p95
from tests.benchmarks.opened import open_embedder, open_store

FIRST = (5, 10)


async def recall(lab: Lab, options: argparse.Namespace) -> list[Row]:
    """Asks the chats of `--score`, or the project's (`--own`), with the vectors of `--embedder`, or with words only if
    it is off."""
    if options.score is None and not options.own:
        return [Row("recall: needs --score, a folder with score.py and its chats, or --own", "", "not measured")]
    found, chats = Found(), chosen(options)
    async with open_store(lab.folder / "data") as (store, url), open_embedder(options.embedder, lab.folder) as embedder:
        with psycopg.connect(url, autocommit=True) as connection:
            for chat in chats:
                space, said = store_chat(connection, chat)
                await enter(store)
                if embedder:
                    await Indexer(store, EmbedderRouter(embedder, lambda model: None)).run()
                await ask(store, embedder, chat, space, said, found)
    what = f"recall, embedder {options.embedder}"
    return [
        *(plain_words(chats, speaker) for speaker in ("", conversations.SPEAKERS[0]) if options.own),
        *(Row(f"{what}: {name}", "", found.told(name)) for name in ("all", *found.kinds())),
        Row("recall: a question and its vector, p95", "", f"{p95(found.times):.1f} ms"),
    ]


def chosen(options: argparse.Namespace) -> list[Any]:
    """Returns the chats to ask."""
    if options.own:
        return list(conversations.load()[: options.chats])
    sys.path.insert(0, str(options.score))
    return list(importlib.import_module("score").load(options.no_names))[: options.chats]


def plain_words(chats: list[Any], speaker: str) -> Row:
    """Measures BM25 on the messages of one speaker, or on all."""
    found = Found()
    for chat in chats:
        turns = [turn for turn in chat.turns if speaker in ("", turn.speaker)]
        index = BM25([turn.text for turn in turns])
        for question in chat.questions:
            ids = [turns[place].dia_id for place in index.rank(question.text, max(FIRST))]
            found.add(question.category, ids, set(question.evidence))
    return Row(f"BM25 in what {speaker or 'both'} said", "", found.told("all"))


@dataclass
class Found:
    """The shares of the evidence found, by kind of question, and the seconds of each question."""

    shares: dict[tuple[str, int], list[float]] = field(default_factory=lambda: defaultdict(list))
    times: list[float] = field(default_factory=list)

    def add(self, kind: str, ids: list[str], evidence: set[str]) -> None:
        """Counts a question, given the found ids, best first."""
        for first in FIRST:
            for name in ("all", kind):
                self.shares[name, first].append(len(evidence & set(ids[:first])) / len(evidence))

    def kinds(self) -> list[str]:
        """Returns the kinds of questions, in the order of their first occurrence."""
        return list(dict.fromkeys(name for name, _ in self.shares if name != "all"))

    def told(self, name: str) -> str:
        """Formats the shares of a kind."""
        shares = ", ".join(f"{statistics.mean(self.shares[name, first]):.3f} in the first {first}" for first in FIRST)
        return f"{shares} ({len(self.shares[name, FIRST[0]])} questions)"


async def ask(
    store: Store, embedder: ChildEmbedder | None, chat: Any, space: Space, said: dict[int, str], found: Found
) -> None:
    """Asks all questions of a chat."""
    for question in chat.questions:
        started = time.perf_counter()
        query = await embed_query(embedder, question.text, seconds=10)
        rows = await store.look_up(space, {"bot_id": 0}, query.as_json(), max(FIRST)) or []
        found.times.append(time.perf_counter() - started)
        found.add(question.category, [said[row.id] for row in rows], set(question.evidence))
