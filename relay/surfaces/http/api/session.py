"""Signing in to the page, and out."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Request, Response
from fastapi.security.http import HTTPBase

from relay.core.errors import NotFound
from relay.memory.calls.people import hash_token
from relay.surfaces.http.access.sessions import OpenedSession, open_from_link, open_from_telegram
from relay.surfaces.http.caller import ApiCore, find_caller, not_signed_in, read_authorization
from relay.surfaces.http.problems import problems
from relay.surfaces.http.wire import WireInput, wire

router = APIRouter(tags=["session"])
NO_SESSION = "This token isn't a session. To revoke it, use: relay token revoke"
TELEGRAM = HTTPBase(
    scheme="tma", scheme_name="telegram", description="What Telegram signed (`initData`).", auto_error=False
)
"""Describes Telegram's proof in the generated document; `open_session` checks it."""


class SignInLink(WireInput):
    """The secret of a link that `relay web` printed."""

    link: str


@router.post(
    "/session",
    status_code=201,
    response_model=wire(OpenedSession),
    dependencies=[Depends(TELEGRAM)],
    openapi_extra={"security": [{}]},  # or a link's secret
)
async def open_session(request: Request, body: SignInLink | None = None) -> OpenedSession:
    """Signs in: with `Authorization: tma` and what Telegram signed, or with a link's secret."""
    core: ApiCore = request.app.state.core
    scheme, proof = read_authorization(request)
    if scheme == "tma":
        return await open_from_telegram(core, proof)
    if body is not None:
        return await open_from_link(core, body.link)
    raise not_signed_in()


@router.delete("/session", status_code=204, dependencies=[Depends(find_caller)], responses=problems(404, 429))
async def end_session(request: Request) -> Response:
    """Signs out. 404: the token was made by `relay token new` and stays."""
    core: ApiCore = request.app.state.core
    if not await core.services.store.end_api_session(hash_token(read_authorization(request)[1])):
        raise NotFound(NO_SESSION)
    return Response(status_code=204)
