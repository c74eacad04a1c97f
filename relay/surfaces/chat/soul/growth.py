"""Renders the growth of the soul: its switch, and the buttons under an idea."""

from __future__ import annotations

from typing import Literal

from relay.commands.soul.growth import DECIDED, accept_idea, draft_idea, grown_soul, settle_idea, soul_growth
from relay.core.errors import OutOfRange
from relay.core.models import Rows
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import action
from relay.surfaces.chat.reply import NOTHING, ButtonReply, CommandReply, button, question
from relay.surfaces.chat.soul.buttons import back_rows
from relay.surfaces.chat.soul.trial import offer_trial
from relay.surfaces.chat.soul.versions import ask_with_text, difference_to

ON = (
    "🌱 Once a week I may propose one small change to my soul, based on what you've taught me about how you like "
    "things. Nothing changes without your tap. `/soul grow off` stops this."
)
OFF = (
    "I don't propose changes to my soul. With `/soul grow on`, I may propose one small change a week. Nothing changes "
    "without your tap."
)


def idea_rows(idea_id: int) -> Rows:
    """Returns the buttons under an idea."""
    return [
        [button("✅ Accept", press_idea(idea_id, "accept")), button("✎ Edit", press_idea(idea_id, "edit"))],
        [button("🧪 Try", press_idea(idea_id, "try")), button("✖ Dismiss", press_idea(idea_id, "dismiss"))],
    ]


async def show_growth(call: ChatContext, word: str) -> CommandReply:
    """Says whether changes are proposed; `on` and `off` set that first."""
    choices: dict[str, bool | None] = {"": None, "on": True, "off": False}
    if word not in choices:
        raise OutOfRange("Write /soul grow on or /soul grow off.")
    choice = await soul_growth(call, choices[word])
    return CommandReply(ON if choice.on else OFF, result=choice)


@action("sg")
async def press_idea(call: ChatContext, idea_id: int, what: Literal["accept", "edit", "try", "dismiss"]) -> ButtonReply:
    """Does something with an idea: accept, edit, try or dismiss it."""
    match what:
        case "accept":
            return await accept(call, idea_id)
        case "try":
            drafted = await draft_idea(call, idea_id)
            if drafted.draft_id is None:
                return ButtonReply("My soul already says that.", refused=True, result=drafted)
            return ButtonReply(says=await offer_trial(call, drafted.draft_id))
        case "edit":
            return await edit(call, idea_id)
    done = await settle_idea(call, idea_id, "dismissed")
    if done.status != "dismissed":
        return ButtonReply(DECIDED, rows=[], refused=True)
    return ButtonReply("I won't propose it again.", rows=[[button("✖ Dismissed", NOTHING)]], result=done)


async def accept(call: ChatContext, idea_id: int) -> ButtonReply:
    """Makes the idea a part of the soul, and shows the difference."""
    now = await accept_idea(call, idea_id)
    changes = await difference_to(now.before_text, now.text)
    text = f"**Soul version {now.version} is active** from the next message on:\n\n{changes}"
    return ButtonReply(
        "Accepted.",
        rows=[[button(f"✅ Accepted as version {now.version}", NOTHING)]],
        says=CommandReply(text, rows=back_rows(now.version), result=now),
    )


async def edit(call: ChatContext, idea_id: int) -> ButtonReply:
    """Sends the soul with the idea to copy; the reply becomes a draft."""
    grown = await grown_soul(call, idea_id)
    asked = (
        f"{question('soul', grown.active_version)} – reply to this message with my new soul, as text or as a document."
    )
    says = ask_with_text(asked, grown.text, f"soul-{grown.active_version}.md", "My new soul")
    await settle_idea(call, idea_id, "edited")
    return ButtonReply(rows=[[button("✎ Edited", NOTHING)]], says=says)
