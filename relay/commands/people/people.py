"""Who may use the bot: granting and revoking access."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Literal

from relay.commands.context import CommandContext
from relay.commands.registry import admins_only, command
from relay.core.errors import CommandRefused, WrongArgument, require_found
from relay.core.frozen import frozen
from relay.core.text import shorten
from relay.memory.calls.people import MOST_INVITES
from relay.memory.people import digest, new_nonce
from relay.memory.rows.people import DecidedPerson, Invitation, KnownPeople, Person

Verdict = Literal["approve", "deny", "block", "admit"]
"""admit: gives access to a person whom an admin refused; the others answer requests."""
ROLES: dict[Verdict, str] = {"approve": "user", "deny": "refused", "block": "blocked", "admit": "user"}
USAGE = "Say who: /revoke and their id or @name. /users lists everyone."
UNKNOWN = f"I don't know that person. {USAGE}"
NAMED = f"{UNKNOWN} I know the people named in my settings only by their ids."
NOT_OPEN = "There's no such open invitation. /users lists them."


@frozen
class NewInvitation:
    """A new invitation. Its nonce goes into the link."""

    nonce: str
    for_whom: str
    until: datetime


@frozen
class Revoked:
    """The result of revoking a person's access."""

    person: Person
    outcome: str
    """done, last (the only admin keeps it) or unknown (they had no access)."""


@command(
    "users",
    usage="[approve|deny|block|admit|cancel <id>]",
    help="who has access, and who is asking for it",
    audience="admin",
    places=("private",),
)
async def users(ctx: CommandContext) -> KnownPeople:
    """Returns everyone in the settings and the database. The names of those in the settings alone are unknown."""
    known, settings = await ctx.store.list_everybody(), ctx.services.people
    stored = {one.user_id: one for one in known.people}
    named = [stored.pop(one, Person(one, "", "user")) for one in sorted(settings.named)]
    admins = {one.user_id for one in named if one.role == "admin"} | settings.named_admins
    named = [replace(one, role="admin" if one.user_id in admins else "user") for one in named]
    return replace(known, people=(*named, *stored.values()))


@admins_only
async def decide(ctx: CommandContext, user_id: int, verdict: Verdict, again: bool = False) -> DecidedPerson:
    """Records an admin's decision about a person. The first decision counts. `again`: but someone who was refused, or
    whose access was revoked, may be blocked as well."""
    roles = ["refused", "blocked"] if verdict == "admit" else ["asking"]
    if again and verdict == "block":
        roles.append("refused")
    decided = await ctx.store.decide(user_id, roles, ROLES[verdict], ctx.user_id, _decider(ctx))
    return require_found(decided, CommandRefused(f"I don't know anyone with the id {user_id}. /users lists everyone."))


@admins_only
async def cancel_invitation(ctx: CommandContext, invite_id: int) -> Invitation:
    """Revokes an open invitation."""
    return require_found(await ctx.store.cancel_invite(invite_id), CommandRefused(NOT_OPEN))


@command("invite", usage="[name]", help="make a link that lets one person in", audience="admin", places=("private",))
async def invite(ctx: CommandContext, for_whom: str = "") -> NewInvitation:
    """Creates an invitation for one person, usable once."""
    nonce, whom = new_nonce(), shorten(for_whom, 60)
    until = await ctx.store.invite(digest(nonce) or "", whom, ctx.user_id, _decider(ctx), ctx.turn.turn_id)
    if until is None:
        raise CommandRefused(f"{MOST_INVITES} invitations are open, which is the limit. /users lists them.")
    return NewInvitation(nonce, whom, until)


@command("revoke", usage="<id or @name>", help="remove someone's access", audience="admin")
async def find_revocable(ctx: CommandContext, who: int | str | None) -> Person:
    """Returns the person whose access may be revoked, by id or @name."""
    if who is None or (isinstance(who, str) and not who.startswith("@")):
        raise WrongArgument(USAGE)
    user_id, username = (None, who.removeprefix("@")) if isinstance(who, str) else (who, "")
    if user_id is not None:
        _check_settings(ctx, user_id)
    unknown = CommandRefused(NAMED if username and ctx.services.people.named else UNKNOWN)
    person = require_found(await ctx.store.person(user_id, username), unknown)
    if not person.may_use:
        raise CommandRefused(f"{person.name} (id {person.user_id}) has no access. /users lists everyone.")
    _check_settings(ctx, person.user_id)
    if await _is_last(ctx, person):
        raise CommandRefused(only_one(person))
    return person


@admins_only
async def revoke(ctx: CommandContext, user_id: int) -> Revoked | None:
    """Revokes a person's access. None: they are unknown."""
    person = await ctx.store.person(user_id)
    if person is None:
        return None
    owned = bool(ctx.services.people.named_admins)
    return Revoked(person, await ctx.store.revoke(user_id, owned, ctx.user_id, _decider(ctx)))


def only_one(person: Person) -> str:
    """Explains why the last admin can't be revoked."""
    return f"{person.name} (id {person.user_id}) is my only admin, so they keep access."


def _check_settings(ctx: CommandContext, user_id: int) -> None:
    """Raises `CommandRefused` for a person whom the settings name."""
    people = ctx.services.people
    if user_id in people.named:
        name = "RELAY_ADMINS" if user_id in people.named_admins else "RELAY_USERS"
        raise CommandRefused(f"{user_id} is named in my settings. Remove it from {name} there, and restart me.")


async def _is_last(ctx: CommandContext, person: Person) -> bool:
    """Tests whether this person is the only admin."""
    if person.role != "admin" or ctx.services.people.named_admins:
        return False
    admins = {one.user_id for one in await ctx.store.people() if one.role == "admin"}
    return admins <= {person.user_id}


def _decider(ctx: CommandContext) -> str:
    """Returns the name under which others see the decision."""
    return shorten(ctx.name, 60) if ctx.bot_id else "someone at the terminal"
