"""Renders a space's session settings: /settings → Sessions, and /sessions settings."""

from __future__ import annotations

import json
from typing import Any, Literal

from relay.commands.contexts.space_settings import change_setting, show_settings
from relay.core.models import Button, File
from relay.memory.contexts.space_settings import ContextSettings
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import action
from relay.surfaces.chat.reply import ButtonReply, CommandReply, button

FILE = "memory-settings.json"
Key = Literal["preset", "model", "decay", "register", "retention", "tokens", "confirm", "night"]
PATHS: dict[Key, str] = {
    "preset": "defaults.compressionPreset",
    "model": "defaults.model",
    "decay": "defaults.keepitDecayEnabled",
    "register": "defaults.autoRegisterSessions",
    "retention": "storage.compressionRetention",
    "tokens": "ui.showTokenEstimates",
    "confirm": "ui.confirmDestructiveActions",
    "night": "autoDecay.enabled",
}
CHOICES: dict[Key, tuple[tuple[str, str], ...]] = {
    "preset": (("gentle", "Gentle"), ("standard", "Standard"), ("aggressive", "Aggressive")),
    "model": (("small", "Small model"), ("big", "Big model")),
    "retention": (("all", "Keep all"), ("5", "Newest 5"), ("30d", "30 days")),
    "register": (("on", "Register all"), ("off", "On request")),
    "decay": (("on", "📌 fade"), ("off", "📌 always stay")),
    "tokens": (("on", "Show tokens"), ("off", "Hide tokens")),
    "confirm": (("on", "Ask before pruning"), ("off", "Prune at once")),
    "night": (("on", "🌙 Compress at night"), ("off", "🌙 Off")),
}


async def show_or_change(call: ChatContext, words: str) -> CommandReply:
    """Shows the settings, or changes one. `words`: its name and value."""
    name, _, value = words.strip().partition(" ")
    settings = await (change_setting(call, name, value) if name else show_settings(call))
    return _page(settings).returning(settings.as_json())


@action("tx")
async def press_settings(call: ChatContext, to: Literal["page", "file"] = "page") -> ButtonReply:
    """Shows a space's session settings, or sends them as a file."""
    settings = await show_settings(call)
    if to == "page":
        return _page(settings).redraw()
    file = File(FILE, (json.dumps(settings.as_json(), indent=2) + "\n").encode())
    return ButtonReply(says=CommandReply("Here are your session settings.", file=file, private=True))


@action("tk")
async def press_setting(call: ChatContext, key: Key, value: str) -> ButtonReply:
    """Changes one setting."""
    return _page(await change_setting(call, PATHS[key], value)).redraw("Done.")


def _page(settings: ContextSettings) -> CommandReply:
    """Lists the settings, with buttons for the choices of the most frequent ones."""
    values = settings.values()
    base = settings.decay.base
    night = settings.auto_decay
    lines = [
        "**Session settings**",
        f"- a new version: {settings.defaults.preset}, by the {settings.defaults.model} model",
        f"- markers: {'fade' if settings.defaults.decay else 'always stay'}; base {base.light:g}, {base.moderate:g}, "
        f"{base.aggressive:g}, over {settings.decay.distance} sessions, pinned from {settings.decay.pinned:g}",
        f"- library: {'every session that ends' if settings.defaults.register else 'what you register'}",
        f"- versions: {_describe_retention(settings.storage.retention)}, up to {settings.storage.size}",
        f"- at night: {_nightly(settings) if night.enabled else 'nothing is compressed'}",
        "",
        f"You can set all {len(values) - 1} by name, for example: /sessions settings pinnedWeight 0.9",
    ]
    return CommandReply("\n".join(lines), rows=[*(_choices(key, values) for key in CHOICES),
                                   [button("Download as JSON", press_settings("file"))]])  # fmt: skip


def _choices(key: Key, values: dict[str, Any]) -> list[Button]:
    present = values[PATHS[key]]
    word = {True: "on", False: "off"}.get(present, str(present)) if isinstance(present, bool) else str(present)
    return [button(label, press_setting(key, value), word == value) for value, label in CHOICES[key]]


def _describe_retention(retention: str | int) -> str:
    if retention == "all":
        return "all are kept"
    return (
        f"the newest {retention} of each" if isinstance(retention, int) else f"kept {retention.removesuffix('d')} days"
    )


def _nightly(settings: ContextSettings) -> str:
    night = settings.auto_decay
    return (
        f"{night.create} after {night.create_after} days, {night.aggressive} after {night.aggressive_after}, others "
        f"pruned after {night.prune_after} ({night.schedule})"
    )
