"""The document that describes the API, and a small page that shows it, without a script."""

from __future__ import annotations

import asyncio
import re
from html import escape
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.openapi.utils import get_openapi
from fastapi.responses import HTMLResponse, JSONResponse

from relay.core.program import pause_collections
from relay.surfaces.http.access.idempotency import HEADER, LONGEST_KEY, REPLAYED, SECRETS
from relay.surfaces.http.problems import Problem, problems

router = APIRouter(tags=["docs"], include_in_schema=False)
STYLE = Path(__file__).with_name("docs.css").read_bytes()
KEY = {
    "name": HEADER,
    "in": "header",
    "description": "A request sent again with the same key within a day is carried out only once.",
    "schema": {"type": "string", "minLength": 1, "maxLength": LONGEST_KEY},
}
AGAIN = {
    REPLAYED: {
        "description": "true: the response to an earlier request.",
        "schema": {"type": "string", "const": "true"},
    }
}


@router.get("/openapi.json")
async def show_document(request: Request) -> JSONResponse:
    """Returns the document."""
    return JSONResponse(await describe(request.app))


async def describe(app: FastAPI) -> dict[str, Any]:
    """Returns the document. It is made at the first request, in a thread, because that takes half a second."""
    with pause_collections():
        return await asyncio.to_thread(make_document, app)


def make_document(app: FastAPI) -> dict[str, Any]:
    """Returns what FastAPI finds in the routes, with what `Guard` and `Idempotency` do."""
    if app.openapi_schema is None:
        document = get_openapi(title=app.title, version=app.version, routes=app.routes)
        schemas = document["components"]["schemas"]
        del schemas["HTTPValidationError"], schemas["ValidationError"]
        problem = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
        schemas |= problem.pop("$defs") | {Problem.__name__: problem}
        for path, operations in document["paths"].items():
            for method, operation in operations.items():
                _complete(path, method, operation)
        app.openapi_schema = document
    return app.openapi_schema


def _complete(path: str, method: str, operation: dict[str, Any]) -> None:
    about = operation.get("description", operation["summary"])
    operation["summary"] = re.split(r"\.( |$)", " ".join(about.split()))[0]
    responses = operation["responses"]
    if "HTTPValidationError" in str(responses.get("422")):
        del responses["422"]  # FastAPI adds it to every route with parameters
    if "requestBody" in operation:
        responses |= problems(408, 413)
    if method == "post" and path not in SECRETS:
        operation.setdefault("parameters", []).append(KEY)
        for status, response in responses.items():
            if status.startswith("2"):
                response["headers"] = AGAIN


@router.get("/docs", response_class=HTMLResponse)
async def show_docs(request: Request) -> str:
    """Lists all routes with their parameters, bodies and responses."""
    document = await describe(request.app)
    routes = [
        _route(path, method, operation)
        for path, operations in sorted(document["paths"].items())
        for method, operation in operations.items()
    ]
    schemas = [_schema(name, schema) for name, schema in sorted(document["components"]["schemas"].items())]
    version = escape(document["info"]["version"])
    return (
        "<!doctype html><html lang=en><head><meta charset=utf-8><title>Relay: API</title>"
        '<meta name=viewport content="width=device-width, initial-scale=1"><link rel=stylesheet href="/api/docs.css">'
        '<link rel=icon href="/icon.svg">'
        f"</head><body><main><h1>Relay {version}: API</h1><p>Programs read "
        '<a href="/api/openapi.json">/api/openapi.json</a>. Get a token with '
        "<code>relay token new</code> and send it as <code>Authorization: Bearer …</code>.</p>"
        f"<h2>Routes</h2>{''.join(routes)}<h2>Types</h2>{''.join(schemas)}</main></body></html>"
    )


@router.get("/docs.css")
async def show_style() -> Response:
    """Returns the style of the list of routes."""
    return Response(STYLE, media_type="text/css")


def _route(path: str, method: str, operation: dict[str, Any]) -> str:
    parameters = [
        f"<li><code>{escape(one['name'])}</code> {_type(one['schema'])} {escape(one.get('description', ''))}</li>"
        for one in operation.get("parameters", ())
    ]
    bodies = [_content("Body", operation.get("requestBody", {}))]
    bodies += [_content(code, one) for code, one in operation["responses"].items() if code.startswith("2")]
    errors = ", ".join(code for code in operation["responses"] if not code.startswith("2"))
    text = escape(operation.get("description", operation["summary"]))
    return (
        f"<section><h3><b>{method.upper()}</b> <code>{escape(path)}</code></h3><p>{text}</p>"
        f"<ul>{''.join(parameters)}{''.join(bodies)}<li>Errors: {errors}</li></ul></section>"
    )


def _content(name: str, body: dict[str, Any]) -> str:
    kinds = [
        f"{escape(kind)} {_type(content['schema'])}" if content.get("schema") else escape(kind)
        for kind, content in body.get("content", {}).items()
    ]
    return f"<li>{escape(name)}: {', '.join(kinds) or 'empty'}</li>" if body else ""


def _schema(name: str, schema: dict[str, Any]) -> str:
    required = schema.get("required", ())
    fields = [
        f"<li><code>{escape(field)}</code>{'' if field in required else '?'} {_type(one)} "
        f"{escape(one.get('description', ''))}</li>"
        for field, one in schema.get("properties", {}).items()
    ]
    text = escape(schema.get("description", ""))
    return f'<section id="{escape(name)}"><h3>{escape(name)}</h3><p>{text}</p><ul>{"".join(fields)}</ul></section>'


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        name = escape(schema["$ref"].rsplit("/", 1)[-1])
        return f'<a href="#{name}">{name}</a>'
    if several := schema.get("anyOf"):
        return " or ".join(map(_type, several))
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    if "enum" in schema:
        return " | ".join(escape(str(one)) for one in schema["enum"])
    return escape(" ".join(str(schema[key]) for key in ("type", "format", "const") if key in schema) or "any")
