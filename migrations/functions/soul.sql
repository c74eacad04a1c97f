-- The soul: the personality, versioned. Versions are never overwritten.

-- The active soul: {version, text, author_id, reason, created_at}.
create or replace function public.relay_soul() returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select to_jsonb(s) from soul s where s.active
$$;

-- Activates a soul as a new version. The same text as the active one makes none.
create or replace function public.relay_set_soul(p_text text, p_author_id bigint, p_reason text) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    active_version integer;
begin
    perform pg_advisory_xact_lock(hashtext('relay.soul'));
    select version into active_version from soul where active and text = p_text;
    if active_version is null then
        update soul set active = false where active;
        insert into soul (version, text, author_id, reason, active)
        values ((select coalesce(max(version), 0) + 1 from soul), p_text, p_author_id, p_reason, true)
        returning version into active_version;
    end if;
    return to_jsonb(active_version);
end $$;
