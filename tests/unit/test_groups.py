"""What is kept in mind of groups has a bound; and what is asked about them is asked until Telegram answers."""

from __future__ import annotations

from typing import Any

import pytest

from relay.clients.fakes import FakeMessenger
from relay.core.errors import ChatGone, ChatMigrated, MessengerError, MessengerThrottled, MessengerUnavailable
from relay.core.retry import RetryPolicy
from relay.surfaces.telegram.groups.groups import MOST_KNOWN, Groups
from relay.surfaces.telegram.outgoing import insist
from relay.surfaces.telegram.parsing.objects import Chat


def test_of_groups_that_got_another_id_only_so_many_are_kept() -> None:
    groups = Groups(FakeMessenger(), 1)
    for number in range(3 * MOST_KNOWN):
        groups.moved(-number)
    assert groups.just_moved(-number)
    assert len(groups._moved) <= MOST_KNOWN + 1


class Failing(FakeMessenger):
    """Fails in these ways, one after the other, before it tells of a group of one person and the bot, its admin."""

    def __init__(self, *troubles: MessengerError) -> None:
        super().__init__()
        self.troubles = list(troubles)

    async def call(self, method: str, **parameters: Any) -> Any:
        await super().call(method, **parameters)
        if self.troubles:
            raise self.troubles.pop(0)
        told = {"getChatMemberCount": 2, "getChat": {"id": -5}, "getChatMember": {"status": "administrator"}}
        return told[method]


async def test_a_group_is_asked_about_for_as_long_as_telegram_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its message would be set aside after three failures."""
    monkeypatch.setattr(insist, "RETRIES", RetryPolicy(first=0.0, longest=0.0))
    group = Chat(-5, "group")
    away = [MessengerUnavailable("Telegram is away."), MessengerThrottled(0)] * 10
    assert await Groups(Failing(*away), 1).is_alone(group, 7)
    assert await Groups(Failing(ChatMigrated(-1000000000005)), 1).is_alone(group, 7), "the same people are in it"
    assert not await Groups(Failing(ChatGone("Forbidden: the bot was kicked")), 1).is_alone(group, 7)
