-- Settings of contexts for each space, and how much a space stores.

-- Returns a space's settings, complete.
create or replace function public.relay_context_settings(p_space jsonb) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select relay.context_settings(relay.find_space(p_space))
$$;

-- Changes a space's settings: {section: {name: value}}. Returns them, complete.
create or replace function public.relay_change_context_settings(p_space jsonb, p_changes jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own constant bigint := relay.ensure_space(p_space);
begin
    insert into context_setting (space_id, settings) values (own, p_changes)
    on conflict (space_id) do update set changed_at = now(), settings = context_setting.settings || (
        select coalesce(jsonb_object_agg(c.key, coalesce(context_setting.settings -> c.key, '{}') || c.value), '{}')
        from jsonb_each(p_changes) c);
    return relay.context_settings(own);
end $$;

-- Counts what a space stores: [{kind, rows, bytes}].
create or replace function relay.count_storage(p_space_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_agg(jsonb_build_object('kind', kind, 'rows', number, 'bytes', coalesce(bytes, 0)) order by place)
    from (
        select 1, 'messages', count(*), sum(pg_column_size(m.text) + pg_column_size(m.blocks) + pg_column_size(m.words))
        from thread t join message m on m.thread_id = t.id where t.space_id = p_space_id
        union all
        select 2, 'versions', count(*), sum(pg_column_size(rows)) from compression
        where space_id = p_space_id and status = 'ready'
        union all
        select 3, 'compositions', count(*), sum(pg_column_size(rows)) from composition
        where space_id = p_space_id and deleted_at is null
        union all
        select 4, 'markers', count(*), sum(pg_column_size(content) + pg_column_size(context)) from keepit
        where space_id = p_space_id and removed_at is null
        union all
        select 5, 'memories', count(*), sum(pg_column_size(content)) from memory
        where space_id = p_space_id and status = 'active'
        union all
        select 6, 'feedback', count(*), sum(pg_column_size(f.*)) from feedback f where space_id = p_space_id
        union all
        select 7, 'documents', count(distinct d.id), sum(pg_column_size(p.text)) from document d
        join document_part p on p.document_id = d.id where d.space_id = p_space_id
        union all
        select 8, 'vectors', count(*), sum(pg_column_size(vector)) from embedding where space_id = p_space_id)
        as counted (place, kind, number, bytes)
$$;

-- Returns how much a space stores, counted at most once a day, the database's size, and what its settings would drop
-- tonight.
create or replace function public.relay_storage_statistics(p_space jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own constant bigint := relay.find_space(p_space);
    counted result;
begin
    if own is null then
        return jsonb_build_object('at', now(), 'stored', relay.count_storage(null),
            'database', pg_database_size(current_database()), 'freed', '{"rows": 0, "bytes": 0}'::jsonb);
    end if;
    select * into counted from result
    where space_id = own and hash = 'storage' and used_at > now() - interval '1 day';
    if counted.hash is null then
        insert into result (space_id, hash, name, version, inputs, result)
        values (own, 'storage', 'storage', '1', '{}', relay.count_storage(own))
        on conflict (space_id, hash) do update set result = excluded.result, used_at = clock_timestamp()
        returning * into counted;
    end if;
    return jsonb_build_object('at', counted.used_at, 'stored', counted.result,
        'database', pg_database_size(current_database()), 'freed', (
            select jsonb_build_object('rows', count(*), 'bytes', coalesce(sum(bytes), 0))
            from relay.versions_past_retention(own)));
end $$;
