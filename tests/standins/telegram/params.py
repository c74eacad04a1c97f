"""The typed parameters of a request: form-encoded, JSON, multipart or in the query."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qsl

from aiohttp import BodyPartReader, web

from tests.standins.telegram.values import Json, Upload, bad_request

_INTEGERS = (
    "message_id message_thread_id user_id from_chat_id draft_id reply_to_message_id offset limit timeout duration"
    " icon_color max_connections cache_time"
)
_BOOLEANS = (
    "disable_notification protect_content allow_sending_without_reply drop_pending_updates show_alert is_big"
    " can_stop disable_web_page_preview revoke_messages"
)
_OBJECTS = (
    "entities caption_entities reply_markup reply_parameters link_preview_options allowed_updates commands scope"
    " reaction message_ids media menu_button"
)
_KINDS = {
    **dict.fromkeys(_INTEGERS.split(), "integer"),
    **dict.fromkeys(_BOOLEANS.split(), "boolean"),
    **dict.fromkeys(_OBJECTS.split(), "object"),
}


async def read_params(request: web.BaseRequest) -> tuple[Json, dict[str, Upload]]:
    """The decoded parameters and the uploaded files by field name."""
    params: Json = dict(request.query) if request.query_string else {}
    files: dict[str, Upload] = {}
    kind = request.content_type
    if kind == "application/json":
        body = await request.read()
        params.update(json.loads(body) if body else {})
    elif kind == "multipart/form-data":
        await _read_parts(request, params, files)
    elif body := await request.read():
        params.update(parse_qsl(body.decode(), keep_blank_values=True))
    return {name: _decoded(name, value) for name, value in params.items()}, files


async def _read_parts(request: web.BaseRequest, params: Json, files: dict[str, Upload]) -> None:
    async for part in await request.multipart():
        if not isinstance(part, BodyPartReader) or not part.name:
            continue
        data = bytes(await part.read(decode=False))
        if part.filename is not None:
            files[part.name] = Upload(data, part.filename, part.headers.get("Content-Type"))
        else:
            params[part.name] = data.decode()


def _decoded(name: str, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    kind = _KINDS.get(name)
    try:
        if name == "chat_id":
            return int(value) if value.lstrip("-").isdigit() else value
        if kind == "integer":
            return int(value)
        if kind == "object":
            return json.loads(value) if value else None
    except ValueError:
        raise bad_request(f"can't parse {name}") from None
    if kind == "boolean":
        return value.lower() in ("true", "1", "yes")
    return value
