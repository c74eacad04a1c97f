"""Tests that a turn waits a moment for its message's vector, and no longer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from datetime import UTC
from typing import Any

import pytest

from relay.clients.offline import OfflineModel
from relay.conversation.engine import Engine
from relay.conversation.prompt import build_prompt
from relay.conversation.recalling import VECTOR_SECONDS
from relay.conversation.turn import answer, begin
from relay.core import metrics
from relay.core.errors import EmbedderUnavailable
from relay.core.models import Incoming
from relay.memory.query_vectors import EmbeddedQuery, embed_query
from relay.memory.spending.gate import Gate
from relay.memory.store import Store
from tests.integration.turn_driver import ADA, TurnDriver, incoming_of, private, reply
from tests.standins.fakes import FakeSink


def made(outcome: str) -> float:
    return metrics.REGISTRY.get_sample_value("relay_vectors_total", {"outcome": outcome}) or 0


class Slow:
    """An embedder that takes some time, or fails."""

    model = "slow"

    def __init__(self, seconds: float = 0.0, error: Exception | None = None) -> None:
        self.seconds = seconds
        self.error = error
        self.asked: list[tuple[str, bool]] = []

    async def embed(self, texts: Sequence[str], query: bool = False) -> list[list[float]]:
        self.asked += [(text, query) for text in texts]
        await asyncio.sleep(self.seconds)
        if self.error:
            raise self.error
        return [[0.5, *[0.0] * 383] for _ in texts]


async def recalled_with(
    driver: TurnDriver, monkeypatch: pytest.MonkeyPatch, embedder: Slow | None
) -> tuple[Any, float]:
    """Returns the vector and the model that recall got for a message, and how long the start of the turn took."""
    given: list[tuple[Any, str]] = []
    own = Store.recall

    async def recall(self: Store, incoming: Incoming, space: Any = None, vector: Any = None, model: str = "") -> Any:
        given.append((vector, model))
        return await own(self, incoming, space, vector, model)

    monkeypatch.setattr(Store, "recall", recall)
    text = "Where is my bicycle?"
    turn = await driver.turn(ADA, text)
    engine = Engine(driver.store, Gate(OfflineModel(), driver.store), "m", 100, UTC, embedder=embedder)
    started = time.monotonic()
    await begin(engine, incoming_of(turn, text, private(ADA)))
    return given, time.monotonic() - started


async def test_a_vector_that_arrives_in_time_is_used(driver: TurnDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    embedder, before = Slow(), made("used")
    [(vector, model)], _ = await recalled_with(driver, monkeypatch, embedder)
    assert vector.startswith("[0.5,0,0,")
    assert model == "slow"
    assert embedder.asked == [("Where is my bicycle?", True)]
    assert made("used") == before + 1


async def test_a_late_vector_is_not_waited_for(driver: TurnDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    before = made("late")
    given, seconds = await recalled_with(driver, monkeypatch, Slow(seconds=60))
    assert given == [(None, "")]
    assert VECTOR_SECONDS <= seconds < 30
    assert made("late") == before + 1


@pytest.mark.parametrize("embedder", [None, Slow(error=EmbedderUnavailable())])
async def test_without_an_embedder_recall_uses_words_only(
    driver: TurnDriver, monkeypatch: pytest.MonkeyPatch, embedder: Slow | None
) -> None:
    given, _ = await recalled_with(driver, monkeypatch, embedder)
    assert given == [(None, "")]


async def test_a_message_without_words_has_no_vector() -> None:
    embedder = Slow()
    assert await embed_query(embedder, " ", VECTOR_SECONDS) == EmbeddedQuery(" ")
    assert embedder.asked == []


async def test_a_turn_is_answered_whatever_the_embedder_does(driver: TurnDriver) -> None:
    turn = await driver.turn(ADA, "hello")
    engine = Engine(driver.store, Gate(OfflineModel(), driver.store), "m", 100, UTC, embedder=Slow(seconds=60))
    told = await answer(engine, incoming_of(turn, "hello", private(ADA)), FakeSink(), asyncio.Event())
    assert "You said: hello" in told.text


class Toothed:
    """An embedder of the e5 family, for which everything about teeth is the same."""

    model = "test:e5"

    async def embed(self, texts: Sequence[str], query: bool = False) -> list[list[float]]:
        about_teeth = [any(word in text for word in ("dentist", "tooth")) for text in texts]
        return [[1.0, 0.0, *[0.0] * 382] if one else [0.0, 1.0, *[0.0] * 382] for one in about_teeth]


async def make_intent(driver: TurnDriver, about: str, text: str, **limits: int) -> None:
    """Begins Ada's conversation, and makes a standing intent of hers."""
    await driver.exchange(ADA, "hello")
    await driver.store.make_intent({
        "space": private(ADA).as_json(), "chat_id": ADA, "topic_id": 0, "user_id": ADA, "about": about, "text": text,
        "turn_id": None, "proposed": False, **limits,
    })  # fmt: skip


