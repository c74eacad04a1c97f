"""Standing intents: what the model is reminded of when a person mentions something."""

from __future__ import annotations

import re

from relay.commands.context import CommandContext
from relay.commands.registry import operation
from relay.core.errors import CommandRefused, NotFound, OutOfRange, WrongArgument, require_found
from relay.core.limits import INTENT_WORDS_LENGTH, OPEN_INTENTS, PHRASE_LENGTH, REMINDER_LENGTH
from relay.memory.rows.proactive.reminders import Intent

BREAK = r"\s*(?:(?<!\d)[:,]|[:,](?!\d))\s*"
"""Not within a number."""
PHRASE = re.compile(
    rf"(?:me )?(?:when|whenever|if) (?:i )?(?:mention |talk about |say )?(.+?){BREAK}(.+)"
    rf"|(?:mich )?(?:wenn|sobald) (?:ich )?(?:von |über )?(.+?)(?: erwähne| spreche| rede)?{BREAK}(.+)",
    re.IGNORECASE | re.DOTALL,
)
GONE = "That one is gone or isn't yours."
REFUSED = {
    "many": f"You have {OPEN_INTENTS} of these, which is the limit. Delete one first: /reminders",
    "private": "This conversation is off the record, so I can't keep a reminder.",
    "text": "What should I remind you of then? /remind when dentist: take the insurance card",
    "words": "When you mention what? /remind when dentist: take the insurance card",
}


def read_intent(phrase: str) -> tuple[str, str] | None:
    """Returns the words and the text of `when dentist: take the card`; None for other phrases. Pure. Raises
    `OutOfRange` if the phrase is too long."""
    check_phrase(phrase)
    found = PHRASE.fullmatch(phrase.strip())
    if found is None:
        return None
    about, text = (found[1], found[2]) if found[1] else (found[3], found[4])
    return about.strip(" “”\"'"), " ".join(text.split())


@operation("chat", "http")
async def make_intent(ctx: CommandContext, about: str, text: str) -> Intent:
    """Makes a standing intent. Raises `CommandRefused` if it is invalid or there are too many."""
    if len(about) > INTENT_WORDS_LENGTH or len(text) > REMINDER_LENGTH:
        raise OutOfRange(
            f"That is too long. The words can have {INTENT_WORDS_LENGTH} characters, the reminder {REMINDER_LENGTH}."
        )
    if not text.strip():
        raise WrongArgument(REFUSED["text"])
    made = await ctx.store.make_intent({
        "space": ctx.space.as_json(), "chat_id": ctx.chat_id, "topic_id": ctx.topic_id, "user_id": ctx.user_id,
        "about": about, "text": text, "turn_id": ctx.turn.turn_id, "proposed": False,
    })  # fmt: skip
    if isinstance(made, str):
        raise (WrongArgument if made == "words" else CommandRefused)(REFUSED[made])
    return made


@operation("chat", "http")
async def intents(ctx: CommandContext) -> list[Intent]:
    """Returns this person's open standing intents, newest first."""
    await ctx.require_sight()
    return await ctx.store.intents(ctx.space, ctx.user_id)


@operation("chat", "http")
async def set_intent(ctx: CommandContext, intent_id: int, status: str) -> Intent:
    """Deletes an intent, restores it, or starts one that waits for a tap. Raises `CommandRefused` if there is none."""
    await ctx.require_sight()
    changed = await ctx.store.set_intent(ctx.space, ctx.user_id, intent_id, status)
    return require_found(changed, NotFound(GONE))


def check_phrase(phrase: str) -> None:
    """Raises `OutOfRange` for a phrase that is too long to be read. Call it before reading: nothing else runs
    meanwhile."""
    if len(phrase) > PHRASE_LENGTH:
        raise OutOfRange(f"That's {len(phrase)} characters; I can read at most {PHRASE_LENGTH} at a time.")
