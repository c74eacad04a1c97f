"""The soul: showing, changing and restoring its versions."""

from __future__ import annotations

from relay.commands.context import CommandContext
from relay.commands.registry import admins_only, command
from relay.core.errors import CommandRefused, OutOfRange, WrongArgument, require_found
from relay.core.frozen import frozen
from relay.core.limits import SOUL_TOKENS
from relay.core.prompt_markup import estimate_tokens
from relay.memory.rows.soul import Soul, SoulDraft, SoulPage

PAGE = 5
"""How many versions a page of the history has."""
NO_DRAFT = "That draft no longer exists."


@frozen
class ActiveSoul:
    """The active version, and the one that was active before."""

    version: int
    text: str
    before_version: int
    """The number of the version before; 0: none."""
    before_text: str
    restored: int | None = None
    """The version from which its text was restored."""

    @property
    def changed(self) -> bool:
        """Tells whether the active version has changed."""
        return self.version != self.before_version


@frozen
class Drafted:
    """A draft, and the active soul that it would replace. `draft_id` None: the text is already active."""

    draft_id: int | None
    text: str
    based_on: int
    active_version: int
    active_text: str


@command(
    "soul",
    usage="[set <text> | try <text> | edit | grow [on|off] | history | restore <number>]",
    help="see, try or change my personality",
    audience="admin",
)
async def show_soul(ctx: CommandContext) -> Soul | None:
    """Returns the active soul; None: none is set."""
    return await ctx.store.soul()


@admins_only
async def set_soul(ctx: CommandContext, text: str) -> ActiveSoul:
    """Activates a text."""
    check_length(text, SOUL_TOKENS, "soul")
    return await _activate(ctx, text, "set in the chat")


@admins_only
async def restore_soul(ctx: CommandContext, version: int) -> ActiveSoul:
    """Activates the text of an old version as a new one."""
    absent = CommandRefused(f"There's no version {version}. /soul history lists those there are.")
    old = require_found(await ctx.store.soul_version(version), absent)
    return await _activate(ctx, old.text, f"restored from version {version}", version)


async def _activate(ctx: CommandContext, text: str, reason: str, restored: int | None = None) -> ActiveSoul:
    before = await ctx.store.soul()
    version = await ctx.store.activate_soul(text, ctx.user_id, ctx.name, reason)
    old_version, old_text = (before.version, before.text) if before else (0, "")
    return ActiveSoul(version, text, old_version, old_text, restored)


@admins_only
async def view_soul(ctx: CommandContext, version: int) -> Soul:
    """Returns a version."""
    return require_found(await ctx.store.soul_version(version), CommandRefused("That version doesn't exist."))


@admins_only
async def list_souls(ctx: CommandContext, page: int = 1) -> SoulPage:
    """Returns a page of the versions, newest first."""
    found = await ctx.store.souls((page - 1) * PAGE, PAGE)
    pages = max(1, -(-found.total // PAGE))
    if page > pages:
        raise OutOfRange(f"There's no page {page}. The last one is {pages}.")
    return found


@admins_only
async def draft_soul(ctx: CommandContext, text: str, reason: str, based_on: int | None = None) -> Drafted:
    """Stores a draft. `based_on`: the version that its author edited; None: the active one."""
    check_length(text, SOUL_TOKENS, "soul")
    active = await ctx.store.soul()
    version, present = (active.version, active.text) if active else (0, "")
    base = version if based_on is None else based_on
    if text == present:
        return Drafted(None, text, base, version, present)
    draft_id = await ctx.store.draft_soul(ctx.turn.turn_id, text, ctx.user_id, ctx.name, reason, base)
    return Drafted(draft_id, text, base, version, present)


@admins_only
async def activate_draft(ctx: CommandContext, draft_id: int, seen: int) -> SoulDraft:
    """Activates a draft. `seen`: the active version that the person compared it with. The draft stays open if another
    version is active by now."""
    draft = await ctx.store.decide_soul_draft(draft_id, "activate", seen, ctx.user_id)
    return require_found(draft, CommandRefused(NO_DRAFT))


@admins_only
async def discard_draft(ctx: CommandContext, draft_id: int) -> SoulDraft:
    """Discards a draft."""
    draft = await ctx.store.decide_soul_draft(draft_id, "discard", 0, ctx.user_id)
    return require_found(draft, CommandRefused(NO_DRAFT))


def check_length(text: str, limit: int, what: str) -> None:
    """Raises `WrongArgument` if a text has more than `limit` tokens."""
    tokens = estimate_tokens(text)
    if tokens > limit:
        raise WrongArgument(f"That's about {tokens} tokens; a {what} can have at most {limit}.")
