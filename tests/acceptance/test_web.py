"""/healthz, /readyz and /metrics of a running bot: what they report, when that changes, and what they never reveal."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio
from prometheus_client.parser import text_string_to_metric_families

from tests.acceptance.harness import OWNER, RelayProcess
from tests.acceptance.shared_relay import SharedRelay, open_relay
from tests.standins.anthropic import Reply
from tests.standins.telegram import Chat

pytestmark = pytest.mark.asyncio(loop_scope="module")

OK = {"database": "ok", "telegram": "ok", "queue": "ok"}
PAGES = ("/healthz", "/readyz", "/metrics")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def module_relay() -> AsyncIterator[SharedRelay]:
    """A Relay whose pages are on any free port and whose log has level DEBUG."""
    async with open_relay(
        RELAY_WEB="on", RELAY_WEB_PORT="0", RELAY_LOG_LEVEL="DEBUG", RELAY_USERS="200001,200002,200003,200004"
    ) as shared_relay:
        yield shared_relay
        assert shared_relay.tracebacks() == []


def lines(shared_relay: SharedRelay) -> list[dict[str, Any]]:
    """Returns the lines of the log, which are JSON."""
    return [json.loads(line) for line in shared_relay.relay.output().splitlines()]


async def until_done(shared_relay: SharedRelay, chat: Chat, turns: int) -> None:
    """Waits until this many turns of a chat have ended."""

    def done() -> int:
        return sum(line["event"] == "turn done" and line["chat_id"] == chat.id for line in lines(shared_relay))

    await shared_relay.tg.wait_for(lambda: done() >= turns)


async def port(shared_relay: SharedRelay) -> int:
    """Returns the port of the pages since the latest start."""

    def listening() -> list[int]:
        told = shared_relay.relay.output().rpartition("relay is running")[2]
        return [json.loads(line)["port"] for line in told.splitlines() if "listening over HTTP" in line]

    return int((await shared_relay.tg.wait_for(listening, 30))[0])


async def get(shared_relay: SharedRelay, path: str, method: str = "GET") -> tuple[int, str, dict[str, str]]:
    """Returns a page's status, text and headers."""
    address = f"http://127.0.0.1:{await port(shared_relay)}{path}"
    async with aiohttp.ClientSession() as session, session.request(method, address) as response:
        return response.status, await response.text(), dict(response.headers)


async def numbers(shared_relay: SharedRelay) -> dict[tuple[str, ...], float]:
    """Parses /metrics as Prometheus does. Returns values by name and labels."""
    _, text, _ = await get(shared_relay, "/metrics")
    families = text_string_to_metric_families(text)
    return {(sample.name, *sample.labels.values()): sample.value for family in families for sample in family.samples}


@contextlib.contextmanager
def halted(shared_relay: SharedRelay) -> Iterator[None]:
    """Stops the database server's processes while the context lasts."""
    postmaster = int((shared_relay.data / "postgres" / "postmaster.pid").read_text().split()[0])
    children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
    processes = [postmaster, *map(int, children)]
    for process in processes:
        os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        for process in processes:
            os.kill(process, signal.SIGCONT)


async def until_counted(shared_relay: SharedRelay, name: str, value: float) -> None:
    """Waits until a metric without labels has this value."""
    async with asyncio.timeout(20):
        while (await numbers(shared_relay))[(name,)] != value:  # noqa: ASYNC110
            await asyncio.sleep(0.2)


async def until_ready(shared_relay: SharedRelay, status: int, timeout: float = 20) -> dict[str, str]:
    """Waits until /readyz has a status. Returns its content."""
    async with asyncio.timeout(timeout):
        while True:
            found, text, _ = await get(shared_relay, "/readyz")
            if found == status:
                return json.loads(text)  # type: ignore[no-any-return]
            await asyncio.sleep(0.1)


async def test_a_working_bot_reports_that_it_is_alive_and_ready(shared_relay: SharedRelay) -> None:
    assert (await get(shared_relay, "/healthz"))[:2] == (200, "ok\n")
    assert await until_ready(shared_relay, 200) == OK
    assert (await get(shared_relay, "/healthz", "HEAD"))[:2] == (200, "")


