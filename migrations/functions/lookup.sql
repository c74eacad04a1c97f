-- Opens search results: a message with its neighbours, a memory with its origin, another artefact, or a document part.
-- And the model's search tool, within what the asking thread may see.

-- Tests whether a thread may read a space's memory now: its own, or a lent one.
create or replace function relay.may_look(p_space_id bigint, p_asker jsonb) returns boolean
language sql stable set search_path = relay, extensions, pg_temp as $$
    select relay.remembers(p_space_id) and not exists (
        select from thread where chat_id = (p_asker ->> 'chat_id')::bigint
            and topic_id = (p_asker ->> 'topic_id')::bigint and not recalls)
$$;

-- Searches a space for the model's tool and names the place of each result. p_asker: {bot_id, chat_id, topic_id,
-- turn_id} (the turn's own message is left out). p_query: as in relay.find_entries. Indexes recent messages and documents
-- first. Null if memory may not be used.
create or replace function public.relay_look_up(p_space jsonb, p_asker jsonb, p_query jsonb, p_limit integer)
returns jsonb language sql set search_path = relay, extensions, pg_temp as $$
    select relay.enter_due(50);
    select relay.index_documents() where exists (
        select from index_due i join document d on d.id = i.document_id where d.space_id = relay.find_space(p_space));
    select case when relay.may_look(own.id, p_asker) then (
        select coalesce(jsonb_agg(one.line || jsonb_build_object('place',
            relay.place_name((p_asker ->> 'bot_id')::bigint, t.chat_id, t.topic_id)) order by one.nr), '[]')
        from jsonb_array_elements(relay.found_json(own.id,
            (p_query - 'floor' - 'not_thread') || jsonb_build_object(
                'not_message', (select user_message_id from turn where id = (p_asker ->> 'turn_id')::bigint)),
            p_limit))
            with ordinality as one (line, nr)
        left join thread t on t.id = (one.line ->> 'thread_id')::bigint and t.space_id = own.id) end
    from (select relay.find_space(p_space) as id) own
$$;

-- Returns a message for display among others: the beginning of its text, and whether it or its answer read untrusted
-- text.
create or replace function relay.told_message(p_message relay.message, p_characters integer) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('id', p_message.id, 'at', p_message.created_at, 'role', p_message.role,
        'user_id', p_message.user_id, 'name', p_message.name, 'text', left(relay.plain_text(p_message), p_characters),
        'cut', length(p_message.text) > p_characters, 'untrusted', p_message.untrusted or p_message.tainted)
$$;

-- Returns the first six of some messages on the record, from which something was made.
create or replace function relay.told_sources(p_space_id bigint, p_messages bigint[]) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_agg(relay.told_message(said, 1500) order by (said).id), '[]') from (
        select m as said from message m join session s on s.id = m.session_id and not s.private
        where m.id = any (p_messages) and m.space_id = p_space_id and m.status <> 'replaced' order by m.id limit 6) few
$$;

-- Returns a message with p_count before and after it in its thread. Null if it is missing, replaced or off the record.
create or replace function relay.look_at_message(p_space_id bigint, p_bot_id bigint, p_id bigint, p_count integer)
returns jsonb language sql stable set search_path = relay, extensions, pg_temp as $$
    with own as (
        select m.*, t.chat_id, t.topic_id from message m join thread t on t.id = m.thread_id
        join session s on s.id = m.session_id
        where m.id = p_id and m.space_id = p_space_id and m.status <> 'replaced' and not s.private),
    near as (
        (select m.* from own, message m join session s on s.id = m.session_id and not s.private
        where m.thread_id = own.thread_id and m.id < own.id and m.status <> 'replaced'
        order by m.id desc limit p_count)
        union all
        (select m.* from own, message m join session s on s.id = m.session_id and not s.private
        where m.thread_id = own.thread_id and m.id >= own.id and m.status <> 'replaced'
        order by m.id limit p_count + 1))
    select jsonb_build_object('kind', 'message', 'id', own.id,
        'place', relay.place_name(p_bot_id, own.chat_id, own.topic_id),
        'messages', (select jsonb_agg(relay.told_message(m, case when n.id = own.id then 6000 else 1500 end)
            order by n.id) from near n join message m on m.id = n.id))
    from own
$$;

