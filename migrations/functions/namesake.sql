-- Namesakes: people of a group whose names look the same are told apart, in prompts and in lists.

-- Reduces a name to what a prompt shows of it (as clean_name does in Python), in small letters.
create or replace function relay.bare_name(p_name text) returns text
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select case when bare in ('', 'you', 'system', 'assistant', 'the assistant', 'memory') then 'somebody' else bare end
    from (select lower(btrim(left(btrim(regexp_replace(regexp_replace(translate(normalize(p_name, nfkc),
        '[](){}<>:"`|=〈〉⟨⟩‹›«»“”„「」【】꞉∶', ''),
        '[\u00AD\u061C\u180E\u200B-\u200F\u202A-\u202E\u2060-\u206F\uFEFF]', '', 'g'), '\s+', ' ', 'g')), 40))) as bare
    ) named
$$;

-- Returns who has spoken in a space, under the name that they used last. `mark` tells namesakes apart: the username, else
-- a number from the second on, in the order in which they first spoke.
create or replace function relay.people_in(p_space_id bigint) returns table (user_id bigint, name text, mark text)
language sql stable rows 10 set search_path = relay, extensions, pg_temp as $$
    with recursive spoken as (
        (select m.user_id, m.id from message m
            where m.space_id = p_space_id and m.role = 'user' order by m.user_id, m.id limit 1)
        union all
        select later.user_id, later.id from spoken s cross join lateral (
            select m.user_id, m.id from message m
            where m.space_id = p_space_id and m.role = 'user' and m.user_id > s.user_id
            order by m.user_id, m.id limit 1) later),
    named as (
        select s.user_id, s.id, last.name, nullif(p.username, '') as username from spoken s
        cross join lateral (
            select m.name from message m
            where m.space_id = p_space_id and m.role = 'user' and m.user_id = s.user_id and m.name is not null
            order by m.id desc limit 1) last
        left join person p on p.user_id = s.user_id)
    select n.user_id, n.name, case when count(*) over same > 1 then coalesce('@' || n.username,
        nullif(row_number() over (same order by n.id), 1)::text) end
    from named n window same as (partition by relay.bare_name(n.name))
$$;

-- Returns the people of a group where some are namesakes: {user id: {name, mark}}; empty elsewhere.
create or replace function relay.told_apart(p_space_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select case when count(mark) > 0 then jsonb_object_agg(user_id, jsonb_build_object('name', name, 'mark', mark))
        else '{}' end
    from relay.people_in(p_space_id)
$$;

-- Returns what the people of a group are called in lists: {user id: name}; empty elsewhere. A list calls this once.
create or replace function relay.called_in(p_space_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select case when (select kind from space where id = p_space_id) = 'group' then coalesce((
            select jsonb_object_agg(user_id, concat_ws(' ', name, '(' || mark || ')'))
            from relay.people_in(p_space_id)), '{}')
        else '{}' end
$$;

-- Returns what a person of a group is called in lists; else p_name.
create or replace function relay.called(p_space_id bigint, p_user_id bigint, p_name text) returns text
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(relay.called_in(p_space_id) ->> p_user_id::text, p_name)
$$;
