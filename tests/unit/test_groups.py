"""What is cached about groups is limited, and questions about them are retried until Telegram answers."""

from __future__ import annotations

from typing import Any

import pytest

from relay.core.errors import ChatGone, ChatMigrated, MessengerError, MessengerThrottled, MessengerUnavailable
from relay.core.models import Space
from relay.core.retry import RetryPolicy
from relay.surfaces.telegram.groups.groups import MOST_KNOWN, Groups
from relay.surfaces.telegram.outgoing import insist
from relay.surfaces.telegram.parsing.objects import Chat
from tests.standins.fakes import FakeMessenger


def test_the_number_of_remembered_group_moves_is_limited() -> None:
    groups = Groups(FakeMessenger(), 1)
    for number in range(3 * MOST_KNOWN):
        groups.note_move(-number)
    assert groups.just_moved(-number)
    assert len(groups._moved) <= MOST_KNOWN + 1


class Failing(FakeMessenger):
    """Raises these errors in turn, then describes a group of one person and the bot, which is its admin."""

    def __init__(self, *troubles: MessengerError) -> None:
        super().__init__()
        self.troubles = list(troubles)

    async def call(self, method: str, **parameters: Any) -> Any:
        await super().call(method, **parameters)
        if self.troubles:
            raise self.troubles.pop(0)
        told = {"getChatMemberCount": 2, "getChat": {"id": -5}, "getChatMember": {"status": "administrator"}}
        return told[method]


async def test_questions_about_a_group_are_retried_while_telegram_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the group's message would be set aside after three failures."""
    monkeypatch.setattr(insist, "RETRIES", RetryPolicy(first=0.0, longest=0.0))
    group = Chat(-5, "group")
    away = [MessengerUnavailable("Telegram is away."), MessengerThrottled(0)] * 10
    assert await Groups(Failing(*away), 1).is_alone(group, 7)
    assert await Groups(Failing(ChatMigrated(-1000000000005)), 1).is_alone(group, 7), "the same people are in it"
    assert not await Groups(Failing(ChatGone("Forbidden: the bot was kicked")), 1).is_alone(group, 7)


async def test_a_command_asks_telegram_only_once_about_a_membership() -> None:
    messenger = Failing()
    sees = Groups(messenger, 1).eyes_of(7)
    assert [await sees(Space("group", chat_id=-5)) for _ in range(3)] == [True] * 3
    assert [method for method, _ in messenger.calls] == ["getChatMember"]
    assert not await sees(Space("private", owner_id=8))
