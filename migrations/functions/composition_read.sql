-- Compositions as people see them, and what they choose while they compose.

-- Returns a composition without its text.
create or replace function relay.composition_json(p_composition_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('id', c.id, 'name', c.name, 'budget', c.budget, 'strategy', c.strategy, 'format', c.format,
        'status', c.status, 'error', c.error, 'total_tokens', c.total_tokens, 'total_messages', c.total_messages,
        'tainted', c.tainted, 'tells', c.bot_id is not null, 'created_by', c.created_by, 'created_at', c.created_at, 'thread_id', t.id,
        'chat_id', t.chat_id, 'topic_id', t.topic_id, 'active', relay.active_uses(c.id),
        'used', (select count(*) from composition_use where composition_id = c.id),
        'used_in', array(select session_id from composition_use where composition_id = c.id order by session_id desc limit 100),
        'parts', coalesce((
            select jsonb_agg(jsonb_build_object('session_id', p.session_id, 'title', s.title, 'words', f.words,
                'first', f.created_at, 'version', p.version, 'tokens', p.tokens, 'messages', p.messages,
                'allocation', p.allocation, 'asked', p.asked, 'reason', p.reason, 'version_id', p.compression_id,
                'gone', p.version <> 'original' and coalesce(v.status in ('failed', 'dropped'), true),
                'due', coalesce(v.status = 'due', false)) order by p.place)
            from composition_part p join session s on s.id = p.session_id
            left join compression v on v.id = p.compression_id
            left join lateral (
                select m.created_at, left(relay.plain_text(m), 80) as words from message m
                where m.session_id = s.id and m.status <> 'replaced' order by m.id limit 1) f on true
            where p.composition_id = c.id), '[]'))
    from composition c join thread t on t.id = c.thread_id where c.id = p_composition_id
$$;

-- Adds to the parts of a composition what their versions lack now.
create or replace function relay.composition_since(p_composition jsonb) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_set(p_composition, '{parts}', coalesce(jsonb_agg(relay.with_since(part) order by place), '[]'))
    from jsonb_array_elements(p_composition -> 'parts') with ordinality as one (part, place)
$$;

-- Returns a composition of a space by its id, or by its name: that of this thread, else the newest elsewhere. p_which:
-- {id} or {name, chat_id, topic_id}; p_rows: with its text. Besides, confirm: dropping it asks first. Null if there is none.
create or replace function public.relay_composition(p_space jsonb, p_which jsonb, p_rows boolean) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select relay.composition_since(relay.composition_json(c.id)) || jsonb_build_object(
        'rows', case when p_rows then c.rows end,
        'confirm', relay.context_settings(c.space_id) #> '{ui,confirmDestructiveActions}')
    from composition c join thread t on t.id = c.thread_id
    where c.space_id = relay.find_space(p_space) and c.deleted_at is null
        and (c.id = (p_which ->> 'id')::bigint or lower(c.name) = lower(p_which ->> 'name'))
    order by t.chat_id is not distinct from (p_which ->> 'chat_id')::bigint
        and t.topic_id is not distinct from (p_which ->> 'topic_id')::bigint desc, c.id desc
    limit 1
$$;

-- Returns a page of a space's compositions, this thread's first, then the newest: {total, compositions}.
create or replace function public.relay_compositions(
    p_space jsonb, p_chat_id bigint, p_topic_id bigint, p_offset integer, p_limit integer)
returns jsonb language sql stable set search_path = relay, extensions, pg_temp as $$
    with own as (
        select c.id, t.chat_id = p_chat_id and t.topic_id = p_topic_id as here
        from composition c join thread t on t.id = c.thread_id
        where c.space_id = relay.find_space(p_space) and c.deleted_at is null)
    select jsonb_build_object('total', (select count(*) from own), 'compositions', coalesce((
        select jsonb_agg(relay.composition_json(page.id) order by page.here desc, page.id desc) from (
            select * from own order by here desc, id desc offset p_offset limit p_limit) page), '[]'))
$$;

-- Returns a page of the sessions that can be composed, most recently used first: this thread's and those linked to it, or
-- all of the space's.
create or replace function public.relay_composable_sessions(
    p_space jsonb, p_chat_id bigint, p_topic_id bigint, p_everywhere boolean, p_offset integer, p_limit integer)
returns jsonb language sql set search_path = relay, extensions, pg_temp as $$
    select relay.count_sessions(array(select id from thread where space_id = relay.find_space(p_space)));
    with own as (select * from relay.find_thread(p_space, p_chat_id, p_topic_id)),
    used as materialized (
        select s.id, s.title, s.thread_id, c.used_at as recency
        from relay.counted_sessions(array(select id from thread where space_id = relay.find_space(p_space))) c
        join session s on s.id = c.id
        where (p_everywhere or s.thread_id = (select id from own) or s.id in (
                select source_session_id from session_link where target_thread_id = (select id from own))))
    select jsonb_build_object('total', (select count(*) from used), 'sessions', coalesce((
        select jsonb_agg(relay.session_size(page.id) || jsonb_build_object('id', page.id, 'title', page.title,
            'words', (select left(relay.plain_text(m), 80) from message m
                where m.session_id = page.id and m.status <> 'replaced' order by m.id limit 1),
            'here', page.thread_id is not distinct from (select id from own),
            'versions', (select count(*) from compression where session_id = page.id and status = 'ready'))
            order by page.recency desc, page.id desc)
        from (select * from used order by recency desc, id desc offset p_offset limit p_limit) page), '[]'))
$$;

-- Returns what composing would do, as relay.composition_plan says.
create or replace function public.relay_plan_composition(p_space jsonb, p_request jsonb) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select relay.composition_plan(relay.find_space(p_space), p_request)
$$;

-- Stores what a person chooses while they compose, with the turn of the command, so that its buttons work after a restart.
create or replace function public.relay_keep_draft(p_turn_id bigint, p_fence bigint, p_space jsonb, p_draft jsonb)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    held turn := relay.hold(p_turn_id, p_fence);
begin
    update turn set prompt = jsonb_build_object('draft', p_draft, 'space_id', relay.ensure_space(p_space))
    where id = held.id;
    return to_jsonb(held.id);
end $$;

-- Changes a draft of a person's own by some keys, and by sessions in parts (null: not that one). Returns it; null if
-- they have no such draft in the space. An empty change only reads it.
create or replace function public.relay_change_draft(p_turn_id bigint, p_space jsonb, p_user_id bigint, p_change jsonb)
returns jsonb language sql set search_path = relay, extensions, pg_temp as $$
    update turn set prompt = jsonb_set(prompt, '{draft}', prompt -> 'draft' || p_change || jsonb_build_object('parts',
        jsonb_strip_nulls((prompt #> '{draft,parts}') || coalesce(p_change -> 'parts', '{}'))))
    where id = p_turn_id and kind = 'control' and user_id = p_user_id and prompt ? 'draft'
        and (prompt ->> 'space_id')::bigint = relay.find_space(p_space)
    returning prompt -> 'draft'
$$;
