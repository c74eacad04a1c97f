"""Renders /settings: a person's own choices, with buttons that change them."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Literal

from relay.commands.session.settings import INSTALLATION, Choice, Moved
from relay.commands.session.settings import settings as settings_command
from relay.commands.session.zones import say_zone
from relay.core.models import Button
from relay.core.text import escape_markdown
from relay.memory.rows.choices import Choices
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.contexts.space_settings import press_settings
from relay.surfaces.chat.handlers import action, answers, shows
from relay.surfaces.chat.reply import ButtonReply, CommandReply, button, question, require_own
from relay.surfaces.chat.session import voice

Learning = Literal["on", "ask", "off"]
Flag = Literal["sound", "previews", "tools", "diagnostics", "keep", "reactions", "tags", "compare"]
LEARNING = {
    "on": "I learn as we talk",
    "ask": "I ask before I remember something",
    "off": "I don't learn anything",
}
LEARNING_LABELS: dict[Learning, str] = {"on": "🧠 On", "ask": "🧠 Ask", "off": "🧠 Off"}
FLAGS: dict[Flag, tuple[str, str]] = {
    "sound": ("answers make a sound", "answers are silent"),
    "previews": ("links show a preview", "links show no preview"),
    "tools": ("answers say which tools I used", "answers don't say which tools I used"),
    "diagnostics": ("answers say which memories I used", "answers don't say which memories I used"),
    "keep": ("answers have a ◆ button to save them; a 👎 removes it", "answers have no ◆ button"),
    "reactions": ("a ✍ on a message saves it, if you confirm", "a ✍ on a message does nothing"),
    "tags": ("answers have a 🏷 button to say what was good or bad", "answers have no 🏷 button"),
    "compare": (
        "when I answer again, I ask which answer is better",
        "when I answer again, I don't ask which is better",
    ),
}
LABELS: dict[Flag, tuple[str, str]] = {
    "sound": ("🔔 Sound", "🔕 Silent"),
    "previews": ("Previews", "No previews"),
    "tools": ("🔎 Show tools", "Hide tools"),
    "diagnostics": ("🧠 Show memories", "Hide memories"),
    "keep": ("◆ Keep button", "No ◆"),
    "reactions": ("✍ Saves", "✍ Off"),
    "tags": ("🏷 Tags", "No 🏷"),
    "compare": ("⚖ Compare", "No ⚖"),
}
ZONE = re.compile(r"^(?:time[ -]?)?zone(?:\s+|$)", re.IGNORECASE)
"""The name of the time zone in a person's words."""
ASK_ZONE = (
    "– reply to this message with your time zone or a big city in it, such as Europe/Berlin, New York or UTC+2. "
    "I use it for the times I show you."
)


@shows("settings", private=True)
async def settings(call: ChatContext) -> CommandReply:
    """Shows a person's choices, or changes one by name."""
    name, _, value = ZONE.sub("zone ", call.text.strip(), count=1).partition(" ")
    if name == "zone" and value.strip().lower() not in ("", *INSTALLATION):
        return await _zone_set(call, value)
    choices = await settings_command(call, Choice(name, value) if name else None)
    text = "\n\n".join(filter(None, [_page(call, choices), _describe_moved(choices).strip()]))
    return CommandReply(text, rows=_rows(call.user_id, choices), result=choices)


@answers("zone")
async def set_zone(call: ChatContext, _: int) -> CommandReply:
    """Sets the time zone from the reply to the question."""
    return await _zone_set(call, call.text)


async def _zone_set(call: ChatContext, words: str) -> CommandReply:
    choices = await settings_command(call, Choice("zone", words))
    now = datetime.now(choices.zone_or(call.services.zone))
    text = f"Your time zone is {escape_markdown(say_zone(choices.zone))}, where it's {now:%H:%M} now."
    return CommandReply(text + _describe_moved(choices), private=True, result=choices)


