"""A turn that another process takes over ends without a trace."""

from __future__ import annotations

import asyncio
import gc
from types import SimpleNamespace
from typing import Any

import pytest

from relay.conversation.cancellation import wait_or_cancel
from relay.core.errors import TurnLost
from relay.surfaces.telegram.outgoing.delivery import everywhere
from relay.surfaces.telegram.turns import turn_runner


class Silent:
    """A preview that shows nothing."""

    def __init__(self, *_: Any) -> None: ...

    async def __aenter__(self) -> None: ...

    async def __aexit__(self, *_: object) -> None: ...


async def test_a_turn_that_is_lost_and_cut_off_at_once_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turn_runner, "Preview", Silent)
    engine = SimpleNamespace(store=None)
    connection = SimpleNamespace(messenger=None, bot=SimpleNamespace(id=1))
    parts: list[Any] = [engine, connection, None, None, None, None, None, None, None]
    one = turn_runner.TurnRunner(*parts)

    async def lost(*_: Any) -> None:
        raise TurnLost

    monkeypatch.setattr(turn_runner.TurnRunner, "_read_and_answered", lost)
    unheard: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: unheard.append(context["message"]))
    run, incoming = SimpleNamespace(turn=None, join=asyncio.Event()), SimpleNamespace(text="", replaces=None)
    answered = asyncio.create_task(one._answered(run, incoming, None, everywhere))  # type: ignore[arg-type]
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
async def test_what_fails_as_it_is_stopped_or_cut_off_is_no_error(stopped: bool) -> None:
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
