-- Feedback: people's acts about answers, each stored once, with what it says about their preferences.

-- Returns the turn of an answer to a person in their space, by its id or by our message in a chat. Null if unknown.
create or replace function relay.answer_turn(p_space_id bigint, p_user_id bigint, p_about jsonb) returns relay.turn
language sql stable set search_path = relay, extensions, pg_temp as $$
    select t from turn t
    where t.id = coalesce((p_about ->> 'turn_id')::bigint, (
            select turn_id from posted
            where bot_id = (p_about ->> 'bot_id')::bigint and chat_id = (p_about ->> 'chat_id')::bigint
                and telegram_message_id = (p_about ->> 'telegram_message_id')::bigint and from_bot))
        and t.space_id = p_space_id and t.user_id = p_user_id and t.assistant_message_id is not null
$$;

-- Returns where observations of a thread count: only there if it has a persona or the person wants that; null:
-- they count everywhere.
create or replace function relay.observed_in(p_thread relay.thread) returns bigint
language sql stable set search_path = relay, extensions, pg_temp as $$
    select p_thread.id where p_thread.preferences = 'own' or coalesce((
        select text <> '' from persona
        where chat_id = p_thread.chat_id and topic_id = p_thread.topic_id order by id desc limit 1), false)
$$;

-- Stores an act: in the row of the same act about the same answer, if that is less than half a minute old (even if it was
-- withdrawn), else in a new row. The last of a row's tags counts. Returns the row with its former value.
create or replace function relay.keep_act(
    p_space_id bigint, p_thread relay.thread, p_user_id bigint, p_about relay.turn, p_other_turn_id bigint, p_act jsonb)
