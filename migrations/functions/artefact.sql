-- Artefacts: what is derived from messages and then shown, searched, exported and erased with them. A table declares in
-- its comment (tables.sql) that it holds them:
--
--   "artefact": {"kind": "note"}
--
-- That is enough if it has the usual columns: id, space_id, thread_id, session_id, text, tainted, derivation, created_at and
-- inputs text[], the names of what it was made from: 'message:12', 'summary:3'. If not, the declaration has SQL about t:
-- text, space, inputs, author (whose words it holds; null: its messages'), found (whether search finds it).
-- own: what the kind does with its own functions: index, export, erase, open.

-- Lists the kinds of artefacts, with the SQL that reads them.
create or replace function relay.artefact_kinds() returns table (
    kind text, name text, body text, space text, inputs text, author text, found text, own jsonb)
language sql stable set search_path = relay, extensions, pg_temp as $$
    select a ->> 'kind', d.name, coalesce(a ->> 'text', 't.text'), coalesce(a ->> 'space', 't.space_id'),
        coalesce(a ->> 'inputs', 't.inputs'), coalesce(a ->> 'author', 'null::bigint'), coalesce(a ->> 'found', 'true'),
        coalesce(a -> 'own', '[]')
    from relay.declared_tables() d cross join lateral (select d.declared -> 'artefact' as a) declared
    where d.declared ? 'artefact' order by a ->> 'kind'
$$;

-- Returns an artefact, or no row.
create or replace function relay.artefact(p_kind text, p_id bigint) returns table (
    id bigint, space_id bigint, thread_id bigint, session_id bigint, body text, at timestamptz, inputs text[],
    tainted boolean, derivation text, found boolean)
language plpgsql stable strict set search_path = relay, extensions, pg_temp as $$
#variable_conflict use_column
declare
    own record;
begin
    select * into own from relay.artefact_kinds() k where k.kind = p_kind;
    if own.kind is not null then
        return query execute format('select t.id, %s, t.thread_id, t.session_id, %s, t.created_at, %s, t.tainted,
            t.derivation ->> ''name'', %s from relay.%I t where t.id = $1', own.space, own.body, own.inputs, own.found,
            own.name) using p_id;
    end if;
end $$;

-- Lists the ids of artefacts of a kind that satisfy a condition about t, $1 and $2.
create or replace function relay.artefact_ids(p_kind text, p_condition text, p_one anyelement, p_other jsonb default null)
returns setof bigint
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    own record;
begin
    select * into own from relay.artefact_kinds() k where k.kind = p_kind;
    return query execute format('select t.id from relay.%I t where %s order by t.id', own.name, p_condition)
        using p_one, p_other;
end $$;

-- Trigger: updates the entry of an artefact.
create or replace function relay.artefact_written() returns trigger
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    perform relay.reindex(tg_argv[0], coalesce(new.id, old.id));
    return null;
end $$;

-- Opens an artefact, with up to six messages that it was made from. Null if the space has none such, or it is off the
-- record.
create or replace function relay.look_at_artefact(p_space_id bigint, p_bot_id bigint, p_kind text, p_id bigint)
returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('kind', p_kind, 'id', a.id, 'number', a.id, 'at', a.at, 'content', left(a.body, 12000),
        'untrusted', a.tainted, 'by', a.derivation, 'place', relay.place_name(p_bot_id, t.chat_id, t.topic_id),
        'inputs', to_jsonb(a.inputs), 'sources', (
            select coalesce(jsonb_agg(relay.told_message(m, 1500) order by m.id), '[]') from (
                select m.* from message m join session s on s.id = m.session_id and not s.private
                where m.id = any (relay.inputs_of('message', a.inputs)) and m.space_id = p_space_id
                    and m.status <> 'replaced'
                order by m.id limit 6) near join message m on m.id = near.id))
    from relay.artefact(p_kind, p_id) a left join thread t on t.id = a.thread_id
    left join session s on s.id = a.session_id
    where a.space_id = p_space_id and s.private is not true
$$;

-- Returns the ids of one kind among names such as message:12.
create or replace function relay.inputs_of(p_kind text, p_inputs text[]) returns bigint[]
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select array(
        select split_part(one, ':', 2)::bigint from unnest(p_inputs) as one where split_part(one, ':', 1) = p_kind)
$$;

-- Erasing.

-- Returns the names of the space's artefacts that match the needles, or were made from p_inputs or from such artefacts;
-- none with the words of someone whose words this person may not erase.
create or replace function relay.erase_artefacts(
    p_space_id bigint, p_inputs text[], p_needles jsonb, p_user_id bigint, p_admin boolean)
returns text[]
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    gone text[] := '{}';
    one record;
    more text[];
    seen integer;
begin
    loop
        seen := cardinality(gone);
        for one in select * from relay.artefact_kinds() k where not k.own ? 'erase' loop
            execute format('select array(select %L || t.id from relay.%I t where %s = $1
                    and (%s && $2 or relay.says(%s, $3))
                    and (%s is null or relay.may_erase($1, %s, $4, $5)))',
                one.kind || ':', one.name, one.space, one.inputs, one.body, one.author, one.author)
                into more using p_space_id, p_inputs || gone, p_needles, p_user_id, p_admin;
            gone := gone || array(select unnest(more) except select unnest(gone));
        end loop;
        exit when cardinality(gone) = seen;  -- nothing was made from what was found last
    end loop;
    return gone;
