"""Shows forgetting: one memory, which of several, all that fit a pattern, or for good."""

from __future__ import annotations

import re

from relay.commands.memory.forget import check_shown, forget_shown, preview_pattern
from relay.commands.memory.forget import forget as forget_command
from relay.core.text import escape_markdown, pluralize, shorten
from relay.surfaces.chat.changes import candidates, choice_text, first_rows
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import pressed, shows
from relay.surfaces.chat.memory.erase import preview
from relay.surfaces.chat.memory_buttons import ForgetAllMeant, ForgetShown
from relay.surfaces.chat.reply import ButtonReply, CommandReply, button

ERASE = re.compile(r"(?:--|[—–])erase\b\s*", re.IGNORECASE)
"""How a forgetting is asked for that erases; phones make a dash of two hyphens."""
SHOWN = 10


@shows("forget")
async def forget(call: ChatContext) -> CommandReply:
    """Forgets the one memory that is meant; asks when there are several, or for all that fit a pattern."""
    text = call.text.strip()
    if erasing := ERASE.match(text):
        return await preview(call, text[erasing.end() :])
    words = " ".join(text.split())
    if "*" in words:
        return await _by_pattern(call, words)
    done = await forget_command(call, words)
    meant = candidates(done.changes)
    if not meant:
        return CommandReply("", done.changes, done.failed, result=done)
    asked = choice_text(done.changes, more=bool(done.failed), named=call.space.kind == "group")
    rows = first_rows(done.changes, call.turn.turn_id)
    if done.failed:
        return CommandReply(f"{asked}\n\nFor all of them: {copied(f'/forget *{words}*')}", rows=rows, result=done)
    rows.append([button(f"🗑 All {len(meant)}", ForgetAllMeant(call.turn.turn_id))])
    return CommandReply(asked, rows=rows, result=done)


async def _by_pattern(call: ChatContext, pattern: str) -> CommandReply:
    """Shows what a pattern (`job*`) would have forgotten, and how many."""
    found = await preview_pattern(call, pattern)
    total, turn_id = found.total, call.turn.turn_id
    if not total:
        said = f"Nothing I know fits “{escape_markdown(shorten(pattern, 60))}”."
        return CommandReply(said, refused=True, result=found)
    lines = [f"- `#{row.number}` {escape_markdown(shorten(row.content, 200))}" for row in found.memories]
    more = [f"- … and {total - SHOWN:,} more"] if total > SHOWN else []
    asked = f"🧠 **Forget {pluralize(total, 'memory', 'memories')}?**"
    all_of_them = "it" if total == 1 else f"all {total:,}"
    buttons = [
        button(f"🗑 Forget {all_of_them}", ForgetShown(turn_id, "y")),
        button("✖ Keep", ForgetShown(turn_id, "n")),
    ]
    return CommandReply("\n".join([asked, "", *lines, *more]), rows=[buttons], result=found)


@pressed(ForgetShown, confirms=True)
async def decide_pattern(call: ChatContext, to: ForgetShown) -> ButtonReply:
    """Forgets what was shown, leaves it, or takes the forgetting back."""
    if to.decision == "n":
        await check_shown(call, to.turn_id)
        return ButtonReply("Kept.", "Nothing was forgotten.", [])
    done = await forget_shown(call, to.turn_id, undo=to.decision == "u")
    many = pluralize(done.done, "memory", "memories")
    if to.decision == "u":
        return ButtonReply("Undone.", f"↩ {many} brought back.", [], result=done)
    said = f"🧠 Forgot {many}."
    return ButtonReply(said, said, [[button("↩ Undo all", ForgetShown(to.turn_id, "u"))]], result=done)


def copied(text: str) -> str:
    """A text as Markdown code that shows just it: a tap copies it. Several lines are a block, one stands in a line."""
    text = "\n".join(text.strip().splitlines())
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    if "\n" in text:
        fence = fence.ljust(3, "`")
        return f"\n{fence}\n{text}\n{fence}"
    padding = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{padding}{text}{padding}{fence}"
