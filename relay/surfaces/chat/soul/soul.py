"""The soul: who the assistant is. Its versions are shown, made, and made active again."""

from __future__ import annotations

from relay.commands.registry import ADMINS_ONLY
from relay.conversation.prompt import SOUL_TOKENS
from relay.core.text import escape_markdown, parse_number, pluralize, shorten
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import answers, pressed, verb
from relay.surfaces.chat.reply import ButtonReply, CommandReply, Json, Rows, button, question
from relay.surfaces.chat.soul.documents import Unreadable, text_given
from relay.surfaces.chat.soul.versions import about, byline, difference_to, to_copy, unfit, whole

PAGE = 5
USAGE = """\
Write /soul to see my personality. /soul set <text> changes it; sent as the caption of a .md or .txt document, or in \
reply to a message, /soul set makes a draft. /soul edit gives you the text to copy. /soul history lists the versions, \
/soul restore <number> brings one back."""
NOT_HERE = ButtonReply(ADMINS_ONLY)


@verb("soul", usage="[set <text> | edit | history | restore <number>]", help="see or change my personality", admin=True)
async def soul(call: ChatContext) -> CommandReply:
    """Shows the active soul, changes it, or tells of its versions."""
    word, rest = [*call.text.strip().split(maxsplit=1), "", ""][:2]
    match word.lower(), rest:
        case "", _:
            return await show(call)
        case "set", "":
            return await take(call)
        case "set", _:
            return await put(call, rest)
        case "edit", "":
            return await ask(call)
        case "history", _ if not rest or parse_number(rest):
            return await history(call, parse_number(rest) or 1)
        case "restore", _ if number := parse_number(rest.removeprefix("#")):
            return await restore(call, number)
    return CommandReply(escape_markdown(USAGE), refused=True)


async def show(call: ChatContext) -> CommandReply:
    """The active soul."""
    active = await call.store.soul()
    if active is None:
        return CommandReply("No soul is set. Give me one with /soul set &lt;text&gt;")
    rows = [[button("✎ Edit", f"se:{active['version']}"), button("History", "sh:1")]]
    return CommandReply(f"{headline(call, active)}\n\n{whole(active['text'])}", rows=rows)


def headline(call: ChatContext, row: Json) -> str:
    """A version's number, who wrote it, when, why, and how long it is."""
    state = " (active)" if row["active"] else ""
    reason = f" · {escape_markdown(row['reason'])}" if row["reason"] else ""
    return f"**Soul, version {row['version']}**{state}\n{byline(call, row)}{reason} · {about(row['text'], SOUL_TOKENS)}"


async def put(call: ChatContext, text: str) -> CommandReply:
    """Makes a text that an admin typed active."""
    if no := unfit(call, text, SOUL_TOKENS, "soul"):
        return CommandReply(no, refused=True)
    return await activate(call, text, "set in the chat", "")


async def activate(call: ChatContext, text: str, reason: str, what: str) -> CommandReply:
    """Makes a text active, and tells what changed."""
    before = await call.store.soul() or {"version": 0, "text": ""}
    version = await call.store.activate_soul(text, call.user_id, call.name, reason)
    if version == before["version"]:
        return CommandReply(f"That is what I am already: version {version}.")
    head = f"**Soul version {version} is active** from the next message on{what} ({about(text, SOUL_TOKENS)})."
    changed = f"What changed since version {before['version']}:\n\n{await difference_to(before['text'], text)}"
    return CommandReply(f"{head} {changed}", rows=back(version))


def back(version: int) -> Rows:
    """The button that takes an activation back. Each version took the place of the one before it."""
    return [[button(f"↩ Back to version {version - 1}", f"sr:{version - 1}")]] if version > 1 else []


async def restore(call: ChatContext, number: int) -> CommandReply:
    """Makes a new version with the text of an old one."""
    old = await call.store.soul_version(number)
    if old is None:
        return CommandReply(f"There is no version {number}. /soul history lists those there are.", refused=True)
    return await activate(call, old["text"], f"restored from version {number}", f", with the text of version {number}")


async def take(call: ChatContext) -> CommandReply:
    """Makes a draft of what stands elsewhere: a document, or the message that is replied to."""
    try:
        given = await text_given(call)
    except Unreadable as no:
        return CommandReply(str(no), refused=True)
    if given is None:
        return CommandReply(escape_markdown("What shall I be? " + USAGE), refused=True)
    text, source = given
    return await draft(call, text, f"from {source}", None)


async def ask(call: ChatContext) -> CommandReply:
    """Sends the active soul to copy, and asks for the new one."""
    active = await call.store.soul() or {"version": 0, "text": ""}
    asked = f"{question('soul', active['version'])} – reply to this message with my new soul, as text or as a document."
    return to_copy(asked, active["text"], f"soul-{active['version']}.md", "My new soul")


@answers("soul")
async def edit(call: ChatContext, based_on: int) -> CommandReply:
    """Makes a draft of the answer to that question."""
    if not call.admin:
        return CommandReply(ADMINS_ONLY)
    if call.message.get("document"):
        try:
            text, _ = await text_given(call) or ("", "")
        except Unreadable as no:
            return CommandReply(str(no), refused=True)
    else:
        text = call.text.strip()
    return await draft(call, text, "edited", based_on)


