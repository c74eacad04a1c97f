"""Renders a trial of a soul: what it would answer and cost, then the answers side by side."""

from __future__ import annotations

import math

from relay.commands.soul.trial import SoulTrial, TriedSoul, plan_trial, try_soul
from relay.core.text import escape_markdown, pluralize, shorten
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import action, pressed
from relay.surfaces.chat.reply import ButtonReply, CommandReply, button
from relay.surfaces.chat.soul.buttons import DiscardDraft, OfferTrial, draft_rows

SHOWN = 200
"""The most characters of a question to show."""


async def offer_trial(call: ChatContext, draft_id: int, replied: int = 0) -> CommandReply:
    """Says what a trial would answer and cost, with the button that starts it."""
    plan = await plan_trial(call, draft_id, replied)
    listed = "\n".join(f"- {escape_markdown(shorten(one, SHOWN))}" for one in plan.questions)
    number = len(plan.questions)
    which = "this question" if number == 1 else f"these {pluralize(number, 'question')}"
    text = (
        f"🧪 I'll answer {which} with {active(plan.active_version)} and with the new soul, side by side. "
        f"Nothing changes, and I won't remember any of it:\n\n{listed}"
    )
    begin = button(f"🧪 Try it ({cost(plan)})", press_run(draft_id, plan.message_id))
    return CommandReply(text, rows=[[begin, button("✖ Discard", DiscardDraft(draft_id))]], result=plan)


def active(version: int) -> str:
    """Names the active soul."""
    return f"version {version}" if version else "no soul"


def cost(plan: SoulTrial) -> str:
    """Returns the most that a trial costs, for its button."""
    if plan.dollars is None:
        return "price unknown"
    cents = math.ceil(plan.dollars * 100)
    return f"about {pluralize(cents, 'cent')}" if plan.dollars >= 0.01 else "less than a cent"


@pressed(OfferTrial)
async def press_offer(call: ChatContext, to: OfferTrial) -> ButtonReply:
    return ButtonReply(says=await offer_trial(call, to.draft_id))


@action("st", confirms=True)
async def press_run(call: ChatContext, draft_id: int, message_id: int) -> ButtonReply:
    """Answers the person's last questions (`message_id` 0), or one of them, with a draft."""
    done = await try_soul(call, draft_id, message_id)
    return ButtonReply("Here they are.", rows=[], says=side_by_side(done))


def side_by_side(done: TriedSoul) -> CommandReply:
    """Shows each question with both answers, and the buttons that decide."""
    parts = [
        f"**❓ {escape_markdown(shorten(one.question, SHOWN))}**\n\n"
        f"▸ **With {active(done.active_version)}**\n\n{one.active}\n\n"
        f"▸ **With the new soul**\n\n{one.tried}"
        for one in done.answers
    ]
    rows = draft_rows(done.draft_id, done.active_version, tried=True)
    return CommandReply("\n\n".join(parts), rows=rows, result=done)
