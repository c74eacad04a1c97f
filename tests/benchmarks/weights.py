"""Learns the weights of recall's signals from both kinds of chat at once, and measures them on chats left out."""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import psycopg
from numpy.typing import NDArray

from relay.clients.embedding.embedder import ChildEmbedder
from relay.memory.index import EmbedderRouter, Indexer, enter
from relay.memory.query_vectors import embed_query
from relay.memory.store import Store
from tests.benchmarks.chats import store_chat
from tests.benchmarks.lab import Lab, Row
from tests.benchmarks.opened import open_embedder, open_store
from tests.benchmarks.recall import FIRST, chosen

STEPS = 200
RATE = 0.03
DECAY = 0.003
"""How strongly weights are pulled towards zero."""
SHARPNESS = 8.0
"""If a sum of signals is greater by 1, it is e to this power times as likely to be evidence."""
NEAR = 0.1
SIGNALS = """select s.* from relay.space, relay.entry_signals(id, %(query)s) s
    where space.kind = %(kind)s and coalesce(owner_id, chat_id) = %(number)s"""

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Sample:
    """A question: the signals of each candidate entry (one per row), which entries are evidence, and how much evidence
    there is in all."""

    kind: str
    signals: Numbers
    evidence: NDArray[np.bool_]
    wanted: int


@dataclass(frozen=True)
class Heard:
    """A chat of friends, or of a person and the assistant."""

    id: str
    friends: bool
    samples: list[Sample] = field(default_factory=list)


async def weights(lab: Lab, options: argparse.Namespace) -> list[Row]:
    """Learns from the chats of `--score` and the project's own, with the vectors of `--embedder`, or with words only if
    it is off."""
    if options.score is None:
        return [Row("weights: needs --score, a folder with score.py and its chats", "", "not measured")]
    async with open_store(lab.folder / "data") as (store, url), open_embedder(options.embedder, lab.folder) as embedder:
        with psycopg.connect(url, autocommit=True) as connection:
            names, now = current(connection, embedder is not None)
            chats = []
            for own in (False, True):
                for chat in chosen(argparse.Namespace(**{**vars(options), "own": own})):
                    heard = Heard(chat.id, friends=not own)
                    chats.append(heard)
                    await collect(connection, store, embedder, chat, names, heard.samples)
    return told(chats, names, now, f"embedder {options.embedder}")


def current(connection: psycopg.Connection[Any], meaning: bool) -> tuple[list[str], Numbers]:
    """Returns the signals' names, and their weights in the database."""
    cursor = connection.execute("select * from relay.signal_weights(%s)", [meaning])
    return [column.name for column in cursor.description or ()], np.array(cursor.fetchone(), float)


async def collect(
    connection: psycopg.Connection[Any],
    store: Store,
    embedder: ChildEmbedder | None,
    chat: Any,
    names: Sequence[str],
    samples: list[Sample],
) -> None:
    """Stores a chat and asks its questions."""
    space, said = store_chat(connection, chat)
    await enter(store)
    if embedder:
        await Indexer(store, EmbedderRouter(embedder, lambda model: None)).run()
    for question in chat.questions:
        query = await embed_query(embedder, question.text, seconds=10)
        values = {"kind": space.kind, "number": space.owner_id or space.chat_id, "query": json.dumps(query)}
        cursor = connection.execute(SIGNALS.encode(), values)
        columns = [column.name for column in cursor.description or ()]
        rows = [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]
        evidence = [said[row["source_id"]] in question.evidence for row in rows]
        signals = np.array([[row[name] for name in names] for row in rows], float).reshape(len(rows), len(names))
        samples.append(Sample(question.category, signals, np.array(evidence, bool), len(set(question.evidence))))


def told(chats: list[Heard], names: list[str], now: Numbers, what: str) -> list[Row]:
    """Returns the learned weights, and how well they find evidence in chats they weren't learned from."""
    learned = learn(chats)
    without = {chat.id: learn([other for other in chats if other is not chat]) for chat in chats}
    rows = []
    for friends, who in ((True, "friends"), (False, "assistant")):
        those = [chat for chat in chats if chat.friends is friends]
        kinds = dict.fromkeys(sample.kind for chat in those for sample in chat.samples)
        ways = [
            ("left out", those, without),
            ("learned from all", those, dict.fromkeys(without, learned)),
            ("weights of the database", those, dict.fromkeys(without, now)),
            *((f"left out, {kind}", only(those, kind), without) for kind in kinds),
        ]
        rows += [Row(f"{who}, {what}: {way}", "", found(asked, by_chat)) for way, asked, by_chat in ways]
    folds = np.array(list(without.values()))
    told_weights = zip(names, learned, folds.min(0), folds.max(0), now, strict=True)
    return rows + [
        Row(f"weight of {name}", "", f"{one:.2f} (folds {low:.2f} to {high:.2f}; the database's {before:.2f})")
        for name, one, low, high, before in told_weights
    ]


