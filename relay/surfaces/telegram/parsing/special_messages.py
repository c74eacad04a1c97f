"""What somebody sends that is neither text nor a file, such as a place, a contact or a poll, as a sentence. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

Json = dict[str, Any]
LINE, MOST = 300, 30
"""Characters of one text in a thing, and how many options, tasks or people of it are told."""
FOREVER = 0x7FFFFFFF
FEW = 10
HITS = {"🎯": (6, "the middle"), "🏀": (4, "in the basket"), "⚽": (3, "a goal"), "🎳": (6, "a strike")}
"""From which value on a throw of each hits, and what that is called."""
SYMBOLS = ("bar", "grapes", "lemon", "seven")


@dataclass(frozen=True, slots=True)
class Thing:
    """What a message carries, in words."""

    kind: str
    words: str
    untrusted: bool = True
    """Others may have written some of it."""
    refusal: str = ""
    """Why nobody can use it, for whoever sent it; empty when it can be used."""


def thing_of(message: Json) -> Thing | None:
    """What a message carries besides text and files. A venue comes with a `location` of its own."""
    for kind, told in TOLD.items():
        found = message.get(kind)
        if isinstance(found, dict):
            thing = told(found)
            return Thing(kind, thing) if isinstance(thing, str) else thing
    return None


def line(value: Any, otherwise: str = "") -> str:
    """A text on one line, without signs that cannot be seen, not too long."""
    text = value if isinstance(value, str) else ""
    text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return (text if len(text) <= LINE else text[:LINE] + "…") or otherwise


def coordinates(place: Any) -> str:
    """Where something is, to about ten metres, or as exactly as it is known."""
    found = place if isinstance(place, dict) else {}
    north, east = found.get("latitude"), found.get("longitude")
    if not (isinstance(north, int | float) and isinstance(east, int | float)) or abs(north) > 90 or abs(east) > 180:
        return "somewhere"
    off = whole(found.get("horizontal_accuracy"))
    digits = 4 if off < 50 else 3
    told = f"{abs(north):.{digits}f}° {'N' if north >= 0 else 'S'}, {abs(east):.{digits}f}° {'E' if east >= 0 else 'W'}"
    return f"{told}, to about {off} metres" if off > FEW else told


def whole(value: Any) -> int:
    return round(value) if isinstance(value, int | float) and 0 <= value < 2**53 else 0


def listed(texts: Sequence[str]) -> str:
    """Some texts in one line, and how many more there are."""
    more = f"; and {len(texts) - MOST} more" if len(texts) > MOST else ""
    return "; ".join(texts[:MOST]) + more


def dicts(value: Any) -> list[Json]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def called(person: Json) -> str:
    """A person's name, and under which name Telegram finds them."""
    name = line(" ".join(str(person.get(key) or "") for key in ("first_name", "last_name")), "somebody")
    handle = line(person.get("username"))
    return f"{name} (@{handle})" if handle else name


def location(found: Json) -> Thing:
    seconds = whole(found.get("live_period"))
    live = ""
    if seconds:
        span = "until they stop" if seconds >= FOREVER else f"for {max(1, seconds // 60)} minutes"
        live = f"; live {span}, but only this first place is known"
    return Thing("location", f"(sent a place: {coordinates(found)}{live})", untrusted=False)


def venue(found: Json) -> str:
    address = line(found.get("address"))
    named = line(found.get("title"), "a place") + (f", {address}" if address else "")
    return f"(sent a place: {named}; {coordinates(found.get('location'))})"


def contact(found: Json) -> str:
    number = line(found.get("phone_number"))
    return f"(sent a contact: {called(found)}" + (f", phone {number})" if number else ")")


def poll(found: Json) -> str:
    quiz = found.get("type") == "quiz"
    options = [
        line(option.get("text"), "…") + (f" ({votes})" if (votes := whole(option.get("voter_count"))) else "")
        for option in dicts(found.get("options"))
    ]
    told = [f"{'quiz' if quiz else 'poll'}: {line(found.get('question'), '…')}", f"options: {listed(options)}"]
    ids = found.get("correct_option_ids")
    right = [options[n] for n in ids if isinstance(n, int) and 0 <= n < len(options)] if isinstance(ids, list) else []
    if right:
        told.append(f"right is: {listed(right)}")
    if why := line(found.get("explanation")):
        told.append(f"explanation: {why}")
    if about := line(found.get("description")):
        told.append(f"about it: {about}")
    if found.get("allows_multiple_answers"):
        told.append("several may be chosen")
    if found.get("is_closed"):
        told.append("it is closed")
    return f"(sent a {'; '.join(told)})"


