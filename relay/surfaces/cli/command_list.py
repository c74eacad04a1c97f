"""`--help`: lists the commands alphabetically, each with its arguments and its full help."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from relay.surfaces.cli.output import allow_json


class Commands(TyperGroup):
    """A group of commands whose `--help` has this list."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Returns the names of the commands, sorted."""
        return sorted(self.commands)

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


def make_group(about: str, fallback: str = "", kind: type[CommandsOrWords] = CommandsOrWords) -> typer.Typer:
    """Makes a group of commands. `fallback`: the command that takes other words, or none."""
    if not fallback:
        return typer.Typer(cls=Commands, help=about, no_args_is_help=True)
    return typer.Typer(cls=type("Words", (kind,), {"fallback": fallback}), callback=allow_json, help=about)


class VerbCommand(TyperCommand):
    """A command whose words are described in its usage, not one by one."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Returns the arguments for the list."""
        return ["[OPTIONS]", *arguments(self)]


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
