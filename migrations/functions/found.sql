-- What a person's search found, opened again by its buttons.

-- Messages of a thread around one that a search found: p_count before and after it (around), or that many before or
-- after. {messages, earlier, later: whether there are more}. Null when the space has no such message.
create or replace function public.relay_found_context(
    p_space jsonb, p_bot_id bigint, p_query jsonb, p_message_id bigint, p_side text, p_count integer)
returns jsonb
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    own thread;
    unrecorded bigint[];
    ids bigint[];
begin
    select t.* into own from message m join thread t on t.id = m.thread_id
    join session n on n.id = m.session_id
    where m.id = p_message_id and m.space_id = relay.find_space(p_space) and not n.private;
    if own.id is null then
        return null;
    end if;
    unrecorded := array(select id from session where thread_id = own.id and private);
    select array_agg(id order by id) into ids from (
        (select id from message where thread_id = own.id and id < p_message_id and status <> 'replaced'
            and session_id <> all (unrecorded) and p_side in ('around', 'before') order by id desc limit p_count)
        union all
        (select id from message where thread_id = own.id and id > p_message_id and status <> 'replaced'
            and session_id <> all (unrecorded) and p_side in ('around', 'after') order by id limit p_count)
        union all
        (select p_message_id where p_side = 'around')) near;
    return jsonb_build_object(
        'messages', (select coalesce(jsonb_agg(relay.hit_json(id, p_bot_id,
                case when id = p_message_id then relay.wanted(p_query) end,
                case when id = p_message_id then 60 else 24 end) order by id), '[]') from unnest(ids) as id),
        'earlier', exists (select from message
            where thread_id = own.id and status <> 'replaced' and session_id <> all (unrecorded)
                and id < ids[1]),
        'later', exists (select from message
            where thread_id = own.id and status <> 'replaced' and session_id <> all (unrecorded)
                and id > ids[cardinality(ids)]));
end $$;

-- Keeps what was asked with the control that asked it, so that its buttons still know it after a restart.
create or replace function public.relay_keep_search(p_turn_id bigint, p_fence bigint, p_space jsonb, p_text text)
returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    held turn := relay.hold(p_turn_id, p_fence);
begin
    update turn set prompt = jsonb_build_object('search', p_text, 'space_id', relay.find_space(p_space))
    where id = held.id;
    return to_jsonb(held.id);
end $$;

-- What was asked in a space: {text, user_id, at, chat_id, topic_id}. Null when it was asked in another one, or never.
create or replace function public.relay_kept_search(p_turn_id bigint, p_space jsonb) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('text', t.prompt ->> 'search', 'user_id', t.user_id, 'at', t.created_at,
        'chat_id', l.chat_id, 'topic_id', l.topic_id)
    from turn t join lane l on l.id = t.lane_id
    where t.id = p_turn_id and t.kind = 'control' and t.prompt ? 'search'
        and (t.prompt ->> 'space_id')::bigint = relay.find_space(p_space)
$$;
