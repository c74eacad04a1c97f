"""Who may use the bot: letting people in, and taking that back."""

from __future__ import annotations

from relay.core.text import escape_markdown, parse_number, pluralize, shorten
from relay.memory.calls.people import MOST_INVITES
from relay.memory.people import digest, new_nonce
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import pressed, verb
from relay.surfaces.chat.people.bot_rights import told
from relay.surfaces.chat.reply import NOT_YOURS, ButtonReply, CommandReply, Json, button
from relay.surfaces.chat.times import day, moment

WORDS = {"a": "user", "d": "refused", "b": "blocked"}
"""What a button says about somebody who asks."""
SPOKEN = {"approve": "a", "deny": "d", "block": "b", "admit": "l"}
"""The same in words; admit: let in whom an admin had kept out."""
HOW = (
    "Write /users approve, deny or block and the id of somebody who asks, or /users admit and that of somebody who was "
    "kept out. /users cancel and an invitation's number takes it back. /users lists them."
)
CANCELLED, NOT_OPEN = "It is cancelled: the link lets nobody in.", "It is not open any more."
SAID = {"user": "Approved.", "refused": "Denied.", "blocked": "Blocked."}
USAGE = "Say whom: /revoke and their id (/users lists them) or @name, or reply with /revoke to something they said."
LISTED_IDS = 30
GONE = "This button does nothing any more."


@verb(
    "users",
    usage="[approve|deny|block|admit|cancel <id>]",
    help="who may use me, and who asks to",
    admin=True,
    places=("private",),
)
async def users(call: ChatContext) -> CommandReply:
    """Lists everybody who is known, with buttons for those who wait for a word; gives the word that is named."""
    word, user_id = [*call.text.lower().split(), "", ""][:2]
    if word:
        return await spoken(call, word, user_id)
    text, rows = await listed(call)
    return CommandReply(text, rows=rows, private=True)


async def spoken(call: ChatContext, word: str, user_id: str) -> CommandReply:
    """Gives a word about somebody as the buttons do: /users approve 333."""
    if word == "cancel" and (number := parse_number(user_id.removeprefix("#"))) is not None:
        gone = await call.store.cancel_invite(number)
        return CommandReply(CANCELLED if gone else NOT_OPEN, private=True, refused=not gone)
    if word not in SPOKEN or parse_number(user_id) is None:
        return CommandReply(HOW, private=True, refused=True)
    row = await decided(call, user_id, SPOKEN[word])
    if row is None:
        return CommandReply(f"I know nobody with the id {user_id}. /users lists everybody.", private=True, refused=True)
    return CommandReply(verdict(row), private=True, refused=row["role"] != WORDS.get(SPOKEN[word], "user"))


@verb("invite", usage="[name]", help="make a link that lets one person in", admin=True, places=("private",))
async def invite(call: ChatContext) -> CommandReply:
    """Makes a link that is good for one person, once."""
    username = (await told(call.services.messenger, "getMe")).get("username")
    if not username:
        return CommandReply(
            "I cannot ask Telegram for my name right now, and the link needs it. Try again later.", refused=True
        )
    nonce, for_whom = new_nonce(), shorten(call.text, 60)
    until = await call.store.invite(digest(nonce) or "", for_whom, call.user_id, decider(call))
    if until is None:
        return CommandReply(
            f"{MOST_INVITES} invitations are open, and that is the most. /users lists them.", private=True, refused=True
        )
    whom = escape_markdown(for_whom) if for_whom else "one person"
    return CommandReply(
        f"This link lets {whom} in, once, until {moment(until, call.zone)}:\n\n"
        f"{escape_markdown(invite_link(username, nonce))}\n\n"
        "Send it to nobody else: whoever opens it first is in. I tell you who came; /users lists it, and cancels it.",
        private=True,
    )


