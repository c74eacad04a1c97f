-- Unasked messages that a model writes: their gates, and the heartbeat.

-- Returns what the gates need to know of a person.
create or replace function public.relay_proactive_gate(p_space_id bigint, p_user_id bigint, p_since timestamptz)
returns jsonb language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('now', now(),
        'said_at', (select max(said.at) from thread t cross join lateral (
            select m.created_at as at from message m where m.thread_id = t.id and m.user_id = p_user_id
            order by m.id desc limit 1) said where t.space_id = p_space_id),
        'answering', exists (select from turn
            where user_id = p_user_id and kind = 'message' and status = 'working' and lease_until > now()),
        'quiet_until', (select quiet_until from space where id = p_space_id and quiet_until > now()),
        'spent', (select coalesce(jsonb_agg(to_jsonb(u)), '[]') from (
            select model, true as own, sum(input) as input, sum(cached) as cached, sum(written) as written,
                sum(output) as output, sum(searches) as searches
            from spend where user_id = p_user_id and at >= p_since and what in ('check', 'heartbeat', 'growth')
            group by model) u))
$$;

-- Returns what an unasked message came from: {by: reminder, heartbeat, digest or idea, reminders}. Null for
-- other messages.
create or replace function public.relay_unasked(
    p_bot_id bigint, p_chat_id bigint, p_telegram_message_id bigint, p_space jsonb)
returns jsonb language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('by', m.started_by, 'reminders', coalesce((
        select jsonb_agg(relay.reminder_json(r) order by r.id) from outbox o
        join reminder r on o.inputs ? ('reminder:' || r.id) and r.space_id = m.space_id
        where o.space_id = m.space_id and o.message_id = m.id and o.inputs is not null), '[]'))
    from posted p join message m on m.id = p.message_id
    where p.bot_id = p_bot_id and p.chat_id = p_chat_id and p.telegram_message_id = p_telegram_message_id
        and m.started_by is not null and m.space_id = relay.find_space(p_space)
$$;

-- The heartbeat.

-- Returns a space's heartbeat; null: there is none.
create or replace function public.relay_heartbeat(p_space jsonb) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select to_jsonb(h) from heartbeat h where space_id = relay.find_space(p_space)
$$;

