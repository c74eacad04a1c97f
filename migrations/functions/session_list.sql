-- Lists of sessions, with what the library knows about each: counted for a page at once, not for each session.

-- Trigger: deletes a session's count after a message is added, removed or changed. It locks the session as a new message's
-- reference does, so no process counts it meanwhile.
create or replace function relay.message_uncounted() returns trigger
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    if tg_op <> 'INSERT' then
        perform from session where id = old.session_id for key share;
    end if;
    delete from session_count where session_id in (old.session_id, new.session_id);
    return null;
end $$;
create or replace trigger message_uncounted after insert or update of session_id, text, status, created_at or delete
    on relay.message for each row execute function relay.message_uncounted();

-- Counts up to 10,000 uncounted sessions of threads, except those in which a message is being written.
create or replace function relay.count_sessions(p_threads bigint[]) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    held bigint[] := array(
        select s.id from session s
        where s.thread_id = any (p_threads) and not exists (select from session_count c where c.session_id = s.id)
        order by s.id limit 10000 for update of s skip locked);
begin
    insert into session_count
    select own.id, coalesce(c.messages, 0), coalesce(c.tokens, 0), c.last_at
    from unnest(held) as own (id) left join relay.count_messages(held) c on c.session_id = own.id on conflict do nothing;
end $$;

-- Counts the current messages of sessions that have some, in one pass.
create or replace function relay.count_messages(p_sessions bigint[])
returns table (session_id bigint, messages integer, tokens bigint, last_at timestamptz)
language sql stable rows 1000 set search_path = relay, extensions, pg_temp as $$
    select own.session_id, own.messages, own.tokens, last.created_at
    from (
        select session_id, count(*)::integer as messages, max(id) as last_id,
            sum((octet_length(text) + 3) / 4) as tokens  -- relay.token_count, whose calls take as long as the rest
        from message where session_id = any (p_sessions) and status <> 'replaced' group by session_id) own
    join message last on last.id = own.last_id
$$;

-- Returns the threads' sessions on the record that have messages, with their stored counts or, if missing, counted now.
create or replace function relay.counted_sessions(p_threads bigint[])
returns table (id bigint, thread_id bigint, registered_at timestamptz, messages integer, tokens bigint, used_at timestamptz)
language sql stable rows 1000 set search_path = relay, extensions, pg_temp as $$
    with uncounted as materialized (  -- otherwise all would be counted, and few are needed
        select * from session s
        where s.thread_id = any (p_threads) and not s.private
            and not exists (select from session_count c where c.session_id = s.id))
    select s.id, s.thread_id, s.registered_at, c.messages, c.tokens,
        greatest(c.last_at, s.last_accessed_at)  -- relay.session_recency
    from session s join session_count c on c.session_id = s.id
    where s.thread_id = any (p_threads) and not s.private and c.messages > 0
    union all
    select s.id, s.thread_id, s.registered_at, c.messages, c.tokens, greatest(c.last_at, s.last_accessed_at)
    from uncounted s join relay.count_messages(array(select id from uncounted)) c on c.session_id = s.id
$$;

-- Returns a thread's sessions on the record that have messages: their place in the list (1 is the newest) and their
-- distance (see relay.session_distance).
create or replace function relay.ranked_sessions(p_thread_id bigint)
returns table (id bigint, number integer, distance integer)
language sql stable rows 100 set search_path = relay, extensions, pg_temp as $$
    select id, (row_number() over (order by id desc))::integer, (rank() over (order by used_at desc))::integer
    from relay.counted_sessions(array[p_thread_id])
$$;

