"""The nightly backups."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from relay.core.program import RELAY
from relay.core.settings import Settings
from relay.surfaces.cli.doctor.finding import Finding, failed, ok, skipped, warning
from relay.surfaces.cli.doctor.machine import remedy, short, unusable

OLD = timedelta(days=3)


def backup(settings: Settings, since: str) -> Finding:
    """When the last backup was made. `since`: when Relay came to this database (ISO 8601; empty: not known)."""
    if not settings.backup_days:
        return skipped("backup", "off: RELAY_BACKUP_DAYS is 0")
    folder, now = settings.backups, datetime.now(UTC)
    if trouble := unusable(folder):
        return failed("backup", trouble, remedy(folder, trouble, "RELAY_BACKUP_DIR"))
    try:
        times = [path.stat().st_mtime for path in folder.glob("relay-*.relaybackup")]
    except OSError:
        times = []
    fix = f"`{RELAY} backup` makes one now; while `{RELAY} run` runs, it makes one each night."
    if times:
        age = now - datetime.fromtimestamp(max(times), UTC)
        said = f"{len(times)} in {short(folder)}, the last {_ago(age)}"
        return warning("backup", said, fix) if age > OLD else ok("backup", said)
    if since and now - datetime.fromisoformat(since) > OLD:
        return warning("backup", f"none in {short(folder)}", fix)
    return skipped("backup", "none yet; made each night")


def _ago(age: timedelta) -> str:
    hours = int(age.total_seconds() // 3600)
    return f"{hours // 24} days ago" if hours >= 48 else f"{max(hours, 0)} h ago"