def _describe_moved(choices: Choices) -> str:
    """Says which reminders moved to another time zone."""
    moved = choices.reminders if isinstance(choices, Moved) else 0
    if not moved:
        return ""
    keep = "your repeating reminder keeps its" if moved == 1 else f"your {moved} repeating reminders keep their"
    return f" From now on, {keep} hours there: /reminders"


@action("tl")
async def choose_learning(call: ChatContext, user_id: int, learning: Learning) -> ButtonReply:
    """Sets whether the assistant learns from a person's messages."""
    return await _choose(call, user_id, Choice("learning", learning))


@action("tv")
async def choose_voice(call: ChatContext, user_id: int, voice: voice.Voice) -> ButtonReply:
    """Sets which answers are also spoken, under /settings."""
    return await _choose(call, user_id, Choice("voice", voice))


@action("ts")
async def choose_flag(call: ChatContext, user_id: int, name: Flag, on: bool) -> ButtonReply:
    """Sets a choice that is on or off."""
    return await _choose(call, user_id, Choice(name, "on" if on else "off"))


@action("tz")
async def choose_zone(call: ChatContext, user_id: int, to: Literal["ask", "house"]) -> ButtonReply:
    """Asks for a time zone, or goes back to the installation's."""
    require_own(call, user_id)
    if to == "ask":
        return ButtonReply(says=CommandReply(f"{question('zone')} {ASK_ZONE}", asks="Europe/Berlin"))
    return await _choose(call, user_id, Choice("zone", to))


async def _choose(call: ChatContext, user_id: int, choice: Choice) -> ButtonReply:
    """Changes a person's own choice and shows all of them."""
    require_own(call, user_id)
    choices = await settings_command(call, choice)
    return ButtonReply("Done." + _describe_moved(choices), _page(call, choices), _rows(call.user_id, choices))


def _page(call: ChatContext, choices: Choices) -> str:
    """Lists a person's choices, one per line."""
    zone = escape_markdown(say_zone(choices.zone or str(call.services.zone))) + (
        "" if choices.zone else " (the server's)"
    )
    lines = [describe_learning(choices, call.services.installation.capture, call.admin)]
    lines += [f"- {words[0] if getattr(choices, name) else words[1]}" for name, words in FLAGS.items()]
    lines.append(f"- {voice.voice_line(call, choices.voice)}")
    now = datetime.now(choices.zone_or(call.services.zone))
    return "\n".join(["**Your settings**", *lines, f"- time zone: {zone}, {now:%H:%M} now"])


def describe_learning(choices: Choices, capture: str, admin: bool) -> str:
    """Says whether the assistant learns from a person, and their own choice if the installation allows less."""
    learning = choices.limit_to(capture).learning
    why = f"RELAY_CAPTURE is {capture}" if admin else "this installation doesn't allow more"
    limit = f" ({why}; your own choice is {choices.learning})"
    return f"- learning: {learning} – {LEARNING[learning]}{limit if learning != choices.learning else ''}"


def _rows(user_id: int, choices: Choices) -> list[list[Button]]:
    """Returns the buttons; a tick marks each present choice."""
    learning = [
        button(label, choose_learning(user_id, name), choices.learning == name)
        for name, label in LEARNING_LABELS.items()
    ]
    flags = [
        [
            button(label, choose_flag(user_id, name, on), getattr(choices, name) is on)
            for label, on in zip(both, (True, False), strict=True)
        ]
        for name, both in LABELS.items()
    ]
    voices = [button(label, choose_voice(user_id, name), name == choices.voice) for name, label in voice.LABELS.items()]
    zone = [button("🕒 Time zone…", choose_zone(user_id, "ask"))]
    if choices.zone:
        zone.append(button("🕒 Server's time zone", choose_zone(user_id, "house")))
    return [learning, *flags, voices, [*zone, button("📚 Sessions…", press_settings())]]
