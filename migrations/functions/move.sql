-- Moves all data into another database, page by page. The source is only read. The target stores its progress in
-- relay.move in the same transaction as the rows, so an interrupted move continues. A row travels as a JSON array of
-- its columns' texts, ordered by column name: lossless (JSON null and SQL NULL, numbers of any length, microseconds),
-- and both sides compute the same checksum.

-- Lists the tables that move, each after those it references: all but caches and the database's own identity and
-- history.
create or replace function relay.move_tables() returns table (name text, place bigint)
language sql stable set search_path = relay, extensions, pg_temp as $$
    with recursive movable as (
        select oid, relname from pg_class
        where relnamespace = 'relay'::regnamespace and relkind in ('r', 'p') and not relispartition
            and relname not in (select name from relay.declared_tables() where declared ->> 'class' in ('local', 'derived'))),
    reference as (
        select conrelid as child, confrelid as parent from pg_constraint
        where contype = 'f' and conrelid <> confrelid and conrelid in (select oid from movable)),
    deep as (
        select oid, 0 as depth from movable
        union
        select r.child, d.depth + 1 from reference r join deep d on d.oid = r.parent where d.depth < 100)
    select m.relname::text, row_number() over (order by max(d.depth), m.relname)
    from movable m join deep d using (oid) group by m.relname
$$;

-- Returns a table's stored columns (not generated ones) with their types, ordered by name.
create or replace function relay.move_columns(p_table text)
returns table (name text, type text, place bigint, key_place integer)
language sql stable set search_path = relay, extensions, pg_temp as $$
    select a.attname::text, format_type(a.atttypid, a.atttypmod), row_number() over (order by a.attname),
        array_position(i.indkey::smallint[], a.attnum)
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    left join pg_index i on i.indrelid = a.attrelid and i.indisprimary
    where c.oid = to_regclass(format('relay.%I', p_table)) and c.relkind in ('r', 'p') and not c.relispartition
        and coalesce(relay.declared(p_table) ->> 'class', '') not in ('local', 'derived') and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
$$;

