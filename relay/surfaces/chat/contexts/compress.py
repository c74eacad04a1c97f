"""Renders /compress: the preview of a version, and its settings, which are also in the buttons' data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, get_args

from relay.commands.contexts.compress import CompressionPreview, make_version, tell_when_ready
from relay.commands.contexts.compress import compress as compress_command
from relay.commands.contexts.versions import list_versions
from relay.commands.contexts.wish import Wish, read_wish
from relay.core.errors import CommandRefused
from relay.core.frozen import frozen
from relay.core.models import Button, Rows
from relay.core.spending.prices import format_dollars
from relay.core.text import escape_markdown, parse_number, pluralize, shorten
from relay.memory.contexts.settings import CompressionSettings, KeepitMode, Level, Method, Model, Preset, read_settings
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.contexts.buttons import OpenSession
from relay.surfaces.chat.contexts.version import show_making
from relay.surfaces.chat.handlers import action, shows
from relay.surfaces.chat.reply import ButtonReply, CommandReply, button

PRESETS: dict[str, Preset] = {"g": "gentle", "s": "standard", "a": "aggressive"}
LEVELS: tuple[Level, ...] = get_args(Level)
KEEPITS: tuple[KeepitMode, ...] = get_args(KeepitMode)
MODELS: tuple[Model, ...] = get_args(Model)
METHODS: tuple[Method, ...] = get_args(Method)
RATIOS = (5, 10, 30, 50)
SKIPS = (0, 5, 20)
SOURCES = 3
"""The most versions offered as a starting point."""
ABOUT = {
    "gentle": "Gentle: keeps half of the newest part, a tenth of the oldest.",
    "standard": "Standard: keeps a third of the newest part, a twenty-fifth of the oldest.",
    "aggressive": "Aggressive: keeps a fifth of the newest part, a fiftieth of the oldest.",
}
MARKERS = {"decay": "By weight", "preserve-all": "Keep all", "ignore": "Ignore"}
ONLY_ADMINS = "Only my admins can make it here."


@shows("compress")
async def compress(call: ChatContext) -> CommandReply:
    """Shows the preview of a version of this conversation, or of an older session."""
    return preview_page(await compress_command(call, read_wish(call.text)))


@action("oc")
async def press_compress(call: ChatContext, session_id: int, offset: int = 0) -> ButtonReply:
    """Shows the preview of a version of a session; `offset` leads back to the list of sessions."""
    page = preview_page(await compress_command(call, Wish(), session_id))
    back = [button("‹ Session", OpenSession(session_id, offset))]
    return replace(page, rows=[*page.rows, back]).redraw()


@action("lw")
async def press_preview(call: ChatContext, session_id: int, draft: Draft) -> ButtonReply:
    """Shows the preview of a version."""
    return preview_page(await preview(call, session_id, draft)).redraw()


@action("le")
async def press_change(call: ChatContext, session_id: int, draft: Draft) -> ButtonReply:
    """Shows the settings of a version, to be changed."""
    found = await preview(call, session_id, draft)
    return ButtonReply(text=preview_text(found), rows=await change_rows(call, found, draft))


@action("lv", confirms=True)
async def press_make(call: ChatContext, session_id: int, draft: Draft) -> ButtonReply:
    """Makes a version."""
    made = await make_version(call, session_id, draft.settings(), draft.source or None)
    if made.version is not None:
        return show_making(await tell_when_ready(call, made.version.id))
    without = replace(draft, method="extract")
    rows = [
        [button("Make it without a model", press_make(session_id, without))],
        [button("‹ Back", press_preview(session_id, draft))],
    ]
    return ButtonReply(text=f"{escape_markdown(made.detail)}\n\n{WITHOUT}", rows=rows, refused=True, result=made)


WITHOUT = "I can make it without a model now: it then keeps whole sentences, yours first, and costs nothing."


async def preview(call: ChatContext, session_id: int, draft: Draft) -> CompressionPreview:
    """Returns the preview of a version with a draft's settings."""
    return await compress_command(call, Wish(settings=draft.settings()), session_id, draft.source or None)


