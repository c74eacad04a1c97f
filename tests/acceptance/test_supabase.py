"""`relay run` on Supabase: what a turn costs, and what happens when the project is unreachable or has changed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from relay.surfaces.telegram.incoming.intake import OUTAGE
from tests.acceptance.shared_relay import SharedRelay
from tests.acceptance.supabase_relay import open_supabase_relay
from tests.standins.supabase import Seen, SupabaseProject
from tests.standins.telegram import Chat

pytestmark = pytest.mark.asyncio(loop_scope="module")

ONE_MORE = pytest.mark.slow("the paused project here, and test_each_fault_gives_one_sentence_and_ends_by_itself")
BACKGROUND = (
    "claim", "renew", "release", "tidy", "watch",
    "owe_job", "job", "claim_jobs", "jobs_rest", "finish_job", "fail_job", "skip_job", "renew_job",
    "summary_work", "store_summary", "title_work", "store_title", "spend_writing",
    "spend", "judging_work", "store_judged", "pass_judging", "index_due", "index_missing",
    "files_gone", "erase_step", "retractions", "sweep_private",
)  # fmt: skip


@pytest.fixture(scope="module")
def project() -> Iterator[SupabaseProject]:
    with SupabaseProject() as project:
        project.migrate()
        yield project


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def module_relay(project: SupabaseProject) -> AsyncIterator[SharedRelay]:
    async with open_supabase_relay(project) as shared_relay:
        yield shared_relay


@pytest.fixture
def shared_relay(module_relay: SharedRelay, project: SupabaseProject) -> Iterator[SharedRelay]:
    module_relay.quiet()
    yield module_relay
    project.recover()
    project.restore_keys()


async def once(shared_relay: SharedRelay, chat: Chat, *words: str, timeout: float = 40) -> None:
    """Asserts that each word is answered exactly once."""
    await shared_relay.answered(chat, *words, timeout=timeout)
    await asyncio.sleep(0.3)
    assert [(word, shared_relay.times(chat, word)) for word in words] == [(word, 1) for word in words]


async def settled(shared_relay: SharedRelay) -> None:
    """Waits until every turn is done."""
    await shared_relay.until("select count(*) = 0 from relay.turn where status in ('working', 'answered')")


async def turn_calls(shared_relay: SharedRelay, project: SupabaseProject, chat: Chat, text: str = "") -> list[Seen]:
    """Returns the requests that one message causes, in order, without the polls of the queue."""
    await settled(shared_relay)
    project.requests.clear()
    word = await shared_relay.asked(chat, text)
    await shared_relay.answered(chat, word)
    await settled(shared_relay)
    await asyncio.sleep(0.3)
    assert len(project.calls("claim")) <= 1
    return [seen for seen in project.requests if seen.function not in BACKGROUND]


# Cost


async def test_a_turn_costs_two_round_trips_before_the_model_and_three_after(
    shared_relay: SharedRelay, project: SupabaseProject
) -> None:
    chat = shared_relay.guest()
    await shared_relay.answered(chat, await shared_relay.asked(chat))
    project.gateway.delay = 0.04
    seen = await turn_calls(
        shared_relay, project, chat, "a question of several telling words about the weather in Lisbon"
    )
    assert sorted(one.function for one in seen) == sorted(
        ["intake", "begin", "recall_for", "finish", "deliver", "sent"]
    )
    intake, *pair, finish, deliver, sent = seen
    (asked,) = shared_relay.model.requests[-1:]
    assert {one.function for one in pair} == {"begin", "recall_for"}
    assert all(intake.done_at <= one.at for one in pair)
    assert max(one.at for one in pair) < min(one.done_at for one in pair), "both run at the same time"
    assert max(one.done_at for one in pair) <= asked.at
    assert asked.finished_at <= finish.at
    assert finish.done_at <= deliver.at
    assert deliver.done_at <= sent.at
    assert [one.function for one in (finish, deliver, sent)] == ["finish", "deliver", "sent"]
    (message,) = [one for one in shared_relay.tg.calls("sendMessage", chat.id) if one.at >= deliver.at] or [None]
    assert message is not None, "the reply is stored before it is sent"


async def test_a_long_answer_costs_one_more_round_trip_for_each_further_part(
    shared_relay: SharedRelay, project: SupabaseProject
) -> None:
    chat = shared_relay.guest()
    await shared_relay.answered(chat, await shared_relay.asked(chat))
    await settled(shared_relay)
    shared_relay.model.rule("at length", "\n\n".join(["A paragraph. " * 40] * 20) + " q0")
    project.requests.clear()
    await shared_relay.tg.say(chat, None, "at length please")
    await shared_relay.answered(chat, "q0")
    await settled(shared_relay)
    parts = len(shared_relay.said(chat)) - 1
    assert parts >= 3
    assert len(project.calls("deliver")) == 1
    assert len(project.calls("sending")) == parts - 1
    assert len(project.calls("sent")) == 1


async def test_a_command_costs_three_round_trips(shared_relay: SharedRelay, project: SupabaseProject) -> None:
    chat = shared_relay.guest()
    await settled(shared_relay)
    project.requests.clear()
    await shared_relay.tg.say(chat, None, "/help")
    await shared_relay.tg.wait_reply(chat)
    await settled(shared_relay)
    assert [seen.function for seen in project.requests if seen.function not in BACKGROUND] == [
        "intake", "deliver", "sent",
    ]  # fmt: skip


@pytest.mark.slow("test_a_command_costs_three_round_trips and test_only_what_is_owed_runs_soon")
async def test_an_idle_bot_asks_the_database_once_in_five_seconds(
    shared_relay: SharedRelay, project: SupabaseProject
) -> None:
    chat = shared_relay.guest()
    await shared_relay.answered(chat, await shared_relay.asked(chat))
    await asyncio.sleep(0.5)
    project.requests.clear()
    await asyncio.sleep(15.5)
    assert {seen.function for seen in project.requests} <= set(BACKGROUND)
    assert 1 <= len(project.calls("claim")) <= 4
    assert len(project.requests) <= 10, "includes jobs that run once a minute"
    assert len(project.calls("claim_jobs")) <= 4, "one call for each kind"


# Faults


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
async def test_updates_are_kept_while_the_project_is_unavailable(
    shared_relay: SharedRelay, project: SupabaseProject, fault: int | str, sentence: str
) -> None:
    chat, other = shared_relay.guest(), shared_relay.room()
    await shared_relay.answered(chat, await shared_relay.asked(chat))
    await settled(shared_relay)
    before, told = len(shared_relay.relay.output()), len(shared_relay.model.requests)
    if fault == "paused":
        project.pause()
    elif fault == "rotated":
        await asyncio.to_thread(project.rotate_keys)
    else:
        project.fail(fault)
    first, elsewhere = await shared_relay.asked(chat), await shared_relay.asked(other)
    await shared_relay.tg.wait_for(
        lambda: OUTAGE in shared_relay.said(chat) and OUTAGE in shared_relay.said(other), timeout=40
    )
    second = await shared_relay.asked(chat)
    await asyncio.sleep(1.5)
    waiting = [update["message"].get("text") for update in shared_relay.tg.pending_updates]
    assert [first, elsewhere, second] == waiting, "nothing is acknowledged before it is stored"
    assert len(shared_relay.model.requests) == told
    if fault == "rotated":
        await asyncio.to_thread(project.restore_keys)
    project.recover()
    await once(shared_relay, chat, first, second, timeout=60)
    await once(shared_relay, other, elsewhere)
    assert shared_relay.said(chat).count(OUTAGE) == 1
    log = shared_relay.relay.output()[before:]
    assert sentence in log
    assert "Traceback" not in log


async def test_single_failed_requests_are_not_mentioned_in_the_chat(
    shared_relay: SharedRelay, project: SupabaseProject
) -> None:
    chat = shared_relay.guest()
    await shared_relay.answered(chat, await shared_relay.asked(chat))
    for kind in (503, "disconnect"):
        for function in ("intake", "begin", "recall_for", "finish", "deliver", "sent"):
            project.fail(kind, times=1, function=function)
        word = await shared_relay.asked(chat)
        await once(shared_relay, chat, word)
        await settled(shared_relay)
        assert all(fault.hits for fault in project.gateway.faults)
        project.recover()
    assert shared_relay.said(chat).count(OUTAGE) == 0


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        *(
            (function, kind)
            for function in ("begin", "recall_for", "finish", "deliver", "sent")
            for kind in ("lost", 502)
        ),
        ("finish", "stuck"),  # one wait for the time limit is enough
    ],
)
async def test_failed_requests_within_a_turn_are_repeated(
    shared_relay: SharedRelay, project: SupabaseProject, function: str, kind: int | str
) -> None:
    chat = shared_relay.guest()
    fault = project.fail(kind, times=1 if kind == "stuck" else 4, function=function)
    word = await shared_relay.asked(chat)
    await once(shared_relay, chat, word)
    assert fault.hits >= 1
    assert len(shared_relay.model.requests) == 1
    assert shared_relay.exchanges(chat) == 1
    following = await shared_relay.asked(chat)
    await once(shared_relay, chat, following)


@pytest.mark.slow("test_updates_are_kept_while_the_project_is_unavailable")
async def test_an_update_is_answered_although_the_response_of_intake_was_lost(
    shared_relay: SharedRelay, project: SupabaseProject
) -> None:
    chat = shared_relay.guest()
    project.fail("lost", times=1, function="intake")
    word = await shared_relay.asked(chat)
    await once(shared_relay, chat, word, timeout=60)
    assert shared_relay.exchanges(chat) == 1


async def test_an_answer_waits_while_the_project_is_paused(shared_relay: SharedRelay, project: SupabaseProject) -> None:
    chat = shared_relay.guest()
    shared_relay.model.delay = 0.5
    try:
        word = await shared_relay.asked(chat)
        await shared_relay.model.wait_requests(1)
        project.pause()
        await asyncio.sleep(2.5)
        assert shared_relay.times(chat, word) == 0, "the answer is not sent before it is stored"
        project.resume()
        await once(shared_relay, chat, word)
        assert len(shared_relay.model.requests) == 1
    finally:
        shared_relay.model.delay = 0.0


async def test_a_running_bot_survives_a_temporary_schema_change(
    shared_relay: SharedRelay, project: SupabaseProject
) -> None:
    chat = shared_relay.guest()
    await shared_relay.answered(chat, await shared_relay.asked(chat))
    await settled(shared_relay)
    before = len(shared_relay.relay.output())
    arguments = project.sql("select oid::regprocedure::text from pg_proc where proname = 'relay_intake'")[0][0]
    reload = "notify pgrst, 'reload schema'"
    project.sql(f"alter function public.{arguments} rename to relay_intake_of_the_future; {reload}")
    try:
        await asyncio.sleep(0.7)
        word = await shared_relay.asked(chat)
        await shared_relay.tg.wait_for(lambda: OUTAGE in shared_relay.said(chat), timeout=20)
        assert shared_relay.tg.pending_updates
        await shared_relay.tg.wait_for(
            lambda: "does not have this version's schema" in shared_relay.relay.output()[before:]
        )
    finally:
        moved = arguments.replace("relay_intake", "relay_intake_of_the_future")
        project.sql(f"alter function public.{moved} rename to relay_intake; {reload}")
    await once(shared_relay, chat, word)
