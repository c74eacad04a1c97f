-- Which version this database has: {version, breaking, functions: {file: hash}}, and whether a move into it is unfinished.
create or replace function public.relay_schema() returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object(
        'version', (select coalesce(max(version), 0) from migration),
        'breaking', (select coalesce(max(version) filter (where breaking), 0) from migration),
        'moving', exists (select from move where state = 'copying'),
        'functions', (select coalesce(jsonb_object_agg(name, hash), '{}') from function_file))
$$;
