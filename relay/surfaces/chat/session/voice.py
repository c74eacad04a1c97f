"""Answers said aloud: one of them, or as a person chose."""

from __future__ import annotations

from relay.core.models import VOICES
from relay.core.program import RELAY
from relay.core.text import escape_markdown, parse_number
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import pressed, verb
from relay.surfaces.chat.permissions import may_see
from relay.surfaces.chat.reply import NOT_YOURS, ButtonReply, CommandReply, Json, button

SPEAKS = {
    "auto": "a voice note is answered aloud too",
    "always": "every answer is also said aloud",
    "never": "no answer is said aloud",
}
LABELS = {"auto": "🔊 Auto", "always": "🔊 Always", "never": "🔇 Never"}
OFF = f"Nothing speaks here: RELAY_TTS is off, or what it needs is missing ({RELAY} doctor tells)."
SILENT = "I can't speak here."
NO_ANSWER = "That is no answer of mine. Reply with /say to an answer, or send it alone for my last one here."


@verb("say", help="say an answer aloud (reply to it)", doors=("chat",))
async def say(call: ChatContext) -> CommandReply:
    """Says the answer that this replies to, else the last one here."""
    if not call.services.speaks:
        return CommandReply(off(call))
    target = call.message.get("reply_to_message") or {}
    under = 0 if "forum_topic_created" in target else int(target.get("message_id") or 0)
    turn_id = await call.store.answered_turn(call.bot_id, call.chat_id, call.topic_id, under, call.space)
    answer = await call.store.answer_said(turn_id) if turn_id else None
    if answer is None:
        return CommandReply(NO_ANSWER if under else "I have not answered anything here yet.")
    if not await may_see(call, answer.space):
        return CommandReply("That answer is not yours to hear.")
    return CommandReply("", aloud=answer.text)


@verb("voice", usage="[auto|always|never]", help="when answers are also said aloud")
async def voice(call: ChatContext) -> CommandReply:
    """Shows when a person's answers are said aloud, or sets it."""
    word = call.text.strip().lower()
    if word and word not in VOICES:
        return CommandReply("Say /voice auto, /voice always or /voice never.", private=True, refused=True)
    choices = await (call.store.choose(call.user_id, {"voice": word}) if word else call.store.choices(call.user_id))
    why = "" if call.services.speaks else f" {off(call)}"
    return CommandReply(f"{in_words(choices.voice)}.{why}", rows=[row(call.user_id, choices.voice, "vv")], private=True)


@pressed("vv")
async def choose_voice(call: ChatContext, user_id: str, chosen: str) -> ButtonReply:
    """Sets when answers are said aloud."""
    if parse_number(user_id) != call.user_id:
        return NOT_YOURS
    choices = await call.store.choose(call.user_id, {"voice": chosen} if chosen in VOICES else {})
    rows = [row(call.user_id, choices.voice, "vv")]
    return ButtonReply("Done." if chosen in VOICES else "", f"{in_words(choices.voice)}.", rows)


def off(call: ChatContext) -> str:
    """Why nothing is said aloud."""
    return escape_markdown(OFF) if call.admin and call.private else SILENT


def in_words(chosen: str) -> str:
    """A choice as /voice and /settings tell it."""
    return f"voice: {chosen} – {SPEAKS[chosen]}"


def row(user_id: int, chosen: str, kind: str) -> list[Json]:
    """The buttons of the choice, whose data begins with `kind`; a tick marks what is chosen."""
    return [
        button(f"{'✓ ' if chosen == name else ''}{label}", f"{kind}:{user_id}:{name}") for name, label in LABELS.items()
    ]
