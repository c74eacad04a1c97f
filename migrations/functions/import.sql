-- Imports an export into a space. Rows that already exist, by their unchanging fields (where, when and by whom), are
-- left alone, so an import can be repeated. Each function returns the ids of its rows in order: {ids, added}.

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

-- Imports sessions, identified by thread and start.
create or replace function public.relay_import_sessions(p_space_id bigint, p_rows jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    one record;
    found_id bigint;
    ids bigint[] := '{}';
    added integer := 0;
begin
    for one in select * from jsonb_to_recordset(p_rows) as r (
        thread bigint, title text, titled_by text, topics text[], started_at timestamptz, ended_at timestamptz,
        registered_at timestamptz, last_accessed_at timestamptz)
    loop
        select id into found_id from session where thread_id = one.thread and started_at = one.started_at limit 1;
        if found_id is null then
            insert into session (thread_id, space_id, title, titled_by, topics, started_at, ended_at, registered_at,
                last_accessed_at)
            values (one.thread, p_space_id, one.title, one.titled_by, one.topics, one.started_at, one.ended_at,
                one.registered_at, one.last_accessed_at)
            returning id into found_id;
            added := added + 1;
        end if;
        ids := ids || found_id;
    end loop;
    return jsonb_build_object('ids', to_jsonb(ids), 'added', added);
end $$;

-- Imports messages, identified by session, role and time (two answers to choose from share it). Messages that were judged
-- are not judged again: the export brings their findings, including forgotten ones.
create or replace function public.relay_import_messages(p_space_id bigint, p_rows jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    one record;
    found_id bigint;
    ids bigint[] := '{}';
    written bigint[] := '{}';
    added integer := 0;
begin
    for one in select * from jsonb_to_recordset(p_rows) as r (
        thread bigint, session bigint, role text, user_id bigint, name text, text text, blocks jsonb, status text,
        untrusted boolean, tainted boolean, started_by text, judged boolean, created_at timestamptz, versions jsonb,
        reactions jsonb)
    loop
        select id into found_id from message
        where session_id = one.session and role = one.role and created_at = one.created_at and id <> all (ids)
        order by text <> one.text, id limit 1;
        if found_id is null then
            perform set_config('relay.judged', case when one.judged then 'yes' else 'no' end, true);
            insert into message (space_id, thread_id, session_id, role, user_id, name, text, blocks, status, untrusted,
                tainted, started_by, created_at)
            values (p_space_id, one.thread, one.session, one.role, one.user_id, one.name, one.text, one.blocks,
                one.status, one.untrusted, one.tainted, one.started_by, one.created_at)
            returning id into found_id;
            insert into message_version (message_id, text, blocks, untrusted, replaced_at)
            select found_id, v.text, v.blocks, v.untrusted, v.replaced_at
            from jsonb_to_recordset(one.versions) as v (
                text text, blocks jsonb, untrusted boolean, replaced_at timestamptz)
            order by v.replaced_at;
            insert into signal (space_id, message_id, user_id, emoji, created_at, removed_at)
            select p_space_id, found_id, r.user_id, left(r.emoji, 64), r.created_at, r.removed_at
            from jsonb_to_recordset(one.reactions) as r (
                user_id bigint, emoji text, created_at timestamptz, removed_at timestamptz)
            order by r.created_at
            on conflict do nothing;
            added := added + 1;
            written := written || one.thread;
        end if;
        ids := ids || found_id;
    end loop;
    perform relay.turn_page(t) from (select distinct unnest(written) as t) threads;
    return jsonb_build_object('ids', to_jsonb(ids), 'added', added);
end $$;

-- Imports documents, identified by their file.
create or replace function public.relay_import_documents(p_space_id bigint, p_rows jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    one jsonb;
    found_id bigint;
    ids bigint[] := '{}';
    added integer := 0;
begin
    for one in select jsonb_array_elements(p_rows) loop
        select id into found_id from document where space_id = p_space_id and unique_id = one ->> 'unique_id';
        if found_id is null and exists (
            select from message where id = (one ->> 'message')::bigint and space_id = p_space_id)
        then
            perform relay.keep_documents((one ->> 'message')::bigint, p_space_id, jsonb_build_array(one));
            update document set created_at = (one ->> 'created_at')::timestamptz
            where space_id = p_space_id and unique_id = one ->> 'unique_id' returning id into found_id;
            added := added + 1;
        end if;
        ids := ids || found_id;
    end loop;
    return jsonb_build_object('ids', to_jsonb(ids), 'added', added);
end $$;

-- Imports summaries, identified by thread and time.
create or replace function public.relay_import_summaries(p_space_id bigint, p_rows jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    one record;
    found_id bigint;
    ids bigint[] := '{}';
    added integer := 0;
begin
    for one in select * from jsonb_to_recordset(p_rows) as r (
        thread bigint, session bigint, previous bigint, text text, from_message bigint, through_message bigint,
        message_count integer, model text, settings jsonb, tainted boolean, author_id bigint, created_at timestamptz)
    loop
        select id into found_id from summary where thread_id = one.thread and created_at = one.created_at limit 1;
        if found_id is null then
            insert into summary (thread_id, session_id, previous_id, text, from_message_id, through_message_id,
                message_count, model, settings, tainted, author_id, created_at)
            select one.thread, one.session, one.previous, one.text, one.from_message, one.through_message,
                one.message_count, one.model, one.settings, one.tainted, one.author_id, one.created_at
            from thread where id = one.thread and space_id = p_space_id
            on conflict do nothing
            returning id into found_id;
            added := added + (found_id is not null)::integer;
        end if;
        ids := ids || found_id;
    end loop;
    return jsonb_build_object('ids', to_jsonb(ids), 'added', added);
end $$;

-- Imports memories with their changes, identified by time. Among several with the same time, matches the one with the
-- same words, else the first that is not in p_taken (matched just before).
create or replace function public.relay_import_memories(p_space_id bigint, p_rows jsonb, p_taken jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    one record;
    found_id bigint;
    taken bigint[] := array(select jsonb_array_elements_text(p_taken)::bigint);
    ids bigint[] := '{}';
    added integer := 0;
begin
    for one in select * from jsonb_to_recordset(p_rows) as r (
        kind text, subject_id bigint, subject text, content text, category text, tags text[], importance smallint,
        pinned boolean, status text, tainted boolean, thread bigint, session bigint, source bigint, made_by text,
        confidence real, valid_from timestamptz, valid_until timestamptz, exact_at timestamptz, evidence bigint[],
        promoted_by bigint, recalled_at timestamptz,
        last_used_at timestamptz, uses integer, validated_at timestamptz, validated_by bigint, created_at timestamptz,
        updated_at timestamptz, changes jsonb)
    loop
        -- Memories from one answer share their time, so only one with the same words, or one that was reworded,
        -- matches.
        select id into found_id from memory m
        where space_id = p_space_id and created_at = one.created_at and id <> all (taken)
            and (kind = 'learning') = (one.kind = 'learning')  -- a fact that is said again may get another kind
            and (relay.normal_form(content) = relay.normal_form(one.content)
                or exists (select from memory_change c
                    where c.memory_id = m.id and c.before ->> 'content' = one.content)
                or exists (select from jsonb_array_elements(one.changes) as c where c ->> 'before' = m.content))
        order by (content = one.content) desc, id limit 1;
        if found_id is null then
            insert into memory (space_id, kind, subject_id, subject, content, category, tags, importance, pinned, status,
                tainted, thread_id, session_id, source_message_id, confidence, valid_from, valid_until, exact_at,
                evidence, promoted_by, recalled_at, last_used_at, uses, validated_at, validated_by, derivation, created_at,
                updated_at)
            values (p_space_id, one.kind, one.subject_id, one.subject, one.content, one.category, one.tags,
                one.importance, one.pinned, one.status, one.tainted, one.thread, one.session, one.source,
                coalesce(one.confidence, 1), one.valid_from, one.valid_until, one.exact_at, coalesce(one.evidence, '{}'),
                one.promoted_by, one.recalled_at, one.last_used_at, coalesce(one.uses, 0), one.validated_at, one.validated_by,
                jsonb_build_object('name', coalesce(one.made_by, 'tag'), 'version', 1), one.created_at, one.updated_at)
            returning id into found_id;
            insert into memory_change (space_id, memory_id, user_id, action, status, before, created_at, decided_at)
            select p_space_id, found_id, c.user_id, c.action, c.status,
                case when c.before is not null then jsonb_strip_nulls(
                    jsonb_build_object('content', c.before, 'status', c.state)) end, c.created_at,
                c.decided_at
            from jsonb_to_recordset(one.changes) as c (
                user_id bigint, action text, status text, before text, state text, created_at timestamptz,
                decided_at timestamptz)
            order by c.created_at;
            added := added + 1;
        end if;
        taken := taken || found_id;
        ids := ids || found_id;
    end loop;
    return jsonb_build_object('ids', to_jsonb(ids), 'added', added);
end $$;

-- Imports feedback with its observations, identified by person, kind and time.
create or replace function public.relay_import_feedback(p_space_id bigint, p_rows jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    one record;
    found_id bigint;
    ids bigint[] := '{}';
    added integer := 0;
begin
    for one in select * from jsonb_to_recordset(p_rows) as r (
        thread bigint, session bigint, message bigint, user_id bigint, kind text, value jsonb,
        created_at timestamptz, withdrawn_at timestamptz, observations jsonb)
    loop
        select id into found_id from feedback
        where space_id = p_space_id and user_id = one.user_id and kind = one.kind and at = one.created_at limit 1;
        if found_id is null then
            insert into feedback (space_id, thread_id, session_id, user_id, kind, message_id, value, source, at,
                settles_at, withdrawn_at)
            values (p_space_id, one.thread, one.session, one.user_id, one.kind, one.message, one.value, 'import',
                one.created_at, one.created_at, one.withdrawn_at)
            returning id into found_id;
            insert into observation (feedback_id, space_id, user_id, thread_id, type, pattern, polarity, weight,
                reinforcing, explicit, pending, session_id, at, derivation)
            select found_id, p_space_id, one.user_id, case when o.here then one.thread end, o.kind, left(o.pattern, 60),
                o.polarity, o.weight, o.reinforcing, o.explicit, coalesce(o.pending, false), one.session, one.created_at,
                o.made_by
            from jsonb_to_recordset(one.observations) as o (kind text, pattern text, polarity smallint, weight numeric,
                reinforcing smallint, explicit boolean, here boolean, pending boolean, made_by jsonb);
            added := added + 1;
        end if;
        ids := ids || found_id;
    end loop;
    return jsonb_build_object('ids', to_jsonb(ids), 'added', added);
end $$;

-- Imports decisions about patterns, identified by person, pattern and time.
create or replace function public.relay_import_preference_decisions(p_space_id bigint, p_rows jsonb) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    with given as (
        select * from jsonb_to_recordset(p_rows) as r (
            thread bigint, user_id bigint, kind text, pattern text, polarity smallint, action text,
            created_at timestamptz)),
    added as (
        insert into preference_decision (space_id, user_id, thread_id, type, pattern, polarity, action, at)
        select p_space_id, g.user_id, g.thread, g.kind, left(g.pattern, 60), g.polarity, g.action, g.created_at
        from given g
        where not exists (
            select from preference_decision d
            where d.space_id = p_space_id and d.user_id = g.user_id and d.type = g.kind and d.pattern = g.pattern
                and d.action = g.action and d.at = g.created_at)
        order by g.created_at returning 1)
    select jsonb_build_object('ids', (select coalesce(jsonb_agg(null::bigint), '[]') from given),
        'added', (select count(*) from added))
$$;

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

-- Imports markers, identified by their message and place.
create or replace function public.relay_import_keepits(p_space_id bigint, p_rows jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    one jsonb;
    of_message message;
    given jsonb;
    found_id bigint;
    ids bigint[] := '{}';
    added integer := 0;
begin
    for one in select jsonb_array_elements(p_rows) loop
        select * into of_message from message where id = (one ->> 'message')::bigint and space_id = p_space_id;
        select id into found_id from keepit
        where message_id = of_message.id and seq = (one #>> '{row,seq}')::integer;
        if found_id is null and of_message.id is not null then
            given := (one -> 'row') || jsonb_build_object('space_id', p_space_id, 'thread_id', of_message.thread_id,
                'session_id', of_message.session_id, 'message_id', of_message.id, 'user_id', one -> 'user_id',
                'origin', 'import');
            execute format('insert into relay.keepit (%1$s) select %1$s from jsonb_populate_record(null::relay.keepit, $1)
                returning id', relay.columns_named('keepit', given)) into found_id using given;
            added := added + 1;
        end if;
        ids := ids || found_id;
    end loop;
    return jsonb_build_object('ids', to_jsonb(ids), 'added', added);
end $$;

-- Imports links from sessions to other conversations of the space.
create or replace function public.relay_import_session_links(p_space_id bigint, p_rows jsonb) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    with given as (
        select * from jsonb_to_recordset(p_rows) as r (
            session bigint, thread bigint, reason text, linked_by bigint, created_at timestamptz)),
    added as (
        insert into session_link (source_session_id, target_thread_id, space_id, reason, linked_by, linked_at)
        select s.id, t.id, p_space_id, g.reason, g.linked_by, g.created_at
        from given g join session s on s.id = g.session and s.space_id = p_space_id and not s.private
        join thread t on t.id = g.thread and t.space_id = p_space_id
        on conflict do nothing returning 1)
    select jsonb_build_object('ids', (select coalesce(jsonb_agg(null::bigint), '[]') from given),
        'added', (select count(*) from added))
$$;

-- Imports a space's settings for contexts unless it has its own.
create or replace function public.relay_import_context_settings(p_space_id bigint, p_rows jsonb) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    with added as (
        insert into context_setting (space_id, settings, changed_at)
        select p_space_id, one -> 'settings', (one ->> 'created_at')::timestamptz
        from jsonb_array_elements(p_rows) one limit 1
        on conflict do nothing returning 1)
    select jsonb_build_object('ids', (select coalesce(jsonb_agg(null::bigint), '[]') from jsonb_array_elements(p_rows)),
        'added', (select count(*) from added))
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
        select * from thread where space_id = p_space_id and session_id is null and context_from = 0 for update
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
        select * from thread where id = p_thread_id and (session_id is not null or context_from > 0) for update),
    ended as (
        update session s set ended_at = now() from own where s.id = own.session_id and s.ended_at is null)
    update thread t set session_id = null, summary_id = null, context_from = last.id + 1, window_from = last.id + 1
    from own, (select max(id) as id from message where thread_id = p_thread_id) last where t.id = own.id
$$;
