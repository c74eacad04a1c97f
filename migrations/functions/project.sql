-- Projects: threads as a library of sessions, as programs and the app see them. A project's id is its thread's.

-- Returns where a project, session or composition (p_kind) is: {thread_id, chat_id, topic_id, space}. Null if there is
-- none, or it is off the record.
create or replace function public.relay_find_project(p_kind text, p_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('thread_id', t.id, 'chat_id', t.chat_id, 'topic_id', t.topic_id,
        'space', public.relay_space(t.space_id))
    from thread t where t.id = case p_kind
        when 'project' then p_id
        when 'session' then (select thread_id from session where id = p_id and not private)
        when 'composition' then (select thread_id from composition where id = p_id and deleted_at is null) end
$$;

-- Returns up to 50 spaces that a person may be able to see: their own, and the groups where they spoke lately.
create or replace function public.relay_spaces_around(p_user_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_agg(public.relay_space(id)), '[]') from (
        select id from space where owner_id = p_user_id
        union all select id from relay.groups_of(p_user_id, 49)) around
$$;

-- Returns a page of the projects of some spaces, the last used first. p_registered: only those with registered sessions.
create or replace function public.relay_projects(p_spaces jsonb, p_registered boolean, p_offset integer, p_limit integer)
returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    around constant bigint[] := array(
        select t.id from jsonb_array_elements(p_spaces) as given (space)
        join thread t on t.space_id = relay.find_space(given.space));
begin
    perform relay.count_sessions(around);
    return (
        with own as materialized (
            select thread_id, max(used_at) as accessed, count(*) as sessions, count(registered_at) as registered,
                sum(tokens) as tokens, sum(messages) as messages
            from relay.counted_sessions(around) group by thread_id
            having not p_registered or count(registered_at) > 0)
        select jsonb_build_object('total', (select count(*) from own), 'projects', coalesce(jsonb_agg(
            jsonb_build_object('id', t.id, 'name', relay.place_name(0, t.chat_id, t.topic_id), 'chat_id', t.chat_id,
                'topic_id', t.topic_id, 'space', public.relay_space(t.space_id), 'created_at', t.created_at,
                'accessed', own.accessed, 'sessions', own.sessions, 'registered', own.registered, 'tokens', own.tokens,
                'messages', own.messages) order by t.last_at desc, t.id), '[]'))
        from (
            select t.* from own join thread t on t.id = own.thread_id order by t.last_at desc, t.id
            offset p_offset limit p_limit) t
        join own on own.thread_id = t.id);
end $$;

-- Returns sessions with their project's place and name, and all of their markers and versions.
create or replace function relay.session_records(p_sessions bigint[]) returns table (id bigint, record jsonb)
language sql stable rows 10 set search_path = relay, extensions, pg_temp as $$
    with marked as (
        select k.session_id, jsonb_agg(relay.keepit_json(k) order by k.weight desc, k.id) as markers
        from keepit k join message m on m.id = k.message_id and m.status <> 'replaced'
        where k.session_id = any (p_sessions) and k.removed_at is null group by k.session_id),
    made as (
        select c.session_id, jsonb_agg(relay.version_json(c) order by c.number desc) as versions from compression c
        where c.session_id = any (p_sessions) and c.status <> 'dropped' group by c.session_id)
    select l.id, jsonb_build_object('thread_id', t.id, 'chat_id', t.chat_id, 'topic_id', t.topic_id,
        'place', relay.place_name(0, t.chat_id, t.topic_id), 'session', l.line, 'markers', coalesce(marked.markers, '[]'),
        'versions', coalesce(made.versions, '[]'))
    from relay.session_lines(p_sessions) l join session s on s.id = l.id join thread t on t.id = s.thread_id
    left join marked on marked.session_id = l.id left join made on made.session_id = l.id
$$;

-- Returns one session of a space as session_records does. Null if there is none.
create or replace function public.relay_session_record(p_space jsonb, p_session_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select r.record from session s cross join lateral relay.session_records(array[s.id]) r
    where s.id = p_session_id and s.space_id = relay.find_space(p_space) and not s.private
$$;

-- Returns a project, a page of its registered sessions, newest first, and its compositions. Null if the space has none
-- such.
create or replace function public.relay_project(p_space jsonb, p_thread_id bigint, p_offset integer, p_limit integer)
returns jsonb
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    own thread;
    registered bigint[];
begin
    select * into own from thread where id = p_thread_id and space_id = relay.find_space(p_space);
    if own.id is null then
        return null;
    end if;
    registered := array(
        select id from session where thread_id = own.id and registered_at is not null and not private order by id desc);
    return jsonb_build_object('id', own.id, 'name', relay.place_name(0, own.chat_id, own.topic_id),
        'chat_id', own.chat_id, 'topic_id', own.topic_id, 'created_at', own.created_at, 'accessed',
        (select greatest(own.last_at, max(last_accessed_at)) from session where thread_id = own.id and not private),
        'total', cardinality(registered),
        'sessions', coalesce((
            select jsonb_agg(record order by id desc)
            from relay.session_records(registered[p_offset + 1 : p_offset + p_limit])), '[]'),
        'compositions',
            public.relay_project_compositions(p_space, own.chat_id, own.topic_id, 0, p_limit) -> 'compositions');
end $$;

-- Returns which markers of a session would survive a ratio: {threshold, markers: [{id, weight, content, survives}]}, by
-- weight. p_distance: null is the real one. Null if the space has no such session.
create or replace function public.relay_preview_decay(
    p_space jsonb, p_session_id bigint, p_level text, p_ratio numeric, p_distance integer)
returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('threshold', cut.threshold::text, 'markers', coalesce((
        select jsonb_agg(jsonb_build_object('id', k.id, 'weight', k.weight::text, 'content', k.content,
            'survives', relay.keepit_survives(k.weight, cut.threshold, own.decay)) order by k.weight desc, k.id)
        from keepit k join message m on m.id = k.message_id and m.status <> 'replaced'
        where k.session_id = s.id and k.removed_at is null), '[]'))
    from session s
    cross join lateral (select relay.context_settings(s.space_id) -> 'keepitDecay' as decay) own
    cross join lateral (
        select relay.keepit_threshold(p_level, p_ratio, coalesce(p_distance, relay.session_distance(s.id)), own.decay)
            as threshold) cut
    where s.id = p_session_id and s.space_id = relay.find_space(p_space) and not s.private
$$;

-- Returns the sessions of search results [{kind, id}]: [{kind, id, session_id, version: its number}]. Other results belong
-- to no session.
create or replace function public.relay_found_sessions(p_space jsonb, p_found jsonb) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_agg(jsonb_build_object('kind', f.kind, 'id', f.id,
        'session_id', coalesce(m.session_id, v.session_id, s.session_id), 'version', v.number)), '[]')
    from jsonb_to_recordset(p_found) as f (kind text, id bigint)
    left join message m on f.kind = 'message' and m.id = f.id and m.space_id = relay.find_space(p_space)
    left join compression v on f.kind = 'version' and v.id = f.id and v.space_id = relay.find_space(p_space)
    left join summary s on f.kind = 'summary' and s.id = f.id
        and exists (select from thread t where t.id = s.thread_id and t.space_id = relay.find_space(p_space))
    where coalesce(m.session_id, v.session_id, s.session_id) is not null
$$;

-- Returns a page of a thread's compositions, newest first: {total, compositions}.
create or replace function public.relay_project_compositions(
    p_space jsonb, p_chat_id bigint, p_topic_id bigint, p_offset integer, p_limit integer)
returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    with own as materialized (
        select c.id from composition c join relay.find_thread(p_space, p_chat_id, p_topic_id) t on t.id = c.thread_id
        where c.deleted_at is null)
    select jsonb_build_object('total', (select count(*) from own), 'compositions', coalesce((
        select jsonb_agg(relay.composition_json(id) order by id desc) from (
            select id from own order by id desc offset p_offset limit p_limit) page), '[]'))
$$;