def only(chats: list[Heard], kind: str) -> list[Heard]:
    """Returns the chats with only one kind of question."""
    return [replace(chat, samples=[one for one in chat.samples if one.kind == kind]) for chat in chats]


def found(chats: list[Heard], weights_of: Mapping[str, Numbers]) -> str:
    """Returns the shares of the evidence within the first 5 and 10, by the weights for each chat."""
    scored = [(sample, sample.signals @ weights_of[chat.id]) for chat in chats for sample in chat.samples]
    five, ten = (statistics.mean(share(sample, sums, first) for sample, sums in scored) for first in FIRST)
    return f"{five:.3f} in the first 5, {ten:.3f} in the first 10 ({len(scored)} questions)"


def share(sample: Sample, sums: Numbers, first: int) -> float:
    """Returns the share of a question's evidence within the first results."""
    return float(sample.evidence[np.argsort(-sums, kind="stable")[:first]].sum()) / sample.wanted


def learn(chats: list[Heard]) -> Numbers:
    """Returns the weights with most of the evidence within the first ten results. Both kinds of chat count the same,
    however many questions they have. First maximises the likelihood that evidence comes first, then, from there, the
    share itself. The share is smoothed: an entry within about `NEAR` of the tenth counts by its distance."""
    signals, absent, right, counts = padded([(one, chat.friends) for chat in chats for one in chat.samples])
    right *= counts[:, None]
    every = np.arange(len(signals))

    def first(sums: Numbers) -> Numbers:
        scores = SHARPNESS * (signals @ sums) + absent
        likely = np.exp(scores - scores.max(1, keepdims=True))
        likely *= right.sum(1, keepdims=True) / likely.sum(1, keepdims=True)
        return SHARPNESS * np.einsum("qef,qe->f", signals, likely - right)

    def share(sums: Numbers) -> Numbers:
        scores = signals @ sums + absent
        others = np.where(right > 0, -1e9, scores)
        last = np.argsort(-others, 1)[:, min(FIRST[1], others.shape[1]) - 1]
        before = 1 / (1 + np.exp(-np.clip((scores - others[every, last][:, None]) / NEAR, -50, 50)))
        pull = right * before * (1 - before) / NEAR
        return np.asarray(
            np.einsum("q,qf->f", pull.sum(1), signals[every, last]) - np.einsum("qe,qef->f", pull, signals)
        )

    return descend(share, descend(first, np.zeros(signals.shape[2])))


def descend(slope_at: Callable[[Numbers], Numbers], sums: Numbers) -> Numbers:
    """Returns the end of a descent by Adam's steps."""
    mean, square = np.zeros_like(sums), np.zeros_like(sums)
    for step in range(1, STEPS + 1):
        slope = slope_at(sums) + DECAY * sums
        mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope**2
        sums = sums - RATE * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
    return sums


def padded(samples: list[tuple[Sample, bool]]) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """Converts samples, each with whether it is of friends, to arrays of one length: the signals, a large negative
    number for missing entries, the evidence, and how much each sample counts."""
    samples = [(sample, friends) for sample, friends in samples if sample.evidence.any()]
    shape = (len(samples), max(len(sample.signals) for sample, _ in samples))
    signals, absent = np.zeros((*shape, samples[0][0].signals.shape[1])), np.full(shape, -1e9)
    right, counts = np.zeros(shape), np.zeros(len(samples))
    for place, (sample, friends) in enumerate(samples):
        rows = len(sample.signals)
        signals[place, :rows], absent[place, :rows] = sample.signals, 0
        right[place, :rows] = sample.evidence / sample.evidence.sum()
        counts[place] = 0.5 / sum(which is friends for _, which in samples)
    return signals, absent, right, counts
