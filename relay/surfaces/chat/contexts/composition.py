"""Renders compositions: the list, one composition, a conversation that begins with one, and dropping."""

from __future__ import annotations

from relay.commands.contexts import composition as commands
from relay.core.limits import CONTEXT_WINDOW
from relay.core.models import Button
from relay.core.text import escape_markdown, escape_sentence, pluralize, shorten
from relay.memory.contexts.markers import remove_markers
from relay.memory.rows.contexts.composition import ComposedPart, Composition
from relay.surfaces.chat.callbacks import Callback
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import action, pressed
from relay.surfaces.chat.reply import ButtonReply, CommandReply, button, step_rows

PAGE = 6
TITLE_LENGTH = 40
NOTHING_YET = "There are no compositions yet. /compose puts past sessions together."
STATES = {"making": "⏳ being made", "ready": "✅ ready", "over": "⚠️ over its budget", "failed": "⚠️ couldn't be made"}


class BeginWith(Callback, code="bu"):
    """Begins a new conversation with it."""

    composition_id: int


class ChangeComposition(Callback, code="bg"):
    """Chooses other parts, budget or shares for it."""

    composition_id: int


async def list_page(call: ChatContext, offset: int = 0) -> CommandReply:
    """Lists the compositions, with a button to open each."""
    found = await commands.space_compositions(call, offset, PAGE)
    if not found.compositions:
        return CommandReply("There are no more." if found.total else NOTHING_YET, result=found)
    numbered = list(enumerate(found.compositions, offset + 1))
    lines = [f"**Compositions** ({found.total})"]
    for number, one in numbered:
        sessions = pluralize(len(one.parts), "session")
        lines.append(f"**{number}** · {escape_markdown(one.name)} · {STATES[one.status]}\n{sessions} · {size(one)}")
    rows = [[button(str(number), press_open(one.id)) for number, one in numbered]]
    return CommandReply(
        "\n\n".join(lines), rows=[*rows, *step_rows(offset, PAGE, found.total, turn_page)], result=found
    )


async def show_named(call: ChatContext, name: str) -> CommandReply:
    """Shows a composition by its name."""
    one = await commands.composition_named(call, name)
    return composed_page(one).returning(one)


async def drop_named(call: ChatContext, name: str) -> CommandReply:
    """Drops a composition by its name, or asks first."""
    one = await commands.composition_named(call, name)
    return ask_to_drop(one) if commands.drop_asks(call, one) else await _drop(call, one.id)


async def begin_named(call: ChatContext, name: str) -> CommandReply:
    """Begins a new conversation with a composition."""
    one = await commands.composition_named(call, name)
    return describe_begun(await commands.use_composition(call, one.id))


@action("bl")
async def turn_page(call: ChatContext, offset: int) -> ButtonReply:
    """Shows the compositions starting at an offset."""
    return (await list_page(call, offset)).redraw()


@action("bo")
async def press_open(call: ChatContext, composition_id: int) -> ButtonReply:
    """Shows one composition."""
    return composed_page(await commands.open_composition(call, composition_id)).redraw()


@pressed(BeginWith)
async def press_begin(call: ChatContext, to: BeginWith) -> ButtonReply:
    return ButtonReply(says=describe_begun(await commands.use_composition(call, to.composition_id)))


@action("br")
async def press_again(call: ChatContext, composition_id: int) -> ButtonReply:
    """Makes a composition again, with what has been said since."""
    return composed_page(await commands.compose_again(call, composition_id)).redraw("Made again.")


@action("be")
async def press_download(call: ChatContext, composition_id: int) -> ButtonReply:
    """Sends a composition as a file."""
    file = await commands.export_composition(call, composition_id)
    return ButtonReply(says=CommandReply("", file=file, private=True))


@action("bx")
async def press_drop(call: ChatContext, composition_id: int) -> ButtonReply:
    """Asks whether to drop a composition, unless the settings say not to ask."""
    one = await commands.open_composition(call, composition_id)
    asks = commands.drop_asks(call, one)
    return ask_to_drop(one).redraw() if asks else (await _drop(call, one.id)).redraw("Dropped.")