def same(one: Draft, other: Draft) -> bool:
    """Whether two drafts make the same version. A draft without a level has that of its ratio."""
    return (one.settings().as_json(), one.source) == (other.settings().as_json(), other.source)


def preview_page(found: CompressionPreview) -> CommandReply:
    """Renders a preview, with its buttons."""
    return CommandReply(preview_text(found), rows=preview_rows(found), result=found)


def preview_text(found: CompressionPreview) -> str:
    """Renders a preview (Markdown)."""
    title = f"“{escape_markdown(shorten(found.title, 60))}”" if found.title else "this session"
    ratio = found.tokens / max(1, found.estimated_tokens)
    # Without a model, each sentence that stays is a message of its own.
    messages = "" if found.settings["method"] == "extract" else f" in {found.estimated_messages:,}"
    lines = [
        f"**A shorter version of {title}**",
        f"{found.tokens:,} tokens in {pluralize(found.messages, 'message')} → about {found.estimated_tokens:,}"
        f"{messages} ({ratio:.1f}:1)",
        shape_text(found),
    ]
    if found.keeps + found.summarises:
        lines.append(markers_text(found))
    lines.append(cost_text(found))
    if found.no_model:
        lines.append(f"⚠️ {escape_markdown(found.no_model)}")
    if not found.may_make:
        lines.append(ONLY_ADMINS)
    return "\n\n".join(lines)


def shape_text(found: CompressionPreview) -> str:
    """Says how a version is shortened."""
    settings = found.settings
    if settings["mode"] == "tiered":
        told = ABOUT.get(settings["tierPreset"], f"In your own {len(settings.get('customTiers', ()))} tiers.")
    else:
        told = f"Everything at {settings['compactionRatio']}:1, {settings['aggressiveness']}."
    if settings["skipFirstMessages"]:
        first = settings["skipFirstMessages"]
        told += f" The first {first:,} messages don't change." if first > 1 else " The first message doesn't change."
    return f"{told} Made from {escape_markdown(found.source)}." if found.source else told


def markers_text(found: CompressionPreview) -> str:
    """Says how many markers a version keeps, and how many it summarises."""
    if found.settings["keepitMode"] == "ignore":
        return f"📌 Ignores {pluralize(found.summarises, 'marker')}."
    least = " to ".join(
        f"{one:.3f}".removesuffix("0") for one in dict.fromkeys([found.thresholds[0], found.thresholds[-1]])
    )
    least += ", by part" if len(found.thresholds) > 1 else ""
    why = f" (weight ≥ {least})" if found.settings["keepitMode"] == "decay" else ""
    return f"📌 Keeps {found.keeps} word for word{why}, summarises {found.summarises}."


def cost_text(found: CompressionPreview) -> str:
    """Says what a version costs."""
    if found.settings["method"] == "extract":
        return "Without a model: whole sentences, yours first. It costs nothing."
    price = "an unknown price" if found.cost is None else f"about {format_dollars(found.cost)}"
    return f"With the {found.settings['model']} model, for {price}."


def preview_rows(found: CompressionPreview) -> list[list[Button]]:
    """Returns the buttons under a preview."""
    if not found.may_make:
        return []
    draft = draft_of(found.settings, found.source_id)
    session_id = found.session_id
    rows = [[button("Make it", press_make(session_id, draft)), button("Change…", press_change(session_id, draft))]]
    if found.no_model:
        rows.append([button("Make it without a model", press_make(session_id, replace(draft, method="extract")))])
    return rows


