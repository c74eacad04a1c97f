"""Spoken answers: a single one, or by a person's setting."""

from __future__ import annotations

from relay.commands.context import CommandContext
from relay.commands.registry import command
from relay.core.errors import CommandRefused, NotAllowed, OutOfRange
from relay.core.frozen import frozen
from relay.core.program import RELAY
from relay.memory.rows.choices import VOICES

OFF = f"I can't speak here: RELAY_TTS is off, or what it needs is missing ({RELAY} doctor shows why)."
SILENT = "I can't speak here: text to speech is off."
NO_SUCH_ANSWER = "That message isn't one of my answers. Reply to an answer with /say, or send it alone for my last one."


@frozen
class SpokenAnswer:
    """An answer to say aloud, as Markdown."""

    text: str


@frozen
class VoiceChoice:
    """When a person's answers are spoken."""

    voice: str
    """auto, always or never."""
    speaks: bool
    """Whether the installation can speak."""


@command("say", help="read an answer aloud (reply to it)", surfaces=("chat",))
async def say(ctx: CommandContext, message_id: int = 0) -> SpokenAnswer:
    """Returns the answer in a message of the chat (0: the last one here), to be spoken."""
    if not ctx.services.installation.speaks:
        raise CommandRefused(OFF, SILENT)
    turn_id = await ctx.store.find_answered_turn(ctx.bot_id, ctx.thread, message_id)
    answer = await ctx.store.answer_said(turn_id) if turn_id else None
    if answer is None:
        raise CommandRefused(NO_SUCH_ANSWER if message_id else "I haven't answered anything here yet.")
    if not await ctx.sees(answer.space):
        raise NotAllowed("That answer is not yours to hear.")
    return SpokenAnswer(answer.text)


@command("voice", usage="[auto|always|never]", help="when to speak answers aloud")
async def voice(ctx: CommandContext, when: str = "") -> VoiceChoice:
    """Sets when a person's answers are spoken, if `when` is given. Returns the setting."""
    if when and when not in VOICES:
        raise OutOfRange("Write /voice auto, /voice always or /voice never.")
    choices = await (ctx.store.choose(ctx.user_id, {"voice": when}) if when else ctx.store.choices(ctx.user_id))
    return VoiceChoice(choices.voice, bool(ctx.services.installation.speaks))
