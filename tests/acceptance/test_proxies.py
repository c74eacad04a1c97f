"""The proxies of deploy/ in front of a running Relay: Telegram gets through; slow or foreign requests don't.

Needs nginx and Caddy, of any version (Debian: apt install nginx-light caddy). A missing one is skipped.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import ssl
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import pytest
import pytest_asyncio

from tests.acceptance.process_group import free_port
from tests.acceptance.shared_relay import SharedRelay, open_relay

pytestmark = pytest.mark.asyncio(loop_scope="module")

DEPLOY = Path(__file__).parents[2] / "deploy"
HALF = b"POST /telegram HTTP/1.1\r\nHost: localhost\r\nX-Telegram-Bot-Api-Secret-Token: x\r\nContent-Le"
SECRET = {"X-Telegram-Bot-Api-Secret-Token": "no secret of ours"}
NGINX = """daemon off; pid {folder}/pid; error_log stderr;
events {{ worker_connections 768; }}
http {{
    access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/f;
    uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
    include {folder}/relay.conf;
}}
"""


@dataclass(frozen=True)
class Proxy:
    """A running proxy, and the Relay behind it."""

    shared_relay: SharedRelay
    port: int
    trust: ssl.SSLContext

    async def status(self, method: str = "POST", path: str = "/telegram", **more: object) -> int:
        """Returns the status of its answer to a request."""
        url = f"https://localhost:{self.port}{path}"
        async with (
            aiohttp.ClientSession() as session,
            session.request(method, url, ssl=self.trust, **more) as response,  # type: ignore[arg-type]
        ):
            return response.status

    async def half_sent(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Opens a connection and sends half a head."""
        reader, writer = await asyncio.open_connection("localhost", self.port, ssl=self.trust)
        writer.write(HALF)
        await writer.drain()
        return reader, writer


def certify(folder: Path) -> tuple[Path, Path]:
    """Makes a certificate for localhost. Returns it and its key."""
    certificate, key = folder / "localhost.pem", folder / "localhost.key"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    subprocess.run([*command, "-keyout", key, "-out", certificate, *subject], check=True, capture_output=True)
    return certificate, key


def nginx(folder: Path, port: int, relay: int) -> list[str]:
    """Returns the command that runs nginx with the example, adapted to this machine."""
    certificate, key = certify(folder)
    example = (DEPLOY / "nginx.conf").read_text("utf-8")
    for written, meant in (
        ("listen 443 ssl", f"listen {port} ssl"),
        ("/etc/letsencrypt/live/relay.example.org/fullchain.pem", str(certificate)),
        ("/etc/letsencrypt/live/relay.example.org/privkey.pem", str(key)),
        ("relay.example.org", "localhost"),
        ("127.0.0.1:8081", f"127.0.0.1:{relay}"),
    ):
        assert written in example
        example = example.replace(written, meant)
    (folder / "relay.conf").write_text(example)
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder))
    command = ["nginx", "-e", "stderr", "-p", str(folder), "-c", str(folder / "nginx.conf")]
    subprocess.run([*command, "-t"], check=True, timeout=20)
    return command