-- Returns what is listed of sessions.
create or replace function relay.session_lines(p_sessions bigint[]) returns table (id bigint, line jsonb)
language sql stable rows 10 set search_path = relay, extensions, pg_temp as $$
    with said as (
        select session_id, count(*) filter (where status <> 'replaced') as messages,
            coalesce(sum(relay.token_count(text)) filter (where status <> 'replaced'), 0) as tokens,
            min(id) filter (where status <> 'replaced') as first_id, max(id) as last_id
        from message where session_id = any (p_sessions) group by session_id),
    used as (
        select d.session_id, coalesce(sum((t.usage ->> 'input_tokens')::bigint), 0)
                + coalesce(sum((t.usage ->> 'cache_read_input_tokens')::bigint), 0)
                + coalesce(sum((t.usage ->> 'cache_creation_input_tokens')::bigint), 0) as input,
            coalesce(sum((t.usage ->> 'output_tokens')::bigint), 0) as output
        from (select distinct session_id, turn_id from message where session_id = any (p_sessions)) d
        join turn t on t.id = d.turn_id group by d.session_id),
    marked as (
        select k.session_id, count(*) as markers from keepit k join message m on m.id = k.message_id
        where k.session_id = any (p_sessions) and k.removed_at is null and m.status <> 'replaced' group by k.session_id),
    made as (
        select session_id, count(*) as versions from compression
        where session_id = any (p_sessions) and status = 'ready' group by session_id),
    composed as (
        select p.session_id, count(distinct p.composition_id) as compositions
        from composition_part p join composition c on c.id = p.composition_id and c.deleted_at is null
        where p.session_id = any (p_sessions) group by p.session_id)
    select s.id, jsonb_build_object('id', s.id, 'title', s.title, 'titled_by', s.titled_by,
        'topics', coalesce(s.topics, '{}'), 'from', s.started_at, 'to', coalesce(last.created_at, s.ended_at),
        'present', t.session_id is not distinct from s.id, 'messages', coalesce(said.messages, 0), 'tokens', coalesce(said.tokens, 0),
        'input', coalesce(used.input, 0), 'output', coalesce(used.output, 0),
        'registered', s.registered_at, 'accessed', s.last_accessed_at, 'markers', coalesce(marked.markers, 0),
        'versions', coalesce(made.versions, 0), 'compositions', coalesce(composed.compositions, 0),
        'first', case when first.id is not null then jsonb_build_object('role', first.role, 'user_id', first.user_id,
            'name', first.name, 'text', left(first.text, 1000), 'at', first.created_at) end)
    from session s join thread t on t.id = s.thread_id
    left join said on said.session_id = s.id
    left join message first on first.id = said.first_id
    left join message last on last.id = said.last_id
    left join used on used.session_id = s.id left join marked on marked.session_id = s.id
    left join made on made.session_id = s.id left join composed on composed.session_id = s.id
    where s.id = any (p_sessions)
$$;

-- Returns a thread's sessions that have messages, newest first, and on the first page those that are linked to it:
-- {total, sessions, linked}.
create or replace function public.relay_sessions(
    p_space jsonb, p_chat_id bigint, p_topic_id bigint, p_offset integer, p_limit integer)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own constant thread := relay.find_thread(p_space, p_chat_id, p_topic_id);
    page jsonb;
    total integer;
    shown bigint[];
    linked bigint[] := '{}';
begin
    perform relay.count_sessions(array[own.id]);
    select coalesce(max(r.number), 0), coalesce(jsonb_object_agg(r.id, to_jsonb(r)) filter (
        where r.number > p_offset and r.number <= p_offset + p_limit), '{}')
    into total, page from relay.ranked_sessions(own.id) r;
    shown := array(select jsonb_object_keys(page)::bigint);
    if p_offset = 0 then
        linked := array(
            select source_session_id from session_link where target_thread_id = own.id order by linked_at desc limit 20);
    end if;
    return (
        select jsonb_build_object('total', total,
            'sessions', coalesce(jsonb_agg(l.line || (page -> l.id::text) order by l.id desc)
                filter (where l.id = any (shown)), '[]'),
            'linked', coalesce(jsonb_agg(l.line || jsonb_build_object('linked', k.reason) order by k.linked_at desc)
                filter (where l.id = any (linked)), '[]'))
        from relay.session_lines(shown || linked) l
        left join session_link k on k.source_session_id = l.id and k.target_thread_id = own.id);
end $$;

-- Returns the session with an id, if it is on the record and of this thread or linked to it.
create or replace function relay.find_session(
    p_space jsonb, p_chat_id bigint, p_topic_id bigint, p_session_id bigint)
returns relay.session language sql stable set search_path = relay, extensions, pg_temp as $$
    select s.* from session s join relay.find_thread(p_space, p_chat_id, p_topic_id) own on own.id = s.thread_id
        or exists (select from session_link k where k.source_session_id = s.id and k.target_thread_id = own.id)
    where s.id = p_session_id and not s.private
$$;

-- Returns one session of a thread, or linked to it, with its summary and its first and last words. Null if there is
-- none.
create or replace function public.relay_session(
    p_space jsonb, p_chat_id bigint, p_topic_id bigint, p_session_id bigint)
