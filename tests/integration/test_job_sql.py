"""Tests jobs: none is lost and none is done twice, whatever happens to the processes that do them."""

from __future__ import annotations

import asyncio
import random
import signal
import subprocess
import sys
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from relay.clients.postgres.database import Postgres
from relay.core.errors import MessengerThrottled, ModelUnavailable
from relay.jobs.kinds import JobKind, NotNow, Retry
from relay.jobs.registry import JobFailed, run_periodic
from relay.jobs.runner import Runner
from relay.memory import migrations
from relay.memory.rows.jobs import ClaimedJob, OwedJob
from relay.memory.rows.status import ParkedJobs
from relay.memory.store import Store
from tests.integration.conftest import TEMPLATE, Server, Sql
from tests.integration.turn_driver import BOT, TurnDriver, message

Another = Callable[[], Store]
ROOT = Path(__file__).parents[2]
JOBS = 300
COUNTING = """
create table public.counted (key text, by uuid);
create function public.relay_count_job(p_job_id bigint, p_fence bigint) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare held job := relay.hold_job(p_job_id, p_fence);
begin
    if held.id is null then return 'false'; end if;
    insert into public.counted values (held.key, held.lease_owner);
    delete from job where id = held.id;
    return 'true';
end $$;
create function public.relay_jobs_left() returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$ select to_jsonb(count(*) > 0) from job $$;
grant all on public.counted to relay;
"""


async def owe(sql: Sql, *keys: str, kind: str = "work") -> None:
    for key in keys:
        await sql("select relay.owe_job(%s, %s)", kind, key)


def runner(store: Store, *fails: Exception, most: int = 3, timeout: float = 60) -> tuple[Runner, list[str]]:
    """Returns a runner for jobs of the kind "work", whose first runs raise `fails`, and the list of done jobs."""
    left, done = list(fails), []

    async def run(job: ClaimedJob) -> bool:
        if left:
            raise left.pop(0)
        if job.key == "slow":
            await asyncio.sleep(60)
        done.append(job.key)
        return True

    return Runner(store, [JobKind("work", run, timeout=timeout, retry=Retry(most=most), at_once=2)]), done


# Two processes, one of which is killed


@pytest.fixture
def counting(embedded: Server) -> Iterator[str]:
    """A database with due jobs of the kind "count", which counts the jobs that are done."""
    name = embedded.create(TEMPLATE)
    url = embedded.url(name, superuser=True)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(COUNTING.encode())
        connection.execute("select relay.owe_job('count', n::text) from generate_series(1, %s) n", [JOBS])
    yield url
    embedded.drop(name)


def begin(url: str, name: uuid.UUID) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.integration.job_worker", url, str(name)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def done_by(worker: subprocess.Popen[str], jobs: int) -> None:
    """Waits until a process has done this many jobs, or has found none left."""
    assert worker.stdout is not None
    for _ in range(jobs):
        worker.stdout.readline()


@pytest.mark.slow("the leases of the same file, and tests/acceptance/test_outbox_kill.py")
def test_killing_processes_neither_loses_nor_repeats_a_job(counting: str) -> None:
    mine, other = uuid.uuid4(), uuid.uuid4()
    workers = [begin(counting, mine), begin(counting, other)]
    cut_off = 0
    try:
        for _ in range(3):
            done_by(workers[0], 1)
            workers[1].send_signal(signal.SIGCONT)
            done_by(workers[0], 4)
            workers[0].kill()
            workers[0].wait()
            workers[1].send_signal(signal.SIGSTOP)  # it would do everything while the other one starts
            with psycopg.connect(counting, autocommit=True) as connection:
                cut_off += len(
                    connection.execute("select key from relay.job where lease_owner = %s", [mine]).fetchall()
                )
            workers[0] = begin(counting, mine)  # its next start releases what it held
        done_by(workers[0], 1)
        workers[1].send_signal(signal.SIGCONT)
        for worker in workers:
            assert worker.wait(60) == 0
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()
    assert cut_off, "some kills must come in the middle of a job"
    with psycopg.connect(counting) as connection:
        rows = connection.execute("select key, by from public.counted").fetchall()
    assert Counter(key for key, _ in rows) == Counter(str(number + 1) for number in range(JOBS))
    assert {by for _, by in rows} == {mine, other}, "both processes must have done some jobs"


async def test_no_more_jobs_or_turns_are_claimed_than_requested(driver: TurnDriver, sql: Sql) -> None:
    await driver.say(*(message(user, "hi") for user in range(1, 20)))
    await sql("update turn set lease_owner = null, lease_until = null")
    await owe(sql, *map(str, range(20)))
    for way in ("hashagg", "hashjoin", "mergejoin", "sort", "material"):
        await sql(f"set enable_{way} = off")
    [(jobs,)] = await sql("select relay_claim_jobs('work', null, null, gen_random_uuid(), 2, 24)")
    assert len(jobs) == 2
    [(claimed,)] = await sql("select relay_claim(%s, gen_random_uuid(), 2, 24)", BOT.id)
    assert len(claimed["turns"]) == 2


