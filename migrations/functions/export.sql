-- Exports a space as lines, page by page. A page ends after p_most rows or an eighth of a megabyte.

-- Makes a page of ordered lines, each with its key: {rows, last, end}.
create or replace function relay.export_page(p_lines jsonb[], p_keys jsonb[], p_most integer, p_last jsonb)
returns jsonb language plpgsql immutable set search_path = relay, extensions, pg_temp as $$
declare
    rows jsonb[] := '{}';
    bytes bigint := 0;
    seen integer := 0;
begin
    while seen < coalesce(cardinality(p_lines), 0) and bytes < 131072 loop
        seen := seen + 1;
        rows := rows || p_lines[seen];
        bytes := bytes + octet_length(p_lines[seen]::text);
        p_last := p_keys[seen];
    end loop;
    return jsonb_build_object('rows', to_jsonb(rows), 'last', p_last,
        'end', seen = coalesce(cardinality(p_lines), 0) and seen < p_most);
end $$;

-- Returns a space with its threads and topic names, its switches, its chat's settings, its current personas, and the
-- database's id. Null if nothing was ever said there.
create or replace function public.relay_export_space(p_space jsonb) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp set timezone = 'UTC' as $$
    with own as (select *, coalesce(owner_id, chat_id) as home from space where id = relay.find_space(p_space))
    select jsonb_build_object(
        'source', (select id from identity),
        'threads', (select coalesce(jsonb_agg(jsonb_build_object('type', 'thread', 'id', t.id, 'chat_id', t.chat_id,
                'topic_id', t.topic_id, 'created_at', t.created_at, 'topic', (
                    select name from topic n where n.chat_id = t.chat_id and n.topic_id = t.topic_id limit 1))
                order by t.id), '[]')
            from thread t where t.space_id = own.id),
        'personas', (select coalesce(jsonb_agg(jsonb_build_object('type', 'persona', 'chat_id', p.chat_id,
                'topic_id', p.topic_id, 'text', p.text, 'author_id', p.author_id, 'author', p.author,
                'created_at', p.created_at) order by p.id), '[]')
            from (
                select distinct on (topic_id) * from persona
                where chat_id = own.home and session_id is null order by topic_id, id desc) p
            where p.text <> ''),
        'places', (select coalesce(jsonb_agg(jsonb_build_object('type', 'place', 'chat_id', p.chat_id,
                'topic_id', p.topic_id, 'answers', p.answers, 'set_by', p.set_by, 'set_at', p.set_at)
                order by p.topic_id), '[]')
            from place p where own.kind = 'group' and p.chat_id = own.home),
        'choices', (select c.choices from choice c where own.kind = 'private' and c.user_id = own.home))
    from own
$$;

-- Tests whether the judge has read a message, so that its findings are stored or were rejected.
create or replace function relay.is_judged(p_message relay.message) returns boolean
language sql stable set search_path = relay, extensions, pg_temp as $$
    select exists (select from judging where thread_id = p_message.thread_id and through_message_id >= p_message.id)
        and not exists (select from judge_again where thread_id = p_message.thread_id
            and p_message.id between from_message_id and through_message_id)
$$;

-- Returns the next rows of a part of an export as lines, each with its key: those of a space after a key, and of one
-- thread if the part belongs to threads. Nothing off the record. A part may be a kind of artefact; its lines hold {type,
-- id, thread, session, inputs, row: the other columns and the rows of children}.
create or replace function relay.export_lines(
    p_part text, p_space_id bigint, p_thread_id bigint, p_after jsonb, p_most integer)
returns table (line jsonb, key jsonb)
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    after constant bigint := case when p_part <> 'memories' then coalesce((p_after ->> 0)::bigint, 0) end;
    own record;
    children text;
