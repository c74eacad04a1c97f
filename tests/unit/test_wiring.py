"""How Relay is put together: short parameter lists, one composition root, no unused imports."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import relay

ROOT = Path(relay.__file__).parent
MOST = 7
"""The most parameters of a function or constructor, and the most positional arguments of a call."""
MIRRORS = "memory/calls/"
"""Methods here have the same parameters as the SQL functions that they call."""
Function = ast.FunctionDef | ast.AsyncFunctionDef


def modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(ROOT.rglob("*.py")):
        yield path.relative_to(ROOT).as_posix(), ast.parse(path.read_text())


def parameters(function: Function) -> list[str]:
    """The parameters of a function, without `self` or `cls`."""
    given = function.args
    names = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return names[1:] if names[:1] in (["self"], ["cls"]) else names


def is_typed_at_a_shell(function: Function) -> bool:
    """Whether the parameters are command-line flags."""
    return any(
        isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr == "command"
        for one in function.decorator_list
    )


def too_many(name: str, tree: ast.Module) -> Iterator[str]:
    """The functions of a module with more than `MOST` parameters, and its calls with more than `MOST` arguments."""
    for node in ast.walk(tree):
        if isinstance(node, Function) and len(parameters(node)) > MOST:
            if not name.startswith(MIRRORS) and not is_typed_at_a_shell(node):
                yield f"{name}:{node.lineno} {node.name} takes {len(parameters(node))}"
        elif isinstance(node, ast.Call) and len(node.args) > MOST:
            yield f"{name}:{node.lineno} {ast.unparse(node.func)} is given {len(node.args)} by place"


def test_no_function_takes_more_than_seven_parameters() -> None:
    """A dataclass may have more fields if they are passed by name."""
    assert [found for name, tree in modules() for found in too_many(name, tree)] == []


@pytest.mark.parametrize(
    "source",
    [
        "class A:\n    def __init__(self, a, b, c, d, e, f, g, h): ...",
        "async def f(a, b, c, d, *, e, f, g, h): ...",
        "A(1, 2, 3, 4, 5, 6, 7, 8)",
    ],
)
def test_more_than_seven_parameters_are_detected(source: str) -> None:
    assert len(list(too_many("core/some.py", ast.parse(source)))) == 1


def test_a_method_without_a_body_declares_a_call() -> None:
    for name, tree in modules():
        for node in ast.walk(tree) if name.startswith(MIRRORS) else ():
            if isinstance(node, Function) and len(node.body) == 1 and ast.get_docstring(node):
                assert any(ast.unparse(one).startswith("rpc(") for one in node.decorator_list), node.name


def test_only_the_composition_root_makes_a_runtime() -> None:
    for name, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Runtime":
                assert name == "runtime/runtime.py", f"{name} makes a Runtime: use open_runtime"


def test_commands_do_not_use_a_messenger() -> None:
    for name, tree in modules():
        if not name.startswith("commands/"):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module == "relay.core.ports":
                assert "Messenger" not in [one.name for one in node.names], name


@pytest.mark.parametrize(
    ("modules", "unused"),
    [
        ("relay.surfaces.cli.cli", ("relay.runtime", "relay.surfaces.telegram", "psycopg")),
        (
            "relay.runtime.runtime",
            ("relay.archive", "relay.jobs", "relay.commands", "relay.media", "anthropic", "psycopg"),
        ),
        (
            "relay.surfaces.cli.terminal.once",
            ("relay.clients.telegram", "telegram", "anthropic", "relay.jobs.clock.scheduler"),
        ),
        ("relay.surfaces.server.bot", ("relay.surfaces.http", "fastapi", "starlette", "uvicorn")),
    ],
)
def test_unused_packages_are_not_imported(modules: str, unused: tuple[str, ...]) -> None:
    seen = f"import sys, {modules}; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", seen], capture_output=True, text=True, check=True)
    assert [one for one in run.stdout.split() if f"{one}.".startswith(tuple(f"{name}." for name in unused))] == []


def test_telegrams_client_loads_nothing_that_is_not_used() -> None:
    code = (
        "import sys; from relay.runtime.clients import import_telegram; import_telegram();"
        "print(*sys.modules.keys() & {'cryptography', 'click', 'rich'})"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []
