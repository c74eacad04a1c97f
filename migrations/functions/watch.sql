-- What the sentinel reads, and the incidents that it tells admins of.

-- How things stand for a bot: {now; queue_seconds: for how long the oldest turn that is due has waited to be taken; turns,
-- failed: of the last ten minutes' ended turns (500 at most), and how many of them came to nothing by a fault of ours or of
-- the model; error: why the last of them did, null where it did not; owed, owed_error: summaries and titles that failed
-- four times or more, and why the last did; spent: what was used since p_since, by model; open: the incidents that are not
-- over}.
create or replace function public.relay_readings(p_bot_id bigint, p_since timestamptz) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    with ended as (
        select id, error, status = 'failed' or error is not null as failed from turn
        where id > coalesce((select max(id) from turn), 0) - 500 and kind = 'message' and status <> 'working'
            and created_at > now() - interval '10 minutes' and bot_id = p_bot_id),
    owed as (
        select error, not_before from summary_due where status = 'due' and failures >= 4
        union all
        select error, not_before from title_due where status = 'due' and failures >= 4 and bot_id = p_bot_id)
    select jsonb_build_object(
        'now', now(),
        'queue_seconds', coalesce(extract(epoch from now() - least(
            (select min(due_at) from lane where bot_id = p_bot_id and due_at is not null and open_turn_id is null),
            (select min(greatest(created_at, lease_until, not_before)) from turn
                where bot_id = p_bot_id and status in ('working', 'answered')
                    and (lease_owner is null or lease_until < now())))), 0),
        'turns', (select count(*) from ended),
        'failed', (select count(*) from ended where failed),
        'error', (select error from ended order by id desc limit 1),
        'owed', (select count(*) from owed),
        'owed_error', (select error from owed order by not_before desc limit 1),
        'spent', public.relay_spent(p_since, null),
        'open', (select coalesce(jsonb_agg(to_jsonb(i) order by i.id), '[]') from incident i where over_at is null))
$$;

-- Takes down what was seen, all of it or nothing, and hands out what is to be told, leased so that one process tells it.
-- p_seen: [{kind, state, detail, seconds}]; state wrong: it is, for so many seconds already, and gets an incident if it has
-- none; calm: it is not, now; over: it has not been for long enough, or not been looked at for two days (nothing where
-- another process has just seen it wrong). An incident is told while it is wrong, and when it is over; if it was not told
-- before then, it is told once, as something past.
create or replace function public.relay_watch(p_worker uuid, p_seen jsonb, p_lease_seconds integer) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    one record;
    telling jsonb;
begin
    perform pg_advisory_xact_lock(hashtext('relay.incident'));
    for one in select * from jsonb_to_recordset(p_seen) as s (kind text, state text, detail text, seconds real) loop
        if one.state = 'wrong' then
            insert into incident as i (kind, detail, begun_at)
            values (one.kind, one.detail, now() - make_interval(secs => coalesce(one.seconds, 0)))
            on conflict (kind) where over_at is null do update set seen_at = now(), calm_since = null;
        elsif one.state = 'calm' then
            update incident set calm_since = now()
            where kind = one.kind and over_at is null and calm_since is null;
        else
            update incident set over_at = coalesce(calm_since, seen_at)
            where kind = one.kind and over_at is null and (calm_since is not null or seen_at < now() - interval '2 days');
        end if;
    end loop;
    with leased as (
        update incident set lease_owner = p_worker, lease_until = now() + make_interval(secs => p_lease_seconds)
        where (told_at is null or over_told_at is null)
            and (over_at is not null or (told_at is null and calm_since is null))
            and (lease_until is null or lease_until < now() or lease_until > now() + interval '15 minutes')
        returning *)
    select coalesce(jsonb_agg(to_jsonb(l) order by l.id), '[]') into telling from leased l;
    return telling;
end $$;

-- Something that is over already, and could not be taken down while it lasted. Nothing, where it was by another process.
create or replace function public.relay_was_wrong(p_kind text, p_detail text, p_seconds double precision)
returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    begun timestamptz := now() - make_interval(secs => p_seconds);
begin
    perform pg_advisory_xact_lock(hashtext('relay.incident'));
    insert into incident (kind, detail, begun_at, over_at)
    select p_kind, p_detail, begun, now()
    where not exists (select from incident where kind = p_kind and coalesce(over_at, now()) >= begun);
    return to_jsonb(found);
end $$;

-- An incident was told as it stood then (p_over: as something that is over), or (p_told false) could not be.
create or replace function public.relay_told(p_incident_id bigint, p_worker uuid, p_told boolean, p_over boolean)
returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    with told as (
        update incident set lease_owner = null, lease_until = null,
            told_at = case when p_told then coalesce(told_at, now()) else told_at end,
            over_told_at = case when p_told and p_over then now() else over_told_at end
        where id = p_incident_id and lease_owner = p_worker
        returning 1)
    select to_jsonb(exists (select from told))
$$;
