"""A turn that another process takes over ends without an error; commands of one person wait for each other."""

from __future__ import annotations

import asyncio
import gc
from types import SimpleNamespace
from typing import Any

import pytest

from relay.core.errors import TurnLost
from relay.core.tasks import wait_or_cancel
from relay.memory.claims import ClaimedTurn
from relay.memory.rows.delivery import QueuedMessage
from relay.surfaces.telegram.outgoing.delivery import allow_everywhere
from relay.surfaces.telegram.parsing.updates import Bot
from relay.surfaces.telegram.turns import fair_queue, turn_runner
from relay.surfaces.telegram.turns.fair_queue import FairQueue, leave_for_delivery, wait_aside


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


def control(user_id: int = 9, chat_id: int = 9, **update: Any) -> ClaimedTurn:
    """Returns a turn with one update, a message of a group if `chat_id` is negative."""
    sent = {"message_id": 1, "date": 1, "chat": {"id": chat_id, "type": "private" if chat_id > 0 else "group"}}
    given = {name: {**sent, "from": {"id": user_id}, **more} for name, more in update.items()}
    return ClaimedTurn(1, 1, "control", "working", 0, user_id, ({"update_id": 1, **given},), ())


class Begun:
    """Controls that run until they are let go."""

    def __init__(self) -> None:
        self.queue = FairQueue(Bot(77, "relay_bot"))
        self.running: list[str] = []
        self._may = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    async def run(self, name: str, turn: ClaimedTurn, count: int = 1, then: Any = None) -> None:
        """Begins controls, each of which calls `then` when it has its places."""

        async def one() -> None:
            async with self.queue.place(turn):
                self.running.append(name)
                if then:
                    then()
                await self._may.wait()

        self._tasks += [asyncio.create_task(one()) for _ in range(count)]
        for _ in range(4 * count):
            await asyncio.sleep(0)

    async def end(self) -> None:
        self._may.set()
        await asyncio.gather(*self._tasks)


async def test_replies_that_telegram_holds_back_keep_a_persons_commands_waiting_only_there() -> None:
    begun, said = Begun(), {"text": "/status"}
    await begun.run("group", control(chat_id=-5, message=said), 5, leave_for_delivery)
    assert begun.running == ["group"] * 2, "there, they wait for each other"
    await begun.run("own chat", control(message=said), 5)
    await begun.run("other group", control(chat_id=-6, message=said), 5)
    assert begun.running == ["group"] * 2 + ["own chat"] * 2, "two work at a time in all chats together"
    await begun.run("another person", control(8, 8, message=said))
    assert begun.running[-1] == "another person"
    await begun.end()
    assert len(begun.running) == 16


async def test_a_stop_acts_although_replies_to_others_wait_in_the_same_chat() -> None:
    begun, said = Begun(), {"text": "/stop"}
    await begun.run("waits", control(message=said), 2, leave_for_delivery)
    await begun.run("stop", control(message=said))
    assert begun.running == ["waits"] * 2 + ["stop"]
    await begun.end()


async def test_edits_that_wait_for_an_answer_keep_no_edit_waiting() -> None:
    begun, edit = Begun(), {"edit_date": 2, "text": "in other words"}
    await begun.run("waits", control(edited_message=edit), 2, wait_aside)
    await begun.run("edit", control(edited_message=edit))
    assert begun.running == ["waits"] * 2 + ["edit"]
    await begun.end()


async def test_commands_that_a_model_keeps_waiting_hold_up_only_their_chat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fair_queue, "HELD_SECONDS", 0.05)
    begun, said = Begun(), {"text": "/critique it"}
    await begun.run("hangs", control(message=said), 9)
    await begun.run("elsewhere", control(chat_id=-5, message={"text": "/help"}))
    assert begun.running == ["hangs"] * 2
    await asyncio.sleep(0.1)
    assert begun.running == ["hangs"] * 2 + ["elsewhere"]
    await begun.end()
