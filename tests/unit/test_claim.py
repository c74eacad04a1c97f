"""The claim link on the screen, and what is said when nobody opens it."""

from __future__ import annotations

from typing import Any

import pytest
import structlog
from structlog.testing import capture_logs

from relay.core import logs
from relay.memory.people import NONCE, People, new_nonce
from relay.memory.rows.people import Member
from relay.surfaces.telegram.groups import claim
from relay.surfaces.telegram.groups.claim import expire, offer, on_screen
from relay.surfaces.telegram.parsing.updates import Bot

LINK = f"https://t.me/{'b' * 32}?start={'A' * 22}"


class Known:
    """A store that knows these people, and takes any link."""

    def __init__(self, *roles: str) -> None:
        self.rows = [Member(user_id, role, "Ada") for user_id, role in enumerate(roles, 1)]

    async def people(self) -> list[dict[str, Any]]:
        return self.rows

    async def offer_claim(self, _: str) -> bool:
        return True


def test_the_longest_link_fits_a_screen_of_80_by_24_with_its_code() -> None:
    lines = on_screen(LINK, "utf-8").splitlines()
    assert len(lines) <= 23, "the line after it is the cursor's"
    assert max(map(len, lines)) <= 80
    assert any("▄" in line for line in lines)
    assert LINK in lines


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "no such thing"])
def test_where_the_code_cannot_be_shown_the_link_is(encoding: str) -> None:
    shown = on_screen(LINK, encoding)
    assert shown.isascii()
    assert LINK in shown


def test_a_nonce_is_what_a_start_link_takes_and_never_the_same() -> None:
    made = {new_nonce() for _ in range(50)}
    assert len(made) == 50
    assert all(NONCE.fullmatch(one) for one in made)


@pytest.mark.parametrize("level", ["DEBUG", "INFO", "WARNING", "ERROR"])
async def test_without_a_terminal_the_link_is_in_the_log_at_any_level(
    level: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store: Any = Known()
    logs.configure(level, "json", ())
    monkeypatch.setattr(claim, "log", structlog.get_logger())
    assert await offer(store, People(frozenset()), Bot(77, "relay_test_bot"))
    assert "https://t.me/relay_test_bot?start=" in capsys.readouterr().err


@pytest.mark.parametrize(("roles", "said"), [((), 1), (("user",), 1), (("user", "admin"), 0)])
async def test_a_link_that_nobody_opened_says_how_to_get_another(
    roles: tuple[str, ...], said: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    store: Any = Known(*roles)
    monkeypatch.setattr(claim, "log", structlog.get_logger())  # one that was used keeps how the log was set up then
    with capture_logs() as lines:
        await expire(store, People(frozenset()), 0)
    assert ["Restart" in line["event"] for line in lines] == [True] * said