end $$;

-- Deletes artefacts and the stored results that were made from them.
create or replace function relay.erase_artefact_rows(p_space_id bigint, p_artefacts text[]) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    one record;
begin
    perform relay.erase_results(p_space_id, p_artefacts);
    for one in select kind, name from relay.artefact_kinds() where not own ? 'erase' loop
        execute format('delete from relay.%I where id = any ($1)', one.name) using relay.inputs_of(one.kind, p_artefacts);
    end loop;
end $$;

-- Returns those of some artefacts that still exist.
create or replace function relay.existing_artefacts(p_artefacts text[]) returns text[]
language sql stable set search_path = relay, extensions, pg_temp as $$
    select array(
        select one from unnest(p_artefacts) as one
        where exists (select from relay.artefact(split_part(one, ':', 1), split_part(one, ':', 2)::bigint)))
$$;

-- Export and import.

-- Exports a page of a kind's artefacts after an id, none off the record: {type, id, thread, session, inputs, row: the
-- other columns}.
create or replace function public.relay_export_artefacts(p_space jsonb, p_kind text, p_after jsonb, p_most integer)
returns jsonb
language plpgsql stable set search_path = relay, extensions, pg_temp set timezone = 'UTC' as $$
declare
    own record;
    page jsonb;
begin
    select * into own from relay.artefact_kinds() k where k.kind = p_kind and not k.own ? 'export';
    if own.kind is null then
        return relay.export_page('{}', '{}', p_most, p_after);
    end if;
    execute format('
        select relay.export_page(array_agg(jsonb_build_object(''type'', $1, ''id'', id, ''thread'', thread_id,
                ''session'', session_id, ''inputs'', to_jsonb(inputs), ''row'', line) order by id),
            array_agg(jsonb_build_array(id) order by id), $2, $3)
        from (
            select t.id, t.thread_id, t.session_id, %s as inputs, to_jsonb(t) - ''id'' - ''space_id'' - ''thread_id''
                - ''session_id'' - ''inputs'' as line
            from relay.%I t left join session s on s.id = t.session_id
            where %s = relay.find_space($4) and s.private is not true and t.id > coalesce(($3 ->> 0)::bigint, 0)
            order by t.id limit $2) page', own.inputs, own.name, own.space)
        into page using p_kind, p_most, p_after, p_space;
    return page;
end $$;

-- Imports artefacts of a kind. One with the same time, thread and text is the same.
create or replace function public.relay_import_artefacts(p_space_id bigint, p_kind text, p_rows jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own record;
    one jsonb;
    given jsonb;
    columns text;
    found_id bigint;
    ids bigint[] := '{}';
    added integer := 0;
begin
    select * into strict own from relay.artefact_kinds() k where k.kind = p_kind and not k.own ? 'export';
    for one in select jsonb_array_elements(p_rows) loop
        given := (one -> 'row') || jsonb_build_object('space_id', p_space_id, 'thread_id', one -> 'thread',
            'session_id', one -> 'session', 'inputs', one -> 'inputs');
        -- An export from a newer version may have columns that are not here.
        select string_agg(quote_ident(attname), ', ' order by attnum) into columns from pg_attribute
        where attrelid = format('relay.%I', own.name)::regclass and attnum > 0 and not attisdropped
            and attidentity = '' and attgenerated = '' and given ? attname;
        execute format('select t.id from relay.%1$I t, jsonb_populate_record(null::relay.%1$I, $1) n
            where %2$s = $2 and t.created_at = n.created_at and t.thread_id is not distinct from n.thread_id
                and %3$s = %4$s limit 1', own.name, own.space, own.body, replace(own.body, 't.', 'n.'))
            into found_id using given, p_space_id;
        if found_id is null then
            execute format('insert into relay.%1$I (%2$s) select %2$s from jsonb_populate_record(null::relay.%1$I, $1)
                returning id', own.name, columns) into found_id using given;
            added := added + 1;
        end if;
        ids := ids || found_id;
    end loop;
    return jsonb_build_object('ids', to_jsonb(ids), 'added', added);
end $$;
