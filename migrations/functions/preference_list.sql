-- Preferences as people see them, and people's decisions about them.

-- Folds all observations of a space again.
create or replace function relay.refold_space(p_space_id bigint) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    delete from preference where space_id = p_space_id;
    perform relay.refold(space_id, user_id, thread_id, type, pattern)
    from (select distinct space_id, user_id, thread_id, type, pattern from observation where space_id = p_space_id) seen;
    perform relay.owe_estimates(p_space_id, user_id)
    from (select distinct user_id from observation where space_id = p_space_id order by 1) people;
end $$;

-- Moves the feedback of another space into a group's space.
create or replace function relay.merge_feedback(p_into bigint, p_from bigint) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    update feedback set space_id = p_into where space_id = p_from;
    update observation set space_id = p_into where space_id = p_from;
    update preference_decision set space_id = p_into where space_id = p_from;
    delete from preference where space_id = p_from;
    perform relay.refold_space(p_into);
end $$;

-- Tests whether a space's preferences are on; turning memory off turns them off, too.
create or replace function relay.follows_preferences(p_space_id bigint) returns boolean
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce((select preferences = 'on' and memory <> 'off' from space where id = p_space_id), true)
$$;

-- Returns a person's preferences, everywhere and in this thread, strongest first, archived ones at the end. `known`: how
-- many in the space are not archived, including other threads' own.
create or replace function public.relay_preferences(p_space jsonb, p_chat_id bigint, p_topic_id bigint, p_user_id bigint)
returns jsonb language sql stable set search_path = relay, extensions, pg_temp as $$
    with own as (select * from space where id = relay.find_space(p_space)),
    here as (select * from relay.find_thread(p_space, p_chat_id, p_topic_id)),
    known as (
        select now.* from own, relay.preferences_at(array(
            select p from preference p where p.space_id = own.id and p.user_id = p_user_id), now()) as now)
    select jsonb_build_object(
        'on', relay.follows_preferences((select id from own)),
        'memory_off', coalesce((select memory = 'off' from own), false),
        'paused_until', (select preferences_paused_until from own where preferences_paused_until > now()),
        'here', coalesce((select preferences from here), 'use'),
        'followed', coalesce((select preferences <> 'ignore' and recalls from here), true) and relay.preferences_rest(
            (select id from own), (select session_id from here)) is null,
        'waiting', (select count(distinct o.feedback_id) from own join observation o on o.space_id = own.id
            where o.user_id = p_user_id and o.pending),
        'waits', (
            select coalesce(jsonb_agg(jsonb_build_object('type', type, 'pattern', pattern, 'polarity', polarity)
                order by times desc, pattern, type, polarity), '[]')
            from (
                select o.type, o.pattern, o.polarity, count(*) as times from own join observation o on o.space_id = own.id
                where o.user_id = p_user_id and o.pending
                group by 1, 2, 3 order by 4 desc, 2, 1, 3 limit 10) as one),
        'known', (select count(*) from known where status <> 'archived'),
        'rows', (
            select coalesce(jsonb_agg(relay.preference_json(p) order by p.status = 'archived', p.strength desc, p.id), '[]')
            from (
                select * from known where thread_id is null or thread_id = (select id from here)
                order by status = 'archived', strength desc, id limit 200) as p))
$$;

