"""Identifies callers of the API, and makes the command contexts of its routes."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import functools
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import field
from typing import Annotated, Any, get_origin

from fastapi import Depends, Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from fastapi.security import HTTPBearer
from pydantic import BaseModel

from relay.commands.context import NAMELESS, CommandContext, Services
from relay.core.errors import RelayError
from relay.core.frozen import frozen
from relay.core.models import Space
from relay.core.program import RELAY
from relay.memory.calls.people import hash_token
from relay.memory.claims import ClaimedTurn
from relay.memory.rows.people import ApiCaller
from relay.surfaces.http.problems import ApiError
from relay.surfaces.http.rate import RateLimiter
from relay.surfaces.http.streams import Streams

SIGHT_SECONDS = 2.0
"""How long Telegram may take to say whether a person is in a group."""
NOT_SIGNED_IN = (
    f"Open the page again from Telegram, or with the link that {RELAY} web prints. Programs need a token: "
    f"{RELAY} token new."
)
BEARER = HTTPBearer(scheme_name="token", description="From `relay token new` or `POST /api/session`.", auto_error=False)
"""Describes the token in the generated document; `find_caller` checks it."""


@frozen
class ApiCore:
    """What all routes of the API share, as `app.state.core`."""

    services: Services
    bot_id: int
    bot_token: str
    """Verifies Telegram's proof of who opened the page."""
    eyes_of: Callable[[int], Callable[[Space], Awaitable[bool]]]
    """Returns a check of whether a person sees a space, for one request: their own, or that of a group they are in."""
    on_owed: Callable[[Sequence[str]], None]
    """Called with the kinds of jobs that have become due."""
    rate: RateLimiter = field(default_factory=RateLimiter)
    calendar_rate: RateLimiter = field(default_factory=RateLimiter)
    """A separate limit for calendar addresses, so that whoever knows one can't use up its owner's own requests."""
    streams: Streams = field(default_factory=Streams)
    """The open event streams, which must be closed first when the server stops."""
    exporting: set[int] = field(default_factory=set)
    """Who is getting an export."""
    packing: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while an export is packed."""


async def find_caller(request: Request, _: Annotated[object, Depends(BEARER)]) -> ApiCaller:
    """Returns the caller of a request. Raises `ApiError`: 401 without a valid token of a person who may use the bot,
    429 after too many requests, 422 if the route doesn't have a parameter of the query, or if it is given twice and
    isn't a list."""
    core: ApiCore = request.app.state.core
    scheme, token = read_authorization(request)
    caller = await find_admitted(core, token) if scheme == "bearer" else None
    if caller is None:
        raise not_signed_in()
    count_request(request, core, caller)
    taken = dict(query_parameters(request.scope["route"].dependant))
    for name in request.query_params:
        if name not in taken:
            raise ApiError(422, "out_of_range", f"There's no parameter “{name[:40]}” here. /api/docs lists them.")
        if get_origin(taken[name]) is not list and len(request.query_params.getlist(name)) > 1:
            raise ApiError(422, "out_of_range", f"Please give “{name[:40]}” once.")
    return caller


def query_parameters(dependant: Dependant) -> Iterator[tuple[str, Any]]:
    """Yields the names and types of the parameters that a route reads from the query."""
    for given in dependant.query_params:
        kind = given.field_info.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from ((one.alias or name, one.annotation) for name, one in kind.model_fields.items())
        else:
            yield given.alias, kind
    for one in dependant.dependencies:
        yield from query_parameters(one)


def count_request(request: Request, core: ApiCore, caller: ApiCaller) -> None:
    """Counts a request, once. Raises `ApiError` (429) if its person sends too many."""
    if getattr(request.state, "counted", False):
        return
    request.state.counted = True
    take_one(core.rate, caller)


def take_one(rate: RateLimiter, caller: ApiCaller) -> None:
    """Counts a request of a person. Raises `ApiError` (429) if these are too many."""
    if wait := rate.take(caller.user_id):
        raise ApiError(429, "too_many", f"Too many requests. Wait {wait} s.", {"Retry-After": str(wait)})


async def find_admitted(core: ApiCore, token: str) -> ApiCaller | None:
    """Returns the owner of a token; None if the token is invalid, or its owner may not use the bot now."""
    caller = await core.services.store.find_api_caller(hash_token(token))
    admitted = caller is not None and core.services.people.role_of(turn_of(caller)) is not None
    return caller if admitted else None


def read_authorization(request: Request) -> tuple[str, str]:
    """Returns the scheme of the Authorization header in lower case, and the credentials."""
    scheme, _, value = request.headers.get("authorization", "").partition(" ")
    return scheme.lower(), value.strip()


def not_signed_in() -> ApiError:
    """Returns the error that says how to sign in."""
    return ApiError(401, "not_signed_in", NOT_SIGNED_IN, {"WWW-Authenticate": "Bearer"})


