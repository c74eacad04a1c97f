"""Renders search results, the messages around one, and memories and other artefacts that were found."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from relay.commands.history.search import SearchResults, messages_beside, open_known, search_page
from relay.commands.history.search import search as run_search
from relay.core.frozen import frozen
from relay.core.text import escape_markdown, parse_number, shorten
from relay.memory.derivations.artefacts import KINDS, artefact_kind, id_of, read_id
from relay.memory.rows.search import Hit, KnownHit, MessageHit
from relay.memory.rows.search_context import ContextMessage, OpenedArtefact, OpenedMemory, OpenedSummary
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import action, shows
from relay.surfaces.chat.links import link_to
from relay.surfaces.chat.memory.origin import name_of, quote
from relay.surfaces.chat.memory_buttons import OpenMemory
from relay.surfaces.chat.memory_pages import cut_units
from relay.surfaces.chat.memory_views import View
from relay.surfaces.chat.reply import ButtonReply, CommandReply, button, step_rows
from relay.surfaces.chat.times import day, moment

PAGE = 6
TERMINAL_PAGE = 30
"""Results on a page in a terminal, where scripts can't turn pages."""
AROUND = 3
FARTHER = 6
"""Messages before and after a result, and in each further step."""
LONGEST = 420
"""The most characters of one passage, so that a page of them fits one Telegram message."""
MARKED = re.compile("\x02([^\x02\x03]*)\x03")
FORMATTING = re.compile(r"\*\*|`|^#{1,6} |(?<![\w*])\*(?=[^\s*])|(?<=[^\s*])\*(?![\w*])", re.MULTILINE)
"""The characters with which a model formats its answers."""
LIST_SIGN = re.compile(r"[-+=0-9]")
"""Characters that can begin a list or a heading at the start of a line."""


@frozen
class Result:
    """A result: a message, a memory or a summary."""

    kind: str
    id: int

    def encode(self) -> str:
        """Returns the id, with a letter unless it is a message."""
        return str(self.id) if self.kind == "message" else id_of(self.kind, self.id)

    @classmethod
    def decode(cls, text: str) -> Result | None:
        """Parses a button's data; None if it isn't a result."""
        number, named = parse_number(text), read_id(text)
        if number is not None:
            return cls("message", number)
        return cls(*named[:2]) if named and artefact_kind(named[0]) else None

    @classmethod
    def examples(cls) -> list[Result]:
        """Returns one of each kind, with long ids."""
        return [cls(kind, 10**17) for kind in ("message", *(one.kind for one in KINDS))]


@shows("search")
async def search(call: ChatContext) -> CommandReply:
    """Searches messages, memories and summaries of this space, best match first."""
    return page(call, await run_search(call, call.text, limit=page_size(call)))


@action("qp")
async def turn_page(call: ChatContext, search_id: int, offset: int) -> ButtonReply:
    """Shows the results of a search starting at an offset."""
    return page(call, await search_page(call, search_id, offset, page_size(call))).redraw()


@action("qo")
async def open_result(call: ChatContext, search_id: int, offset: int, result: Result) -> ButtonReply:
    """Opens a result; `offset` leads back to its page."""
    if result.kind == "message":
        return await show_beside(call, search_id, offset, result.id, "around")
    found = await open_known(call, search_id, result.kind, result.id)
    rows = [[button("‹ Back to the results", turn_page(search_id, offset))]]
    if isinstance(found, OpenedMemory) and call.private:
        rows.insert(0, [button(f"Open #{found.number}", OpenMemory(found.id, View()))])
    return ButtonReply(text=known_page(call, found), rows=rows)


@action("qc")
async def go_along(
    call: ChatContext, search_id: int, offset: int, message_id: int, side: Literal["b", "a"]
) -> ButtonReply:
    """Shows the messages before (b) or after (a) one."""
    return await show_beside(call, search_id, offset, message_id, "before" if side == "b" else "after")


