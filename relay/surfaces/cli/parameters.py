"""Arguments and options that several commands read in the same way. Each raises `BadParameter`."""

from __future__ import annotations

import os.path
import re
from pathlib import Path
from typing import Annotated

import typer

from relay.core.text import shorten


def read_number(word: str) -> int:
    """Parses a number that people read with or without its sign: 12 or #12."""
    number = word.removeprefix("#")
    if not re.fullmatch("[0-9]+", number):
        raise typer.BadParameter(f"“{shorten(word, 40)}” is not a number.")
    return int(number)


def read_folder(word: str) -> Path:
    """Returns the path of a folder. It must exist: otherwise a misspelled one would be made, and nobody would find what
    is in it."""
    path = Path(word).expanduser()
    if not os.path.isdir(path):  # Path.is_dir raises an error if a name is too long
        raise typer.BadParameter(f"There is no folder {path}.")
    return path


def read_file_path(word: str) -> Path:
    """Returns the path of a file to write, in a folder that exists."""
    path = Path(word).expanduser()
    read_folder(str(path.parent))
    return path


BACKUP_ENDING = ".relaybackup"
Number = Annotated[int, typer.Argument(parser=read_number)]
