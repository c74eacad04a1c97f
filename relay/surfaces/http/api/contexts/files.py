"""Downloads, and refusals to delete what is in use."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal
from urllib.parse import quote

from fastapi import Response
from pydantic import BaseModel

from relay.core.errors import InUse
from relay.core.models import File
from relay.surfaces.http.problems import ApiError

Format = Literal["json", "md", "jsonl", "zip"]
MEDIA = {
    "md": "text/markdown; charset=utf-8",
    "jsonl": "application/x-ndjson",
    "zip": "application/zip",
}


def download(file: File) -> Response:
    """Returns a file as a response that browsers save under its name."""
    kind = file.name.rpartition(".")[2]
    name = f"attachment; filename*=UTF-8''{quote(file.name)}"
    return Response(file.whole(), media_type=MEDIA[kind], headers={"Content-Disposition": name})


def downloads(*kinds: str) -> dict[int | str, dict[str, Any]]:
    """Returns the responses of a route that also sends files, for the generated document."""
    binary = {"schema": {"type": "string", "format": "binary"}}
    return {200: {"content": {MEDIA[kind].partition(";")[0]: binary for kind in kinds}}}


@contextmanager
def listing_what_holds_it() -> Iterator[None]:
    """Answers 409, with the compositions that hold what should be deleted."""
    try:
        yield
    except InUse as error:
        held = [{"compositionId": f"c{id}", "name": name, "active": active} for id, name, active in error.held]
        raise ApiError(409, "in_use", str(error), error={"code": "in_use", "compositions": held}) from None


def sent(model: BaseModel) -> Response:
    """Returns a model as a response, for routes that answer with several models."""
    return Response(model.model_dump_json(), media_type="application/json")
