"""Limits which files this process can reach, on Linux 5.13 and newer. It can read its own programs, but neither `.env`
nor the database, regardless of their owners. It can't write files or open TCP connections."""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
import sys
import sysconfig
from collections.abc import Iterable, Sequence
from pathlib import Path

CREATE, ADD, RESTRICT = 444, 445, 446
"""Landlock's system calls, the same on every processor."""
BENEATH = 1
EXECUTE, READ_FILE, READ_FOLDER = 1, 4, 8
FILES = {1: 0x1FFF, 2: 0x3FFF, 3: 0x7FFF, 5: 0xFFFF}
"""All rights on files, by the oldest version that has them."""
READS = ("/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/etc/fonts", "/dev/urandom")
WRITES: list[str] = ["/dev/null"]
NO_NEW_PRIVILEGES = 38


def restrict_files(also: Iterable[str]) -> bool:
    """Restricts this process to reading its programs and `also`. Returns whether the system supports it."""
    if sys.platform != "linux":
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(CREATE, None, ctypes.c_size_t(0), 1)
    if version < 1:
        return False
    handled = next(bits for known, bits in sorted(FILES.items(), reverse=True) if known <= version)
    rules = struct.pack("=QQQ", handled, 3 if version >= 4 else 0, 3 if version >= 6 else 0)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = libc.syscall(CREATE, rules, ctypes.c_size_t(size), 0)
    if ruleset < 0:
        return False
    _allow(libc, ruleset, [*READS, *_programs(), *also], EXECUTE | READ_FILE | READ_FOLDER)
    _allow(libc, ruleset, WRITES, handled)
    libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    fenced = bool(libc.syscall(RESTRICT, ruleset, 0) == 0)
    os.close(ruleset)
    return fenced


def _programs() -> list[str]:
    """Returns the folders of Python and its imports, without the folder of a checkout, which may contain `.env`."""
    ours = Path(__file__).resolve().parents[2]
    installed = {Path(sysconfig.get_path(name)).resolve() for name in ("purelib", "platlib", "stdlib", "platstdlib")}
    found = {Path(one).resolve() for one in (*sys.path, sys.prefix, sys.base_prefix) if one} - {*ours.parents}
    return [str(one) for one in {ours, *installed, *found}]


def _allow(libc: ctypes.CDLL, ruleset: int, paths: Sequence[str], bits: int) -> None:
    for path in paths:
        with contextlib.suppress(OSError):
            there = os.open(path, os.O_PATH)
            folder = Path(path).is_dir()
            may = bits if folder else bits & (EXECUTE | READ_FILE | 2 | 1 << 14)
            libc.syscall(ADD, ruleset, BENEATH, struct.pack("=Qi", may, there), 0)
            os.close(there)
