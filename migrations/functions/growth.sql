-- Growth of the soul: once a week at night an idea may be proposed to an admin who wants it. Only a tap changes the soul.

-- Turns the growth of the soul from a space's knowledge on, {user_id, bot_id, zone, next_at}, or (p_growth null) off.
-- Returns whether it is on.
create or replace function public.relay_set_growth(p_space jsonb, p_growth jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own constant bigint := relay.ensure_space(p_space);
begin
    if p_growth is null then
        delete from soul_growth where space_id = own;
    else
        insert into soul_growth as g (space_id, user_id, bot_id, zone, next_at)
        select own, w.user_id, w.bot_id, w.zone, w.next_at
        from jsonb_to_record(p_growth) as w (user_id bigint, bot_id bigint, zone text, next_at timestamptz)
        on conflict (space_id) do update set user_id = excluded.user_id, bot_id = excluded.bot_id, zone = excluded.zone;
    end if;
    perform relay.owe_growth(own);
    return to_jsonb(p_growth is not null);
end $$;

-- Returns the settings for growth from a space's knowledge; null if it is off.
create or replace function public.relay_growth(p_space jsonb) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select to_jsonb(g) from soul_growth g where space_id = relay.find_space(p_space)
$$;

-- Owes a space's next idea, or none.
create or replace function relay.owe_growth(p_space_id bigint) returns void
language sql set search_path = relay, extensions, pg_temp as $$
    select relay.owe_next('growth', p_space_id::text, g.bot_id, g.next_at)
    from (select) always left join soul_growth g on g.space_id = p_space_id
$$;

-- Tests whether a memory may shape the soul: an active learning about how its owner wants things, in their own words.
create or replace function relay.shapes_soul(p_memory relay.memory) returns boolean
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select p_memory.status = 'active' and p_memory.kind = 'learning' and p_memory.category = 'identity'
        and not p_memory.tainted
$$;

-- Returns what a held job reads. Null if the process lost it, or it is off.
create or replace function public.relay_growth_work(p_job_id bigint, p_fence bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('growth', to_jsonb(g),
        'soul', coalesce((select jsonb_build_object('version', version, 'text', text) from soul where active),
            '{"version": 0, "text": ""}'),
        'memories', case when relay.remembers(g.space_id) then (
            select coalesce(jsonb_agg(jsonb_build_object('id', k.id, 'content', k.content) order by k.id), '[]') from (
                select m.id, m.content from memory m
                where m.space_id = g.space_id and relay.shapes_soul(m)
                order by m.pinned desc, m.importance desc, m.id desc limit 20) k) else '[]' end,
        'preferences', case when relay.preferences_rest(g.space_id, null) is null then (
            select coalesce(jsonb_agg(relay.preference_json(p) order by p.id), '[]') from (
                select * from relay.preferences_at(array(
                    select stored from preference stored
                    where stored.space_id = g.space_id and stored.user_id = g.user_id and stored.thread_id is null
                        and stored.status = 'stable' and not stored.shadow), now())
                where status = 'stable' order by strength desc, id limit 20) as p) else '[]' end,
        'ideas', (select coalesce(jsonb_agg(to_jsonb(i) order by i.id), '[]') from (
            select * from soul_idea where space_id = g.space_id order by id desc limit 200) i))
    from job j join soul_growth g on g.space_id = j.key::bigint
    where j.id = p_job_id and j.fence = p_fence
$$;

-- Stores what a held job proposes and queues it (p_idea null: nothing): {based_on, text, replaces, inputs, derivation,
-- notice, plain, not_before}. The job then waits until p_next_at. Returns whether something is proposed; null if it is lost.
create or replace function public.relay_post_idea(
    p_job_id bigint, p_fence bigint, p_bot_id bigint, p_idea jsonb, p_next_at timestamptz)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    held job := relay.hold_job(p_job_id, p_fence);
    made_from constant text[] := array(select jsonb_array_elements_text(p_idea -> 'inputs'));
    own soul_growth;
    made bigint;
begin
    if held.id is null then
        return null;
    end if;
    update soul_growth set next_at = p_next_at where space_id = held.key::bigint returning * into own;
    if p_idea is not null and own.space_id is not null then
        insert into soul_idea (space_id, user_id, based_on, text, replaces, inputs, derivation)
        select own.space_id, own.user_id, i.based_on, i.text, i.replaces, i.inputs, i.derivation
        from jsonb_to_record(p_idea) as i (based_on integer, text text, replaces text, inputs text[], derivation jsonb)
        returning id into made;
        perform relay.say_first(p_bot_id, own.user_id, 0, own.user_id, own.space_id,
            jsonb_build_object('text', p_idea ->> 'notice', 'plain', p_idea ->> 'plain', 'idea_id', made,
                'not_before', p_idea ->> 'not_before'),
            made_from, format('idea %s', made), 'growth', relay.rests_on_others(made_from));
    end if;
    delete from job where id = held.id;
    perform relay.owe_growth(held.key::bigint);
    return to_jsonb(made is not null);
end $$;

-- Returns an idea of a space, and whether its basis still holds; null if there is none.
create or replace function public.relay_soul_idea(p_space jsonb, p_idea_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select to_jsonb(i) || jsonb_build_object('stands', not exists (
        select from unnest(i.inputs) as input left join memory m
            on m.id = split_part(input, ':', 2)::bigint and m.space_id = i.space_id and relay.shapes_soul(m)
        where input like 'memory:%' and m.id is null))
    from soul_idea i where i.id = p_idea_id and i.space_id = relay.find_space(p_space)
$$;

-- Decides an open idea once: accepted (p_text becomes the soul, if version p_seen is still active), edited or dismissed.
-- Returns it; null if there is none.
create or replace function public.relay_settle_idea(
    p_space jsonb, p_idea_id bigint, p_decision text, p_user_id bigint, p_author text, p_text text, p_seen bigint)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    idea soul_idea;
begin
    perform pg_advisory_xact_lock(hashtext('relay.soul'));
    select * into idea from soul_idea where id = p_idea_id and space_id = relay.find_space(p_space) for update;
    if idea.status = 'open' and (p_decision <> 'accepted'
        or coalesce((select version from soul where active), 0) = p_seen)
    then
        if p_decision = 'accepted' then
            perform public.relay_activate_soul(p_text, p_user_id, p_author, 'grown');
        end if;
        update soul_idea set status = p_decision, decided_at = now() where id = idea.id returning * into idea;
    end if;
    return case when idea.id is not null then to_jsonb(idea) end;
end $$;
