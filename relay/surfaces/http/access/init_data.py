"""Checks `initData`, with which Telegram signs who opened the page.

https://core.telegram.org/bots/webapps#validating-data-received-via-the-mini-app
"""

import hmac
import json
from urllib.parse import parse_qsl

from relay.core.frozen import frozen

MOST_SECONDS = 300
"""How old a proof may be, in seconds."""


@frozen
class Proof:
    """The person who opened the page, according to Telegram."""

    user_id: int
    hash: str
    """The signature, which identifies a proof."""


class Forged(ValueError):
    """The proof is not signed by Telegram for this bot, is too old, or is in the future."""


def check_init_data(init_data: str, bot_token: str, now: float) -> Proof:
    """Returns the proof in what Telegram signed for a bot. `now`: Unix time. Raises `Forged`."""
    try:
        pairs = parse_qsl(init_data, keep_blank_values=True, strict_parsing=True, errors="strict")
    except ValueError:
        raise Forged from None
    fields = dict(pairs)
    given = fields.pop("hash", "")
    if len(fields) + 1 != len(pairs):
        raise Forged
    signed = "\n".join(f"{name}={value}" for name, value in sorted(fields.items()))
    key = hmac.digest(b"WebAppData", bot_token.encode(), "sha256")
    made = hmac.digest(key, signed.encode(), "sha256").hex()
    if not hmac.compare_digest(made.encode(), given.encode()):
        raise Forged
    try:
        signed_at, user_id = int(fields["auth_date"]), json.loads(fields["user"])["id"]
    except (KeyError, ValueError, TypeError):
        raise Forged from None
    if type(user_id) is not int or not 0 <= now - signed_at <= MOST_SECONDS:
        raise Forged
    return Proof(user_id, given)
