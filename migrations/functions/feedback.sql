-- Feedback: what people say about answers, each act once, with what it says of how they like them.

-- The turn of an answer to a person, in their space: by its number, or by a message of ours in a chat. Null: none such.
create or replace function relay.answer_turn(p_space_id bigint, p_user_id bigint, p_about jsonb) returns relay.turn
language sql stable set search_path = relay, extensions, pg_temp as $$
    select t from turn t
    where t.id = coalesce((p_about ->> 'turn_id')::bigint, (
            select turn_id from posted
            where bot_id = (p_about ->> 'bot_id')::bigint and chat_id = (p_about ->> 'chat_id')::bigint
                and telegram_message_id = (p_about ->> 'telegram_message_id')::bigint and from_bot))
        and t.space_id = p_space_id and t.user_id = p_user_id and t.assistant_message_id is not null
$$;

-- Where what is observed in a thread counts: there alone where it has a character of its own, or its person wants that.
create or replace function relay.observed_in(p_thread relay.thread) returns bigint
language sql stable set search_path = relay, extensions, pg_temp as $$
    select p_thread.id where p_thread.preferences = 'own' or coalesce((
        select text <> '' from persona
        where chat_id = p_thread.chat_id and topic_id = p_thread.topic_id order by id desc limit 1), false)
$$;

-- What a person says about an answer, or (p_input {kind: said}) about all: {id, coalesced, acts}. The same act about an
-- answer takes the place of the first within half a minute. p_input: {kind, about: {turn_id | bot_id, chat_id, telegram_message_id}, value,
-- source, observations: [{type, pattern, polarity, weight, reinforcing}]}. `acts`: of the patterns, those that prompts show
-- now. A pattern counts once for an answer. Where nothing may be learned: {refused: private|off|paused|here|unknown}.
create or replace function public.relay_feedback(
    p_space jsonb, p_chat_id bigint, p_topic_id bigint, p_user_id bigint, p_input jsonb)
returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own constant bigint := relay.ensure_space(p_space);
    about turn;
    here thread;
    why text;
    same feedback;
begin
    perform from space where id = own for update;  -- one act of a space after the other
    if p_input -> 'about' <> 'null' then
        about := relay.answer_turn(own, p_user_id, p_input -> 'about');
        if about.id is null then
            return '{"refused": "unknown"}';
        end if;
        select * into here from thread where id = about.thread_id;
    else
        here := relay.find_thread(p_space, p_chat_id, p_topic_id);
    end if;
    why := coalesce(
        relay.preferences_rest(own, here.id, coalesce(about.session_id, here.session_id)),
        case when here.preferences = 'quiet' or not here.teaches then 'here' end,
        (select 'off' from choice where user_id = p_user_id and choices ->> 'learning' = 'off'));
    if why is not null then
        return jsonb_build_object('refused', why);
    end if;
    select * into same from feedback
    where turn_id = about.id and user_id = p_user_id and kind = p_input ->> 'kind' and withdrawn_at is null
        and settles_at > now()
    order by id desc limit 1;
    if same.id is null then
        insert into feedback (space_id, thread_id, session_id, user_id, kind, turn_id, value, source)
        values (own, here.id, coalesce(about.session_id, here.session_id), p_user_id, p_input ->> 'kind', about.id,
            p_input -> 'value', p_input ->> 'source')
        returning * into same;
    else
        update feedback set value = p_input -> 'value' where id = same.id;
        delete from observation where feedback_id = same.id;
    end if;
    insert into observation (feedback_id, space_id, user_id, thread_id, type, pattern, polarity, weight, reinforcing,
        session_id, at, derivation)
    select same.id, own, p_user_id, relay.observed_in(here), one.type, one.pattern, one.polarity, one.weight,
        one.reinforcing, same.session_id, same.at, coalesce(p_input -> 'derivation', '{}')
    from jsonb_to_recordset(p_input -> 'observations') as one (
        type text, pattern text, polarity smallint, weight numeric, reinforcing smallint)
    where about.id is null or not exists (
        select from observation o join feedback f on f.id = o.feedback_id
        where f.turn_id = about.id and f.user_id = p_user_id and f.withdrawn_at is null and o.type = one.type
            and o.pattern = one.pattern and o.polarity = one.polarity)
    on conflict do nothing;
    return jsonb_build_object('id', same.id, 'coalesced', same.value is distinct from p_input -> 'value', 'acts', (
        select coalesce(jsonb_agg(relay.preference_json(now) order by now.strength desc, now.id), '[]')
        from observation o
        join preference p on p.space_id = own and p.user_id = p_user_id and p.type = o.type and p.pattern = o.pattern
            and p.polarity = o.polarity and p.thread_id is not distinct from o.thread_id,
        relay.preference_at(p, now()) as now
        where o.feedback_id = same.id and now.status = 'stable' and now.level >= 1));
end $$;

-- Takes back what a person said about an answer: the acts of a kind (all of them without one). Returns how many.
create or replace function public.relay_withdraw_feedback(p_space jsonb, p_user_id bigint, p_about jsonb, p_kind text)
returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own constant bigint := relay.find_space(p_space);
    about constant turn := relay.answer_turn(own, p_user_id, p_about);
    gone bigint[];
begin
    with withdrawn as (
        update feedback set withdrawn_at = now()
        where turn_id = about.id and user_id = p_user_id and kind = coalesce(p_kind, kind) and withdrawn_at is null
        returning id)
    select array_agg(id) into gone from withdrawn;
    delete from observation where feedback_id = any (gone);
    return to_jsonb(coalesce(cardinality(gone), 0));
end $$;

-- Takes away what was said about the answers of turns, and what that taught.
create or replace function relay.erase_feedback(p_turns bigint[]) returns void
language sql set search_path = relay, extensions, pg_temp as $$
    delete from feedback where turn_id = any (p_turns) or other_turn_id = any (p_turns)
$$;

-- How a person likes answers, everywhere and in this thread: {on, paused_until, here, rows (strongest first, what was put
-- away at the end), known: how many there are in the space, other threads' own with them, but for those put away}.
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
        'known', (select count(*) from own, preference stored, relay.preference_at(stored, now()) as now
            where stored.space_id = own.id and stored.user_id = p_user_id and now.status <> 'archived'),
        'rows', (select coalesce(jsonb_agg(relay.preference_json(p) order by p.status = 'archived', p.strength desc, p.id), '[]')
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

-- Forgets all preferences of a person in a space, which p_known confirms: how many there are that are not put away.
-- Returns how many were forgotten; null when the number is not right.
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
