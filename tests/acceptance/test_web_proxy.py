"""The web app behind Caddy, as deploy/ describes it: the app and its API get through, health and metrics don't.

Needs Caddy, of any version (Debian: apt install caddy). Without it, the test is skipped.
"""

from __future__ import annotations

import shutil
import ssl
import time
from pathlib import Path

import httpx
import pytest

from relay.core.limits import REQUEST_BYTES
from tests.acceptance.harness import OWNER
from tests.acceptance.process_group import free_port
from tests.acceptance.shared_relay import open_relay
from tests.acceptance.test_proxies import caddy, running
from tests.standins.telegram.values import TEST_TOKEN
from tests.unit.test_init_data import sign


@pytest.mark.skipif(not (shutil.which("caddy") and shutil.which("openssl")), reason="there is no caddy here")
async def test_the_app_works_behind_caddy(tmp_path: Path) -> None:
    port, relay = free_port(), free_port()
    command = caddy(tmp_path, port, relay, "Caddyfile.web", 8080)
    url = f"https://localhost:{port}"
    trust = ssl.create_default_context(cafile=str(tmp_path / "localhost.pem"))
    settings = {"RELAY_WEB": "on", "RELAY_WEB_PORT": str(relay), "RELAY_WEB_URL": url}
    with running(command, tmp_path, port):
        async with open_relay(**settings) as own_relay, httpx.AsyncClient(base_url=url, verify=trust) as web:
            await own_relay.tg.wait_for(lambda: "listening over HTTP" in own_relay.relay.output(), 30)
            page = await web.get("/")
            assert page.status_code == 200
            assert "frame-ancestors 'self' https://web.telegram.org" in page.headers["content-security-policy"]
            assert [(await web.get(path)).status_code for path in ("/healthz", "/readyz", "/metrics")] == [404] * 3
            init_data = sign(TEST_TOKEN, user={"id": OWNER}, auth_date=str(int(time.time())))
            opened = await web.post("/api/session", headers={"Authorization": f"tma {init_data}"})
            assert opened.status_code == 201
            web.headers["Authorization"] = f"Bearer {opened.json()['token']}"
            assert (await web.get("/api/me")).json()["userId"] == str(OWNER)
            long = await web.post("/api/memories", content=b"x" * (REQUEST_BYTES + 10))
            assert long.status_code in (413, 502), "502: Caddy before 2.8"
            async with web.stream("GET", "/api/events") as events:
                assert events.status_code == 200
                assert events.headers["content-type"].startswith("text/event-stream")
            assert own_relay.tracebacks() == []
