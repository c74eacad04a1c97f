-- Imports an export into a space. Rows that already exist, by their unchanging fields (where, when and by whom), are
-- left alone, so an import can be repeated. The ids of the rows are returned in order: {ids, added}.

-- Imports the space and its threads, and its chat's settings where none exist: {space_id, ids}.
create or replace function public.relay_import_space(p_space jsonb, p_rows jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own bigint := relay.ensure_space(p_space);
    home constant bigint := coalesce(p_space ->> 'owner_id', p_space ->> 'chat_id');
    one jsonb;
    thread_of bigint;
    ids bigint[] := '{}';
begin
    for one in select jsonb_array_elements(p_rows -> 'threads') loop
        insert into thread (space_id, chat_id, topic_id, last_at, created_at)
        values (own, (one ->> 'chat_id')::bigint, (one ->> 'topic_id')::bigint, (one ->> 'created_at')::timestamptz,
            (one ->> 'created_at')::timestamptz)
        on conflict do nothing;
        select id into thread_of from thread
        where space_id = own and chat_id = (one ->> 'chat_id')::bigint and topic_id = (one ->> 'topic_id')::bigint;
        ids := ids || thread_of;
    end loop;
    insert into persona (chat_id, topic_id, text, author_id, author, created_at)
    select p.chat_id, p.topic_id, p.text, p.author_id, p.author, p.created_at
    from jsonb_to_recordset(p_rows -> 'personas') as p (
        chat_id bigint, topic_id bigint, text text, author_id bigint, author text, created_at timestamptz)
    where p.chat_id = home
        and not exists (select from persona o where o.chat_id = p.chat_id and o.topic_id = p.topic_id)
    order by p.created_at;
    insert into place (chat_id, topic_id, answers, set_by, set_at)
    select chat_id, topic_id, answers, set_by, set_at from jsonb_to_recordset(p_rows -> 'places') as p (
        chat_id bigint, topic_id bigint, answers text, set_by bigint, set_at timestamptz)
    where p_space ->> 'kind' = 'group' and chat_id = home
    on conflict do nothing;
    insert into choice (user_id, choices)
    select (p_space ->> 'owner_id')::bigint, p_rows -> 'choices' where jsonb_typeof(p_rows -> 'choices') = 'object'
    on conflict do nothing;
    return jsonb_build_object('space_id', own, 'ids', to_jsonb(ids));
end $$;

-- Inserts a row of a table from JSON by the names of its columns, and returns its id. Null: it is there already.
create or replace function relay.insert_row(p_table text, p_row jsonb) returns bigint
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    made bigint;
begin
    execute format('insert into relay.%1$I (%2$s) select %2$s from jsonb_populate_record(null::relay.%1$I, $1)
        on conflict do nothing returning id', p_table, relay.columns_named(p_table, p_row)) into made using p_row;
    return made;
end $$;

-- Returns some fields of an object, without those that are null.
create or replace function relay.fields_of(p_row jsonb, variadic p_names text[]) returns jsonb
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(p_row) where key = any (p_names) and value <> 'null'
$$;

-- Returns the stored row that a row of an export is, by what never changes. Null: it is new. p_taken: the rows that those
-- just before it were; others may share their time.
create or replace function relay.find_imported(p_part text, p_space_id bigint, p_row jsonb, p_taken bigint[])
returns bigint language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    made_at constant timestamptz := p_row ->> 'created_at';
begin
    return case p_part
        when 'sessions' then (
            select id from session
            where thread_id = (p_row ->> 'thread')::bigint and started_at = (p_row ->> 'started_at')::timestamptz limit 1)
        when 'messages' then (
            select id from message
            where session_id = (p_row ->> 'session')::bigint and role = p_row ->> 'role' and created_at = made_at
                and id <> all (p_taken)
            order by text <> p_row ->> 'text', id limit 1)
        when 'documents' then (
            select id from document where space_id = p_space_id and unique_id = p_row ->> 'unique_id')
        when 'summaries' then (
            select id from summary where thread_id = (p_row ->> 'thread')::bigint and created_at = made_at limit 1)
        when 'memories' then (
            -- Memories from one answer share their time, so only one with the same words, or one that was reworded,
            -- matches.
            select id from memory m
            where space_id = p_space_id and created_at = made_at and id <> all (p_taken)
                and (kind = 'learning') = (p_row ->> 'kind' = 'learning')  -- a fact that is said again may get another kind
                and (relay.normal_form(content) = relay.normal_form(p_row ->> 'content')
                    or exists (select from memory_change c
                        where c.memory_id = m.id and c.before ->> 'content' = p_row ->> 'content')
                    or exists (select from jsonb_array_elements(p_row -> 'changes') as c where c ->> 'before' = m.content))
            order by (content = p_row ->> 'content') desc, id limit 1)
        when 'feedback' then (
            select f.id from feedback f
            where f.space_id = p_space_id and f.user_id = (p_row ->> 'user_id')::bigint and f.kind = p_row ->> 'kind'
                and f.at = made_at limit 1)
        when 'preference_decisions' then (
            select d.id from preference_decision d
            where d.space_id = p_space_id and d.user_id = (p_row ->> 'user_id')::bigint and d.type = p_row ->> 'kind'
                and d.pattern = p_row ->> 'pattern' and d.action = p_row ->> 'action' and d.at = made_at limit 1)
        when 'keepits' then (
            select id from keepit
            where message_id = (p_row ->> 'message')::bigint and seq = (p_row #>> '{row,seq}')::integer)
        when 'session_links' then null
        when 'context_settings' then null
        else relay.find_artefact(p_part, p_space_id, p_row) end;
end $$;

-- Stores a row of an export, with what belongs to it, and returns its id. Null: it is not stored.
create or replace function relay.import_row(p_part text, p_space_id bigint, p_row jsonb) returns bigint
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    place constant jsonb := jsonb_build_object(
        'space_id', p_space_id, 'thread_id', p_row -> 'thread', 'session_id', p_row -> 'session');
    about constant bigint := p_row ->> 'message';
    made bigint;
begin
    case p_part
    when 'sessions' then
        made := relay.insert_row('session', place || relay.fields_of(p_row, 'title', 'titled_by', 'topics', 'started_at',
            'ended_at', 'registered_at', 'last_accessed_at'));
    when 'messages' then
        -- Messages that were judged are not judged again: the export brings their findings, including forgotten ones.
        perform set_config('relay.judged', case when (p_row ->> 'judged')::boolean then 'yes' else 'no' end, true);
        made := relay.insert_row('message', place || relay.fields_of(p_row, 'role', 'user_id', 'name', 'text', 'blocks',
            'status', 'untrusted', 'tainted', 'started_by', 'created_at'));
        insert into message_version (message_id, text, blocks, untrusted, replaced_at)
        select made, v.text, v.blocks, v.untrusted, v.replaced_at
        from jsonb_populate_recordset(null::message_version, p_row -> 'versions') v order by v.replaced_at;
        insert into signal (space_id, message_id, user_id, emoji, created_at, removed_at, telegram_message_id)
        select p_space_id, made, r.user_id, left(r.emoji, 64), r.created_at, r.removed_at, r.telegram_message_id
        from jsonb_populate_recordset(null::signal, p_row -> 'reactions') r order by r.created_at
        on conflict do nothing;
    when 'documents' then
        if exists (select from message where id = about and space_id = p_space_id) then
            perform relay.keep_documents(about, p_space_id, jsonb_build_array(p_row));
            update document set created_at = (p_row ->> 'created_at')::timestamptz
            where space_id = p_space_id and unique_id = p_row ->> 'unique_id' returning id into made;
        end if;
    when 'summaries' then
        if exists (select from thread where id = (p_row ->> 'thread')::bigint and space_id = p_space_id) then
            made := relay.insert_row('summary', place || relay.fields_of(p_row, 'text', 'message_count', 'model',
                'settings', 'tainted', 'author_id', 'created_at') || jsonb_build_object('previous_id', p_row -> 'previous',
                'from_message_id', p_row -> 'from_message', 'through_message_id', p_row -> 'through_message'));
        end if;
    when 'memories' then
        made := relay.insert_row('memory', place || relay.fields_of(p_row, 'kind', 'subject_id', 'subject', 'content',
            'category', 'tags', 'importance', 'pinned', 'status', 'tainted', 'confidence', 'valid_from', 'valid_until',
            'exact_at', 'evidence', 'promoted_by', 'recalled_at', 'last_used_at', 'uses', 'validated_at', 'validated_by',
            'created_at', 'updated_at') || jsonb_build_object('source_message_id', p_row -> 'source',
            'derivation', jsonb_build_object('name', coalesce(p_row ->> 'made_by', 'tag'), 'version', 1)));
        insert into memory_change (space_id, memory_id, user_id, action, status, before, created_at, decided_at)
        select p_space_id, made, c.user_id, c.action, c.status, case when c.before is not null then jsonb_strip_nulls(
            jsonb_build_object('content', c.before, 'status', c.state)) end, c.created_at, c.decided_at
        from jsonb_to_recordset(p_row -> 'changes') as c (user_id bigint, action text, status text, before text,
            state text, created_at timestamptz, decided_at timestamptz)
        order by c.created_at;
    when 'feedback' then
        made := relay.insert_row('feedback', place || relay.fields_of(p_row, 'user_id', 'kind', 'value', 'withdrawn_at')
            || jsonb_build_object('message_id', about, 'source', 'import', 'at', p_row -> 'created_at',
                'settles_at', p_row -> 'created_at'));
        insert into observation (feedback_id, space_id, user_id, thread_id, type, pattern, polarity, weight,
            reinforcing, explicit, pending, session_id, at, derivation)
        select made, p_space_id, (p_row ->> 'user_id')::bigint, case when o.here then (p_row ->> 'thread')::bigint end,
            o.kind, left(o.pattern, 60), o.polarity, o.weight, o.reinforcing, o.explicit, coalesce(o.pending, false),
            (p_row ->> 'session')::bigint, (p_row ->> 'created_at')::timestamptz, o.made_by
        from jsonb_to_recordset(p_row -> 'observations') as o (kind text, pattern text, polarity smallint, weight numeric,
            reinforcing smallint, explicit boolean, here boolean, pending boolean, made_by jsonb);
    when 'preference_decisions' then
        made := relay.insert_row('preference_decision', place || relay.fields_of(p_row, 'user_id', 'polarity', 'action')
            || jsonb_build_object('type', p_row -> 'kind', 'pattern', left(p_row ->> 'pattern', 60),
                'at', p_row -> 'created_at'));
    when 'keepits' then
        select relay.insert_row('keepit', (p_row -> 'row') || jsonb_build_object('space_id', p_space_id,
            'thread_id', m.thread_id, 'session_id', m.session_id, 'message_id', m.id, 'user_id', p_row -> 'user_id',
            'origin', 'import')) into made
        from message m where m.id = about and m.space_id = p_space_id;
    when 'session_links' then
        insert into session_link (source_session_id, target_thread_id, space_id, reason, linked_by, linked_at)
        select s.id, t.id, p_space_id, p_row ->> 'reason', (p_row ->> 'linked_by')::bigint,
            (p_row ->> 'created_at')::timestamptz
        from session s join thread t on t.id = (p_row ->> 'thread')::bigint and t.space_id = p_space_id
        where s.id = (p_row ->> 'session')::bigint and s.space_id = p_space_id and not s.private
        on conflict do nothing returning source_session_id into made;
    when 'context_settings' then  -- unless the space has its own
        insert into context_setting (space_id, settings, changed_at)
        values (p_space_id, p_row -> 'settings', (p_row ->> 'created_at')::timestamptz)
        on conflict do nothing returning space_id into made;
    else
        made := relay.import_artefact(p_part, p_space_id, p_row);
    end case;
    return made;
end $$;

-- Imports rows of a part of an export: see relay.export_lines. p_taken: the memories that rows just before
-- these were. Uses indexes alone: plans are kept, even if they were made while the tables were empty.
create or replace function public.relay_import_rows(p_part text, p_space_id bigint, p_rows jsonb, p_taken jsonb)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp set enable_seqscan = off set jit = off as $$
declare
    taken bigint[] := array(select jsonb_array_elements_text(p_taken)::bigint);
    written bigint[] := '{}';
    ids bigint[] := '{}';
    added integer := 0;
    found_id bigint;
    one jsonb;
begin
    for one in select jsonb_array_elements(p_rows) loop
        found_id := relay.find_imported(p_part, p_space_id, one, taken || ids);
        if found_id is null then
            found_id := relay.import_row(p_part, p_space_id, one);
            added := added + (found_id is not null)::integer;
            written := written || (one ->> 'thread')::bigint;
        end if;
        ids := ids || found_id;
    end loop;
    if p_part = 'messages' then
        perform relay.turn_page(t) from (select distinct unnest(written) as t) threads;
    end if;
    return jsonb_build_object('ids', to_jsonb(ids), 'added', added);
end $$;

-- Links imported memories to those that replaced them, {id, replaced_by}, and the changes that did so to the replaced
-- memories. Existing links stay.
create or replace function public.relay_import_links(p_space_id bigint, p_rows jsonb) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    with link as (
        select old.id, old.content, given.replaced_by
        from jsonb_to_recordset(p_rows) as given (id bigint, replaced_by bigint)
        join memory old on old.id = given.id and old.space_id = p_space_id and old.replaced_by is null
        join memory new on new.id = given.replaced_by and new.space_id = p_space_id),
    linked as (
        update memory m set replaced_by = l.replaced_by from link l where m.id = l.id returning m.id),
    told as (
        update memory_change c set before = c.before || jsonb_build_object('id', l.id)
        from link l
        where c.memory_id = l.replaced_by and c.action in ('supersede', 'merge') and not c.before ? 'id'
            and c.before ->> 'content' = l.content returning c.id)
    select jsonb_build_object('linked', (select count(*) from linked), 'told', (select count(*) from told))
$$;

-- Finishes an import: threads that were empty continue with their last session. relay.turn_page handles the others.
create or replace function public.relay_import_finish(p_space_id bigint) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own thread;
    last session;
    first_message bigint;
begin
    for own in
        select * from thread where space_id = p_space_id and session_id is null and context_from = 0 for no key update
    loop
        select s.* into last from session s where s.thread_id = own.id
            and exists (select from message m where m.session_id = s.id)
        order by s.started_at desc, s.id desc limit 1;
        continue when last.id is null;
        select min(id) into first_message from message where session_id = last.id;
        update thread set session_id = last.id, context_from = first_message, window_from = first_message,
            exchange_count = (select count(*) from message
                where thread_id = own.id and role = 'assistant' and status <> 'replaced'),
            last_at = (select max(created_at) from message where session_id = last.id),
            summary_id = (select id from summary
                where thread_id = own.id and through_message_id >= first_message
                order by through_message_id desc, id desc limit 1)
        where id = own.id;
    end loop;
    return to_jsonb(true);
end $$;

-- After an import into a thread in use, makes the next message begin a new session, so that old messages don't appear
-- to be the latest. Threads that were empty wait for the end of the import.
create or replace function relay.turn_page(p_thread_id bigint) returns void
language sql set search_path = relay, extensions, pg_temp as $$
    with own as (
        select * from thread where id = p_thread_id and (session_id is not null or context_from > 0)
        for no key update),
    ended as (
        update session s set ended_at = now() from own where s.id = own.session_id and s.ended_at is null)
    update thread t set session_id = null, summary_id = null, context_from = last.id + 1, window_from = last.id + 1
    from own, (select max(id) as id from message where thread_id = p_thread_id) last where t.id = own.id
$$;
