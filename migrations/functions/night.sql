-- Nights: which there are, what each of their phases came to, and which spaces they have to deal with.

-- The goals whose date has passed: those that are pinned, or that a person wants left as they are, stay.
create or replace function relay.past_goals() returns setof relay.memory
language sql stable set search_path = relay, extensions, pg_temp as $$
    select m.* from memory m
    where m.status = 'active' and m.kind = 'goal' and m.valid_until < now() and not m.pinned
        and not exists (select from goal_left l where l.memory_id = m.id and l.valid_until = m.valid_until)
$$;

-- The spaces that have something new for a night that goes through p_message and p_memory, since a night that went
-- through p_after_message and p_after_memory: something was said or learned there, or a goal's date has passed.
create or replace function relay.awake(
    p_after_message bigint, p_message bigint, p_after_memory bigint, p_memory bigint)
returns setof bigint
language sql stable set search_path = relay, extensions, pg_temp as $$
    -- Space by space and thread by thread, the last of each along an index: the first night's are all that there are.
    select s.id from space s
    where relay.remembers(s.id) and (
        exists (select from thread t where t.space_id = s.id and (
            select id from message where thread_id = t.id and id <= p_message order by id desc limit 1) > p_after_message)
        or (select id from memory where space_id = s.id and id <= p_memory order by id desc limit 1) > p_after_memory
        or s.id in (select space_id from relay.past_goals()))
$$;

-- After which memory, and through which, a space's are new to the night: as one that began has put down, else those that
-- came since the last.
create or replace function relay.new_memories(p_space_id bigint)
returns table (after_memory bigint, through_memory bigint)
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(d.after_memory, (select through_memory from night order by id desc limit 1), 0),
        coalesce(d.through_memory, (select max(id) from memory), 0)
    from (select) always left join sleep_due d on d.space_id = p_space_id
$$;

-- What a night would find now: {last: the last night, or null; spaces: how many have something new; awake: the first
-- hundred of them, each with whose it is and how many active memories it has; digests: to how many of them one goes;
-- goals: how many are past their date; summaries: how many are owed}.
create or replace function public.relay_night_ahead() returns jsonb
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    last night;
    spaces bigint[];
begin
    select * into last from night order by id desc limit 1;
    spaces := array(
        select relay.awake(coalesce(last.through_message, 0), coalesce((select max(id) from message), 0),
            coalesce(last.through_memory, 0), coalesce((select max(id) from memory), 0))
        union select space_id from sleep_due);
    return jsonb_build_object('last', case when last.id is not null then to_jsonb(last) end,
        'spaces', cardinality(spaces),
        'awake', (select coalesce(jsonb_agg(jsonb_build_object('space_id', s.id, 'kind', s.kind, 'owner_id', s.owner_id,
                'group_id', s.chat_id, 'active', (
                    select count(*) from memory where space_id = s.id and status = 'active')) order by s.id), '[]')
            from space s where s.id in (select one from unnest(spaces) as one order by one limit 100)
                and not exists (select from consolidation where space_id = s.id)),
        'digests', (select count(*) from digest where space_id = any (spaces)),
        'goals', (select count(*) from relay.past_goals()),
        'summaries', (select count(*) from summary_due where status = 'due'));
end $$;

-- The night that was begun and has not ended; null when there is none, or it is given up as too old.
create or replace function public.relay_open_night() returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select to_jsonb(n) from night n where ended_at is null and begun_at > now() - interval '20 hours'
    order by id desc limit 1
$$;

-- Begins a night, or goes on with the one that is open: its row. What the nights before left undone is part of it. A
-- question that nobody has answered for a week is answered: everything is left as it is.
create or replace function public.relay_begin_night() returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    last night;
    made night;
begin
    perform pg_advisory_xact_lock(hashtext('relay.night'));
    if public.relay_open_night() is not null then
        return public.relay_open_night();
    end if;
    perform public.relay_settle_consolidation(id, false) from consolidation where asked_at < now() - interval '7 days';
    select * into last from night order by id desc limit 1;
    insert into night (through_message, through_memory)
    values (coalesce((select max(id) from message), 0), coalesce((select max(id) from memory), 0))
    returning * into made;
    update sleep_due set night_id = made.id, consolidated = false, digested = false,
        through_message = made.through_message, through_memory = made.through_memory
    where true;
    insert into sleep_due (space_id, night_id, after_message, through_message, after_memory, through_memory)
    select awake, made.id, coalesce(last.through_message, 0), made.through_message, coalesce(last.through_memory, 0),
        made.through_memory
    from relay.awake(coalesce(last.through_message, 0), made.through_message, coalesce(last.through_memory, 0),
        made.through_memory) as awake
    on conflict do nothing;
    delete from night where id <= made.id - 30 and id not in (select night_id from sleep_due);
    return to_jsonb(made);
