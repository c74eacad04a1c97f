"""What a person says about a night's tidying of memory that would take much of it out of use."""

from __future__ import annotations

from relay.verbs.registry import NOT_YOURS, Call, Json, Pressed, number_in, pressed

SETTLED = "That is settled already."
LEFT = "🌙 I leave everything as it is."


@pressed("nt")
async def settle(call: Call, number: str, answer: str) -> Pressed:
    """Does what a night found, or leaves it. A private space obeys its owner, a group's the admins."""
    asked = number_in(number) or 0
    space = await call.store.consolidation(asked)
    if space is None:
        return Pressed(SETTLED, rows=[])
    if call.user_id != space["owner_id"] if space["kind"] == "private" else not call.admin:
        return NOT_YOURS
    if answer not in ("y", "n"):
        return Pressed()
    done = await call.store.settle_consolidation(asked, answer == "y")
    if done is None:
        return Pressed(SETTLED, rows=[])
    return Pressed("Done.", told(done) if answer == "y" else LEFT, [])


def told(done: Json) -> str:
    """What was done, in words."""
    counts = [f"{number:,} {word}" for word, number in done.items() if number]
    return f"🌙 Tidied: {', '.join(counts) or 'nothing was left to do'}. /memory changes shows it."
