-- Data for calendars and open pages.

-- Returns a person's calendar token: {created_at, used_at}; null if there is none.
create or replace function public.relay_calendar_token(p_user_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('created_at', created_at, 'used_at', used_at) from api_token
    where user_id = p_user_id and kind = 'calendar'
$$;

-- Replaces a person's calendar token; with p_hash null, only removes it. Returns whether they had one.
create or replace function public.relay_replace_calendar_token(p_user_id bigint, p_hash text) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    had boolean;
begin
    perform pg_advisory_xact_lock(hashtextextended('relay_calendar', p_user_id));
    delete from api_token where user_id = p_user_id and kind = 'calendar';
    had := found;
    insert into api_token (user_id, kind, hash) select p_user_id, 'calendar', p_hash where p_hash is not null;
    return to_jsonb(had);
end $$;

-- Returns the owner of the calendar token with this hash.
create or replace function public.relay_calendar_caller(p_hash text) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    select relay.caller_with(p_hash, 'calendar')
$$;

-- Returns what an open page of a person watches of some spaces, as [{space, and for each subject a text, which changes when
-- something of that subject does}]. Reminders and preferences: the person's own.
create or replace function public.relay_marks(p_spaces jsonb, p_user_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_agg(jsonb_build_object('space', given.space,
        'memory', (select concat_ws(' ', own.switches, max(id), max(decided_at)) from (
            -- An older change is seldom decided about, and the person who does it sees it anyway.
            select id, decided_at from memory_change where space_id = own.id order by id desc limit 50) changes),
        'version', (select concat_ws(' ', max(id), count(*) filter (where status = 'ready'), max(dropped_at),
            count(*) filter (where status = 'failed')) from (
            select * from compression where space_id = own.id order by id desc limit 50) versions),
        'composition', (select concat_ws(' ', max(id), count(*) filter (where status = 'ready'), max(deleted_at),
            count(*) filter (where status in ('over', 'failed'))) from (
            select * from composition where space_id = own.id order by id desc limit 50) compositions),
        'reminder', (select concat_ws(' ', own.quiet_until, count(*), max(changed_at)) from reminder
            where space_id = own.id and user_id = p_user_id) || (
            select concat_ws(' ', '', count(*), max(id), sum(used), count(*) filter (where status = 'active'))
            from standing_intent
            where space_id = own.id and user_id = p_user_id and status in ('proposed', 'active')
                and expires_at > now() and used < most),
        'preference', (select concat_ws(' ', count(*), sum(strength), max(last_seen), count(*) filter (
            where status = 'archived')) from preference where space_id = own.id and user_id = p_user_id))), '[]')
    from jsonb_array_elements(p_spaces) as given (space)
    cross join lateral (select relay.find_space(given.space) as id) known
    left join lateral (
        select id, case when quiet_until > now() then quiet_until end as quiet_until,
            concat_ws(' ', memory, case when paused_until > now() then paused_until end) as switches
        from space s where s.id = known.id) own on true
$$;
