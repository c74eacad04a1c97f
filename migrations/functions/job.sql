-- Jobs: owed background work. A job is owed in the transaction that makes it due. A process claims it under a fenced
-- lease, renews the lease while it works, and finishes, fails or skips the job.

-- Owes a job, unless it is already owed or has failed for good.
create or replace function relay.owe_job(
    p_kind text, p_key text, p_payload jsonb default '{}', p_due_at timestamptz default '-infinity')
returns void language sql set search_path = relay, extensions, pg_temp as $$
    insert into job (kind, key, payload, due_at) values (p_kind, p_key, p_payload, p_due_at) on conflict do nothing
$$;

-- Owes a job that gathers work. If it is owed already, it becomes due sooner, but not before its pause after a failure
-- ends; if it failed for good, it starts over. Locks the row, so that the process that ends the job sees what came
-- meanwhile.
create or replace function relay.owe_sooner(p_kind text, p_key text, p_payload jsonb, p_due_at timestamptz) returns void
language sql set search_path = relay, extensions, pg_temp as $$
    insert into job as j (kind, key, payload, due_at) values (p_kind, p_key, p_payload, p_due_at)
    on conflict (kind, key) do update set due_at = excluded.due_at, failures = 0, last_error = null, parked_at = null
        where j.parked_at is not null or j.last_error is null and j.due_at > excluded.due_at
$$;

-- Owes a job; one that failed starts over. A process that has it continues.
create or replace function relay.owe_job_anew(p_kind text, p_key text, p_payload jsonb default '{}') returns void
language sql set search_path = relay, extensions, pg_temp as $$
    insert into job (kind, key, payload) values (p_kind, p_key, p_payload)
    on conflict (kind, key) do update set payload = excluded.payload, due_at = '-infinity', failures = 0,
        last_error = null, parked_at = null
$$;

-- The same, for a caller who wants it now.
create or replace function public.relay_owe_job(p_kind text, p_key text) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    select relay.owe_job_anew(p_kind, p_key);
    select 'true'::jsonb
$$;

-- Owes a recurring job for its next time, whatever was owed before; null: it is no longer owed. Locks the row, so
-- that a process that has the job sees what came meanwhile. Bot 0: any bot's processes may do it.
create or replace function relay.owe_next(p_kind text, p_key text, p_bot_id bigint, p_due_at timestamptz) returns void
language sql set search_path = relay, extensions, pg_temp as $$
    delete from job where kind = p_kind and key = p_key and lease_owner is null and p_due_at is null;
    insert into job (kind, key, payload, due_at)
    select p_kind, p_key, case when p_bot_id = 0 then '{}' else jsonb_build_object('bot_id', p_bot_id) end, p_due_at
    where p_due_at is not null
    on conflict (kind, key) do update set due_at = excluded.due_at, payload = excluded.payload, failures = 0,
        last_error = null, parked_at = null
$$;

-- Tests whether memory lets a job run: one that names a thread (thread_id) waits while the memory of its space is paused.
create or replace function relay.is_awake(p_job relay.job) returns boolean
language sql stable set search_path = relay, extensions, pg_temp as $$
    select not p_job.payload ? 'thread_id' or relay.remembers((
        select space_id from thread where id = (p_job.payload ->> 'thread_id')::bigint))
$$;

-- Tests whether a job may be claimed. Ignores times too far ahead to be real (a wrong clock set them): a pause lasts at
-- most 2 hours, a lease at most 15 minutes.
create or replace function relay.is_due(p_job relay.job) returns boolean
language sql stable set search_path = relay, extensions, pg_temp as $$
    select p_job.parked_at is null
        and (p_job.due_at <= now() or p_job.last_error is not null and p_job.due_at > now() + interval '2 hours')
        and (p_job.lease_owner is null or p_job.lease_until < now()
            or p_job.lease_until > now() + interval '15 minutes')
        and relay.is_awake(p_job)
$$;

-- Tests whether any process may do a job, or only this bot's.
create or replace function relay.is_for(p_job relay.job, p_bot_id bigint) returns boolean
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select not p_job.payload ? 'bot_id' or (p_job.payload ->> 'bot_id')::bigint = p_bot_id
$$;

-- Leases due jobs of a kind, longest wait first; with p_key only that one.
create or replace function public.relay_claim_jobs(
    p_kind text, p_key text, p_bot_id bigint, p_worker uuid, p_limit integer, p_lease_seconds integer)
returns jsonb language sql set search_path = relay, extensions, pg_temp as $$
    with claimed as (
        update job set lease_owner = p_worker, lease_until = now() + make_interval(secs => p_lease_seconds),
            fence = fence + 1
        -- As an array, the ids are found once. A joined subquery may run again, and takes more than p_limit.
        where id = any (array(select id from job j
            where kind = p_kind and parked_at is null and key = coalesce(p_key, key) and relay.is_for(j, p_bot_id)
                and (p_key is not null or due_at <= now() or due_at > now() + interval '2 hours')
                and (relay.is_due(j) or p_key is not null and lease_owner is null)
            order by due_at, id limit p_limit for update skip locked)) returning *)
    select coalesce(jsonb_agg(jsonb_build_object('id', id, 'kind', kind, 'key', key, 'payload', payload, 'fence', fence,
        'failures', failures) order by due_at, id), '[]') from claimed
$$;

