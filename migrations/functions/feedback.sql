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

-- Takes what a person says about an answer (p_about), or about all answers: {id, coalesced, acts}. The same act about an
-- answer takes the place of the first within half a minute. p_act: {kind, value, source, observations: [{type, pattern,
-- polarity, weight, reinforcing}]}; without observations a model finds them once it has settled. `acts`: of the patterns,
-- those that prompts show now. A pattern counts once for an answer. Where nothing may be learned: {refused: private, off,
-- paused or here}.
create or replace function relay.take_feedback(
    p_space_id bigint, p_thread relay.thread, p_user_id bigint, p_about relay.turn, p_other_turn_id bigint, p_act jsonb)
returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    session constant bigint := coalesce(p_about.session_id, p_thread.session_id);
    why constant text := coalesce(
        relay.preferences_rest(p_space_id, p_thread.id, session),
        case when p_thread.preferences = 'quiet' or not p_thread.teaches then 'here' end,
        (select 'off' from choice where user_id = p_user_id and choices ->> 'learning' = 'off'));
    same feedback;
    acts jsonb;
begin
    if why is not null then
        return jsonb_build_object('refused', why);
    end if;
    perform from space where id = p_space_id for update;  -- one act of a space after the other
    select * into same from feedback
    where turn_id = p_about.id and user_id = p_user_id and kind = p_act ->> 'kind' and withdrawn_at is null
        and settles_at > now()
    order by id desc limit 1;
    if same.id is null then
        insert into feedback (space_id, thread_id, session_id, user_id, kind, turn_id, message_id, other_turn_id, value,
            source)
        values (p_space_id, p_thread.id, session, p_user_id, p_act ->> 'kind', p_about.id,
            p_about.assistant_message_id, p_other_turn_id, p_act -> 'value', p_act ->> 'source')
        returning * into same;
    else
        update feedback set other_turn_id = p_other_turn_id, value = p_act -> 'value' || case same.kind
            when 'tag' then jsonb_build_object('tags', (same.value -> 'tags') || (p_act #> '{value,tags}')) else '{}' end
        where id = same.id;
        delete from observation where feedback_id = same.id and same.kind <> 'tag';
    end if;
    if p_act -> 'observations' is null then
        perform relay.owe_job('preference', same.id::text, '{}', same.settles_at);
    else
        perform relay.observe(same, p_thread, p_act -> 'observations', '{}');
    end if;
    select coalesce(jsonb_agg(relay.preference_json(now) || jsonb_build_object('new', relay.is_new(now))
        order by now.strength desc, now.id), '[]') into acts
    from observation o
    join preference p on p.space_id = p_space_id and p.user_id = p_user_id and p.type = o.type
        and p.pattern = o.pattern and p.polarity = o.polarity and p.thread_id is not distinct from o.thread_id,
    relay.preference_at(p, now()) as now
    where o.feedback_id = same.id and now.status = 'stable' and now.level >= 1;
    -- Whoever said it is told at once.
    insert into preference_decision (space_id, user_id, thread_id, type, pattern, polarity, action)
    select space_id, user_id, thread_id, type, pattern, polarity, 'told' from preference
    where id in (select (one ->> 'id')::bigint from jsonb_array_elements(acts) as one where one -> 'new' = 'true');
    return jsonb_build_object('id', same.id, 'coalesced', same.value is distinct from p_act -> 'value', 'acts', acts);
end $$;

-- Keeps what an act says of patterns: [{type, pattern, polarity, weight, reinforcing, explicit}].
create or replace function relay.observe(
    p_feedback relay.feedback, p_thread relay.thread, p_observations jsonb, p_derivation jsonb)
returns void
language sql set search_path = relay, extensions, pg_temp as $$
    insert into observation (feedback_id, space_id, user_id, thread_id, type, pattern, polarity, weight, reinforcing,
        explicit, session_id, at, derivation)
    select p_feedback.id, p_feedback.space_id, p_feedback.user_id, relay.observed_in(p_thread), one.type, one.pattern,
        one.polarity, one.weight, one.reinforcing, coalesce(one.explicit, true), p_feedback.session_id, p_feedback.at,
        p_derivation
    from jsonb_to_recordset(p_observations) as one (
        type text, pattern text, polarity smallint, weight numeric, reinforcing smallint, explicit boolean)
    where p_feedback.turn_id is null or not exists (
        select from observation o join feedback f on f.id = o.feedback_id
        where f.turn_id = p_feedback.turn_id and f.user_id = p_feedback.user_id and f.kind = p_feedback.kind
            and f.withdrawn_at is null and o.type = one.type and o.pattern = one.pattern and o.polarity = one.polarity)
    on conflict do nothing
$$;

-- What a person says about an answer of theirs (p_input.about: {turn_id | bot_id, chat_id, telegram_message_id}; over: the
-- turn of the answer that it was preferred to), or about all: see relay.take_feedback. {refused: unknown} where there is no
-- such answer.
create or replace function public.relay_feedback(
    p_space jsonb, p_chat_id bigint, p_topic_id bigint, p_user_id bigint, p_input jsonb)
returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own constant bigint := relay.ensure_space(p_space);
    about turn;
    over turn;
    here thread;
begin
    if p_input -> 'about' <> 'null' then
        about := relay.answer_turn(own, p_user_id, p_input -> 'about');
        if about.id is null then
            return '{"refused": "unknown"}';
        end if;
        select * into here from thread where id = about.thread_id;
    else
        here := relay.find_thread(p_space, p_chat_id, p_topic_id);
    end if;
    if p_input -> 'over' <> 'null' then
        over := relay.answer_turn(own, p_user_id, jsonb_build_object('turn_id', p_input -> 'over'));
        if over.id is null then
            return '{"refused": "unknown"}';
        end if;
    end if;
    return relay.take_feedback(own, here, p_user_id, about, over.id, p_input);
end $$;

-- What somebody's reactions to an answer say: approval or disapproval (thumbs), and that it was just right (accept). What
-- no reaction says any more is taken back. In a group only the one who asked teaches.
create or replace function relay.feedback_of_reactions(p_message relay.message, p_user_id bigint, p_source text)
returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    emojis constant text[] := array(
        select rtrim(emoji, U&'\FE0F') from signal
        where message_id = p_message.id and user_id = p_user_id and removed_at is null);
    up constant boolean := emojis && array['👍', '❤', '🔥', '🥰', '👏', '🎉', '🤩', '😍', '❤‍🔥'];
    down constant boolean := emojis && array['👎', '🤮', '💩', '🤬', '😡', '🥱', '🤡'];
    about turn;
    here thread;
    one record;
begin
    select * into about from turn
    where id = p_message.turn_id and assistant_message_id = p_message.id and user_id = p_user_id;
    if about.id is null then
        return;
    end if;
    select * into here from thread where id = about.thread_id;
    for one in
        select * from (values
            ('thumbs', up or down, jsonb_build_object('up', not down)),
            ('accept', emojis && array['👌', '💯', '🏆'], '{}')) as said (kind, stands, value)
    loop
        if not one.stands then
            perform relay.withdraw_feedback(about.id, p_user_id, one.kind, 'reaction');
        elsif not exists (
            select from feedback where turn_id = about.id and user_id = p_user_id and kind = one.kind
                and withdrawn_at is null and value = one.value)
        then
            perform relay.withdraw_feedback(about.id, p_user_id, one.kind, 'reaction');
            perform relay.take_feedback(p_message.space_id, here, p_user_id, about, null,
                jsonb_build_object('kind', one.kind, 'value', one.value, 'source', p_source));
        end if;
    end loop;
end $$;

-- Takes back what a person said about an answer: the acts of a kind from a source. Returns how many.
create or replace function relay.withdraw_feedback(p_turn_id bigint, p_user_id bigint, p_kind text, p_source text)
returns integer
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    gone bigint[];
begin
    with withdrawn as (
        update feedback set withdrawn_at = now()
        where turn_id = p_turn_id and user_id = p_user_id and kind = p_kind and source = p_source
            and withdrawn_at is null
        returning id)
    select array_agg(id) into gone from withdrawn;
    delete from observation where feedback_id = any (gone);
    return coalesce(cardinality(gone), 0);
end $$;

-- Takes away acts, what they taught, and where their person was told of it.
create or replace function relay.erase_feedback(p_space_id bigint, p_feedback bigint[]) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    gone bigint[];
begin
    perform relay.free_jobs('preference', p_feedback::text[]);
    delete from feedback where id = any (p_feedback);
    if not found then
        return;
    end if;
    gone := array(
        select id from preference_decision d where d.space_id = p_space_id and not exists (
            select from observation o
            where o.space_id = d.space_id and o.user_id = d.user_id and o.type = d.type and o.pattern = d.pattern));
    update outbox set request = jsonb_build_object('chat_id', chat_id, 'erased', true), sending_text = null
    where not request ? 'erased' and status = 'sent'
        and turn_id in (select turn_id from preference_decision where id = any (gone));
    delete from preference_decision where id = any (gone);
end $$;

-- The acts about some messages or about the answers of some turns.
create or replace function relay.feedback_about(p_messages bigint[], p_turns bigint[]) returns bigint[]
language sql stable set search_path = relay, extensions, pg_temp as $$
    select array(
        select id from feedback
        where message_id = any (p_messages) or turn_id = any (p_turns) or other_turn_id = any (p_turns))
$$;

-- The acts in a space that have the words of some needles, of those whom a person may erase.
create or replace function relay.feedback_saying(p_space_id bigint, p_needles jsonb, p_user_id bigint, p_admin boolean)
returns bigint[]
language sql stable set search_path = relay, extensions, pg_temp as $$
    select array(
        select f.id from feedback f
        where f.space_id = p_space_id and relay.may_erase(p_space_id, f.user_id, p_user_id, p_admin)
            and (relay.says(f.value::text, p_needles) or exists (
                select from observation o where o.feedback_id = f.id and relay.says(o.pattern, p_needles))))
$$;

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

-- An act with the texts that it is about, as AttributionWork has it. Null when it was taken back, or its answer is gone.
create or replace function relay.attribution_of(p_feedback_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('feedback_id', f.id, 'space_id', f.space_id, 'user_id', f.user_id,
        'session_id', f.session_id, 'kind', f.kind, 'value', f.value, 'question_id', asked.id,
        'question', coalesce(left(asked.text, 1500), ''), 'answer_id', said.id, 'answer', left(said.text, 4000),
        'other_id', other.id, 'other', coalesce(left(f.value ->> 'text', 4000), left(other.text, 4000)),
        'chosen', case when f.value ? 'text' then 'b' else 'a' end,
        'attributable', not t.tainted and (o.id is null or not o.tainted),
        'dimensions', coalesce(f.value -> 'dimensions', '[]'),
        'counts_in', relay.observed_in(h),
        'known', (select coalesce(jsonb_agg(distinct p.pattern), '[]') from (
            select pattern from preference where space_id = f.space_id and user_id = f.user_id
            order by last_seen desc limit 50) p))
    from feedback f
    join turn t on t.id = f.turn_id
    join thread h on h.id = f.thread_id
    join message said on said.id = t.assistant_message_id
    left join message asked on asked.id = t.user_message_id
    left join turn o on o.id = f.other_turn_id
    left join message other on other.id = coalesce(o.assistant_message_id, relay.second_of(t))
    where f.id = p_feedback_id and f.withdrawn_at is null
$$;

-- What a job is to attribute. Null when the act was taken back, or its answer is gone.
create or replace function public.relay_preference_work(p_job_id bigint, p_fence bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select relay.attribution_of(key::bigint) from job where id = p_job_id and fence = p_fence
$$;

-- Keeps what an act says of patterns in place of what it said before, {observations, derivation}. Whether it still counts.
create or replace function public.relay_replace_observations(p_feedback_id bigint, p_result jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    said feedback;
    here thread;
begin
    update feedback set derivation = p_result -> 'derivation' where id = p_feedback_id and withdrawn_at is null
    returning * into said;
    if said.id is null then
        return 'false';
    end if;
    select * into here from thread where id = said.thread_id;
    delete from observation where feedback_id = said.id;
    perform relay.observe(said, here, p_result -> 'observations', p_result -> 'derivation');
    return 'true';
end $$;

-- The same for a job, which it finishes. Whether the process still had it.
create or replace function public.relay_store_observations(p_job_id bigint, p_fence bigint, p_result jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    held job := relay.hold_job(p_job_id, p_fence);
begin
    perform public.relay_replace_observations(held.key::bigint, p_result);
    delete from job where id = held.id;
    return to_jsonb(held.id is not null);
end $$;

-- A page of a space's acts since a moment that another version than p_version attributed, after an id:
-- [{work, before: [{type, pattern, polarity}]}].
create or replace function public.relay_derived_feedback(
    p_space jsonb, p_since timestamptz, p_version text, p_after bigint, p_most integer)
returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_agg(jsonb_build_object('work', work, 'before', (
            select coalesce(jsonb_agg(jsonb_build_object('type', o.type, 'pattern', o.pattern, 'polarity', o.polarity)
                order by o.id), '[]')
            from observation o where o.feedback_id = f.id)) order by f.id), '[]')
    from (
        select id, relay.attribution_of(id) as work from feedback
        where space_id = relay.find_space(p_space) and id > p_after and kind not in ('tag', 'said')
            and withdrawn_at is null and at >= coalesce(p_since, '-infinity')
            and derivation is not null and derivation ->> 'version' <> p_version
        order by id limit p_most) f
    where work is not null
$$;

-- Takes over reactions from before feedback was kept: 200 signals a day, in order. The job that does it waits for the next
-- day, and is done once there are no more. Returns how many became feedback; null when the process has lost it.
create or replace function public.relay_backfill_feedback(p_job_id bigint, p_fence bigint, p_most integer) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    held job := relay.hold_job(p_job_id, p_fence);
    last bigint := (held.payload ->> 'after')::bigint;
    one record;
    taken integer := 0;
begin
    if held.id is null then
        return null;
    end if;
    for one in
        select s.id, m as said, s.user_id from signal s join message m on m.id = s.message_id
        where s.id > last and s.removed_at is null and m.role = 'assistant' order by s.id limit p_most
    loop
        if not exists (select from feedback where message_id = (one.said).id and user_id = one.user_id) then
            perform relay.feedback_of_reactions(one.said, one.user_id, 'backfill');
            taken := taken + 1;
        end if;
        last := one.id;
    end loop;
    if last = (held.payload ->> 'after')::bigint then
        delete from job where id = held.id;
    else
        update job set payload = jsonb_build_object('after', last), lease_owner = null, lease_until = null,
            due_at = now() + interval '1 day'
        where id = held.id;
    end if;
    return to_jsonb(taken);
end $$;

-- What a model attributed to a person's acts, oldest first, as far as it counts: [{patterns, weight}]; the newest 500.
create or replace function public.relay_preference_contrasts(p_space_id bigint, p_user_id bigint, p_thread_id bigint)
returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    with act as (
        select f.id, jsonb_agg(jsonb_build_object('type', o.type, 'pattern', o.pattern, 'polarity', o.polarity)
            order by o.id) as patterns, max(o.weight) as weight
        from observation o join feedback f on f.id = o.feedback_id
        where o.space_id = p_space_id and o.user_id = p_user_id and o.thread_id is not distinct from p_thread_id
            and not o.explicit and f.withdrawn_at is null and not exists (
                select from preference_decision d
                where d.space_id = o.space_id and d.user_id = o.user_id and d.type = o.type and d.pattern = o.pattern
                    and d.thread_id is not distinct from o.thread_id and d.action = 'forget' and d.at >= o.at)
        group by f.id order by f.id desc limit 500)
    select coalesce(jsonb_agg(jsonb_build_object('patterns', patterns, 'weight', weight / 0.4) order by id), '[]') from act
$$;

-- Stores what all of a person's choices say together, [{type, pattern, polarity, sureness}], in place of what they said
-- before. Where the person said otherwise outright, that holds.
create or replace function public.relay_store_estimates(
    p_space_id bigint, p_user_id bigint, p_thread_id bigint, p_estimates jsonb)
returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    perform from space where id = p_space_id for update;
    delete from preference
    where space_id = p_space_id and user_id = p_user_id and thread_id is not distinct from p_thread_id
        and sureness is not null and observations = 0;
    update preference set sureness = null
    where space_id = p_space_id and user_id = p_user_id and thread_id is not distinct from p_thread_id
        and sureness is not null;
    insert into preference (space_id, user_id, thread_id, type, pattern, polarity, strength, level, status, reinforced,
        observations, sessions, last_seen, fold_version, sureness)
    select p_space_id, p_user_id, p_thread_id, e.type, e.pattern, e.polarity, 0, 0, 'stable', 0, 0, 0, now(),
        relay.fold_version(), e.sureness
    from jsonb_to_recordset(p_estimates) as e (type text, pattern text, polarity smallint, sureness real)
    where exists (
        select from observation o
        where o.space_id = p_space_id and o.user_id = p_user_id and o.type = e.type and o.pattern = e.pattern)
    and not exists (
        select from preference p
        where p.space_id = p_space_id and p.user_id = p_user_id and p.thread_id is not distinct from p_thread_id
            and p.type = e.type and p.pattern = e.pattern and p.polarity <> e.polarity)
    on conflict (space_id, user_id, thread_id, type, pattern, polarity) do update set sureness = excluded.sureness;
    return 'true';
end $$;

-- What happened to an answer says something about it: it was stopped while it was written (p_stopped), or it took the
-- place of another (p_replaced_turn_id), for a better wording (refine), or for the same one: then the other was not what
-- was wanted (abandon), unless its person had liked it. p_back: the answer is one that was brought back (revert).
create or replace function relay.feedback_of_finish(
    p_turn relay.turn, p_stopped boolean, p_replaced_turn_id bigint, p_back boolean)
returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    here thread;
    before turn;
begin
    select * into here from thread where id = p_turn.thread_id;
    if p_stopped then
        perform relay.take_feedback(p_turn.space_id, here, p_turn.user_id, p_turn, null,
            '{"kind": "abandon", "value": {"how": "stop"}, "source": "button"}');
    end if;
    select * into before from turn where id = p_replaced_turn_id and user_id = p_turn.user_id;
    if before.id is null then
        return;
    elsif p_back then
        perform relay.take_feedback(p_turn.space_id, here, p_turn.user_id, p_turn, before.id,
            '{"kind": "revert", "value": {}, "source": "button"}');
    elsif coalesce((before.prompt ->> 'wording')::bigint, 0) < relay.wordings(p_turn.user_message_id) then
        perform relay.take_feedback(p_turn.space_id, here, p_turn.user_id, p_turn, before.id,
            '{"kind": "refine", "value": {}, "source": "button"}');
    elsif not exists (
        select from feedback
        where turn_id = before.id and user_id = p_turn.user_id and withdrawn_at is null
            and (kind in ('accept', 'tag', 'compare') or kind = 'thumbs' and value -> 'up' = 'true'))
    then
        perform relay.take_feedback(p_turn.space_id, here, p_turn.user_id, before, null,
            '{"kind": "abandon", "value": {"how": "again"}, "source": "button"}');
    end if;
end $$;

-- Somebody kept what an answer of theirs says: it was right.
create or replace function relay.accept_answer(p_message_id bigint, p_user_id bigint) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    about turn;
    here thread;
begin
    select * into about from turn where assistant_message_id = p_message_id and user_id = p_user_id;
    if about.id is not null then
        select * into here from thread where id = about.thread_id;
        perform relay.take_feedback(about.space_id, here, p_user_id, about, null,
            '{"kind": "accept", "value": {}, "source": "button"}');
    end if;
end $$;

-- The tags that a person has put on an answer of theirs: [{type, pattern, polarity}]. Null: it is none of theirs.
create or replace function public.relay_answer_tags(p_space jsonb, p_user_id bigint, p_turn_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce((
        select jsonb_agg(jsonb_build_object('type', o.type, 'pattern', o.pattern, 'polarity', o.polarity) order by o.id)
        from feedback f join observation o on o.feedback_id = f.id
        where f.turn_id = t.id and f.user_id = p_user_id and f.kind = 'tag' and f.withdrawn_at is null), '[]')
    from relay.answer_turn(relay.find_space(p_space), p_user_id, jsonb_build_object('turn_id', p_turn_id)) t
    where t.id is not null
$$;

-- Takes a tag from an answer. Whether it had it.
create or replace function public.relay_untag(p_space jsonb, p_user_id bigint, p_turn_id bigint, p_pattern jsonb)
returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    about constant turn := relay.answer_turn(relay.find_space(p_space), p_user_id,
        jsonb_build_object('turn_id', p_turn_id));
begin
    delete from observation o using feedback f
    where f.id = o.feedback_id and f.turn_id = about.id and f.user_id = p_user_id and f.kind = 'tag'
        and o.type = p_pattern ->> 'type' and o.pattern = p_pattern ->> 'pattern';
    return to_jsonb(found);
end $$;

-- Saves the second of two answers beside the first, as one that is replaced: it stands nowhere unless it is chosen. What
-- both ask of memory waits for the choice.
create or replace function relay.save_second(p_turn relay.turn, p_first bigint, p_other jsonb, p_ask boolean)
returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    second bigint;
begin
    insert into message (space_id, thread_id, session_id, turn_id, role, user_id, text, blocks, status, tainted)
    values (p_turn.space_id, p_turn.thread_id, p_turn.session_id, p_turn.id, 'assistant', p_turn.user_id,
        p_other ->> 'text', p_other -> 'blocks', 'replaced', (p_other ->> 'tainted')::boolean)
    returning id into second;
    update turn set prompt = prompt || jsonb_build_object('two', jsonb_build_object('ids', array[p_first, second],
        'order', p_other ->> 'order', 'actions', p_other -> 'actions', 'ask', p_ask))
    where id = p_turn.id;
end $$;

-- Of two answers of a turn the one that does not stand. Null: it gave one.
create or replace function relay.second_of(p_turn relay.turn) returns bigint
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select one::bigint from jsonb_array_elements_text(p_turn.prompt #> '{two,ids}') as one
    where one::bigint <> p_turn.assistant_message_id limit 1
$$;

-- Lets one of two answers of a turn (0: the first, 1: the second) stand, and does what it asked of memory, unless p_quiet.
-- What the other one did by an earlier choice is taken back.
create or replace function relay.let_stand(p_turn relay.turn, p_place integer, p_quiet boolean) returns relay.turn
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    chosen constant bigint := p_turn.prompt #>> array['two', 'ids', p_place::text];
    change memory_change;
begin
    for change in select * from relay.taught_by(p_turn.id) where status in ('applied', 'pending') order by id desc loop
        perform public.relay_decide_change(change.id, p_turn.user_id, true,
            case change.status when 'pending' then 'discard' else 'undo' end);
    end loop;
    update message set status = case when id = chosen then 'complete' else 'replaced' end
    where id in (select one::bigint from jsonb_array_elements_text(p_turn.prompt #> '{two,ids}') as one)
        and status <> case when id = chosen then 'complete' else 'replaced' end;
    update turn set assistant_message_id = chosen where id = p_turn.id returning * into p_turn;
    if not p_quiet and relay.unlearned_why(p_turn.space_id, p_turn.thread_id, p_turn.session_id) is distinct from 'private'
    then
        perform relay.apply_actions(p_turn, chosen,
            relay.taught(p_turn, p_turn.prompt #> array['two', 'actions', p_place::text]),
            p_turn.tainted or (p_turn.prompt #>> '{two,ask}')::boolean);
    end if;
    return p_turn;
end $$;

-- Somebody chooses between two answers: a, b, both or neither. The chosen one (else the first) stands from now on. Within
-- half a minute they may choose again. Returns {chose, reasons, taught: whether that says something about what they like};
-- {refused: late} once that time is over. Null: there is no choice.
create or replace function public.relay_choose_answer(p_space jsonb, p_user_id bigint, p_turn_id bigint, p_chose text)
returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own constant bigint := relay.find_space(p_space);
    about turn := relay.answer_turn(own, p_user_id, jsonb_build_object('turn_id', p_turn_id));
    here thread;
    done jsonb;
begin
    select * into about from turn where id = about.id for update;
    if about.prompt -> 'two' is null then
        return null;
    elsif exists (
        select from feedback where turn_id = about.id and kind = 'compare' and settles_at <= now())
    then
        return '{"refused": "late"}';
    end if;
    about := relay.let_stand(about, case when p_chose in ('a', 'b')
        and strpos(about.prompt #>> '{two,order}', p_chose) = 2 then 1 else 0 end, p_chose = 'neither');
    select * into here from thread where id = about.thread_id;
    done := relay.take_feedback(own, here, p_user_id, about, null, jsonb_build_object('kind', 'compare',
        'source', 'button', 'value', jsonb_build_object('chose', p_chose))
        || case when p_chose in ('a', 'b') then '{}' else '{"observations": []}'::jsonb end);
    perform relay.withdraw_feedback(about.id, p_user_id, 'thumbs', 'button');
    if p_chose = 'neither' then
        perform relay.take_feedback(own, here, p_user_id, about, null,
            '{"kind": "thumbs", "value": {"up": false}, "source": "button"}');
    end if;
    return jsonb_build_object('chose', p_chose, 'reasons', '[]'::jsonb, 'taught', not done ? 'refused');
end $$;

-- A reason for a choice, given within two minutes, or taken back. Returns as relay_choose_answer; null where there is no
-- choice to give a reason for.
create or replace function public.relay_choice_reason(p_space jsonb, p_user_id bigint, p_turn_id bigint, p_reason text)
returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own constant bigint := relay.find_space(p_space);
    said feedback;
    reasons jsonb;
begin
    select * into said from feedback
    where space_id = own and user_id = p_user_id and turn_id = p_turn_id and kind = 'compare' and withdrawn_at is null
        and value ->> 'chose' in ('a', 'b') and at > now() - interval '2 minutes'
    order by id desc limit 1 for update;
    if said.id is null then
        return null;
    end if;
    reasons := coalesce(said.value -> 'dimensions', '[]');
    reasons := case when reasons ? p_reason then reasons - p_reason else reasons || to_jsonb(p_reason) end;
    update feedback set value = value || jsonb_build_object('dimensions', reasons) where id = said.id;
    perform relay.owe_job_anew('preference', said.id::text);
    update job set due_at = now() + interval '30 seconds' where kind = 'preference' and key = said.id::text;
    return jsonb_build_object('chose', said.value ->> 'chose', 'reasons', reasons);
end $$;
