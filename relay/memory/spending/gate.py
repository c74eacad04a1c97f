"""The only way to the model. It knows who pays for a call, what their budget allows, and which calls are running.

Nothing else holds a `Model`: an answer asks through `Gate.work`, all other work through `Gate.ask`. Each call is
checked against what was spent and what running calls may still cost, so a budget is exceeded by one call at most. Calls
of other processes on the same database count once they have ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import hashlib
import itertools
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakValueDictionary

from relay.core.errors import BudgetUsedUp, ModelUnavailable, RelayError, StreamCut
from relay.core.frozen import as_json
from relay.core.models import ModelRequest, Step
from relay.core.ports import Model
from relay.core.prompt_markup import estimate_tokens
from relay.core.spending.charge import Charge
from relay.core.tasks import cancel
from relay.media.extraction import image_tokens
from relay.media.media_cost import PAGE_TOKENS
from relay.memory.spending.budget import NOTHING, UNLIMITED, Budget, Spent, Tally
from relay.memory.store import Store

KEEP_SECONDS = 2.0
"""How long interrupted work may take to record its use."""
MOST_PAGES = 100
"""The most pages that a model reads of a document."""


@dataclass(eq=False, slots=True)
class Work:
    """A piece of work that may call the model repeatedly."""

    tally: Tally
    user_id: int | None
    gate: Gate
    reserved: float = 0.0
    """Dollars that its current call may cost."""

    def pays_with(self, other: Work) -> bool:
        """Tells whether the same person pays for both."""
        return self.user_id is not None and self.user_id == other.user_id

    async def reply(self, request: ModelRequest, on_text: Callable[[str], None], seconds: float | None = None) -> Step:
        """See `ports.Model.reply`; always counted in `tally`. `seconds`: the call's time limit. Also raises
        `BudgetUsedUp`."""
        return await self.gate.call(self, request, on_text, seconds)


@dataclass(slots=True)
class RunningCalls:
    """A process's running model calls."""

    works: list[Work] = field(default_factory=list)
    waiting: dict[Work, set[int | None]] = field(default_factory=dict)
    """Works that wait, in order of arrival, and the budgets that they wait for: a payer's, or everyone's (None)."""
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    """Set and replaced whenever a call ends, or no longer waits."""
    joined: dict[str, SharedCall] = field(default_factory=dict)
    locks: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary)


@dataclass(slots=True)
class SharedCall:
    """A call that several callers wait for."""

    task: asyncio.Task[Step]
    waiting: int = 0