-- Returns what a move or backup writes instead of a column in rows of off-the-record sessions: nothing that was said. A
-- turn in progress there is marked as failed in the copy. Null: the column is copied.
create or replace function relay.move_hides(p_table text, p_column text) returns text
language sql stable set search_path = relay, extensions, pg_temp as $$
    select format('case when %s then %s else t.%I::text end', own.declared #>> '{off_record,rows}',
        own.declared #>> array['off_record', 'instead', p_column], p_column)
    from (select relay.declared(p_table) as declared) own
    where own.declared #> '{off_record,instead}' ? p_column
$$;

-- Builds the query for a table's rows in key order, $2 rows after the key $1: line (the row) and key. Only catalog
-- names are interpolated.
create or replace function relay.move_query(p_table text, p_from_start boolean) returns text
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    line text;
    key text;
    key_line text;
    after text;
begin
    select string_agg(coalesce(relay.move_hides(p_table, name), format('t.%I::text', name)), ', ' order by place),
        string_agg(format('t.%I', name), ', ' order by key_place) filter (where key_place is not null),
        string_agg(format('t.%I::text', name), ', ' order by key_place) filter (where key_place is not null),
        string_agg(format('($1 ->> %s)::%s', key_place, type), ', ' order by key_place)
            filter (where key_place is not null)
    into line, key, key_line, after from relay.move_columns(p_table);
    if key is null then
        raise exception 'there is no table % to move, or it has no primary key', p_table;
    end if;
    return format('select to_jsonb(array[%s])::text as line, to_jsonb(array[%s]) as key from relay.%I t', line, key_line,
        p_table) || case when p_from_start then '' else format(' where (%s) > (%s)', key, after) end
        || format(' order by %s limit $2', key);
end $$;

-- Returns a page of a table after a key (null: from the start): {rows, last, end}. Ends early at p_most_bytes or after
-- a second.
create or replace function public.relay_move_page(
    p_table text, p_after jsonb, p_most_rows integer, p_most_bytes integer) returns jsonb
language plpgsql stable set search_path = relay, extensions, pg_temp set timezone = 'UTC' set datestyle = 'ISO, YMD'
as $$
declare
    one record;
    lines text[] := '{}';
    bytes bigint := 0;
    last jsonb := p_after;
    early boolean := false;
begin
    for one in execute relay.move_query(p_table, p_after is null) using p_after, p_most_rows loop
        lines := array_append(lines, one.line);
        bytes := bytes + octet_length(one.line);
        last := one.key;
        early := bytes >= p_most_bytes or clock_timestamp() > statement_timestamp() + interval '1 second';
        exit when early;
    end loop;
    return jsonb_build_object('rows', ('[' || array_to_string(lines, ',') || ']')::jsonb, 'last', last,
        'end', not early and cardinality(lines) < p_most_rows);
end $$;

-- Returns the number of rows after a key, and the sum of 64 bits of each row's SHA-256, so that page boundaries don't
-- matter: {rows, sum, last, end}. Ends after p_most_rows or a second.
create or replace function public.relay_move_digest(p_table text, p_after jsonb, p_most_rows integer) returns jsonb
language plpgsql stable set search_path = relay, extensions, pg_temp set timezone = 'UTC' set datestyle = 'ISO, YMD'
as $$
declare
    one record;
    seen integer := 0;
    total numeric := 0;
    last jsonb := p_after;
    early boolean := false;
begin
    for one in execute relay.move_query(p_table, p_after is null) using p_after, p_most_rows loop
        seen := seen + 1;
        total := total
            + ('x' || encode(substr(sha256(convert_to(one.line, 'UTF8')), 1, 8), 'hex'))::bit(64)::bigint;
        last := one.key;
        early := clock_timestamp() > statement_timestamp() + interval '1 second';
        exit when early;
    end loop;
    return jsonb_build_object('rows', seen, 'sum', total::text, 'last', last,
        'end', not early and seen < p_most_rows);
end $$;

-- Builds the statement that stores rows ($1), each the texts of these columns.
create or replace function relay.move_insertion(p_table text, p_columns text[]) returns text
language sql stable set search_path = relay, extensions, pg_temp as $$
    select format('insert into relay.%I (%s) overriding system value select %s from jsonb_array_elements($1) r
        on conflict do nothing', p_table, string_agg(quote_ident(c.name), ', ' order by given.place),
        string_agg(format('(r ->> %s)::%s', given.place - 1, c.type), ', ' order by given.place))
    from unnest(p_columns) with ordinality as given (name, place) join relay.move_columns(p_table) c using (name)
$$;

-- Estimates a table's number of rows from about 500 of its pages; exact if it has no more. Statistics can be missing or
-- of an earlier time, as after a restore.
create or replace function relay.move_size(p_table text) returns bigint
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    pages bigint := pg_relation_size(format('relay.%I', p_table)) / current_setting('block_size')::bigint;
    percent float8 := least(100, 100 * 500.0 / greatest(pages, 1));
    size bigint;
begin
    execute format('select round(count(*) * 100 / $1) from relay.%I tablesample system ($1) repeatable (0)', p_table)
    into size using percent;
    return size;
end $$;

-- Returns the highest identity value among a table's rows; null if there is none. Unlike a sequence's last value, it
-- belongs to the caller's snapshot.
create or replace function relay.move_last(p_table text) returns text
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    numbered text := (select attname from pg_attribute
        where attrelid = format('relay.%I', p_table)::regclass and attidentity <> '' and not attisdropped);
    last text;
begin
    if numbered is not null then
        execute format('select max(%I)::text from relay.%I', numbered, p_table) into last;
    end if;
    return last;
end $$;

-- Tests whether the database is unused: it holds nothing but the soul that Relay starts with, and perhaps duties.
create or replace function relay.move_unused() returns boolean
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    one record;
    used boolean;
begin
    for one in select name from relay.move_tables() where name not in ('soul', 'duty') loop
        execute format('select exists (select from relay.%I)', one.name) into used;
        if used then
            return false;
        end if;
    end loop;
    return not exists (select from soul where version > 1 or author_id is not null);
end $$;

-- Returns the last value of each identity column: {table: {column: number as text, or null}}.
create or replace function relay.move_numbers() returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_object_agg(numbers.name, numbers.given), '{}') from (
        select t.name, jsonb_object_agg(a.attname,
            pg_sequence_last_value(pg_get_serial_sequence(format('relay.%I', t.name), a.attname)::regclass)::text)
            as given
        from relay.move_tables() t
        join pg_attribute a on a.attrelid = format('relay.%I', t.name)::regclass and a.attidentity <> ''
        group by t.name) numbers
$$;

-- Returns which numbered rows a table's key begins with, if the table has no identity of its own: {column: table}; {}:
-- none.
create or replace function relay.move_belongs(p_table text) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_object_agg(a.attname, parent.relname), '{}')
    from pg_constraint f
    join pg_class parent on parent.oid = f.confrelid
    join pg_attribute a on a.attrelid = f.conrelid and a.attnum = f.conkey[1]
    join pg_index i on i.indrelid = f.conrelid and i.indisprimary and i.indkey[0] = a.attnum
    where f.contype = 'f' and cardinality(f.conkey) = 1 and f.conrelid = format('relay.%I', p_table)::regclass
        and exists (select from pg_attribute n where n.attrelid = f.confrelid and n.attidentity <> '')
        and not exists (select from pg_attribute n where n.attrelid = f.conrelid and n.attidentity <> '')
