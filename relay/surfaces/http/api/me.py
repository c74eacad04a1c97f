"""Who is signed in, and which groups they see."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import WithJsonSchema

from relay.commands.memory.controls import show_controls
from relay.commands.people.groups import list_groups
from relay.memory.rows.people import SpokenGroup
from relay.surfaces.http.caller import Reading
from relay.surfaces.http.wire import Id, WireModel, wire

router = APIRouter(prefix="/me", tags=["me"])


class Me(WireModel):
    """The person who is signed in, their switches, and the installation. `capture`: auto: memory learns by itself; ask:
    it proposes what to keep; tags: it keeps only what the answering model marks; off: it learns nothing."""

    user_id: Id
    name: str
    admin: bool
    time_zone: str
    version: str
    model: str
    capture: Annotated[str, WithJsonSchema({"type": "string", "enum": ["auto", "ask", "tags", "off"]})]
    memory_on: bool
    """Memory is on and not paused."""
    memory_paused_until: datetime | None
    preferences_on: bool
    preferences_paused_until: datetime | None


class Groups(WireModel):
    """Groups whose memory a person may see."""

    groups: list[wire(SpokenGroup)]  # type: ignore[valid-type]


@router.get("")
async def show_me(ctx: Reading) -> Me:
    """Returns who is signed in."""
    here = ctx.services.installation
    switches = await show_controls(ctx)
    return Me(
        user_id=str(ctx.user_id),
        name=ctx.name,
        admin=ctx.admin,
        time_zone=str(ctx.zone),
        version=here.version,
        model=here.model,
        capture=here.capture,
        memory_on=switches.remembers,
        memory_paused_until=switches.paused_until,
        preferences_on=switches.preferences_on,
        preferences_paused_until=switches.preferences_paused_until,
    )


@router.get("/groups", response_model=Groups)
async def list_own_groups(ctx: Reading) -> Any:
    """Lists the groups whose memory the person may see. Their `spaceId` is the `space` of other routes."""
    return {"groups": await list_groups(ctx)}
