-- Reminders: made, listed, changed; and sent by a job when they are due.

-- Returns a reminder as people and programs see it.
create or replace function relay.reminder_json(p_reminder relay.reminder) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('id', p_reminder.id, 'kind', p_reminder.kind, 'text', p_reminder.text,
        'zone', p_reminder.zone, 'start_at', p_reminder.start_at, 'rule', p_reminder.rule,
        'next_at', p_reminder.next_at, 'status', p_reminder.status, 'occurrence', p_reminder.occurrence,
        'repeat_minutes', p_reminder.repeat_minutes, 'asked', p_reminder.asked, 'user_id', p_reminder.user_id,
        'chat_id', p_reminder.chat_id, 'topic_id', p_reminder.topic_id, 'space_id', p_reminder.space_id,
        'created_at', p_reminder.created_at)
$$;

-- Records what happened to a reminder.
create or replace function relay.note_reminder(
    p_reminder_id bigint, p_kind text, p_user_id bigint default null, p_occurrence timestamptz default null,
    p_outbox_id bigint default null) returns void language sql set search_path = relay, extensions, pg_temp as $$
    insert into reminder_event (reminder_id, kind, user_id, occurrence, outbox_id)
    values (p_reminder_id, p_kind, p_user_id, p_occurrence, p_outbox_id)
$$;

-- Owes the job of a chat for its nearest reminder whose space isn't quiet then, or none if nothing is to come. Bot 0:
-- one made at a terminal, which any bot sends.
create or replace function relay.owe_reminders(p_bot_id bigint, p_chat_id bigint, p_topic_id bigint) returns void
language sql set search_path = relay, extensions, pg_temp as $$
    select relay.owe_next('reminder', format('%s:%s:%s', p_bot_id, p_chat_id, p_topic_id), p_bot_id, (
        select min(greatest(r.next_at, s.quiet_until)) from reminder r join space s on s.id = r.space_id
        where r.bot_id = p_bot_id and r.chat_id = p_chat_id and r.topic_id = p_topic_id
            and r.status in ('active', 'proposed')))
$$;