async def test_other_paths_and_methods_are_refused(shared_relay: SharedRelay) -> None:
    for method, path, status in (
        ("GET", "/nothing", 404), ("GET", "/metrics/../.env", 404), ("GET", "/healthz/", 404), ("POST", "/readyz", 405),
        ("DELETE", "/metrics", 405), ("GET", f"/{'x' * 20_000}", 414),
    ):  # fmt: skip
        found, text, headers = await get(shared_relay, path, method)
        assert found == status, path
        assert len(text) < 200
        assert "aiohttp" not in str(headers).lower()
        assert "python" not in str(headers).lower()
    reader, writer = await asyncio.open_connection("127.0.0.1", await port(shared_relay))
    writer.write(b"what is this?\r\n\r\n")
    async with asyncio.timeout(5):
        answer = (await reader.read()).decode()
    writer.close()
    assert answer.startswith("HTTP/1.1 400")
    assert "aiohttp" not in answer
    assert "this" not in answer, "the response does not repeat the request"
    assert not [line for line in lines(shared_relay) if line["level"] == "error"], "bad requests log no error"


async def test_metrics_count_events_without_revealing_content(shared_relay: SharedRelay) -> None:
    chat = shared_relay.tg.dm(shared_relay.tg.user(200_001, "Marmaduke Featherstone"))
    before = await numbers(shared_relay)
    shared_relay.model.rule("walnut", "Noted. [LEARN: Has a walnut tree called Quercus]")
    shared_relay.model.fault("529", 1)
    await shared_relay.tg.say(chat, None, "my walnut tree")
    await shared_relay.until_said(chat, "Quercus")
    await shared_relay.tg.say(chat, None, "/memory")
    await shared_relay.until_said(chat, "What I know")
    await until_done(shared_relay, chat, 2)
    after = await numbers(shared_relay)

    def grown(*key: str) -> float:
        return after.get(key, 0) - before.get(key, 0)

    assert grown("relay_turns_total", "message", "done") == 1
    assert grown("relay_turns_total", "control", "done") == 1
    assert grown("relay_updates_total", "turn") == 1
    assert grown("relay_deliveries_total", "sent") == 2
    assert grown("relay_model_tokens_total", "output", "claude-sonnet-5-5") > 0
    assert grown("relay_errors_total", "ModelThrottled", "model") == 1
    assert grown("relay_retries_total", "ModelThrottled", "model") == 1
    assert grown("relay_turn_stage_seconds_count", "queue") == 2
    for stage in ("understand", "begin", "recall", "model", "model_first_token", "finish"):
        assert grown("relay_turn_stage_seconds_count", stage) == 1, stage
    assert after[("relay_database_up",)] == 1
    assert after[("relay_turns_free",)] == 64
    shown = "\n".join([re.sub(r" [\d.e+-]+$", "", (await get(shared_relay, path))[1], flags=re.M) for path in PAGES])
    for private in ("walnut", "Quercus", "Marmaduke", "Featherstone", "200001", "Ada", str(OWNER), "relay_test_bot"):
        assert private not in shown, private


async def test_each_log_line_of_a_turn_names_turn_chat_and_topic(shared_relay: SharedRelay) -> None:
    chat = shared_relay.tg.dm(shared_relay.tg.user(200_002, "Ben"))
    room = shared_relay.tg.group(-1000000002002, "Forum", [shared_relay.tg.user(200_002)], True)
    topic = shared_relay.tg.topic(room, "Plans")
    shared_relay.tg.fault("sendMessage", "429", chat_id=chat.id, retry_after=1)
    shared_relay.model.fault("500", 1)
    word = await shared_relay.asked(chat)
    await shared_relay.answered(chat, word)
    other = await shared_relay.asked(room, "@relay_test_bot", topic)
    await shared_relay.answered(room, other)
    await until_done(shared_relay, chat, 1)
    await until_done(shared_relay, room, 1)
    of_turns = [line for line in lines(shared_relay) if "turn_id" in line]
    assert all({"chat_id", "topic_id"} <= line.keys() for line in of_turns)
    here = {line["event"] for line in of_turns if line["chat_id"] == chat.id}
    assert {"heard", "answered", "model call refused", "part waits"} <= here
    assert {line["topic_id"] for line in of_turns if line["chat_id"] == room.id} == {topic}
    assert not [line for line in lines(shared_relay) if "job" in line and "turn_id" in line]
    texts = [line for line in lines(shared_relay) if word in str(line)]
    assert {line["level"] for line in texts} == {"debug"}, "messages appear only in debug lines"