@pytest.mark.parametrize("seed", range(6))
async def test_every_job_is_done_once_in_any_order_of_events(sql: Sql, another: Another, seed: int) -> None:
    """Processes claim, finish, fail, skip, lose leases, and report after losing them, in random order."""
    random_ = random.Random(seed)
    stores = [another() for _ in range(3)]
    keys = [str(number) for number in range(9)]
    await owe(sql, *keys)
    done: Counter[str] = Counter()
    held: list[tuple[Store, ClaimedJob]] = []
    while await sql("select 1 from job"):
        store = random_.choice(stores)
        match random_.choice(["claim", "claim", "finish", "finish", "fail", "skip", "late", "dies"]):
            case "claim":
                held += [(store, job) for job in await store.claim_jobs("work", None, random_.randint(1, 3))]
            case "late":
                await sql("update job set lease_until = now() - interval '1 second' where lease_owner is not null")
            case "dies":
                await store.release()
            case act if held:
                place = random_.randrange(len(held))
                by, job = held[place] if random_.random() < 0.2 else held.pop(place)
                if act == "finish":
                    done[job.key] += await by.finish_job(job)
                elif act == "fail":
                    await by.fail_job(job, "away", 0, 1_000)
                else:
                    await by.skip_job(job, "not now", 0)
    assert done == Counter(keys)


# The runner


async def test_a_failed_job_waits_a_random_and_growing_time(store: Store, sql: Sql) -> None:
    await owe(sql, *(str(number) for number in range(8)))
    run, done = runner(store, *(ModelUnavailable() for _ in range(8)))
    assert await run.run_due("work") == 0
    pauses = [row[0] for row in await sql("select extract(epoch from due_at - now())::float from job")]
    assert all(10 < pause < 31 for pause in pauses)
    assert len({round(pause, 2) for pause in pauses}) > 4, "the jobs must not become due at the same time"
    assert Retry(most=9).pauses.pause(60) <= 3600
    assert await run.run_due("work") == 0, "the job is not due yet"
    await sql("update job set due_at = now()")
    assert await run.run_due("work") == 8
    assert sorted(done) == sorted(str(number) for number in range(8))


async def test_a_job_waits_for_hours_if_a_server_asks_for_that(store: Store, sql: Sql) -> None:
    await owe(sql, "a")
    work, done = runner(store, MessengerThrottled(10 * 3600), MessengerThrottled(10 * 3600))
    assert await work.run_due("work") == 0
    assert await sql("select failures, due_at > now() + interval '1 hour' from job") == [(1, True)]
    assert done == []


async def test_a_permanently_failing_job_is_parked_and_reported(store: Store, sql: Sql) -> None:
    await owe(sql, "a")
    run, done = runner(store, ModelUnavailable(), ValueError("Ada's own words"), most=2)
    for _ in range(3):
        await run.run_due("work")
        await sql("update job set due_at = now()")
    assert done == []
    assert await store.job("work", "a") == OwedJob(2, "ValueError", parked=True)
    assert (await store.examine_work()).parked == (ParkedJobs("work", 1, "ValueError"),)
    await sql("select relay.owe_job('work', 'a')")
    assert await run.run_due("work") == 0, "making it due again must not revive a parked job"
    await store.owe_job("work", "a")
    assert await run.run_due("work") == 1
    assert (await store.examine_work()).parked == ()


async def test_an_error_that_cannot_be_retried_parks_the_job_at_once(store: Store, sql: Sql) -> None:
    await owe(sql, "a")

    async def run(_: ClaimedJob) -> bool:
        raise ModelUnavailable

    kind = JobKind("work", run, timeout=60, retry=Retry(most=9, never=(ModelUnavailable,)))
    await Runner(store, [kind]).run_due("work")
    owed = await store.job("work", "a")
    assert owed is not None
    assert (owed.failures, owed.parked) == (1, True)


async def test_a_job_that_cannot_be_done_now_is_tried_again_and_never_parked(store: Store, sql: Sql) -> None:
    await owe(sql, "a")

    async def run(_: ClaimedJob) -> bool:
        raise NotNow("It waits.", 5)

    runner = Runner(store, [JobKind("work", run, timeout=60, retry=Retry(most=1))])
    for _ in range(2):
        assert await runner.run_one("work", "a")
    owed = await store.job("work", "a")
    assert owed is not None
    assert (owed.failures, owed.parked) == (0, False)
    assert 2 < (await store.jobs_rest("work", None) or 0) <= 5


async def test_a_job_that_takes_too_long_is_cancelled(store: Store, sql: Sql) -> None:
    await owe(sql, "slow", "quick")
    run, done = runner(store, timeout=0.3)
    assert await run.run_due("work") == 1
    assert done == ["quick"]
    assert await store.job("work", "slow") == OwedJob(1, "It took too long.", parked=False)