end $$;

-- A phase of a night is done: what it came to.
create or replace function public.relay_end_phase(p_night_id bigint, p_phase text, p_told jsonb) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    update night set phases = phases || jsonb_build_object(p_phase, p_told) where id = p_night_id returning to_jsonb(night)
$$;

-- A night is over. Spaces with which it could not deal are left for the next.
create or replace function public.relay_end_night(p_night_id bigint) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    delete from sleep_due d
    where consolidated and after_memory >= through_memory and (digested or not exists (select from digest where space_id = d.space_id));
    update night set ended_at = now() where id = p_night_id returning to_jsonb(night)
$$;

-- The spaces that a phase of a night still has to deal with, in their order after p_after, 100 at most: each with what it
-- is, how many active memories it has, and where its digest goes. Where a person was asked and has not answered, nothing
-- is consolidated.
create or replace function public.relay_sleepers(p_night_id bigint, p_phase text, p_after bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_agg(to_jsonb(one) order by one.space_id), '[]') from (
        select d.space_id, s.kind, s.owner_id, s.chat_id as group_id, g.user_id, g.chat_id, g.topic_id,
            (select count(*) from memory where space_id = s.id and status = 'active') as active
        from sleep_due d join space s on s.id = d.space_id left join digest g on g.space_id = s.id
        where d.night_id = p_night_id and d.space_id > p_after and relay.remembers(s.id)
            and case p_phase
                when 'consolidate' then not d.consolidated
                    and not exists (select from consolidation where space_id = s.id)
                else not d.digested and g.space_id is not null end
        order by d.space_id limit 100) one
$$;

-- Queues something to say in a chat, for whichever process answers for the bot: text is Markdown, rows are buttons, inputs
-- is what it was made of, by which it is found when that is erased; space_id is whose memory it shows. It is said while p_user_id may use the bot.
create or replace function relay.post_notice(
    p_bot_id bigint, p_chat_id bigint, p_topic_id bigint, p_user_id bigint, p_notice jsonb)
returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    lane_of constant bigint := relay.ensure_lane(p_bot_id, p_chat_id, p_topic_id);
    made bigint;
begin
    insert into turn (kind, bot_id, lane_id, user_id, space_id, prompt)
    values ('control', p_bot_id, lane_of, p_user_id, (p_notice ->> 'space_id')::bigint,
        case when p_notice ? 'inputs' then jsonb_build_object('inputs', p_notice -> 'inputs') end)
    returning id into made;
    -- Telegram's own numbers are positive.
    insert into inbox (bot_id, update_id, lane_id, turn_id, user_id, status, payload)
    values (p_bot_id, -made, lane_of, made, p_user_id, 'claimed', jsonb_build_object(
        'update_id', -made, 'notice', p_notice - 'inputs' - 'space_id', 'message', jsonb_strip_nulls(jsonb_build_object(
            'chat', jsonb_build_object('id', p_chat_id,
                'type', case when p_chat_id > 0 then 'private' else 'supergroup' end),
            'from', jsonb_build_object('id', p_user_id, 'first_name', ''),
            'message_thread_id', nullif(p_topic_id, 0),
            'is_topic_message', case when p_topic_id > 0 then true end))));
end $$;

-- The statistics of the next table after p_after (null: the first), by which the planner chooses: its name; null after the
-- last. Only whoever owns a table may gather them: on Supabase its own jobs do. From 9,000 rows of each (300 times the
-- target), however many it has.
create or replace function public.relay_statistics(p_after text) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp set default_statistics_target = 30 as $$
declare
    next_one text := (
        select min(relname) from pg_class
        where relnamespace = 'relay'::regnamespace and relkind = 'r' and pg_has_role(relowner, 'usage')
            and relname > coalesce(p_after, '')
            and relname in ('document_part', 'entry', 'event', 'memory', 'message', 'posted', 'summary', 'thread'));
begin
    if next_one is not null then
        execute format('analyze relay.%I', next_one);
    end if;
    return to_jsonb(next_one);
end $$;