-- Returns a preference with what taught it, newest first, ten at most.
create or replace function relay.with_evidence(p_preference relay.preference) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    with taught as (
        select o.id, o.at, f.kind, o.polarity, f.source, m.id as message_id, left(m.text, 200) as text, h.topic_id,
            t.id as turn_id
        from observation o join feedback f on f.id = o.feedback_id and f.withdrawn_at is null
        left join turn t on t.id = f.turn_id
        left join message m on m.id = coalesce(t.assistant_message_id, f.message_id)
        left join thread h on h.id = m.thread_id
        where o.space_id = p_preference.space_id and o.user_id = p_preference.user_id and o.type = p_preference.type
            and o.pattern = p_preference.pattern and o.thread_id is not distinct from p_preference.thread_id)
    select jsonb_build_object(
        'preference', (select relay.preference_json(now) from relay.preferences_at(array[p_preference], now()) as now),
        'total', (select count(*) from taught),
        'evidence', (
            select coalesce(jsonb_agg(jsonb_build_object('at', at, 'kind', kind, 'polarity', polarity, 'source', source,
                'message_id', message_id, 'text', text, 'posted', place.posted, 'topic_id', topic_id)
                order by newest.id desc), '[]')
            from (select * from taught order by id desc limit 10) newest left join lateral (
                select jsonb_build_object('chat_id', chat_id, 'message_id', telegram_message_id) as posted from posted
                where turn_id = newest.turn_id and from_bot order by telegram_message_id limit 1) place on true))
$$;

-- Returns a person's preference with what taught it, and the memories of them with the same words (`remembered`: three
-- contents at most). Null if there is none. Looking at it counts as a use.
create or replace function public.relay_preference_source(p_space jsonb, p_user_id bigint, p_preference_id bigint)
returns jsonb language sql set search_path = relay, extensions, pg_temp as $$
    update preference set used_at = now()
    where id = p_preference_id and space_id = relay.find_space(p_space) and user_id = p_user_id;
    select relay.with_evidence(p) || jsonb_build_object('remembered', (
            select coalesce(jsonb_agg(content order by id desc), '[]') from (
                select id, content from memory
                where space_id = p.space_id and subject_id = p.user_id and status = 'active'
                    and strpos(lower(content), lower(p.pattern)) > 0 order by id desc limit 3) said))
    from preference p
    where p.id = p_preference_id and p.space_id = relay.find_space(p_space) and p.user_id = p_user_id
$$;

-- Queues the correction of the line under the answers that told a person of a preference.
create or replace function relay.correct_told(p_space_id bigint, p_user_id bigint, p_type text, p_pattern text)
returns void language sql set search_path = relay, extensions, pg_temp as $$
    select relay.owe_correction(turn_id) from preference_decision
    where action = 'told' and turn_id is not null and space_id = p_space_id and user_id = p_user_id and type = p_type
        and pattern = p_pattern
$$;

-- Forgets preferences of a person: earlier observations no longer count. Returns the decisions: [{decision_id, type,
-- pattern}].
create or replace function public.relay_forget_preferences(p_space jsonb, p_user_id bigint, p_preferences jsonb)
returns jsonb language sql set search_path = relay, extensions, pg_temp as $$
    select relay.hold_memory(relay.find_space(p_space));
    select relay.correct_told(space_id, user_id, type, pattern) from preference
    where p_preferences @> to_jsonb(id) and space_id = relay.find_space(p_space) and user_id = p_user_id;
    with going as (
        select space_id, user_id, thread_id, type, pattern, max(polarity) as polarity from preference
        where p_preferences @> to_jsonb(id) and space_id = relay.find_space(p_space) and user_id = p_user_id
        group by space_id, user_id, thread_id, type, pattern),
    unsure as (
        update preference p set sureness = null from going g
        where p.space_id = g.space_id and p.user_id = g.user_id and p.thread_id is not distinct from g.thread_id
            and p.type = g.type and p.pattern = g.pattern),
    decided as (
        insert into preference_decision (space_id, user_id, thread_id, type, pattern, action)
        select space_id, user_id, thread_id, type, pattern, 'forget' from going returning id, thread_id, type, pattern)
    select coalesce(jsonb_agg(jsonb_build_object('decision_id', d.id, 'type', type, 'pattern', pattern,
        'polarity', polarity) order by d.id), '[]')
    from decided d join going g using (type, pattern) where g.thread_id is not distinct from d.thread_id
$$;

