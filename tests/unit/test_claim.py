"""How the claim link is shown, and what is logged when nobody opens it."""

from __future__ import annotations

from typing import Any

import pytest
import structlog
from structlog.testing import capture_logs

from relay.core.redaction import logs
from relay.memory.people import NONCE, People, new_nonce
from relay.memory.rows.people import Member
from relay.surfaces.telegram.groups import claim
from relay.surfaces.telegram.groups.claim import expire, format_link, offer
from relay.surfaces.telegram.parsing.updates import Bot

LINK = f"https://t.me/{'b' * 32}?start={'A' * 22}"


class FakeStore:
    """A store that knows these people and accepts any link."""

    def __init__(self, *roles: str) -> None:
        self.rows = [Member(user_id, role, "Ada") for user_id, role in enumerate(roles, 1)]

    async def people(self) -> list[dict[str, Any]]:
        return self.rows

    async def offer_claim(self, _: str) -> bool:
        return True


def test_the_longest_claim_link_and_its_qr_code_fit_an_80_by_24_terminal() -> None:
    lines = format_link(LINK, "utf-8").splitlines()
    assert len(lines) <= 23, "the cursor needs the last line"
    assert max(map(len, lines)) <= 80
    assert any("▄" in line for line in lines)
    assert LINK in lines


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "no such thing"])
def test_the_link_is_shown_where_the_qr_code_cannot_be(encoding: str) -> None:
    shown = format_link(LINK, encoding)
    assert shown.isascii()
    assert LINK in shown


def test_nonces_fit_a_start_link_and_are_unique() -> None:
    made = {new_nonce() for _ in range(50)}
    assert len(made) == 50
    assert all(NONCE.fullmatch(one) for one in made)


@pytest.mark.parametrize("level", ["DEBUG", "INFO", "WARNING", "ERROR"])
async def test_without_a_terminal_the_link_is_logged_at_any_level(
    level: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store: Any = FakeStore()
    logs.configure(level, "json", ())
    monkeypatch.setattr(claim, "log", structlog.get_logger())
    assert await offer(store, People(frozenset()), Bot(77, "relay_test_bot"))
    assert "https://t.me/relay_test_bot?start=" in capsys.readouterr().err


@pytest.mark.parametrize(("roles", "said"), [((), 1), (("user",), 1), (("user", "admin"), 0)])
async def test_an_expired_claim_link_says_how_to_get_another(
    roles: tuple[str, ...], said: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    store: Any = FakeStore(*roles)
    monkeypatch.setattr(claim, "log", structlog.get_logger())  # a logger keeps the setup of its first use
    with capture_logs() as lines:
        await expire(store, People(frozenset()), 0)
    assert ["Restart" in line["event"] for line in lines] == [True] * said
