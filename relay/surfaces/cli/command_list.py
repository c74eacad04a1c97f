"""`--help` and usage errors: commands are listed alphabetically, each with its arguments and its full help."""

from __future__ import annotations

import contextlib
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import typer
from pydantic import ValidationError
from pydantic_core import ErrorDetails
from typer.core import TyperCommand, TyperGroup

from relay.core.text import shorten
from relay.surfaces.cli.output import allow_json, print_json

Run = TypeVar("Run", bound=Callable[..., Any])
TYPES = {"int": "number", "int range": "number", "str": "text", "list[str]": "text", "Path": "path", "%Y-%m-%d": "date"}
"""What people read instead of the types of options."""
NOTES = re.compile(r"\s*\[(?:(default: [^;\]]*)|[^\]]*)[^\]]*\]$")
"""What Typer adds to the help of a parameter. The usage shows what is required, and an error names the bounds."""


@contextlib.contextmanager
def json_errors(args: list[str]) -> Iterator[None]:
    """Prints a usage error as JSON if --json is among the arguments."""
    as_json = "--json" in args
    try:
        yield
    except typer.TyperException as error:
        if not as_json:
            raise
        print_json({"error": error.format_message()})
        sys.exit(error.exit_code)


class Commands(TyperGroup):
    """A group of commands whose `--help` has this list."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Returns the names of the commands, sorted."""
        return sorted(self.commands)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Reads the options before the command."""
        with json_errors(args):
            return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Returns the command that the first word names. Raises a usage error if there is none."""
        with json_errors(args):
            return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Writes the list."""
        rows = [(" ".join([name, *arguments(self.commands[name])]), _describe(self.commands[name])) for name in
                self.list_commands(ctx)]  # fmt: skip
        with formatter.section("Commands"):
            formatter.write_dl(rows, col_max=26)


class CommandsOrWords(Commands):
    """A group that also takes other words than its commands, or none: `fallback` gets them."""

    fallback = ""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Moves a --json before the command to the command."""
        options = [one for one in args[:1] if one == "--json"]
        name, *rest = args[len(options) :] or [self.fallback]
        return super().parse_args(ctx, [name, *options, *rest])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Returns the command that the first word names, else the one that takes all words."""
        known = args[0] in self.commands
        return super().resolve_command(ctx, args if known else [self.fallback, *args])


class ShellCommand(TyperCommand):
    """A command of Relay's. Its help shows arguments as the list of commands does, and no Python types."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Returns the options and arguments for the usage."""
        return ["[OPTIONS]", *arguments(self)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Writes what the arguments and options mean."""
        for kind, title in (("argument", "Arguments"), ("option", "Options")):
            params = [one for one in self.get_params(ctx) if one.param_type_name == kind]
            if rows := [row for one in params if (row := _row(one, ctx)) is not None]:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Reads the arguments. A wrong number is refused with a sentence; with --json, as JSON."""
        with json_errors(args):
            try:
                return super().parse_args(ctx, args)
            except typer.BadParameter as error:
                if isinstance(error.__cause__, ValidationError):
                    error.message = _problem(error.__cause__.errors()[0], error.param)
                raise


def _row(param: Any, ctx: Any) -> tuple[str, str] | None:
    """Returns a parameter and its help. None: it is not described, or its help says nothing."""
    if (found := param.get_help_record(ctx)) is None:
        return None
    name, about = found
    about = NOTES.sub(lambda note: f"  [{note[1]}]" if note[1] else "", about)
    if param.param_type_name == "argument":
        return (_argument(param).strip("[]"), about) if about else None
    return re.sub(r"<(.+?)>", lambda kind: f"<{TYPES.get(kind[1], kind[1])}>", name), about


def _problem(problem: ErrorDetails, param: Any) -> str:
    """Says what is wrong with a parameter's value, from Pydantic's description."""
    value = f"“{shorten(str(problem['input']), 40)}”"
    if problem["type"].startswith("int_"):
        return f"{value} is not a number."
    if param.type_descriptor.is_datetime:
        return f"{value} is not a date, such as 2026-12-24."
    return f"{problem['msg'].replace('Input', value)}."


class Shell(typer.Typer):
    """Typer, for Relay's commands."""

    def command(  # type: ignore[override]
        self, name: str | None = None, *, help: str | None = None
    ) -> Callable[[Run], Run]:
        """Declares a command."""
        return super().command(name, cls=ShellCommand, help=help)


def make_group(about: str, fallback: str = "", kind: type[CommandsOrWords] = CommandsOrWords) -> Shell:
    """Makes a group of commands. `fallback`: the command that takes other words, or none."""
    if not fallback:
        return Shell(cls=Commands, help=about, no_args_is_help=True)
    return Shell(
        cls=type("Words", (kind,), {"fallback": fallback}),
        callback=allow_json,
        help=f"{about}\n\nWithout a command, or with other words, it runs `{fallback}`.",
    )


def arguments(command: Any) -> list[str]:
    """Returns a command's arguments and required options."""
    return [piece for piece in map(_argument, command.params) if piece]


def _argument(param: Any) -> str:
    if param.param_type_name == "option":
        return f"{param.opts[0]} <{param.name}>" if param.required else ""
    if param.metavar is not None:
        return str(param.metavar)
    piece = f"<{param.name}>" + ("…" if param.nargs == -1 else "")
    return piece if param.required else f"[{piece}]"


def _describe(command: Any) -> str:
    return str(command.help or "").split("\n\n")[0].replace("\n", " ")
