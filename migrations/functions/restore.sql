-- Restoring a backup into this database. As with a move, relay.move says how far that has come; while it is not done,
-- no Relay starts here. A backup that was broken off begins anew.

-- Begins to restore a file: whether it may. What the database held goes; that needs p_replace, unless nobody has used
-- it yet, or what it holds is what came of the same file before.
create or replace function public.relay_restore_begin(p_file uuid, p_replace boolean) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    perform pg_advisory_xact_lock(hashtext('relay.move'));
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

-- Stores rows of a table whose columns are named (others get their defaults), which follow the p_at rows before them:
-- {rows: how many of the table's rows were taken so far, left_out: how many of those could not be}. A row that refers to
-- one that is not there is left out: it was written while the backup was made without a snapshot. Rows that do not
-- follow (the answer was lost, and they come again) change nothing.
create or replace function public.relay_restore_rows(
    p_file uuid, p_table text, p_at bigint, p_columns jsonb, p_rows jsonb)
returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp set timezone = 'UTC' set datestyle = 'ISO, YMD'
as $$
declare
    here jsonb;
    columns text;
    fields text;
    pages jsonb[] := array[p_rows];
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
    select string_agg(quote_ident(c.name), ', ' order by given.place),
        string_agg(format('(r ->> %s)::%s', given.place - 1, c.type), ', ' order by given.place)
    into columns, fields
    from jsonb_array_elements_text(p_columns) with ordinality as given (name, place)
    join relay.move_columns(p_table) c on c.name = given.name;
    begin
        execute format('insert into relay.%I (%s) overriding system value select %s from jsonb_array_elements($1) r
            on conflict do nothing', p_table, columns, fields) using p_rows;
        get diagnostics stored = row_count;
    exception when foreign_key_violation then
        for one in select jsonb_array_elements(p_rows) loop
            begin
                execute format('insert into relay.%I (%s) overriding system value select %s
                    from jsonb_array_elements($1) r on conflict do nothing', p_table, columns, fields)
                using jsonb_build_array(one);
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

-- Sets aside what was under way when a backup was made: it may have been answered since. How many turns and waiting
-- messages those were.
create or replace function relay.restore_queue() returns bigint
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    why constant text := 'set aside: it was under way when the backup was made that was restored';
    aside bigint;
    waiting bigint;
begin
    perform relay.close_turn(id, 'failed', why) from turn where status in ('working', 'answered');
    get diagnostics aside = row_count;
    update inbox set status = 'failed', error = why where status = 'pending';
    get diagnostics waiting = row_count;
    update summary_due set lease_owner = null, lease_until = null where status = 'due' and lease_owner is not null;
    update title_due set lease_owner = null, lease_until = null where status = 'due' and lease_owner is not null;
    update judging set lease_owner = null, lease_until = null where lease_owner is not null;
    -- What was told may have been told since: nothing is told twice.
    update announcement set status = 'done', lease_owner = null, lease_until = null where status = 'due';
    update duty set lease_owner = null, lease_until = null where lease_owner is not null;
    -- Without a snapshot a lane may name a turn that has ended, or is not there.
    update lane set open_turn_id = null, due_at = null where open_turn_id is not null or due_at is not null;
    return aside + waiting;
end $$;

-- Ends a restore whose rows were compared: what was set aside as a number, or null when it had ended before. Links that
-- let somebody in and were not used go: they may have been used or taken back since. New rows are numbered on from where
-- the backup's database was.
create or replace function public.relay_restore_finish(p_file uuid, p_numbers jsonb)
returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    aside bigint;
begin
    perform from move where source_id = p_file and state = 'copying' for update;
    if not found then
        return null;
    end if;
    aside := relay.restore_queue();
    delete from invite where used_by is null;
    perform public.relay_move_finish(p_file, p_numbers);
    return to_jsonb(aside);
end $$;
