"""Tokens for the API, and links that open the web app on this machine."""

from __future__ import annotations

import secrets

from relay.commands.context import CommandContext
from relay.core.errors import CommandRefused, NotAllowed, NotFound, OutOfRange, require_found
from relay.core.frozen import frozen
from relay.core.limits import API_TOKENS, TOKEN_NAME_LENGTH
from relay.core.program import RELAY
from relay.core.text import shorten
from relay.memory.calls.people import hash_token
from relay.memory.people import new_nonce
from relay.memory.rows.people import ApiToken

LINK_SECONDS = 600
"""How many seconds a link that opens the web app is valid. It can be used once."""


@frozen
class NewToken:
    """A new token, which is shown only once."""

    token: str
    name: str


async def new_token(ctx: CommandContext, name: str = "") -> NewToken:
    """Makes a token with which programs use the API as this person. Raises `CommandRefused` at the limit, and
    `OutOfRange` for a name that could be another token's number."""
    await _check_known(ctx)
    if _name(name).isdecimal():
        raise OutOfRange("A name can't be only digits, because tokens have numbers, too.")
    if len(await ctx.store.list_api_tokens(ctx.user_id)) >= API_TOKENS:
        raise CommandRefused(f"You have {API_TOKENS} tokens, which is the limit. Revoke one first.")
    made = NewToken(f"relay_{secrets.token_urlsafe(32)}", _name(name))
    await ctx.store.store_api_token(ctx.user_id, "token", made.name, hash_token(made.token), None)
    return made


def _name(given: str) -> str:
    return shorten(" ".join(given.split()), TOKEN_NAME_LENGTH)


async def tokens(ctx: CommandContext) -> list[ApiToken]:
    """Returns the person's own tokens, oldest first."""
    await _check_known(ctx)
    return await ctx.store.list_api_tokens(ctx.user_id)


async def revoke_token(ctx: CommandContext, which: str) -> ApiToken:
    """Revokes one of the person's own tokens, by its number or its name. Raises `NotFound` if there is none, and
    `CommandRefused` if several have this name."""
    own, wanted = await tokens(ctx), _name(which)
    found = [one for one in own if str(one.id) == wanted] or [one for one in own if wanted and one.name == wanted]
    if len(found) > 1:
        numbers = ", ".join(str(one.id) for one in found)
        raise CommandRefused(f"{len(found)} of your tokens are called {wanted}. Say which by its number: {numbers}.")
    revoked = await ctx.store.revoke_api_token(ctx.user_id, found[0].id) if found else None
    return require_found(revoked, NotFound(f"You have no token {wanted}."))


async def new_link(ctx: CommandContext) -> str:
    """Returns the secret of a link that opens the web app as this person, once."""
    await _check_known(ctx)
    nonce = new_nonce()
    await ctx.store.store_api_token(ctx.user_id, "link", "", hash_token(nonce), LINK_SECONDS)
    return nonce


async def _check_known(ctx: CommandContext) -> None:
    """Raises `NotAllowed` outside of private chats, because tokens and links open a person's own memory, and
    `CommandRefused` at the terminal of a bot that has no owner yet."""
    if not ctx.private:
        raise NotAllowed
    if ctx.user_id not in ctx.services.people.named and await ctx.store.person(ctx.user_id) is None:
        raise CommandRefused(f"Nobody uses the bot yet. Open the link that {RELAY} run prints, and press Start there.")
