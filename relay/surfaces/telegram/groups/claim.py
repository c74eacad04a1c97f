"""The claim link: the first person to open it becomes the owner, as long as there is none."""

from __future__ import annotations

import asyncio
import io
import logging
import sys

import segno
import structlog

from relay.memory.calls.people import CLAIM_MINUTES
from relay.memory.people import People, digest, new_nonce
from relay.memory.store import Store
from relay.surfaces.chat.people.invites import invite_link
from relay.surfaces.telegram.parsing.updates import Bot

log = structlog.get_logger()

OPEN_ME = "This bot has no admin yet. Whoever opens this link first becomes its admin."


async def offer(store: Store, people: People, bot: Bot) -> bool:
    """Shows a claim link if the bot has no owner: on the terminal, or else in the log at any log level. Returns whether
    it did."""
    nonce = new_nonce()
    if people.admins or not await store.offer_claim(digest(nonce) or ""):
        return False
    link = invite_link(bot.username, nonce)
    if sys.stdout.isatty():
        print(format_link(link, sys.stdout.encoding), flush=True)
    else:
        log.log(max(logging.WARNING, log.get_effective_level()), OPEN_ME, link=link, minutes=CLAIM_MINUTES)
    return True


async def expire(store: Store, people: People, seconds: float = CLAIM_MINUTES * 60) -> None:
    """Waits until the claim link expires, and logs it if nobody opened it."""
    await asyncio.sleep(seconds)
    await people.refresh(store)
    if not people.admins:
        log.warning("The claim link has expired unused. Restart to get a new one.")


def format_link(link: str, encoding: str) -> str:
    """Returns the link with its QR code for a screen of 80 by 24; without the code if the encoding cannot show it."""
    drawn = io.StringIO()
    segno.make_qr(link, error="l").terminal(drawn, border=2, compact=True)
    code = drawn.getvalue()
    try:
        code.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        code = ""
    return f"\n{code}{OPEN_ME}\n{link}\nIt works once, for {CLAIM_MINUTES} minutes."
