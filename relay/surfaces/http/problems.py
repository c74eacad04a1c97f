"""Errors as problem documents (RFC 9457)."""

from __future__ import annotations

from typing import Any, Literal

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.routing import Match

from relay.core.errors import (
    BudgetUsedUp,
    CommandRefused,
    Conflict,
    DatabaseError,
    DataRefused,
    MessengerError,
    ModelError,
    NotAllowed,
    NotFound,
    OutOfRange,
    RelayError,
)

log = structlog.get_logger()

MEDIA_TYPE = "application/problem+json"
STATUSES: tuple[tuple[type[RelayError], int, str], ...] = (
    (NotFound, 404, "unknown"),
    (Conflict, 409, "conflict"),
    (OutOfRange, 422, "out_of_range"),
    (NotAllowed, 403, "not_yours"),
    (BudgetUsedUp, 422, "budget"),
    (CommandRefused, 422, "refused"),
    (DataRefused, 422, "out_of_range"),
    (DatabaseError, 503, "away"),
    (ModelError, 503, "away"),
    (MessengerError, 503, "away"),
)
"""The type, status and code of each error; the first type that matches counts."""
TITLES = {
    400: "Malformed request",
    401: "Not signed in",
    403: "Not yours",
    404: "Not found",
    405: "Wrong method",
    408: "Too slow",
    409: "Conflict",
    413: "Too large",
    422: "Not accepted",
    429: "Too many requests",
    500: "Internal error",
    503: "Not available now",
}


NO_OBJECT = "The body must be a JSON object, with the header Content-Type: application/json."
OF_HTTP = {
    400: ("malformed", "The body is not JSON."),
    404: ("unknown", "There is no such address. /api/docs lists all of them."),
    405: ("method", "This address doesn't take that method. /api/docs lists those it takes."),
}
"""The code and the detail of errors that the framework finds."""


class HoldingComposition(BaseModel):
    """A composition that holds a version. `active`: a running session began with it."""

    compositionId: str  # noqa: N815
    name: str
    active: bool


class InUseDetails(BaseModel):
    """What holds the thing that should be deleted."""

    code: Literal["in_use"]
    compositions: list[HoldingComposition]


class Problem(BaseModel):
    """What went wrong. `detail` is a sentence to show; `code` is for programs. Only `in_use` has an `error`."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    code: str
    error: InUseDetails | None = None


class ApiError(Exception):
    """An error of a request rather than of a command. `more`: further members of the document."""

    def __init__(self, status: int, code: str, detail: str, headers: dict[str, str] | None = None, **more: Any) -> None:
        super().__init__(detail)
        self.status = status
        self.code = code
        self.headers = headers
        self.more = more


def problem(status: int, code: str, detail: str, headers: dict[str, str] | None = None, **more: Any) -> JSONResponse:
    """Returns a problem document as a response. `detail` may quote any text, also one that UTF-8 can't encode."""
    detail = detail.encode(errors="replace").decode()
    document = Problem(title=TITLES.get(status, "Error"), status=status, detail=detail, code=code, **more)
    return JSONResponse(document.model_dump(exclude_none=True), status, headers, MEDIA_TYPE)


def render_error(error: RelayError | ApiError) -> JSONResponse:
    """Returns the problem document of an error."""
    if isinstance(error, ApiError):
        return problem(error.status, error.code, str(error), error.headers, **error.more)
    for kind, status, code in STATUSES:
        if isinstance(error, kind):
            return problem(status, code, error.plain)
    log.error("a request failed", exc_info=error)
    return problem(500, "internal", error.plain)


def add_handlers(app: FastAPI) -> None:
    """Makes an application answer every error with a problem document."""

    @app.exception_handler(ApiError)
    @app.exception_handler(RelayError)
    async def expected(_: Request, error: RelayError | ApiError) -> JSONResponse:
        return render_error(error)

    @app.exception_handler(RequestValidationError)
    async def of_input(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        if first["type"] == "json_invalid":
            return problem(400, "malformed", "The body is not JSON.")
        if first["loc"] == ("body",):
            return problem(400, "malformed", NO_OBJECT)
        malformed = first["type"] == "missing" or first["loc"][:1] == ("path",)
        where = ".".join(str(step) for step in first["loc"][1:])
        said = first["msg"].removeprefix("Value error, ")
        if first["type"] == "literal_error":
            said = said.replace("True", "true").replace("False", "false")  # as JSON writes them
        detail = f"{where}: {said}." if where else f"{said}."
        return problem(400 if malformed else 422, "malformed" if malformed else "out_of_range", detail)

    @app.exception_handler(HTTPException)
    async def of_http(request: Request, error: HTTPException) -> JSONResponse:
        code, detail = OF_HTTP.get(error.status_code, ("http", str(error.detail)))
        headers = dict(error.headers or {})
        if error.status_code == 405:
            headers["Allow"] = ", ".join(methods_of(request))  # the framework names those of one route
        return problem(error.status_code, code, detail, headers)

    @app.exception_handler(Exception)
    async def unexpected(_: Request, error: Exception) -> JSONResponse:
        log.error("a request failed", exc_info=error)
        return problem(500, "internal", "Something went wrong. The log has the details for my admins.")


def methods_of(request: Request) -> list[str]:
    """Returns the methods that a request's address takes."""
    scope = {"type": "http", "path": request.scope["path"]}
    taken = [
        method
        for method in ("GET", "POST", "PUT", "PATCH", "DELETE")
        if any(route.matches(scope | {"method": method})[0] is Match.FULL for route in request.app.routes)
    ]
    return ["GET", "HEAD", *taken[1:]] if "GET" in taken else taken


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Returns the errors that a route may answer with, for the generated document."""
    content = {MEDIA_TYPE: {"schema": {"$ref": f"#/components/schemas/{Problem.__name__}"}}}
    return {str(status): {"description": TITLES[status], "content": content} for status in statuses}
