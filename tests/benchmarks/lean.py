"""The size of the prompt's memory layer, and the share of questions whose evidence is in it or in recall."""

from __future__ import annotations

import argparse
import random
import statistics
from dataclasses import dataclass
from typing import Any

import psycopg

from relay.clients.embedding.embedder import ChildEmbedder
from relay.conversation.memory_layer import take_memories, weight
from relay.conversation.prompt import RECALL_TOKENS
from relay.conversation.quotes import recall_within
from relay.core.models import Space
from relay.core.prompt_markup import estimate_tokens
from relay.memory.calls.base import decode_row
from relay.memory.calls.turn import RECALLED, TOKEN_CHARACTERS
from relay.memory.index import EmbedderRouter, Indexer
from relay.memory.query_vectors import embed_query
from relay.memory.rows.found import FoundEntry
from relay.memory.rows.turns.context import Memory
from relay.memory.store import Store
from tests.benchmarks.chats import store_chat
from tests.benchmarks.conversations import Conversation, load, merge
from tests.benchmarks.generated import one as insert
from tests.benchmarks.lab import Lab, Row
from tests.benchmarks.opened import open_embedder, open_store

BUDGETS = (0, 1_000, 2_000, 4_000, 6_000)
WIDTHS = (RECALLED, 10, 20)
"""How many passages recall returns. More passages get more tokens."""
SIZES = (100, 1_000, 10_000)
MEMORY = """insert into relay.memory (space_id, kind, content, importance, source_message_id, created_at, updated_at)
    select m.space_id, 'fact', %(content)s, %(importance)s, m.id, m.created_at, m.created_at
    from relay.message m where m.id = %(message)s returning id"""
SPACE = "insert into relay.space (kind, owner_id) values ('private', %(owner)s) returning id"
ANY_MEMORY = """insert into relay.memory (space_id, kind, content, importance)
    values (%(space)s, 'fact', %(content)s, %(importance)s) returning id"""
IN_PROMPT = "select relay.memories_for_prompt(s.id, %s) from relay.space s where owner_id = %s"


@dataclass(frozen=True)
class Heard:
    """A chat in the database: its space, and the message of the chat that each stored message and memory comes from."""

    space: Space
    messages: dict[int, str]
    memories: dict[int, str]


@dataclass(frozen=True)
class Answered:
    """A question to a chat: its evidence, and what recall found for it, best first."""

    heard: Heard
    evidence: tuple[str, ...]
    found: list[FoundEntry]


Layers = dict[Space, list[Memory]]
"""The memories in the prompt, by space."""


async def lean(lab: Lab, options: argparse.Namespace) -> list[Row]:
    """Measures each of the project's chats as one person's whole history, then all of them together as one person's."""
    async with open_store(lab.folder / "data") as (store, url), open_embedder(options.embedder, lab.folder) as embedder:
        chats = load()[: options.chats]
        rows: list[Row] = []
        with psycopg.connect(url, autocommit=True) as connection:
            for number in SIZES:
                rows += sizes(connection, [fact for chat in chats for fact in chat.facts.values()], number)
            for name, lives in (("one chat", chats), (f"{len(chats)} chats", [merge(chats)])):
                heard = [hear(connection, life) for life in lives]
                if embedder:
                    await Indexer(store, EmbedderRouter(embedder, lambda model: None)).run()
                asked = [
                    Answered(one, question.evidence, await recalled(store, embedder, one, question.text))
                    for life, one in zip(lives, heard, strict=True)
                    for question in life.questions
                ]
                layers = {budget: {one.space: layer(connection, one.space.owner_id, budget) for one in heard}
                          for budget in BUDGETS}  # fmt: skip
                rows += [share(name, asked, layers[budget], budget, width) for width in WIDTHS for budget in BUDGETS]
    return rows


def sizes(connection: psycopg.Connection[Any], facts: list[str], number: int) -> list[Row]:
    """Measures the layer of a person with this many memories."""
    owner = number
    space = insert(connection, SPACE, owner=owner)
    chance = random.Random(number)
    for _ in range(number):
        row = {"space": space, "content": chance.choice(facts), "importance": chance.randint(3, 8)}
        insert(connection, ANY_MEMORY, **row)
    rows = []
    for budget in (2_000, 6_000):
        kept = layer(connection, owner, budget)
        tokens = sum(map(weight, kept))
        rows.append(Row(f"{number:,} memories, budget {budget:,}", "", f"{len(kept)} in the prompt, {tokens:,} tokens"))
    return rows


def hear(connection: psycopg.Connection[Any], chat: Conversation) -> Heard:
    """Stores a chat, and its statements as memories of random importance."""
    space, messages = store_chat(connection, chat)
    chance = random.Random(chat.id)
    ids = {id: message for message, id in messages.items()}
    memories = {}
    for id, fact in chat.facts.items():
        row = {"content": fact, "importance": chance.randint(3, 8), "message": ids[id]}
        memories[insert(connection, MEMORY, **row)] = id
    return Heard(space, messages, memories)


def layer(connection: psycopg.Connection[Any], owner: int | None, budget: int) -> list[Memory]:
    """Returns the memories in the prompt of a person."""
    row = connection.execute(IN_PROMPT.encode(), (budget * TOKEN_CHARACTERS, owner)).fetchone()
    return take_memories(decode_row(list[Memory], row[0] if row else []), budget)[0]


async def recalled(store: Store, embedder: ChildEmbedder | None, heard: Heard, text: str) -> list[FoundEntry]:
    """Returns what recall finds for a message written in another chat."""
    query = await embed_query(embedder, text, seconds=10)
    asked = {**query.as_json(), "chat_id": heard.space.owner_id, "topic_id": 1}
    return await store.recall_for(heard.space, asked, max(WIDTHS))


def share(name: str, asked: list[Answered], layers: Layers, budget: int, width: int) -> Row:
    """Returns the share of the questions' evidence that is in the prompt, and the share of questions with any of it."""
    shares, by_layer, tokens = [], [], []
    for one in asked:
        carried = {row.id for row in layers[one.heard.space]}
        shown = {one.heard.memories[id] for id in carried}
        by_layer.append(len(shown & set(one.evidence)) / len(one.evidence))
        fresh = [row for row in one.found[:width] if row.kind != "memory" or row.id not in carried]
        kept = recall_within(fresh, RECALL_TOKENS * width // RECALLED)
        shown |= {(one.heard.memories if row.kind == "memory" else one.heard.messages)[row.id] for row in kept}
        shares.append(len(shown & set(one.evidence)) / len(one.evidence))
        tokens.append(sum(estimate_tokens(row.snippet) + 12 for row in kept))
    carried_tokens = statistics.mean(sum(map(weight, rows)) for rows in layers.values())
    told = (
        f"{statistics.mean(shares):.3f} of the evidence, some for {statistics.mean(map(bool, shares)):.0%} of questions"
        f" (layer alone {statistics.mean(by_layer):.3f}; tokens {carried_tokens:,.0f} + {statistics.mean(tokens):,.0f})"
    )
    return Row(f"{name}, budget {budget:,}, recall of {width}", "", told)
