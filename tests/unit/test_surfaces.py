"""What is declared of surfaces is so: a route runs what declares http, and what declares it is run by a route.

tests/integration/test_surfaces_agree.py runs what HTTP shares with the chat or the shell through each of them.
"""

from __future__ import annotations

import dis
import inspect
import pkgutil
import sys
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from types import CodeType, ModuleType
from typing import Any, get_type_hints

from fastapi.routing import APIRoute

import relay.surfaces.chat
import relay.surfaces.cli
from relay.commands.context import CommandContext
from relay.commands.memory import access
from relay.commands.registry import OPERATIONS, Surface
from relay.surfaces.chat import ANSWERS, BUTTONS, HANDLERS
from relay.surfaces.http.api import reminders
from relay.surfaces.http.app import ROUTERS

Function = Callable[..., Any]
DECLARED = {one.run: one for one in OPERATIONS.values()}


def test_a_route_runs_only_what_declares_http() -> None:
    routes = endpoints()
    assert len(routes) > 70
    undeclared = {
        f"{route} runs {name_of(one)}"
        for route, endpoint in routes.items()
        for one in run_by([endpoint])
        if is_operation(one) and not declares(one, "http")
    }
    assert undeclared == set()


def test_what_declares_http_is_run_by_a_route() -> None:
    run = run_by(endpoints().values(), beyond=True)
    assert {name for name, one in OPERATIONS.items() if "http" in one.surfaces and one.run not in run} == set()


def test_what_handlers_of_the_chat_run_declares_the_chat() -> None:
    run = run_by([*HANDLERS.values(), *BUTTONS.values(), *ANSWERS.values()])
    assert {name for name, one in OPERATIONS.items() if one.run in run and "chat" not in one.surfaces} == set()


def test_what_the_shell_runs_declares_the_shell() -> None:
    run = run_by(functions_of(relay.surfaces.cli))
    assert {name for name, one in OPERATIONS.items() if one.run in run and "cli" not in one.surfaces} == set()


def endpoints() -> dict[str, Function]:
    """What each route of the API runs."""
    routes = [route for router in (*ROUTERS, reminders.feed) for route in router.routes]
    return {f"{min(one.methods)} {one.path}": one.endpoint for one in routes if isinstance(one, APIRoute)}


def functions_of(package: ModuleType) -> Iterator[Function]:
    """All functions of a package."""
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        module = import_module(found.name)
        yield from (one for one in vars(module).values() if inspect.isfunction(one) and one.__module__ == found.name)


def run_by(functions: Iterable[Function], beyond: bool = False) -> set[Function]:
    """The functions in relay.commands that some functions run, through others of their surface. `beyond`: through
    other commands, too."""
    seen: set[Function] = set()
    ways = list(functions)
    while ways:
        for one in set(called(inspect.unwrap(ways.pop()))) - seen:
            seen.add(one)
            if beyond or not in_commands(one):
                ways.append(one)
    return {one for one in seen if in_commands(one)}


def called(function: Function) -> Iterator[Function]:
    """The functions of Relay that a function names: of its module, imported, or of an imported module."""
    for code in codes_of(function.__code__):
        place: dict[str, Any] | None = None
        for step in dis.get_instructions(code):
            if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                found = function.__globals__.get(step.argval)
            elif step.opname in ("LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM") and place is not None:
                found = place.get(step.argval)
            elif step.opname == "IMPORT_NAME":
                found = sys.modules.get(step.argval)
            else:
                place = place if step.opname in ("STORE_FAST", "STORE_DEREF", "CACHE") else None
                continue
            kept = place if step.opname == "IMPORT_FROM" else None
            place = vars(found) if isinstance(found, ModuleType) else kept
            if inspect.isfunction(found) and found.__module__.startswith("relay."):
                yield found


def codes_of(code: CodeType) -> Iterator[CodeType]:
    """A function's code, and that of functions within it."""
    yield code
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from codes_of(one)


def in_commands(function: Function) -> bool:
    return function.__module__.startswith("relay.commands.")


def is_operation(function: Function) -> bool:
    """Whether a person can do it: it takes a context, and is no step to where something is done."""
    if function.__module__ == access.__name__ or not inspect.iscoroutinefunction(function):
        return False
    known = vars(sys.modules[function.__module__]) | {"CommandContext": CommandContext}
    hints = get_type_hints(inspect.unwrap(function), known)
    return hints.get("ctx") is CommandContext and hints["return"] is not CommandContext


def declares(function: Function, surface: Surface) -> bool:
    return function in DECLARED and surface in DECLARED[function].surfaces


def name_of(function: Function) -> str:
    return f"{function.__module__}.{function.__name__}"
