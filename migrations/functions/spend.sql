-- What was used of models, as their servers counted it, and what is left of a day's budget.

-- Keeps what a piece of work used, once: {id, done, model, usage}. Null is nothing.
create or replace function relay.keep_spend(p_spend jsonb, p_what text, p_space_id bigint, p_user_id bigint) returns void
language sql set search_path = relay, extensions, pg_temp as $$
    insert into spend (id, what, done, user_id, space_id, model, input, cached, written, output, searches)
    select (p_spend ->> 'id')::uuid, p_what, (p_spend ->> 'done')::boolean, p_user_id, p_space_id, p_spend ->> 'model',
        coalesce((u ->> 'input_tokens')::bigint, 0), coalesce((u ->> 'cache_read_input_tokens')::bigint, 0),
        coalesce((u ->> 'cache_creation_input_tokens')::bigint, 0), coalesce((u ->> 'output_tokens')::bigint, 0),
        coalesce((u ->> 'web_search_requests')::bigint, 0)
    from (select p_spend -> 'usage' as u) as told where p_spend ->> 'id' is not null
    on conflict do nothing
$$;

-- The account that a charge names: {what, user_id, space, space_id, turn_id, thread_id, session_id}, all but the first of
-- them null where they say nothing. Who pays is the person, else whoever owns the private space.
create or replace function relay.account(p_charge jsonb) returns table (space_id bigint, user_id bigint)
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
begin
    select t.space_id, t.user_id into space_id, user_id from turn t where t.id = (p_charge ->> 'turn_id')::bigint;
    space_id := coalesce(space_id, (p_charge ->> 'space_id')::bigint,
        (select h.space_id from thread h where h.id = (p_charge ->> 'thread_id')::bigint),
        (select n.space_id from session n where n.id = (p_charge ->> 'session_id')::bigint));
    if space_id is null and p_charge -> 'space' <> 'null' then
        space_id := relay.find_space(p_charge -> 'space');
    end if;
    user_id := coalesce((p_charge ->> 'user_id')::bigint, user_id,
        (select s.owner_id from space s where s.id = account.space_id));
    return next;
end $$;

-- Keeps what a piece of work used, on an account.
create or replace function public.relay_spend(p_charge jsonb, p_spend jsonb) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    select relay.keep_spend(p_spend, p_charge ->> 'what', a.space_id, a.user_id) from relay.account(p_charge) a;
    select 'true'::jsonb
$$;

-- Who pays on an account, and what was used since a moment: {user_id, spent}, see relay_spent.
create or replace function public.relay_charged(p_charge jsonb, p_since timestamptz) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('user_id', a.user_id, 'spent', public.relay_spent(p_since, a.user_id))
    from relay.account(p_charge) a
$$;

-- What was used since a moment, by model, and whether p_user_id is charged with it:
-- [{model, own, input, cached, written, output, searches}].
create or replace function public.relay_spent(p_since timestamptz, p_user_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    with used as (
        select model, coalesce(user_id = p_user_id, false) as own, sum(input) as input, sum(cached) as cached,
            sum(written) as written, sum(output) as output, sum(searches) as searches
        from spend where at >= p_since group by 1, 2)
    select coalesce(jsonb_agg(to_jsonb(u)), '[]') from used u
$$;

-- Whether a person is to be told now that their budget is nearly used up: not when they were since p_since. It is taken
-- down that they are.
create or replace function relay.first_warning(p_user_id bigint, p_since timestamptz) returns boolean
language sql set search_path = relay, extensions, pg_temp as $$
    with told as (
        insert into budget_warning as w (user_id, told_at) values (p_user_id, now())
        on conflict (user_id) do update set told_at = now() where w.told_at < p_since
        returning 1)
    select exists (select from told)
$$;
