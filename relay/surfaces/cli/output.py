"""Prints the results of commands for programs."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from pydantic import TypeAdapter

AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def print_json(value: object) -> None:
    """Prints a result as JSON: dataclasses become objects, times ISO 8601 texts."""
    sys.stdout.write(TypeAdapter(object).dump_json(value, indent=2, fallback=str).decode() + "\n")


def allow_json(as_json: AsJson = False) -> None:
    """The callback of a group with --json before its commands, too. The group passes it on."""