async def test_a_message_that_means_an_intent_shows_it_once_a_day(driver: TurnDriver) -> None:
    store = driver.store
    await make_intent(driver, "dentist", "take the insurance card")
    shown = []
    for text in ("what a nice day", "this toothache is killing me", "still this toothache"):
        turn = await driver.turn(ADA, text)
        engine = Engine(store, Gate(OfflineModel(), store), "m", 100, UTC, embedder=Toothed())
        begun = await begin(engine, incoming_of(turn, text, private(ADA)))
        shown.append([one.text for one in begun.context.intents])
        await store.finish(begun.incoming, reply())
        await driver.close(turn)
    assert shown == [[], ["take the insurance card"], []]
    assert [one.used for one in await store.intents(private(ADA), ADA)] == [1]


@pytest.mark.parametrize("said", ["the dentist called", "this toothache is killing me"])
async def test_a_message_that_is_answered_again_shows_its_intent_again(driver: TurnDriver, said: str) -> None:
    store = driver.store
    await make_intent(driver, "dentist", "take the insurance card")
    engine = Engine(store, Gate(OfflineModel(), store), "m", 100, UTC, embedder=Toothed())
    shown = []
    for text, retry in ((said, False), ("/retry", True), (said, False)):
        turn = await driver.turn(ADA, text)
        begun = await begin(engine, incoming_of(turn, text, private(ADA), retry=retry))
        shown.append([one.text for one in begun.context.intents])
        await store.finish(begun.incoming, reply())
        await driver.close(turn)
    assert shown == [["take the insurance card"], ["take the insurance card"], []]
    assert [one.used for one in await store.intents(private(ADA), ADA)] == [1]


@pytest.mark.parametrize(
    ("about", "texts", "others"),
    [
        ("car", ["my car makes a noise", "two cars", "the car's door"],
         ["I really care about this", "who cares", "pass me the cardboard", "the carpet is dirty"]),
        ("Mum", ["Mum called"], ["he mumbles all the time"]),
        ("Tim", ["ich habe Tim gesehen"], ["many times", "set a timer"]),
        ("Hund", ["die Hunde bellen", "mit den Hunden war es schön", "Hund!"], ["a hundred times"]),
        ("Auto", ["Autos", "das Auto"], ["Autor", "an automatic door"]),
        ("TV", ["two TVs"], ["TVA"]),
        ("allergies", ["my allergy is back"], []),
        ("Zahnarzt", ["der Zahnarzttermin ist morgen"], []),
        ("dentist", ["two dentists"], []),
        ("치과", ["치과에 갔다"], []),
        ("the car park", ["is the car in a park?"], ["the car is red"]),
    ],
)  # fmt: skip
async def test_words_are_recognised_inflected_but_short_ones_not_in_longer_words(
    driver: TurnDriver, about: str, texts: list[str], others: list[str]
) -> None:
    await make_intent(driver, about, "ask about it", mention_hours=0, mention_times=9)
    shown = {text: bool((await driver.exchange(ADA, text)).context.intents) for text in [*texts, *others]}
    assert shown == dict.fromkeys(texts, True) | dict.fromkeys(others, False)


async def test_the_model_is_told_which_mention_is_the_last(driver: TurnDriver) -> None:
    await make_intent(driver, "car", "book the service", mention_hours=0, mention_times=2)
    told = []
    for text in ("my car", "the car", "a car"):
        made = await driver.exchange(ADA, text)
        prompt = str(build_prompt(made.incoming, made.context, [], UTC).messages)
        told.append(("book the service" in prompt, "This was the last time" in prompt))
    assert told == [(True, False), (True, True), (False, False)]