-- Restores forgotten preferences, unless something was observed since. Returns how many.
create or replace function public.relay_recall_preferences(p_space jsonb, p_user_id bigint, p_decisions jsonb)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    back integer;
begin
    perform relay.hold_memory(relay.find_space(p_space));
    perform relay.correct_told(space_id, user_id, type, pattern) from preference_decision
    where p_decisions @> to_jsonb(id) and space_id = relay.find_space(p_space) and user_id = p_user_id;
    delete from preference_decision d
    where p_decisions @> to_jsonb(d.id) and d.space_id = relay.find_space(p_space) and d.user_id = p_user_id
        and d.action = 'forget' and not exists (select from observation o
            where o.space_id = d.space_id and o.user_id = d.user_id and o.type = d.type and o.pattern = d.pattern
                and o.thread_id is not distinct from d.thread_id and o.at > d.at);
    get diagnostics back = row_count;
    return to_jsonb(back);
end $$;

-- Switches preferences in a space (p_change {preferences, preferences_paused_until}) or in a thread ({here}). Returns the
-- new state.
create or replace function public.relay_preference_control(
    p_space jsonb, p_chat_id bigint, p_topic_id bigint, p_user_id bigint, p_change jsonb)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own constant bigint := relay.ensure_space(p_space);
    -- Locks the thread before the memory, as when an answer is saved.
    here constant bigint := case when p_change ? 'here'
        then (relay.ensure_thread(own, p_chat_id, p_topic_id, 1000000)).id end;
begin
    update space set preferences = coalesce(p_change ->> 'preferences', preferences),
        preferences_paused_until = case when p_change ? 'paused_until'
            then (p_change ->> 'paused_until')::timestamptz else preferences_paused_until end where id = own;
    update thread set preferences = p_change ->> 'here' where id = here;
    insert into event (kind, space_id, user_id, payload)
    values ('control', own, p_user_id, jsonb_build_object('preferences', p_change));
    return public.relay_preferences(p_space, p_chat_id, p_topic_id, p_user_id);
end $$;

-- Forgets all preferences of a person in a space. p_known confirms it: the number that is not archived. Returns how many
-- were forgotten; null if the number is wrong.
create or replace function public.relay_reset_preferences(p_space jsonb, p_user_id bigint, p_known integer)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own constant bigint := relay.find_space(p_space);
begin
    perform from space where id = own for no key update;
    if p_known is distinct from (
        select count(*) from relay.preferences_at(array(
            select p from preference p where p.space_id = own and p.user_id = p_user_id), now())
        where status <> 'archived')
    then
        return null;
    end if;
    update preference set sureness = null where space_id = own and user_id = p_user_id;
    -- Acts from before the reset whose patterns are still unknown must not teach later, either.
    update feedback f set withdrawn_at = now() from job j
    where f.space_id = own and f.user_id = p_user_id and f.withdrawn_at is null
        and j.kind = 'preference' and j.key = f.id::text;
    -- Also acts that taught nothing yet: they must not count together with the next one.
    insert into preference_decision (space_id, user_id, thread_id, type, pattern, action)
    select distinct space_id, user_id, thread_id, type, pattern, 'forget' from observation
    where space_id = own and user_id = p_user_id;
    return to_jsonb(p_known);
end $$;

-- Keeps the acts that wait for a person's tap (p_keep), or discards them. Returns how many.
create or replace function public.relay_decide_observations(p_space jsonb, p_user_id bigint, p_keep boolean) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own constant bigint := relay.find_space(p_space);
    acts bigint[];
begin
    perform relay.hold_memory(own);
    acts := array(
        select distinct feedback_id from observation where space_id = own and user_id = p_user_id and pending);
    if p_keep then
        update feedback set kept = true where id = any (acts);
        update observation set pending = false where feedback_id = any (acts);
        perform relay.refold(space_id, user_id, thread_id, type, pattern)
        from (select distinct space_id, user_id, thread_id, type, pattern from observation
            where feedback_id = any (acts)) seen;
        perform relay.owe_estimates(own, p_user_id);
    else
        update feedback set withdrawn_at = now() where id = any (acts);
        delete from observation where feedback_id = any (acts);
    end if;
    return to_jsonb(cardinality(acts));
end $$;
