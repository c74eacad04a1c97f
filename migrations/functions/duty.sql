-- Duties: what only one process does at a time, or once in a while.

-- Takes a duty under a lease, or prolongs it. True when the caller has it now; false while another has it, or when it
-- was done within the last p_rest_seconds.
create or replace function public.relay_take_duty(
    p_name text, p_worker uuid, p_lease_seconds integer, p_rest_seconds integer)
returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    with taken as (
        insert into duty as d (name, lease_owner, lease_until)
        values (p_name, p_worker, now() + make_interval(secs => p_lease_seconds))
        on conflict (name) do update set lease_owner = p_worker, lease_until = excluded.lease_until
        where (d.lease_owner is null or d.lease_owner = p_worker or d.lease_until < now()
                or d.lease_until > now() + interval '1 day')
            and not coalesce(d.done_at > now() - make_interval(secs => p_rest_seconds) and d.done_at <= now(), false)
        returning 1)
    select to_jsonb(exists (select from taken))
$$;

-- Gives a duty back; p_done: it was done to its end. Returns whether the caller had it.
create or replace function public.relay_end_duty(p_name text, p_worker uuid, p_done boolean) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    with ended as (
        update duty set lease_owner = null, lease_until = null, done_at = case when p_done then now() else done_at end
        where name = p_name and lease_owner = p_worker returning 1)
    select to_jsonb(exists (select from ended))
$$;