$$;

-- Returns when the leases that Relay holds end. A restore's own (see relay.is_replaced) doesn't count.
create or replace function relay.leases() returns table (until timestamptz)
language sql stable set search_path = relay, extensions, pg_temp as $$
    select lease_until from turn
    where status in ('working', 'answered') and lease_until between now() and now() + interval '15 minutes'
    union all
    select lease_until from job where lease_until between now() and now() + interval '1 day'
    union all
    select lease_until from duty where lease_until between now() and now() + interval '15 minutes' and name <> 'restore'
$$;

-- Tests whether a move or restore is replacing the data, or was interrupted. A restore has the duty of that name until
-- it begins.
create or replace function relay.is_replaced() returns boolean
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
begin
    if exists (select from move where state = 'copying') then
        return true;
    end if;
    if to_regclass('relay.duty') is null then  -- `relay doctor` says so
        return false;
    end if;
    return exists (select from duty
        where name = 'restore' and lease_until between now() and now() + interval '15 minutes');
end $$;

-- Raises RL003 if the data is being replaced, so that no Relay starts or goes on.
create or replace function relay.require_kept() returns void
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
begin
    if relay.is_replaced() then
        raise exception 'a move or restore into this database is under way' using errcode = 'RL003';
    end if;
end $$;

-- Tests whether no Relay runs on the database. None can take a lease until the caller commits.
create or replace function relay.move_rest() returns boolean
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    lock table turn, job, duty in exclusive mode;
    return not exists (select from relay.leases());
end $$;

-- Returns what a move needs to know of either side. The tables are in order.
create or replace function public.relay_move_state() returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object(
        'id', (select id from identity),
        'unused', relay.move_unused(),
        'leased', (select count(*) from relay.leases()),
        'leased_seconds', (select ceil(extract(epoch from max(until) - now())) from relay.leases()),
        'numbers', relay.move_numbers(),
        'tables', (select jsonb_agg(jsonb_build_object('name', t.name, 'size', relay.move_size(t.name),
            'last', relay.move_last(t.name), 'belongs', relay.move_belongs(t.name),
            'names', (select jsonb_agg(c.name order by c.place) from relay.move_columns(t.name) c),
            'columns', (select jsonb_agg(c.name || ' ' || c.type order by c.place) from relay.move_columns(t.name) c))
            order by t.place) from relay.move_tables() t),
        'moves', (select coalesce(jsonb_agg(to_jsonb(m) order by m.began_at), '[]') from move m))
$$;

-- Deletes everything that moves, and the caches: the target's previous data (in a new one, the initial soul).
create or replace function relay.move_empty() returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    execute (select 'truncate ' || string_agg(format('relay.%I', name), ', ') from (
        select name from relay.move_tables()
        union select name from relay.declared_tables() where declared ->> 'class' = 'derived') t);
end $$;

-- Begins or resumes a move from a source into this database. Returns its row; null if the database holds other data and
-- p_replace doesn't allow replacing it; false if a Relay runs on it.
create or replace function public.relay_move_begin(p_source uuid, p_replace boolean) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    found move;
begin
    perform pg_advisory_xact_lock(hashtext('relay.move'));
    select * into found from move where source_id = p_source;
    if found.state = 'copying' or (found.state = 'done' and not p_replace) then
        return to_jsonb(found);
    end if;
    if not relay.move_rest() then
        return to_jsonb(false);
    end if;
    if not p_replace and not relay.move_unused() then
        return null;
    end if;
    perform relay.move_empty();
    delete from move where true;
    insert into move (source_id, state) values (p_source, 'copying') returning * into found;
    return to_jsonb(found);
end $$;

-- Stores the page of a table that follows p_after, and the progress: {after, rows}. A page that doesn't follow (a
-- repeat, or another process was faster) stores nothing and gets the same answer.
create or replace function public.relay_move_insert(p_source uuid, p_table text, p_after jsonb, p_page jsonb)
returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp set timezone = 'UTC' set datestyle = 'ISO, YMD'
as $$
declare
    here jsonb;
