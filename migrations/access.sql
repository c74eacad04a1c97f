-- Who may what, for every table and function there is: nobody but the owner and, on Supabase, the service role.
do $access$
declare
    one record;
    role_name text;
begin
    for one in select c.oid::regclass as name from pg_class c
        where c.relnamespace = 'relay'::regnamespace and c.relkind = 'r' and not c.relrowsecurity
    loop
        execute format('alter table %s enable row level security', one.name);
    end loop;
    for one in select p.oid::regprocedure as name from pg_proc p
        where p.pronamespace = 'relay'::regnamespace
            or (p.pronamespace = 'public'::regnamespace and p.proname like 'relay\_%')
    loop
        execute format('revoke all on function %s from public', one.name);
        for role_name in select rolname from pg_roles where rolname in ('anon', 'authenticated') loop
            execute format('revoke all on function %s from %I', one.name, role_name);
        end loop;
        if exists (select from pg_roles where rolname = 'service_role') then
            execute format('grant execute on function %s to service_role', one.name);
        end if;
    end loop;
    revoke all on schema relay from public;
    revoke all on all tables in schema relay from public;
    for role_name in select rolname from pg_roles where rolname in ('anon', 'authenticated') loop
        execute format('revoke all on schema relay from %I', role_name);
        execute format('revoke all on all tables in schema relay from %I', role_name);
        execute format('revoke all on all sequences in schema relay from %I', role_name);
    end loop;
    if exists (select from pg_roles where rolname = 'service_role') then
        grant usage on schema relay to service_role;
        grant select, insert, update, delete, truncate on all tables in schema relay to service_role;
        grant usage, update on all sequences in schema relay to service_role;
    end if;
end $access$;
notify pgrst, 'reload schema';