def caddy(folder: Path, port: int, relay: int, name: str = "Caddyfile", usual: int = 8081) -> list[str]:
    """Returns the command that runs Caddy with an example, adapted to this machine. `usual` is the port in the
    example."""
    certificate, key = certify(folder)
    check = ["caddy", "validate", "--adapter", "caddyfile", "--config"]
    subprocess.run([*check, DEPLOY / name], check=True, timeout=20, env={"HOME": str(folder)})
    example = (DEPLOY / name).read_text("utf-8")
    for written, meant in (
        ("\n{\n", "\n{\n\tadmin off\n\tauto_https disable_redirects\n"),
        ("relay.example.org {", f"https://localhost:{port} {{\n\ttls {certificate} {key}"),
        (f"127.0.0.1:{usual}", f"127.0.0.1:{relay}"),
    ):
        assert written in example
        example = example.replace(written, meant, 1)
    (folder / "Caddyfile").write_text(example)
    return ["caddy", "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]


@contextlib.contextmanager
def running(command: list[str], folder: Path, port: int) -> Iterator[None]:
    """Runs a proxy and yields once it listens."""
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(
            command, stdout=log, stderr=log, env={"HOME": str(folder), "PATH": "/usr/sbin:/usr/bin:/bin"}
        ) as process,
    ):
        try:
            until = time.monotonic() + 20
            while subprocess.run(["bash", "-c", f"</dev/tcp/localhost/{port}"], capture_output=True).returncode:
                assert time.monotonic() < until, (folder / "log").read_text()
                time.sleep(0.1)
            yield
        finally:
            process.terminate()


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=[nginx, caddy], ids=["nginx", "caddy"])
async def proxy(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Proxy]:
    name = request.param.__name__
    if not (shutil.which(name) and shutil.which("openssl")):
        pytest.skip(f"there is no {name} here")
    folder, port, relay = tmp_path_factory.mktemp(name), free_port(), free_port()
    command = request.param(folder, port, relay)
    address = {"RELAY_WEBHOOK_URL": f"https://localhost:{port}/telegram", "RELAY_WEBHOOK_PORT": str(relay)}
    trust = ssl.create_default_context(cafile=str(folder / "localhost.pem"))
    with running(command, folder, port):
        async with open_relay(start=False, **address) as shared_relay:
            shared_relay.tg.queue.trust = trust
            await shared_relay.relay.start()
            await shared_relay.tg.wait_for(lambda: shared_relay.tg.queue.webhook.get("url"), 30)
            yield Proxy(shared_relay, port, trust)
            assert shared_relay.tracebacks() == []


async def test_deliveries_by_telegram_pass_the_proxy(proxy: Proxy) -> None:
    chat = proxy.shared_relay.guest()
    for _ in range(3):
        await proxy.shared_relay.answered(chat, await proxy.shared_relay.asked(chat))
    assert not proxy.shared_relay.tg.queue.webhook.get("last_error_message")


async def test_other_requests_do_not_reach_relay(proxy: Proxy) -> None:
    assert await proxy.status("GET", "/") == 404
    assert await proxy.status("POST", "/healthz") == 404
    assert await proxy.status("POST", json={}) == 404, "requests without a secret are refused"
    assert await proxy.status("GET") in (404, 405)
    assert await proxy.status(headers=SECRET, data=b"x" * 1_100_000) in (413, 502), "502: Caddy before 2.8"
    assert await proxy.status(headers=SECRET | {"X-Long": "x" * 40_000}) in (400, 431)
    assert await proxy.status(headers=SECRET, json={}) == 401, "Relay's own answer to a wrong secret"


async def test_half_sent_headers_are_disconnected_and_delay_nobody(proxy: Proxy) -> None:
    held = [await proxy.half_sent() for _ in range(120)]
    chat = proxy.shared_relay.guest()
    await proxy.shared_relay.answered(chat, await proxy.shared_relay.asked(chat))
    try:
        async with asyncio.timeout(15):  # three seconds on a quiet machine
            for reader, _ in held:
                await reader.read()
    finally:
        for _, writer in held:
            writer.close()
    await proxy.shared_relay.answered(chat, await proxy.shared_relay.asked(chat))


async def test_a_request_without_its_body_does_not_reach_relay(proxy: Proxy) -> None:
    held = []
    for _ in range(40):
        reader, writer = await asyncio.open_connection("localhost", proxy.port, ssl=proxy.trust)
        writer.write(HALF + b"ngth: 1000\r\n\r\n{")
        held.append((reader, writer))
    chat = proxy.shared_relay.guest()
    await proxy.shared_relay.answered(chat, await proxy.shared_relay.asked(chat))
    try:
        async with asyncio.timeout(40):
            for reader, _ in held:
                await reader.read()
    finally:
        for _, writer in held:
            writer.close()