class Gate:
    """Calls a model within the payers' budgets."""

    def __init__(self, model: Model, store: Store, budget: Budget = UNLIMITED) -> None:
        self.budget = budget
        self._model = model
        self._store = store
        self._under_way = RunningCalls()
        self._places: asyncio.Semaphore | None = None

    def limit(self, most: int) -> Gate:
        """Returns the same gate for background work: its `ask` makes at most `most` calls at once."""
        gate = copy.copy(self)
        gate._places = asyncio.Semaphore(most)
        return gate

    def lock_for(self, key: str) -> asyncio.Lock:
        """Returns a lock that makes work of one kind run one at a time in this process."""
        return self._under_way.locks.setdefault(key, asyncio.Lock())

    async def used_up(self, charge: Charge | None = None) -> str:
        """Returns why no model may be called today, on this account or (None) by anyone; empty if one may."""
        if not self.budget.limited:
            return ""
        _, spent = await self._account(charge or Charge("any"))
        return self.budget.used_up(spent)

    @contextlib.asynccontextmanager
    async def work(self, charge: Charge, model: str) -> AsyncIterator[Work]:
        """Opens a piece of work that records its use (`Tally.spending`) with its result; if interrupted, it is
        recorded here."""
        with self._open(Work(Tally(model, self.budget), charge.user_id, self)) as work:
            try:
                yield work
            except BaseException:
                if spending := work.tally.make_spending(done=False):
                    with contextlib.suppress(RelayError, TimeoutError):
                        async with asyncio.timeout(KEEP_SECONDS):
                            await self._store.spend(charge, spending)
                raise

    async def ask(self, request: ModelRequest, charge: Charge, seconds: float) -> Step:
        """Makes one call, with a time limit from when it starts. Joins an identical running call. Raises the
        `ModelError` tree and `BudgetUsedUp`."""
        key = _key(request, charge)
        call = self._under_way.joined.get(key) or self._begin(key, request, charge, seconds)
        call.waiting += 1
        try:
            return await asyncio.shield(call.task)
        finally:
            call.waiting -= 1
            if not call.waiting and not call.task.done():
                self._leave(key, call)  # nobody may join a call that is being cancelled
                await cancel(call.task)

    def _begin(self, key: str, request: ModelRequest, charge: Charge, seconds: float) -> SharedCall:
        """Begins a call that equal requests join until it ends."""
        call = SharedCall(asyncio.create_task(self._ask(request, charge, seconds)))
        self._under_way.joined[key] = call
        call.task.add_done_callback(lambda _: self._leave(key, call))
        return call

    def _leave(self, key: str, call: SharedCall) -> None:
        """Lets later requests make their own call."""
        if self._under_way.joined.get(key) is call:
            del self._under_way.joined[key]

    async def _ask(self, request: ModelRequest, charge: Charge, seconds: float) -> Step:
        async with self._places or contextlib.nullcontext():
            user_id, before = await self._account(charge) if self.budget.limited else (charge.user_id, NOTHING)
            with self._open(Work(Tally(request.model, self.budget, before), user_id, self)) as work:
                done = False
                try:
                    step = await work.reply(request, lambda _: None, seconds)
                    done = True
                    return step
                finally:
                    if spending := work.tally.make_spending(done):
                        await self._store.spend(charge, spending)

    async def count_before(self, work: Work, charge: Charge, spent: Spent) -> None:
        """Counts what was spent before a piece of work, as read since it was opened. Reads it again if other work has
        ended meanwhile: its use may not be in it."""
        if self.budget.limited and work.tally.before != NOTHING:
            _, spent = await self._account(charge)
        work.tally.before = spent

    async def call(
        self, work: Work, request: ModelRequest, on_text: Callable[[str], None], seconds: float | None
    ) -> Step:
        """See `Work.reply`."""
        await self._admit(work, request)
        used = request.used
        try:
            async with asyncio.timeout(seconds):
                step = await self._model.reply(request, on_text)
            used = step.usage
            return step
        except TimeoutError:
            raise ModelUnavailable(f"The model took longer than {seconds:g} seconds.") from None
        except StreamCut as cut:
            used = cut.usage
            raise
        finally:
            work.tally.count(used)
            work.reserved = 0.0
            self._wake()

    async def _admit(self, work: Work, request: ModelRequest) -> None:
        """Waits while running calls may use up a budget that this one needs, or while an earlier one waits for it.
        Raises `BudgetUsedUp`."""
        if not self.budget.limited:
            return
        cost = self.budget.prices.cost(request.model, estimate_most(request)) or 0.0
        waiting = self._under_way.waiting
        try:
            while True:
                if why := self.budget.used_up(self._sum_spent(work, 0.0)):
                    raise BudgetUsedUp(why)
                if not (budgets := self._find_short(work, cost)):
                    work.reserved = cost
                    return
                waiting[work] = budgets
                await self._under_way.ended.wait()
        finally:
            if waiting.pop(work, None):
                self._wake()

    def _find_short(self, work: Work, cost: float) -> set[int | None]:
        """Returns the budgets, as in `RunningCalls.waiting`, that a call of this cost has to wait for."""
        if not cost:
            return set()
        spent = self._sum_spent(work, cost)
        payers = {other.user_id for other in self._under_way.works if other.reserved}
        short: set[int | None] = set()
        if payers and self.budget.used_up(Spent(total=spent.total)):
            short.add(None)
        if work.user_id in payers - {None} and self.budget.used_up(Spent(own=spent.own)):
            short.add(work.user_id)
        for other in itertools.takewhile(lambda other: other is not work, self._under_way.waiting):
            short |= self._under_way.waiting[other] & {None, work.user_id}
        return short

    def _sum_spent(self, work: Work, more: float) -> Spent:
        """Returns what is spent from this work's view, including others' running use. With `more` dollars, also what
        those calls may still cost."""
        total, own = work.tally.spent.total + more, work.tally.spent.own + more
        for other in self._under_way.works:
            if other is not work:
                cost = other.tally.cost + (other.reserved if more else 0.0)
                total += cost
                own += cost if other.pays_with(work) else 0.0
        return Spent(total, own)

    @contextlib.contextmanager
    def _open(self, work: Work) -> Iterator[Work]:
        """Registers running work. At its end its cost is recorded, and works that began before learn of it."""
        works = self._under_way.works
        works.append(work)
        try:
            yield work
        finally:
            works.remove(work)
            for other in works:
                before, cost = other.tally.before, work.tally.cost
                other.tally.before = Spent(before.total + cost, before.own + (cost if other.pays_with(work) else 0.0))
            self._wake()

    def _wake(self) -> None:
        self._under_way.ended.set()
        self._under_way.ended = asyncio.Event()

    async def _account(self, charge: Charge) -> tuple[int | None, Spent]:
        """Returns who pays and what is spent. Reads it again if a call ended meanwhile: its use may not be in it."""
        while True:
            ended = self._under_way.ended
            found = await self._store.find_account(charge, self.budget.day())
            if ended is self._under_way.ended:
                return found.user_id, self.budget.spent(found.spent)


def estimate_most(request: ModelRequest) -> dict[str, int]:
    """Estimates the most tokens and searches that a call may use, by kind. All of a prompt may be written to the
    cache."""
    read = [*request.system, *(block for message in request.messages for block in message["content"]), *request.tools]
    searches = sum(tool.get("max_uses", 0) for tool in request.tools if tool["name"] == "web_search")
    return {
        "cache_creation_input_tokens": sum(map(_estimate_tokens, read)),
        "output_tokens": request.max_tokens,
        "web_search_requests": searches,
    }


def _estimate_tokens(block: Mapping[str, Any]) -> int:
    """Estimates the most tokens of a content block or a tool. A document's pages are not known, only its size."""
    match block.get("type"):
        case "text":
            return estimate_tokens(str(block["text"]))
        case "image":
            return image_tokens.MOST
        case "document":
            return min(len(block["source"]["data"]), MOST_PAGES * PAGE_TOKENS)
    return estimate_tokens(str(block))


def _key(request: ModelRequest, charge: Charge) -> str:
    """Identifies equal requests: by text, purpose and owner."""
    whose = {key: value for key, value in as_json(charge).items() if key != "user_id"}
    said = [request.model, request.system, request.messages, request.max_tokens, request.tools, request.tool_choice]
    return hashlib.sha256(repr([whose, said]).encode()).hexdigest()
