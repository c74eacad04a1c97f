"""The webhook's address and secret, and the process that keeps it set."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from relay.core.errors import MessengerUnavailable, SettingsError
from relay.core.settings import load
from relay.surfaces.http.webhook import paths_of, update_in
from relay.surfaces.telegram.incoming import webhook
from relay.surfaces.telegram.incoming.webhook import Registration, same_address

URL = "https://bot.example.com/relay/hook"


class Telegram:
    """Stores the webhook's address; the first call is lost."""

    def __init__(self) -> None:
        self.url = ""
        self.calls: list[str] = []

    async def call(self, method: str, **parameters: Any) -> Any:
        self.calls.append(method)
        if len(self.calls) == 1:
            raise MessengerUnavailable()
        if method == "setWebhook":
            assert not parameters["drop_pending_updates"]
            self.url = parameters["url"]
        if method == "getWebhookInfo" and len(self.calls) == 4:
            self.url = "https://somebody.example.com/"
        return {"url": self.url}

    async def fetch(self, file_id: str, most: int) -> bytes:
        raise NotImplementedError


async def test_a_changed_webhook_is_set_again(monkeypatch: pytest.MonkeyPatch) -> None:
    naps: list[float] = []

    async def nap(seconds: float) -> None:
        naps.append(seconds)
        if len(naps) == 5:
            raise asyncio.CancelledError

    monkeypatch.setattr(webhook.asyncio, "sleep", nap)
    telegram = Telegram()
    with pytest.raises(asyncio.CancelledError):
        await Registration(telegram, URL, "secret").run()
    assert telegram.calls == [
        "setWebhook", "setWebhook", "getWebhookInfo", "getWebhookInfo", "setWebhook", "getWebhookInfo",
    ]  # fmt: skip
    assert telegram.url == URL


async def test_delivered_updates_count_as_hearing_from_telegram() -> None:
    taken: list[Any] = []

    async def take(updates: list[Any]) -> None:
        taken.extend(updates)

    registration = Registration(Telegram(), URL, "secret")
    assert registration.heard_at == 0
    await registration.wrap(take)([{"update_id": 7}])
    assert registration.heard_at > 0
    assert taken == [{"update_id": 7}]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("https://a.example", "https://a.example/", True),
        ("https://A.example:443/x", "https://a.example/x", True),
        ("https://a.example/x", "https://a.example/y", False),
        ("https://a.example:8443/x", "https://a.example/x", False),
        ("", "https://a.example/x", False),
    ],
)
def test_equivalent_addresses_are_equal(one: str, other: str, same: bool) -> None:
    assert same_address(one, other) is same


def test_the_webhook_is_served_on_every_path_that_a_proxy_may_leave() -> None:
    assert paths_of(URL) == {"/relay/hook", "/hook", "/"}
    assert paths_of("https://a.example") == {"/"}


@pytest.mark.parametrize("body", [b"", b"x", b"[]", b"7", b"{}", b'{"update_id": true}', b'{"update_id": -1}', b"\xff"])
def test_a_body_that_is_not_an_update_is_ignored(body: bytes) -> None:
    assert update_in(body) is None


def test_an_update_is_parsed() -> None:
    assert update_in(b'{"update_id": 7, "message": {}}') == {"update_id": 7, "message": {}}


def settings(monkeypatch: pytest.MonkeyPatch, **values: str) -> Any:
    for name, value in {"TELEGRAM_BOT_TOKEN": "123:abcdef", **values}.items():
        monkeypatch.setenv(name, value)
    return load(_env_file=None)


def test_the_secret_is_derived_from_the_token_or_set(monkeypatch: pytest.MonkeyPatch) -> None:
    made = settings(monkeypatch).webhook_token
    assert settings(monkeypatch).webhook_token == made
    assert len(made) == 43
    assert settings(monkeypatch, TELEGRAM_BOT_TOKEN="123:abcdeg").webhook_token != made
    assert settings(monkeypatch, RELAY_WEBHOOK_SECRET="my-own_1-and-more").webhook_token == "my-own_1-and-more"


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("RELAY_WEBHOOK_SECRET", "no spaces here", "RELAY_WEBHOOK_SECRET must be 16 to 256 letters, digits, _ and -"),
        ("RELAY_WEBHOOK_SECRET", "x" * 257, "RELAY_WEBHOOK_SECRET must be 16 to 256 letters"),
        ("RELAY_WEBHOOK_SECRET", "x" * 15, "RELAY_WEBHOOK_SECRET must be 16 to 256 letters"),
        ("RELAY_WEBHOOK_URL", "http://bot.example.com/x", "RELAY_WEBHOOK_URL must begin with https://"),
        ("RELAY_WEBHOOK_URL", "bot.example.com/x", "RELAY_WEBHOOK_URL must be an address"),
    ],
)
def test_settings_that_telegram_would_refuse_are_refused(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, sentence: str
) -> None:
    with pytest.raises(SettingsError, match=sentence.replace(".", r"\.")):
        settings(monkeypatch, **{name: value})


def test_a_local_bot_api_server_may_deliver_over_http(monkeypatch: pytest.MonkeyPatch) -> None:
    given = settings(monkeypatch, TELEGRAM_API_URL="http://bot-api:8081", RELAY_WEBHOOK_URL="http://relay:8081/x")
    assert given.webhook_url == "http://relay:8081/x"
