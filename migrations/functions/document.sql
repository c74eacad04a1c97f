-- Documents: kept with the message that brings them, read part by part.

-- Keeps the texts of a message's files: [{unique_id, name, mime, kind, pages, parts: [text]}]. A file that the space has
-- already becomes this message's; its parts are written again only where they are others.
create or replace function relay.keep_documents(p_message_id bigint, p_space_id bigint, p_documents jsonb)
returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    one jsonb;
    kept bigint;
begin
    for one in select jsonb_array_elements(p_documents) loop
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

-- The documents of a space, or those of some names (in lower case), as they are told to the model: who sent each, when
-- (UTC), and the how manieth of its name it is (1: the oldest).
create or replace function relay.documents_told(p_space_id bigint, p_names text[])
returns table (id bigint, created_at timestamptz, version bigint, told jsonb)
language sql stable set search_path = relay, extensions, pg_temp as $$
    select kept.id, kept.created_at, kept.version, jsonb_build_object('name', kept.name, 'kind', kept.kind,
        'pages', kept.pages, 'parts', kept.parts, 'version', kept.version, 'versions', kept.versions,
        'sent_by', kept.sender, 'sent_at', to_char(kept.created_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI'))
    from (
        select d.*, m.name as sender, row_number() over (partition by lower(d.name) order by d.created_at, d.id) as version,
            count(*) over (partition by lower(d.name)) as versions
        from document d join message m on m.id = d.message_id
        where d.space_id = p_space_id and (p_names is null or lower(d.name) = any (p_names))) kept
$$;

-- A part of a space's document of this name; failing that, of the only name that has p_name in it. Of several of one name
-- it is p_version (1: the oldest), or the newest: {document, part, text, others: the others of its name, the newest
-- first, nine at most}. When no such name is there, or several are, or no such version: {documents: those, else the
-- newest}, ten at most.
create or replace function public.relay_open_document(p_space jsonb, p_name text, p_part integer, p_version integer)
returns jsonb
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
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