def turn_of(caller: ApiCaller) -> ClaimedTurn:
    """Returns a turn for a request that writes nothing. It has no row in the database."""
    return ClaimedTurn(
        turn_id=0,
        fence=0,
        kind="control",
        status="working",
        failures=0,
        user_id=caller.user_id,
        updates=(),
        parts=(),
        choices=caller.choices,
        role=caller.role,
    )


async def reading(request: Request, caller: Annotated[ApiCaller, Depends(find_caller)]) -> CommandContext:
    """Returns the context of a command that only reads."""
    ctx = make_context(request.app.state.core, caller, turn_of(caller))
    groups = groups_seen(request)

    async def sees(space: Space) -> bool:
        found = await ctx.sees(space)
        if found and space.chat_id is not None:
            groups.add(space.chat_id)
        return found

    return dataclasses.replace(ctx, sees=sees)


def groups_seen(request: Request) -> set[int]:
    """Returns the chats of the groups that a request has seen, and that its response may quote."""
    if not hasattr(request.state, "groups"):
        request.state.groups = set()
    groups: set[int] = request.state.groups
    return groups


async def reading_calendar(request: Request, token: str) -> CommandContext:
    """Returns the context of the owner of a calendar with this token. Raises `ApiError`: 404 for an unknown token, 429
    after too many requests."""
    core: ApiCore = request.app.state.core
    caller = await core.services.store.find_calendar_caller(hash_token(token))
    if caller is None or core.services.people.role_of(turn_of(caller)) is None:
        raise ApiError(404, "unknown", "This calendar address no longer works. Its owner can make a new one.")
    take_one(core.calendar_rate, caller)
    return make_context(core, caller, turn_of(caller))


async def writing(
    ctx: Annotated[CommandContext, Depends(reading)], request: Request
) -> AbstractAsyncContextManager[CommandContext]:
    """Returns the context of a command that writes, which `WritingRoute` enters."""
    return begin_writing(ctx, request)


class WritingRoute(APIRoute):
    """A route whose `Writing` context gets its turn once the whole request is valid, so that a malformed request leaves
    no turn. FastAPI itself validates the body only after it has resolved the dependencies."""

    def __init__(self, path: str, endpoint: Callable[..., Awaitable[Any]], **given: Any) -> None:
        signature = inspect.signature(endpoint, eval_str=True)

        @functools.wraps(endpoint)
        async def write(**values: Any) -> Any:
            ctx = values.get("ctx")
            if not isinstance(ctx, AbstractAsyncContextManager):
                return await endpoint(**values)
            async with ctx as entered:
                return await endpoint(**values | {"ctx": entered})

        write.__signature__ = signature  # type: ignore[attr-defined]
        super().__init__(path, write, **given)


@contextlib.asynccontextmanager
async def begin_writing(ctx: CommandContext, request: Request) -> AsyncIterator[CommandContext]:
    """Yields the context with a turn to write in. The jobs that the turn makes due begin when it has ended. A refused
    command leaves no turn, unless it has stored something."""
    core: ApiCore = request.app.state.core
    turn = await ctx.store.begin_command(core.bot_id, ctx.user_id, 0, ctx.user_id)
    refused = False
    try:
        yield dataclasses.replace(ctx, turn=dataclasses.replace(turn, choices=ctx.turn.choices, role=ctx.turn.role))
    except (ApiError, RelayError):
        refused = True
        raise
    finally:
        end = ctx.store.refuse_command(turn) if refused else ctx.store.store_sent(turn, [], True)
        with contextlib.suppress(RelayError):
            core.on_owed((await end).owed)


def make_context(core: ApiCore, caller: ApiCaller, turn: ClaimedTurn) -> CommandContext:
    """Returns the context of the caller's private chat: over HTTP, a person sees the same as there."""

    async def stop() -> bool:
        return bool(await core.services.store.ask_stop(core.bot_id, caller.user_id, 0, None))

    return CommandContext(
        services=core.services,
        turn=turn,
        bot_id=core.bot_id,
        space=Space("private", owner_id=caller.user_id),
        chat_id=caller.user_id,
        topic_id=0,
        private=True,
        user_id=caller.user_id,
        name=caller.name or NAMELESS,
        admin=core.services.people.role_of(turn) == "admin",
        stop=stop,
        sees=functools.partial(sees_now, core.eyes_of(caller.user_id)),
    )


async def sees_now(look: Callable[[Space], Awaitable[bool]], space: Space) -> bool:
    """Whether the person sees a space. A group is hidden while Telegram, which knows its members, does not answer."""
    try:
        async with asyncio.timeout(SIGHT_SECONDS):
            return await look(space)
    except TimeoutError:
        return False


Reading = Annotated[CommandContext, Depends(reading)]
Writing = Annotated[CommandContext, Depends(writing)]
