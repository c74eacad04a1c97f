"""Describes contents that are neither text nor a file, such as a place, a contact or a poll, in a sentence. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from relay.core.frozen import frozen
from relay.surfaces.telegram.parsing.contents import Checklist, Contact, Contents, Dice, Location, Poll, Venue

LINE, MOST = 300, 30
"""The most characters of one text, and the most options or tasks that are listed."""
FOREVER = 0x7FFFFFFF
FEW = 10
OTHERS = {
    "game": "sent a game",
    "invoice": "sent an invoice",
    "gift": "a gift was given",
    "unique_gift": "a gift was given",
    "giveaway": "a giveaway was announced",
    "giveaway_winners": "a giveaway has ended",
    "story": "sent a story, which cannot be opened",
    "paid_media": "sent paid pictures or videos, which cannot be opened",
}
"""Kinds whose details are not read."""
REFUSALS = {
    "story": "⚠️ Telegram doesn't show stories to bots. Please send a screenshot or its text.",
    "paid_media": "⚠️ Telegram doesn't show paid media to bots. Please send them as ordinary pictures.",
}


@frozen
class SpecialMessage:
    """A description of a message's contents."""

    kind: str
    words: str
    untrusted: bool = True
    """Others may have written some of it."""
    refusal: str = ""
    """Tells the sender why it can't be used; empty if it can."""


def thing_of(message: Contents) -> SpecialMessage | None:
    """Describes a message's contents besides text and files. A venue also has a `location`."""
    for name, describe in DESCRIBED.items():
        if found := getattr(message, name):
            return SpecialMessage(name, describe(found), untrusted=name not in ("location", "dice"))
    kind = next((kind for kind in OTHERS if getattr(message, kind)), None)
    return SpecialMessage(kind, f"({OTHERS[kind]})", refusal=REFUSALS.get(kind, "")) if kind else None


def line(text: str, otherwise: str = "") -> str:
    """Shortens a text to one line without invisible characters."""
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return (text if len(text) <= LINE else text[:LINE] + "…") or otherwise


def coordinates(place: Location | None) -> str:
    """Formats a location, to about ten metres or its own accuracy."""
    if place is None or place.latitude is None or place.longitude is None:
        return "somewhere"
    north, east = place.latitude, place.longitude
    if not (abs(north) <= 90 and abs(east) <= 180):
        return "somewhere"
    accuracy = place.horizontal_accuracy or 0
    off = round(accuracy) if 0 <= accuracy < 2**53 else 0
    digits = 4 if off < 50 else 3
    told = f"{abs(north):.{digits}f}° {'N' if north >= 0 else 'S'}, {abs(east):.{digits}f}° {'E' if east >= 0 else 'W'}"
    return f"{told}, to about {off} metres" if off > FEW else told


def list_texts(texts: Sequence[str]) -> str:
    """Joins the first texts in one line, and says how many more there are."""
    more = f"; and {len(texts) - MOST} more" if len(texts) > MOST else ""
    return "; ".join(texts[:MOST]) + more


def location(found: Location) -> str:
    live = ""
    if found.live_period:
        span = "until they stop" if found.live_period >= FOREVER else f"for {max(1, found.live_period // 60)} minutes"
        live = f"; live {span}, but only this first place is known"
    return f"(sent a place: {coordinates(found)}{live})"


def venue(found: Venue) -> str:
    address = line(found.address)
    named = line(found.title, "a place") + (f", {address}" if address else "")
    return f"(sent a place: {named}; {coordinates(found.location)})"


def contact(found: Contact) -> str:
    number = line(found.phone_number)
    name = line(f"{found.first_name} {found.last_name}", "somebody")
    return f"(sent a contact: {name}" + (f", phone {number})" if number else ")")


def poll(found: Poll) -> str:
    options = [
        line(option.text, "…") + (f" ({option.voter_count})" if option.voter_count else "") for option in found.options
    ]
    right = [options[n] for n in found.correct_option_ids if 0 <= n < len(options)]
    told = [
        f"{'quiz' if found.type == 'quiz' else 'poll'}: {line(found.question, '…')}",
        f"options: {list_texts(options)}",
        f"right is: {list_texts(right)}" if right else "",
        f"explanation: {line(found.explanation)}" if line(found.explanation) else "",
        f"about it: {line(found.description)}" if line(found.description) else "",
        "several may be chosen" if found.allows_multiple_answers else "",
        "it is closed" if found.is_closed else "",
    ]
    return f"(sent a {'; '.join(part for part in told if part)})"


def dice(found: Dice) -> str:
    return f"(threw {line(found.emoji, '🎲')[:8]}: {found.value})"


def checklist(found: Checklist) -> str:
    tasks = [f"[{'x' if task.completion_date else ' '}] {line(task.text, '…')}" for task in found.tasks]
    return f"(sent a checklist: {line(found.title, 'without a title')}: {list_texts(tasks)})"


DESCRIBED: dict[str, Callable[[Any], str]] = {
    "venue": venue,
    "location": location,
    "contact": contact,
    "poll": poll,
    "dice": dice,
    "checklist": checklist,
}