@action("bd", confirms=True)
async def press_confirm(call: ChatContext, composition_id: int) -> ButtonReply:
    """Drops a composition."""
    return (await _drop(call, composition_id)).redraw("Dropped.")


async def _drop(call: ChatContext, composition_id: int) -> CommandReply:
    dropped = await commands.drop_composition(call, composition_id)
    stays = " The conversation that began with it keeps it until its next /new." if dropped.active else ""
    return CommandReply(f"Dropped **{escape_markdown(dropped.name)}**.{stays}", result=dropped)


def composed_page(one: Composition) -> CommandReply:
    """Renders a composition: its state, size and parts, and what can be done with it."""
    lines = [f"🧩 **{escape_markdown(one.name)}** · {STATES[one.status]}", size(one)]
    if one.status == "over":
        lines.append(f"It's {one.over:,} tokens too large, so it can't be used yet. Raise its budget or change a part.")
    elif one.status == "failed":
        lines.append(escape_sentence(one.error or "A version couldn't be made."))
    elif one.status == "making":
        lines.append("I'll tell you when it's ready." if one.tells else "/compose list shows when it's ready.")
    lines.append("\n".join(f"{place}. {part_line(part)}" for place, part in enumerate(one.parts, 1)))
    return CommandReply("\n\n".join(lines), rows=page_rows(one))


def page_rows(one: Composition) -> list[list[Button]]:
    """Returns the buttons of what can be done with a composition."""
    rows: list[list[Button]] = []
    if one.status == "ready":
        rows.append([button("▶️ Begin with it", BeginWith(one.id))])
    if one.status != "making":
        again = button("↻ Make it again", press_again(one.id))
        rows.append([button("✏️ Change", ChangeComposition(one.id)), again])
    last = [button("⬇️ Download", press_download(one.id))] if one.total_tokens is not None else []
    return [*rows, [*last, button("🗑 Drop", press_drop(one.id))]]


def part_line(part: ComposedPart) -> str:
    """Names the session of a part, and what is included of it."""
    if part.due:
        what = "being compressed"
    else:
        gone = " (version gone)" if part.gone else ""
        what = f"{part.version.split('_')[0]}{gone}, {part.tokens or 0:,} tokens{describe_missing(part)}"
    return f"{session_title(part.title, part.words)} · {what}"


def describe_missing(part: ComposedPart) -> str:
    """Says what the version of a part lacks of its session by now."""
    return f", without {part.since.told} since" if part.since.told else ""


def session_title(title: str | None, words: str | None) -> str:
    """Returns a session's title, or its first words."""
    said = escape_markdown(shorten(title or remove_markers(words or "…"), TITLE_LENGTH))
    return said if title else f"“{said}”"


def size(one: Composition) -> str:
    """Says how much of its budget a composition takes."""
    if one.total_tokens is None:
        return f"{one.budget:,} tokens ({share_of_window(one.budget)})"
    return f"{one.total_tokens:,} of {one.budget:,} tokens ({share_of_window(one.total_tokens)})"


def share_of_window(tokens: int) -> str:
    """Says which share of the model's context window a number of tokens takes."""
    share = 100 * tokens / CONTEXT_WINDOW
    return f"{share:.0f}% of my context" if share >= 1 else "under 1% of my context"


def describe_begun(used: commands.UsedComposition) -> CommandReply:
    """Says that a conversation began with a composition."""
    one = used.composition
    what = f"{pluralize(len(one.parts), 'earlier session')}, {one.total_tokens or 0:,} tokens"
    erased = "I've erased what was off the record. " if used.new.ended.private else ""
    text = f"This conversation begins with **{escape_markdown(one.name)}**: {what}. I'll keep it in mind until /new."
    return CommandReply(erased + text, result=used)


def ask_to_drop(one: Composition) -> CommandReply:
    """Asks whether to drop a composition."""
    row = [button("🗑 Drop it", press_confirm(one.id)), button("‹ Keep it", press_open(one.id))]
    return CommandReply(f"Drop **{escape_markdown(one.name)}**? Its sessions and their versions stay.", rows=[row])
