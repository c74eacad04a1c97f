"""Sessions of the page: exchanges a proof from Telegram, or a link of `relay web`, for a token."""

from __future__ import annotations

import secrets
import time
from datetime import UTC, datetime, timedelta

from relay.core.frozen import frozen
from relay.memory.calls.people import hash_token
from relay.surfaces.http.access.init_data import Forged, check_init_data
from relay.surfaces.http.caller import ApiCore, find_admitted, not_signed_in

SESSION_SECONDS = 3600


@frozen
class OpenedSession:
    """A session: its token goes into the header `Authorization: Bearer`. It is shown only once."""

    token: str
    expires_at: datetime


async def open_from_telegram(core: ApiCore, init_data: str) -> OpenedSession:
    """Exchanges a proof from Telegram for a session. Raises `ApiError` (401) if the proof is forged, old or used
    before, or if the person may not use the bot."""
    try:
        proof = check_init_data(init_data, core.bot_token, time.time())
    except Forged:
        raise not_signed_in() from None
    person = await core.services.store.person(proof.user_id)
    if proof.user_id not in core.services.people.named and not (person and person.may_use):
        raise not_signed_in()  # nothing is stored of strangers
    made, given_for = _new_session(), hash_token(proof.hash)
    stored = await core.services.store.store_api_token(
        proof.user_id, "session", "", hash_token(made.token), SESSION_SECONDS, given_for
    )
    if not stored:
        raise not_signed_in()
    return await _admitted(core, made)


async def open_from_link(core: ApiCore, nonce: str) -> OpenedSession:
    """Exchanges a link's secret for a session. Raises `ApiError` (401) if it was used before or has expired."""
    made = _new_session()
    if await core.services.store.open_api_link(hash_token(nonce), hash_token(made.token), SESSION_SECONDS) is None:
        raise not_signed_in()
    return await _admitted(core, made)


def _new_session() -> OpenedSession:
    return OpenedSession(secrets.token_urlsafe(32), datetime.now(UTC) + timedelta(seconds=SESSION_SECONDS))


async def _admitted(core: ApiCore, made: OpenedSession) -> OpenedSession:
    """Returns the session. If its person may not use the bot, ends it and raises `ApiError` (401)."""
    if await find_admitted(core, made.token) is None:
        await core.services.store.end_api_session(hash_token(made.token))
        raise not_signed_in()
    return made