returns relay.feedback language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    same feedback;
begin
    select * into same from feedback
    where turn_id = p_about.id and user_id = p_user_id and kind = p_act ->> 'kind' and settles_at > now()
        -- Each command can be taken back by itself.
        and (kind <> 'tag' or by_turn_id is not distinct from (p_act ->> 'by')::bigint)
    order by id desc limit 1;
    if same.id is null then
        insert into feedback (space_id, thread_id, session_id, user_id, kind, turn_id, message_id, other_turn_id, value,
            source, by_turn_id)
        values (p_space_id, p_thread.id, coalesce(p_about.session_id, p_thread.session_id), p_user_id, p_act ->> 'kind',
            p_about.id, p_about.assistant_message_id, p_other_turn_id, p_act -> 'value', p_act ->> 'source',
            (p_act ->> 'by')::bigint)
        returning * into same;
        return same;
    end if;
    update feedback set withdrawn_at = null, other_turn_id = p_other_turn_id, by_turn_id = (p_act ->> 'by')::bigint,
        value = p_act -> 'value' || case same.kind
            when 'tag' then jsonb_build_object('tags', (same.value -> 'tags') || (p_act #> '{value,tags}')) else '{}' end
    where id = same.id;
    delete from observation o where o.feedback_id = same.id and (same.kind <> 'tag' or exists (
        select from jsonb_to_recordset(p_act -> 'observations') as one (type text, pattern text, polarity smallint)
        where one.type = o.type and one.pattern = o.pattern and one.polarity <> o.polarity));
    return same;
end $$;

-- Stores feedback about an answer (p_about), or about all answers: {id, acts}. The same act about an answer
-- replaces the first within half a minute. p_act: {kind, value, source, by: the turn of the command, which gives it only
-- once; observations: [{type, pattern, polarity, weight, reinforcing}]}; without observations, a model finds them once
-- the act has settled. `acts`: those of the patterns that prompts show now. A pattern counts once for an answer. If
-- nothing may be learned: {refused: private, off, paused or here}.
create or replace function relay.take_feedback(
    p_space_id bigint, p_thread relay.thread, p_user_id bigint, p_about relay.turn, p_other_turn_id bigint, p_act jsonb)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    session constant bigint := coalesce(p_about.session_id, p_thread.session_id);
    why constant text := coalesce(
        relay.preferences_rest(p_space_id, session),
        -- What a command off the record says of an earlier answer is off the record, too.
        (select 'private' from session
            where id = p_thread.session_id and private and p_act ->> 'by' is not null),
        case when p_thread.preferences = 'quiet' or not p_thread.teaches then 'here' end,
        (select 'off' from choice where user_id = p_user_id and choices ->> 'learning' = 'off'));
    same feedback;
    acts jsonb;
begin
    if why is not null then
        return jsonb_build_object('refused', why);
    end if;
    perform from space where id = p_space_id for no key update;  -- one act of a space at a time
    select * into same from feedback
    where by_turn_id = (p_act ->> 'by')::bigint and user_id = p_user_id and kind = p_act ->> 'kind';
    if same.id is null then
        same := relay.keep_act(p_space_id, p_thread, p_user_id, p_about, p_other_turn_id, p_act);
        if p_act -> 'observations' is null then
            perform relay.owe_job('preference', same.id::text, '{}', same.settles_at);
        else
            perform relay.observe(same, p_thread, p_act -> 'observations', '{}');
        end if;
    end if;
    select coalesce(jsonb_agg(relay.preference_json(now) || jsonb_build_object('new', not now.told)
        order by now.strength desc, now.id), '[]') into acts
    from jsonb_to_recordset(p_act -> 'observations') as one (type text, pattern text, polarity smallint)
    join preference p on p.space_id = p_space_id and p.user_id = p_user_id and p.type = one.type
        and p.pattern = one.pattern and p.polarity = one.polarity
        and p.thread_id is not distinct from relay.observed_in(p_thread),
    relay.preferences_at(array[p], now()) as now
    where now.status = 'stable' and now.level >= 1;
    -- The reply announces these preferences at once. What a button shows is soon gone; the next answer announces them.
    insert into preference_decision (space_id, user_id, thread_id, type, pattern, polarity, action)
    select space_id, user_id, thread_id, type, pattern, polarity, 'told' from preference
    where id in (select (one ->> 'id')::bigint from jsonb_array_elements(acts) as one where one -> 'new' = 'true')
        and p_act ->> 'source' <> 'button';
    return jsonb_build_object('id', same.id, 'acts', acts);
end $$;

-- Stores an act's observations: [{type, pattern, polarity, weight, reinforcing, explicit}]. Patterns that the person
-- named count at once; others wait for a tap if the person wants to be asked.
create or replace function relay.observe(
    p_feedback relay.feedback, p_thread relay.thread, p_observations jsonb, p_derivation jsonb)
returns void language sql set search_path = relay, extensions, pg_temp as $$
    insert into observation (feedback_id, space_id, user_id, thread_id, type, pattern, polarity, weight, reinforcing,
        explicit, pending, session_id, at, derivation)
    select p_feedback.id, p_feedback.space_id, p_feedback.user_id, relay.observed_in(p_thread), one.type, one.pattern,
        one.polarity, one.weight, one.reinforcing, coalesce(one.explicit, true),
        p_feedback.kind not in ('said', 'tag') and not p_feedback.kept and exists (
            select from choice where user_id = p_feedback.user_id and choices ->> 'learning' = 'ask'),
        p_feedback.session_id, p_feedback.at, p_derivation
    from jsonb_to_recordset(p_observations) as one (
        type text, pattern text, polarity smallint, weight numeric, reinforcing smallint, explicit boolean)
    where p_feedback.turn_id is null or not exists (
        select from observation o join feedback f on f.id = o.feedback_id
        where f.turn_id = p_feedback.turn_id and f.user_id = p_feedback.user_id and f.kind = p_feedback.kind
            and f.withdrawn_at is null and o.type = one.type and o.pattern = one.pattern and o.polarity = one.polarity)
    on conflict do nothing
$$;

-- Stores an act of the person whom an answer was for: see relay.take_feedback.
create or replace function relay.take_act(p_about relay.turn, p_other_turn_id bigint, p_act jsonb) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    select relay.take_feedback(p_about.space_id, t, p_about.user_id, p_about, p_other_turn_id, p_act)
    from thread t where t.id = p_about.thread_id
$$;

-- Stores a person's feedback about an answer to them (p_input.about: {turn_id | bot_id, chat_id, telegram_message_id};
-- over: the turn of the answer that it was preferred to), or about all answers: see relay.take_feedback. {refused:
-- unknown} if there is no such answer.
create or replace function public.relay_feedback(
    p_space jsonb, p_chat_id bigint, p_topic_id bigint, p_user_id bigint, p_input jsonb)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
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

-- Stores what a person's reactions say about an answer: approval or disapproval (thumbs), or that it was just right
-- (accept). Withdraws what no reaction says any more. In a group, only the reactions of the person who asked count.
create or replace function relay.feedback_of_reactions(p_message relay.message, p_user_id bigint, p_source text)
returns void language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    emojis constant text[] := array(
        select rtrim(emoji, U&'\FE0F') from signal
        where message_id = p_message.id and user_id = p_user_id and removed_at is null);
    up constant boolean := emojis && array['👍', '❤', '🔥', '🥰', '👏', '🎉', '🤩', '😍', '❤‍🔥'];
    down constant boolean := emojis && array['👎', '🤮', '💩', '🤬', '😡', '🥱', '🤡'];
    about turn;
    one record;
begin
    select * into about from turn
    where id = p_message.turn_id and assistant_message_id = p_message.id and user_id = p_user_id;
    if about.id is null then
        return;
    end if;
    for one in
        select * from (values
            ('thumbs', up or down, jsonb_build_object('up', not down)),
            ('accept', emojis && array['👌', '💯', '🏆'], '{}')) as said (kind, stands, value)
    loop
        if not one.stands then
            perform relay.withdraw_feedback(about.id, p_user_id, one.kind, 'reaction', 'backfill');
        elsif not exists (
            select from feedback where turn_id = about.id and user_id = p_user_id and kind = one.kind
                and withdrawn_at is null and value = one.value)
        then
            perform relay.withdraw_feedback(about.id, p_user_id, one.kind, 'reaction', 'backfill');
            perform relay.take_act(about, null,
                jsonb_build_object('kind', one.kind, 'value', one.value, 'source', p_source));
        end if;
    end loop;
end $$;

-- Withdraws a person's acts of a kind about an answer, from some sources. Returns how many.
create or replace function relay.withdraw_feedback(
    p_turn_id bigint, p_user_id bigint, p_kind text, variadic p_sources text[])
returns integer language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    gone bigint[];
begin
    with withdrawn as (
        update feedback set withdrawn_at = now()
        where turn_id = p_turn_id and user_id = p_user_id and kind = p_kind and source = any (p_sources)
            and withdrawn_at is null
        returning id)
    select array_agg(id) into gone from withdrawn;
    delete from observation where feedback_id = any (gone);
    return coalesce(cardinality(gone), 0);
end $$;

-- Takes a person's act back, with what it taught and the record that its reply said so. Returns the patterns that it
-- named: [{type, pattern, polarity}]; null if they have no such act, or no longer.
create or replace function public.relay_withdraw_feedback(p_space jsonb, p_user_id bigint, p_feedback_id bigint)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own constant bigint := relay.find_space(p_space);
    gone feedback;
    named jsonb;
begin
    perform from space where id = own for no key update;
    update feedback set withdrawn_at = now()
    where id = p_feedback_id and space_id = own and user_id = p_user_id and withdrawn_at is null returning * into gone;
    if gone.id is null then
        return null;
    end if;
    delete from preference_decision
    where space_id = own and user_id = p_user_id and action = 'told' and turn_id is null and at = gone.at;
    with removed as (delete from observation where feedback_id = gone.id returning *)
    select coalesce(jsonb_agg(jsonb_build_object('type', type, 'pattern', pattern, 'polarity', polarity) order by id), '[]')
    into named from removed;
    return named;
end $$;

-- Erases acts, what they taught, and the lines that told their person about it.
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

-- Returns the acts about some messages or about the answers of some turns.
create or replace function relay.feedback_about(p_messages bigint[], p_turns bigint[]) returns bigint[]
language sql stable set search_path = relay, extensions, pg_temp as $$
    select array(
        select id from feedback
        where message_id = any (p_messages) or turn_id = any (p_turns) or other_turn_id = any (p_turns))
$$;

-- Returns the acts in a space that match the needles and that the person may erase.
create or replace function relay.feedback_saying(p_space_id bigint, p_needles jsonb, p_user_id bigint, p_admin boolean)
returns bigint[] language sql stable set search_path = relay, extensions, pg_temp as $$
    select array(
        select f.id from feedback f
        where f.space_id = p_space_id and relay.may_erase(p_space_id, f.user_id, p_user_id, p_admin)
            and (relay.says(concat_ws(' ', f.value -> 'text', f.value -> 'pattern', f.value -> 'tags'), p_needles)
                or exists (select from observation o where o.feedback_id = f.id and relay.says(o.pattern, p_needles))))
$$;

-- Returns the preferences in a space that only these acts taught.
create or replace function relay.preferences_of(p_space_id bigint, p_feedback bigint[]) returns bigint[]
language sql stable set search_path = relay, extensions, pg_temp as $$
    select array(
        select p.id from preference p
        where p.space_id = p_space_id
            and (p.user_id, p.type, p.pattern) in (
                select user_id, type, pattern from observation where feedback_id = any (p_feedback))
            and not exists (
                select from observation o
                where o.space_id = p.space_id and o.user_id = p.user_id and o.type = p.type and o.pattern = p.pattern
                    and o.thread_id is not distinct from p.thread_id and o.feedback_id <> all (p_feedback))
        order by p.id)
$$;

-- Stores what happened to an answer as feedback: it was stopped while it was written (p_stopped), or it replaced another
-- (p_replaced_turn_id): after a better wording (refine), or with the same one, which means that the other was not wanted
-- (abandon), unless its person had liked it. p_back: the answer was brought back (revert).
create or replace function relay.feedback_of_finish(
    p_turn relay.turn, p_stopped boolean, p_replaced_turn_id bigint, p_back boolean)
returns void language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    before turn;
begin
    if p_stopped then
        perform relay.take_act(p_turn, null, '{"kind": "abandon", "value": {"how": "stop"}, "source": "button"}');
    end if;
    select * into before from turn where id = p_replaced_turn_id and user_id = p_turn.user_id;
    if before.id is null then
        return;
    elsif p_back then
        perform relay.take_act(p_turn, before.id, '{"kind": "revert", "value": {}, "source": "button"}');
    elsif coalesce((before.prompt ->> 'wording')::bigint, 0) < relay.wordings(p_turn.user_message_id) then
        perform relay.take_act(p_turn, before.id, '{"kind": "refine", "value": {}, "source": "button"}');
    elsif not exists (
        select from feedback
        where turn_id = before.id and user_id = p_turn.user_id and withdrawn_at is null
            and (kind in ('accept', 'tag', 'compare') or kind = 'thumbs' and value -> 'up' = 'true'))
    then
        perform relay.take_act(before, null, '{"kind": "abandon", "value": {"how": "again"}, "source": "button"}');
    end if;
end $$;

-- Returns the tags that a person put on an answer to them: [{type, pattern, polarity}]. Null if it was not to them.
create or replace function public.relay_answer_tags(p_space jsonb, p_user_id bigint, p_turn_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce((
        select jsonb_agg(jsonb_build_object('type', o.type, 'pattern', o.pattern, 'polarity', o.polarity) order by o.id)
        from feedback f join observation o on o.feedback_id = f.id
        where f.turn_id = t.id and f.user_id = p_user_id and f.kind = 'tag' and f.withdrawn_at is null), '[]')
    from relay.answer_turn(relay.find_space(p_space), p_user_id, jsonb_build_object('turn_id', p_turn_id)) t
    where t.id is not null
$$;

-- Removes a tag (p_pattern: {type, pattern, polarity}) from an answer, and withdraws the act if it put no other one
-- there. Returns whether it had the tag.
create or replace function public.relay_untag(p_space jsonb, p_user_id bigint, p_turn_id bigint, p_pattern jsonb)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    about constant turn := relay.answer_turn(relay.find_space(p_space), p_user_id,
        jsonb_build_object('turn_id', p_turn_id));
    gone bigint[];
begin
    perform relay.hold_memory(about.space_id);
    with removed as (
        delete from observation o using feedback f
        where f.id = o.feedback_id and f.turn_id = about.id and f.user_id = p_user_id and f.kind = 'tag'
            and o.type = p_pattern ->> 'type' and o.pattern = p_pattern ->> 'pattern'
            and o.polarity = coalesce((p_pattern ->> 'polarity')::smallint, o.polarity)  -- an older version names none
        returning o.feedback_id)
    select array_agg(feedback_id) into gone from removed;
    update feedback f set withdrawn_at = case when exists (select from observation o where o.feedback_id = f.id)
            then null else now() end,
        value = f.value || jsonb_build_object('tags', (f.value -> 'tags') - (
            case p_pattern ->> 'polarity' when '1' then 'prefer ' else 'avoid ' end || (p_pattern ->> 'pattern')))
    where id = any (gone);
    return to_jsonb(gone is not null);
end $$;
