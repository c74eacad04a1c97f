"""The app's files: read and compressed once. Browsers check each time whether they have changed."""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
import re
from collections.abc import Awaitable, Callable
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response

STATIC = Path(__file__).parent / "static"
SERVED = (".html", ".css", ".js", ".svg")
FOR_READERS = re.compile(rb"^\s*(?:(?://.*|/\*.*\*/)\n)?", re.MULTILINE)
"""The parts of a file that only readers of the source need: lines of comments, empty lines, and indentation."""
BETWEEN_SIGNS = re.compile(rb"(?<=[:,{};])\s+|\s+(?=[{}])|;\s*(?=\})")
"""Further parts of a style sheet that only its readers need."""
AFTER_SIGNS = re.compile(rb"(?<=[{(\[;])\n|(?<=[)}\]\"`],)\n|(?<=>)\n(?=[<$])")
"""Line breaks of a module that only its readers need. A line of text or one that ends with a comment keeps its own."""

NO_WEIGHT = re.compile(r"\s*q=0(?:\.0*)?\s*", re.IGNORECASE)
"""The weight of an encoding that a client refuses."""


def add_files(app: Starlette) -> None:
    """Adds a route for each file of the app, and `/` for its page."""
    for file in sorted(STATIC.rglob("*.*")):
        if file.suffix in SERVED:
            path = f"/{file.relative_to(STATIC).as_posix()}"
            app.add_route("/" if path == "/index.html" else path, _serve(file), ["GET"], include_in_schema=False)


def read_served(file: Path) -> bytes:
    """Returns the served content of a file: modules and styles without what only readers of the source need."""
    whole = file.read_bytes()
    if file.suffix not in (".js", ".css") or file.parent.name == "lib":
        return whole
    served = FOR_READERS.sub(b"", whole)
    return (BETWEEN_SIGNS if file.suffix == ".css" else AFTER_SIGNS).sub(b"", served)


def takes_gzip(accepted: str) -> bool:
    """Tests whether an `Accept-Encoding` header names gzip. `gzip;q=0` refuses it."""
    given = (one.partition(";") for one in accepted.split(","))
    return any(name.strip().lower() == "gzip" and not NO_WEIGHT.fullmatch(weight) for name, _, weight in given)


def _serve(file: Path) -> Callable[[Request], Awaitable[Response]]:
    whole = read_served(file)
    packed = gzip.compress(whole, mtime=0)
    kind = "text/javascript" if file.suffix == ".js" else mimetypes.guess_type(file.name)[0]
    headers = {
        "Cache-Control": "no-cache",
        "Vary": "Accept-Encoding",
        "ETag": f'"{hashlib.sha256(whole).hexdigest()[:20]}"',
    }

    async def serve(request: Request) -> Response:
        if headers["ETag"] in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        if takes_gzip(request.headers.get("accept-encoding", "")):
            return Response(packed, headers={**headers, "Content-Encoding": "gzip"}, media_type=kind)
        return Response(whole, headers=headers, media_type=kind)

    return serve
