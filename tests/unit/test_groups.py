"""What is kept in mind of groups has a bound."""

from __future__ import annotations

from relay.bot.groups import MOST_KNOWN, Groups
from relay.testing import FakeMessenger


def test_of_groups_that_got_another_id_only_so_many_are_kept() -> None:
    groups = Groups(FakeMessenger())
    for number in range(3 * MOST_KNOWN):
        groups.moved(-number)
    assert groups.just_moved(-number)
    assert len(groups._moved) <= MOST_KNOWN + 1
