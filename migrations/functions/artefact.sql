-- Artefacts: things derived from messages that are shown, searched, exported and erased with them. A table declares in
-- its comment (tables.sql) that it holds artefacts:
--
--   "artefact": {"kind": "note"}
--
-- That is enough if it has the usual columns: id, space_id, thread_id, session_id, text, tainted, derivation, created_at and
-- inputs text[], the names of what it was made from: 'message:12', 'summary:3'. If not, the declaration has SQL about t:
-- text, space, inputs, author (whose words it holds; null: its messages'), found (whether search finds it), title (what
-- results call it; by default its kind and id).
-- own: what the kind has its own functions for: index, export, erase, open. For exports: whole (which are exported),
-- children (tables whose rows belong to one, with the column that leads to it), same (what makes t and an imported n of
-- the same time and thread one; otherwise their text) and adopt (a function that fits an imported row to what is there).

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

-- Returns what results call an artefact. Null if its kind has no titles.
create or replace function relay.artefact_title(p_kind text, p_id bigint) returns text
language plpgsql stable strict set search_path = relay, extensions, pg_temp as $$
declare
    own record;
    title text;
begin
    select k.name, relay.declared(k.name) #>> '{artefact,title}' as title into own
    from relay.artefact_kinds() k where k.kind = p_kind;
    if own.title is not null then
        execute format('select %s from relay.%I t where t.id = $1', own.title, own.name) into title using p_id;
    end if;
    return title;
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

-- Opens an artefact, with up to six messages that it was made from. Null if the space has no such artefact, or it is
-- off the record.
create or replace function relay.look_at_artefact(p_space_id bigint, p_bot_id bigint, p_kind text, p_id bigint)
returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('kind', p_kind, 'id', a.id, 'number', a.id,
        'title', relay.artefact_title(p_kind, p_id), 'at', a.at, 'content', left(a.body, 12000),
        'untrusted', a.tainted, 'by', a.derivation, 'place', relay.place_name(p_bot_id, t.chat_id, t.topic_id),
        'inputs', to_jsonb(a.inputs), 'sources', relay.told_sources(p_space_id, relay.inputs_of('message', a.inputs)))
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
-- none with the words of someone whose words this person may not erase. Finds indexed ones by their entries, whose words
-- are stems: a sweep of all texts finds the rest.
create or replace function relay.erase_artefacts(
    p_space_id bigint, p_inputs text[], p_needles jsonb, p_user_id bigint, p_admin boolean)
returns text[]
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    gone text[] := '{}';
    fresh text[] := p_inputs;
    one record;
    more text[];
    said text[] := '{}';
begin
    if p_needles <> '[]' then
        for one in select * from relay.artefact_kinds() k where not k.own ? 'erase' loop
            execute format('select array(select %1$L || t.id from relay.%2$I t where %3$s = $1
                    and (not (%4$s) or t.id = any ($2)) and relay.says(%5$s, $3)
                    and (%6$s is null or relay.may_erase($1, %6$s, $4, $5)))',
                one.kind || ':', one.name, one.space, one.found, one.body, one.author)
                into more using p_space_id, relay.entries_saying(p_space_id, one.kind, p_needles), p_needles, p_user_id,
                    p_admin;
            said := said || more;
        end loop;
    end if;
    gone := said;
    fresh := fresh || said;
    while cardinality(fresh) > 0 loop
        said := '{}';
        for one in select * from relay.artefact_kinds() k where not k.own ? 'erase' loop
            -- An overlap of arrays would compare each with each; this hashes the second.
            execute format('select array(select %1$L || t.id from relay.%2$I t
                where %3$s = $1 and exists (select from unnest(%4$s) as one where one = any ($2))
                    and (%5$s is null or relay.may_erase($1, %5$s, $3, $4)))',
                one.kind || ':', one.name, one.space, one.inputs, one.author)
                into more using p_space_id, fresh, p_user_id, p_admin;
            said := said || more;
        end loop;
        fresh := array(select unnest(said) except select unnest(gone));  -- what was made from these comes next
        gone := gone || fresh;
    end loop;
    return gone;
end $$;

-- Returns the ids of a kind's sources whose entries may match one of the needles.
create or replace function relay.entries_saying(p_space_id bigint, p_kind text, p_needles jsonb) returns bigint[]
language sql stable set search_path = relay, extensions, pg_temp as $$
    select array(
        select e.source_id from jsonb_array_elements(p_needles) as needle cross join lateral (
            select string_agg(relay.word_of_space(p_space_id, form) || ':*', ' | ')::tsquery as query
            from (
                select word from jsonb_array_elements_text(needle -> 'words') as word order by length(word) desc
                limit jsonb_array_length(needle -> 'words') - (needle ->> 'least')::integer + 1) few
            cross join lateral (
                select relay.spellings(word) as form
                union
                select unnest(tsvector_to_array(to_tsvector(language::regconfig, word)))
                from relay.languages_of(p_space_id)) forms) asked
        join entry e on relay.words_of_space(e.space_id, e.words) @@ asked.query
        where e.space_id = p_space_id and e.kind = p_kind
        union all
        (select source_id from entry
            where space_id = p_space_id and kind = p_kind and relay.is_unspaced(p_needles::text)
            order by id desc limit 5000))
