-- The cache of what derivations came to.

-- What a derivation came to before; null when it is not known (any more).
create or replace function public.relay_result(p_space_id bigint, p_hash text) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    update result set used_at = clock_timestamp() where space_id = p_space_id and hash = p_hash returning result
$$;

-- Whether some inputs of a derivation (message:1, memory:2, summary:3) are there no more.
create or replace function relay.read_what_is_gone(p_inputs jsonb) returns boolean
language sql stable set search_path = relay, extensions, pg_temp as $$
    select exists (
        select from jsonb_array_elements_text(p_inputs) as one,
            lateral (select split_part(one, ':', 1) as kind, split_part(one, ':', 2)::bigint as id) i
        where not case i.kind when 'message' then exists (select from message m where m.id = i.id)
            when 'memory' then exists (select from memory m where m.id = i.id)
            when 'summary' then exists (select from summary s where s.id = i.id) else true end)
$$;

-- Keeps what a derivation {name, version, inputs, hash} came to, and no more than p_most of a space: those that were not
-- used for longest go. Keeping it again changes nothing; nor does what read something that was erased meanwhile.
create or replace function public.relay_keep_result(
    p_space_id bigint, p_derivation jsonb, p_result jsonb, p_most integer)
returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    if relay.read_what_is_gone(p_derivation -> 'inputs') then
        return 'false';
    end if;
    insert into result (space_id, hash, name, version, inputs, result)
    values (p_space_id, p_derivation ->> 'hash', p_derivation ->> 'name', p_derivation ->> 'version',
        array(select jsonb_array_elements_text(p_derivation -> 'inputs')), p_result)
    on conflict (space_id, hash) do update set used_at = clock_timestamp();
    delete from result where space_id = p_space_id and hash in (
        select hash from result where space_id = p_space_id order by used_at desc, hash offset p_most);
    return 'true';
end $$;
