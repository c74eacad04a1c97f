"""Writes the public surface, as the code declares it, into one file: `python -m scripts.surface`.

A test compares both, so the public surface changes only on purpose, in the same commit as that file.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator
from dataclasses import MISSING, Field, fields, make_dataclass
from pathlib import Path
from typing import Any, cast, get_args, get_type_hints

import typer
from prometheus_client.core import Metric

import relay
from relay.__main__ import INTERRUPTED
from relay.archive import backup_file, export, imports
from relay.core import metrics
from relay.core.limits import TAGGED_FACT_LENGTH
from relay.core.settings import Settings
from relay.memory.api import Found, Memory
from relay.memory.claims import Queue
from relay.memory.intents import CATEGORIES, MAX_FORGET, MAX_LEARN, MAX_REMEMBER
from relay.memory.store import Store
from relay.memory.tags import TAGS
from relay.surfaces.chat import ANSWERS, COMMANDS
from relay.surfaces.chat.callbacks import CALLBACKS
from relay.surfaces.cli.cli import cli
from relay.surfaces.cli.doctor.doctor import exit_code
from relay.surfaces.cli.doctor.finding import Finding, State
from relay.surfaces.cli.shell import EXIT_CODES
from relay.surfaces.http.health import Health, Process
from relay.surfaces.http.numbers import Numbers
from relay.surfaces.http.pages import pages

FILE = Path(__file__).parent.parent / "tests" / "unit" / "public_surface.txt"
BEGINS = "What others build on, written by `make surface` from what the code declares.\n"
BOUNDS = ("ge", "le", "min_length", "pattern", "allow_inf_nan")
QUIET = Process(silence=lambda: 0.0, free=lambda: 1, running=lambda: 0, stopping=lambda: True)
"""A process that is stopping, because its health report is the longest."""


class Answers:
    """A store that answers the queries of the health checks."""

    async def ping(self) -> bool:
        return True

    async def queue(self, bot_id: int) -> Queue:
        return Queue(0, 0, 0.0)


def scripts() -> Iterator[str]:
    """Yields the Python API that scripts get from `relay.open`."""
    yield f"relay: {', '.join(sorted(relay.__all__))}"
    yield signature("relay.open", relay.open)
    for name, method in inspect.getmembers(Memory, inspect.isfunction):
        if not name.startswith("_"):
            yield signature(f"memory.{name}", method)
    for shape in (Found, relay.Space):
        # Their own signature is unknown until one of them is made.
        plain = make_dataclass(shape.__name__, [(one.name, one.type, one) for one in fields(shape)])
        yield signature(shape.__name__, plain)


def signature(name: str, function: Callable[..., object]) -> str:
    """Returns a function's name, arguments, defaults and result, as in its source."""
    told, bare = [], False
    found = inspect.signature(function)
    for one in found.parameters.values():
        if one.name == "self":
            continue
        if one.kind is one.KEYWORD_ONLY and not bare:
            told, bare = [*told, "*"], True
        default = "" if one.default is one.empty else f" = {one.default!r}"
        told.append(f"{one.name}: {one.annotation}{default}")
    result = "" if found.return_annotation in (found.empty, None, "None") else f" -> {found.return_annotation}"
    return f"{name}({', '.join(told)}){result}"


def settings() -> Iterator[str]:
    """Yields each setting with its default, type and bounds."""
    for name, field in Settings.model_fields.items():
        default = "(by platform)" if field.default_factory else shown(field.default)
        bounds = [
            f"{bound} {value}"
            for one in field.metadata
            for bound in BOUNDS
            if (value := getattr(one, bound, None)) is not None
        ]
        yield f"{field.alias} = {default} ({', '.join([Settings.__annotations__[name], *bounds])})"


def shown(value: Any) -> str:
    """Returns a default as text that is the same on every run."""
    return str(sorted(value)) if isinstance(value, frozenset) else repr(value)


def chat() -> Iterator[str]:
    """Yields each command of the chat and the menus that offer it, and the questions in old messages."""
    for name, command in sorted(COMMANDS.items()):
        if "chat" in command.surfaces:
            where = ", ".join([*command.places, *(["admins"] if command.admin else [])])
            yield f"/{name} {command.usage}".rstrip() + f" ({where})"
    yield f"questions: {' '.join(filter(None, sorted(ANSWERS)))}"


