-- What `relay doctor` looks at. Nothing here changes anything.

-- What those may whom nobody knows: everybody who connects (public), and on Supabase whoever has the public key (anon)
-- or an account (authenticated). Nothing, if all is well.
create or replace function relay.open_doors() returns table (what text)
language sql stable set search_path = relay, extensions, pg_temp as $$
    with everybody as (
        select 'public'::name as role
        union all select rolname from pg_roles where rolname in ('anon', 'authenticated'))
    select role || ' may use the schema relay' from everybody where has_schema_privilege(role, 'relay', 'usage')
    union all
    select role || ' may call ' || p.proname from everybody, pg_proc p
    where (p.pronamespace = 'relay'::regnamespace
            or (p.pronamespace = 'public'::regnamespace and p.proname like 'relay\_%'))
        and has_function_privilege(role, p.oid, 'execute')
    union all
    select role || ' may read or change the table ' || c.relname from everybody, pg_class c
    where c.relnamespace = 'relay'::regnamespace and c.relkind in ('r', 'p', 'v', 'm')
        and has_table_privilege(role, c.oid, 'select, insert, update, delete, truncate')
    union all
    select 'the table ' || relname || ' has no row-level security' from pg_class
    where relnamespace = 'relay'::regnamespace and relkind in ('r', 'p') and not relrowsecurity
$$;

-- What the database is and has, from its catalogue alone: {server, number, bytes, since, extensions: {name: version},
-- tables, functions, open: at most 50}. since: when Relay came here.
create or replace function public.relay_examine() returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object(
        'server', current_setting('server_version'),
        'number', current_setting('server_version_num')::integer,
        'bytes', pg_database_size(current_database()),
        'since', (select min(applied_at) from migration),
        'extensions', (select jsonb_object_agg(extname, extversion) from pg_extension),
        'tables', (select jsonb_agg(relname) from pg_class
            where relnamespace = 'relay'::regnamespace and relkind in ('r', 'p')),
        'functions', (select jsonb_agg(distinct proname) from pg_proc
            where pronamespace = 'relay'::regnamespace
                or (pronamespace = 'public'::regnamespace and proname like 'relay\_%')),
        'open', (select coalesce(jsonb_agg(what order by what), '[]') from (
            select what from relay.open_doors() order by what limit 50) doors))
$$;

-- How the work goes, for all bots: {working, admins, users, waiting, waiting_seconds, set_aside, incidents: at most 5,
-- rivalled}. working: some Relay holds a lease right now; rivalled: bots whose messages another program reads.
create or replace function public.relay_examine_work() returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object(
        'working', exists (select from turn where status in ('working', 'answered') and lease_until > now())
            or exists (select from duty where lease_until > now()),
        'admins', (select count(*) from person where role = 'admin'),
        'users', (select count(*) from person where role = 'user'),
        'waiting', (select count(*) from inbox where status = 'pending'),
        'waiting_seconds', (select floor(extract(epoch from now() - min(received_at))) from inbox
            where status = 'pending'),
        'set_aside', (select count(*) from turn where status = 'failed' and done_at > now() - interval '1 day'),
        'incidents', (select coalesce(jsonb_agg(detail order by id), '[]') from (
            select id, detail from incident
            where over_at is null and not (kind = 'spend' and calm_since is not null) order by id limit 5) open),
        'rivalled', (select coalesce(jsonb_agg(split_part(kind, ' ', 2)), '[]') from incident
            where kind like 'rival %' and over_at is null))
$$;
