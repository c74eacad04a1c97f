-- Who may use Relay, besides those whom its settings name.

create or replace function public.relay_people() returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_agg(jsonb_build_object('user_id', user_id, 'role', role, 'name', name) order by user_id), '[]')
    from person where role in ('admin', 'user')
$$;
