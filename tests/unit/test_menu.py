"""The command menus: each is shown where its commands work."""

from __future__ import annotations

from typing import Any

from relay.core.errors import ChatGone, MessengerRefused
from relay.surfaces.chat import COMMANDS
from relay.surfaces.telegram.outgoing.menu import GroupMenus, menu, register, register_admin
from tests.standins.fakes import FakeMessenger
from tests.unit.test_commands import ADA, BEN


class Refusing(FakeMessenger):
    """Knows no chat with ADA, and refuses to delete."""

    async def call(self, method: str, **parameters: Any) -> Any:
        await super().call(method, **parameters)
        if (parameters.get("scope") or {}).get("chat_id") == ADA:
            raise ChatGone("Bad Request: chat not found")
        if method == "deleteMyCommands":
            raise MessengerRefused("no")
        return True


async def registered(messenger: FakeMessenger, *admins: int) -> dict[str, set[str]]:
    """The names of the offered commands, by scope."""
    await register(messenger, frozenset(admins))
    return {
        f"{sent['scope']['type']}{sent['scope'].get('chat_id', '')}": {one["command"] for one in sent["commands"]}
        for method, sent in messenger.calls
        if method == "setMyCommands"
    }


async def test_everyone_gets_the_commands_that_they_may_use() -> None:
    menus = await registered(FakeMessenger(), ADA)
    assert menus.keys() == {"all_private_chats", "all_group_chats", f"chat{ADA}"}
    assert {"start", "help", "memory", "new"} <= menus["all_private_chats"]
    assert "start" not in menus["all_group_chats"]
    assert {"help", "new", "status"} <= menus["all_group_chats"]
    assert menus[f"chat{ADA}"] > menus["all_private_chats"]
    assert menus[f"chat{ADA}"] - menus["all_private_chats"] == {
        name for name, command in COMMANDS.items() if command.admin and "private" in command.places
    }
    assert {"soul", "persona"} <= menus[f"chat{ADA}"]


async def test_in_a_group_admins_get_a_longer_menu() -> None:
    messenger = FakeMessenger()
    await register_admin(messenger, -1001, ADA)
    ((_, sent),) = messenger.calls
    assert sent["scope"] == {"type": "chat_member", "chat_id": -1001, "user_id": ADA}
    assert sent["commands"] == menu("group", True)
    assert {"soul", "persona"} <= {one["command"] for one in sent["commands"]}


async def test_in_a_group_the_admin_menu_is_set_once_and_removed_from_former_admins() -> None:
    messenger = FakeMessenger()
    menus = GroupMenus(messenger)
    for admin in (True, True, False, False, True):
        await menus.offer(-1001, ADA, admin)
    assert [method for method, _ in messenger.calls] == ["setMyCommands", "deleteMyCommands", "setMyCommands"]
    assert all(sent["scope"]["user_id"] == ADA for _, sent in messenger.calls)


async def test_a_refused_menu_does_not_stop_the_others() -> None:
    menus = await registered(Refusing(), ADA, BEN)
    assert menus.keys() == {"all_private_chats", "all_group_chats", f"chat{ADA}", f"chat{BEN}"}


def test_menus_are_within_telegrams_limits() -> None:
    for place in ("private", "group"):
        commands = menu(place, True)
        assert 0 < len(commands) <= 100
        assert all(0 < len(one["description"]) <= 256 for one in commands)
    assert all(set(command.places) <= {"private", "group"} for command in COMMANDS.values())


async def test_a_former_admin_loses_the_longer_menu() -> None:
    messenger = FakeMessenger()
    await register(messenger, frozenset([ADA]), [BEN])
    assert ("deleteMyCommands", {"scope": {"type": "chat", "chat_id": BEN}}) in messenger.calls


async def test_the_app_button_is_set_or_removed_for_each_person() -> None:
    for url, button in (
        ("https://x.example", {"type": "web_app", "text": "Memory", "web_app": {"url": "https://x.example/"}}),
        ("", {"type": "default"}),
    ):
        messenger = FakeMessenger()
        await register(messenger, frozenset({ADA}), [BEN], url)
        sent = [parameters for method, parameters in messenger.calls if method == "setChatMenuButton"]
        assert sent == [{"chat_id": ADA, "menu_button": button}, {"chat_id": BEN, "menu_button": button}]
