"""Telegram objects from the JSON that Telegram sends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter

from relay.memory.rows.turns.inbox import InboxRow
from relay.surfaces.telegram.parsing.objects import Message, User, decode_update
from relay.surfaces.telegram.parsing.sorting import sort_update
from relay.surfaces.telegram.parsing.updates import Bot

_MESSAGE, _USER = TypeAdapter(Message), TypeAdapter(User)


def as_message(raw: Mapping[str, Any]) -> Message:
    return _MESSAGE.validate_python(raw)


def as_user(raw: Mapping[str, Any]) -> User:
    return _USER.validate_python(raw)


def sorted_row(raw: Mapping[str, Any], bot: Bot, named: frozenset[int], group_open: bool) -> InboxRow:
    """An update as a row of the queue."""
    return sort_update(decode_update(raw), bot, named, group_open)
