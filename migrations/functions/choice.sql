-- People's own choices, kept as the verbs name them.

-- What a person chose: {name: value}; empty when nothing.
create or replace function public.relay_choices(p_user_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce((select choices from choice where user_id = p_user_id), '{}')
$$;

-- Makes choices besides those made before. Returns all of them.
create or replace function public.relay_choose(p_user_id bigint, p_choices jsonb) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    insert into choice as c (user_id, choices) values (p_user_id, p_choices)
    on conflict (user_id) do update set choices = c.choices || excluded.choices, updated_at = now()
    returning c.choices
$$;
