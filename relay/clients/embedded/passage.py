"""Lets one user pass through a directory, with an entry in its access list (POSIX ACL)."""

import errno
import os
import stat
import struct
from pathlib import Path

ATTRIBUTE = "system.posix_acl_access"
OWNER, USER, GROUP, MASK, OTHER = 0x01, 0x02, 0x04, 0x10, 0x20
NOBODY = 0xFFFFFFFF
SEARCH = 1

Entries = dict[tuple[int, int], int]
"""Rights by kind and number of the user or group."""


def let_through(directory: Path, uid: int) -> bool:
    """Adds the search right for one user. Returns False if this system or file system has no access lists."""
    if not hasattr(os, "setxattr"):
        return False
    try:
        entries = _read(directory)
        entries[USER, uid] = entries.get((USER, uid), 0) | SEARCH
        entries[MASK, NOBODY] = entries.get((MASK, NOBODY), entries[GROUP, NOBODY]) | SEARCH
        packed = [struct.pack("<HHI", kind, may, one) for (kind, one), may in sorted(entries.items())]
        os.setxattr(directory, ATTRIBUTE, struct.pack("<I", 2) + b"".join(packed))
    except OSError as error:
        if error.errno in (errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM, errno.EROFS):
            return False
        raise
    return True


def _read(directory: Path) -> Entries:
    """Reads a directory's access list; if it has none, returns the one that its mode implies."""
    try:
        packed = os.getxattr(directory, ATTRIBUTE)
    except OSError as error:
        if error.errno != errno.ENODATA:
            raise
        mode = stat.S_IMODE(directory.stat().st_mode)
        return {(OWNER, NOBODY): mode >> 6 & 7, (GROUP, NOBODY): mode >> 3 & 7, (OTHER, NOBODY): mode & 7}
    return {(kind, one): may for kind, may, one in struct.iter_unpack("<HHI", packed[4:])}
