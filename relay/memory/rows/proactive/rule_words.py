"""Puts a recurrence rule into words. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from relay.core.text import join_names, pluralize

UNITS = {"MINUTELY": "minute", "HOURLY": "hour", "DAILY": "day", "WEEKLY": "week", "MONTHLY": "month", "YEARLY": "year"}
DAYS = {"MO": "Monday", "TU": "Tuesday", "WE": "Wednesday", "TH": "Thursday", "FR": "Friday", "SA": "Saturday",
        "SU": "Sunday"}  # fmt: skip
PLACES = {"1": "first", "2": "second", "3": "third", "4": "fourth", "5": "fifth", "-1": "last"}
WORKDAYS = "MO,TU,WE,TH,FR"
CHOOSING = {"BYSETPOS", "BYMONTHDAY"}
"""Parts that choose among the days that a rule names."""


def say_rule(rule: str, start: datetime, zone: str = "") -> str:
    """Says how often a rule comes: every day at 8:00; empty: once. `start`: its first time, local. `zone`: named with
    the time of day. A rule that can't be put into words is shown unchanged."""
    if not rule:
        return ""
    parts = dict(part.partition("=")[::2] for part in rule.split(";"))
    try:
        said = say_step(parts, start)
        often = parts["FREQ"] in ("MINUTELY", "HOURLY")
        hours = sorted({int(hour) for hour in parts.get("BYHOUR", "").split(",") if hour})
        end = f" until {say_end(parts['UNTIL'], start, hours, often)}" if "UNTIL" in parts else ""
        end += f", {pluralize(int(parts['COUNT']), 'time')}" if "COUNT" in parts else ""
    except (KeyError, ValueError):
        return f"by the rule {rule}"
    if often:
        hourly = parts["FREQ"] == "HOURLY" and parts.get("INTERVAL", "1") == "1"
        clock = say_hours(hours, start.minute if hourly else None)
    else:
        clock = f" at {join_names([f'{hour}:{start:%M}' for hour in hours or [start.hour]])}"
    said += f"{clock} ({zone})" if clock and zone else clock
    return said + end


def say_hours(hours: list[int], minute: int | None) -> str:
    """Says the hours of the day in which a rule of hours or minutes comes. `minute`: of each hour; None: several."""
    if not hours or len(hours) == 24:
        return ""
    first = next((hour for hour in hours if (hour - 1) % 24 not in hours), 0)
    if all((first + place) % 24 in hours for place in range(len(hours))):  # perhaps over midnight
        end = first + len(hours) - 1
        last = f"{end % 24 + 1}:00" if minute is None else f"{end % 24}:{minute:02}"
        return f" from {first}:{minute or 0:02} to {last}"
    return f" in the hours from {join_names([f'{hour}:00' for hour in hours])}"


def say_end(until: str, start: datetime, hours: list[int], often: bool) -> str:
    """Says the last day on which a rule can come: the day before its end, if it ends before the first time of that
    day. For what comes every few minutes or hours (`often`) until an hour of the first day or night: that hour."""
    clock = until[9:13] or "2359"
    day = datetime.strptime(until[:8], "%Y%m%d")
    ends = day + timedelta(hours=int(clock[:2]), minutes=int(clock[2:]))
    if often and clock != "2359" and ends - start < timedelta(days=1):
        ends += timedelta(seconds=60 if until[13:15] == "59" else 0)
        return f"{ends.hour}:{ends:%M}"
    first = min(hours, default=0 if often else start.hour) * 100 + (0 if often else start.minute)
    return f"{day - timedelta(days=1) if int(clock) < first else day:%Y-%m-%d}"


def say_step(parts: Mapping[str, str], start: datetime) -> str:
    """Says a rule's interval and its days. Raises `KeyError` or `ValueError` for anything that isn't a rule."""
    interval, unit = int(parts.get("INTERVAL", "1")), UNITS[parts["FREQ"]]
    every = f"every {unit}" if interval == 1 else f"every {interval} {unit}s"
    days, month = say_days(parts, start), say_months(parts)
    if "BYDAY" in parts and interval == 1 and parts["FREQ"] in ("DAILY", "WEEKLY") and not parts.keys() & CHOOSING:
        return f"every {days}{month}".replace("weekdays", "weekday")
    dates = parts.get("BYMONTHDAY", "-")
    if month and "-" not in dates and parts["FREQ"] == "YEARLY" and not parts.keys() & {"BYDAY", "BYSETPOS"}:
        return f"{every} on {join_names(dates.split(','))}{month.removeprefix(' in')}"  # 24 December
    return every + (f" on {days}" if days else "") + month


def say_months(parts: Mapping[str, str]) -> str:
    """Says the months that a rule chooses, unless they are said with the days."""
    months = [f"{datetime(2000, int(month), 1):%B}" for month in parts.get("BYMONTH", "").split(",") if month]
    return f" in {join_names(months)}" if months else ""


def say_days(parts: Mapping[str, str], start: datetime) -> str:
    """Says the days that a rule chooses."""
    numbers = [day for day in parts.get("BYMONTHDAY", "").split(",") if day]
    places = [place for place in parts.get("BYSETPOS", "").split(",") if place]
    if "BYDAY" in parts:
        days = parts["BYDAY"]
        names = "weekdays" if days == WORKDAYS else join_names([say_day(day) for day in days.split(",")])
        if places:
            names = f"the {join_names([say_place(place) for place in places])} {names.removesuffix('s')}"
        return names + (f" that is the {join_names([ordinal(day) for day in numbers])}" if numbers else "")
    if places == ["-1"] and numbers and numbers[-1] in ("29", "30", "31"):
        return f"the {ordinal(numbers[-1])} (or the last day)"
    if numbers:
        chosen = "the " + join_names([ordinal(day) for day in numbers])
        return f"the {join_names([say_place(place) for place in places])} of {chosen}" if places else chosen
    if parts["FREQ"] == "YEARLY" and "BYMONTH" not in parts:
        return f"{start.day} {start:%B}"
    return {"MONTHLY": f"the {ordinal(str(start.day))}", "YEARLY": f"the {ordinal(str(start.day))}",
            "WEEKLY": f"{start:%A}"}.get(parts["FREQ"], "")  # fmt: skip


def say_day(day: str) -> str:
    """Says a day of a rule: Monday; the first Monday."""
    name = DAYS[day[-2:]]
    place = day[:-2].lstrip("+")
    return name if not place else f"the {say_place(place)} {name}"


def say_place(place: str) -> str:
    """Says a place in a row: first, last, 6th, 2nd to last."""
    if place in PLACES:
        return PLACES[place]
    return f"{ordinal(place.lstrip('-'))}{' to last' if place.startswith('-') else ''}"


def ordinal(number: str) -> str:
    """Says a number in order: 1st, 22nd, 13th; counted from the end, a day: last day, 2nd to last day."""
    if number.startswith("-"):
        return f"{say_place(number)} day"
    ending = "th" if number in ("11", "12", "13") else {"1": "st", "2": "nd", "3": "rd"}.get(number[-1], "th")
    return f"{number}{ending}"
