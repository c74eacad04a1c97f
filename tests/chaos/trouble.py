"""What goes wrong: one trouble after the other, by chance, each counted by its kind."""

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
    """Makes trouble, and ends it."""

    def __init__(self, here: Stage, chance: random.Random, longest: float) -> None:
        """`longest`: seconds that the database may be away."""
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
        """For how many seconds the database was away, each time."""
        self.longest = longest
        self._chance = chance
        self._ordered: list[tuple[str, TelegramFault | ModelFault | GatewayFault]] = []

    async def make(self, pause: float) -> None:
        """One trouble after the other, about `pause` seconds apart, until cancelled. Of those with the database there
        is one at a time."""
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
        """Everything works again. Counts what was ordered and came."""
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
        """Once as long as it may be; else short times are more frequent than long ones."""
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
        """Some of the next requests meet something."""
        kind, method = self._chance.choice(TELEGRAM), self._chance.choice(SENDING)
        times = self._chance.choice((1, 1, 2, 4)) if kind not in ("timeout", "429") else 1
        fault = self.tg.fault(method, kind, times, retry_after=self._chance.choice((1, 2, 4)), delay=0.8)
        self._ordered.append((f"telegram {kind}", fault))

    async def model_trouble(self) -> None:
        """The same at the model, the small one included."""
        kind, times = self._chance.choice(MODEL), self._chance.choice((1, 2, 4))
        fault = self.model.fault(kind, times, deltas=self._chance.choice((0, 1, 2)))
        self._ordered.append((f"model {kind}", fault))

    async def gateway(self) -> None:
        """The same in front of the project: a call that is carried out or not, and refused, cut off or never
        answered."""
        assert self.project is not None
        kind, times = self._chance.choice(GATEWAY), self._chance.choice((1, 2, 4))
        self._ordered.append((f"gateway {kind}", self.project.fail(kind, times)))

    async def paused(self) -> None:
        """The project is paused for a while."""
        assert self.project is not None
        self.project.pause()
        self.made["project paused"] += 1
        await self._away()
        self.project.resume()

    async def again(self) -> None:
        """Updates that were acknowledged come again."""
        acked = self.tg.acked[-30:]
        for update_id in self._chance.sample(acked, min(len(acked), 5)):
            self.tg.redeliver(update_id)
            self.made["update again"] += 1

    async def shuffled(self) -> None:
        """The updates of one poll come out of order, for a while (and once more in order)."""
        if self.tg.queue.shuffle is None:
            self.tg.queue.shuffle = self._chance
            self.made["updates shuffled"] += 1
        else:
            self.tg.queue.shuffle = None

    async def jump(self) -> None:
        """The clock jumps an hour on or back, and back again after a while."""
        if self.clock.moves:
            self.clock.jump(self._chance.choice((HOUR, -HOUR)))
            self.made["clock jump"] += 1
            await asyncio.sleep(self._chance.uniform(1, 8))
            self.clock.jump(0)
            self.made["clock jump"] += 1

    async def killed(self) -> None:
        """The database dies; one of our own is started again after a while."""
        if self.server.kill():
            self.made["database killed"] += 1
            if self.server.own is not None:
                await self._away(1 / 4)
        await self.server.up()

    async def frozen(self) -> None:
        """The database hangs."""
        if self.server.freeze():
            self.made["database frozen"] += 1
            await self._away()
            self.server.thaw()

    async def stopped(self) -> None:
        """The database is shut down; one of our own stays so for a while."""
        if self.server.stop():
            self.made["database stopped"] += 1
            if self.server.own is not None:
                await self._away()
        await self.server.up()

    async def full(self) -> None:
        """The database's disk has no room."""
        if self.disk.fills:
            self.disk.fill()
            self.made["disk full"] += 1
            await self._away(1 / 3)
            self.disk.empty()
            await self.server.up()
