"""Renders /voice and /say."""

from __future__ import annotations

from typing import Literal

from relay.commands.session.voice import OFF, SILENT, VoiceChoice
from relay.commands.session.voice import say as say_command
from relay.commands.session.voice import voice as voice_command
from relay.core.models import Button
from relay.core.text import escape_sentence
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import action, shows
from relay.surfaces.chat.reply import ButtonReply, CommandReply, button, require_own

Voice = Literal["auto", "always", "never"]
SPEAKS = {
    "auto": "I answer voice notes with a voice note too",
    "always": "I also send every answer as a voice note",
    "never": "I never send voice notes",
}
LABELS: dict[Voice, str] = {"auto": "🔊 Auto", "always": "🔊 Always", "never": "🔇 Never"}


@shows("say")
async def say(call: ChatContext) -> CommandReply:
    """Speaks the answer that this replies to, else the last one here."""
    answer = await say_command(call, call.replied_id)
    return CommandReply("", aloud=answer.text, result=answer)


@shows("voice", private=True)
async def voice(call: ChatContext) -> CommandReply:
    """Shows or sets which of a person's answers are also spoken."""
    chosen = await voice_command(call, call.text.strip().lower())
    return CommandReply(f"{voice_line(call, chosen.voice)}.", rows=[_row(call.user_id, chosen)], result=chosen)


@action("vv")
async def choose_voice(call: ChatContext, user_id: int, voice: Voice) -> ButtonReply:
    """Sets which answers are also spoken, under /voice."""
    require_own(call, user_id)
    chosen = await voice_command(call, voice)
    return ButtonReply("Done.", f"{voice_line(call, chosen.voice)}.", [_row(call.user_id, chosen)])


def voice_line(call: ChatContext, chosen: str) -> str:
    """Describes a choice, as /voice and /settings show it, or says why it has no effect."""
    if chosen != "never" and not call.services.installation.speaks:
        why = OFF if call.operator else SILENT
        return f"voice: {chosen}, but {escape_sentence(why.removesuffix('.'))}"
    return f"voice: {chosen} – {SPEAKS[chosen]}"


def _row(user_id: int, chosen: VoiceChoice) -> list[Button]:
    return [button(label, choose_voice(user_id, name), name == chosen.voice) for name, label in LABELS.items()]
