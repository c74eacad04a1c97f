"""What was said before, as the present message shows it: passages that were recalled, what it replies to. Pure."""

from __future__ import annotations

from datetime import datetime, tzinfo
from typing import Any

from relay.marks import fits, harmless, plain_name, untrusted
from relay.memory_layer import as_note
from relay.models import ReplyTo
from relay.taint import reply_untrusted

REPLY_CHARACTERS = 2_000


def passage(row: dict[str, Any], zone: tzinfo, speaker: int | None = None) -> str:
    """One recalled message: when, by whom, and the words around what matched. `speaker`: in a group, the one person
    whose words need no mark."""
    when = datetime.fromisoformat(row["at"]).astimezone(zone)
    who = "you" if row["role"] == "assistant" else plain_name(row.get("name") or "the user")
    who += ", in private" if row.get("lent") else ""
    if row.get("document"):
        who += f', in "{plain_name(row["document"])}" (part {row["part"]} of {row["parts"]})'
    foreign = row["untrusted"] or (speaker is not None and row["user_id"] != speaker)
    if foreign:
        text = untrusted(row["snippet"], "recalled")
    else:
        text = as_note(row["snippet"]) if row.get("kind") == "memory" else harmless(row["snippet"])
    return f"[{when:%Y-%m-%d %H:%M}] {who}: {text}"


def reply_note(reply: ReplyTo, stored: dict[str, Any] | None, user_id: int, zone: tzinfo) -> str:
    """What the present message is a reply to, quoted as data where it is not the user's or ours."""
    text = fits(reply.quote or (stored["text"] if stored else reply.text), REPLY_CHARACTERS // 4)
    ours = stored["role"] == "assistant" if stored else reply.by == "you"
    author = "you" if ours else plain_name(reply.by or "the user")
    when = ""
    if stored:
        when = f" of {datetime.fromisoformat(stored['at']).astimezone(zone):%Y-%m-%d %H:%M}"
    head = f"The user is replying to {'this part of ' if reply.quote else ''}a message by {author}{when}:"
    body = untrusted(text, "quote", reply.by) if reply_untrusted(reply, stored, user_id) else harmless(text)
    return f"{head}\n<reply>\n{body}\n</reply>"
