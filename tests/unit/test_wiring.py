"""How Relay is put together: short parameter lists, one composition root, one gate to the model, no unused imports."""

from __future__ import annotations

import ast
import re
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


Nodes = list[tuple[str, ast.AST]]
"""All nodes of Relay's modules, with the path of their module."""


@pytest.fixture(scope="module")
def nodes() -> Nodes:
    paths = [(path.relative_to(ROOT).as_posix(), path) for path in sorted(ROOT.rglob("*.py"))]
    return [(name, node) for name, path in paths for node in ast.walk(ast.parse(path.read_text("utf-8")))]


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


def too_many(nodes: Nodes) -> Iterator[str]:
    """The functions with more than `MOST` parameters, and the calls with more than `MOST` arguments."""
    for name, node in nodes:
        if isinstance(node, Function) and len(parameters(node)) > MOST:
            if not name.startswith(MIRRORS) and not is_typed_at_a_shell(node):
                yield f"{name}:{node.lineno} {node.name} takes {len(parameters(node))}"
        elif isinstance(node, ast.Call) and len(node.args) > MOST:
            yield f"{name}:{node.lineno} {ast.unparse(node.func)} is given {len(node.args)} by place"


def test_no_function_takes_more_than_seven_parameters(nodes: Nodes) -> None:
    """A dataclass may have more fields if they are passed by name."""
    assert list(too_many(nodes)) == []


@pytest.mark.parametrize(
    "source",
    [
        "class A:\n    def __init__(self, a, b, c, d, e, f, g, h): ...",
        "async def f(a, b, c, d, *, e, f, g, h): ...",
        "A(1, 2, 3, 4, 5, 6, 7, 8)",
    ],
)
def test_more_than_seven_parameters_are_detected(source: str) -> None:
    assert len(list(too_many([("core/some.py", node) for node in ast.walk(ast.parse(source))]))) == 1


def test_a_method_without_a_body_declares_a_call(nodes: Nodes) -> None:
    for name, node in nodes:
        if name.startswith(MIRRORS) and isinstance(node, Function) and len(node.body) == 1 and ast.get_docstring(node):
            assert any(ast.unparse(one).startswith("rpc(") for one in node.decorator_list), node.name


def test_only_the_composition_root_makes_a_runtime(nodes: Nodes) -> None:
    for name, node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Runtime":
            assert name == "runtime/runtime.py", f"{name} makes a Runtime: use open_runtime"


def named_in_prose(nodes: Nodes) -> Iterator[str]:
    """The names of code in texts with several words, other than docstrings: a careless rename puts them there."""
    docs = {id(node.value) for _, node in nodes if isinstance(node, ast.Expr)}
    for name, node in nodes:
        text = node.value if isinstance(node, ast.Constant) and id(node) not in docs else None
        if isinstance(text, str) and " " in text:
            yield from (f"{name}: {one}" for one in re.findall(r"(?<![`\w/.<])[a-z]+_[a-z_]+", text))


def test_what_people_read_names_no_code(nodes: Nodes) -> None:
    shown = [(name, node) for name, node in nodes if name.startswith(("surfaces/", "commands/"))]
    assert list(named_in_prose(shown)) == []
    renamed = ast.walk(ast.parse("LEND = '**press_lend your own memory?**'"))
    assert list(named_in_prose([("surfaces/one.py", node) for node in renamed])) == ["surfaces/one.py: press_lend"]


def test_commands_do_not_use_a_messenger(nodes: Nodes) -> None:
    for name, node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module == "relay.core.ports" and name.startswith("commands/"):
            assert "Messenger" not in [one.name for one in node.names], name


def test_only_the_gate_and_the_composition_root_use_the_model(nodes: Nodes) -> None:
    knows, replies, makes = set(), set(), set()
    for name, node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module == "relay.core.ports":
            knows |= {name for alias in node.names if alias.name == "Model"}
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "reply":
            replies |= {name} if len(node.args) > 1 else set()
        if isinstance(node, ast.ImportFrom) and node.module == "relay.clients.anthropic.client":
            makes.add(name)
        if isinstance(node, ast.Attribute) and node.attr == "_model":
            assert "gate" not in ast.unparse(node.value), f"{name} accesses the gate's internals"
    assert knows == {"memory/spending/gate.py", "runtime/runtime.py"}
    assert replies == {"memory/spending/gate.py", "conversation/model_loop.py"}, (
        "model_loop.py asks through `Work.reply`"
    )
    assert makes == {"runtime/clients.py"}


def test_the_models_client_is_passed_only_to_the_gate(nodes: Nodes) -> None:
    uses = {
        (name, node.attr)
        for name, node in nodes
        if isinstance(node, ast.Attribute) and node.attr in ("claude", "stand_in")
    }
    root = "runtime/runtime.py"
    assert uses == {(root, "claude"), (root, "stand_in"), ("surfaces/cli/doctor/live.py", "claude")}, (
        "doctor and setup ask for one token, for nobody"
    )
    calls = [node for name, node in nodes if name == root and isinstance(node, ast.Call)]
    assert [ast.unparse(call.func) for call in calls if "claude" in ast.unparse(call)] == ["Gate"]


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
