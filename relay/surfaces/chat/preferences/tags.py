"""The tags under an answer: what was good or bad about it, in one tap."""

from __future__ import annotations

from relay.commands.preferences.critique import critique as critique_command
from relay.commands.preferences.feedback import AnswerTags, Signal, better, show_tags, signal, toggle_tag
from relay.core.errors import CommandRefused
from relay.core.models import Button
from relay.memory.preferences.patterns import TAGS
from relay.surfaces.chat.changes import other_rows
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import action, shows
from relay.surfaces.chat.preferences.pages import describe_acting
from relay.surfaces.chat.reply import ButtonReply, CommandReply, arrange, button
from relay.surfaces.chat.turn_buttons import AnswerWithCritique


def tags_button(turn_id: int) -> Button:
    """Returns the button under an answer that opens its tags."""
    return button("🏷", open_tags(turn_id))


@action("lt")
async def open_tags(call: ChatContext, turn_id: int) -> ButtonReply:
    """Shows the tags under an answer."""
    return ButtonReply(rows=_open_tags(call, await show_tags(call, turn_id)))


@action("lc")
async def close_tags(call: ChatContext, turn_id: int) -> ButtonReply:
    """Folds them together again."""
    return ButtonReply(rows=_close_tags(call, turn_id))


@action("la")
async def tag_answer(call: ChatContext, turn_id: int, name: str) -> ButtonReply:
    """Puts a tag on an answer, or takes it away."""
    if name not in TAGS:
        raise CommandRefused("This tag doesn't exist any more.")
    now = await toggle_tag(call, turn_id, name)
    told = describe_acting([row for row in now.acts if row.new])
    return ButtonReply(told or ("Noted." if name in now.tags else "Removed."), rows=_open_tags(call, now))


@action("lr")
async def just_right(call: ChatContext, turn_id: int) -> ButtonReply:
    """Says that an answer was just right."""
    await signal(call, Signal("accept", turn_id), "button")
    return ButtonReply("Thanks, noted.", rows=_close_tags(call, turn_id))


@shows("better", private=True)
async def show_better(call: ChatContext) -> CommandReply:
    """Records a person's own version of the answer that this replies to, else of the last one here."""
    done = await better(call, call.text, call.replied_id)
    return CommandReply("Thanks. I'll look at what you changed.", result=done)


def _open_tags(call: ChatContext, now: AnswerTags) -> list[list[Button]]:
    """Returns the buttons of the answer, with its tags below them."""
    tags = [button(tag.label, tag_answer(now.turn_id, name), name in now.tags) for name, tag in TAGS.items()]
    tags.append(button("🎯 just right", just_right(now.turn_id)))
    return [*_find_others(call), *arrange(tags, 2), [button("Close", close_tags(now.turn_id))]]


def _close_tags(call: ChatContext, turn_id: int) -> list[list[Button]]:
    return [*_find_others(call), [tags_button(turn_id)]]


def _find_others(call: ChatContext) -> list[list[Button]]:
    return other_rows(call.said.rows, open_tags, close_tags, tag_answer, just_right)


@shows("critique", private=True)
async def critique(call: ChatContext) -> CommandReply:
    """Judges the text after the command, else the message that this replies to, else the last answer here."""
    done = await critique_command(call, call.replied_id, call.text.strip())
    rows = []
    if done.turn_id and call.private:
        rows = [[button("↻ Answer again with this", AnswerWithCritique(done.turn_id))]]
        rows.append([button("🎯 It was right", just_right(done.turn_id))])
    return CommandReply(done.text, rows=rows, result=done)
