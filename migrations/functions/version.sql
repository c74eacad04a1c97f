-- Versions as people see them: previews, lists, a version with its rows, and the messages that it left out.

-- Returns a session as a version would read it. p_session_id: null is the thread's running one. Null where the space has
-- no such session.
create or replace function public.relay_session_outline(
    p_space jsonb, p_chat_id bigint, p_topic_id bigint, p_session_id bigint, p_source_id bigint)
returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('id', s.id, 'thread_id', s.thread_id, 'title', s.title, 'present', t.session_id is not distinct from s.id,
        'distance', relay.session_distance(s.id), 'preset', d -> 'compressionPreset',
        'decays', d -> 'keepitDecayEnabled', 'model', d -> 'model', 'source', source.name,
        'source_through', source.through_message_id,
        'units', (select coalesce(jsonb_agg(jsonb_build_object('from', u.from_id, 'through', u.through_id,
                'role', u.role, 'tokens', relay.token_count(u.text), 'keepit', u.keepit) order by u.place), '[]')
            from relay.version_units(s.id, p_source_id) u))
    from session s join thread t on t.id = s.thread_id
    left join compression source on source.id = p_source_id and source.session_id = s.id and source.status = 'ready'
    cross join lateral (select relay.context_settings(s.space_id) -> 'defaults' as d) own
    where s.space_id = relay.find_space(p_space) and not s.private
        and s.id = coalesce(p_session_id, (relay.find_thread(p_space, p_chat_id, p_topic_id)).session_id)
$$;

-- Counts what a version lacks that its session has by now: {messages: said since, tokens: theirs, changes: messages that it
-- was made from and that were edited, replaced or restored since, markers: set since, or made heavier than when it
-- summarised them, pins: those of them that are never summarised}.
create or replace function relay.version_since(p_version relay.compression) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    with read as (
        select coalesce((p_version.derivation ->> 'read_at')::timestamptz, p_version.created_at) as at,
            relay.inputs_of('message', p_version.inputs) as ids),
    said as (
        select m.id, m.text, m.id > p_version.through_message_id as later,
            ids <> '{}' and not m.id = any (ids) or exists (
                select from message_version w where w.message_id = m.id and w.replaced_at > read.at) as changed
        from read, relay.version_messages(p_version.session_id) m),
    marked as (
        select k.weight from keepit k join said on said.id = k.message_id
        where k.session_id = p_version.session_id and k.removed_at is null and not exists (
            select from compression_keepit e where e.compression_id = p_version.id and e.keepit_id = k.id
                and (e.survived or e.weight >= k.weight)))
    select jsonb_build_object('messages', count(*) filter (where later),
        'tokens', coalesce(sum(relay.token_count(text)) filter (where later), 0),
        'changes', count(*) filter (where changed and not later) + (
            select count(*) from read, message m where m.id = any (ids) and m.status = 'replaced'),
        'markers', (select count(*) from marked),
        'pins', (select count(*) from marked where weight >= (
            relay.context_settings(p_version.space_id) #>> '{keepitDecay,pinnedWeight}')::numeric))
    from said
$$;

-- Returns a version without its rows. `active`: a running session began with a composition that holds it.
create or replace function relay.version_json(p_version relay.compression) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('id', p_version.id, 'session_id', s.id, 'title', s.title, 'number', p_version.number,
        'name', p_version.name, 'settings', p_version.settings, 'status', p_version.status, 'error', p_version.error,
        'source_id', p_version.source_id, 'source', (select name from compression where id = p_version.source_id),
        'input_tokens', p_version.input_tokens, 'input_messages', p_version.input_messages,
        'output_tokens', p_version.output_tokens, 'output_messages', p_version.output_messages,
        'ratio', p_version.ratio, 'keepit', p_version.keepit, 'model', p_version.model, 'tainted', p_version.tainted,
        'created_at', p_version.created_at, 'last_used_at', p_version.last_used_at,
        'done', p_version.usage -> 'done', 'total', p_version.usage -> 'total',
        'since', relay.version_since(p_version),
        'tells', p_version.status = 'due' and exists (
            select from job where kind = 'compression' and key = p_version.id::text and payload ? 'tells'),
        'compositions', held.names, 'active', held.active)
    from session s cross join lateral (
        select coalesce(jsonb_agg(distinct c.name), '[]') as names,
            coalesce(bool_or(relay.active_uses(c.id) > 0), false) as active
        from composition_part p join composition c on c.id = p.composition_id and c.deleted_at is null
        where p.compression_id = p_version.id) held
    where s.id = p_version.session_id
$$;

-- Returns a page of a session's versions, newest first: {total, versions}. Null where the space has no such session.
create or replace function public.relay_versions(
    p_space jsonb, p_session_id bigint, p_offset integer, p_limit integer)
returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    with own as (select c from compression c where c.session_id = p_session_id and c.status <> 'dropped')
    select jsonb_build_object('total', (select count(*) from own), 'versions', coalesce((
        select jsonb_agg(relay.version_json(page.c) order by (page.c).number desc) from (
            select c from own order by (c).number desc offset p_offset limit p_limit) page), '[]'))
    from session s where s.id = p_session_id and s.space_id = relay.find_space(p_space) and not s.private
$$;

-- Returns one version with a page of its rows, and how many messages it left out: {version, rows, left_out}. Null where
-- the space has no such version.
create or replace function public.relay_version(p_space jsonb, p_id bigint, p_offset integer, p_limit integer)
returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('version', relay.version_json(c), 'rows', coalesce((
            select jsonb_agg(line order by place) from (
                select line, place from jsonb_array_elements(c.rows) with ordinality as one (line, place)
                order by place offset p_offset limit p_limit) page), '[]'),
        'left_out', (select count(*) from relay.left_out(c)))
    from compression c join session s on s.id = c.session_id and not s.private
    where c.id = p_id and c.space_id = relay.find_space(p_space) and c.status <> 'dropped'
$$;

-- Returns the messages of a version's stretch that none of its rows is made from.
create or replace function relay.left_out(p_version relay.compression) returns setof relay.message
language sql stable set search_path = relay, extensions, pg_temp as $$
    with covered as (
        select coalesce(range_agg(int8range((line ->> 'from')::bigint, (line ->> 'through')::bigint, '[]')), '{}')
            as it
        from jsonb_array_elements(p_version.rows) line)
    select m.* from covered, relay.session_messages(p_version.session_id) m
    where m.id between p_version.from_message_id and p_version.through_message_id and not covered.it @> m.id
$$;

-- Returns a page of them, oldest first: {total, messages}.
create or replace function public.relay_left_out(p_space jsonb, p_id bigint, p_offset integer, p_limit integer)
returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    with own as (
        select m from compression c join session s on s.id = c.session_id and not s.private
        cross join lateral relay.left_out(c) m
        where c.id = p_id and c.space_id = relay.find_space(p_space) and c.status = 'ready')
    select jsonb_build_object('total', (select count(*) from own), 'messages', coalesce((
        select jsonb_agg(relay.told_message(page.m, 300) || jsonb_build_object('kept', exists (
                select from keepit k where k.message_id = (page.m).id and k.removed_at is null))
            order by (page.m).id) from (
            select m from own order by (m).id offset p_offset limit p_limit) page), '[]'))
$$;