$$;

-- Deletes artefacts and the stored results that were made from them. They leave the index together, so that a word of
-- many is counted once. Uses indexes alone: see relay.reindex.
create or replace function relay.erase_artefact_rows(p_space_id bigint, p_artefacts text[]) returns void
language plpgsql set search_path = relay, extensions, pg_temp set enable_seqscan = off set jit = off as $$
declare
    one record;
    ids bigint[];
begin
    perform relay.erase_results(p_space_id, p_artefacts);
    perform set_config('relay.index', 'later', true);
    for one in select kind, name from relay.artefact_kinds() where not own ? 'erase' loop
        ids := relay.inputs_of(one.kind, p_artefacts);
        execute format('delete from relay.%I where id = any ($1)', one.name) using ids;
        delete from entry where kind = one.kind and source_id = any (ids);
    end loop;
    perform set_config('relay.index', '', true);
end $$;

-- Returns those of some artefacts that still exist.
create or replace function relay.existing_artefacts(p_artefacts text[]) returns text[]
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    one record;
    more text[];
    found text[] := '{}';
begin
    for one in select kind, name from relay.artefact_kinds() loop
        execute format('select array(select %L || id from relay.%I where id = any ($1) order by id)', one.kind || ':', one.name)
            into more using relay.inputs_of(one.kind, p_artefacts);
        found := found || more;
    end loop;
    return found;
end $$;

-- Import. (relay.export_lines exports them.)

-- Returns the stored columns of a table that a row names, to insert it: an export from a newer version may have others.
create or replace function relay.columns_named(p_table text, p_row jsonb) returns text
language sql stable set search_path = relay, extensions, pg_temp as $$
    select string_agg(quote_ident(attname), ', ' order by attnum) from pg_attribute
    where attrelid = format('relay.%I', p_table)::regclass and attnum > 0 and not attisdropped
        and attidentity = '' and attgenerated = '' and p_row ? attname
$$;

-- Returns a row of an export as a row of the artefact's table.
create or replace function relay.artefact_row(p_space_id bigint, p_row jsonb) returns jsonb
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select (p_row -> 'row') || jsonb_build_object('space_id', p_space_id, 'thread_id', p_row -> 'thread',
        'session_id', p_row -> 'session', 'inputs', p_row -> 'inputs')
$$;

-- Returns the stored artefact that equals a row of an export: same time, thread and text (or what the kind declares).
create or replace function relay.find_artefact(p_kind text, p_space_id bigint, p_row jsonb) returns bigint
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    own record;
    found_id bigint;
begin
    select * into strict own from relay.artefact_kinds() k where k.kind = p_kind and not k.own ? 'export';
    execute format('select t.id from relay.%1$I t, jsonb_populate_record(null::relay.%1$I, $1) n
        where %2$s = $2 and t.created_at = n.created_at and t.thread_id is not distinct from n.thread_id and %3$s limit 1',
        own.name, own.space, coalesce(relay.declared(own.name) #>> '{artefact,same}', format(
            '%s is not distinct from %s', own.body, replace(own.body, 't.', 'n.'))))
        into found_id using relay.artefact_row(p_space_id, p_row), p_space_id;
    return found_id;
end $$;

-- Imports an artefact with the rows of its children. Returns its id.
create or replace function relay.import_artefact(p_kind text, p_space_id bigint, p_row jsonb) returns bigint
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own record;
    given jsonb := relay.artefact_row(p_space_id, p_row);
    made bigint;
    child record;
    one jsonb;
begin
    select k.name, relay.declared(k.name) -> 'artefact' as declared into strict own
    from relay.artefact_kinds() k where k.kind = p_kind;
    if own.declared ? 'adopt' then
        execute format('select %s($1)', own.declared ->> 'adopt') into given using given;
    end if;
    made := relay.insert_row(own.name, given);
    for child in select key as name, value as parent from jsonb_each_text(own.declared -> 'children') loop
        for one in select jsonb_array_elements(given -> child.name) || jsonb_build_object(child.parent, made) loop
            execute format('insert into relay.%1$I (%2$s) select %2$s from jsonb_populate_record(null::relay.%1$I, $1)
                on conflict do nothing', child.name, relay.columns_named(child.name, one)) using one;
        end loop;
    end loop;
    return made;
end $$;
