"""Buttons that open a page of the web app."""

from __future__ import annotations

from relay.core.models import Button
from relay.surfaces.chat.context import ChatContext


def app_rows(call: ChatContext, path: str, label: str = "Open in the app") -> list[list[Button]]:
    """Returns a row with a button that opens a page of the app, such as `/sessions`. No row outside of private chats,
    where Telegram opens no apps, and none without RELAY_WEB_URL."""
    url = call.services.installation.web_url
    if not url or not call.private or not call.bot_id:
        return []
    return [[Button(label, web_app=f"{url}/#{path}" if path else f"{url}/")]]
