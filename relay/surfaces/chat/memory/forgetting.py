"""Renders /forget: one memory, one of several candidates, all that match a pattern, or for good."""

from __future__ import annotations

import re
from typing import Literal

from relay.commands.memory.forget import check_shown, forget_shown, preview_pattern
from relay.commands.memory.forget import forget as forget_command
from relay.core.text import escape_markdown, pluralize, shorten
from relay.surfaces.chat.changes import DID_YOU_MEAN, KEEP_IT, candidates, choice_text, find_uncertain, first_rows
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import action, shows
from relay.surfaces.chat.memory.erase import preview
from relay.surfaces.chat.memory_buttons import ForgetCandidates, ForgetOne
from relay.surfaces.chat.reply import ButtonReply, CommandReply, button

ERASE = re.compile(r"(?:--|[—–])erase\b\s*", re.IGNORECASE)
"""The option that erases; phones turn two hyphens into a dash."""
SHOWN = 10


@shows("forget")
async def forget(call: ChatContext) -> CommandReply:
    """Forgets the one memory that matches; asks if there are several, or for a pattern."""
    text = call.text.strip()
    if erasing := ERASE.match(text):
        return await preview(call, text[erasing.end() :])
    words = " ".join(text.split())
    if "*" in words:
        return await _list_matches(call, words)
    done = await forget_command(call, words)
    found = candidates(done.changes)
    if one := find_uncertain(done.changes):
        asked = f"{DID_YOU_MEAN} “{escape_markdown(shorten(one.content))}”?"
        buttons = [button("🗑 Forget it", ForgetOne(one.id, "k")), button(KEEP_IT, ForgetOne(one.id, "x"))]
        return CommandReply(asked, rows=[buttons], result=done)
    if not found:
        return CommandReply("", done.changes, done.failed, result=done)
    asked = choice_text(done.changes, more=bool(done.failed), named=call.space.kind == "group")
    rows = first_rows(done.changes, call.turn.turn_id)
    if done.failed:
        every = as_code(f"/forget *{words}*")
        return CommandReply(f"{asked}\n\nTo forget all of them: {every}", rows=rows, result=done)
    rows.append([button(f"🗑 All {len(found)}", ForgetCandidates(call.turn.turn_id))])
    return CommandReply(asked, rows=rows, result=done)


async def _list_matches(call: ChatContext, pattern: str) -> CommandReply:
    """Lists the memories that match a pattern (`job*`), and asks."""
    found = await preview_pattern(call, pattern)
    total, turn_id = found.total, call.turn.turn_id
    if not total:
        text = f"Nothing I know matches “{escape_markdown(shorten(pattern, 60))}”."
        return CommandReply(text, refused=True, result=found)
    lines = [f"- `#{row.number}` {escape_markdown(shorten(row.content, 200))}" for row in found.memories]
    more = [f"- … and {total - SHOWN:,} more"] if total > SHOWN else []
    ask = f"🧠 **Forget {pluralize(total, 'memory', 'memories')}?**"
    all_of_them = "it" if total == 1 else f"all {total:,}"
    buttons = [
        button(f"🗑 Forget {all_of_them}", decide_pattern(turn_id, "y")),
        button("✖ Keep", decide_pattern(turn_id, "n")),
    ]
    return CommandReply("\n".join([ask, "", *lines, *more]), rows=[buttons], result=found)


@action("fp", confirms=True)
async def decide_pattern(call: ChatContext, turn_id: int, decision: Literal["y", "n", "u"]) -> ButtonReply:
    """Forgets the memories that match a pattern (y), keeps them (n), or undoes the forgetting (u)."""
    if decision == "n":
        await check_shown(call, turn_id)
        return ButtonReply("Kept.", "Nothing was forgotten.", [])
    done = await forget_shown(call, turn_id, undo=decision == "u")
    many = pluralize(done.done, "memory", "memories")
    if decision == "u":
        return ButtonReply("Undone.", f"↩ {many} brought back.", [], result=done)
    text = f"🧠 Forgot {many}."
    return ButtonReply(text, text, [[button("↩ Undo all", decide_pattern(turn_id, "u"))]], result=done)


def as_code(text: str) -> str:
    """Formats a text as Markdown code, which a tap copies: several lines as a block, one inline."""
    text = "\n".join(text.strip().splitlines())
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    if "\n" in text:
        fence = fence.ljust(3, "`")
        return f"\n{fence}\n{text}\n{fence}"
    padding = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{padding}{text}{padding}{fence}"
