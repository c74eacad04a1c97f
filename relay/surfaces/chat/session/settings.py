"""Settings: what a person chooses for themselves, in force from their next message on."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from relay.core.models import VOICES, Choices
from relay.core.text import escape_markdown, parse_number, shorten
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import answers, pressed, verb
from relay.surfaces.chat.reply import NOT_YOURS, ButtonReply, CommandReply, Json, button, question
from relay.surfaces.chat.session import voice

LEARNING = {
    "on": "I learn as we talk",
    "ask": "what I learn waits for your tap",
    "off": "I learn nothing",
}
LEARNING_LABELS = {"on": "🧠 On", "ask": "🧠 Ask", "off": "🧠 Off"}
FLAGS = {
    "sound": ("answers make a sound", "answers are silent"),
    "previews": ("links show a preview", "links show no preview"),
    "tools": ("answers say which tools I used", "answers do not say which tools I used"),
    "diagnostics": ("answers say which memories I used", "answers do not say which memories I used"),
    "keep": ("answers have a ◆ to keep them; a 👎 takes it away", "answers have no ◆"),
    "reactions": ("a ✍ on a message proposes to keep it", "a ✍ on a message keeps nothing"),
}
LABELS = {
    "sound": ("🔔 Sound", "🔕 Silent"),
    "previews": ("Previews", "No previews"),
    "tools": ("🔎 Show tools", "Hide tools"),
    "diagnostics": ("🧠 Show memories", "Hide memories"),
    "keep": ("◆ Keep button", "No ◆"),
    "reactions": ("✍ Keeps", "✍ Keeps nothing"),
}
HOW = (
    "Write a choice and its value, such as /settings sound off. There are: learning (on, ask, off), voice (auto, "
    "always, never), zone (a city, or house for the one where I run), and with on or off: " + ", ".join(FLAGS) + "."
)
ASK_ZONE = (
    "– reply to this message with your time zone or a big city in it, such as Europe/Berlin, New York or UTC. "
    "I use it for the times I tell you."
)


@verb(
    "settings",
    usage="[<choice> <value>]",
    help="your own choices: learning, sound, voice, what answers show, time zone",
)
async def settings(call: ChatContext) -> CommandReply:
    """Shows a person's choices with buttons to change them; makes at once the one that is named."""
    word, _, rest = call.text.strip().partition(" ")
    name, value = word.lower(), rest.strip().lower()
    if name == "zone" and value and value != "house":
        return await set_zone(replace(call, text=rest), 0)
    choice = named_choice(name, value)
    if name and not choice:
        return CommandReply(HOW, private=True, refused=True)
    choices = await (call.store.choose(call.user_id, choice) if choice else call.store.choices(call.user_id))
    return CommandReply(in_words(call, choices), rows=rows(call.user_id, choices), private=True)


def named_choice(name: str, value: str) -> Json:
    """What a choice's name and value stand for, as `Store.choose` takes it; empty when they stand for nothing."""
    if name in FLAGS and value in ("on", "off"):
        return {name: value == "on"}
    known = {"learning": tuple(LEARNING), "voice": VOICES, "zone": ("house",)}
    if value not in known.get(name, ()):
        return {}
    return {name: "" if name == "zone" else value}


@pressed("tl")
async def choose_learning(call: ChatContext, user_id: str, chosen: str) -> ButtonReply:
    """Sets whether the person's messages teach anything."""
    return await chosen_by(call, user_id, {"learning": chosen} if chosen in LEARNING else {})


@pressed("tv")
async def choose_voice(call: ChatContext, user_id: str, chosen: str) -> ButtonReply:
    """Sets when answers are said aloud."""
    return await chosen_by(call, user_id, {"voice": chosen} if chosen in VOICES else {})


@pressed("ts")
async def choose_flag(call: ChatContext, user_id: str, name: str, chosen: str) -> ButtonReply:
    """Sets one of the choices that are on or off."""
    return await chosen_by(call, user_id, {name: chosen == "1"} if name in FLAGS and chosen in ("0", "1") else {})


@pressed("tz")
async def choose_zone(call: ChatContext, user_id: str, chosen: str) -> ButtonReply:
    """Asks for a time zone, or goes back to the installation's."""
    if parse_number(user_id) != call.user_id:
        return NOT_YOURS
    if chosen == "ask":
        return ButtonReply(says=CommandReply(f"{question('zone')} {ASK_ZONE}", asks="Europe/Berlin"))
    return await chosen_by(call, user_id, {"zone": ""} if chosen == "house" else {})