def page_size(call: ChatContext) -> int:
    """Returns how many results a page has."""
    return PAGE if call.bot_id else TERMINAL_PAGE


def page(call: ChatContext, results: SearchResults) -> CommandReply:
    """Renders a page of results, with its buttons."""
    found, offset, search_id = results.page, results.offset, results.search_id
    if not found.found:
        return CommandReply(explain_nothing(results), result=results)
    numbered = list(enumerate(found.found, offset + 1))
    lines = [headline(results)]
    for number, hit in numbered:
        heading = message_heading(call, hit) if isinstance(hit, MessageHit) else format_known_heading(call, hit)
        lines.append(f"**{number}** · {heading}\n{passage(words_of(hit))}")
    rows = [[button(str(n), open_result(search_id, offset, Result(hit.kind, hit.id))) for n, hit in numbered]]
    steps = ("‹ Previous", "More ›")
    rows += step_rows(offset, page_size(call), found.total, lambda to: turn_page(search_id, to), steps)
    return CommandReply("\n\n".join(lines), rows=rows, result=results)


def headline(results: SearchResults) -> str:
    """Says how much was found, which part is shown, and how well it matches."""
    found, offset = results.page, results.offset
    shown = len(found.found)
    if found.near:
        return "**Nothing contains these words**, but these come close"
    head = f"**{'More than ' if found.more else ''}{found.total:,} found**"
    if found.total > shown:
        head += f", {offset + 1}–{offset + shown}"
    return head if found.every else f"{head}. No message contains all of these words; these contain some"


def explain_nothing(results: SearchResults) -> str:
    """Says why there are no results."""
    if results.page.total:
        return "There are no more."
    if results.page.nowhere:
        places = escape_markdown(" or ".join(results.query.places))
        return f"I don't know a topic or group called {places}. in:here is this conversation."
    if results.page.vague and results.query.words:
        return (
            "I skip very common words, single letters and punctuation. Put words in quotes to find them anyway: "
            '"like this".'
        )
    return "I didn't find anything. Try fewer words, or different ones."


async def show_beside(
    call: ChatContext, search_id: int, offset: int, message_id: int, side: Literal["around", "before", "after"]
) -> ButtonReply:
    """Shows the messages around, before or after one."""
    found = await messages_beside(call, search_id, message_id, side, AROUND if side == "around" else FARTHER)
    first, last = found.messages[0], found.messages[-1]
    lines = [f"**{escape_markdown(shorten(first.place, 80))}**"] if first.place else []
    for hit in found.messages:
        mark = "▸ " if hit.id == message_id and side == "around" else ""
        lines.append(f"**{mark}{message_heading(call, hit, place=False)}**\n{passage(words_of(hit))}")
    steps = []
    if found.earlier:
        steps.append(button("‹ Earlier", go_along(search_id, offset, first.id, "b")))
    if found.later:
        steps.append(button("Later ›", go_along(search_id, offset, last.id, "a")))
    rows = [*([steps] if steps else []), [button("‹ Back to the results", turn_page(search_id, offset))]]
    return ButtonReply(text="\n\n".join(lines), rows=rows)


def message_heading(call: ChatContext, hit: MessageHit, place: bool = True) -> str:
    """Says when, by whom and where something was said, with a link if Telegram has one."""
    when = moment(hit.at, call.zone)
    if link := link_to(hit.posted, hit.topic_id):
        when = f"[{when}]({link})"
    parts = [when, speaker(call, hit)]
    if place and hit.place:
        parts.append(escape_markdown(shorten(hit.place, 60)))
    return " · ".join(parts)


def speaker(call: ChatContext, hit: MessageHit) -> str:
    """Names the author of a message, from the assistant's point of view."""
    if hit.role == "assistant":
        return "me"
    if call.space.kind == "private" and hit.user_id == call.space.owner_id:
        return "you"
    return escape_markdown(shorten(hit.name or "somebody", 40))


