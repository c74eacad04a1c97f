"""Checks that no space is shown in another, with random people, chats, links, commands and buttons."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from relay.core.models import File, Incoming, ModelRequest, Space, Thread
from relay.memory.claims import ClaimedTurn
from relay.memory.rows.found import FoundEntry
from relay.memory.rows.search_context import Opened
from relay.memory.store import Store
from relay.surfaces.chat import COMMANDS
from relay.surfaces.telegram.groups import group_join, groups
from relay.surfaces.telegram.groups.groups import Groups
from relay.surfaces.telegram.turns import understand
from tests.integration.apart import Act, Leak, Ledger
from tests.integration.conftest import Server
from tests.integration.inside import inside
from tests.integration.walk import ADMINS, KNOWN, Walk
from tests.standins.telegram.people import People

Json = dict[str, Any]
STEPS = 400
GUARD = pytest.mark.slow("the same with three other guards, and what the checker detects, in the same file")
ADA, BEN, EVE = 1001, 1002, 1003
GROUP, OTHER = -1001, -1002
A, B, C = "qggggaaz", "qggggabz", "qggggbaz"


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_join, "SETTLE_SECONDS", 0.0)
    monkeypatch.setattr(groups, "OTHERS_SECONDS", 0.0)  # otherwise a group of one counts as shared for a while


async def walked(server: Server, seed: int) -> Walk:
    """Runs a walk. Raises `Leak`."""
    walk = Walk(seed)
    async with inside(server, walk.answers, ADMINS, frozenset(KNOWN)) as relay:
        walk.settle_in(relay)
        await relay.settled()
        await walk.steps(STEPS)
        assert await relay.sql("select id, error from turn where failures > 0 or status = 'failed'") == []
    return walk


ANOTHER = pytest.mark.slow("another walk")


@pytest.mark.parametrize("seed", [1, pytest.param(3, marks=ANOTHER), pytest.param(5, marks=ANOTHER)])
async def test_nothing_of_one_space_is_shown_in_another(embedded: Server, seed: int) -> None:
    walk = await walked(embedded, seed)
    assert walk.count["prompts"] > STEPS / 5
    assert walk.ledger.looked_at > 3 * STEPS
    assert walk.ledger.liked > 20
    assert walk.count["open_memory"] > 2
    assert walk.count["press qo"] > 2
    assert walk.count["digests"] > 0
    assert all(walk.count[f"/{name}"] for name, verb in COMMANDS.items() if "chat" in verb.surfaces)


# The walk finds leaks: it fails if one of the guards is removed


async def everywhere_private(groups: Groups, chat: Json, user_id: int) -> tuple[Space, bool]:
    return Space("private", owner_id=user_id), True


def lent_to_all(unsaid: Callable[..., Incoming]) -> Callable[..., Incoming]:
    def made(turn: ClaimedTurn, *given: Any) -> Incoming:
        incoming = unsaid(turn, *given)
        lent = Space("private", owner_id=turn.linked_to) if turn.linked_to and incoming.space.kind == "group" else None
        return replace(incoming, lent=lent)

    return made


async def never_taken_back(store: Store, chat_id: int, owner_id: int) -> bool:
    return True


look_at = Store.look_at


async def opened_anywhere(
    store: Store, space: Space, asker: Json, kind: str, number: int, part: int, guarded: bool = True
) -> Opened | None:
    spaces = [Space("private", owner_id=user_id) for user_id in KNOWN]
    spaces += [Space("group", chat_id=chat_id) for chat_id in (-1001, -1002, -1003, -1004)]
    found = [await look_at(store, one, {"bot_id": 0}, kind, number, part, False) for one in spaces]
    return next((one for one in found if one is not None), None)


async def looked_up_in_private(store: Store, space: Space, asker: Json, query: Json, limit: int) -> list[FoundEntry]:
    spaces = [Space("private", owner_id=user_id) for user_id in KNOWN]
    return [row for one in spaces for row in await store.recall_for(one, query, limit)]


def liked_by_all(begin: Callable[..., Any]) -> Callable[..., Any]:
    async def begun(store: Store, incoming: Incoming, *given: Any, **more: Any) -> Any:
        context = await begin(store, incoming, *given, **more)
        place = Thread(incoming.space, incoming.chat_id, incoming.topic_id)
        rows = [row for user_id in KNOWN for row in (await store.preferences(place, user_id)).rows]
        return replace(context, preferences=tuple(rows))

    return begun


async def long_walk(server: Server) -> None:
    for seed in range(1, 6):
        await walked(server, seed)


@pytest.mark.parametrize(
    ("room", "name", "instead"),
    [
        (Groups, "space_of", everywhere_private),
        pytest.param(understand, "unsaid", lent_to_all(understand.unsaid), marks=GUARD),
        pytest.param(Store, "unlink", never_taken_back, marks=GUARD),
        pytest.param(Store, "look_at", opened_anywhere, marks=GUARD),
        (Store, "look_up", looked_up_in_private),
        (Store, "begin", liked_by_all(Store.begin)),
    ],
    ids=[
        "every space is one's own",
        "lent to everybody",
        "never taken back",
        "opened anywhere",
        "found anywhere",
        "liked by all",
    ],
)
async def test_the_random_walk_finds_a_leak_when_a_guard_is_missing(
    embedded: Server, monkeypatch: pytest.MonkeyPatch, room: Any, name: str, instead: Any
) -> None:
    monkeypatch.setattr(room, name, instead)
    with pytest.raises(Leak):
        await long_walk(embedded)


# The checker, with messages that were or weren't allowed


@pytest.fixture
def ledger() -> Ledger:
    """Ada and Ben are in a group, Ada and Eve in another. The words belong to Ada, to a group and to nobody."""
    tg = People()
    ada, ben, eve = (tg.user(user_id, name) for user_id, name in list(KNOWN.items())[:3])
    for user in (ada, ben, eve):
        tg.dm(user)
    tg.group(GROUP, "Group", [ada, ben], type="supergroup")
    tg.group(OTHER, "Other", [ada, eve], type="supergroup")
    made = Ledger(tg)
    made.said([A], ("private", ADA))
    made.said([B], ("group", GROUP))
    made.said([C], None)
    return made


def act(ledger: Ledger, chat_id: int, user_id: int, **more: Any) -> Act:
    return Act("something", ledger.tg.chat(chat_id), ledger.tg.person(user_id), **more)


def leaks(ledger: Ledger, what: Act, method: str, chat_id: int, text: str, **more: Any) -> bool:
    """Returns whether the ledger finds a leak in a call."""
    ledger.leaks.clear()
    ledger.begin(what)
    ledger.call(method, {"chat_id": chat_id, "text": text, **more})
    return bool(ledger.leaks)


def test_a_word_may_be_shown_only_in_its_own_space(ledger: Ledger) -> None:
    said = {word: act(ledger, GROUP, ADA, turn=True) for word in (A, B, C)}
    shown = {
        (word, chat_id): not leaks(ledger, said[word], "sendMessage", chat_id, f"It is {word}.")
        for word in (A, B, C)
        for chat_id in (ADA, BEN, GROUP, OTHER)
    }
    assert [place for place, fine in shown.items() if fine] == [(A, ADA), (B, GROUP)]
    with pytest.raises(Leak, match=f"{C} of nobody"):
        ledger.end()


@pytest.mark.parametrize(
    ("method", "given"),
    [
        ("sendMessage", {"reply_markup": {"inline_keyboard": [[{"text": f"Forget {A}", "callback_data": "x"}]]}}),
        ("sendMessageDraft", {"text": A}),
        ("sendDocument", {"document": File("notes.txt", A.encode())}),
        ("sendPhoto", {"caption": f"({A})"}),
        ("editForumTopic", {"name": A}),
        ("editMessageText", {"text": A, "message_id": 1}),
        ("setMyCommands", {"chat_id": 0, "commands": [{"command": "x", "description": A}]}),
    ],
)
def test_a_leak_is_detected_in_every_kind_of_message(ledger: Ledger, method: str, given: Json) -> None:
    ledger.begin(act(ledger, GROUP, ADA, turn=True))
    ledger.call(method, {"chat_id": GROUP, **given})
    with pytest.raises(Leak):
        ledger.end()


def test_text_already_in_a_message_may_stay_in_it(ledger: Ledger) -> None:
    group = ledger.tg.chat(GROUP)
    message = ledger.tg.store(group, ledger.tg.bot, {"text": f"While nobody else was here: {A}"})
    presses = act(ledger, GROUP, ADA, asks=True)
    assert not leaks(ledger, presses, "editMessageText", GROUP, f"Undone: {A}", message_id=message.message_id)
    assert leaks(ledger, presses, "sendMessage", GROUP, f"Undone: {A}")


def test_a_person_may_see_a_groups_words_in_private_while_a_member(ledger: Ledger) -> None:
    for user_id in (ADA, BEN):
        assert not leaks(ledger, act(ledger, user_id, user_id, asks=True), "sendMessage", user_id, B)
        assert leaks(ledger, act(ledger, user_id, user_id, turn=True), "sendMessage", user_id, B)
    assert leaks(ledger, act(ledger, EVE, EVE, asks=True), "sendMessage", EVE, B)
    assert leaks(ledger, act(ledger, GROUP, ADA, asks=True), "sendMessage", BEN, A)
    ledger.tg.remove_member(GROUP, BEN)
    assert leaks(ledger, act(ledger, BEN, BEN, asks=True), "sendMessage", BEN, B)


def test_a_persons_own_words_are_no_leak(ledger: Ledger) -> None:
    assert not leaks(ledger, act(ledger, OTHER, EVE, asks=True, typed={B}), "sendMessage", OTHER, f"No {B} here.")


def test_lent_memory_is_for_the_lenders_turns_and_answers_are_for_everyone(ledger: Ledger) -> None:
    ledger.lenders[GROUP] = ADA
    request = ModelRequest("big", [{"type": "text", "text": f"- Ada: {A}"}], [{"role": "user", "content": []}], 9)
    for user_id, fine in ((ADA, True), (BEN, False)):
        ledger.leaks.clear()
        ledger.begin(act(ledger, GROUP, user_id, turn=True))
        ledger.prompt(request)
        assert (ledger.leaks == []) is fine
    assert leaks(ledger, act(ledger, GROUP, BEN, turn=True), "sendMessage", GROUP, A)
    ledger.leaks.clear()
    ledger.begin(act(ledger, GROUP, ADA, turn=True))
    ledger.prompt(request)
    ledger.call("sendMessage", {"chat_id": GROUP, "text": f"Well, {A}."})
    ledger.end()
    assert not leaks(ledger, act(ledger, GROUP, BEN, turn=True), "sendMessage", GROUP, A)


def test_a_group_of_one_person_is_private_until_someone_joins_or_it_is_public(ledger: Ledger) -> None:
    asks = act(ledger, OTHER, ADA, turn=True)
    assert leaks(ledger, asks, "sendMessage", OTHER, A)
    ledger.tg.remove_member(OTHER, EVE)
    assert not leaks(ledger, asks, "sendMessage", OTHER, A)
    ledger.tg.chat(OTHER).username = "public"
    assert leaks(ledger, asks, "sendMessage", OTHER, A)