begin
    select coalesce(progress -> p_table, '{"after": null, "rows": 0}') into here from move
    where source_id = p_source and state = 'copying' for update;
    if here is null then
        raise exception 'no move from this source is under way';
    end if;
    if here -> 'after' <> coalesce(p_after, 'null') then
        return here;
    end if;
    perform set_config('relay.index', 'later', true);
    execute relay.move_insertion(p_table, array(select name from relay.move_columns(p_table) order by place))
        using p_page -> 'rows';
    here := jsonb_build_object('after', p_page -> 'last',
        'rows', (here ->> 'rows')::bigint + jsonb_array_length(p_page -> 'rows'));
    update move set progress = progress || jsonb_build_object(p_table, here) where source_id = p_source;
    return here;
end $$;

-- Finishes a verified move: new rows continue the source's numbers.
create or replace function public.relay_move_finish(p_source uuid, p_numbers jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    one record;
    last bigint;
begin
    update move set state = 'done', done_at = now() where source_id = p_source and state = 'copying';
    if not found then
        return to_jsonb(false);
    end if;
    for one in
        select t.name, a.attname, pg_get_serial_sequence(format('relay.%I', t.name), a.attname) as sequence
        from relay.move_tables() t
        join pg_attribute a on a.attrelid = format('relay.%I', t.name)::regclass and a.attidentity <> ''
    loop
        execute format('select greatest($1, max(%I)) from relay.%I', one.attname, one.name) into last
        using (p_numbers -> one.name ->> one.attname)::bigint;
        perform setval(one.sequence::regclass, coalesce(last, 1), last is not null);
    end loop;
    perform relay.owe_all_estimates();
    return to_jsonb(true);
end $$;

-- Discards a copy that differs from its source; the same move then starts over. Returns whether it was unfinished.
create or replace function public.relay_move_restart(p_source uuid) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    update move set progress = '{}' where source_id = p_source and state = 'copying';
    if not found then
        return to_jsonb(false);
    end if;
    perform relay.move_empty();
    return to_jsonb(true);
end $$;

-- Restoring a backup. As with a move, relay.move stores the progress, and Relay doesn't start on this database until it
-- is done. An interrupted restore starts over.

-- Begins to restore a file. Returns whether it may; null if a Relay runs on the database. Deletes existing data; that
-- needs p_replace, unless the database is unused or holds the same file's earlier attempt.
create or replace function public.relay_restore_begin(p_file uuid, p_replace boolean) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    perform pg_advisory_xact_lock(hashtext('relay.move'));
    if not relay.move_rest() then
        return null;
    end if;
    if not p_replace and not relay.move_unused()
        and not exists (select from move where source_id = p_file and state = 'copying')
    then
        return to_jsonb(false);
    end if;
    perform relay.move_empty();
    delete from move where true;
    insert into move (source_id, state) values (p_file, 'copying');
    return to_jsonb(true);
end $$;

-- Stores rows with the named columns (others get defaults) that follow the first p_at rows of the table: {rows: how
-- many were taken so far, left_out: how many of them could not be stored}. A row that references a missing one is left
-- out: it was written during a backup without a snapshot. Rows that don't follow (a repeat) change nothing.
create or replace function public.relay_restore_rows(
    p_file uuid, p_table text, p_at bigint, p_columns jsonb, p_rows jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp set timezone = 'UTC' set datestyle = 'ISO, YMD'
as $$
declare
    here jsonb;
    insertion constant text := relay.move_insertion(p_table, array(select jsonb_array_elements_text(p_columns)));
    one jsonb;
    added bigint;
    stored bigint := 0;
begin
    select coalesce(progress -> p_table, '{"rows": 0, "left_out": 0}') into here from move
    where source_id = p_file and state = 'copying' for update;
    if here is null then
        raise exception 'this backup is not being restored';
    end if;
    if (here ->> 'rows')::bigint <> p_at then
        return here;
    end if;
    perform set_config('relay.index', 'later', true);
    begin
        execute insertion using p_rows;
        get diagnostics stored = row_count;
    exception when foreign_key_violation then
        for one in select jsonb_array_elements(p_rows) loop
            begin
                execute insertion using jsonb_build_array(one);
                get diagnostics added = row_count;
                stored := stored + added;
            exception when foreign_key_violation then
                null;
            end;
        end loop;
    end;
    here := jsonb_build_object('rows', p_at + jsonb_array_length(p_rows),
        'left_out', (here ->> 'left_out')::bigint + jsonb_array_length(p_rows) - stored);
    update move set progress = progress || jsonb_build_object(p_table, here) where source_id = p_file;
    return here;
end $$;

-- Limits reminders that come at least every hour to the day, as the migration to schema 62 does: in an older backup,
-- they also come at night. Newer reminders name their hours, or end within a day and are not changed.
create or replace function relay.keep_often_to_day() returns void
language sql set search_path = relay, extensions, pg_temp as $$
    with often as (
        select id, case when rule ~ 'HOURLY' then interval '1 hour' else interval '1 minute' end
            * coalesce(substring(rule from 'INTERVAL=(\d{1,4})')::integer, 1) as step
        from reminder
        where rule ~ '^FREQ=(MINUTELY|HOURLY)(;|$)' and rule !~ 'BYHOUR|BYSETPOS'
            and status in ('proposed', 'active', 'paused')),
    lasting as (
        select r.id, o.step from often o join reminder r using (id)
        where o.step between interval '1 minute' and interval '1 hour'
            and coalesce(substring(r.rule from 'UNTIL=(\d{8})') > to_char(r.start_at + interval '1 day', 'YYYYMMDD'), true)
            and coalesce(substring(r.rule from 'COUNT=(\d{1,6})')::integer * o.step > interval '1 day', true)),
    zones as materialized (select name from pg_timezone_names)
    update reminder r set rule = r.rule || ';BYHOUR=8,9,10,11,12,13,14,15,16,17,18,19,20',
        next_at = case when r.occurrence is not null or r.zone not in (select name from zones) then r.next_at else (
            select min(r.next_at + n * l.step) from generate_series(0, 1440) n
            where extract(hour from (r.next_at + n * l.step) at time zone r.zone) between 8 and 20) end
    from lasting l where l.id = r.id
$$;

-- Owes what an older backup had to do: summaries and titles were no jobs until schema 25, judging until schema 30, and
-- reminders that nobody confirmed until schema 57. Since schema 62, some reminders have other hours.
create or replace function relay.owe_as_before() returns void
language sql set search_path = relay, extensions, pg_temp as $$
    select relay.owe_job('summary', through_message_id::text,
        jsonb_build_object('session_id', session_id, 'context_from', context_from))
    from summary_due where status = 'due' order by id;
    select relay.owe_job('title', session_id::text, jsonb_build_object('bot_id', bot_id))
    from title_due where status in ('due', 'failed') order by session_id;
    delete from summary_due where true;
    delete from title_due where true;
    select relay.owe_sooner('judging', thread_id::text, jsonb_build_object('thread_id', thread_id), '-infinity')
    from judging where due_at is not null order by thread_id;
    select relay.owe_sooner('judging', thread_id::text, jsonb_build_object('thread_id', thread_id), min(at))
    from judge_again group by thread_id order by thread_id;
    update judging set due_at = null, lease_owner = null, lease_until = null
    where due_at is not null or lease_owner is not null;
    select relay.keep_often_to_day();
    select relay.owe_reminders(bot_id, chat_id, topic_id) from (
        select distinct bot_id, chat_id, topic_id from reminder
        where status = 'proposed' or status = 'active' and rule ~ '^FREQ=(MINUTELY|HOURLY)') as waiting
$$;

-- Sets aside what was in progress when the backup was made: it may have been answered since. Returns how many turns and
-- waiting messages.
create or replace function relay.restore_queue() returns bigint
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    why constant text := 'set aside: it was under way when the restored backup was made';
    aside bigint;
    waiting bigint;
begin
    perform relay.close_turn(id, 'failed', why) from turn where status in ('working', 'answered');
    get diagnostics aside = row_count;
    update inbox set status = 'failed', error = why where status = 'pending';
    get diagnostics waiting = row_count;
    update job set lease_owner = null, lease_until = null where lease_owner is not null;
    perform relay.owe_as_before();
    -- Queued messages may have been sent since; nothing is sent twice.
    update outbox set status = 'failed', error = why where status = 'queued' and not_before <= greatest(now(), created_at);
    update announcement set status = 'done' where status = 'due';
    update duty set lease_owner = null, lease_until = null where lease_owner is not null;
    -- Without a snapshot, a lane may name a turn that has ended or is missing.
    update lane set open_turn_id = null, due_at = null where open_turn_id is not null or due_at is not null;
    return aside + waiting;
end $$;

-- Finishes a verified restore. Returns how many were set aside; null if it had finished before. Deletes unused
-- invitation links, which may have been used or revoked since. New rows continue the original numbers.
create or replace function public.relay_restore_finish(p_file uuid, p_numbers jsonb)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    aside bigint;
begin
    perform from move where source_id = p_file and state = 'copying' for update;
    if not found then
        return null;
    end if;
    perform public.relay_move_finish(p_file, p_numbers);
    aside := relay.restore_queue();  -- its jobs take numbers that follow the original ones
    delete from invite where used_by is null;
    return to_jsonb(aside);
end $$;
