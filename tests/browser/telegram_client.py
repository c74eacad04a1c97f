"""A stand-in for Telegram's client when it opens a Mini App: the data it signs, the address's hash, and the bridge it
puts into the page (core.telegram.org/bots/webapps, core.telegram.org/api/web-events)."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import time
from urllib.parse import quote, urlencode

from tests.standins.telegram.values import TEST_TOKEN

BRIDGE = """
window.posted = [];
window.TelegramWebviewProxy = { postEvent: (type, data) => window.posted.push([type, JSON.parse(data)]) };
"""
NIGHT = {
    "bg_color": "#17212b",
    "secondary_bg_color": "#0e1621",
    "section_bg_color": "#17212b",
    "text_color": "#f5f5f5",
    "hint_color": "#708499",
    "link_color": "#6ab3f3",
    "accent_text_color": "#6ab2f2",
    "button_color": "#2b6ea3",
    "button_text_color": "#ffffff",
    "destructive_text_color": "#ff8a94",
    "bottom_bar_bg_color": "#17212b",
}
"""Colours of Telegram Desktop's night theme."""


def sign_init_data(user_id: int, name: str = "Ada", token: str = TEST_TOKEN, when: float | None = None) -> str:
    """Returns the init data of the user who opens the app, signed with the bot's token."""
    pairs = {
        "query_id": secrets.token_urlsafe(16),
        "user": json.dumps({"id": user_id, "first_name": name, "language_code": "en"}, separators=(",", ":")),
        "auth_date": str(int(time.time() if when is None else when)),
        "signature": secrets.token_urlsafe(48),
    }
    checked = "\n".join(f"{key}={value}" for key, value in sorted(pairs.items()))
    key = hmac.digest(b"WebAppData", token.encode(), hashlib.sha256)
    return urlencode(pairs | {"hash": hmac.new(key, checked.encode(), hashlib.sha256).hexdigest()}, quote_via=quote)


def write_hash(init_data: str, theme: dict[str, str] | None = None, start: str = "") -> str:
    """Returns the hash with which the client opens the app's address."""
    values = {
        "tgWebAppData": init_data,
        "tgWebAppVersion": "8.0",
        "tgWebAppPlatform": "android",
        "tgWebAppThemeParams": json.dumps(theme or {}),
    }
    if start:
        values["tgWebAppStartParam"] = start
    return "#" + urlencode(values, quote_via=quote)
