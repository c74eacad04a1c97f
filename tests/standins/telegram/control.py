"""The same interface over HTTP: ``POST /_control/<name>`` with the arguments as a JSON object."""

from __future__ import annotations

import base64
import dataclasses
import inspect
import json
from typing import TYPE_CHECKING, Any

from aiohttp import web

from tests.standins.telegram.values import Chat, Json, Record, StoredMessage, Upload, User

if TYPE_CHECKING:
    from tests.standins.telegram.server import TelegramStandIn

_CALLS = (
    "user dm group topic delete_topic say edit delete press react stop_generation add_member remove_member set_member"
    " block unblock migrate push redeliver fault clear_faults stats messages drafts wait_reply wait_calls wait_polling"
    " restart"
)
CALLS = frozenset(_CALLS.split())


async def answer_control(tg: TelegramStandIn, name: str, request: web.Request) -> web.Response:
    """Call the method of that name, or one of ``log``, ``updates``, ``set``, ``say_many``."""
    body = await request.read()
    arguments: Json = json.loads(body) if body else dict(request.query)
    try:
        result = await _control(tg, name, _arguments(arguments))
    except TimeoutError as error:
        return web.json_response({"error": str(error)}, status=504)
    except (KeyError, TypeError, ValueError, StopIteration) as error:
        return web.json_response({"error": f"{type(error).__name__}: {error}"}, status=400)
    return web.Response(body=json.dumps(result, default=_plain).encode(), content_type="application/json")


async def _control(tg: TelegramStandIn, name: str, arguments: Json) -> Any:
    if name == "log":
        since, method = int(arguments.get("since", 0)), str(arguments.get("method", "")).lower()
        return [record for record in tg.log[since:] if not method or record.method.lower() == method]
    if name == "updates":
        return {"pending": tg.pending_updates, "acked": tg.acked, "dropped": tg.queue.dropped}
    if name == "answers":
        return tg.answers
    if name == "set":
        for key in ("latency", "stopped", "can_read_all_group_messages", "has_topics_enabled"):
            if key in arguments:
                setattr(tg, key, arguments[key])
        return True
    if name == "say_many":
        return [(await tg.say(**message)).message_id for message in arguments["messages"]]
    if name not in CALLS:
        raise KeyError(name)
    result = getattr(tg, name)(**arguments)
    return await result if inspect.isawaitable(result) else result


def _arguments(arguments: Json) -> Json:
    """Uploads come as ``{"base64": …, "name": …, "mime_type": …, "duration": …, "size": …}``."""
    return {key: _upload(value) for key, value in arguments.items()}


def _upload(value: Any) -> Any:
    if isinstance(value, dict) and "base64" in value:
        return Upload(base64.b64decode(value["base64"]), **{key: value[key] for key in value if key != "base64"})
    return value


def _plain(value: Any) -> Any:
    if isinstance(value, StoredMessage | Record):
        return value.json()
    if isinstance(value, User):
        return value.json()
    if isinstance(value, Chat):
        return {**value.json(), "members": value.members, "topics": {key: t.name for key, t in value.topics.items()}}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    raise TypeError(f"cannot be sent: {value!r}")
