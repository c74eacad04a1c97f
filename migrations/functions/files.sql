-- The database's own files, which hold deleted rows until they are rewritten.

-- Returns whether anything was erased since the last rewrite, and the current time: {owed, at}.
create or replace function public.relay_files_owed() returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('at', now(), 'owed',
        exists (select from erasure where done_at > cleared) or exists (select from session where erased_at > cleared))
    from (select coalesce((select done_at from duty where name = 'files'), '-infinity') as cleared) last
$$;

-- Records a rewrite; p_at: when it began.
create or replace function public.relay_files_cleared(p_at timestamptz) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    insert into duty (name, done_at) values ('files', p_at)
    on conflict (name) do update set done_at = excluded.done_at;
    select 'true'::jsonb
$$;

-- Returns what to rewrite: {tables: names, readers: transactions that may still see deleted rows, as [pid, begun], log:
-- whether the write-ahead log can be overwritten, because nobody else reads it and this role may}. Leaves out vectors:
-- they hold no words, and their index takes long to build.
create or replace function public.relay_files() returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object(
        'tables', (select jsonb_agg(format('relay.%I', relname) order by relname) from pg_class
            where relnamespace = 'relay'::regnamespace and relkind = 'r' and relname <> 'embedding'
                and pg_has_role(relowner, 'usage'))
            || '["pg_catalog.pg_statistic"]',
        'readers', (select coalesce(jsonb_agg(jsonb_build_array(pid, xact_start)), '[]') from pg_stat_activity
            where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
                and (backend_xmin is not null or backend_xid is not null)),
        'log', current_setting('wal_level') = 'minimal' and pg_has_role('pg_checkpoint', 'usage')
            and has_function_privilege('pg_catalog.pg_ls_waldir()', 'execute')
            and has_function_privilege('pg_catalog.pg_switch_wal()', 'execute'))
$$;

-- Clears the statistics of a table and its indexes, which hold its most common words. ANALYZE would not clear those of
-- an empty table. No effect before PostgreSQL 18.
create or replace function public.relay_forget_statistics(p_table text) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    if current_setting('server_version_num')::integer >= 180000 then
        execute 'select pg_clear_attribute_stats(schemaname::text, tablename::text, attname::text, inherited) from pg_stats
            where format(''%I.%I'', schemaname, tablename)::regclass in (
                select $1::regclass union all select indexrelid from pg_index where indrelid = $1::regclass)' using p_table;
    end if;
    return 'true';
end $$;

-- Overwrites the write-ahead log. After a checkpoint in a new segment, old segments are unused but keep their contents;
-- each switch fills the rest of one with zeros.
create or replace function public.relay_write_log_over() returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    perform pg_logical_emit_message(false, 'relay', ''), pg_switch_wal();
    checkpoint;
    for n in 0..(select count(*) from pg_ls_waldir()) loop
        perform pg_logical_emit_message(false, 'relay', ''), pg_switch_wal();
    end loop;
    checkpoint;
    return 'true';
end $$;