async def test_without_its_database_the_bot_is_alive_but_not_ready(shared_relay: SharedRelay) -> None:
    with halted(shared_relay):
        told = await until_ready(shared_relay, 503)
        assert told["database"] == "does not answer"
        assert (await get(shared_relay, "/healthz"))[0] == 200
        await until_counted(shared_relay, "relay_database_up", 0)
    assert await until_ready(shared_relay, 200, 40) == OK


async def test_a_stopping_bot_reports_that_it_is_not_ready(shared_relay: SharedRelay) -> None:
    chat = shared_relay.tg.dm(shared_relay.tg.user(200_003, "Cid"))
    word = shared_relay.word()
    shared_relay.model.rule(word, Reply(f"Answer: {word}", first_delay=3))
    await shared_relay.tg.say(chat, None, word)
    await shared_relay.model.wait_requests(1)
    process = shared_relay.relay.process
    assert process is not None
    process.send_signal(signal.SIGTERM)
    assert (await until_ready(shared_relay, 503))["process"] == "stopping"
    late = await shared_relay.asked(chat)
    assert (await numbers(shared_relay))[("relay_turns_free",)] == 0
    async with asyncio.timeout(30):
        assert await process.wait() == 0
    assert shared_relay.said(chat) == [f"Answer: {word}"], "only the running answer was finished"
    with pytest.raises(aiohttp.ClientError):
        await get(shared_relay, "/healthz")
    shared_relay.quiet()
    await shared_relay.again()
    await shared_relay.answered(chat, late)
    assert [shared_relay.times(chat, each) for each in (word, late)] == [1, 1]


async def test_an_interrupted_summary_is_not_logged_as_an_error(shared_relay: SharedRelay) -> None:
    chat = shared_relay.tg.dm(shared_relay.tg.user(200_004, "Dee"))
    shared_relay.model.fault("hang", model="haiku", times=None)
    for _ in range(5):
        await shared_relay.answered(chat, await shared_relay.asked(chat))
    await shared_relay.model.wait_requests(1, model="haiku")
    assert await shared_relay.relay.stop() == 0
    assert "CancelledError" not in shared_relay.relay.output()
    shared_relay.quiet()
    await shared_relay.again()


async def test_an_occupied_configured_port_prevents_startup(shared_relay: SharedRelay) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        number = str(taken.getsockname()[1])
        second = RelayProcess(
            shared_relay.relay.environment | {"RELAY_WEB_PORT": number, "RELAY_ADMINS": "", "RELAY_USERS": ""},
            shared_relay.relay.log.with_name("second.log"),
        )
        await second.start()
        assert second.process is not None
        async with asyncio.timeout(30):
            assert await second.process.wait() == 2
    told = second.output()
    assert told.splitlines()[-1].startswith(f"relay: RELAY_WEB_PORT: another program already listens on port {number}")
    assert "becomes its admin" not in told, "no unusable claim link is printed"
    assert "Traceback" not in told


async def test_an_occupied_default_port_does_not_prevent_startup(shared_relay: SharedRelay) -> None:
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # another program already uses the port
            stack.enter_context(socket.create_server(("127.0.0.1", 8080)))
        settings = {key: value for key, value in shared_relay.relay.environment.items() if key != "RELAY_WEB_PORT"}
        second = RelayProcess(settings, shared_relay.relay.log.with_name("third.log"))
        await second.start()
        await shared_relay.tg.wait_for(lambda: "not listening over HTTP" in second.output(), 30)
        chat = shared_relay.tg.dm(shared_relay.tg.user(200_002))
        await shared_relay.answered(chat, await shared_relay.asked(chat))
        assert await second.stop() == 0
    assert "another program already listens on port 8080" in second.output()
