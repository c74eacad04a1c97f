-- Sessions: the stretches of a thread between two /new, or two long silences.

-- The thread of a chat and topic in a space; null when nothing was said there yet.
create or replace function relay.find_thread(p_space jsonb, p_chat_id bigint, p_topic_id bigint) returns relay.thread
language sql stable set search_path = relay, extensions, pg_temp as $$
    select * from thread
    where chat_id = p_chat_id and topic_id = p_topic_id and space_id = relay.find_space(p_space)
$$;

-- Ends the running session of a thread: what was said is summarised, and the next message starts with a clean page.
create or replace function public.relay_new_session(
    p_space jsonb, p_chat_id bigint, p_topic_id bigint, p_title text)
returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own thread;
    last_message bigint;
    said integer;
begin
    own := relay.ensure_thread(relay.ensure_space(p_space), p_chat_id, p_topic_id, 1000000);
    if relay.end_private(own) then
        select * into own from thread where id = own.id;
        update session set title = nullif(p_title, ''), titled_by = case when p_title <> '' then 'person' end
        where id = own.session_id;
        return jsonb_build_object('session_id', own.session_id, 'messages', 0, 'private', true);
    end if;
    select max(id), count(*) into last_message, said from message
    where thread_id = own.id and id >= own.context_from;
    if said > 0 then
        insert into summary_due (thread_id, session_id, context_from, through_message_id)
        values (own.id, own.session_id, own.context_from, last_message) on conflict do nothing;
        update session set ended_at = now() where id = own.session_id;
        perform relay.owe_title(own.session_id, (
            select bot_id from turn where thread_id = own.id order by id desc limit 1));
        insert into session (thread_id, space_id, title, titled_by)
        values (own.id, own.space_id, nullif(p_title, ''), case when p_title <> '' then 'person' end)
        returning id into own.session_id;
        update thread set session_id = own.session_id, context_from = last_message + 1,
            window_from = last_message + 1, summary_id = null
        where id = own.id;
    elsif p_title <> '' then
        update session set title = p_title, titled_by = 'person' where id = own.session_id;
    end if;
    return jsonb_build_object('session_id', own.session_id, 'messages', said);
end $$;

-- The sessions of a thread in which something was said, newest first: {total, sessions}.
create or replace function public.relay_sessions(
    p_space jsonb, p_chat_id bigint, p_topic_id bigint, p_offset integer, p_limit integer)
returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    with own as (select * from relay.find_thread(p_space, p_chat_id, p_topic_id)),
    held as (
        select s.id from session s join own on own.id = s.thread_id
        where not s.private and exists (select from message m where m.session_id = s.id))
    select jsonb_build_object('total', (select count(*) from held), 'sessions', coalesce((
        select jsonb_agg(relay.session_json(page.id) order by page.id desc) from (
            select id from held order by id desc offset p_offset limit p_limit) page), '[]'))
$$;

-- One session of a thread, with its summary and its first and last words. Null when the thread has none of that id.
create or replace function public.relay_session(
    p_space jsonb, p_chat_id bigint, p_topic_id bigint, p_session_id bigint)
returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select relay.session_json(s.id) || jsonb_build_object(
        'summary', (select text from summary where thread_id = s.thread_id and session_id = s.id
            order by through_message_id desc, id desc limit 1),
        'last', (select to_jsonb(m) from (
            select role, user_id, name, left(text, 1000) as text, created_at as at from message
            where session_id = s.id and status <> 'replaced' order by id desc limit 1) m))
    from session s join relay.find_thread(p_space, p_chat_id, p_topic_id) own on own.id = s.thread_id
    where s.id = p_session_id and not s.private
$$;

-- A session in numbers: its title, from when to when, messages that stand, tokens of all its answers, and who began how.
create or replace function relay.session_json(p_session_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    with said as (
        select count(*) filter (where status <> 'replaced') as messages, max(id) as last_id,
            array_agg(distinct turn_id) as turns
        from message where session_id = p_session_id),
    used as (
        select coalesce(sum((t.usage ->> 'input_tokens')::bigint), 0)
                + coalesce(sum((t.usage ->> 'cache_read_input_tokens')::bigint), 0)
                + coalesce(sum((t.usage ->> 'cache_creation_input_tokens')::bigint), 0) as input,
            coalesce(sum((t.usage ->> 'output_tokens')::bigint), 0) as output
        from said, turn t where t.id = any (said.turns))
    select jsonb_build_object('id', s.id, 'title', s.title, 'titled_by', s.titled_by, 'from', s.started_at,
        'to', coalesce((select created_at from message where id = said.last_id), s.ended_at), 'present', t.session_id = s.id, 'messages', said.messages,
        'input', used.input, 'output', used.output,
        'first', (select to_jsonb(m) from (
            select role, user_id, name, left(text, 1000) as text, created_at as at from message
            where session_id = s.id and status <> 'replaced' order by id limit 1) m))
    from session s join thread t on t.id = s.thread_id, said, used where s.id = p_session_id
$$;