-- Makes a reminder: {space, bot_id, chat_id, topic_id, user_id, kind, text, zone, start_at, rule, next_at,
-- repeat_minutes, origin, turn_id, memory_id, proposed, most}. Returns it, or {refused}: many, if the person has `most`
-- open ones already; private, if the conversation is off the record. One that this turn made before is returned.
create or replace function public.relay_make_reminder(p_reminder jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    given reminder := jsonb_populate_record(null::reminder, p_reminder);
    own constant bigint := relay.ensure_space(p_reminder -> 'space');
    place thread;
    doing constant turn := (select t from turn t where id = (p_reminder ->> 'turn_id')::bigint);
    made_from constant text[] := case when p_reminder ->> 'memory_id' is not null
        then array['memory:' || (p_reminder ->> 'memory_id')] when doing.user_message_id is not null
        then array['message:' || doing.user_message_id] when doing.id is not null
        then array['turn:' || doing.id] else '{}' end;
    made reminder;
begin
    perform pg_advisory_xact_lock(hashtextextended('relay_reminder', given.user_id));
    select * into place from thread
    where chat_id = given.chat_id and topic_id = given.topic_id and space_id = own;
    select * into made from reminder  -- a command makes one, whose "in an hour" is later when it runs again
    where user_id = given.user_id and inputs = made_from and status in ('proposed', 'active') and made_from <> '{}'
        and (made_from[1] ^@ 'turn:' or text = given.text and start_at = given.start_at and rule = given.rule);
    if made.id is not null then
        return relay.reminder_json(made);
    elsif (p_reminder ->> 'most')::integer <= (
        select count(*) from reminder where user_id = given.user_id and status in ('proposed', 'active', 'paused'))
    then
        return '{"refused": "many"}';
    elsif exists (select from session where id = place.session_id and private and ended_at is null) then
        return '{"refused": "private"}';
    end if;
    insert into reminder (space_id, thread_id, session_id, user_id, bot_id, chat_id, topic_id, kind, text, zone,
        start_at, rule, next_at, repeat_minutes, status, origin, inputs, tainted)
    values (own, place.id, place.session_id, given.user_id, given.bot_id, given.chat_id, given.topic_id, given.kind,
        given.text, given.zone, given.start_at, given.rule, given.next_at, given.repeat_minutes,
        case when (p_reminder ->> 'proposed')::boolean then 'proposed' else 'active' end, given.origin,
        made_from, coalesce((p_reminder ->> 'proposed')::boolean, false) or exists (
            select from memory where id = (p_reminder ->> 'memory_id')::bigint and tainted)) returning * into made;
    perform relay.note_reminder(made.id, 'made', made.user_id);
    perform relay.owe_reminders(made.bot_id, made.chat_id, made.topic_id);
    return relay.reminder_json(made);
end $$;

-- Returns a page of the reminders that a person sees from a space, the nearest first: {total, quiet_until, reminders}.
-- In a group these are the group's.
create or replace function public.relay_reminders(p_space jsonb, p_user_id bigint, p_offset integer, p_limit integer)
returns jsonb language sql stable set search_path = relay, extensions, pg_temp as $$
    with own as materialized (
        select r.* from reminder r
        where r.space_id = relay.find_space(p_space) and r.status in ('proposed', 'active', 'paused')
            and (p_space ->> 'kind' = 'group' or r.user_id = p_user_id))
    select jsonb_build_object('total', (select count(*) from own),
        'quiet_until', (select nullif(greatest(quiet_until, now()), now()) from space where id = relay.find_space(p_space)),
        'reminders', coalesce((
            select jsonb_agg(relay.reminder_json(page) order by page.next_at nulls last, page.id) from (
                select * from own order by next_at nulls last, id offset p_offset limit p_limit) page), '[]'))
$$;

-- Returns one reminder with what happened to it lately, and whether it was made or sent last. Null if the person may not
-- see it.
create or replace function public.relay_reminder(p_space jsonb, p_user_id bigint, p_reminder_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select relay.reminder_json(r) || jsonb_build_object('events', (
        select coalesce(jsonb_agg(jsonb_build_object('kind', e.kind, 'at', e.at, 'occurrence', e.occurrence,
            'detail', e.detail,
            'sent', coalesce(o.status = 'sent' and o.telegram_message_id is not null, false),
            'failed', coalesce(o.status = 'failed', false)) order by e.id desc), '[]')
        from (
            (select * from reminder_event where reminder_id = r.id order by id desc limit 10) union
            (select * from reminder_event where reminder_id = r.id and kind in ('made', 'fired', 'missed')
                order by id desc limit 1)) e
        left join outbox o on o.id = e.outbox_id))
    from reminder r
    where r.id = p_reminder_id and r.space_id = relay.find_space(p_space)
        and (p_space ->> 'kind' = 'group' or r.user_id = p_user_id)
$$;

-- Returns what a deleted reminder was before. Some imported ones have no events, and are paused.
create or replace function relay.former_status(p_reminder relay.reminder) returns text
language sql stable set search_path = relay, extensions, pg_temp as $$
    select case when p_reminder.status <> 'deleted' then p_reminder.status when p_reminder.next_at is null then 'ended'
        when kind is null or kind = 'paused' then 'paused'
        when kind = 'made' and p_reminder.origin = 'tool' and p_reminder.tainted then 'proposed' else 'active' end
    from (
        select max(kind) as kind from reminder_event where id = (
            select max(id) from reminder_event
            where reminder_id = p_reminder.id and kind in ('made', 'changed', 'paused', 'resumed', 'snoozed'))) as latest
$$;

-- Owes the corrections of the lines that tell of a reminder: under the answer that made it, and those that changed it. Their
-- turns note its text (said), which the line will have. So are those that say that it stays with another date.
create or replace function relay.owe_lines(p_reminder relay.reminder) returns void
language sql set search_path = relay, extensions, pg_temp as $$
    with tells as (
        update turn t set told = jsonb_set(told, '{reminders}', (
            select jsonb_agg(case when (one ->> 'id')::bigint <> p_reminder.id then one else one || jsonb_build_object(
                'said', coalesce(one -> 'said', '[]') - p_reminder.text || to_jsonb(p_reminder.text)) end order by place)
            from jsonb_array_elements(t.told -> 'reminders') with ordinality as r (one, place)))
        where (t.user_message_id = any (relay.inputs_of('message', p_reminder.inputs))
                or t.id = any (array(select turn_id from reminder_event where reminder_id = p_reminder.id)))
            and t.told -> 'reminders' @> jsonb_build_array(jsonb_build_object('id', p_reminder.id)) returning id)
    select relay.owe_correction(id) from tells
    union all
    select relay.owe_correction(c.turn_id) from memory_change c where c.turn_id is not null and c.memory_id in (
        select replaced_by from memory where id = any (relay.inputs_of('memory', p_reminder.inputs)))
$$;

-- Owes the corrections of the messages that asked a question since it was answered last: they lose its buttons.
create or replace function relay.owe_copies(p_reminder_id bigint) returns void
language sql set search_path = relay, extensions, pg_temp as $$
    select relay.owe_correction(turn_id) from (
        select distinct o.turn_id
        from reminder r join reminder_event e on e.reminder_id = r.id and e.kind = 'fired'
        join outbox o on o.id = e.outbox_id
        where r.id = p_reminder_id and r.kind = 'ask' and not exists (
            select from reminder_event where reminder_id = r.id and kind = 'done' and id > e.id)
        order by o.turn_id desc limit 10) as asking
$$;

-- Changes a reminder: {text, zone, start_at, rule, next_at, status, occurrence, repeat_minutes, event, user_id,
-- turn_id}; what is not given stays. With the event restored, a deleted one is what it was before. p_known: its next_at
-- as the caller knows it. turn_id: the button, which changes it once even if it runs again, or the answer, which keeps
-- what it was until it is saved (see relay.withdraw_set). Returns it; null if it has changed since, or is gone.
create or replace function public.relay_change_reminder(p_reminder_id bigint, p_known timestamptz, p_change jsonb)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own reminder;
begin
    select * into own from reminder where id = p_reminder_id for update;
    if own.id is not null and exists (
        select from turn where id = (p_change ->> 'turn_id')::bigint and prompt -> 'changed' = to_jsonb(own.id))
    then
        return relay.reminder_json(own);
    elsif own.id is null or own.next_at is distinct from p_known then
        return null;
    end if;
    update turn set prompt = coalesce(prompt, '{}') || case kind when 'control' then jsonb_build_object('changed', own.id)
        else jsonb_build_object('former', coalesce(prompt -> 'former', '{}') || jsonb_build_object(own.id, to_jsonb(own)
            || coalesce(prompt #> array['former', own.id::text], '{}') || jsonb_build_object('left_at', now()))) end
    where id = (p_change ->> 'turn_id')::bigint and status = 'working';
    own := jsonb_populate_record(own, p_change - 'event' - 'user_id');
    if p_change ->> 'event' = 'restored' then
        own.status := relay.former_status(own);
    end if;
    update reminder set text = own.text, zone = own.zone, start_at = own.start_at, rule = own.rule,
        next_at = own.next_at, status = own.status, occurrence = own.occurrence, repeat_minutes = own.repeat_minutes,
        kind = own.kind, asked = case when p_change ? 'next_at' then 0 else asked end, changed_at = now()
    where id = own.id returning * into own;
    if p_change ->> 'event' = 'done' then
        perform relay.owe_copies(own.id);
    end if;
    insert into reminder_event (reminder_id, kind, user_id, occurrence, turn_id) values (own.id, p_change ->> 'event',
        (p_change ->> 'user_id')::bigint, own.occurrence, (p_change ->> 'turn_id')::bigint);
    perform relay.owe_lines(own), relay.owe_reminders(own.bot_id, own.chat_id, own.topic_id);
    return relay.reminder_json(own);
end $$;

-- Holds back all unasked messages in a space until p_until; null: no longer. Waits for those that are being queued: they
-- hold the space's key.
create or replace function public.relay_quiet(p_space jsonb, p_until timestamptz) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own constant bigint := relay.ensure_space(p_space);
    was constant timestamptz := (select quiet_until from space where id = own for update);
    place record;
begin
    update space set quiet_until = p_until where id = own;
    update outbox set not_before = greatest(case when not_before = was then now() else not_before end, p_until)
    where id = any (array(
        select id from outbox
        where space_id = own and status = 'queued' and turn_id is null and relay.speaks_first(dedupe_key)
        for no key update skip locked));  -- the claim that has one of them looks again (see relay.open_messages)
    for place in select distinct bot_id, chat_id, topic_id from reminder
        where space_id = own and status in ('active', 'proposed') order by bot_id, chat_id, topic_id
    loop
        perform relay.owe_reminders(place.bot_id, place.chat_id, place.topic_id);
    end loop;
    return 'true';
end $$;

-- Records that a chat is gone, as a turn with a queued message found out. If the message tells of reminders, queues
-- messages about it (as relay_enqueue takes them). In a person's own chat its reminders wait until the person comes
-- back (see relay_intake); what this turn was to send is due again then. In a group they end, and the people who set
-- them get the first message, too. Returns how many there are.
create or replace function public.relay_end_reminders(p_turn_id bigint, p_messages jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    told outbox;
    one reminder;
    people bigint[] := '{}';
begin
    select * into told from outbox where turn_id = p_turn_id and not_before is not null;
    update message set status = 'replaced' where id = told.message_id;  -- nobody has read it
    if told.dedupe_key like 'reminder %' is not true then
        return '0';
    elsif told.chat_id > 0 then
        update outbox set dedupe_key = null where id = told.id;
        update reminder r set status = 'active', next_at = e.occurrence, occurrence = null, asked = 0
        from reminder_event e
        where e.outbox_id = told.id and r.id = e.reminder_id and r.changed_at = e.at and e.detail is null;
        perform public.relay_enqueue(told.bot_id, p_messages) where not exists (
            select from job where kind = 'reminder' and due_at = 'infinity'
                and key ~ format('^(0|%s):%s:', told.bot_id, told.chat_id));
        people := array(select user_id from reminder
            where bot_id in (0, told.bot_id) and chat_id = told.chat_id and status = 'active');
        perform relay.owe_next('reminder', format('%s:%s:%s', bot_id, chat_id, topic_id), bot_id, 'infinity') from (
            select distinct bot_id, chat_id, topic_id from reminder
            where bot_id in (0, told.bot_id) and chat_id = told.chat_id and status = 'active') each;
        return to_jsonb(cardinality(people));
    end if;
    for one in
        update reminder set status = 'ended', changed_at = now()
        where bot_id in (0, told.bot_id) and chat_id = told.chat_id and status in ('proposed', 'active', 'paused')
        returning *
    loop
        perform relay.note_reminder(one.id, 'failed', null, one.next_at);
        perform relay.owe_reminders(one.bot_id, one.chat_id, one.topic_id);
        people := people || one.user_id;
    end loop;
    perform public.relay_enqueue(told.bot_id, p_messages);
    perform public.relay_enqueue(told.bot_id, coalesce((
        select jsonb_agg((p_messages -> 0) || jsonb_build_object('chat_id', id, 'user_id', id,
            'key', format('gone %s %s', p_turn_id, id)))
        from (select distinct unnest(people) as id) each where id <> told.chat_id and p_messages <> '[]'), '[]'));
    return to_jsonb(cardinality(people));
end $$;

-- Pauses the reminders in a group of a person who left it, also those that wait for their OK. If there are any, queues
-- messages about it (as relay_enqueue takes them). Returns how many there are.
create or replace function public.relay_pause_reminders(
    p_bot_id bigint, p_chat_id bigint, p_user_id bigint, p_messages jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    paused constant bigint[] := array(
        select id from reminder
        where bot_id in (0, p_bot_id) and chat_id = p_chat_id and user_id = p_user_id and status in ('proposed', 'active')
        order by id for no key update);
begin
    update reminder set status = 'paused', changed_at = now() where id = any (paused);
    perform relay.note_reminder(id, 'paused'), relay.owe_lines(r) from reminder r where id = any (paused);
    perform public.relay_enqueue(p_bot_id, p_messages) where paused <> '{}';
    perform relay.owe_reminders(bot_id, chat_id, topic_id) from (
        select distinct bot_id, chat_id, topic_id from reminder where id = any (paused)
        order by bot_id, chat_id, topic_id) as places;
    return to_jsonb(cardinality(paused));
end $$;

-- Returns a goal or event of a space that is to come, with the reminder that was set for its former date (was). Null if
-- there is none, or it has passed.
create or replace function public.relay_dated_memory(p_space jsonb, p_memory_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('id', m.id, 'content', m.content, 'at', relay.happens_at(m),
        'exact', m.exact_at is not null, 'was', (
            select jsonb_build_object('reminder_id', r.id, 'user_id', r.user_id, 'next_at', r.next_at, 'exact', old.exact_at is not null,
                'at', coalesce(old.exact_at, case old.kind when 'goal' then coalesce(old.valid_until, old.valid_from)
                    else coalesce(old.valid_from, old.valid_until) end))
            from memory old join reminder r on r.space_id = old.space_id and r.status = 'active' and r.rule = ''
                and r.inputs @> array['memory:' || old.id]
            where old.replaced_by = m.id order by r.next_at limit 1))
    from memory m
    where m.id = p_memory_id and m.space_id = relay.find_space(p_space) and relay.happens_at(m) is not null
$$;

-- Returns the reminder for a former date in place of which one was set; it was deleted, or restored, since. Null: there is
-- none that is still to come.
create or replace function public.relay_former_reminder(p_reminder_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select relay.reminder_json(f)
    from reminder r join memory old on old.replaced_by = any (relay.inputs_of('memory', r.inputs))
    join reminder f on f.space_id = r.space_id and f.user_id = r.user_id and f.inputs @> array['memory:' || old.id]
    where r.id = p_reminder_id and f.rule = '' and f.status in ('active', 'deleted') and f.next_at > now()
        and f.changed_at >= r.created_at
    order by f.changed_at desc limit 1
$$;

-- Sending due reminders.

-- Returns what happened to the questions of a chat since a time: each time that one was asked, answered by a reply or a
-- reaction, or ended; and what a person said there that may be an answer (id null).
create or replace function relay.question_events(p_reminder relay.reminder, p_since timestamptz)
returns table (id bigint, happened text, at timestamptz) language sql stable
set search_path = relay, extensions, pg_temp as $$
    with own as materialized (
        select e.reminder_id, e.kind, e.at, o.bot_id, o.message_id, r.user_id
        from reminder r join reminder_event e on e.reminder_id = r.id left join outbox o on o.id = e.outbox_id
        where r.chat_id = p_reminder.chat_id and r.topic_id = p_reminder.topic_id
            and r.space_id = p_reminder.space_id and r.kind = 'ask' and e.at >= p_since),
    said as materialized (
        select m.text, m.user_id, m.created_at, (t.prompt #>> '{reply_to,telegram_message_id}')::bigint as reply_to
        from thread h join message m on m.thread_id = h.id and m.role = 'user' and m.created_at > p_since
        left join turn t on t.id = m.turn_id
        where h.chat_id = p_reminder.chat_id and h.topic_id = p_reminder.topic_id and h.space_id = p_reminder.space_id)
    select reminder_id, case kind when 'fired' then 'asked' else 'ended' end, at from own
    where kind in ('fired', 'done', 'paused', 'deleted')
    union all
    select own.reminder_id, 'answered', said.created_at
    from said join posted p on p.chat_id = p_reminder.chat_id and p.telegram_message_id = said.reply_to
    join own on own.kind = 'fired' and own.bot_id = p.bot_id and own.message_id = p.message_id
    union all
    select own.reminder_id, 'answered', greatest(s.created_at, own.at) from own join signal s on s.message_id = own.message_id
    where own.kind = 'fired' and s.user_id = own.user_id and s.removed_at is null
        and rtrim(s.emoji, U&'\FE0F') = any (
            array['👍', '👌', '❤', '🔥', '👏', '🎉', '💯', '🙏', '🫡', '🤝', '✍', '🏆', '🤩', '🥰', '😍', '😁'])
    union all
    select null, 'said', created_at from said
    where reply_to is null and p_reminder.chat_id > 0 and user_id = p_reminder.user_id
        and text !~* concat('^\s*/|[?？؟]\s*$|^\s*(what|who|whose|how|when|where|why|which|can|could|does',
            '|(do|is|are) (you|we|they|it|there|this|that|the)',
            '|was|wer|wen|wem|wie|wann|wo|wohin|woher|warum|wieso|weshalb|welche[mnrs]?|kann|kannst|könntest)\M')
$$;

-- Tests whether a question was answered since it was first asked (or the last three times, if it isn't asked again): by a
-- reply of anybody to it, by an approving reaction of the person who wanted it, or in their own chat by what they say next,
-- unless that is a question or a reply to something else. What they say answers the open question that was asked last.
create or replace function relay.is_answered(p_reminder relay.reminder) returns boolean
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    one record;
    asked bigint[] := '{}';  -- the open ones, the newest last
begin
    for one in select * from relay.question_events(p_reminder, (
        select min(e.at) from (
            select e.at from reminder_event e where reminder_id = p_reminder.id and kind = 'fired'
            order by e.id desc limit coalesce(nullif(p_reminder.asked, 0), 3)) as e))
        order by at, happened <> 'asked', id
    loop
        if one.happened = 'said' then
            one.id := asked[cardinality(asked)];
        end if;
        if one.id = p_reminder.id and one.happened in ('said', 'answered') then
            return true;
        end if;
        asked := array_remove(asked, one.id);
        if one.happened = 'asked' then
            asked := asked || one.id;
        end if;
    end loop;
    return false;
end $$;

-- Ends the questions of a chat that were just answered: those that would be asked again are due, so that their job does;
-- those that were asked for the last time, within a week, were done.
create or replace function relay.settle_questions(p_bot_id bigint, p_chat_id bigint, p_topic_id bigint) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    one reminder;
begin
    for one in
        select r.* from reminder r
        where r.space_id in (select space_id from thread where chat_id = p_chat_id and topic_id = p_topic_id)
            and r.bot_id in (0, p_bot_id) and r.chat_id = p_chat_id and r.topic_id = p_topic_id and r.kind = 'ask'
            and r.status in ('active', 'ended') and (r.next_at > now()) is not false
            and r.changed_at > now() - interval '7 days' and (r.asked > 0 or 'fired' = (
                select kind from reminder_event where reminder_id = r.id order by id desc limit 1))
            and relay.is_answered(r) for update
    loop
        if one.asked > 0 then
            update reminder set next_at = now() where id = one.id;
            perform relay.owe_reminders(one.bot_id, one.chat_id, one.topic_id);
        else
            perform relay.owe_copies(one.id), relay.note_reminder(one.id, 'done');
        end if;
    end loop;
end $$;

-- Returns the name that a person has in a space; empty if they said nothing there.
create or replace function relay.name_in(p_space_id bigint, p_user_id bigint) returns text
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce((
        select name from message where space_id = p_space_id and user_id = p_user_id and role = 'user'
        order by id desc limit 1), (select name from person where user_id = p_user_id), '')
$$;

-- Returns what a held job sends: up to 200 reminders that are due, or whose time comes before they were confirmed,
-- except those of a quiet space (a chat may have some of two: of its group, and of a person who was alone there once).
-- Null if the process lost it.
create or replace function public.relay_reminder_work(p_job_id bigint, p_fence bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    with held as (
        select split_part(key, ':', 1)::bigint as bot_id, split_part(key, ':', 2)::bigint as chat_id,
            split_part(key, ':', 3)::bigint as topic_id
        from job where id = p_job_id and fence = p_fence),
    due as (
        select r.* from held h join reminder r using (bot_id, chat_id, topic_id)
        join space s on s.id = r.space_id and (s.quiet_until > now()) is not true
        where r.status in ('active', 'proposed') and r.next_at <= now() order by r.next_at, r.id limit 200)
    -- quiet_until: the previous version of the program reads it.
    select jsonb_build_object('now', now(), 'quiet_until', null, 'told', (
            select count(*) from outbox o
            where h.bot_id in (0, o.bot_id) and o.chat_id = h.chat_id and o.topic_id = h.topic_id
                and o.dedupe_key like 'reminder %' and o.created_at > now() - interval '1 hour'),
        'reminders', (select coalesce(jsonb_agg(relay.reminder_json(due) || jsonb_build_object('space', (
                select jsonb_build_object('kind', s.kind, 'owner_id', s.owner_id, 'chat_id', s.chat_id)
                from space s where s.id = due.space_id), 'tainted', due.tainted,
                'answered', due.asked > 0 and relay.is_answered(due),
                'name', case when due.chat_id < 0 then relay.name_in(due.space_id, due.user_id) else '' end)
            order by due.next_at, due.id), '[]') from due))
    from held h
$$;

-- Stores and queues what a held job sends: [{payload, key, tainted, reminders: [{id, due_at, next_at, occurrence,
-- asked, status, event, detail, proposed}]}]; a message without payload only moves its reminders on. A reminder that
-- was changed meanwhile, or confirmed (proposed: it was not), is left alone. Then the job waits for the next one that
-- is due.
create or replace function public.relay_tell_reminders(
    p_job_id bigint, p_fence bigint, p_bot_id bigint, p_messages jsonb, p_not_before timestamptz)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    ids constant bigint[] := array(select one::bigint from jsonb_path_query(p_messages, '$[*].reminders[*].id') as one);
    held job;
    one jsonb;
    moved bigint[];
    first reminder;
    queued bigint;
    told integer := 0;
begin
    -- The job is locked last, as by answers, changes of reminders and /quiet, which owe it.
    perform from thread where (chat_id, topic_id, space_id) in (
        select chat_id, topic_id, space_id from reminder where id = any (ids)) order by id for no key update;
    perform from reminder r join space s on s.id = r.space_id where r.id = any (ids)
    order by r.id for no key update of r for key share of s;
    held := relay.hold_job(p_job_id, p_fence);
    if held.id is null then
        return null;
    end if;
    for one in select jsonb_array_elements(p_messages) loop
        with given as (
            select * from jsonb_to_recordset(one -> 'reminders') as g (id bigint, due_at timestamptz,
                next_at timestamptz, occurrence timestamptz, asked integer, status text, proposed boolean)),
        done as (
            update reminder r set next_at = g.next_at, occurrence = g.occurrence, asked = g.asked, status = g.status,
                changed_at = now()
            from given g where r.id = g.id and r.next_at = g.due_at
                and r.status = case when g.proposed then 'proposed' else 'active' end returning r.id)
        select array_agg(id) into moved from done;
        continue when moved is null;
        queued := null;
        if one -> 'payload' <> 'null' then
            select * into first from reminder where id = moved[1];
            queued := relay.say_first(p_bot_id, first.chat_id, first.topic_id, first.user_id, first.space_id,
                one -> 'payload', relay.input_names('reminder', moved), one ->> 'key', 'reminder',
                (one ->> 'tainted')::boolean);
            told := told + 1;
        end if;
        perform relay.owe_copies(g.id) from jsonb_to_recordset(one -> 'reminders') as g (id bigint, event text)
        where g.event = 'done' and g.id = any (moved);
        insert into reminder_event (reminder_id, kind, occurrence, outbox_id, detail)
        select g.id, g.event, g.due_at, queued, g.detail
        from jsonb_to_recordset(one -> 'reminders') as g (id bigint, due_at timestamptz, event text, detail text)
        where g.id = any (moved);
        -- One that rings every five minutes would have 100,000 in a year.
        delete from reminder_event e using unnest(moved) as r (id), lateral (
            select last.id from reminder_event last where last.reminder_id = r.id order by last.id desc offset 1000 limit 1) old
        where e.reminder_id = r.id and e.id <= old.id;
    end loop;
    delete from job where id = held.id;
    perform relay.owe_reminders(split_part(held.key, ':', 1)::bigint, split_part(held.key, ':', 2)::bigint,
        split_part(held.key, ':', 3)::bigint);
    -- Not before then, whatever is due.
    update job set due_at = greatest(due_at, p_not_before)
    where kind = 'reminder' and key = held.key and p_not_before is not null;
    return to_jsonb(told);
end $$;

-- Tests whether something made from these inputs rests on others' words.
create or replace function relay.rests_on_others(p_inputs text[]) returns boolean
language sql stable set search_path = relay, extensions, pg_temp as $$
    select exists (select from message where id = any (relay.inputs_of('message', p_inputs)) and (untrusted or tainted))
        or exists (select from memory where id = any (relay.inputs_of('memory', p_inputs)) and tainted)
        or exists (select from reminder where id = any (relay.inputs_of('reminder', p_inputs)) and tainted)
$$;

-- Queues an unasked message, once: {text (Markdown), plain, sound, reminders, not_before}. It becomes a
-- message of the thread, unless that is off the record now, so that people can reply to it; it teaches nothing. It
-- waits until its space is no longer quiet. p_tainted: it rests on others' words. Returns its id in the outbox; null:
-- it was queued before.
create or replace function relay.say_first(
    p_bot_id bigint, p_chat_id bigint, p_topic_id bigint, p_user_id bigint, p_space_id bigint, p_payload jsonb,
    p_inputs text[], p_key text, p_by text, p_tainted boolean)
returns bigint language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    place thread;
    said bigint;
    queued bigint;
begin
    if relay.off_record(p_chat_id, p_topic_id) is null and not exists (
        select from thread where chat_id = p_chat_id and topic_id = p_topic_id and space_id = p_space_id)
    then  -- so far they have only used commands there
        perform relay.ensure_thread(p_space_id, p_chat_id, p_topic_id, 1000000);
    end if;
    select t.* into place from thread t join session s on s.id = t.session_id and not s.private
    where t.chat_id = p_chat_id and t.topic_id = p_topic_id and t.space_id = p_space_id;
    insert into outbox (seq, bot_id, chat_id, topic_id, user_id, space_id, request, inputs, dedupe_key, not_before, status)
    values (1, p_bot_id, p_chat_id, p_topic_id, p_user_id, p_space_id, p_payload, to_jsonb(p_inputs), p_key,
        greatest(now(), (p_payload ->> 'not_before')::timestamptz,
            (select quiet_until from space where id = p_space_id)), 'queued')
    on conflict (bot_id, dedupe_key) where dedupe_key is not null do nothing returning id into queued;
    if queued is not null and place.id is not null then
        insert into message (space_id, thread_id, session_id, role, text, blocks, started_by, teaches, tainted)
        values (place.space_id, place.id, place.session_id, 'assistant', p_payload ->> 'plain',
            jsonb_build_array(jsonb_build_object('role', 'assistant', 'content', jsonb_build_array(
                jsonb_build_object('type', 'text', 'text', p_payload ->> 'plain')))), p_by, false, p_tainted)
        returning id into said;
        update outbox set message_id = said where id = queued;
    end if;
    return queued;
end $$;

-- Fits an imported reminder to its space: it is for the space's own chat, whatever the file says, and waits until the
-- person resumes it, as the last of its events says. These know no messages and turns of another database.
create or replace function relay.adopt_reminder(p_row jsonb) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select p_row || jsonb_build_object('user_id', coalesce(s.owner_id, (p_row ->> 'user_id')::bigint),
        'chat_id', coalesce(s.owner_id, s.chat_id), 'topic_id', 0, 'bot_id', 0, 'origin', 'import',
        'status', case when p_row ->> 'status' in ('ended', 'deleted') then p_row ->> 'status' else 'paused' end,
        'rule', case when p_row ->> 'rule' ~ '^FREQ=[A-Z]{1,9}(;[A-Z]{1,12}=[A-Z0-9,+-]{1,80}){0,8}$' then p_row ->> 'rule'
            else '' end,
        'zone', case when exists (select from pg_timezone_names where name = p_row ->> 'zone') then p_row ->> 'zone'
            else 'UTC' end,
        'reminder_event', coalesce((
            select jsonb_agg(e - array['outbox_id', 'turn_id'] || jsonb_build_object(
                'user_id', coalesce(s.owner_id, (e ->> 'user_id')::bigint)) order by place)
            from jsonb_array_elements(p_row -> 'reminder_event') with ordinality as r (e, place)), '[]')
            || case when p_row ->> 'status' = 'ended' then '[]' else jsonb_build_array(
                jsonb_build_object('kind', 'paused', 'at', now())) end)
    from space s where s.id = (p_row ->> 'space_id')::bigint
$$;