-- Sets a heartbeat up, or changes it: {user_id, bot_id, chat_id, topic_id, every_hours, from_hour, to_hour, zone,
-- checklist, next_at, status}; what is not given stays. What happens while it is off is not new later. Returns it.
create or replace function public.relay_set_heartbeat(p_space jsonb, p_change jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own constant bigint := relay.ensure_space(p_space);
    now_is heartbeat;
begin
    select * into now_is from heartbeat where space_id = own for update;
    now_is := jsonb_populate_record(now_is, p_change);
    insert into heartbeat as h (space_id, user_id, bot_id, chat_id, topic_id, every_hours, from_hour, to_hour, zone,
        checklist, through_message, through_reminder, next_at, status, looked_at)
    values (own, now_is.user_id, now_is.bot_id, now_is.chat_id, coalesce(now_is.topic_id, 0), now_is.every_hours,
        now_is.from_hour, now_is.to_hour, now_is.zone, coalesce(now_is.checklist, ''),
        (select coalesce(max(id), 0) from message where space_id = own),
        (select coalesce(max(id), 0) from reminder where space_id = own), coalesce(now_is.next_at, now()),
        coalesce(now_is.status, 'on'), now())
    on conflict (space_id) do update set user_id = excluded.user_id, bot_id = excluded.bot_id,
        chat_id = excluded.chat_id, topic_id = excluded.topic_id, every_hours = excluded.every_hours,
        from_hour = excluded.from_hour, to_hour = excluded.to_hour, zone = excluded.zone,
        checklist = excluded.checklist, next_at = excluded.next_at, status = excluded.status,
        through_message = case h.status when 'on' then h.through_message else excluded.through_message end,
        through_reminder = case h.status when 'on' then h.through_reminder else excluded.through_reminder end,
        looked_at = case h.status when 'on' then h.looked_at else excluded.looked_at end,
        outcome = case h.status when 'on' then h.outcome else '' end returning * into now_is;
    perform relay.owe_heartbeat(now_is);
    return to_jsonb(now_is);
end $$;

-- Owes a heartbeat's next check.
create or replace function relay.owe_heartbeat(p_heartbeat relay.heartbeat) returns void
language sql set search_path = relay, extensions, pg_temp as $$
    select relay.owe_next('heartbeat', p_heartbeat.space_id::text, p_heartbeat.bot_id,
        case p_heartbeat.status when 'on' then p_heartbeat.next_at end)
$$;

-- Returns what a held check reads. Null if the process lost it, or it is off.
create or replace function public.relay_heartbeat_work(p_job_id bigint, p_fence bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    with held as (
        select h.* from job j join heartbeat h on h.space_id = j.key::bigint
        where j.id = p_job_id and j.fence = p_fence and h.status = 'on'),
    fresh as materialized (
        select m.*, s.title from held h join message m on m.space_id = h.space_id and m.id > h.through_message
        join session s on s.id = m.session_id and not s.private
        where m.status <> 'replaced' and m.role = 'user' and m.user_id = h.user_id and m.teaches
        order by m.id desc limit 40),
    learned as materialized (
        select m.id, m.content, m.tainted from held h join memory m on m.space_id = h.space_id
        where m.status = 'active' and m.created_at > h.looked_at order by m.id desc limit 20),
    coming as materialized (
        select r.* from held h join reminder r on r.space_id = h.space_id
        where r.status = 'active' and r.next_at < now() + interval '1 day' and r.id > h.through_reminder
        order by r.next_at limit 20)
    select jsonb_build_object('heartbeat', to_jsonb(h),
        'messages', (select coalesce(jsonb_agg(jsonb_build_object('id', m.id, 'role', m.role, 'user_id', m.user_id, 'name',
            m.name, 'text', left(m.text, 400), 'untrusted', m.untrusted, 'title', m.title, 'at', m.created_at)
            order by m.id), '[]') from fresh m),
        'learned', (select coalesce(jsonb_agg(content order by id), '[]') from learned),
        'reminders', (
            select coalesce(jsonb_agg(relay.reminder_json(r::reminder) order by r.next_at), '[]') from coming r),
        'tainted', exists (select from fresh where untrusted or tainted)
            or exists (select from learned where tainted) or exists (select from coming where tainted),
        'through_message', (select coalesce(max(id), h.through_message) from message where space_id = h.space_id),
        'through_reminder', (select coalesce(max(id), h.through_reminder) from reminder where space_id = h.space_id))
    from held h
$$;

-- Stores the result of a held check: {outcome, next_at, through_message (null: it read nothing), through_reminder,
-- text, plain, tainted}. A text is queued and becomes a message of the thread. Returns whether there is one. Null if
-- the process lost the check.
create or replace function public.relay_looked(p_job_id bigint, p_fence bigint, p_bot_id bigint, p_look jsonb)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    held job := relay.hold_job(p_job_id, p_fence);
    own heartbeat;
begin
    if held.id is null then
        return null;
    end if;
    update heartbeat set outcome = p_look ->> 'outcome', next_at = (p_look ->> 'next_at')::timestamptz,
        looked_at = case when p_look ->> 'through_message' is null then looked_at else now() end,
        through_message = coalesce((p_look ->> 'through_message')::bigint, through_message),
        through_reminder = coalesce((p_look ->> 'through_reminder')::bigint, through_reminder)
    where space_id = held.key::bigint returning * into own;
    if p_look ->> 'text' is not null then
        perform relay.say_first(p_bot_id, own.chat_id, own.topic_id, own.user_id, own.space_id,
            jsonb_build_object('text', p_look ->> 'text', 'plain', p_look ->> 'plain', 'sound', true), '{}',
            format('heartbeat %s %s', own.space_id, own.looked_at), 'heartbeat', (p_look ->> 'tainted')::boolean);
    end if;
    delete from job where id = held.id;
    perform relay.owe_heartbeat(own);
    return to_jsonb(p_look ->> 'text' is not null);
end $$;
