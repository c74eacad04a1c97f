"""Renders /keepit: marks passages, lists markers, opens and changes them."""

from __future__ import annotations

import re

from relay.commands.contexts import keepit as commands
from relay.core.errors import NotFound, OutOfRange, WrongArgument
from relay.core.text import escape_markdown, shorten
from relay.memory.contexts.markers import read_weight
from relay.memory.rows.contexts.markers import KeepitChange
from relay.surfaces.chat.changes import other_rows
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.contexts import buttons
from relay.surfaces.chat.contexts.markers.pages import NO_WEIGHT, press_open, press_remove, undo_weight, weight_of
from relay.surfaces.chat.contexts.markers.weights import preset_rows, undo_typed, weight_in_words
from relay.surfaces.chat.handlers import action, pressed, shows
from relay.surfaces.chat.reply import ButtonReply, CommandReply, button, step_rows

PAGE = 6
REPLY = "Reply to a message with /keepit to keep all of it. "
"""How to mark a message, where messages can be replied to."""
HOW = (
    "To keep a passage, write `##keepit0.80##` before it and `##/keepit##` after it. What you mark survives when old "
    "conversations are compressed."
)
NUMBER = re.compile(r"[-+]?[.,]?\d[\d.,]*%?")
"""Words that can only mean a weight, unless the message contains them."""
WHICH = "Say which passage to keep: /keepit 0.80 the gate code is 4711"


@shows("keepit")
async def keepit(call: ChatContext) -> CommandReply:
    """Marks the passage or message that this replies to, or lists the markers of this conversation."""
    first, *rest = call.text.split(maxsplit=1) or [""]
    weight = read_weight(first)
    words = call.text.strip() if weight is None else "".join(rest).strip()
    replied = call.said.replied
    if replied is None and not words:
        if weight is not None:
            raise WrongArgument((REPLY if call.bot_id else "") + WHICH)
        return await page(call, 0, 0)
    passage = commands.Passage(
        telegram_message_id=replied.message_id if replied else None,
        text=words or call.said.quote,
        quoted=bool(call.said.quote) and not words,
    )
    try:
        done = await commands.keep_passage(call, passage, weight)
    except (NotFound, OutOfRange):
        if weight is None and NUMBER.fullmatch(first):
            raise OutOfRange(NO_WEIGHT) from None
        raise
    if done.draft is None:
        return marked(done)
    draft = done.draft
    text = f"📌 How important is this?\n\n> {escape_markdown(shorten(done.passage, 300))}"
    return CommandReply(text, rows=preset_rows(lambda percent: press_weight(draft, percent)), result=done)


@action("ik")
async def press_weight(call: ChatContext, draft: int, percent: int) -> ButtonReply:
    """Marks the passage that a turn remembers, with a weight in hundredths."""
    done = await commands.keep_passage(call, commands.Passage(draft=draft), weight_of(percent), "button")
    return marked(done).redraw("Kept.")


def marked(done: KeepitChange) -> CommandReply:
    """Says what was marked."""
    one = commands.require_marker(done)
    text = f"📌 Kept {weight_in_words(one.weight)}\n\n> {escape_markdown(shorten(one.content, 300))}"
    undo = [button("↩ Undo", press_remove(one.id))]
    if done.before is not None:
        undo = undo_weight(one, done.before, buttons.ListKeepits(0, 0))
    return CommandReply(text, rows=[[*undo, button("Open", press_open(one.id))]], result=done)


@pressed(buttons.UndoTyped)
async def press_undo(call: ChatContext, to: buttons.UndoTyped) -> ButtonReply:
    changed = await commands.undo_keepits(call, to.turn_id, to.removed)
    if not changed:
        return ButtonReply("That's already done, or isn't yours to decide.", refused=True)
    rows = [*other_rows(call.said.rows, buttons.UndoTyped), [undo_typed(to.turn_id, to.removed)]]
    return ButtonReply("No longer marked." if to.removed else "Marked again.", rows=rows)


@action("ok")
async def open_session_markers(call: ChatContext, session_id: int) -> ButtonReply:
    """Shows the markers of a session, from its page."""
    return await turn_page(call, buttons.ListKeepits(session_id, 0))


@pressed(buttons.ListKeepits)
async def turn_page(call: ChatContext, to: buttons.ListKeepits) -> ButtonReply:
    return (await page(call, to.session_id, to.offset)).redraw()


async def page(call: ChatContext, session_id: int, offset: int) -> CommandReply:
    """Renders a page of markers, the most important first."""
    found = await commands.keepits(call, session_id or None, offset, PAGE)
    where = "in that session" if session_id else "in this conversation"
    back = [[button("‹ Session", buttons.OpenSession(session_id))]] if session_id else []
    if not found.keepits:
        how = (REPLY if call.bot_id else "") + HOW
        text = "There are no more." if found.total else f"Nothing is marked {where} yet.\n\n{how}"
        return CommandReply(text, rows=back, result=found)
    lines = [f"📌 **Marked {where}** ({found.total})"]
    numbered = list(enumerate(found.keepits, offset + 1))
    lines += [
        f"**{number}** · {weight_in_words(one.weight)}\n{escape_markdown(shorten(one.content, 120))}"
        for number, one in numbered
    ]
    openers = [button(str(number), press_open(one.id, session_id, offset)) for number, one in numbered]
    steps = step_rows(offset, PAGE, found.total, lambda to: buttons.ListKeepits(session_id, to), ("‹ Before", "More ›"))
    return CommandReply("\n\n".join(lines), rows=[openers, *steps, *back], result=found)
