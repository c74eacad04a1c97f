"""The nightly backups."""

from datetime import UTC, datetime, timedelta

from relay.core.program import RELAY
from relay.core.settings import Settings
from relay.surfaces.cli.doctor.finding import Finding, failed, ok, skipped, warning
from relay.surfaces.cli.doctor.machine import explain_unusable, shorten, suggest_remedy

OLD = timedelta(days=3)


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
    return f"{hours // 24} days ago" if hours >= 48 else f"{max(hours, 0)} h ago"
