"""How the app's files are served: compressed, checked for changes, and with a policy that allows nothing else."""

from __future__ import annotations

import gzip
from collections.abc import AsyncIterator

import httpx
import pytest
from starlette.applications import Starlette

from relay.surfaces.http.access.guard import Guard
from relay.surfaces.http.files import STATIC, add_files, read_served


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    app = Starlette()
    add_files(app)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(Guard(app)), base_url="http://relay") as client:
        yield client


async def test_the_page_and_its_modules_have_types_and_security_headers(client: httpx.AsyncClient) -> None:
    for path, kind in (("/", "text/html"), ("/main.js", "text/javascript"), ("/app.css", "text/css")):
        answer = await client.get(path)
        assert (answer.status_code, answer.headers["content-type"].partition(";")[0]) == (200, kind)
        assert "default-src 'self'" in answer.headers["content-security-policy"]
        assert "frame-ancestors 'self' https://web.telegram.org" in answer.headers["content-security-policy"]
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert "x-frame-options" not in answer.headers


async def test_files_are_served_compressed_and_only_if_they_changed(client: httpx.AsyncClient) -> None:
    async with client.stream("GET", "/main.js", headers={"Accept-Encoding": "gzip"}) as answer:
        raw = b"".join([part async for part in answer.aiter_raw()])
    assert gzip.decompress(raw) == read_served(STATIC / "main.js")
    plain = await client.get("/main.js", headers={"Accept-Encoding": "identity"})
    assert b"//" not in plain.content
    assert b"openSession()" in plain.content
    assert plain.content == read_served(STATIC / "main.js")
    for accepted in ("gzip;q=0", "br, GZIP ; q=0.00", "x-gzip"):
        refused = await client.get("/main.js", headers={"Accept-Encoding": accepted})
        assert (refused.content, "content-encoding" in refused.headers) == (plain.content, False), accepted
    packed = await client.get("/main.js", headers={"Accept-Encoding": "br;q=0, GZIP;q=0.5"})
    assert packed.headers["content-encoding"] == "gzip"
    again = await client.get("/main.js", headers={"If-None-Match": plain.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


async def test_other_files_of_the_folder_are_not_served(client: httpx.AsyncClient) -> None:
    for path in ("/index.html", "/lib/manifest.json", "/../app.py", "/kit/", "/nothing.js"):
        assert (await client.get(path)).status_code == 404
