-- Status, in numbers only.

create or replace function public.relay_status(p_space jsonb) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object(
        'waiting', (select count(*) from inbox where status = 'pending'),
        'running', (select count(*) from turn where kind = 'message' and status in ('working', 'answered')),
        'set_aside', (select count(*) from turn where status = 'failed' and done_at > now() - interval '1 day'),
        'summaries_due', (select count(*) from job where kind = 'summary' and parked_at is null),
        'parked', relay.parked_jobs(7),
        'soul', (select version from soul where active),
        'liked', (select count(*) from signal
            where emoji = '👍' and removed_at is null and created_at > now() - interval '30 days'),
        'disliked', (select count(*) from signal
            where emoji = '👎' and removed_at is null and created_at > now() - interval '30 days'),
        'memories', (select count(*) from memory where space_id = relay.find_space(p_space) and status = 'active'),
        'pending', (select count(*) from memory where space_id = relay.find_space(p_space) and status = 'pending'),
        'versions', (select jsonb_build_object('ready', count(*) filter (where status = 'ready'),
                'by_night', count(*) filter (where created_by = 0 and created_at > now() - interval '1 day'))
            from compression where space_id = relay.find_space(p_space)),
        'threads', (select count(*) from thread where space_id = relay.find_space(p_space)),
        'exchanges', (select coalesce(sum(exchange_count), 0) from thread
            where space_id = relay.find_space(p_space)),
        'today', (select jsonb_build_object('turns', count(*) filter (where kind = 'message'),
                'input', coalesce(sum((usage ->> 'input_tokens')::bigint), 0),
                'cached', coalesce(sum((usage ->> 'cache_read_input_tokens')::bigint), 0),
                'written', coalesce(sum((usage ->> 'cache_creation_input_tokens')::bigint), 0),
                'output', coalesce(sum((usage ->> 'output_tokens')::bigint), 0))
            from turn where space_id = relay.find_space(p_space) and created_at > now() - interval '1 day'),
        'incidents', (select coalesce(jsonb_agg(jsonb_build_object('begun_at', begun_at, 'detail', detail) order by id),
            '[]') from incident
            -- Once a budget is used up, the warning that it is nearly used up no longer counts as trouble.
            where over_at is null and not (kind = 'spend' and calm_since is not null)),
        'night', (select jsonb_build_object('begun_at', begun_at, 'ended_at', ended_at, 'phases', phases)
            from night order by id desc limit 1),
        'used', public.relay_usage(p_space, jsonb_build_array(now() - interval '1 day'), false))
$$;