-- Returns a memory that is in force or archived: its text, validity, source messages and earlier wordings. Null for
-- others.
create or replace function relay.look_at_memory(p_space_id bigint, p_bot_id bigint, p_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('kind', 'memory', 'id', k.id, 'number', k.number, 'type', k.kind, 'content', k.content,
        'subject', k.subject, 'subject_id', k.subject_id, 'category', k.category, 'tags', k.tags,
        'importance', k.importance, 'confidence', k.confidence, 'pinned', k.pinned, 'status', k.status,
        'at', k.created_at, 'updated_at', k.updated_at, 'valid_from', k.valid_from, 'valid_until', k.valid_until,
        'by', k.derivation ->> 'name', 'promoted', k.promoted_by is not null, 'untrusted', k.tainted,
        'place', relay.place_name(p_bot_id, t.chat_id, t.topic_id),
        'sources', relay.told_sources(p_space_id, k.evidence || k.source_message_id),
        'before', (
            select coalesce(jsonb_agg(jsonb_build_object('until', was.until, 'said', left(was.said, 600))
                order by was.until), '[]')
            from (
                select * from (
                    select coalesce(c.decided_at, c.created_at) as until, c.before ->> 'content' as said
                    from memory_change c
                    where c.memory_id = k.id and c.status = 'applied' and c.before ->> 'content' <> k.content
                    union
                    select o.updated_at, o.content from memory o
                    where o.replaced_by = k.id and o.space_id = p_space_id and o.status = 'superseded') every
                order by until desc limit 10) was))
    from memory k left join thread t on t.id = k.thread_id
    where k.id = p_id and k.space_id = p_space_id and k.status in ('active', 'archived')
$$;

-- Returns a summary with the first and last message it covers. Null if it is missing or off the record.
create or replace function relay.look_at_summary(p_space_id bigint, p_bot_id bigint, p_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('kind', 'summary', 'id', s.id, 'number', s.id, 'at', s.created_at, 'content', left(s.text, 12000),
        'title', relay.artefact_title('summary', s.id), 'messages', s.message_count, 'untrusted', s.tainted,
        'place', relay.place_name(p_bot_id, t.chat_id, t.topic_id),
        'from_id', s.from_message_id, 'through_id', s.through_message_id,
        'from_at', (select created_at from message where id = s.from_message_id and space_id = p_space_id),
        'through_at', (select created_at from message where id = s.through_message_id and space_id = p_space_id))
    from summary s join thread t on t.id = s.thread_id join session n on n.id = s.session_id
    where s.id = p_id and t.space_id = p_space_id and not n.private
$$;

-- Returns a document part; null if there is none.
create or replace function relay.look_at_part(p_space_id bigint, p_bot_id bigint, p_id bigint, p_part integer)
returns jsonb language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('kind', 'part', 'id', d.id, 'part', p.part, 'parts', d.parts, 'document', d.name,
        'at', m.created_at, 'name', m.name, 'user_id', m.user_id, 'message_id', m.id, 'content', left(p.text, 12000),
        'untrusted', true, 'place', relay.place_name(p_bot_id, t.chat_id, t.topic_id))
    from document d join document_part p on p.document_id = d.id and p.part = p_part
    join message m on m.id = d.message_id join thread t on t.id = m.thread_id join session n on n.id = m.session_id
    where d.id = p_id and d.space_id = p_space_id and m.status <> 'replaced' and not n.private
$$;

-- Opens a search result of kind p_kind (as in relay.entry). Null if the space has no such thing, or p_asker ({bot_id,
-- chat_id, topic_id}; `guarded` for the model) may not use memory.
create or replace function public.relay_look_at(
    p_space jsonb, p_asker jsonb, p_guarded boolean, p_kind text, p_id bigint, p_part integer)
returns jsonb language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    own bigint := relay.find_space(p_space);
    bot bigint := (p_asker ->> 'bot_id')::bigint;
begin
    if own is null or p_guarded and not relay.may_look(own, p_asker) then
        return null;
    end if;
    return case p_kind
        when 'message' then relay.look_at_message(own, bot, p_id, 4)
        when 'memory' then relay.look_at_memory(own, bot, p_id)
        when 'summary' then relay.look_at_summary(own, bot, p_id)
        when 'part' then relay.look_at_part(own, bot, p_id, p_part)
        else relay.look_at_artefact(own, bot, p_kind, p_id) end;
end $$;

-- Documents, stored with their message and read part by part.

-- Stores the texts of a message's files: [{unique_id, name, mime, kind, pages, parts: [text], replied}]. A file that the
-- space already has moves to this message, unless the message only replies to it; only changed parts are rewritten.
create or replace function relay.keep_documents(p_message_id bigint, p_space_id bigint, p_documents jsonb)
returns void language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    one jsonb;
    kept bigint;
begin
    for one in select jsonb_array_elements(p_documents) loop
        continue when (one ->> 'replied')::boolean and exists (
            select from document where space_id = p_space_id and unique_id = one ->> 'unique_id');
        insert into document (space_id, message_id, unique_id, name, mime, kind, pages, parts)
        values (p_space_id, p_message_id, one ->> 'unique_id', one ->> 'name', one ->> 'mime', one ->> 'kind',
            (one ->> 'pages')::integer, jsonb_array_length(one -> 'parts'))
        on conflict (space_id, unique_id) do update
            set message_id = excluded.message_id, name = excluded.name, mime = excluded.mime, kind = excluded.kind,
                pages = excluded.pages, parts = excluded.parts, created_at = now()
        returning id into kept;
        delete from document_part where document_id = kept and part > jsonb_array_length(one -> 'parts');
        insert into document_part (document_id, part, space_id, text)
        select kept, given.place, p_space_id, given.text
        from jsonb_array_elements_text(one -> 'parts') with ordinality as given (text, place)
        on conflict (document_id, part) do update set text = excluded.text
            where document_part.text <> excluded.text;
    end loop;
end $$;

-- Lists documents of a space, or those with given names (lower case), for the model: sender, time (UTC), and version
-- (1: the oldest of that name).
create or replace function relay.documents_told(p_space_id bigint, p_names text[])
returns table (id bigint, created_at timestamptz, version bigint, told jsonb)
language sql stable set search_path = relay, extensions, pg_temp as $$
    select kept.id, kept.created_at, kept.version, jsonb_build_object('name', kept.name, 'kind', kept.kind,
        'pages', kept.pages, 'parts', kept.parts, 'version', kept.version, 'versions', kept.versions,
        'sent_by', kept.sender, 'mark', kept.mark,
        'sent_at', to_char(kept.created_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI'))
    from (
        select d.*, coalesce(p.name, m.name) as sender, p.mark,
            row_number() over (partition by lower(d.name) order by d.created_at, d.id) as version,
            count(*) over (partition by lower(d.name)) as versions
        from document d join message m on m.id = d.message_id
        left join relay.people_in(p_space_id) p on p.user_id = m.user_id
        where d.space_id = p_space_id and (p_names is null or lower(d.name) = any (p_names))) kept
$$;

-- Returns a part of the document with this name, or of the only one whose name contains it; version p_version (1:
-- oldest) or the newest: {document, part, text, others: up to nine other versions, newest first}. If no name matches,
-- several do, or the version is missing: {documents: up to ten candidates, else the newest}.
create or replace function public.relay_open_document(p_space jsonb, p_name text, p_part integer, p_version integer)
returns jsonb language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    own bigint := relay.find_space(p_space);
    wanted constant text := lower(btrim(p_name));
    names text[];
    found record;
begin
    select array_agg(name) into names from (
        select lower(name) as name from document
        where space_id = own and wanted <> '' and position(wanted in lower(name)) > 0
        group by lower(name) order by lower(name) = wanted desc, max(created_at) desc limit 10) matching;
    if names[1] = wanted or cardinality(names) = 1 then
        names := names[1:1];
        select * into found from relay.documents_told(own, names) d where d.version = coalesce(p_version, d.version)
        order by d.version desc limit 1;
        if found.id is not null then
            return jsonb_build_object('document', found.told, 'part', p_part,
                'text', (select text from document_part where document_id = found.id and part = p_part),
                'others', (
                    select coalesce(jsonb_agg(o.told order by o.version desc), '[]') from (
                        select * from relay.documents_told(own, names) d where d.id <> found.id
                        order by d.version desc limit 9) o));
        end if;
    end if;
    return jsonb_build_object('documents', (
        select coalesce(jsonb_agg(d.told order by d.created_at desc, d.id desc), '[]') from (
            select * from relay.documents_told(own, names) d order by d.created_at desc, d.id desc limit 10) d));
end $$;