@answers("zone")
async def set_zone(call: ChatContext, _: int) -> CommandReply:
    """Sets the time zone that a person names."""
    found = await asyncio.to_thread(zones_named, call.text)
    if not found:
        name = escape_markdown(shorten(call.text, 40))
        return CommandReply(
            f"I know no time zone “{name}”. Name a big city in it, or write it like Europe/Berlin.",
            private=True,
            refused=True,
        )
    if len(found) > 1:
        return CommandReply(
            f"I know several of that name: {escape_markdown(', '.join(found[:8]))}. Which one?",
            private=True,
            refused=True,
        )
    choices = await call.store.choose(call.user_id, {"zone": found[0]})
    now = datetime.now(choices.zone_or(call.services.zone))
    return CommandReply(f"Your time zone is {escape_markdown(found[0])}; it is {now:%H:%M} there now.", private=True)


async def chosen_by(call: ChatContext, user_id: str, choice: Json) -> ButtonReply:
    """Makes a person's own choice and shows all of them anew; data that says nothing changes nothing."""
    if parse_number(user_id) != call.user_id:
        return NOT_YOURS
    choices = await call.store.choose(call.user_id, choice)
    return ButtonReply("Done." if choice else "", in_words(call, choices), rows(call.user_id, choices))


def in_words(call: ChatContext, choices: Choices) -> str:
    """A person's choices, one a line."""
    zone = (
        escape_markdown(choices.zone) if choices.zone else f"{escape_markdown(str(call.services.zone))} (where I run)"
    )
    lines = [learning_in_words(choices, call.services.capture, call.admin)]
    lines += [f"- {words[0] if getattr(choices, name) else words[1]}" for name, words in FLAGS.items()]
    lines.append(f"- {voice.in_words(choices.voice)}")
    now = datetime.now(choices.zone_or(call.services.zone))
    return "\n".join(["**Your settings**", *lines, f"- time zone: {zone}, {now:%H:%M} now"])


def learning_in_words(choices: Choices, capture: str, admin: bool) -> str:
    """Whether somebody's messages teach anything; and what they chose, where the installation allows less."""
    learning = choices.within(capture).learning
    why = f"RELAY_CAPTURE is {capture} where I run" if admin else "more is not allowed here"
    limit = f" ({why}; your own choice is {choices.learning})"
    return f"- learning: {learning} – {LEARNING[learning]}{limit if learning != choices.learning else ''}"


def rows(user_id: int, choices: Choices) -> list[list[Json]]:
    """What can be chosen; a tick marks what is."""
    learning = [
        button(f"{'✓ ' if choices.learning == name else ''}{label}", f"tl:{user_id}:{name}")
        for name, label in LEARNING_LABELS.items()
    ]
    flags = [
        [
            button(f"{'✓ ' if getattr(choices, name) is on else ''}{label}", f"ts:{user_id}:{name}:{int(on)}")
            for label, on in zip(both, (True, False), strict=True)
        ]
        for name, both in LABELS.items()
    ]
    zone = [button("🕒 Time zone…", f"tz:{user_id}:ask")]
    if choices.zone:
        zone.append(button("🕒 As where you run", f"tz:{user_id}:house"))
    return [learning, *flags, voice.row(user_id, choices.voice, "tv"), zone]


def zones_named(words: str) -> list[str]:
    """The IANA zones that words name: in full or by their city, whatever the case."""
    name = "_".join(words.strip().lower().split())
    known = _zones()
    if name in known:
        return [known[name]]
    found = sorted(zone for key, zone in known.items() if key.rsplit("/", 1)[-1] == name)
    return found if len({_offsets(zone) for zone in found}) > 1 else sorted(found, key=len)[:1]


def _offsets(zone: str) -> tuple[timedelta | None, ...]:
    """A zone's offsets through a year: names for one place (Asia/Istanbul, Europe/Istanbul) have the same."""
    return tuple(datetime(2026, month, 1, tzinfo=ZoneInfo(zone)).utcoffset() for month in range(1, 13))


@cache
def _zones() -> dict[str, str]:
    """All zones by their name in lower case."""
    return {zone.lower(): zone for zone in available_timezones() if zone not in ("Factory", "localtime")}