returns jsonb language sql stable set search_path = relay, extensions, pg_temp as $$
    select l.line || jsonb_build_object('number', r.number,
        'distance', coalesce(r.distance, relay.session_distance(s.id)),
        'linked', (select k.reason from session_link k where k.source_session_id = s.id
            and k.target_thread_id = (select id from relay.find_thread(p_space, p_chat_id, p_topic_id))),
        'summary', (select text from summary where thread_id = s.thread_id and session_id = s.id
            order by through_message_id desc, id desc limit 1),
        'last', (select to_jsonb(m) from (
            select role, user_id, name, left(text, 1000) as text, created_at as at from message
            where session_id = s.id and status <> 'replaced' order by id desc limit 1) m))
    from relay.find_session(p_space, p_chat_id, p_topic_id, p_session_id) s
    cross join lateral relay.session_lines(array[s.id]) l
    left join lateral (
        select * from relay.ranked_sessions(s.thread_id) one where one.id = s.id
            and s.thread_id = (select id from relay.find_thread(p_space, p_chat_id, p_topic_id))) r on true
$$;

-- Returns messages of a session as they were said, oldest first: {total, messages}.
create or replace function relay.original_page(p_session_id bigint, p_offset integer, p_limit integer) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('total', (select count(*) from relay.session_messages(p_session_id)), 'messages', coalesce((
        select jsonb_agg(to_jsonb(m) order by m.id) from (
            select id, role, user_id, name, text, created_at as at, untrusted or tainted as untrusted
            from relay.session_messages(p_session_id) order by id offset p_offset limit p_limit) m), '[]'))
$$;

-- The same for a session of a space; null if there is none on the record.
create or replace function public.relay_read_original(
    p_space jsonb, p_session_id bigint, p_offset integer, p_limit integer)
returns jsonb language sql stable set search_path = relay, extensions, pg_temp as $$
    select relay.original_page(id, p_offset, p_limit) from session
    where id = p_session_id and space_id = relay.find_space(p_space) and not private
$$;

-- The same from the message after one on, with `offset`: how many come before it.
create or replace function public.relay_read_original_after(
    p_space jsonb, p_session_id bigint, p_after bigint, p_limit integer)
returns jsonb language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('offset', before) || relay.original_page(id, before, p_limit)
    from session, lateral (select count(*)::integer as before from relay.session_messages(p_session_id) m where m.id <= p_after) own
    where id = p_session_id and space_id = relay.find_space(p_space) and not private
$$;

-- The same for a session of a thread; null as for relay_session. Looking at them there brings the session forward.
create or replace function public.relay_open_original(
    p_space jsonb, p_chat_id bigint, p_topic_id bigint, p_session_id bigint, p_offset integer, p_limit integer)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own constant session := relay.find_session(p_space, p_chat_id, p_topic_id, p_session_id);
begin
    if own.id is null then
        return null;
    end if;
    perform relay.touch_sessions(array[own.id]);
    return relay.original_page(own.id, p_offset, p_limit);
end $$;

-- Puts a session into the library, or takes it out; its markers and versions stay. Null as for relay_session, else
-- whether it is in the library.
create or replace function public.relay_register_session(
    p_space jsonb, p_chat_id bigint, p_topic_id bigint, p_session_id bigint, p_on boolean)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own constant session := relay.find_session(p_space, p_chat_id, p_topic_id, p_session_id);
begin
    if own.id is null then
        return null;
    elsif p_on then
        perform relay.scan_markers(own.id), relay.register_sessions(array[own.id]);
    else
        update session set registered_at = null where id = own.id;
    end if;
    return to_jsonb(p_on);
end $$;

-- Links: sessions that another thread of the same space lists, too.

-- Links a session of the space to one of its threads, or removes the link. Returns whether that changed something; null
-- if the space has no such session on the record, or it belongs to this thread.
create or replace function public.relay_link_session(
    p_space jsonb, p_chat_id bigint, p_topic_id bigint, p_session_id bigint, p_reason text, p_user_id bigint)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    space bigint := relay.ensure_space(p_space);
    target bigint;
begin
    if not exists (select from session s where s.id = p_session_id and s.space_id = space and not s.private) then
        return null;
    end if;
    insert into thread (space_id, chat_id, topic_id) values (space, p_chat_id, p_topic_id) on conflict do nothing;
    select id into strict target from thread
    where space_id = space and chat_id = p_chat_id and topic_id = p_topic_id;
    if exists (select from session where id = p_session_id and thread_id = target) then
        return null;
    end if;
    insert into session_link (source_session_id, target_thread_id, space_id, reason, linked_by)
    values (p_session_id, target, space, p_reason, p_user_id)
    on conflict (source_session_id, target_thread_id) do update set reason = excluded.reason;
    return 'true';
end $$;

create or replace function public.relay_unlink_session(
    p_space jsonb, p_chat_id bigint, p_topic_id bigint, p_session_id bigint)
returns jsonb language sql set search_path = relay, extensions, pg_temp as $$
    delete from session_link using relay.find_thread(p_space, p_chat_id, p_topic_id) own
    where source_session_id = p_session_id and target_thread_id = own.id returning to_jsonb(true)
$$;
