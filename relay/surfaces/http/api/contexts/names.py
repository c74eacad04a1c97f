"""The names of things over HTTP: projects t12, markers p7, messages m123, compositions c3, versions v001."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import Path, Query
from pydantic import BeforeValidator, Field

from relay.commands.context import CommandContext
from relay.commands.contexts.projects import go_to
from relay.core.limits import LEAST_BUDGET, MOST_BUDGET
from relay.surfaces.http.wire import WHOLE

NUMBER = r"[1-9][0-9]{0,17}"

ProjectId = Annotated[str, Path(alias="projectId", pattern=rf"^t{NUMBER}$", examples=["t12"])]
SessionId = Annotated[str, Path(alias="sessionId", pattern=rf"^{NUMBER}$", examples=["34"])]
CompositionId = Annotated[str, Path(alias="compositionId", pattern=rf"^c{NUMBER}$", examples=["c3"])]
MarkerId = Annotated[str, Path(alias="markerId", pattern=rf"^p{NUMBER}$", examples=["p7"])]
VersionId = Annotated[str, Path(alias="versionId", max_length=64, examples=["v001"])]
SomeProject = Annotated[
    str | None,
    Query(
        alias="projectId",
        pattern=rf"^t{NUMBER}$",
        description="A project, for its memory; by default, the person's own.",
    ),
]
Name = Annotated[str, Field(max_length=64)]
"""A name in a body; an unknown one answers 404."""
Budget = Annotated[int, Field(ge=LEAST_BUDGET, le=MOST_BUDGET, strict=True), WHOLE]
"""A budget, in tokens."""


def short(name: str) -> str:
    """Returns a version's short name, without the way it was made: v002."""
    return name.partition("_")[0]


def formatted(form: str) -> BeforeValidator:
    """Formats a value as text: with `t{}`, 12 is t12. From Python 3.13 on, pydantic refuses `str.format` itself."""
    return BeforeValidator(lambda value: form.format(value))


ProjectName = Annotated[str, formatted("t{}")]
MarkerName = Annotated[str, formatted("p{}")]
MessageName = Annotated[str, formatted("m{}")]
CompositionName = Annotated[str, formatted("c{}")]
VersionName = Annotated[str, BeforeValidator(short)]
"""Names in the form in which they are sent, made from numbers; a version's, from its whole name."""


def number_of(name: str, prefix: str = "") -> int:
    """Returns the number in a name: 12 for t12. 0, which nothing has, if the name has another form."""
    return int(name.removeprefix(prefix)) if re.fullmatch(f"{prefix}{NUMBER}", name) else 0


async def in_session(ctx: CommandContext, session_id: str) -> tuple[CommandContext, int]:
    """Returns the context of a session's conversation, and its number. Raises `NotFound`."""
    number = number_of(session_id)
    return await go_to(ctx, "session", number), number


async def in_project(ctx: CommandContext, project_id: str | None) -> CommandContext:
    """Returns the context of a project; None: the present one. Raises `NotFound`."""
    return ctx if project_id is None else await go_to(ctx, "project", number_of(project_id, "t"))


async def in_composition(ctx: CommandContext, composition_id: str) -> tuple[CommandContext, int]:
    """Returns the context of a composition's conversation, and its number. Raises `NotFound`."""
    number = number_of(composition_id, "c")
    return await go_to(ctx, "composition", number), number
