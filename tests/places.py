"""Where tests keep their files: in memory if there is room. Also a data directory as a first start leaves it, made once
and copied: a copy takes 0.2 s, a first start 2 s in memory and 7 s on a disk."""

from __future__ import annotations

import asyncio
import functools
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from relay.clients.embedded.account import make_data_dir
from relay.clients.embedded.server import EmbeddedPostgres
from relay.clients.postgres.database import Postgres
from relay.memory import migrations

SHARED = Path("/dev/shm")
ROOM = 3 * 2**30
"""Bytes that must be free in memory."""
DISK = os.environ.setdefault("TESTS_ON_DISK", tempfile.gettempdir())
"""The directory for large files, such as an environment with all packages."""


def settle() -> Path | None:
    """Puts the temporary files of this process and its children into memory. Returns the directory, to be removed at
    the end, or None if they stay on the disk."""
    if not SHARED.is_dir() or shutil.disk_usage(SHARED).free < ROOM:
        return None
    for left in SHARED.glob("t[0-9]*"):  # by a killed run
        if not Path(f"/proc/{left.name[1:]}").exists():
            shutil.rmtree(left, ignore_errors=True)
    folder = SHARED / f"t{os.getpid()}"  # short: some tests count the lines of texts that name it
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o711)  # the server may run as another user
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
    return folder


@functools.cache
def template() -> Path:
    """The migrated database of a data directory that was used once. Made by this process when it is first needed."""
    data = Path(tempfile.mkdtemp(prefix="template-")) / "data"
    asyncio.run(_start_once(data))
    return data / "postgres"


async def _start_once(data: Path) -> None:
    server = EmbeddedPostgres(data)
    try:
        client = Postgres(await server.start())
        await client.open()
        try:
            await migrations.migrate(client, client.run)
        finally:
            await client.close()
    finally:
        await server.stop()


async def furnish(data: Path) -> None:
    """Copies the template's database into a data directory that does not exist yet."""
    await asyncio.to_thread(_copy, data)


def _copy(data: Path) -> None:
    make_data_dir(data)
    subprocess.run(
        ["cp", "-a", template(), data / "postgres"], check=True, timeout=60
    )  # the server's user remains the owner
