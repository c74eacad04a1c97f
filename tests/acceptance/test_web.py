"""/healthz, /readyz and /metrics of a running bot: what they say, when they stop saying it, and what they never say."""

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
from tests.acceptance.house import House, open_house
from tests.standins.anthropic import Reply
from tests.standins.telegram import Chat

pytestmark = pytest.mark.asyncio(loop_scope="module")

OK = {"database": "ok", "telegram": "ok", "queue": "ok"}
PAGES = ("/healthz", "/readyz", "/metrics")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared() -> AsyncIterator[House]:
    """A house whose pages are on any free port, and whose log tells everything."""
    async with open_house(
        RELAY_WEB="on", RELAY_WEB_PORT="0", RELAY_LOG_LEVEL="DEBUG", RELAY_USERS="200001,200002,200003,200004"
    ) as house:
        yield house
        assert house.tracebacks() == []


def lines(house: House) -> list[dict[str, Any]]:
    """The log; each line of it is JSON."""
    return [json.loads(line) for line in house.relay.output().splitlines()]


async def until_done(house: House, chat: Chat, turns: int) -> None:
    """Waits until so many turns of a chat have ended."""

    def done() -> int:
        return sum(line["event"] == "turn done" and line["chat_id"] == chat.id for line in lines(house))

    await house.tg.wait_for(lambda: done() >= turns)


async def port(house: House) -> int:
    """Where the pages of the latest start are."""

    def listening() -> list[int]:
        told = house.relay.output().rpartition("relay is running")[2]
        return [json.loads(line)["port"] for line in told.splitlines() if "health and metrics" in line]

    return int((await house.tg.wait_for(listening, 30))[0])


async def get(house: House, path: str, method: str = "GET") -> tuple[int, str, dict[str, str]]:
    """A page: its status, text and headers."""
    address = f"http://127.0.0.1:{await port(house)}{path}"
    async with aiohttp.ClientSession() as session, session.request(method, address) as response:
        return response.status, await response.text(), dict(response.headers)


async def numbers(house: House) -> dict[tuple[str, ...], float]:
    """/metrics, read as Prometheus reads it: values by name and labels."""
    _, text, _ = await get(house, "/metrics")
    families = text_string_to_metric_families(text)
    return {(sample.name, *sample.labels.values()): sample.value for family in families for sample in family.samples}


@contextlib.contextmanager
def halted(house: House) -> Iterator[None]:
    """While this lasts, the database server hangs."""
    postmaster = int((house.data / "postgres" / "postmaster.pid").read_text().split()[0])
    children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
    processes = [postmaster, *map(int, children)]
    for process in processes:
        os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        for process in processes:
            os.kill(process, signal.SIGCONT)


async def until_counted(house: House, name: str, value: float) -> None:
    """Waits until a number without labels is this."""
    async with asyncio.timeout(20):
        while (await numbers(house))[(name,)] != value:  # noqa: ASYNC110
            await asyncio.sleep(0.2)


async def until_ready(house: House, status: int, timeout: float = 20) -> dict[str, str]:
    """Waits until /readyz has a status; what it says then."""
    async with asyncio.timeout(timeout):
        while True:
            found, text, _ = await get(house, "/readyz")
            if found == status:
                return json.loads(text)  # type: ignore[no-any-return]
            await asyncio.sleep(0.1)


async def test_a_bot_that_works_says_so(house: House) -> None:
    assert (await get(house, "/healthz"))[:2] == (200, "ok\n")
    assert await until_ready(house, 200) == OK
    assert (await get(house, "/healthz", "HEAD"))[:2] == (200, "")


async def test_nothing_else_is_there(house: House) -> None:
    for method, path, status in (
        ("GET", "/", 404), ("GET", "/metrics/../.env", 404), ("GET", "/healthz/", 404), ("POST", "/readyz", 405),
        ("DELETE", "/metrics", 405), ("GET", f"/{'x' * 5000}", 400),
    ):  # fmt: skip
        found, text, headers = await get(house, path, method)
        assert found == status, path
        assert len(text) < 200
        assert "aiohttp" not in str(headers).lower()
        assert "python" not in str(headers).lower()
    reader, writer = await asyncio.open_connection("127.0.0.1", await port(house))
    writer.write(b"what is this?\r\n\r\n")
    async with asyncio.timeout(5):
        answer = (await reader.read()).decode()
    writer.close()
    assert answer.startswith("HTTP/1.0 400")
    assert "aiohttp" not in answer
    assert "this" not in answer, "what was sent is not repeated"
    assert not [line for line in lines(house) if line["level"] == "error"], "anybody could fill the log"