-- Locks and returns the job that a process holds; all null if it has lost it.
create or replace function relay.hold_job(p_job_id bigint, p_fence bigint) returns relay.job
language sql set search_path = relay, extensions, pg_temp as $$
    select * from job where id = p_job_id and fence = p_fence and lease_owner is not null for update
$$;

-- Renews a job's lease. Returns whether the process still has it.
create or replace function public.relay_renew_job(p_job_id bigint, p_fence bigint, p_lease_seconds integer)
returns jsonb language sql set search_path = relay, extensions, pg_temp as $$
    update job set lease_until = now() + make_interval(secs => p_lease_seconds)
    where id = p_job_id and fence = p_fence and lease_owner is not null returning to_jsonb(true)
$$;

-- Finishes a job. Returns whether the process still had it. Storing a job's result may have finished it already.
create or replace function public.relay_finish_job(p_job_id bigint, p_fence bigint) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    delete from job where id = p_job_id and fence = p_fence and lease_owner is not null returning to_jsonb(true)
$$;

-- Records a failure: the job is retried after a pause, or parked after p_most failures. Returns whether it was parked.
create or replace function public.relay_fail_job(
    p_job_id bigint, p_fence bigint, p_error text, p_retry_seconds double precision, p_most integer)
returns jsonb language sql set search_path = relay, extensions, pg_temp as $$
    update job set failures = failures + 1, last_error = p_error, lease_owner = null, lease_until = null,
        due_at = now() + make_interval(secs => p_retry_seconds),
        parked_at = case when failures + 1 >= p_most then now() end
    where id = p_job_id and fence = p_fence and lease_owner is not null returning to_jsonb(parked_at is not null)
$$;

-- Returns a job that can't be done now to wait, without counting a failure. p_reason: shown on request.
create or replace function public.relay_skip_job(
    p_job_id bigint, p_fence bigint, p_reason text, p_seconds double precision)
returns jsonb language sql set search_path = relay, extensions, pg_temp as $$
    update job set last_error = p_reason, lease_owner = null, lease_until = null,
        due_at = now() + make_interval(secs => p_seconds)
    where id = p_job_id and fence = p_fence and lease_owner is not null returning to_jsonb(true)
$$;

-- Returns the seconds until the next job of a kind may be claimed; null if none waits.
create or replace function public.relay_jobs_rest(p_kind text, p_bot_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select to_jsonb(extract(epoch from min(greatest(now(), due_at, lease_until)) - now())) from job j
    where kind = p_kind and parked_at is null and relay.is_for(j, p_bot_id) and relay.is_awake(j)
$$;

-- Returns an owed job: {failures, last_error, parked}; null if there is none.
create or replace function public.relay_job(p_kind text, p_key text) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('failures', failures, 'last_error', last_error, 'parked', parked_at is not null)
    from job where kind = p_kind and key = p_key
$$;

-- Owes a daily job once, whichever process asks first, and not again within p_rest_seconds; the first time not within a
-- day of the database's first start, unless p_rest_seconds is less than a day. Returns whether it did.
create or replace function public.relay_owe_daily(p_kind text, p_rest_seconds integer) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    insert into duty as d (name, done_at) select p_kind, now()
    where p_rest_seconds < 86400 or exists (select from duty where name = p_kind)
        or (select min(applied_at) from migration) < now() - interval '1 day'
    on conflict (name) do update set done_at = now()
        where d.done_at is null or d.done_at > now() or d.done_at <= now() - make_interval(secs => p_rest_seconds);
    if found then
        perform relay.owe_job_anew(p_kind, '');
    end if;
    return to_jsonb(found);
end $$;

-- Returns the kinds of due jobs that nobody has claimed and this bot's process may do. Two index lookups each; jobs that
-- wait are not read.
create or replace function relay.kinds_owed(p_bot_id bigint) returns text[]
language sql stable set search_path = relay, extensions, pg_temp as $$
    with recursive known as (
        select (select min(kind) from job where parked_at is null) as kind
        union all
        select (select min(kind) from job where parked_at is null and kind > k.kind) from known k
        where k.kind is not null)
    select coalesce(array_agg(kind), '{}') from known k
    where kind is not null and coalesce(
        -- "exists" would be answered by reading all due jobs once.
        (select true from job j
            where j.kind = k.kind and j.parked_at is null and j.due_at <= now()
                and relay.is_due(j) and relay.is_for(j, p_bot_id) limit 1),
        (select true from job j
            where j.kind = k.kind and j.parked_at is null and j.due_at > now() + interval '2 hours'
                and relay.is_due(j) and relay.is_for(j, p_bot_id) limit 1),
        false)
$$;

-- Returns jobs that failed for good in the last p_days: [{kind, jobs, last_error: of the latest}].
create or replace function relay.parked_jobs(p_days integer) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_agg(jsonb_build_object('kind', kind, 'jobs', jobs, 'last_error', last_error) order by kind), '[]')
    from (
        select kind, count(*) as jobs, (array_agg(last_error order by parked_at desc))[1] as last_error from job
        where parked_at > now() - make_interval(days => p_days) group by kind) one
$$;

-- Revokes the leases of jobs whose input is changing.
create or replace function relay.free_jobs(p_kind text, p_keys text[]) returns void
language sql set search_path = relay, extensions, pg_temp as $$
    update job set lease_owner = null, lease_until = null, fence = fence + 1
    where kind = p_kind and key = any (p_keys) and lease_owner is not null
$$;