def dice(found: Json) -> Thing:
    emoji, value = line(found.get("emoji"), "🎲")[:8], whole(found.get("value"))
    if emoji == "🎰":
        shown = ", ".join(SYMBOLS[(value - 1 >> shift) & 3] for shift in (0, 2, 4)) if value else ""
        return Thing("dice", f"(pulled 🎰: {shown or 'nothing'})", untrusted=False)
    hit, name = HITS.get(emoji, (0, ""))
    result = f", {name if value >= hit else 'missed'}" if hit else ""
    return Thing("dice", f"(threw {emoji}: {value}{result})", untrusted=False)


def checklist(found: Json) -> str:
    tasks = [
        f"[{'x' if task.get('completion_date') else ' '}] {line(task.get('text'), '…')}"
        for task in dicts(found.get("tasks"))
    ]
    return f"(sent a checklist: {line(found.get('title'), 'without a title')}: {listed(tasks)})"


def game(found: Json) -> str:
    return f"(sent a game: {line(found.get('title'), '…')}; {line(found.get('description'), '…')})"


def invoice(found: Json) -> str:
    amount = f"{whole(found.get('total_amount'))} of the smallest units of {line(found.get('currency'), '?')}"
    return f"(sent an invoice: {line(found.get('title'), '…')}; {line(found.get('description'), '…')}; {amount})"


def gift(found: Json) -> str:
    own = found.get("gift")
    present: Json = own if isinstance(own, dict) else {}
    sticker = present.get("sticker")
    emoji = line(sticker.get("emoji")) if isinstance(sticker, dict) else ""
    words = line(found.get("text"))
    named = line(present.get("base_name")) or emoji
    stars = f", {whole(present.get('star_count'))} stars" if present.get("star_count") else ""
    return f"(a gift{' ' + named if named else ''}{stars}" + (f"; with it: {words})" if words else ")")


def giveaway(found: Json) -> str:
    prize = line(found.get("prize_description"))
    stars, months = whole(found.get("prize_star_count")), whole(found.get("premium_subscription_month_count"))
    prizes = [prize] * bool(prize) + [f"{stars} stars"] * bool(stars) + [f"{months} months of Premium"] * bool(months)
    told = f"{whole(found.get('winner_count'))} winners"
    try:
        day = datetime.fromtimestamp(whole(found.get("winners_selection_date")), UTC)
        told += f", drawn on {day:%Y-%m-%d}" if day.year > 2000 else ""
    except (ValueError, OverflowError, OSError):
        pass
    return f"(a giveaway: {told}" + (f"; to win: {', '.join(prizes)})" if prizes else ")")


def people(found: Json) -> str:
    return f"(shared people: {listed([called(person) for person in dicts(found.get('users'))]) or 'nobody'})"


def chat(found: Json) -> str:
    return f"(shared a chat: {line(found.get('title'), 'without a name')})"


def story(found: Json) -> Thing:
    poster = found.get("chat")
    by: Json = poster if isinstance(poster, dict) else {}
    name = line(by.get("title")) or called(by)
    why = "⚠️ Telegram does not show stories to bots. A screenshot of it, or its words, will do."
    return Thing("story", f"(sent a story of {name}, which cannot be opened)", refusal=why)


def paid(found: Json) -> Thing:
    what = f"{len(dicts(found.get('paid_media')))} paid pictures or videos for {whole(found.get('star_count'))} stars"
    why = "⚠️ Telegram does not show paid media to bots. Sent as ordinary pictures I can use them."
    return Thing("paid_media", f"(sent {what}, which cannot be opened)", refusal=why)


TOLD: dict[str, Callable[[Json], str | Thing]] = {
    "venue": venue,
    "location": location,
    "contact": contact,
    "poll": poll,
    "dice": dice,
    "checklist": checklist,
    "game": game,
    "invoice": invoice,
    "gift": gift,
    "unique_gift": gift,
    "giveaway": giveaway,
    "giveaway_winners": giveaway,
    "users_shared": people,
    "chat_shared": chat,
    "story": story,
    "paid_media": paid,
}
