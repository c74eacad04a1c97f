"""The server: AnthropicStandIn, its settings, rules, faults and log."""

import asyncio
import random
import re
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Self

from aiohttp import web

from .blocks import Json
from .cache import PromptCache
from .control import control_routes
from .directives import Directives
from .faults import Fault, Kind, Match, matches
from .record import Recorded
from .replies import Reply, Rule, Script, Spec, default_reply, resolve
from .validate import Rules
from .wire import Wire

MODELS = (
    "claude-opus-5-5",
    "claude-sonnet-5-5",
    "claude-haiku-5-5",
    "claude-opus-4-6",
    "claude-sonnet-4-6",
    "claude-haiku-4-5",
)
ASIDE = "aside"
"""As the model of a rule or a fault: it applies to requests made in the background (see `aside_of`)."""
JUDGE, SETTLE = "judge", "settle"
"""Likewise for requests that judge messages, and requests that compare findings with memories."""
COUNTED = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")


class AnthropicStandIn:
    """The Messages API on 127.0.0.1. Every constructor argument is an attribute that can be changed while it runs."""

    def __init__(
        self,
        api_key: str = "sk-ant-test",
        port: int = 0,
        *,
        delay: float = 0.0,
        chunk_delay: float = 0.0,
        delta_size: int = 24,
        cache_minimum: int = 1024,
        context_window: int = 200_000,
        small_model: str = "haiku",
        aside: str = "You name conversations",
        judge: str = "You judge what a person said",
        settle: str = "You compare what was just found out",
        user_marker: str | None = None,
        keep: int = 1000,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.api_key = api_key
        self.port = port
        self.delay = delay
        self.chunk_delay = chunk_delay
        self.delta_size = delta_size
        self.context_window = context_window
        self.small_model = small_model
        self.beginnings = {ASIDE: aside, JUDGE: judge, SETTLE: settle}
        self.user_marker = user_marker
        self.keep = keep
        self.models: list[str] = list(MODELS)
        self.validation = Rules()
        self.cache = PromptCache(cache_minimum, clock)
        self.random = random.Random(0)
        self.released = asyncio.Event()
        self._runner: web.AppRunner | None = None
        self._arrival: asyncio.Event | None = None
        self.reset()

    def reset(self) -> None:
        """Clear rules, scripts, faults, the log, the counters and the cache. Settings stay."""
        self.rules: list[Rule] = []
        self.scripts: list[Script] = []
        self.faults: list[Fault] = []
        self.requests: list[Recorded] = []
        self.asides: list[Recorded] = []
        self.asked: Counter[str] = Counter()
        """Requests by model, without the background ones."""
        self.counts: dict[str, int] = dict.fromkeys(("requests", "errors", *COUNTED), 0)
        self.faulted: dict[str, int] = {}
        self.running = 0
        self.most_running = 0
        self.directives = Directives()
        self.cache.clear()

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=32 * 1024 * 1024)
        Wire(self).add_routes(app)
        control_routes(self, app)
        self._runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.5)
        await self._runner.setup()
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", self.port))
        self.port = listener.getsockname()[1]
        await web.SockSite(self._runner, listener, backlog=1024).start()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.released.set()
        if self._runner is not None:
            await self._runner.cleanup()

    @property
    def url(self) -> str:
        """The base URL for the client."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def last(self) -> Recorded:
        """The latest request."""
        return self.requests[-1]

    @property
    def stats(self) -> Json:
        """Counters: requests, errors, tokens summed over all answers, faults by kind, requests in flight."""
        return self.counts | {"faults": dict(self.faulted), "running": self.running, "most_running": self.most_running}

    def rule(self, match: Match, reply: Spec, *, times: int | None = None, model: str | None = None) -> Rule:
        """Answer matching requests with the reply. The newest matching rule wins.

        model is a substring of the model's name. Without it, the rule doesn't apply to small models.
        """
        rule = Rule(match, reply, times, model)
        self.rules.append(rule)
        return rule

    def script(self, replies: Iterable[Spec], *, model: str | None = None) -> Script:
        """Give these replies in order, each once, before any rule. Without a model, this doesn't apply to small
        models."""
        script = Script(list(replies), model)
        self.scripts.append(script)
        return script

    def fault(
        self, kind: Kind, times: int | None = 1, after: int = 0, match: Match = None, *, model: str = "", **options: Any
    ) -> Fault:
        """Make the next matching requests fail. options are the other fields of Fault."""
        fault = Fault(kind, times, after, match, model, **options)
        self.faults.append(fault)
        return fault

    async def wait_requests(
        self, n: int, timeout: float = 30.0, match: Match = None, *, model: str = "", finished: bool = False
    ) -> list[Recorded]:
        """Wait until n matching requests have arrived (or finished) and return them. Raises TimeoutError."""

        def found() -> list[Recorded]:
            return [
                one
                for one in self.requests
                if model in one.model and (one.finished_at or not finished) and matches(match, one)
            ]

        deadline = time.monotonic() + timeout
        while len(found()) < n:
            self._arrival = self._arrival or asyncio.Event()
            try:
                await asyncio.wait_for(self._arrival.wait(), max(0.0, deadline - time.monotonic()))
            except TimeoutError:
                raise TimeoutError(f"{len(found())} of {n} requests within {timeout} s") from None
        return found()

    def notify(self) -> None:
        """Wake those who wait for requests."""
        if self._arrival is not None:
            self._arrival.set()
            self._arrival = None

    def record(self, recorded: Recorded) -> None:
        """Add a request to the log."""
        if self.aside_of(recorded):
            self.asides = [*self.asides, recorded][-self.keep :]
            self.notify()
            return
        self.requests.append(recorded)
        self.counts["requests"] += 1
        self.asked[recorded.model] += 1
        if len(self.requests) > self.keep:
            del self.requests[0]
        self.notify()

    def count(self, recorded: Recorded) -> None:
        """Add the usage of an answered request to the counters."""
        for name in COUNTED:
            self.counts[name] += recorded.usage.get(name, 0)

    def take_fault(self, request: Recorded) -> Fault | None:
        """Return the fault that strikes this request, if any, and use it up."""
        for fault in self.faults:
            aside = self.aside_of(request)
            named = fault.model == aside if aside else fault.model in request.model
            if not named or not matches(fault.match, request):
                continue
            if fault.after > 0:
                fault.after -= 1
            elif (fault.times is None or fault.hits < fault.times) and self.random.random() < fault.chance:
                fault.hits += 1
                return fault
        return None

    def aside_of(self, request: Recorded) -> str:
        """Return a request's kind of background work, found by the start of its system prompt; empty for other
        requests.

        Such requests are in `asides`. Only rules, scripts and faults for the model ASIDE, JUDGE or SETTLE apply to
        them, so that tests of answers can ignore them.
        """
        begins = request.system_text.startswith
        return next((name for name, beginning in self.beginnings.items() if beginning and begins(beginning)), "")

    def asides_of(self, name: str) -> list[Recorded]:
        """Return the background requests of a kind."""
        return [one for one in self.asides if self.aside_of(one) == name]

    def is_small(self, model: str) -> bool:
        """Whether a model is a small one, which makes summaries."""
        return bool(self.small_model) and self.small_model in model

    def user_text(self, request: Recorded) -> tuple[str, int]:
        """Return the user's latest text (after user_marker, if set), and the rounds of tools since."""
        value, rounds = request.user_turn()
        marks = list(re.finditer(self.user_marker, value)) if self.user_marker else []
        value = value[marks[-1].end() :] if marks else value
        return value.strip(), rounds

    async def choose(self, request: Recorded) -> Reply:
        """Return the reply to a request: by script, rule, directive, or default."""
        small, aside = self.is_small(request.model), self.aside_of(request)

        def meant(model: str | None) -> bool:
            if aside or model in self.beginnings:
                return model == aside
            return not small if model is None else model in request.model

        for script in self.scripts:
            if script.replies and meant(script.model):
                return await resolve(script.replies.pop(0), request)
        for rule in reversed(self.rules):
            used_up = rule.times is not None and rule.hits >= rule.times
            if not used_up and meant(rule.model) and matches(rule.match, request):
                rule.hits += 1
                return await resolve(rule.reply, request)
        if aside == ASIDE:
            return Reply("A conversation")
        if aside:
            return default_reply(request, "", small)
        value, rounds = self.user_text(request)
        asked = None if small else self.directives.reply(request, value, rounds)
        return asked or default_reply(request, value, small)