@verb("revoke", usage="<id or @name>", help="take back that somebody may use me", admin=True)
async def revoke(call: ChatContext) -> CommandReply:
    """Asks whether the person who is named, or replied to, is really meant."""
    target = (call.message.get("reply_to_message") or {}).get("from") or {}
    word = call.text.strip()
    user_id = parse_number(word) if word else target.get("id")
    if user_id is None and not word.startswith("@"):
        return CommandReply(USAGE, private=True, refused=True)
    if user_id in call.services.people.named:
        return CommandReply(named(call, user_id), private=True, refused=True)
    row = await call.store.person(user_id, word.removeprefix("@"))
    if row is None or row["role"] not in ("admin", "user"):
        return CommandReply(f"I know nobody of whom to take that back. {USAGE}", private=True, refused=True)
    if row["user_id"] in call.services.people.named:
        return CommandReply(named(call, row["user_id"]), private=True, refused=True)
    if await is_last(call, row):
        return CommandReply(only(row), private=True, refused=True)
    rows = [[button("Revoke", f"hr:{row['user_id']}:y"), button("Cancel", f"hr:{row['user_id']}:n")]]
    return CommandReply(
        f"**Take back that {who(row)} may use me?**\n\n"
        "It holds at once: what I am just writing to them ends, and teaches me nothing; what else they said and I have "
        "not answered stays unanswered; their open invitations end. "
        "What I remember of them stays as it is, and is theirs again should they be let in again (/users).",
        rows=rows,
        private=True,
    )


async def is_last(call: ChatContext, row: Json) -> bool:
    """Whether nobody would run the bot without this person."""
    if row["role"] != "admin" or call.services.people.named_admins:
        return False
    admins = {one["user_id"] for one in await call.store.people() if one["role"] == "admin"}
    return admins <= {row["user_id"]}


@pressed("hr", confirms=True)
async def press_revoke(call: ChatContext, user_id: str, decision: str) -> ButtonReply:
    """Takes it back."""
    if not call.admin:
        return NOT_YOURS
    row = await call.store.person(parse_number(user_id) or 0)
    if row is None:
        return ButtonReply(GONE)
    if decision != "y":
        return ButtonReply(text="Nothing has changed.", rows=[])
    owned = bool(call.services.people.named_admins)
    done = await call.store.revoke(row["user_id"], owned, call.user_id, decider(call))
    match done:
        case "done":
            return ButtonReply(
                "Done.", f"{who(row)} may not use me any more. What I remember of them stays as it is.", rows=[]
            )
        case "last":
            return ButtonReply(text=only(row), rows=[])
    return ButtonReply(text=f"{who(row)} may not use me anyway.", rows=[])


@pressed("hp")
async def press_asked(call: ChatContext, user_id: str, word: str) -> ButtonReply:
    """An admin's word, under the message that told of somebody who asks. The first one counts."""
    if not call.admin:
        return NOT_YOURS
    row = await decided(call, user_id, word)
    if row is None:
        return ButtonReply(GONE)
    by = row["decided_by_name"] or "Somebody"
    toast = SAID[row["role"]] if row["changed"] else f"{shorten(by, 60)} has decided already."
    return ButtonReply(toast, verdict(row), [])


@pressed("hu")
async def press_listed(call: ChatContext, user_id: str, word: str) -> ButtonReply:
    """An admin's word, in the list of everybody."""
    if not call.admin:
        return NOT_YOURS
    row = await decided(call, user_id, word)
    toast = "" if row is None else SAID[row["role"]] if row["changed"] else "That was decided already."
    text, rows = await listed(call)
    return ButtonReply(toast, text, rows)


@pressed("hi")
async def press_cancel(call: ChatContext, invite_id: str) -> ButtonReply:
    """Takes an invitation back."""
    if not call.admin:
        return NOT_YOURS
    gone = await call.store.cancel_invite(parse_number(invite_id) or 0)
    text, rows = await listed(call)
    return ButtonReply(CANCELLED if gone else NOT_OPEN, text, rows)


async def decided(call: ChatContext, user_id: str, word: str) -> Json | None:
    """Gives an admin's word about somebody who asks, or (l) lets in whom one had kept out."""
    roles = ["refused", "blocked"] if word == "l" else ["asking"]
    role = WORDS.get("a" if word == "l" else word)
    if role is None:
        return None
    return await call.store.decide(parse_number(user_id) or 0, roles, role, call.user_id, decider(call))


def decider(call: ChatContext) -> str:
    """By what name others hear who decided."""
    return shorten(call.name, 60) if call.bot_id else "somebody at the terminal"


def who(row: Json) -> str:
    """A person as admins see them (Markdown): names are theirs to choose, the id is not."""
    username = f"{escape_markdown('@' + row['username'])}, " if row.get("username") else ""
    return f"{escape_markdown(row['name'])} ({username}id {row['user_id']})"


def deciding(row: Json, kind: str, named: bool = False) -> list[Json]:
    """The buttons about somebody who asks. `named`: the first says who that is."""
    user_id = row["user_id"]
    approve = f"Approve {shorten(row['name'], 20)}" if named else "Approve"
    return [
        button(approve, f"{kind}:{user_id}:a"),
        button("Deny", f"{kind}:{user_id}:d"),
        button("Block", f"{kind}:{user_id}:b"),
    ]