async def draft(call: ChatContext, text: str, reason: str, based_on: int | None) -> CommandReply:
    """Keeps a text as a draft, and shows what it would change. `based_on`: the version that its author had before
    them; None for the active one."""
    if no := unfit(call, text, SOUL_TOKENS, "soul"):
        return CommandReply(no, refused=True)
    active = await call.store.soul() or {"version": 0, "text": ""}
    if text == active["text"]:
        return CommandReply(f"That is what I am already: version {active['version']}.")
    base = active["version"] if based_on is None else based_on
    number = await call.store.draft_soul(call.turn.turn_id, text, call.user_id, call.name, reason, base)
    return await draft_told(text, number, base, active)


async def draft_told(text: str, number: int, base: int, active: Json) -> CommandReply:
    """A draft as its difference to the active soul, with the buttons that decide about it."""
    head = f"**A draft of my soul** ({about(text, SOUL_TOKENS)}). Nothing has changed yet."
    if base != active["version"]:
        head += (
            f" ⚠️ It was made from version {base}, but version {active['version']} is active by now; "
            "activating it would undo what was changed there."
        )
    changes = await difference_to(active["text"], text) or "(none)"
    rows = [[button("✅ Activate", f"sa:{number}:{active['version']}"), button("✖ Discard", f"sx:{number}")]]
    return CommandReply(f"{head} The difference to version {active['version']}:\n\n{changes}", rows=rows)


@pressed("sa", confirms=True)
async def activate_draft(call: ChatContext, number: str, seen: str) -> ButtonReply:
    """Activates a draft whose difference to the active version the person has seen."""
    return await decide(call, number, "activate", parse_number(seen) or 0)


@pressed("sx")
async def discard_draft(call: ChatContext, number: str) -> ButtonReply:
    """Discards a draft."""
    return await decide(call, number, "discard", 0)


async def decide(call: ChatContext, number: str, decision: str, seen: int) -> ButtonReply:
    """Decides a draft, and shows under it what became of it."""
    if not call.admin:
        return NOT_HERE
    done = await call.store.decide_soul_draft(parse_number(number) or 0, decision, seen, call.user_id)
    if done is None:
        return ButtonReply("There is no such draft any more.")
    version = done["version"]
    if done["status"] == "activated":
        told = "is active from the next message on" if decision == "activate" else "was activated already"
        rows = [[button(f"✅ Activated as version {version}", "n")], *back(version)]
        return ButtonReply(f"Version {version} {told}.", rows=rows)
    if done["status"] == "discarded":
        return ButtonReply("This draft is discarded.", rows=[[button("✖ Discarded", "n")]])
    active = await call.store.soul() or {"version": 0, "text": ""}
    told_again = await draft_told(done["text"], done["id"], done["based_on"] or 0, active)
    toast = f"Version {active['version']} has become active meanwhile. Please look at the difference to that one."
    return ButtonReply(toast, rows=(), says=told_again)


async def history(call: ChatContext, page: int) -> CommandReply:
    """The versions, newest first, each with buttons to view and to restore it."""
    found = await call.store.souls((page - 1) * PAGE, PAGE)
    pages = max(1, -(-found["total"] // PAGE))
    if page > pages:
        return CommandReply(f"There is no page {page}: there are {pages}.", refused=True)
    lines, rows = [], []
    for row in found["souls"]:
        number = row["version"]
        lines.append(f"{headline(call, row)}\n{whole(shorten(row['text'], 120))}")
        rows.append([button(f"View {number}", f"sv:{number}")])
        if not row["active"]:
            rows[-1].append(button(f"↩ Restore {number}", f"sr:{number}"))
    turn = [button("‹ Newer", f"sh:{page - 1}")] if page > 1 else []
    turn += [button("Older ›", f"sh:{page + 1}")] if page < pages else []
    head = pluralize(found["total"], "version") + (f", page {page} of {pages}" if pages > 1 else "")
    return CommandReply(f"{head}\n\n" + "\n\n".join(lines), rows=[*rows, *([turn] if turn else [])])


@pressed("sh")
async def turn_page(call: ChatContext, page: str) -> ButtonReply:
    """Shows another page of the history in the place of this one."""
    if not call.admin:
        return NOT_HERE
    told = await history(call, parse_number(page) or 1)
    if not told.rows:
        return ButtonReply(told.text)
    under = (call.message.get("reply_markup") or {}).get("inline_keyboard") or []
    listed = any(str(one.get("callback_data")).startswith("sv:") for row in under for one in row)
    return ButtonReply(text=told.text, rows=told.rows) if listed else ButtonReply(says=told)


@pressed("sv")
async def view(call: ChatContext, number: str) -> ButtonReply:
    """Shows a version whole."""
    if not call.admin:
        return NOT_HERE
    row = await call.store.soul_version(parse_number(number) or 0)
    if row is None:
        return ButtonReply("There is no such version.")
    rows = [] if row["active"] else [[button(f"↩ Restore {row['version']}", f"sr:{row['version']}")]]
    return ButtonReply(says=CommandReply(f"{headline(call, row)}\n\n{whole(row['text'])}", rows=rows))


@pressed("sr")
async def restore_pressed(call: ChatContext, number: str) -> ButtonReply:
    """Restores a version."""
    if not call.admin:
        return NOT_HERE
    told = await restore(call, parse_number(number) or 0)
    return ButtonReply(says=told) if told.rows else ButtonReply(told.text)


@pressed("se")
async def ask_pressed(call: ChatContext, number: str) -> ButtonReply:
    """Sends the active soul to copy. (The button's number is the version under which it hung.)"""
    return ButtonReply(says=await ask(call)) if call.admin else NOT_HERE
