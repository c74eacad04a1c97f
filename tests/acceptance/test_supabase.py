"""`relay run` on Supabase: what a turn costs there, and what happens when the project is away or not what it was."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from relay.surfaces.telegram.incoming.intake import OUTAGE
from tests.acceptance.home import open_home
from tests.acceptance.house import House
from tests.standins.supabase import Seen, SupabaseProject
from tests.standins.telegram import Chat

pytestmark = pytest.mark.asyncio(loop_scope="module")

ONE_MORE = pytest.mark.slow("the paused project here, and test_each_fault_is_a_sentence_and_ends_by_itself")
BACKGROUND = (
    "claim", "renew", "release", "tidy", "watch",
    "owe_job", "job", "claim_jobs", "jobs_rest", "finish_job", "fail_job", "skip_job", "renew_job",
    "summary_work", "store_summary", "title_work", "store_title", "spend_writing",
    "spend", "judging_work", "store_judged", "pass_judging", "index_missing",
    "files_gone", "erase_step", "retractions", "sweep_private",
)  # fmt: skip


@pytest.fixture(scope="module")
def project() -> Iterator[SupabaseProject]:
    with SupabaseProject() as project:
        project.migrate()
        yield project


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(project: SupabaseProject) -> AsyncIterator[House]:
    async with open_home(project) as house:
        yield house


@pytest.fixture
def house(shared: House, project: SupabaseProject) -> Iterator[House]:
    shared.quiet()
    yield shared
    project.recover()
    project.restore_keys()


async def once(house: House, chat: Chat, *words: str, timeout: float = 40) -> None:
    """Each word is answered exactly once."""
    await house.answered(chat, *words, timeout=timeout)
    await asyncio.sleep(0.3)
    assert [(word, house.times(chat, word)) for word in words] == [(word, 1) for word in words]


async def settled(house: House) -> None:
    """Waits until every turn is done."""
    await house.until("select count(*) = 0 from relay.turn where status in ('working', 'answered')")


async def turn_calls(house: House, project: SupabaseProject, chat: Chat, text: str = "") -> list[Seen]:
    """The requests that one message causes, in the order they came; the polls of the queue apart."""
    await settled(house)
    project.requests.clear()
    word = await house.asked(chat, text)
    await house.answered(chat, word)
    await settled(house)
    await asyncio.sleep(0.3)
    assert len(project.calls("claim")) <= 1
    return [seen for seen in project.requests if seen.function not in BACKGROUND]


# What it costs


async def test_a_turn_costs_two_round_trips_before_the_model_and_three_after(
    house: House, project: SupabaseProject
) -> None:
    chat = house.guest()
    await house.answered(chat, await house.asked(chat))
    project.gateway.delay = 0.04
    seen = await turn_calls(house, project, chat, "a question of several telling words about the weather in Lisbon")
    assert sorted(one.function for one in seen) == sorted(
        ["intake", "begin", "recall_for", "finish", "deliver", "sent"]
    )
    intake, *pair, finish, deliver, sent = seen
    (asked,) = house.model.requests[-1:]
    assert {one.function for one in pair} == {"begin", "recall_for"}
    assert all(intake.done_at <= one.at for one in pair)
    assert max(one.at for one in pair) < min(one.done_at for one in pair), "at the same time"
    assert max(one.done_at for one in pair) <= asked.at
    assert asked.finished_at <= finish.at
    assert finish.done_at <= deliver.at
    assert deliver.done_at <= sent.at
    assert [one.function for one in (finish, deliver, sent)] == ["finish", "deliver", "sent"]
    (message,) = [one for one in house.tg.calls("sendMessage", chat.id) if one.at >= deliver.at] or [None]
    assert message is not None, "the reply is stored before it is sent"


async def test_a_long_answer_costs_one_more_for_each_further_part(house: House, project: SupabaseProject) -> None:
    chat = house.guest()
    await house.answered(chat, await house.asked(chat))
    await settled(house)
    house.model.rule("at length", "\n\n".join(["A paragraph. " * 40] * 20) + " q0")
    project.requests.clear()
    await house.tg.say(chat, None, "at length please")
    await house.answered(chat, "q0")
    await settled(house)
    parts = len(house.said(chat)) - 1
    assert parts >= 3
    assert len(project.calls("deliver")) == 1
    assert len(project.calls("sending")) == parts - 1
    assert len(project.calls("sent")) == 1


async def test_a_command_costs_little(house: House, project: SupabaseProject) -> None:
    chat = house.guest()
    await settled(house)
    project.requests.clear()
    await house.tg.say(chat, None, "/help")
    await house.tg.wait_reply(chat)
    await settled(house)
    assert [seen.function for seen in project.requests if seen.function not in BACKGROUND] == [
        "intake", "deliver", "sent",
    ]  # fmt: skip


@pytest.mark.slow("test_a_command_costs_little and test_only_what_is_owed_runs_soon")
async def test_an_idle_bot_asks_once_in_five_seconds(house: House, project: SupabaseProject) -> None:
    chat = house.guest()
    await house.answered(chat, await house.asked(chat))
    await asyncio.sleep(0.5)
    project.requests.clear()
    await asyncio.sleep(15.5)
    assert {seen.function for seen in project.requests} <= set(BACKGROUND)
    assert 1 <= len(project.calls("claim")) <= 4
    assert len(project.requests) <= 10, "what is done once a minute may fall into it"
    assert len(project.calls("claim_jobs")) <= 4, "one for each kind"


# What goes wrong


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ("paused", "The Supabase project is paused"),
        pytest.param("rotated", "Supabase does not accept the key (HTTP 401)", marks=ONE_MORE),
        pytest.param(500, "Supabase refused a call: internal error (XX000)", marks=ONE_MORE),
        pytest.param(502, "Supabase has a problem right now (HTTP 502)", marks=ONE_MORE),
        (503, "Supabase has a problem right now (HTTP 503)"),
        pytest.param(429, "Supabase asks for fewer requests right now (HTTP 429)", marks=ONE_MORE),
        pytest.param("disconnect", "Supabase cannot be reached right now", marks=ONE_MORE),
        pytest.param("timeout", "Supabase does not answer right now", marks=ONE_MORE),
        ("lost", "Supabase cannot be reached right now"),
    ],
)
async def test_updates_are_kept_while_the_project_is_away(
    house: House, project: SupabaseProject, fault: int | str, sentence: str
) -> None:
    chat, other = house.guest(), house.room()
    await house.answered(chat, await house.asked(chat))
    await settled(house)
    before, told = len(house.relay.output()), len(house.model.requests)
    if fault == "paused":
        project.pause()
    elif fault == "rotated":
        await asyncio.to_thread(project.rotate_keys)
    else:
        project.fail(fault)
    first, elsewhere = await house.asked(chat), await house.asked(other)
    await house.tg.wait_for(lambda: OUTAGE in house.said(chat) and OUTAGE in house.said(other), timeout=40)
    second = await house.asked(chat)
    await asyncio.sleep(1.5)
    waiting = [update["message"].get("text") for update in house.tg.pending_updates]
    assert [first, elsewhere, second] == waiting, "nothing is acknowledged before it is stored"
    assert len(house.model.requests) == told
    if fault == "rotated":
        await asyncio.to_thread(project.restore_keys)
    project.recover()
    await once(house, chat, first, second, timeout=60)
    await once(house, other, elsewhere)
    assert house.said(chat).count(OUTAGE) == 1
    log = house.relay.output()[before:]
    assert sentence in log
    assert "Traceback" not in log


async def test_a_blip_is_said_to_nobody(house: House, project: SupabaseProject) -> None:
    chat = house.guest()
    await house.answered(chat, await house.asked(chat))
    for kind in (503, "disconnect"):
        for function in ("intake", "begin", "recall_for", "finish", "deliver", "sent"):
            project.fail(kind, times=1, function=function)
        word = await house.asked(chat)
        await once(house, chat, word)
        await settled(house)
        assert all(fault.hits for fault in project.gateway.faults)
        project.recover()
    assert house.said(chat).count(OUTAGE) == 0


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        *(
            (function, kind)
            for function in ("begin", "recall_for", "finish", "deliver", "sent")
            for kind in ("lost", 502)
        ),
        ("finish", "stuck"),  # one that waits for the time limit is enough
    ],
)
async def test_what_fails_within_a_turn_is_repeated(
    house: House, project: SupabaseProject, function: str, kind: int | str
) -> None:
    chat = house.guest()
    fault = project.fail(kind, times=1 if kind == "stuck" else 4, function=function)
    word = await house.asked(chat)
    await once(house, chat, word)
    assert fault.hits >= 1
    assert len(house.model.requests) == 1
    assert house.exchanges(chat) == 1
    following = await house.asked(chat)
    await once(house, chat, following)


@pytest.mark.slow("the project that is away, in the same file")
async def test_an_intake_whose_answer_was_lost_is_taken_up(house: House, project: SupabaseProject) -> None:
    chat = house.guest()
    project.fail("lost", times=1, function="intake")
    word = await house.asked(chat)
    await once(house, chat, word, timeout=60)
    assert house.exchanges(chat) == 1


async def test_an_answer_waits_for_a_project_that_goes_away_meanwhile(house: House, project: SupabaseProject) -> None:
    chat = house.guest()
    house.model.delay = 0.5
    try:
        word = await house.asked(chat)
        await house.model.wait_requests(1)
        project.pause()
        await asyncio.sleep(2.5)
        assert house.times(chat, word) == 0, "what is not stored is not sent"
        project.resume()
        await once(house, chat, word)
        assert len(house.model.requests) == 1
    finally:
        house.model.delay = 0.0


async def test_a_schema_that_changes_under_a_running_bot(house: House, project: SupabaseProject) -> None:
    chat = house.guest()
    await house.answered(chat, await house.asked(chat))
    await settled(house)
    before = len(house.relay.output())
    arguments = project.sql("select oid::regprocedure::text from pg_proc where proname = 'relay_intake'")[0][0]
    reload = "notify pgrst, 'reload schema'"
    project.sql(f"alter function public.{arguments} rename to relay_intake_of_the_future; {reload}")
    try:
        await asyncio.sleep(0.7)
        word = await house.asked(chat)
        await house.tg.wait_for(lambda: OUTAGE in house.said(chat), timeout=20)
        assert house.tg.pending_updates
        await house.tg.wait_for(lambda: "does not have this version's schema" in house.relay.output()[before:])
    finally:
        moved = arguments.replace("relay_intake", "relay_intake_of_the_future")
        project.sql(f"alter function public.{moved} rename to relay_intake; {reload}")
    await once(house, chat, word)
