"""A turn that another process takes over ends without an error; commands of one person wait for each other."""

from __future__ import annotations

import asyncio
import gc
from types import SimpleNamespace
from typing import Any

import pytest

from relay.conversation.cancellation import wait_or_cancel
from relay.core.errors import TurnLost
from relay.memory.claims import ClaimedTurn
from relay.memory.rows.delivery import QueuedMessage
from relay.surfaces.telegram.outgoing.delivery import allow_everywhere
from relay.surfaces.telegram.parsing.updates import Bot
from relay.surfaces.telegram.turns import turn_runner
from relay.surfaces.telegram.turns.worker import FairQueue


class SilentPreview:
    """A preview that shows nothing."""

    def __init__(self, *_: Any) -> None: ...

    async def __aenter__(self) -> None: ...

    async def __aexit__(self, *_: object) -> None: ...


async def test_a_lost_turn_that_is_cancelled_at_once_causes_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turn_runner, "Preview", SilentPreview)
    engine = SimpleNamespace(store=None)
    connection = SimpleNamespace(messenger=None, bot=SimpleNamespace(id=1))
    parts: list[Any] = [engine, connection, None, None, None, None, None, None, None]
    one = turn_runner.TurnRunner(*parts)

    async def lost(*_: Any) -> None:
        raise TurnLost

    monkeypatch.setattr(turn_runner.TurnRunner, "_read_and_answer", lost)
    unheard: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: unheard.append(context["message"]))
    run, incoming = SimpleNamespace(turn=None, join=asyncio.Event()), SimpleNamespace(text="", replaces=None)
    answered = asyncio.create_task(one._answer_with_preview(run, incoming, None, allow_everywhere))  # type: ignore[arg-type]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    answered.cancel()
    with pytest.raises((asyncio.CancelledError, TurnLost)):
        await answered
    del answered
    gc.collect()
    await asyncio.sleep(0)
    assert unheard == []


@pytest.mark.parametrize("stopped", [False, True])
async def test_work_that_fails_while_being_stopped_causes_no_error(stopped: bool) -> None:
    async def lost() -> None:
        raise TurnLost

    unheard: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: unheard.append(context["message"]))
    stop = asyncio.Event()
    reading = asyncio.create_task(wait_or_cancel(stop, lost()))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    if stopped:
        stop.set()
        assert await reading is None
    else:
        reading.cancel()
        with pytest.raises((asyncio.CancelledError, TurnLost)):
            await reading
    del reading
    gc.collect()
    await asyncio.sleep(0)
    assert unheard == []


async def test_a_flood_of_stops_runs_a_few_at_a_time_and_waits_for_no_other_command() -> None:
    queue = FairQueue(Bot(77, "relay_bot"))
    running: list[str] = []
    may = asyncio.Event()

    async def run(turn: ClaimedTurn, name: str) -> None:
        async with queue.place(turn):
            running.append(name)
            await may.wait()

    def said(text: str) -> ClaimedTurn:
        sent = {"message_id": 1, "date": 1, "chat": {"id": 9, "type": "private"}, "from": {"id": 9}, "text": text}
        return ClaimedTurn(1, 1, "control", "working", 0, 9, ({"update_id": 1, "message": sent},), ())

    tasks = [asyncio.create_task(run(said("/usage"), "usage")) for _ in range(5)]
    tasks += [asyncio.create_task(run(said("/stop"), "stop")) for _ in range(5)]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert sorted(running) == ["stop", "stop", "usage", "usage"]
    may.set()
    await asyncio.gather(*tasks)
    assert len(running) == 10


async def test_edits_that_wait_for_an_answer_keep_no_command_waiting() -> None:
    queue = FairQueue(Bot(77, "relay_bot"))
    answered = asyncio.Event()
    sent = {"message_id": 1, "date": 1, "chat": {"id": 9, "type": "private"}, "from": {"id": 9}}

    async def edit() -> None:
        update = {"update_id": 1, "edited_message": {**sent, "edit_date": 2, "text": "in other words"}}
        async with queue.place(ClaimedTurn(1, 1, "control", "working", 0, 9, (update,), ())):
            await answered.wait()

    edits = [asyncio.create_task(edit()) for _ in range(2)]
    await asyncio.sleep(0)
    update = {"update_id": 2, "message": {**sent, "text": "/usage"}}
    async with asyncio.timeout(1), queue.place(ClaimedTurn(2, 1, "control", "working", 0, 9, (update,), ())) as waited:
        assert not waited
    answered.set()
    await asyncio.gather(*edits)


async def test_queued_messages_that_telegram_holds_back_keep_no_command_waiting() -> None:
    queue = FairQueue(Bot(77, "relay_bot"))
    let_through = asyncio.Event()

    async def send(group: int) -> None:
        message = QueuedMessage(group, 0, text="Bins")
        async with queue.place(ClaimedTurn(1, 1, "control", "working", 0, 9, (), (), message=message)):
            await let_through.wait()

    held = [asyncio.create_task(send(group)) for group in (-5, -6)]
    await asyncio.sleep(0)
    sent = {"message_id": 1, "date": 1, "chat": {"id": 9, "type": "private"}, "from": {"id": 9}, "text": "/usage"}
    command = ClaimedTurn(2, 1, "control", "working", 0, 9, ({"update_id": 2, "message": sent},), ())
    async with asyncio.timeout(1), queue.place(command) as waited:
        assert not waited
    let_through.set()
    await asyncio.gather(*held)
