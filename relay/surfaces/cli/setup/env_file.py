"""The text of `.env` with settings filled in; everything else in it stays as it was. And the file, written safely."""

from __future__ import annotations

import contextlib
import io
import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path

from dotenv.parser import Binding, parse_stream

from relay.core.errors import SettingsError

PLAIN = re.compile(r"[\w@%+:,./=-]*", re.ASCII)
"""What needs no quotes, neither for Relay nor for a shell that reads the file."""


def example() -> str:
    """The text of `.env.example`, from inside the installed package or from the checkout beside it."""
    here = Path(__file__).parents[3]
    shipped = here / "env.example"
    return (shipped if shipped.is_file() else here.parent / ".env.example").read_text("utf-8")


def read(path: Path) -> str:
    """The text of an existing `.env`, the example's where there is none. Raises `SettingsError` when it cannot be
    read, when a line of it makes no sense, or when its folder takes no new file.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            text = file.read()
    except FileNotFoundError:
        text = example()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise SettingsError(f"{path} cannot be read: {reason}.") from None
    for binding in _bindings(text):
        if binding.error:
            line = binding.original.line + _lead(binding.original.string).count("\n")
            raise SettingsError(f"{path} cannot be read: line {line} is no NAME=value, or a quote in it stays open.")
    if not os.access(path.resolve().parent, os.W_OK):
        raise SettingsError(f"{path} cannot be written: {path.resolve().parent} takes no new file.")
    return text


def filled(text: str, values: Mapping[str, str]) -> str:
    """The text with these settings. A setting's line changes in its place, its comment stays; one that is not set yet
    takes the place of the example's line for it, or comes after the last. An empty value: not set.
    """
    bindings = _bindings(text)
    pieces = [binding.original.string for binding in bindings]
    suggested = set(example().splitlines())
    for name, value in values.items():
        line = f"{name}={quoted(value)}"
        active = [i for i, binding in enumerate(bindings) if binding.key == name and binding.value is not None]
        commented = [i for i, piece in enumerate(pieces) if re.match(rf"# ?{name}=", piece.lstrip())]
        if active:
            pieces[active[-1]] = _changed(pieces[active[-1]], name, line)
        elif value and commented:
            old = pieces[commented[-1]]
            replaced = old.strip() in suggested
            pieces[commented[-1]] = f"{_lead(old) if replaced else _ended(old)}{line}\n"
        elif value:
            pieces[-1:] = [*(_ended(piece) for piece in pieces[-1:]), f"{line}\n"]
    return "".join(pieces)


def quoted(value: str) -> str:
    """A printable value as python-dotenv reads it back."""
    value = value.replace("${", "${:-$}{")  # a variable without a name, and its default: it has no other escape
    if PLAIN.fullmatch(value):
        return value
    if "'" not in value and "\\" not in value:
        return f"'{value}'"
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def write(path: Path, text: str) -> None:
    """Replaces a file as a whole or not at all; only its owner may read it, and a group that alone was let in before.
    Raises `SettingsError`."""
    path = path.resolve()
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".env.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
                _give(file.fileno(), path)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise SettingsError(f"{path} cannot be written: {error.strerror}.") from None


def _give(descriptor: int, path: Path) -> None:
    """Whose the file was, theirs it stays, also when root writes it; and their group's, if it was open to no others."""
    if hasattr(os, "fchown"):
        with contextlib.suppress(OSError):
            before = path.stat()
            os.fchown(descriptor, before.st_uid, before.st_gid)
            if not before.st_mode & 0o007:
                os.fchmod(descriptor, before.st_mode & 0o640)


def _bindings(text: str) -> list[Binding]:
    return list(parse_stream(io.StringIO(text, newline="")))


def _lead(piece: str) -> str:
    """The blank lines that the parser counts to the line after them."""
    return piece[: len(piece) - len(piece.lstrip())]


def _ended(piece: str) -> str:
    return piece if piece.endswith("\n") else f"{piece}\n"


def _changed(piece: str, name: str, line: str) -> str:
    """A line with another value; what stands before and after the value stays."""
    form = rf"""(\s*(?:export\s+)?){name}[^\S\r\n]*=[^\S\r\n]*(?:'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|[^\r\n]*?)"""
    found = re.fullmatch(rf"{form}([^\S\r\n]+#[^\r\n]*)?[^\S\r\n]*([\r\n]*)", piece, re.DOTALL)
    if not found:
        return f"{_lead(piece)}{line}\n"
    before, comment, end = found.groups()
    return f"{before}{line}{comment or ''}{end}"
