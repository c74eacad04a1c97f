"""Groups: what is answered there, and whose memory is lent to them."""

from __future__ import annotations

from relay.core.text import escape_markdown, parse_number
from relay.memory.calls.people import EVERYWHERE
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import pressed, verb
from relay.surfaces.chat.people.bot_rights import name_in, standing
from relay.surfaces.chat.reply import NOT_YOURS, ButtonReply, CommandReply, Json, button

MODES = {
    "all": "every message of the people I know",
    "addressed": "only what is addressed to me: a mention, a reply to me, a command",
    "off": "nothing at all; only commands of the people who run me work",
}
LABELS = {"all": "All", "addressed": "When addressed", "off": "Off"}
BY_MYSELF = "everything while only one person is here, otherwise what is addressed to me"
IN_GROUPS = "That is for groups: there it says what I answer. Here I answer everything."
HOW = (
    "Write /answer all, /answer addressed or /answer off. In a topic it counts for the topic, "
    "with the word everywhere after it (/answer off everywhere) for the whole group."
)

LEND = (
    "**Lend your own memory to this group?**\n\n"
    "When you speak to me here, I then also know what I know about you, and what we said in private. "
    "**My answers are visible to everybody here**, and what I say in them stays in this group's memory. "
    "I use it for your own messages only, never for those of others; what I learn here stays here. "
    "/unlink takes it back; so does your leaving the group."
)


@verb(
    "answer",
    usage="[all|addressed|off] [everywhere]",
    help="what I answer in this group or topic",
    admin=True,
    doors=("chat",),
    places=("group",),
)
async def answer(call: ChatContext) -> CommandReply:
    """Says what is answered in a group or a topic of it; alone, shows it."""
    if call.private:
        return CommandReply(IN_GROUPS)
    mode, *rest = call.text.lower().split() or [""]
    if mode and (mode not in MODES or rest not in ([], ["here"], ["everywhere"])):
        return CommandReply(HOW)
    if not mode:
        text, rows = shown(call, await call.store.place(call.chat_id, topic_here(call)))
        return CommandReply(text, rows=rows)
    text, rows = await changed(call, mode, EVERYWHERE if rest == ["everywhere"] else topic_here(call))
    return CommandReply(text, rows=rows)


@pressed("ga")
async def choose_answer(call: ChatContext, mode: str) -> ButtonReply:
    """Says by a button what is answered where it hangs."""
    if not call.admin:
        return NOT_YOURS
    if mode not in MODES or call.private:
        return ButtonReply("This button does nothing any more.")
    text, rows = await changed(call, mode, topic_here(call))
    return ButtonReply(f"{LABELS[mode]}.", text, rows)


async def changed(call: ChatContext, mode: str, topic_id: int) -> tuple[str, list[list[Json]]]:
    """Says what is answered, and warns where Telegram does not let that happen."""
    await call.store.set_place(call.chat_id, topic_id, mode, call.user_id)
    text, rows = shown(call, await call.store.place(call.chat_id, topic_here(call)))
    if mode == "all":
        now = await standing(call.services.messenger, call.bot_id, call.chat_id)
        if now.reads is False:
            text += f"\n\n⚠️ But Telegram only shows me what is addressed to me here. {now.remedy}"
    return text, rows


def topic_here(call: ChatContext) -> int:
    """The topic that a word counts for: where there are none, the whole group."""
    forum = (call.message.get("chat") or {}).get("is_forum") or call.topic_id
    return call.topic_id if forum else EVERYWHERE


def shown(call: ChatContext, place: Json) -> tuple[str, list[list[Json]]]:
    """How things stand, and the buttons that change it."""
    topic = topic_here(call) != EVERYWHERE
    here = place["here"] or place["everywhere"]
    lines = [f"**What I answer in this {'topic' if topic else 'group'}**: {MODES.get(here, BY_MYSELF)}."]
    if topic:
        lines.append(f"Elsewhere in this group: {MODES.get(place['everywhere'], BY_MYSELF)}.")
        lines.append("/answer all everywhere (or addressed, or off) says it for the whole group.")
    return "\n\n".join(lines), [
        [button(("✓ " if mode == here else "") + label, f"ga:{mode}") for mode, label in LABELS.items()]
    ]


@verb("link", help="lend your own memory to this group", admin=True, doors=("chat",), places=("group",))
async def link(call: ChatContext) -> CommandReply:
    """Explains what lending means and asks; once lent, shows it."""
    if call.private:
        return CommandReply(
            "That is for groups: there /link lends your own memory to them, for your own messages only."
        )
    lender = (await call.store.place(call.chat_id, topic_here(call)))["lender"]
    if lender == call.user_id:
        return CommandReply(lent(), rows=take_back(lender))
    if lender is not None:
        name = escape_markdown(await name_in(call.services.messenger, call.chat_id, lender))
        return CommandReply(
            f"{name} lends me their memory here already; one can be lent at a time.", rows=take_back(lender)
        )
    if call.space.kind == "private":
        return CommandReply(
            "You are the only person here, so I use your own memory anyway. Ask again when others have joined."
        )
    ask = [button("Lend my memory here", f"gl:{call.user_id}:y"), button("Cancel", f"gl:{call.user_id}:n")]
    return CommandReply(LEND, rows=[ask])


@verb("unlink", help="take your memory back from this group", admin=True, doors=("chat",), places=("group",))
async def unlink(call: ChatContext) -> CommandReply:
    """Takes back what was lent; an admin may also end what somebody else lends."""
    if call.private:
        return CommandReply("That is for groups: there /unlink takes back what /link lent.")
    lender = (await call.store.place(call.chat_id, topic_here(call)))["lender"]
    if lender is None or not await call.store.unlink(call.chat_id, lender):
        return CommandReply("Nobody lends me their memory here.")
    return CommandReply(TAKEN_BACK)


TAKEN_BACK = "Taken back. From now on I use nothing but this group's own memory here."


@pressed("gl")
async def decide_link(call: ChatContext, owner: str, decision: str) -> ButtonReply:
    """Lends the memory of whoever asked, if they say so themselves."""
    if parse_number(owner) != call.user_id or not call.admin:
        return NOT_YOURS
    if decision != "y" or call.private:
        return ButtonReply(text="Nothing is lent.", rows=[])
    if await call.store.link(call.chat_id, call.user_id) != call.user_id:
        return ButtonReply("Somebody else lends theirs here already.")
    return ButtonReply("Lent.", lent(), take_back(call.user_id))


@pressed("gu")
async def press_unlink(call: ChatContext, owner: str) -> ButtonReply:
    """Takes back what was lent."""
    lender = parse_number(owner) or 0
    if call.user_id != lender and not call.admin:
        return NOT_YOURS
    await call.store.unlink(call.chat_id, lender)
    return ButtonReply("Taken back.", TAKEN_BACK, [])


def lent() -> str:
    return (
        "**Your memory is lent to this group**, for your own messages only. "
        "My answers to them are visible to everybody here."
    )


def take_back(owner_id: int) -> list[list[Json]]:
    return [[button("Unlink", f"gu:{owner_id}")]]
