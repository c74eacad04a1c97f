"""Finding what was said and is known: results in pages, and what was said around one."""

from __future__ import annotations

import re
from datetime import datetime

from relay.core.text import escape_markdown, parse_number, shorten
from relay.memory.ids import read_id
from relay.memory.query_vectors import embed_query
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import pressed, verb
from relay.surfaces.chat.history.found import known_heading, known_page, target
from relay.surfaces.chat.history.query import Query, parse
from relay.surfaces.chat.links import link_to
from relay.surfaces.chat.reply import ButtonReply, CommandReply, Json, button
from relay.surfaces.chat.times import moment

PAGE = 6
AROUND = 3
FARTHER = 6
"""Messages before and after a result; and those of a further step."""
LONGEST = 420
"""Characters of one passage: a page of them stays within one Telegram message."""
HOW = (
    "What shall I look for? For example: /search boiler repair\n\n"
    "Narrow it with from:me, from:you or from:Name; after:2026-11-05, before:2026-11, after:7d; "
    'in:here or in:"a topic". Put "exact words" in quotes.'
)
OVER = ButtonReply("I do not know any more what was asked here. Ask again with /search.")
MARKED = re.compile("\x02([^\x02\x03]*)\x03")
LIST_SIGN = re.compile(r"[-+=0-9]")
"""What may begin a list or a heading at the start of a line."""


@verb("search", usage="<words>", help="find what was said, in all your conversations")
async def search(call: ChatContext) -> CommandReply:
    """Finds messages of this space and what is known in it, best first."""
    query = parse(call.text, now(call))
    if query.wrong:
        return CommandReply("\n\n".join(escape_markdown(sentence) for sentence in query.wrong), refused=True)
    if query.empty:
        return CommandReply(HOW, refused=True)
    asked = {"text": call.text, "user_id": call.user_id, "chat_id": call.chat_id, "topic_id": call.topic_id}
    text, rows = await results(call, asked, query, call.turn.turn_id, 0)
    if rows:
        await call.store.keep_search(call.turn, call.space, call.text)
    return CommandReply(text, rows=rows)


@pressed("qp")
async def turn_page(call: ChatContext, turn_id: str, offset: str) -> ButtonReply:
    """Shows another page of the results."""
    found = await recalled(call, turn_id)
    if found is None:
        return OVER
    asked, query = found
    text, rows = await results(call, asked, query, parse_number(turn_id) or 0, parse_number(offset) or 0)
    return ButtonReply(text=text, rows=rows)


@pressed("qo")
async def open_result(call: ChatContext, turn_id: str, offset: str, message_id: str) -> ButtonReply:
    """Shows what was said around a result, or what is known."""
    named = read_id(message_id)
    if named is not None and named[0] != "message":
        return await known(call, turn_id, offset, *named[:2])
    return await around(call, turn_id, offset, message_id, "around")


@pressed("qc")
async def go_along(call: ChatContext, turn_id: str, offset: str, message_id: str, side: str) -> ButtonReply:
    """Shows what was said before (b) or after (a) what is shown."""
    return await around(call, turn_id, offset, message_id, "before" if side == "b" else "after")


async def recalled(call: ChatContext, turn_id: str) -> tuple[Json, Query] | None:
    """What was asked by the control of this number; None unless it was asked in the space in which its button was
    pressed, by somebody who sees that space."""
    asked = await call.store.kept_search(parse_number(turn_id) or 0, call.space)
    if asked is None or not await call.sees(call.space):
        return None
    return asked, parse(asked["text"], datetime.fromisoformat(asked["at"]).astimezone(call.zone))


async def results(
    call: ChatContext, asked: Json, query: Query, turn_id: int, offset: int
) -> tuple[str, list[list[Json]]]:
    """A page of results, and its buttons (none without results)."""
    text = " ".join([query.words, *query.phrases])
    looked_for = {**as_json(query, asked), **await embed_query(call.services.embedder, text)}
    found = await call.store.find(call.space, call.bot_id, looked_for, min(offset, 10_000), PAGE)
    if not found["found"]:
        return nothing(query, found), []
    shown, total = len(found["found"]), found["total"]
    lines = [headline(found, offset)]
    for number, row in enumerate(found["found"], offset + 1):
        head = heading(call, row) if row["kind"] == "message" else known_heading(call, row)
        lines.append(f"**{number}** · {head}\n{passage(row['text'])}")
    rows = [
        [
            button(str(number), f"qo:{turn_id}:{offset}:{target(row)}")
            for number, row in enumerate(found["found"], offset + 1)
        ]
    ]
    steps = []
    if offset > 0:
        steps.append(button("‹ Previous", f"qp:{turn_id}:{max(0, offset - PAGE)}"))
    if offset + shown < total:
        steps.append(button("More ›", f"qp:{turn_id}:{offset + PAGE}"))
    return "\n\n".join(lines), [*rows, steps] if steps else rows


def headline(found: Json, offset: int) -> str:
    """How much was found, what of it is shown, and how well it fits."""
    shown, total = len(found["found"]), found["total"]
    if found["near"]:
        return "**None has these words**; what comes near"
    head = f"**{'More than ' if found['more'] else ''}{total:,} found**"
    if total > shown:
        head += f", {offset + 1}–{offset + shown}"
    return head if found["every"] else f"{head}. No message has all of these words; these have some"