-- Returns the backlog from indexes alone: waiting updates, turns in progress or abandoned, and for how many seconds the
-- oldest unclaimed one has waited.
create or replace function public.relay_queue(p_bot_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object(
        'waiting', (select count(*) from inbox where status = 'pending' and bot_id = p_bot_id),
        'turns', (select count(*) from turn where status in ('working', 'answered') and bot_id = p_bot_id),
        'oldest', greatest(0, extract(epoch from now() - least(
            (select min(due_at) from lane where bot_id = p_bot_id and due_at is not null and open_turn_id is null),
            (select min(coalesce(lease_until, not_before, created_at)) from turn
                where status in ('working', 'answered') and bot_id = p_bot_id
                    and (lease_owner is null or lease_until < now()))))))
$$;

-- Tests whether the database answers; costs nothing.
create or replace function public.relay_ping() returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select to_jsonb(now())
$$;

-- Tests whether a table is locked, as while it is rewritten or altered: then calls wait, and are not slow by themselves.
create or replace function public.relay_is_locked() returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select to_jsonb(exists (select from pg_locks l join pg_class c on c.oid = l.relation
        where c.relnamespace = 'relay'::regnamespace
            and l.mode in ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
            and l.database = (select oid from pg_database where datname = current_database())))
$$;

-- What `relay doctor` reads. Nothing here changes anything.

-- Returns the rights of outsiders: everyone who connects (public), and on Supabase holders of the public key (anon) or
-- an account (authenticated). Empty if all is well.
create or replace function relay.open_doors() returns table (what text)
language sql stable set search_path = relay, extensions, pg_temp as $$
    with everybody as (
        select 'public'::name as role
        union all select rolname from pg_roles where rolname in ('anon', 'authenticated'))
    select role || ' may use the schema relay' from everybody where has_schema_privilege(role, 'relay', 'usage')
    union all
    select role || ' may call ' || p.proname from everybody, pg_proc p
    where (p.pronamespace = 'relay'::regnamespace
            or (p.pronamespace = 'public'::regnamespace and p.proname like 'relay\_%'))
        and has_function_privilege(role, p.oid, 'execute')
    union all
    select role || ' may read or change the table ' || c.relname from everybody, pg_class c
    where c.relnamespace = 'relay'::regnamespace and c.relkind in ('r', 'p', 'v', 'm')
        and has_table_privilege(role, c.oid, 'select, insert, update, delete, truncate')
    union all
    select 'the table ' || relname || ' has no row-level security' from pg_class
    where relnamespace = 'relay'::regnamespace and relkind in ('r', 'p') and not relrowsecurity
$$;

-- Describes the database from its catalog.
create or replace function public.relay_examine() returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object(
        'server', current_setting('server_version'),
        'number', current_setting('server_version_num')::integer,
        'bytes', pg_database_size(current_database()),
        'since', (select min(applied_at) from migration),
        'extensions', (select jsonb_object_agg(extname, extversion) from pg_extension),
        'tables', (select jsonb_agg(relname) from pg_class
            where relnamespace = 'relay'::regnamespace and relkind in ('r', 'p')),
        'functions', (select jsonb_agg(distinct proname) from pg_proc
            where pronamespace = 'relay'::regnamespace
                or (pronamespace = 'public'::regnamespace and proname like 'relay\_%')),
        'open', (select coalesce(jsonb_agg(what order by what), '[]') from (
            select what from relay.open_doors() order by what limit 50) doors))
$$;

-- Describes the work of all bots.
create or replace function public.relay_examine_work() returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object(
        'working', exists (select from turn where status in ('working', 'answered') and lease_until > now())
            or exists (select from duty where lease_until > now()),
        'admins', (select count(*) from person where role = 'admin'),
        'users', (select count(*) from person where role = 'user'),
        'waiting', (select count(*) from inbox where status = 'pending'),
        'waiting_seconds', (select floor(extract(epoch from now() - min(received_at))) from inbox
            where status = 'pending'),
        'set_aside', (select count(*) from turn where status = 'failed' and done_at > now() - interval '1 day'),
        'parked', relay.parked_jobs(7),
        'incidents', (select coalesce(jsonb_agg(detail order by id), '[]') from (
            select id, detail from incident
            where over_at is null and not (kind = 'spend' and calm_since is not null) order by id limit 5) open),
        'rivalled', (select coalesce(jsonb_agg(split_part(kind, ' ', 2)), '[]') from incident
            where kind like 'rival %' and over_at is null))
$$;

-- What alerts read, and the incidents that admins hear of.

-- Returns a bot's health. Turns: those of the last ten minutes that ended (up to 500), and how many failed through our or
-- the model's fault. Owed: jobs that failed four times or more and are retried.
create or replace function public.relay_readings(p_bot_id bigint, p_since timestamptz) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    with ended as (
        select id, error, status = 'failed' or error is not null as failed from turn
        where id > coalesce((select max(id) from turn), 0) - 500 and kind = 'message' and status <> 'working'
            and created_at > now() - interval '10 minutes' and bot_id = p_bot_id),
    owed as (
        select kind, last_error, due_at from job j
        where parked_at is null and failures >= 4 and relay.is_for(j, p_bot_id))
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
        'owed_error', (select kind || ': ' || last_error from owed order by due_at desc limit 1),
        'spent', public.relay_spent(p_since, null),
        'open', (select coalesce(jsonb_agg(to_jsonb(i) order by i.id), '[]') from incident i where over_at is null))
$$;

-- Records observations atomically and returns the incidents to announce, leased to one process. p_seen: [{kind, state,
-- detail, seconds}]; wrong: it has been so for that many seconds; opens an incident if there is none. calm: it is fine
-- now. over: it has been fine long enough, or not checked for two days (ignored if another process just saw it wrong).
-- An incident is announced while it lasts and when it ends, or once in the past tense if it ended unannounced.
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

-- Records something that is already over and could not be recorded while it lasted. Skipped if another process recorded
-- it.
create or replace function public.relay_was_wrong(p_kind text, p_detail text, p_seconds double precision)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    begun timestamptz := now() - make_interval(secs => p_seconds);
begin
    perform pg_advisory_xact_lock(hashtext('relay.incident'));
    insert into incident (kind, detail, begun_at, over_at)
    select p_kind, p_detail, begun, now()
    where not exists (select from incident where kind = p_kind and coalesce(over_at, now()) >= begun);
    return to_jsonb(found);
end $$;

-- Records that an incident was announced (p_over: as over), or (p_told false) could not be.
create or replace function public.relay_told(p_incident_id bigint, p_worker uuid, p_told boolean, p_over boolean)
returns jsonb language sql set search_path = relay, extensions, pg_temp as $$
    update incident set lease_owner = null, lease_until = null,
        told_at = case when p_told then coalesce(told_at, now()) else told_at end,
        over_told_at = case when p_told and p_over then now() else over_told_at end
    where id = p_incident_id and lease_owner = p_worker
    returning to_jsonb(true)
$$;

-- Returns the database's version, and whether a move or restore into it is unfinished.
create or replace function public.relay_schema() returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object(
        'version', (select coalesce(max(version), 0) from migration),
        'breaking', (select coalesce(max(version) filter (where breaking), 0) from migration),
        'moving', relay.is_replaced(),
        'functions', (select coalesce(jsonb_object_agg(name, hash), '{}') from function_file))
$$;
