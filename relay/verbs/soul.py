"""The soul: who the assistant is."""

from __future__ import annotations

from relay.prompt import SOUL_TOKENS, estimate_tokens
from relay.verbs.registry import Call, Told, verb


@verb("soul", usage="[set <text>]", help="show or set my personality", admin=True)
async def soul(call: Call) -> Told:
    """Shows the active soul, or activates a new version of it."""
    head, _, rest = call.text.partition(" ")
    text = rest.strip() if " " in call.text else ""
    if "\n" in head:
        head, _, text = call.text.partition("\n")
        text = text.strip()
    if not head:
        active = await call.store.soul()
        if active is None:
            return Told("No soul is set. Give me one with /soul set <text>")
        return Told(
            f"**Soul, version {active['version']}** ({estimate_tokens(active['text'])} tokens, "
            f"{active['created_at'][:10]})\n\n{active['text']}\n\nChange it with /soul set <text>"
        )
    if head.lower() != "set" or not text:
        return Told("Write /soul to see my personality, /soul set <text> to change it.")
    tokens = estimate_tokens(text)
    if tokens > SOUL_TOKENS:
        return Told(f"That is about {tokens} tokens; a soul has at most {SOUL_TOKENS}.")
    version = await call.store.set_soul(text, call.user_id, "set in the chat")
    return Told(f"Soul version {version} is active from the next message on ({tokens} tokens).")