def buttons() -> Iterator[str]:
    """Yields the values in the data of each button, in order, with their types and defaults."""
    for code, kind in sorted(CALLBACKS.items()):
        types = get_type_hints(kind)
        row = cast(Any, kind)  # a dataclass
        yield f"{code}({', '.join(carried(one, types[one.name]) for one in fields(row))})"


def carried(one: Field[Any], kind: Any) -> str:
    """Returns a value in a button's data: its name, its type or what it can be, and its default."""
    choices = "|".join(map(str, get_args(kind))) or kind.__name__
    return f"{one.name}: {choices}" + ("" if one.default is MISSING else f" = {one.default!r}")


def terminal() -> Iterator[str]:
    """Yields each command of the terminal with its arguments and flags."""
    root = typer.main.get_command(cli)
    root.list_commands(None)  # imports those of other modules
    yield from commands("relay", root)


def commands(path: str, command: Any) -> Iterator[str]:
    """Yields a command and its subcommands."""
    yield " ".join([path, *map(parameter, command.params)])
    for name, below in sorted(getattr(command, "commands", {}).items()):
        yield from commands(f"{path} {name}", below)


def parameter(given: Any) -> str:
    """Returns an argument or a flag: its names, type and default; in brackets if it is optional."""
    kind = getattr(given.type_descriptor.annotation, "__name__", str(given.type_descriptor.annotation))
    named = "/".join([*given.opts, *given.secondary_opts])
    default = "" if given.default in (None, False, "") else f"={given.default}"
    told = named if getattr(given, "is_flag", False) else f"{named}:{kind}{default}{'…' if given.nargs == -1 else ''}"
    return told if given.required else f"[{told}]"


def counted() -> Iterator[str]:
    """Yields each metric: its kind, name and labels."""
    for metric in Numbers(QUIET, Queue(0, 0, 0.0), "").collect():
        labels = metrics.LABELS.get(metric.name) or labels_of(metric)
        yield f"{metric.type} {metric.name}{{{', '.join(labels)}}}"
    yield f"bounds in seconds: {' '.join(map(str, metrics.BOUNDS))}"


def labels_of(metric: Metric) -> list[str]:
    """Returns the labels of a metric's values."""
    return sorted({label for sample in metric.samples for label in sample.labels})


def tags() -> Iterator[str]:
    """Yields the tags of the model's answers, and their limits."""
    yield f"[{'] ['.join(TAGS)}]"
    yield f"in an answer at most: LEARN {MAX_LEARN}, FORGET {MAX_FORGET}, REMEMBER {MAX_REMEMBER}"
    yield f"a fact has at most {TAGGED_FACT_LENGTH} characters; categories: {', '.join(CATEGORIES)}"


def exits() -> Iterator[str]:
    """Yields the exit codes of commands."""
    for kind, code in {**EXIT_CODES, KeyboardInterrupt: INTERRUPTED}.items():
        yield f"relay …: {kind.__name__} {code}"
    for name in ("model", "settings"):
        for state in get_args(State):
            yield f"relay doctor: {name} {state} {exit_code([Finding(name, state, '')])}"


async def health() -> list[str]:
    """Returns the paths of the pages, and the JSON of /readyz."""
    asked = Health(QUIET, cast(Store, Answers()), 1)
    state = await asked.ready()
    routes = sorted(route.path for route in pages(asked, ""))
    return [*routes, f"/readyz: {state}"]


def formats() -> Iterator[str]:
    """Yields the versions and headers of the files that Relay writes and reads."""
    yield f"export: {export.SCHEMA}"
    yield f"import: {', '.join(imports.SCHEMAS)}"
    yield f"backup: {backup_file.FORMAT} {backup_file.VERSION}"
    yield f"backup header: {', '.join(field.name for field in fields(backup_file.Header))}"


def surface() -> str:
    """Returns the text of the whole file."""
    parts = {
        "Scripts": scripts(),
        "Settings": settings(),
        "Commands in the chat": chat(),
        "Data of buttons in the chat": buttons(),
        "Commands in the terminal": terminal(),
        "Metrics": counted(),
        "Tags": tags(),
        "Exit codes": exits(),
        "Pages": asyncio.run(health()),
        "Files": formats(),
    }
    return BEGINS + "".join(f"\n## {title}\n" + "".join(f"{line}\n" for line in part) for title, part in parts.items())


if __name__ == "__main__":
    FILE.write_text(surface(), "utf-8")
