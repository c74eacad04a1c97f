"""Digests: what a day brought, sent at night where people want it, or told right now."""

from __future__ import annotations

from relay.commands.context import Services
from relay.commands.registry import ADMINS_ONLY
from relay.core.errors import RelayError
from relay.memory.sleep.asking import BatchModel
from relay.memory.sleep.digest import written
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import verb
from relay.surfaces.chat.reply import CommandReply, cause

HOW = "`/digest on` sends it each night, `/digest off` ends that, `/digest now` shows the last 24 hours."


@verb("digest", usage="[on|off|now]", help="what the day brought, each night or right now")
async def digest(call: ChatContext) -> CommandReply:
    """Turns the nightly digest of this space on or off, or tells the last day now. In a group, admins turn it."""
    match call.text.strip().lower():
        case "now":
            return await told_now(call)
        case "on" | "off" as word:
            return await turned(call, word == "on")
    wanted = await call.store.digest_wanted(call.space)
    state = "I send a digest each night" if wanted else "I send no digest"
    return CommandReply(f"{state}. {HOW}")


async def turned(call: ChatContext, on: bool) -> CommandReply:
    """Wants the digest, or no more. What is one person's goes to their own chat; a group's stays in the group."""
    if call.space.kind == "group" and not call.admin:
        return CommandReply(ADMINS_ONLY)
    own = call.space.kind == "private"
    where = {
        "user_id": str(call.user_id),
        "chat_id": str(call.user_id if own else call.chat_id),
        "topic_id": str(0 if own else call.topic_id),
    }
    await call.store.want_digest(call.space, where if on else None)
    if not on:
        return CommandReply("I send no digest any more.")
    place = "to our own chat" if own else "here"
    return CommandReply(f"Each night I send {place}, silently, what the day brought. Days without anything bring none.")


async def told_now(call: ChatContext) -> CommandReply:
    """What the last 24 hours brought."""
    try:
        text = await written(mind_of(call.services), await call.store.digest_now(call.space), call.user_id)
    except RelayError as error:
        return CommandReply(f"I cannot write a digest now. {cause(call, error)}", refused=True)
    except TimeoutError:
        return CommandReply("I cannot write a digest now.", refused=True)
    return CommandReply(
        text or "There was nothing in the last 24 hours that is worth a digest.", private=call.space.kind == "private"
    )


def mind_of(services: Services) -> BatchModel:
    """The small model, for what is asked of it in a chat."""
    summariser = services.summariser
    return BatchModel(services.store, summariser.gate, summariser.model_name, summariser.results)