async def test_what_happened_is_counted_and_nothing_of_it_is_told(house: House) -> None:
    chat = house.tg.dm(house.tg.user(200_001, "Marmaduke Featherstone"))
    before = await numbers(house)
    house.model.rule("walnut", "Noted. [LEARN: Has a walnut tree called Quercus]")
    house.model.fault("529", 1)
    await house.tg.say(chat, None, "my walnut tree")
    await house.until_said(chat, "Quercus")
    await house.tg.say(chat, None, "/memory")
    await house.until_said(chat, "What I know")
    await until_done(house, chat, 2)
    after = await numbers(house)

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
    shown = "\n".join([re.sub(r" [\d.e+-]+$", "", (await get(house, path))[1], flags=re.M) for path in PAGES])
    for private in ("walnut", "Quercus", "Marmaduke", "Featherstone", "200001", "Ada", str(OWNER), "relay_test_bot"):
        assert private not in shown, private


async def test_each_line_of_a_turn_names_it_whole(house: House) -> None:
    chat = house.tg.dm(house.tg.user(200_002, "Ben"))
    room = house.tg.group(-1000000002002, "Forum", [house.tg.user(200_002)], True)
    topic = house.tg.topic(room, "Plans")
    house.tg.fault("sendMessage", "429", chat_id=chat.id, retry_after=1)
    house.model.fault("500", 1)
    word = await house.asked(chat)
    await house.answered(chat, word)
    other = await house.asked(room, "@relay_test_bot", topic)
    await house.answered(room, other)
    await until_done(house, chat, 1)
    await until_done(house, room, 1)
    of_turns = [line for line in lines(house) if "turn_id" in line]
    assert all({"chat_id", "topic_id"} <= line.keys() for line in of_turns)
    here = {line["event"] for line in of_turns if line["chat_id"] == chat.id}
    assert {"heard", "answered", "model call refused", "part waits"} <= here
    assert {line["topic_id"] for line in of_turns if line["chat_id"] == room.id} == {topic}
    assert not [line for line in lines(house) if "job" in line and "turn_id" in line]
    texts = [line for line in lines(house) if word in str(line)]
    assert {line["level"] for line in texts} == {"debug"}, "what people say is in no other line"


async def test_a_database_that_is_away_makes_it_not_ready_but_alive(house: House) -> None:
    with halted(house):
        told = await until_ready(house, 503)
        assert told["database"] == "does not answer"
        assert (await get(house, "/healthz"))[0] == 200
        await until_counted(house, "relay_database_up", 0)
    assert await until_ready(house, 200, 40) == OK


async def test_while_it_stops_nobody_is_sent_to_it_and_it_still_tells_so(house: House) -> None:
    chat = house.tg.dm(house.tg.user(200_003, "Cid"))
    word = house.word()
    house.model.rule(word, Reply(f"Answer: {word}", first_delay=3))
    await house.tg.say(chat, None, word)
    await house.model.wait_requests(1)
    process = house.relay.process
    assert process is not None
    process.send_signal(signal.SIGTERM)
    assert (await until_ready(house, 503))["process"] == "stopping"
    late = await house.asked(chat)
    assert (await numbers(house))[("relay_turns_free",)] == 0
    async with asyncio.timeout(30):
        assert await process.wait() == 0
    assert house.said(chat) == [f"Answer: {word}"], "it let the running answer end, and took up no other"
    with pytest.raises(aiohttp.ClientError):
        await get(house, "/healthz")
    house.quiet()
    await house.again()
    await house.answered(chat, late)
    assert [house.times(chat, each) for each in (word, late)] == [1, 1]


async def test_a_summary_that_is_cut_off_is_no_error(house: House) -> None:
    chat = house.tg.dm(house.tg.user(200_004, "Dee"))
    house.model.fault("hang", model="haiku", times=None)
    for _ in range(5):
        await house.answered(chat, await house.asked(chat))
    await house.model.wait_requests(1, model="haiku")
    assert await house.relay.stop() == 0
    assert "CancelledError" not in house.relay.output()
    house.quiet()
    await house.again()


async def test_a_port_that_is_taken(house: House) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        number = str(taken.getsockname()[1])
        second = RelayProcess(
            house.relay.environment | {"RELAY_WEB_PORT": number, "RELAY_ADMINS": "", "RELAY_USERS": ""},
            house.relay.log.with_name("second.log"),
        )
        await second.start()
        assert second.process is not None
        async with asyncio.timeout(30):
            assert await second.process.wait() == 2
    told = second.output()
    assert told.splitlines()[-1].startswith(f"relay: RELAY_WEB_PORT: another program listens on port {number}")
    assert "becomes its owner" not in told, "a link that nobody could use"
    assert "Traceback" not in told


async def test_the_usual_port_is_nobodys_wish_so_the_bot_does_without(house: House) -> None:
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # somebody has it already: as well
            stack.enter_context(socket.create_server(("127.0.0.1", 8080)))
        settings = {key: value for key, value in house.relay.environment.items() if key != "RELAY_WEB_PORT"}
        second = RelayProcess(settings, house.relay.log.with_name("third.log"))
        await second.start()
        await house.tg.wait_for(lambda: "there is no health and no metrics page" in second.output(), 30)
        chat = house.tg.dm(house.tg.user(200_002))
        await house.answered(chat, await house.asked(chat))
        assert await second.stop() == 0
    assert "another program listens on port 8080" in second.output()