async def test_a_bots_jobs_are_claimed_only_by_that_bot(store: Store, sql: Sql) -> None:
    await sql("select relay.owe_job('work', 'a', '{\"bot_id\": 7}')")
    assert await store.claim_jobs("work", 8, 9) == []
    assert await store.claim_jobs("work", None, 9) == []
    assert (await store.claim(8, 0))[1].owed == ()
    assert (await store.claim(7, 0))[1].owed == ("work",)
    (job,) = await store.claim_jobs("work", 7, 9)
    assert (job.key, job.payload, job.failures) == ("a", {"bot_id": 7}, 0)
    assert (await store.claim(7, 0))[1].owed == (), "the job is already running"


async def test_each_kind_of_due_job_is_named_once(store: Store, sql: Sql) -> None:
    for kind in ("b", "a", "c"):
        await owe(sql, *(str(number) for number in range(5)), kind=kind)
    await sql("update job set due_at = now() + interval '1 hour' where kind = 'c'")
    await sql("update job set parked_at = now() where kind = 'b' and key < '4'")
    assert (await store.claim(7, 0))[1].owed == ("a", "b")


async def test_a_requested_job_runs_early_but_not_if_another_process_has_it(
    store: Store, another: Another, sql: Sql
) -> None:
    await owe(sql, "a", "b")
    run, done = runner(store, ModelUnavailable(), ModelUnavailable())
    await run.run_due("work")
    assert await run.run_one("work", "b")
    assert done == ["b"]
    assert not await run.run_one("work", "b"), "the job is already done"
    assert await another().claim_jobs("work", None, 1, "a")
    assert not await run.run_one("work", "a")


async def test_a_wrong_clock_does_not_delay_a_job_for_long(store: Store, another: Another, sql: Sql) -> None:
    await owe(sql, "a")
    await store.claim_jobs("work", None, 1)
    await sql("update job set lease_until = lease_until + interval '1 hour'")
    (job,) = await another().claim_jobs("work", None, 1)
    await another().fail_job(job, "away", 30, 9)
    await sql("update job set due_at = due_at + interval '1 day'")
    assert await another().claim_jobs("work", None, 1)


async def test_work_due_in_an_older_schema_becomes_jobs(embedded: Server) -> None:
    name = embedded.create()
    place = next(at for at, one in enumerate(migrations.load().migrations) if one.name == "jobs")
    client = Postgres(embedded.url(name))
    await client.open()
    try:
        scripts = migrations.load().scripts()
        for script in scripts[: place + 1]:
            await client.run(script)
        with psycopg.connect(embedded.url(name, superuser=True), autocommit=True) as connection:
            connection.execute("set session_replication_role = replica")
            connection.execute(
                "insert into relay.summary_due (thread_id, session_id, context_from, through_message_id, status, error,"
                " failures) values (1, 2, 3, 40, 'due', null, 0), (1, 2, 3, 50, 'due', 'away', 2),"
                " (1, 2, 3, 30, 'done', null, 0), (1, 2, 3, 20, 'failed', 'away', 8)"
            )
            connection.execute(
                "insert into relay.title_due (session_id, bot_id, status, error, failures)"
                " values (2, 7, 'due', null, 0), (3, 7, 'failed', 'away', 6), (4, 7, 'done', null, 0)"
            )
        for script in scripts[place + 1 :]:
            await client.run(script)
        store = Store(client, str(uuid.uuid4()))
        assert (await store.claim(7, 0))[1].owed == ("summary", "title")
        summaries = await store.claim_jobs("summary", 7, 9)
        assert [(job.key, job.failures) for job in summaries] == [("40", 0), ("50", 2)]
        assert summaries[0].payload == {"session_id": 2, "context_from": 3}
        assert [job.key for job in await store.claim_jobs("title", 7, 9)] == ["2"]
        assert await store.job("title", "3") == OwedJob(6, "away", parked=True)
    finally:
        await client.close()
        embedded.drop(name)


async def test_a_periodic_job_runs_once_per_bot_and_reports_failures(store: Store, another: Another, sql: Sql) -> None:
    swept: list[int] = []
    fails = [ModelUnavailable()]

    def runner_of(store: Store, bot_id: int) -> Runner:
        async def run(_: ClaimedJob) -> bool:
            swept.append(bot_id)
            await asyncio.sleep(0.2)
            if fails:
                raise fails.pop()
            return True

        return Runner(store, [JobKind("sweep", run, timeout=60, retry=Retry(most=2), minutes=3)], bot_id)

    with pytest.raises(JobFailed):
        await run_periodic(runner_of(store, 1), "sweep")
    assert await sql("select key, failures from job") == [("1", 1)]
    await asyncio.gather(*(run_periodic(runner_of(one, 1), "sweep") for one in (store, another())))
    await run_periodic(runner_of(store, 2), "sweep")
    assert swept == [1, 1, 2], "only one of a bot's two processes may run it"
    assert await sql("select id from job") == []
