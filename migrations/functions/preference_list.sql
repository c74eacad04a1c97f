-- What people see and decide of how they like answers.

-- Folds everything again that was observed in a space.
create or replace function relay.refold_space(p_space_id bigint) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    delete from preference where space_id = p_space_id;
    perform relay.refold(space_id, user_id, thread_id, type, pattern)
    from (select distinct space_id, user_id, thread_id, type, pattern from observation where space_id = p_space_id) seen;
end $$;

-- A group's space takes over what was said about answers in another one.
create or replace function relay.merge_feedback(p_into bigint, p_from bigint) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    update feedback set space_id = p_into where space_id = p_from;
    update observation set space_id = p_into where space_id = p_from;
    update preference_decision set space_id = p_into where space_id = p_from;
    delete from preference where space_id = p_from;
    perform relay.refold_space(p_into);
end $$;

-- How a person likes answers, everywhere and in this thread: {on, paused_until, here, waiting (acts), rows (strongest first,
-- archived ones at the end), known: how many in the space are not archived, other threads' own included}.
create or replace function public.relay_preferences(p_space jsonb, p_chat_id bigint, p_topic_id bigint, p_user_id bigint)
returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    with own as (select * from space where id = relay.find_space(p_space)),
    here as (select * from relay.find_thread(p_space, p_chat_id, p_topic_id)),
    shown as (
        select now.* from own, preference stored, relay.preference_at(stored, now()) as now
        where stored.space_id = own.id and stored.user_id = p_user_id
            and (stored.thread_id is null or stored.thread_id = (select id from here)))
    select jsonb_build_object(
        'on', coalesce((select preferences = 'on' and memory <> 'off' from own), true),
        'paused_until', (select preferences_paused_until from own where preferences_paused_until > now()),
        'here', coalesce((select preferences from here), 'use'),
        'waiting', (select count(distinct o.feedback_id) from own join observation o on o.space_id = own.id
            where o.user_id = p_user_id and o.pending),
        'known', (select count(*) from own, preference stored, relay.preference_at(stored, now()) as now
            where stored.space_id = own.id and stored.user_id = p_user_id and now.status <> 'archived'),
        'rows', (
            select coalesce(jsonb_agg(relay.preference_json(p) order by p.status = 'archived', p.strength desc, p.id), '[]')
            from (select * from shown order by status = 'archived', strength desc, id limit 200) as p))
$$;

-- A preference of a person with what taught it, the newest first: {preference, evidence: [{at, kind, polarity, source,
-- message_id, text, chat_id, telegram_message_id}], total}. Null: there is none such.
create or replace function public.relay_preference_source(p_space jsonb, p_user_id bigint, p_preference_id bigint)
returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    with own as (
        select p.* from preference p
        where p.id = p_preference_id and p.space_id = relay.find_space(p_space) and p.user_id = p_user_id),
    taught as (
        select o.id, o.at, f.kind, o.polarity, f.source, m.id as message_id, left(m.text, 200) as text, h.topic_id,
            t.id as turn_id
        from own join observation o on o.space_id = own.space_id and o.user_id = own.user_id and o.type = own.type
            and o.pattern = own.pattern and o.thread_id is not distinct from own.thread_id
        join feedback f on f.id = o.feedback_id and f.withdrawn_at is null
        left join turn t on t.id = f.turn_id left join message m on m.id = t.assistant_message_id
        left join thread h on h.id = t.thread_id)
    select jsonb_build_object(
        'preference', relay.preference_json(relay.preference_at((select own::relay.preference from own), now())),
        'total', (select count(*) from taught),
        'evidence', (
            select coalesce(jsonb_agg(jsonb_build_object('at', at, 'kind', kind, 'polarity', polarity, 'source', source,
                'message_id', message_id, 'text', text, 'posted', place.posted, 'topic_id', topic_id)
                order by newest.id desc), '[]')
            from (select * from taught order by id desc limit 10) newest
            left join lateral (
                select jsonb_build_object('chat_id', chat_id, 'message_id', telegram_message_id) as posted from posted
                where turn_id = newest.turn_id and from_bot order by telegram_message_id limit 1) place on true))
    from own
$$;

-- Forgets preferences of a person: what was observed until now counts no more. Returns the decisions with what they took:
-- [{decision_id, type, pattern}].
create or replace function public.relay_forget_preferences(p_space jsonb, p_user_id bigint, p_preferences jsonb)
returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    with going as (
        select distinct space_id, user_id, thread_id, type, pattern from preference
        where p_preferences @> to_jsonb(id) and space_id = relay.find_space(p_space) and user_id = p_user_id),
    unsure as (
        update preference p set sureness = null from going g
        where p.space_id = g.space_id and p.user_id = g.user_id and p.thread_id is not distinct from g.thread_id
            and p.type = g.type and p.pattern = g.pattern),
    decided as (
        insert into preference_decision (space_id, user_id, thread_id, type, pattern, action)
        select space_id, user_id, thread_id, type, pattern, 'forget' from going
        returning id, type, pattern)
    select coalesce(jsonb_agg(jsonb_build_object('decision_id', id, 'type', type, 'pattern', pattern) order by id), '[]')
    from decided
$$;

-- Takes back that preferences were forgotten, as far as nothing was observed since. Returns how many.
create or replace function public.relay_recall_preferences(p_space jsonb, p_user_id bigint, p_decisions jsonb)
returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    back integer;
begin
    delete from preference_decision d
    where p_decisions @> to_jsonb(d.id) and d.space_id = relay.find_space(p_space) and d.user_id = p_user_id
        and d.action = 'forget' and not exists (
            select from observation o
            where o.space_id = d.space_id and o.user_id = d.user_id and o.type = d.type and o.pattern = d.pattern
                and o.thread_id is not distinct from d.thread_id and o.at > d.at);
    get diagnostics back = row_count;
    return to_jsonb(back);
end $$;

-- Switches preferences in a space (p_change {preferences, preferences_paused_until}) or in a thread ({here}). Returns how
-- they stand then.
create or replace function public.relay_preference_control(
    p_space jsonb, p_chat_id bigint, p_topic_id bigint, p_user_id bigint, p_change jsonb)
returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own constant bigint := relay.ensure_space(p_space);
    here bigint;
begin
    update space set preferences = coalesce(p_change ->> 'preferences', preferences),
        preferences_paused_until = case when p_change ? 'paused_until'
            then (p_change ->> 'paused_until')::timestamptz else preferences_paused_until end
    where id = own;
    if p_change ? 'here' then
        here := (relay.ensure_thread(own, p_chat_id, p_topic_id, 1000000)).id;
        update thread set preferences = p_change ->> 'here' where id = here;
    end if;
    insert into event (kind, space_id, user_id, payload)
    values ('control', own, p_user_id, jsonb_build_object('preferences', p_change));
    return public.relay_preferences(p_space, p_chat_id, p_topic_id, p_user_id);
end $$;

-- Forgets all preferences of a person in a space. p_known confirms it: how many are not archived. Returns how many were
-- forgotten; null when the number is wrong.
create or replace function public.relay_reset_preferences(p_space jsonb, p_user_id bigint, p_known integer)
returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own constant bigint := relay.find_space(p_space);
begin
    perform from space where id = own for update;
    if p_known is distinct from (
        select count(*) from preference p, relay.preference_at(p, now()) as now
        where p.space_id = own and p.user_id = p_user_id and now.status <> 'archived')
    then
        return null;
    end if;
    perform public.relay_forget_preferences(p_space, p_user_id,
        (select coalesce(jsonb_agg(id), '[]') from preference where space_id = own and user_id = p_user_id));
    return to_jsonb(p_known);
end $$;

-- Lets what waits for a person's tap count (p_keep), or takes it away. Returns how many acts.
create or replace function public.relay_decide_observations(p_space jsonb, p_user_id bigint, p_keep boolean) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own constant bigint := relay.find_space(p_space);
    acts constant bigint[] := array(
        select distinct feedback_id from observation where space_id = own and user_id = p_user_id and pending);
begin
    if p_keep then
        update feedback set kept = true where id = any (acts);
        update observation set pending = false where feedback_id = any (acts);
        perform relay.refold(space_id, user_id, thread_id, type, pattern)
        from (select distinct space_id, user_id, thread_id, type, pattern from observation
            where feedback_id = any (acts)) seen;
        perform relay.owe_job_anew('preference', max(id)::text) from unnest(acts) as id having max(id) is not null;
    else
        update feedback set withdrawn_at = now() where id = any (acts);
        delete from observation where feedback_id = any (acts);
    end if;
    return to_jsonb(cardinality(acts));
end $$;
