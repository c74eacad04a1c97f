"""The faults of a run: one after the other, at random, each counted by its kind."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable

from tests.chaos.stage import Stage
from tests.standins.anthropic.faults import Fault as ModelFault
from tests.standins.supabase.gateway import Fault as GatewayFault
from tests.standins.telegram.faults import Fault as TelegramFault

TELEGRAM = ("429", "500", "502", "timeout", "lost", "late", "disconnect")
SENDING = ("sendMessage", "sendMessage", "sendMessage", "getUpdates", "sendMessageDraft", "editMessageText", "*")
MODEL = ("429", "529", "500", "503", "hang", "disconnect", "cut", "stall", "error_event")
MODEL += ("garbage_tool_input", "invalid_tool_input")
GATEWAY = (502, 503, "timeout", "stuck", "disconnect", "lost")
HOUR = 3600


class Trouble:
    """Causes faults and ends them."""

    def __init__(self, here: Stage, chance: random.Random, longest: float) -> None:
        """`longest` is the longest database outage in seconds."""
        self.tg, self.model, self.server, self.disk, self.clock = (
            here.tg,
            here.model,
            here.server,
            here.disk,
            here.clock,
        )
        self.project = here.project
        self.made: Counter[str] = Counter()
        self.away: list[float] = []
        """The seconds of each database outage."""
        self.longest = longest
        self._chance = chance
        self._ordered: list[tuple[str, TelegramFault | ModelFault | GatewayFault]] = []

    async def make(self, pause: float) -> None:
        """Causes faults about `pause` seconds apart until cancelled. Those of the database come one at a time."""
        small = [self.telegram, self.model_trouble, self.again, self.shuffled, self.jump]
        large = [self.killed, self.frozen, self.stopped, self.full]
        if self.project is not None:
            small, large = [*small, self.gateway], [*large, self.paused]
        async with asyncio.TaskGroup() as both:
            both.create_task(self._one_by_one(small, pause))
            both.create_task(self._one_by_one(large, 12 * pause))

    async def _one_by_one(self, kinds: list[Callable[[], Awaitable[None]]], pause: float) -> None:
        bag: list[Callable[[], Awaitable[None]]] = []
        while True:
            await asyncio.sleep(self._chance.uniform(0.5, 1.5) * pause)
            bag = bag or self._chance.sample(kinds, len(kinds))
            await bag.pop()()

    async def end(self) -> None:
        """Makes everything work again. Counts the ordered faults that struck."""
        for name, fault in self._ordered:
            self.made[name] += fault.hits
        self.tg.clear_faults()
        self.tg.queue.shuffle = None
        self.model.faults.clear()
        if self.project is not None:
            self.project.recover()
        self.server.thaw()
        self.disk.empty()
        self.clock.jump(0)
        await self.server.up()

    async def _away(self, share: float = 1.0) -> None:
        """Waits for the outage: once the longest time, otherwise short times more often than long ones."""
        most = share * self.longest
        seconds = 1 + (most - 1) * self._chance.random() ** 2
        if share == 1 and max(self.away, default=0) < most:
            seconds = most
        begun = time.monotonic()
        try:
            await asyncio.sleep(seconds)
        finally:
            self.away.append(time.monotonic() - begun)

    async def telegram(self) -> None:
        """Makes some of Telegram's next requests fail."""
        kind, method = self._chance.choice(TELEGRAM), self._chance.choice(SENDING)
        times = self._chance.choice((1, 1, 2, 4)) if kind not in ("timeout", "429") else 1
        fault = self.tg.fault(method, kind, times, retry_after=self._chance.choice((1, 2, 4)), delay=0.8)
        self._ordered.append((f"telegram {kind}", fault))

    async def model_trouble(self) -> None:
        """Makes some of the model's next requests fail, including the small model's."""
        kind, times = self._chance.choice(MODEL), self._chance.choice((1, 2, 4))
        fault = self.model.fault(kind, times, deltas=self._chance.choice((0, 1, 2)))
        self._ordered.append((f"model {kind}", fault))

    async def gateway(self) -> None:
        """Makes some of the project's next calls fail: carried out or not, then refused, cut off or never answered."""
        assert self.project is not None
        kind, times = self._chance.choice(GATEWAY), self._chance.choice((1, 2, 4))
        self._ordered.append((f"gateway {kind}", self.project.fail(kind, times)))

    async def paused(self) -> None:
        """Pauses the project for a while."""
        assert self.project is not None
        self.project.pause()
        self.made["project paused"] += 1
        await self._away()
        self.project.resume()

    async def again(self) -> None:
        """Delivers acknowledged updates again."""
        acked = self.tg.acked[-30:]
        for update_id in self._chance.sample(acked, min(len(acked), 5)):
            self.tg.redeliver(update_id)
            self.made["update again"] += 1

    async def shuffled(self) -> None:
        """Switches shuffling of the updates within each poll on, or off again."""
        if self.tg.queue.shuffle is None:
            self.tg.queue.shuffle = self._chance
            self.made["updates shuffled"] += 1
        else:
            self.tg.queue.shuffle = None

    async def jump(self) -> None:
        """Moves the clock an hour ahead or back, and restores it after a while."""
        if self.clock.moves:
            self.clock.jump(self._chance.choice((HOUR, -HOUR)))
            self.made["clock jump"] += 1
            await asyncio.sleep(self._chance.uniform(1, 8))
            self.clock.jump(0)
            self.made["clock jump"] += 1

    async def killed(self) -> None:
        """Kills the database. Our own server restarts after a while."""
        if self.server.kill():
            self.made["database killed"] += 1
            if self.server.own is not None:
                await self._away(1 / 4)
        await self.server.up()

    async def frozen(self) -> None:
        """Freezes the database."""
        if self.server.freeze():
            self.made["database frozen"] += 1
            await self._away()
            self.server.thaw()

    async def stopped(self) -> None:
        """Shuts the database down. Our own server stays down for a while."""
        if self.server.stop():
            self.made["database stopped"] += 1
            if self.server.own is not None:
                await self._away()
        await self.server.up()

    async def full(self) -> None:
        """Fills the database's disk."""
        if self.disk.fills:
            self.disk.fill()
            self.made["disk full"] += 1
            await self._away(1 / 3)
            self.disk.empty()
            await self.server.up()
