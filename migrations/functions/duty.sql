-- What only one process does at a time: polling for a bot, nightly jobs. It is held under a lease. (That a process is
-- there is a duty too: see lease.sql.)

-- Takes a duty for a worker, or renews it: whether the worker has it now. One that was done to its end within the last
-- p_rest_seconds is not given again (0: it is). A lease of the far future was given by a clock that was wrong.
create or replace function public.relay_take_duty(
    p_name text, p_worker uuid, p_lease_seconds integer, p_rest_seconds integer)
returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    with taken as (
        insert into duty as d (name, lease_owner, lease_until)
        values (p_name, p_worker, now() + make_interval(secs => p_lease_seconds))
        on conflict (name) do update set lease_owner = excluded.lease_owner, lease_until = excluded.lease_until
            where (d.lease_owner is null or d.lease_owner = p_worker or d.lease_until is null or d.lease_until <= now()
                    or d.lease_until > now() + make_interval(secs => 2 * p_lease_seconds))
                and (p_rest_seconds <= 0 or d.done_at is null or d.done_at > now()
                    or d.done_at <= now() - make_interval(secs => p_rest_seconds))
        returning 1)
    select to_jsonb(exists (select from taken))
$$;

-- Gives a duty back, done to its end or not. Whether the worker had it.
create or replace function public.relay_end_duty(p_name text, p_worker uuid, p_done boolean) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    with ended as (
        update duty set lease_owner = null, lease_until = null, done_at = case when p_done then now() else done_at end
        where name = p_name and lease_owner = p_worker
        returning 1)
    select to_jsonb(exists (select from ended))
$$;

-- Notes that a process of a bot has started or is stopping, for whoever asks later when it ran.
create or replace function public.relay_note_run(p_kind text, p_bot_id bigint, p_payload jsonb) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    with noted as (
        insert into event (kind, bot_id, payload)
        select p_kind, p_bot_id, p_payload where p_kind in ('started', 'stopped')
        returning 1)
    select to_jsonb(exists (select from noted))
$$;
