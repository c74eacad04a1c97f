"""`relay token new|list|revoke`: tokens for programs."""

from __future__ import annotations

from typing import Annotated

import typer

from relay.commands.people.tokens import NewToken, new_token, revoke_token, tokens
from relay.core.program import RELAY
from relay.core.settings import load
from relay.memory.rows.people import ApiToken
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.cli.command_list import make_group
from relay.surfaces.cli.owner import owner_command

token = make_group("Tokens that let programs use the API as you.")
API_OFF = "The API is switched off. Set RELAY_API=on, and start the bot again."


def _list(ctx: ChatContext, found: list[ApiToken]) -> str:
    def line(one: ApiToken) -> str:
        used = f"last used {one.used_at.astimezone(ctx.zone):%Y-%m-%d}" if one.used_at else "never used"
        told = [str(one.id), one.name, f"made {one.created_at.astimezone(ctx.zone):%Y-%m-%d}", used]
        return " · ".join(filter(None, told))

    return "\n".join(map(line, found)) or f"You have no tokens. `{RELAY} token new` makes one."


def _show_new(_: ChatContext, one: NewToken) -> str:
    told = f"{one.token}\nSend it as `Authorization: Bearer …`. It isn't shown again."
    return told if load().api else f"{told}\n{API_OFF}"


@token.command()
@owner_command(_show_new)
async def new(ctx: ChatContext, name: Annotated[str, typer.Argument(help="What it is for.")] = "") -> NewToken:
    """Make a token. It is shown only once."""
    return await new_token(ctx, name)


@token.command("list")
@owner_command(_list)
async def list_(ctx: ChatContext) -> list[ApiToken]:
    """List your tokens: number, name, when made, when last used."""
    return await tokens(ctx)


@token.command()
@owner_command(lambda _, one: f"Revoked: {one.id} {one.name}".rstrip() + ".")
async def revoke(
    ctx: ChatContext, which: Annotated[str, typer.Argument(help="Its number in the list, or its name.")]
) -> ApiToken:
    """Revoke a token. It stops working at once."""
    return await revoke_token(ctx, which)