def words_of(hit: Hit) -> str:
    """Returns the text of a result; an answer's without its formatting."""
    answer = isinstance(hit, MessageHit) and hit.role == "assistant"
    return FORMATTING.sub("", hit.text) if answer else hit.text


def passage(text: str) -> str:
    """Renders a passage verbatim as Markdown, with the matching words in bold."""
    if len(text) > LONGEST:
        text = text[: LONGEST - 1] + "…"
    pieces = MARKED.split(text)
    shown = "".join(
        escape_spaced(piece) if index % 2 == 0 else strong(piece) for index, piece in enumerate(pieces)
    ).strip()
    return f"&#{ord(shown[0])};{shown[1:]}" if LIST_SIGN.match(shown) else shown


def escape_spaced(text: str) -> str:
    """Escapes a text, keeping one space at an end that had some."""
    text = text.replace("\x02", "").replace("\x03", "")
    if not text.strip():
        return " " if text else ""
    return f"{' ' if text[0].isspace() else ''}{escape_markdown(text)}{' ' if text[-1].isspace() else ''}"


def strong(word: str) -> str:
    """Renders a word in bold, unless punctuation at its ends would make Markdown show the stars."""
    shown = escape_markdown(word)
    return f"**{shown}**" if word[:1].isalnum() and word[-1:].isalnum() else shown


def format_known_heading(call: ChatContext, hit: KnownHit) -> str:
    """Returns the heading of a memory or another artefact in a list of results."""
    return format_heading(call, hit.kind, hit, hit.title, hit.subject, hit.status, hit.valid_until)


def known_page(call: ChatContext, found: OpenedMemory | OpenedSummary | OpenedArtefact) -> str:
    """Renders a memory or another artefact in full: with two of its source messages, or a summary with the range it
    covers."""
    match found:
        case OpenedMemory():
            heading = format_heading(call, "memory", found, None, found.subject, found.status, found.valid_until)
            more = sources(call, found.sources)
        case OpenedSummary():
            heading, more = format_heading(call, "summary", found, found.title), covers(call, found)
        case OpenedArtefact():
            heading, more = format_heading(call, found.kind, found, found.title), sources(call, found.sources)
    return "\n\n".join([f"**{heading}**", quote(cut_units(found.content, 2400)), *more])


def sources(call: ChatContext, rows: Sequence[ContextMessage]) -> list[str]:
    """Quotes the first two source messages, each with its author and time."""
    told = []
    for row in rows[:2]:
        who = "I" if row.role == "assistant" else name_of(row.user_id, row.name, call.user_id)
        told.append(f"{who} said, {moment(row.at, call.zone)}:\n{quote(cut_units(row.text, 400)) or '(no words)'}")
    return told


def covers(call: ChatContext, found: OpenedSummary) -> list[str]:
    """Says which range a summary covers, if that is known."""
    if not found.from_at or not found.through_at:
        return []
    return [f"Covers {found.messages} messages until {moment(found.through_at, call.zone)}."]


def format_heading(
    call: ChatContext,
    kind: str,
    known: KnownHit | OpenedMemory | OpenedSummary | OpenedArtefact,
    title: str | None,
    subject: str | None = None,
    status: str | None = None,
    until: datetime | None = None,
) -> str:
    """Says what a result is, its date, subject and place. `title`: if it has one. `status`: unnamed if active."""
    named = artefact_kind(kind)
    name = escape_markdown(title) if title else f"{kind} #{known.number}"
    parts = [moment(known.at, call.zone), f"{named.icon if named else ''} {name}".strip()]
    if subject and call.space.kind == "group":
        parts.append(f"about {escape_markdown(shorten(subject, 40))}")
    if status and status != "active":
        parts.append(status)
    if until:
        parts.append(f"until {day(until, call.zone)}")
    if known.place:
        parts.append(escape_markdown(shorten(known.place, 60)))
    return " · ".join(parts)
