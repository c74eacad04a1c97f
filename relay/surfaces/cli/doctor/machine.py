"""This machine: the disk, the directory where Relay keeps its files, and the backups."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from relay.core.program import RELAY
from relay.core.settings import Settings
from relay.surfaces.cli.doctor.finding import Finding, failed, ok, skipped, warning

NAMES = ("data", "disk", "backup")
NEEDS = ("RELAY_DATA_DIR", "RELAY_BACKUP_DIR")
SECONDS = 100.0
FULL, LOW, PLENTY = 100e6, 1e9, 10e9
"""Free bytes: too few to write anything soon; few; enough, however large the disk."""
LOW_PART = 0.05
OLD = timedelta(days=3)
"""The age from which a backup is old."""


def disk(settings: Settings) -> Finding:
    """Checks the free space for data and backups."""
    folders = (_find_existing(path) for path in (settings.backups, settings.data_dir) if not explain_unusable(path))
    places = {folder.stat().st_dev: folder for folder in folders}
    if not places:
        return skipped("disk", "not checked: fix the directories first")
    return min(
        (_room(place) for place in places.values()), key=lambda one: ("failed", "warning", "ok").index(one.state)
    )


def _room(place: Path) -> Finding:
    usage = shutil.disk_usage(place)
    said = f"{usage.free / 1e9:,.1f} GB free of {usage.total / 1e9:,.0f} GB, at {shorten(place)}"
    fix = f"Free some space at {shorten(place)}, or move RELAY_DATA_DIR or RELAY_BACKUP_DIR to a larger disk."
    if usage.free < FULL:
        return failed("disk", said, fix)
    if usage.free < LOW or (usage.free < usage.total * LOW_PART and usage.free < PLENTY):
        return warning("disk", said, fix)
    return ok("disk", said)


def data_directory(settings: Settings) -> Finding:
    """Checks that Relay can write its data directory, and that others cannot read it."""
    path = settings.data_dir
    there = _find_existing(path)
    if trouble := explain_unusable(path):
        return failed("data", trouble, suggest_remedy(path, trouble, "RELAY_DATA_DIR"))
    if there != path:
        return skipped("data", f"{shorten(path)} will be created at the first start")
    open_to = stat.S_IRGRP | stat.S_IWGRP | stat.S_IROTH | stat.S_IWOTH
    if sys.platform != "win32" and path.stat().st_mode & open_to:
        mode = "711" if os.geteuid() == 0 else "700"
        return warning("data", f"other users can read {shorten(path)}", f"chmod {mode} {shorten(path)}")
    return ok("data", shorten(path))


def backup(settings: Settings, since: str) -> Finding:
    """Checks the age of the last backup. `since`: when this database was set up (ISO 8601; empty: unknown)."""
    if not settings.backup_days:
        return skipped("backup", "off: RELAY_BACKUP_DAYS is 0")
    folder, now = settings.backups, datetime.now(UTC)
    if trouble := explain_unusable(folder):
        return failed("backup", trouble, suggest_remedy(folder, trouble, "RELAY_BACKUP_DIR"))
    try:
        times = [path.stat().st_mtime for path in folder.glob("relay-*.relaybackup")]
    except OSError:
        times = []
    fix = f"`{RELAY} backup` makes one now. `{RELAY} run` makes one every night."
    if times:
        age = now - datetime.fromtimestamp(max(times), UTC)
        said = f"{len(times)} in {shorten(folder)}, the last {_format_age(age)}"
        return warning("backup", said, fix) if age > OLD else ok("backup", said)
    if since and now - datetime.fromisoformat(since) > OLD:
        return warning("backup", f"none in {shorten(folder)}", fix)
    return skipped("backup", "none yet; one is made every night")


def _format_age(age: timedelta) -> str:
    hours = int(age.total_seconds() // 3600)
    if hours >= 48:
        return f"{hours // 24} days ago"
    return f"{hours} h ago" if hours > 0 else "less than 1 h ago"


def explain_unusable(path: Path) -> str:
    """Returns why Relay can't write to a directory, or create it; empty if it can."""
    there = _find_existing(path)
    if not there.is_dir():
        return f"{shorten(there)} is not a directory"
    if is_read_only(there):
        return f"{shorten(there)} is on a read-only disk"
    if not os.access(there, os.R_OK | os.W_OK | os.X_OK):
        return f"Relay has no right to write to {shorten(there)}"
    return "" if shutil.disk_usage(there).total else f"{shorten(there)} can't hold files"


def is_read_only(path: Path) -> bool:
    """Whether the file system of a path is mounted read-only, so that not even root can write there."""
    return sys.platform != "win32" and bool(os.statvfs(path).f_flag & os.ST_RDONLY)


def suggest_remedy(path: Path, trouble: str, setting: str) -> str:
    """Returns how to fix an unusable directory. `setting`: the setting that names it."""
    there = _find_existing(path)
    if "read-only" in trouble:
        return f"Make that disk writable (a disk with errors is often mounted read-only), or set {setting}."
    if "no right" in trouble:
        owner = _owner(there)
        other = "" if owner == "root" else f", run Relay as {owner}"
        return f"Give the directory to Relay's user with chown -R{other}, or set {setting}."
    return f"Set {setting} to another directory."


def shorten(path: Path) -> str:
    """Shortens a path with `~`."""
    home = Path.home()
    return f"~/{path.relative_to(home)}" if path != home and path.is_relative_to(home) else str(path)


def _find_existing(path: Path) -> Path:
    """Returns the path, or its nearest existing parent."""
    path = path.absolute()
    while not path.exists() and path != path.parent:
        path = path.parent
    return path


def _owner(path: Path) -> str:
    try:
        return path.owner()
    except (KeyError, OSError, NotImplementedError):
        return "its owner"
