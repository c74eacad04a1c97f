"""Says when a reminder is due, and how often. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta, tzinfo

from relay.memory.rows.proactive.reminders import Reminder

UNITS = {"MINUTELY": "minute", "HOURLY": "hour", "DAILY": "day", "WEEKLY": "week", "MONTHLY": "month", "YEARLY": "year"}
DAYS = {"MO": "Monday", "TU": "Tuesday", "WE": "Wednesday", "TH": "Thursday", "FR": "Friday", "SA": "Saturday",
        "SU": "Sunday"}  # fmt: skip
PLACES = {"1": "first", "2": "second", "3": "third", "4": "fourth", "5": "fifth", "-1": "last"}
WORKDAYS = "MO,TU,WE,TH,FR"


def show_moment(at: datetime, zone: tzinfo, now: datetime) -> str:
    """Says a moment (Markdown). In Telegram, people see it in their own zone and language."""
    return f"[{plain_moment(at, zone, now)}](tg://time?unix={int(at.timestamp())})"


def plain_moment(at: datetime, zone: tzinfo, now: datetime) -> str:
    """Says a moment in a zone: today 18:30, tomorrow 9:00, Fri 27 Nov 8:00, 24 Dec 2027 18:00."""
    local, today = at.astimezone(zone), now.astimezone(zone).date()
    clock = f"{local.hour}:{local:%M}"
    if local.date() == today:
        return f"today {clock}"
    if local.date() == today + timedelta(days=1):
        return f"tomorrow {clock}"
    if timedelta() < local.date() - today < timedelta(days=300):
        return f"{local:%a} {local.day} {local:%b} {clock}"
    return f"{local.day} {local:%b} {local.year} {clock}"


def say_rule(one: Reminder, zone: tzinfo | None = None) -> str:
    """Says how often a reminder comes: every day at 8:00; empty: once. `zone`: the reader's; another one is named."""
    if not one.rule:
        return ""
    parts = dict(part.split("=", 1) for part in one.rule.split(";"))
    interval, unit = parts.get("INTERVAL", "1"), UNITS[parts["FREQ"]]
    said = f"every {unit}" if interval == "1" else f"every {interval} {unit}s"
    days = say_days(parts, one.start_at)
    if parts.get("BYDAY") == WORKDAYS and interval == "1":
        said, days = "every weekday", ""
    elif unit == "week" and interval == "1" and days:
        said, days = f"every {days}", ""
    said += f" on {days}" if days else ""
    if unit not in ("minute", "hour"):
        said += f" at {one.start_at.hour}:{one.start_at:%M}"
        said += f" ({one.zone})" if zone is not None and str(zone) != one.zone else ""
    if "UNTIL" in parts:
        end = parts["UNTIL"]
        said += f" until {end[:4]}-{end[4:6]}-{end[6:8]}"
    return said + (f", {parts['COUNT']} times" if "COUNT" in parts else "")


def say_days(parts: dict[str, str], start: datetime) -> str:
    """Says the days that a rule chooses."""
    if "BYDAY" in parts:
        return join([say_day(day) for day in parts["BYDAY"].split(",")])
    month = f" {datetime(2000, int(parts['BYMONTH'].split(',')[0]), 1):%B}" if "BYMONTH" in parts else ""
    days = parts.get("BYMONTHDAY", "").split(",")
    if parts.get("BYSETPOS") == "-1" and days[-1] in ("29", "30", "31"):
        return f"{days[-1]}{month} (or the last day)" if month else f"the {ordinal(days[-1])} (or the last day)"
    if month and days != [""]:
        return f"{join(days)}{month}"
    if days != [""]:
        return "the " + join([ordinal(day) for day in days])
    return {"MONTHLY": f"the {ordinal(str(start.day))}", "YEARLY": f"{start.day} {start:%B}",
            "WEEKLY": f"{start:%A}"}.get(parts["FREQ"], "")  # fmt: skip


def say_day(day: str) -> str:
    """Says a day of a rule: Monday; the first Monday."""
    name = DAYS[day[-2:]]
    place = day[:-2].lstrip("+")
    return name if not place else f"the {PLACES.get(place, place)} {name}"


def ordinal(number: str) -> str:
    """Says a number in order: 1st, 22nd, 13th; -1 is the last."""
    if number == "-1":
        return "last day"
    ending = "th" if number in ("11", "12", "13") else {"1": "st", "2": "nd", "3": "rd"}.get(number[-1], "th")
    return f"{number}{ending}"


def join(names: list[str]) -> str:
    """Joins names: Monday, Tuesday and Friday."""
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]