def verdict(row: Json) -> str:
    """What was decided about somebody, and by whom."""
    by = escape_markdown(row["decided_by_name"] or "somebody")
    match row["role"]:
        case "user" | "admin":
            return f"✅ {who(row)} may use me: let in by {by}."
        case "blocked":
            return f"⛔ {who(row)} was blocked by {by}, and gets in with no invitation either. /users can change that."
    return f"🚫 {who(row)} was {kept_out(row)} by {by}. /users can change that."


def invite_link(username: str, nonce: str) -> str:
    """What to open in Telegram so that the bot hears Start with a nonce."""
    return f"https://t.me/{username}?start={nonce}"


def only(row: Json) -> str:
    """Why the last admin cannot be revoked."""
    return f"{who(row)} is the only one who runs me, so that stays."


def named(call: ChatContext, user_id: int) -> str:
    """Why somebody whom the settings name cannot be revoked."""
    line = "RELAY_ADMINS" if user_id in call.services.people.named_admins else "RELAY_USERS"
    return f"{user_id} is named in my settings. Take it out of {escape_markdown(line)} there, and start me again."


async def listed(call: ChatContext) -> tuple[str, list[list[Json]]]:
    """Everybody who is known, and the buttons for those about whom a word can be said."""
    known = await call.store.everybody()
    asking = [row for row in known["people"] if row["role"] == "asking"]
    sections = [("Who may use me", let_in(call, known["people"]))]
    sections.append(("Waiting for a word", [who(row) for row in asking]))
    sections.append(("Open invitations", [invitation(call, row) for row in known["invites"]]))
    out = [
        f"{who(row)} – {kept_out(row)} by {escape_markdown(row['decided_by_name'] or 'somebody')}"
        for row in known["out"]
    ]
    if (more := known["out_count"] - len(out)) > 0:
        out.append(f"and {pluralize(more, 'other')} before them")
    sections.append(("Not let in", out))
    text = "\n\n".join(
        f"**{title}**\n" + "\n".join(f"- {line}" for line in lines) for title, lines in sections if lines
    )
    rows = [deciding(row, "hu", named=True) for row in asking]
    rows += [[button(f"✖ Cancel {invited(row, 40)}", f"hi:{row['id']}")] for row in known["invites"]]
    rows += [[button(f"Let {shorten(row['name'], 30)} in", f"hu:{row['user_id']}:l")] for row in known["out"][:10]]
    return text, rows


def kept_out(row: Json) -> str:
    """How it came that somebody may not use the bot."""
    if row["role"] == "blocked":
        return "blocked"
    return "revoked" if row["let_in"] else "denied"


def invited(row: Json, length: int) -> str:
    """An invitation by whom it is for."""
    return f"the invitation for {shorten(row['for_whom'], length)}" if row["for_whom"] else "an invitation"


def let_in(call: ChatContext, people: list[Json]) -> list[str]:
    """Those who may use the bot: whom the settings name first."""
    settings = call.services.people
    lines = [f"{ids(settings.named_admins)} – run me, as RELAY\\_ADMINS says"] if settings.named_admins else []
    if others := settings.named - settings.named_admins:
        lines.append(f"{ids(others)} – as RELAY\\_USERS says")
    for row in people:
        if row["role"] not in ("admin", "user") or row["user_id"] in settings.named_admins:
            continue
        runs = ", runs me" if row["role"] == "admin" else ""
        by = f"let in by {escape_markdown(row['decided_by_name'])}" if row["decided_by_name"] else "claimed me"
        lines.append(f"{who(row)}{runs} – {by}, {day(row['decided_at'], call.zone)}")
    return lines or ["nobody yet"]


def ids(users: frozenset[int]) -> str:
    """People of whom only the ids are known."""
    first, more = sorted(users)[:LISTED_IDS], len(users) - LISTED_IDS
    return ", ".join(str(one) for one in first) + (f" and {pluralize(more, 'other')}" if more > 0 else "")


def invitation(call: ChatContext, row: Json) -> str:
    """One that is open."""
    whom = f"for {escape_markdown(row['for_whom'])}" if row["for_whom"] else "for whoever opens it"
    by = escape_markdown(row["made_by_name"] or "somebody")
    return f"#{row['id']} {whom}, by {by}, until {moment(row['expires_at'], call.zone)}"
