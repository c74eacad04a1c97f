-- Jobs: background work that is owed. Whatever makes it due owes it in the same transaction; a process claims it under a
-- lease with a fence, renews that while it works, and finishes, fails or skips it.

-- Owes a job, unless it is owed already or has failed for good.
create or replace function relay.owe_job(
    p_kind text, p_key text, p_payload jsonb default '{}', p_due_at timestamptz default '-infinity')
returns void
language sql set search_path = relay, extensions, pg_temp as $$
    insert into job (kind, key, payload, due_at) values (p_kind, p_key, p_payload, p_due_at) on conflict do nothing
$$;

-- Owes a job, and if it failed, from the beginning. Whoever is at it goes on.
create or replace function relay.owe_job_anew(p_kind text, p_key text, p_payload jsonb default '{}') returns void
language sql set search_path = relay, extensions, pg_temp as $$
    insert into job (kind, key, payload) values (p_kind, p_key, p_payload)
    on conflict (kind, key) do update set payload = excluded.payload, due_at = '-infinity', failures = 0,
        last_error = null, parked_at = null
$$;

-- The same for whoever asks for it now.
create or replace function public.relay_owe_job(p_kind text, p_key text) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    select relay.owe_job_anew(p_kind, p_key);
    select 'true'::jsonb
$$;

-- Whether a job may be taken up now. Times so far ahead that only a clock that was wrong can have set them count for
-- nothing: a pause after a failure is at most 2 hours, a lease at most 15 minutes.
create or replace function relay.is_due(p_job relay.job) returns boolean
language sql stable set search_path = relay, extensions, pg_temp as $$
    select p_job.parked_at is null
        and (p_job.due_at <= now() or p_job.last_error is not null and p_job.due_at > now() + interval '2 hours')
        and (p_job.lease_owner is null or p_job.lease_until < now()
            or p_job.lease_until > now() + interval '15 minutes')
$$;

-- Whether a job is any process's, or that of a bot.
create or replace function relay.is_for(p_job relay.job, p_bot_id bigint) returns boolean
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select not p_job.payload ? 'bot_id' or (p_job.payload ->> 'bot_id')::bigint = p_bot_id
$$;

-- Leases jobs of a kind that are due, the one with p_key alone if that is given, those that have waited longest first:
-- [{id, kind, key, payload, fence, failures}].
create or replace function public.relay_claim_jobs(
    p_kind text, p_key text, p_bot_id bigint, p_worker uuid, p_limit integer, p_lease_seconds integer)
returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    with claimed as (
        update job set lease_owner = p_worker, lease_until = now() + make_interval(secs => p_lease_seconds),
            fence = fence + 1
        where id in (
            select id from job j
            where kind = p_kind and parked_at is null and key = coalesce(p_key, key) and relay.is_for(j, p_bot_id)
                and (relay.is_due(j) or p_key is not null and lease_owner is null)
            order by due_at, id limit p_limit for update skip locked)
        returning *)
    select coalesce(jsonb_agg(jsonb_build_object('id', id, 'kind', kind, 'key', key, 'payload', payload, 'fence', fence,
        'failures', failures) order by due_at, id), '[]') from claimed
$$;

-- The job that a process holds, locked; all null when it has lost it.
create or replace function relay.hold_job(p_job_id bigint, p_fence bigint) returns relay.job
language sql set search_path = relay, extensions, pg_temp as $$
    select * from job where id = p_job_id and fence = p_fence and lease_owner is not null for update
$$;

-- Prolongs the lease of a job. Whether the process still has it.
create or replace function public.relay_renew_job(p_job_id bigint, p_fence bigint, p_lease_seconds integer)
returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    with renewed as (
        update job set lease_until = now() + make_interval(secs => p_lease_seconds)
        where id = p_job_id and fence = p_fence and lease_owner is not null returning 1)
    select to_jsonb(exists (select from renewed))
$$;

-- A job is done. Whether the process still had it; where its result was stored, it was finished with that.
create or replace function public.relay_finish_job(p_job_id bigint, p_fence bigint) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    with done as (
        delete from job where id = p_job_id and fence = p_fence and lease_owner is not null returning 1)
    select to_jsonb(exists (select from done))
$$;

-- A job failed: it is tried again after a pause, or (p_most times) parked. Whether it was parked.
create or replace function public.relay_fail_job(
    p_job_id bigint, p_fence bigint, p_error text, p_retry_seconds double precision, p_most integer)
returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    with failed as (
        update job set failures = failures + 1, last_error = p_error, lease_owner = null, lease_until = null,
            due_at = now() + make_interval(secs => p_retry_seconds),
            parked_at = case when failures + 1 >= p_most then now() end
        where id = p_job_id and fence = p_fence and lease_owner is not null
        returning parked_at)
    select to_jsonb(exists (select from failed where parked_at is not null))
$$;

-- A job cannot be done now, through no fault of its own: it is given back and waits. p_reason tells who asks why.
create or replace function public.relay_skip_job(
    p_job_id bigint, p_fence bigint, p_reason text, p_seconds double precision)
returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    with skipped as (
        update job set last_error = p_reason, lease_owner = null, lease_until = null,
            due_at = now() + make_interval(secs => p_seconds)
        where id = p_job_id and fence = p_fence and lease_owner is not null
        returning 1)
    select to_jsonb(exists (select from skipped))
$$;

-- A job that is owed: {failures, last_error, parked}; null when there is none (any more).
create or replace function public.relay_job(p_kind text, p_key text) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('failures', failures, 'last_error', last_error, 'parked', parked_at is not null)
    from job where kind = p_kind and key = p_key
$$;

-- Owes what is done once a day, whichever process's clock asks first: not again within p_rest_seconds. Whether it did.
create or replace function public.relay_owe_daily(p_kind text, p_rest_seconds integer) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    insert into duty as d (name, done_at) values (p_kind, now())
    on conflict (name) do update set done_at = now()
        where d.done_at is null or d.done_at > now() or d.done_at <= now() - make_interval(secs => p_rest_seconds);
    if found then
        perform relay.owe_job_anew(p_kind, '');
    end if;
    return to_jsonb(found);
end $$;

-- The kinds of which a job is due that nobody does, and which a bot's process may do. One look at the index for each.
create or replace function relay.kinds_owed(p_bot_id bigint) returns text[]
language sql stable set search_path = relay, extensions, pg_temp as $$
    with recursive known as (
        select (select min(kind) from job where parked_at is null) as kind
        union all
        select (select min(kind) from job where parked_at is null and kind > k.kind) from known k
        where k.kind is not null)
    select coalesce(array_agg(kind), '{}') from known k
    where kind is not null and exists (
        select from job j where j.kind = k.kind and j.parked_at is null and relay.is_due(j) and relay.is_for(j, p_bot_id))
$$;

-- The jobs that failed for good in the last p_days, by kind: [{kind, jobs, last_error: why the last of them did}].
create or replace function relay.parked_jobs(p_days integer) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_agg(jsonb_build_object('kind', kind, 'jobs', jobs, 'last_error', last_error) order by kind), '[]')
    from (
        select kind, count(*) as jobs, (array_agg(last_error order by parked_at desc))[1] as last_error from job
        where parked_at > now() - make_interval(days => p_days) group by kind) one
$$;

-- Takes jobs away from whoever is at them: what they are made of is changing.
create or replace function relay.free_jobs(p_kind text, p_keys text[]) returns void
language sql set search_path = relay, extensions, pg_temp as $$
    update job set lease_owner = null, lease_until = null, fence = fence + 1
    where kind = p_kind and key = any (p_keys) and lease_owner is not null
$$;
