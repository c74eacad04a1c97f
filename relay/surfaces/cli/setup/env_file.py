"""Reads `.env`, changes settings in its text, and writes it safely."""

from __future__ import annotations

import contextlib
import io
import os
import re
from collections.abc import Mapping
from pathlib import Path

from dotenv.parser import Binding, parse_stream

from relay.core.errors import SettingsError
from relay.core.private_files import FileRefused, write_atomically
from relay.surfaces.cli.doctor.settings import number_invalid_lines

PLAIN = re.compile(r"[\w@%+:,./=?-]*", re.ASCII)
"""Values that need no quotes, neither for Relay nor for a shell that reads the file. `docker run` would keep quotes."""


def example() -> str:
    """Returns the text of `.env.example`, from the installed package or the checkout."""
    here = Path(__file__).parents[3]
    shipped = here / "env.example"
    return (shipped if shipped.is_file() else here.parent / ".env.example").read_text("utf-8")


def read(path: Path) -> str:
    """Returns the text of `.env`, or of the example if there is none. Raises `SettingsError` if it can't be read, if a
    line is invalid, or if no file can be created in its folder."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            text = file.read()
    except FileNotFoundError:
        text = example()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise SettingsError(f"{path} cannot be read: {reason}.") from None
    if invalid := number_invalid_lines(text):
        raise SettingsError(f"{path} cannot be read: line {invalid[0]} is not NAME=value, or has an unclosed quote.")
    if not os.access(path.resolve().parent, os.W_OK):
        raise SettingsError(f"{path} cannot be written: no file can be created in {path.resolve().parent}.")
    return text


def fill_in(text: str, values: Mapping[str, str]) -> str:
    """Returns the text with these settings. A setting that the text has is changed in its line, and its comment stays.
    A new one replaces its line of the example, or is added at the end. An empty value: not set."""
    bindings = _bindings(text)
    pieces = [binding.original.string for binding in bindings]
    suggested = set(example().splitlines())
    for name, value in values.items():
        line = f"{name}={quote(value)}"
        active = [i for i, binding in enumerate(bindings) if binding.key == name and binding.value is not None]
        commented = [i for i, piece in enumerate(pieces) if re.match(rf"# ?{name}=", piece.lstrip())]
        if active:
            pieces[active[-1]] = _change_value(pieces[active[-1]], name, line)
        elif value and commented:
            old = pieces[commented[-1]]
            replaced = old.strip() in suggested
            pieces[commented[-1]] = f"{_lead(old) if replaced else _end_line(old)}{line}\n"
        elif value:
            pieces[-1:] = [*(_end_line(piece) for piece in pieces[-1:]), f"{line}\n"]
    return "".join(pieces)


def quote(value: str) -> str:
    """Quotes a printable value for python-dotenv."""
    value = value.replace("${", "${:-$}{")  # a variable without a name, and its default: it has no other escape
    if PLAIN.fullmatch(value):
        return value
    if "'" not in value and "\\" not in value:
        return f"'{value}'"
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def write(path: Path, text: str) -> None:
    """Replaces a file completely or not at all. Only its owner may read it, and its group if the old file allowed only
    that. Raises `SettingsError`."""
    path = path.resolve()
    try:
        with write_atomically(path, replace=True) as file:
            file.write(text.encode())
            _keep_owner(file.fileno(), path)
    except FileRefused as error:
        raise SettingsError(str(error)) from None


def _keep_owner(descriptor: int, path: Path) -> None:
    """Keeps the file's owner, also if root writes it, and its group's rights unless others had some too."""
    if hasattr(os, "fchown"):
        with contextlib.suppress(OSError):
            before = path.stat()
            os.fchown(descriptor, before.st_uid, before.st_gid)
            if not before.st_mode & 0o007:
                os.fchmod(descriptor, before.st_mode & 0o640)


def _bindings(text: str) -> list[Binding]:
    return list(parse_stream(io.StringIO(text, newline="")))


def _lead(piece: str) -> str:
    """Returns the blank lines that the parser adds to the line after them."""
    return piece[: len(piece) - len(piece.lstrip())]


def _end_line(piece: str) -> str:
    return piece if piece.endswith("\n") else f"{piece}\n"


def _change_value(piece: str, name: str, line: str) -> str:
    """Changes the value in a line and keeps what is before and after it."""
    form = rf"""(\s*(?:export\s+)?){name}[^\S\r\n]*=[^\S\r\n]*(?:'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|[^\r\n]*?)"""
    found = re.fullmatch(rf"{form}([^\S\r\n]+#[^\r\n]*)?[^\S\r\n]*([\r\n]*)", piece, re.DOTALL)
    if not found:
        return f"{_lead(piece)}{line}\n"
    before, comment, end = found.groups()
    return f"{before}{line}{comment or ''}{end}"