def nothing(query: Query, found: Json) -> str:
    """Why nothing is shown."""
    if found["total"]:
        return "There are no more."
    if found["nowhere"]:
        places = escape_markdown(" or ".join(query.places))
        return f"I know no topic or group called {places}. in:here is this conversation."
    if found["vague"] and query.words:
        return 'Those words are in nearly every message. Try rarer ones, or put them in quotes: "as it was".'
    return "I found nothing. Fewer words, or other ones, may help."


async def around(call: ChatContext, turn_id: str, offset: str, message_id: str, side: str) -> ButtonReply:
    """Messages around, before or after one, with buttons to go on and back."""
    recall = await recalled(call, turn_id)
    if recall is None:
        return OVER
    asked, query = recall
    number, back = parse_number(message_id) or 0, f"{parse_number(turn_id) or 0}:{parse_number(offset) or 0}"
    found = await call.store.found_context(
        call.space, call.bot_id, as_json(query, asked), number, side, AROUND if side == "around" else FARTHER
    )
    if found is None or not found["messages"]:
        return ButtonReply("There is nothing more here.")
    first, last = found["messages"][0], found["messages"][-1]
    lines = [f"**{escape_markdown(shorten(first['place'], 80))}**"] if first["place"] else []
    for row in found["messages"]:
        mark = "▸ " if row["id"] == number and side == "around" else ""
        lines.append(f"**{mark}{heading(call, row, place=False)}**\n{passage(row['text'])}")
    steps = []
    if found["earlier"]:
        steps.append(button("‹ Earlier", f"qc:{back}:{first['id']}:b"))
    if found["later"]:
        steps.append(button("Later ›", f"qc:{back}:{last['id']}:a"))
    rows = [*([steps] if steps else []), [button("‹ Back to the results", f"qp:{back}")]]
    return ButtonReply(text="\n\n".join(lines), rows=rows)


async def known(call: ChatContext, turn_id: str, offset: str, kind: str, number: int) -> ButtonReply:
    """A memory or summary that was found, in full."""
    if await recalled(call, turn_id) is None:
        return OVER
    found = await call.store.open_found(call.space, call.bot_id, kind, number)
    if found is None or kind == "part":
        return ButtonReply("It is gone.")
    back = button("‹ Back to the results", f"qp:{parse_number(turn_id) or 0}:{parse_number(offset) or 0}")
    text, rows = known_page(call, found, back)
    return ButtonReply(text=text, rows=rows)


def as_json(query: Query, asked: Json) -> Json:
    """A query as `relay_find` takes it."""
    by = {"me": asked["user_id"] if query.me else None, "you": query.you, "names": list(query.names)}
    return {
        "words": query.words,
        "phrases": list(query.phrases),
        "by": by if query.me or query.you or query.names else None,
        "here": {"chat_id": asked["chat_id"], "topic_id": asked["topic_id"]} if query.here else None,
        "places": list(query.places),
        "since": query.since.isoformat() if query.since else None,
        "until": query.until.isoformat() if query.until else None,
    }


def now(call: ChatContext) -> datetime:
    """The present in the person's time zone."""
    return datetime.now(call.zone)


def heading(call: ChatContext, row: Json, place: bool = True) -> str:
    """When, by whom and where something was said; a link to it where Telegram has one."""
    when = moment(row["at"], call.zone)
    if link := link_to(row["posted"], row["topic_id"]):
        when = f"[{when}]({link})"
    parts = [when, speaker(call, row)]
    if place and row["place"]:
        parts.append(escape_markdown(shorten(row["place"], 60)))
    return " · ".join(parts)


def speaker(call: ChatContext, row: Json) -> str:
    """Who said something, as the assistant speaks of them."""
    if row["role"] == "assistant":
        return "me"
    if call.space.kind == "private" and row["user_id"] == call.space.owner_id:
        return "you"
    return escape_markdown(shorten(row["name"] or "somebody", 40))


def passage(text: str) -> str:
    """A passage as Markdown that shows just it, with the words that match in bold."""
    if len(text) > LONGEST:
        text = text[: LONGEST - 1] + "…"
    pieces = MARKED.split(text)
    shown = "".join(spaced(piece) if index % 2 == 0 else strong(piece) for index, piece in enumerate(pieces)).strip()
    return f"&#{ord(shown[0])};{shown[1:]}" if LIST_SIGN.match(shown) else shown


def spaced(text: str) -> str:
    """A text as Markdown that shows just it, with a space at an end that had one."""
    text = text.replace("\x02", "").replace("\x03", "")
    if not text.strip():
        return " " if text else ""
    return f"{' ' if text[0].isspace() else ''}{escape_markdown(text)}{' ' if text[-1].isspace() else ''}"


def strong(word: str) -> str:
    """A word in bold, where Markdown can say so: between signs it would show its stars."""
    shown = escape_markdown(word)
    return f"**{shown}**" if word[:1].isalnum() and word[-1:].isalnum() else shown