async def change_rows(call: ChatContext, found: CompressionPreview, draft: Draft) -> Rows:
    """Returns the buttons that change the settings; a tick marks the present ones."""

    def row(*choices: tuple[str, dict[str, Any]]) -> list[Button]:
        made = [(label, replace(draft, **change)) for label, change in choices]
        return [button(label, press_change(found.session_id, one), same(one, draft)) for label, one in made]

    rows = [
        row(*((one.capitalize(), {"preset": one, "level": None}) for one in PRESETS.values())),
        row(*((f"{ratio}:1", {"preset": None, "ratio": ratio}) for ratio in RATIOS)),
    ]
    if draft.preset is None:
        rows.append(row(*((level.capitalize(), {"level": level}) for level in LEVELS)))
    rows += [
        row(*((f"Keep first {n} as is" if n else "Shorten all", {"skip": n}) for n in SKIPS)),
        row(*((f"📌 {MARKERS[mode]}", {"keepit": mode}) for mode in KEEPITS)),
        row(
            ("Small model", {"model": "small", "method": "model"}),
            ("Big model", {"model": "big", "method": "model"}),
            ("No model", {"method": "extract"}),
        ),
    ]
    versions = [one for one in (await list_versions(call, found.session_id, 0, 20)).versions if one.status == "ready"]
    if versions:
        own = [(one.short, {"source": one.id}) for one in versions[:SOURCES]]
        rows.append(row(("From all messages", {"source": 0}), *((f"From {name}", change) for name, change in own)))
    back = button("‹ Back", press_preview(found.session_id, draft))
    return [*rows, [back, button("Make it", press_make(found.session_id, draft))]]


@frozen
class Draft:
    """The settings that the buttons of /compress change."""

    preset: Preset | None = "standard"
    """None: uniform, with this ratio and level."""
    ratio: int = 10
    level: Level | None = None
    skip: int = 0
    keepit: KeepitMode = "decay"
    model: Model = "small"
    method: Method = "model"
    source: int = 0
    """The version to start from; 0: the messages."""

    def settings(self) -> CompressionSettings:
        """Returns the settings. Raises `CommandRefused` for forged ones."""
        given: dict[str, object] = {"skipFirstMessages": self.skip, "keepitMode": self.keepit, "model": self.model}
        given |= {"method": self.method}
        if self.preset:
            return read_settings(given | {"mode": "tiered", "tierPreset": self.preset})
        uniform = given | {"mode": "uniform", "compactionRatio": self.ratio}
        return read_settings(uniform | ({"aggressiveness": self.level} if self.level else {}))

    def encode(self) -> str:
        """Returns the part of a button's data, such as s.0.d.s.m.0 or 30a.0.d.s.m.0."""
        shape = self.preset[0] if self.preset else f"{self.ratio}{self.level[0] if self.level else ''}"
        return f"{shape}.{self.skip}.{self.keepit[0]}.{self.model[0]}.{self.method[0]}.{self.source}"

    @classmethod
    def decode(cls, text: str) -> Draft | None:
        """Parses the part of a button's data; None if it is invalid."""
        parts = text.split(".")
        if len(parts) != 6:
            return None
        shape, skip, keepit, model, method, source = parts
        try:
            draft = cls(
                preset=PRESETS.get(shape),
                ratio=10 if shape in PRESETS else int(shape.rstrip("lma")),
                level=None if shape in PRESETS or shape[-1].isdecimal() else _pick(LEVELS, shape[-1]),
                skip=int(skip),
                keepit=_pick(KEEPITS, keepit),
                model=_pick(MODELS, model),
                method=_pick(METHODS, method),
                source=parse_number(source) or 0,
            )
            draft.settings()
        except (ValueError, StopIteration, CommandRefused):
            return None
        return draft


def _pick(choices: tuple[Any, ...], letter: str) -> Any:
    return next(choice for choice in choices if choice[0] == letter)


def draft_of(settings: Mapping[str, Any], source_id: int | None) -> Draft:
    """Returns a draft with these settings. Custom tiers become the standard ones."""
    one = read_settings(settings)
    preset = one.preset if one.preset != "custom" else "standard"
    return Draft(
        preset=preset if one.mode == "tiered" else None, ratio=one.ratio, level=one.level, skip=one.skip_first,
        keepit=one.keepit, model=one.model, method=one.method, source=source_id or 0,
    )  # fmt: skip