begin
    case p_part
    when 'memories' then  -- oldest first
        return query select jsonb_build_object('type', 'memory', 'id', m.id, 'kind', m.kind,
            'subject_id', m.subject_id, 'subject', m.subject, 'content', m.content, 'category', m.category,
            'tags', to_jsonb(m.tags), 'importance', m.importance, 'pinned', m.pinned, 'status', m.status,
            'tainted', m.tainted, 'thread', m.thread_id, 'session', m.session_id, 'source', m.source_message_id,
            'confidence', m.confidence, 'valid_from', m.valid_from, 'valid_until', m.valid_until,
            'exact_at', m.exact_at, 'replaced_by', m.replaced_by, 'evidence', to_jsonb(m.evidence),
            'promoted_by', m.promoted_by, 'last_used_at', m.last_used_at, 'recalled_at', m.recalled_at, 'uses', m.uses,
            'validated_at', m.validated_at, 'validated_by', m.validated_by,
            'made_by', m.derivation -> 'name', 'created_at', m.created_at, 'updated_at', m.updated_at, 'changes', (
                select coalesce(jsonb_agg(jsonb_build_object('action', c.action, 'status', c.status,
                    'user_id', c.user_id, 'before', c.before -> 'content', 'state', c.before -> 'status',
                    'created_at', c.created_at, 'decided_at', c.decided_at) order by c.id), '[]')
                from memory_change c where c.memory_id = m.id)), jsonb_build_array(m.created_at, m.id)
        from memory m
        where m.space_id = p_space_id and (m.created_at, m.id)
            > (coalesce(p_after ->> 0, '-infinity')::timestamptz, coalesce((p_after ->> 1)::bigint, 0))
        order by m.created_at, m.id limit p_most;
    when 'sessions' then
        return query select jsonb_build_object('type', 'session', 'id', s.id, 'thread', s.thread_id, 'title', s.title,
            'titled_by', s.titled_by, 'topics', to_jsonb(s.topics), 'started_at', s.started_at, 'ended_at', s.ended_at,
            'registered_at', s.registered_at, 'last_accessed_at', s.last_accessed_at), jsonb_build_array(s.id)
        from session s
        where s.thread_id = p_thread_id and not s.private and s.space_id = p_space_id and s.id > after
        order by s.id limit p_most;
    when 'messages' then  -- with earlier wordings and reactions
        return query select jsonb_build_object('type', 'message', 'id', m.id, 'thread', m.thread_id,
            'session', m.session_id, 'role', m.role, 'user_id', m.user_id, 'name', m.name, 'text', m.text,
            'blocks', m.blocks, 'status', m.status, 'untrusted', m.untrusted, 'tainted', m.tainted,
            'started_by', m.started_by, 'judged', relay.is_judged(m), 'created_at', m.created_at, 'versions', (
                select coalesce(jsonb_agg(jsonb_build_object('text', v.text, 'blocks', v.blocks,
                    'untrusted', v.untrusted, 'replaced_at', v.replaced_at) order by v.id), '[]')
                from message_version v where v.message_id = m.id), 'reactions', (
                select coalesce(jsonb_agg(jsonb_build_object('user_id', r.user_id, 'emoji', r.emoji, 'created_at',
                    r.created_at, 'removed_at', r.removed_at, 'telegram_message_id', r.telegram_message_id)
                    order by r.id), '[]')
                from signal r where r.message_id = m.id)), jsonb_build_array(m.id)
        from message m
        where m.thread_id = p_thread_id and m.space_id = p_space_id and m.id > after
            and m.session_id not in (select id from session where thread_id = p_thread_id and private)
        order by m.id limit p_most;
    when 'documents' then  -- with all their parts
        return query select jsonb_build_object('type', 'document', 'id', d.id, 'thread', m.thread_id,
            'message', d.message_id, 'unique_id', d.unique_id, 'name', d.name, 'mime', d.mime, 'kind', d.kind,
            'pages', d.pages, 'created_at', d.created_at, 'parts', (
                select coalesce(jsonb_agg(p.text order by p.part), '[]') from document_part p
                where p.document_id = d.id)), jsonb_build_array(d.id)
        from document d join message m on m.id = d.message_id
        where m.thread_id = p_thread_id and d.space_id = p_space_id and d.id > after order by d.id limit p_most;
    when 'summaries' then
        return query select jsonb_build_object('type', 'summary', 'id', s.id, 'thread', s.thread_id,
            'session', s.session_id, 'previous', s.previous_id, 'text', s.text, 'from_message', s.from_message_id,
            'through_message', s.through_message_id, 'message_count', s.message_count, 'model', s.model,
            'settings', s.settings, 'tainted', s.tainted, 'author_id', s.author_id, 'created_at', s.created_at),
            jsonb_build_array(s.id)
        from summary s join thread t on t.id = s.thread_id and t.space_id = p_space_id
        where s.thread_id = p_thread_id and s.id > after order by s.id limit p_most;
    when 'keepits' then  -- removed ones, too
        return query select jsonb_build_object('type', 'keepit', 'id', k.id, 'thread', k.thread_id,
            'session', k.session_id, 'message', k.message_id, 'user_id', k.user_id, 'row', to_jsonb(k) - array['id',
                'space_id', 'thread_id', 'session_id', 'message_id', 'user_id']), jsonb_build_array(k.id)
        from keepit k
        where k.thread_id = p_thread_id and k.space_id = p_space_id and k.id > after order by k.id limit p_most;
    when 'preferences' then  -- for people to read: an import uses the feedback. `name`: the person, in a group
        return query select jsonb_build_object('type', 'preference', 'thread', p.thread_id, 'user_id', p.user_id,
            'name', case s.kind when 'group' then coalesce(
                (select name from person where user_id = p.user_id), p.user_id::text) end,
            'preference', known -> 'preference', 'learned_from', known -> 'evidence', 'total', known -> 'total'),
            jsonb_build_array(p.id)
        from preference p join space s on s.id = p.space_id cross join lateral relay.with_evidence(p) known
        where p.space_id = p_space_id and p.id > after order by p.id limit p_most;
    when 'feedback' then  -- each act with its observations
        return query select jsonb_build_object('type', 'feedback', 'id', f.id, 'thread', f.thread_id,
            'session', f.session_id, 'message', f.message_id, 'user_id', f.user_id, 'kind', f.kind, 'value', f.value,
            'origin', f.source, 'created_at', f.at, 'withdrawn_at', f.withdrawn_at, 'observations', (
                select coalesce(jsonb_agg(jsonb_build_object('kind', o.type, 'pattern', o.pattern,
                    'polarity', o.polarity, 'weight', o.weight, 'reinforcing', o.reinforcing, 'explicit', o.explicit,
                    'here', o.thread_id is not null, 'pending', o.pending, 'made_by', o.derivation) order by o.id), '[]')
                from observation o where o.feedback_id = f.id)), jsonb_build_array(f.id)
        from feedback f where f.space_id = p_space_id and f.id > after order by f.id limit p_most;
    when 'preference_decisions' then
        return query select jsonb_build_object('type', 'preference_decision', 'thread', d.thread_id,
            'user_id', d.user_id, 'kind', d.type, 'pattern', d.pattern, 'polarity', d.polarity, 'action', d.action,
            'created_at', d.at), jsonb_build_array(d.id)
        from preference_decision d where d.space_id = p_space_id and d.id > after order by d.id limit p_most;
    when 'session_links' then
        return query select jsonb_build_object('type', 'session_link', 'session', l.source_session_id,
            'thread', l.target_thread_id, 'reason', l.reason, 'linked_by', l.linked_by, 'created_at', l.linked_at),
            jsonb_build_array(l.source_session_id, l.target_thread_id)
        from session_link l
        where l.space_id = p_space_id
            and (l.source_session_id, l.target_thread_id) > (after, coalesce((p_after ->> 1)::bigint, 0))
        order by l.source_session_id, l.target_thread_id limit p_most;
    when 'context_settings' then  -- one line, what a space changed
        return query select jsonb_build_object('type', 'context_setting', 'settings', c.settings,
            'created_at', c.changed_at), '[1]'::jsonb
        from context_setting c where c.space_id = p_space_id and after = 0;
    else
        select k.*, relay.declared(k.name) -> 'artefact' as declared into own
        from relay.artefact_kinds() k where k.kind = p_part and not k.own ? 'export';
        if own.kind is null then
            return;
        end if;
        select coalesce(string_agg(format(' || jsonb_build_object(%1$L, (select coalesce(jsonb_agg(to_jsonb(c) - %2$L
            order by to_jsonb(c)), ''[]'') from relay.%1$I c where c.%2$I = t.id))', child.key, child.value), ''), '')
        into children from jsonb_each_text(own.declared -> 'children') child;
        return query execute format('
            select jsonb_build_object(''type'', $1, ''id'', t.id, ''thread'', t.thread_id, ''session'', t.session_id,
                ''inputs'', to_jsonb(%s), ''row'', to_jsonb(t) - array[''id'', ''space_id'', ''thread_id'', ''session_id'',
                    ''inputs'']%s), jsonb_build_array(t.id)
            from relay.%I t left join session s on s.id = t.session_id
            where %s = $4 and s.private is not true and t.id > $3 and %s
            order by t.id limit $2', own.inputs, children, own.name, own.space, coalesce(own.declared ->> 'whole', 'true'))
            using p_part, p_most, after, p_space_id;
    end case;
end $$;

-- Returns a page of a part of an export after a key: see relay.export_lines.
create or replace function public.relay_export_rows(
    p_part text, p_space jsonb, p_thread_id bigint, p_after jsonb, p_most integer)
returns jsonb language sql stable set search_path = relay, extensions, pg_temp set timezone = 'UTC' as $$
    select relay.export_page(array_agg(line order by nr) filter (where nr is not null), array_agg(key order by nr), most,
        p_after)
    from (select least(p_most, case when p_part = 'documents' then 4  -- a page is built before it is cut
        when exists (select from relay.artefact_kinds() k where k.kind = p_part) then 20 end) as most) few
    left join relay.export_lines(p_part, relay.find_space(p_space), p_thread_id, p_after, most)
        with ordinality as lines (line, key, nr) on true
    group by most
$$;
