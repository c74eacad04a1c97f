"""What a person says about a night's tidying of memory that would take much of it out of use."""

from __future__ import annotations

from dataclasses import asdict

from relay.core.text import parse_number
from relay.memory.rows.nights import Tidied
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import pressed
from relay.surfaces.chat.reply import NOT_YOURS, ButtonReply

SETTLED = "That is settled already."
LEFT = "🌙 I leave everything as it is."


@pressed("nt")
async def settle(call: ChatContext, number: str, answer: str) -> ButtonReply:
    """Does what a night found, or leaves it. A private space obeys its owner, a group's the admins."""
    asked = parse_number(number) or 0
    space = await call.store.consolidation(asked)
    if space is None:
        return ButtonReply(SETTLED, rows=[])
    if call.user_id != space.owner_id if space.kind == "private" else not call.admin:
        return NOT_YOURS
    if answer not in ("y", "n"):
        return ButtonReply()
    done = await call.store.settle_consolidation(asked, answer == "y")
    if done is None:
        return ButtonReply(SETTLED, rows=[])
    return ButtonReply("Done.", told(done) if answer == "y" else LEFT, [])


def told(done: Tidied) -> str:
    """What was done, in words."""
    counts = [f"{number:,} {word}" for word, number in asdict(done).items() if number]
    return f"🌙 Tidied: {', '.join(counts) or 'nothing was left to do'}. /memory changes shows it."
