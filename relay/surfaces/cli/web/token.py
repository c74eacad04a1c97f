"""`relay token new|list|revoke`: tokens for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from relay.core.program import RELAY
from relay.surfaces.cli.command_list import Commands
from relay.surfaces.cli.memory.group import AsJson, run

if TYPE_CHECKING:
    from relay.commands.people.tokens import NewToken
    from relay.memory.rows.people import ApiToken
    from relay.surfaces.chat.context import ChatContext

token = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    help="Tokens with which programs use the API as you.",
    rich_markup_mode=None,
)


@token.command("new")
def new(name: Annotated[str, typer.Argument(help="What it is for.")] = "", as_json: AsJson = False) -> None:
    """Make a token. It is shown this once."""

    async def made(ctx: ChatContext) -> NewToken:
        from relay.commands.people.tokens import new_token

        return await new_token(ctx, name)

    run(made, lambda _, one: f"{one.token}\nSend it as `Authorization: Bearer …`. It isn't shown again.", as_json)


@token.command("list")
def list_(as_json: AsJson = False) -> None:
    """List your tokens: number, name, when made, when last used."""
    from relay.commands.people.tokens import tokens

    run(tokens, _listed, as_json)


@token.command()
def revoke(
    which: Annotated[str, typer.Argument(help="Its number in the list, or its name.")],
    as_json: AsJson = False,
) -> None:
    """Revoke a token. It stops working at once."""

    async def revoked(ctx: ChatContext) -> ApiToken:
        from relay.commands.people.tokens import revoke_token

        return await revoke_token(ctx, which)

    run(revoked, lambda _, one: f"Revoked: {one.id} {one.name}".rstrip() + ".", as_json)


def _listed(ctx: ChatContext, found: list[ApiToken]) -> str:
    def line(one: ApiToken) -> str:
        used = f"last used {one.used_at.astimezone(ctx.zone):%Y-%m-%d}" if one.used_at else "never used"
        told = [str(one.id), one.name, f"made {one.created_at.astimezone(ctx.zone):%Y-%m-%d}", used]
        return " · ".join(filter(None, told))

    return "\n".join(map(line, found)) or f"You have no tokens. `{RELAY} token new` makes one."
