"""The model of `relay chat --offline`: no network, no cost."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable

from relay.core.errors import ModelRefused
from relay.core.models import ModelRequest, Step
from relay.core.program import RELAY
from relay.core.text import pluralize

LABEL = "*(offline stand-in, no model is answering)*"
NO_FORMS = (
    f"This needs a model, and offline there is none. Set ANTHROPIC_API_KEY ({RELAY} setup asks for it), then start "
    f"{RELAY} chat without --offline."
)


class OfflineModel:
    """A fake model, which echoes its input, and learns facts like “I am …” and “I like …”."""

    async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> Step:
        """See `ports.Model.reply`. Raises `ModelRefused` if the request needs an answer in a given form
        or in other words."""
        if request.tool_choice or request.form:
            raise ModelRefused(NO_FORMS)
        texts = [block["text"] for block in request.messages[-1]["content"] if block["type"] == "text"]
        said = next((text for text in reversed(texts) if not text.startswith("<context>")), "")
        # To be put into other words, or judged, for which an echo won't do.
        if said.startswith('<untrusted kind="message">') or '<untrusted kind="text">' in said.splitlines():
            raise ModelRefused(NO_FORMS)
        known = sum(block["text"].count("\n- ") for block in request.system[1:])
        messages, memories = pluralize(len(request.messages), "message"), pluralize(known, "memory", "memories")
        text = f"{LABEL}\nYou said: {said[:500]}\nThis prompt has {messages} and {memories}."
        fact = re.search(r"\bI (?:am|like|love|live in|work as|have) [^.!?\n]{2,120}", said)
        if fact:
            text += f"\n[LEARN: {fact[0].replace('[', '(').replace(']', ')')}]"
        for piece in re.findall(r"\S+\s*", text):
            on_text(piece)
            await asyncio.sleep(0)
        return Step([{"type": "text", "text": text}], "end_turn", {}, "offline")

    async def close(self) -> None:
        """Does nothing."""
