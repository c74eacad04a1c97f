-- What a group's topics answer, and whose memory a group was lent.

-- Returns what a topic answers (all, addressed or off): its own setting, else the group's; null if neither is set.
create or replace function relay.answers_in(p_chat_id bigint, p_topic_id bigint) returns text
language sql stable set search_path = relay, extensions, pg_temp as $$
    select answers from place
    where p_chat_id < 0 and chat_id = p_chat_id and topic_id in (p_topic_id, -1)
    order by topic_id desc limit 1
$$;

-- Returns what a group message becomes under the setting p_answers: a turn or nothing. overheard: not addressed to the
-- bot, so it counts only if all is answered.
create or replace function relay.kind_in(p_kind text, p_answers text) returns text
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select case
        when p_answers = 'off' then 'ignored'
        when p_kind = 'overheard' then case when p_answers = 'all' then 'turn' else 'ignored' end
        else p_kind
    end
$$;

-- Returns a topic's settings: its own, the whole group's (-1), and who lends their memory. Null fields are not set.
create or replace function public.relay_place(p_chat_id bigint, p_topic_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object(
        'here', (select answers from place where chat_id = p_chat_id and topic_id = p_topic_id),
        'everywhere', (select answers from place where chat_id = p_chat_id and topic_id = -1),
        'lender', (select owner_id from link where chat_id = p_chat_id))
$$;

-- Sets what a topic answers; -1 sets the whole group and clears its topics' settings. Returns the settings.
create or replace function public.relay_set_place(p_chat_id bigint, p_topic_id bigint, p_answers text, p_user_id bigint)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    if p_topic_id = -1 then
        delete from place where chat_id = p_chat_id and topic_id <> -1;
    end if;
    insert into place (chat_id, topic_id, answers, set_by) values (p_chat_id, p_topic_id, p_answers, p_user_id)
    on conflict (chat_id, topic_id) do update
        set answers = excluded.answers, set_by = excluded.set_by, set_at = now();
    return public.relay_place(p_chat_id, p_topic_id);
end $$;

-- Lends a person's memory to a group for their own turns, unless someone else's is lent. Returns whose is lent.
create or replace function public.relay_link(p_chat_id bigint, p_owner_id bigint) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    insert into link (chat_id, owner_id) values (p_chat_id, p_owner_id) on conflict (chat_id) do nothing;
    return (select to_jsonb(owner_id) from link where chat_id = p_chat_id);
end $$;

-- Ends a person's loan. Returns whether theirs was lent.
create or replace function public.relay_unlink(p_chat_id bigint, p_owner_id bigint) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    with taken as (delete from link where chat_id = p_chat_id and owner_id = p_owner_id returning 1)
    select to_jsonb(count(*) > 0) from taken
$$;

-- Supergroups: a group that becomes one keeps its people and memory under a new chat id.

-- Moves another thread's history of the same space into this one. Locks turns first, to wait for writers.
create or replace function relay.merge_threads(p_into bigint, p_from bigint) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    other thread;
begin
    perform set_config('relay.index', 'later', true);  -- its entries are moved unchanged
    update turn set thread_id = p_into where thread_id = p_from;
    update session set thread_id = p_into where thread_id = p_from;
    perform relay.merge_judging(p_into, p_from);
    update message set thread_id = p_into where thread_id = p_from;
    update keepit set thread_id = p_into where thread_id = p_from;
    update composition c set name = left(c.name, 40) || ' ' || c.id
    where c.thread_id = p_from and c.deleted_at is null and exists (
        select from composition o
        where o.thread_id = p_into and lower(o.name) = lower(c.name) and o.deleted_at is null);
    perform relay.move_artefacts('thread_id', p_into, p_from);
    delete from session_link l
    where target_thread_id = p_from and (
        exists (select from session where id = l.source_session_id and thread_id = p_into) or exists (
            select from session_link o
            where o.target_thread_id = p_into and o.source_session_id = l.source_session_id));
    update session_link set target_thread_id = p_into where target_thread_id = p_from;
    update feedback set thread_id = p_into where thread_id = p_from;
    update observation set thread_id = p_into where thread_id = p_from;
    update preference_decision set thread_id = p_into where thread_id = p_from;
    perform relay.refold_space((select space_id from thread where id = p_into));
    update entry set thread_id = p_into
    where session_id in (select id from session where thread_id = p_into) and thread_id = p_from;
    perform set_config('relay.index', '', true);
    delete from thread where id = p_from returning * into other;
    update thread set exchange_count = exchange_count + other.exchange_count,
        session_id = case when session_id is null or other.last_at > last_at
            then coalesce(other.session_id, session_id) else session_id end,
        summary_id = greatest(summary_id, other.summary_id), last_at = greatest(last_at, other.last_at),
        context_from = greatest(context_from, other.context_from),
        window_from = greatest(window_from, other.window_from)
    where id = p_into;
    update session s set ended_at = now() from thread t
    where t.id = p_into and s.thread_id = t.id and s.id <> t.session_id and s.ended_at is null;
end $$;

-- Moves another space's memories into this one. They keep their numbers unless this space has used numbers itself.
create or replace function relay.move_memories(p_into bigint, p_from bigint) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    given constant bigint := greatest((select max(number) from memory where space_id = p_into),
        (select numbered from space where id = p_into));
begin
    update memory m set space_id = p_into, number = case given when 0 then m.number else given + one.place end
    from (select id, row_number() over (order by number) as place from memory where space_id = p_from) one
    where m.id = one.id;
    update space set numbered = greatest(numbered, (select numbered from space where id = p_from))
    where id = p_into and given = 0;
end $$;

-- Moves the artefacts of a thread or a space (p_column), with their entries, to another one.
create or replace function relay.move_artefacts(p_column text, p_into bigint, p_from bigint) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    one record;
begin
    for one in
        select k.kind, k.name from relay.artefact_kinds() k join pg_attribute a
            on a.attrelid = format('relay.%I', k.name)::regclass and a.attname = p_column
    loop
        execute format('update relay.%1$I set %2$I = $1 where %2$I = $2', one.name, p_column) using p_into, p_from;
        execute format('update relay.entry set %2$I = $1 where kind = %3$L and %2$I = $2
            and source_id in (select id from relay.%1$I where %2$I = $1)', one.name, p_column, one.kind)
            using p_into, p_from;
    end loop;
end $$;

-- Moves everything in another group space into this one; the empty space stays.
create or replace function relay.merge_spaces(p_into bigint, p_from bigint) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    one record;
begin
    perform set_config('relay.index', 'later', true);  -- its entries are moved unchanged
    update turn set space_id = p_into where space_id = p_from;
    for one in select name from relay.declared_tables() where declared ->> 'regroup' = 'follow' order by name loop
        -- Includes the rows of a running erasure, which must find them in the new space.
        execute format('update relay.%I set space_id = $1 where space_id = $2', one.name) using p_into, p_from;
    end loop;
    delete from document d where d.space_id = p_from and exists (
        select from document o where o.space_id = p_into and o.unique_id = d.unique_id);
    update document set space_id = p_into where space_id = p_from;
    update document_part set space_id = p_into where space_id = p_from;
    update message set space_id = p_into where thread_id in (select id from thread where space_id = p_from);
    update session set space_id = p_into where thread_id in (select id from thread where space_id = p_from);
    update memory_change set space_id = p_into where memory_id in (select id from memory where space_id = p_from);
    perform relay.move_memories(p_into, p_from);
    perform relay.move_artefacts('space_id', p_into, p_from);
    perform relay.merge_feedback(p_into, p_from);
    update event set space_id = p_into where turn_id in (select id from turn where space_id = p_into)
        and space_id = p_from;
    update thread set space_id = p_into where space_id = p_from;
    update entry set space_id = p_into
    where session_id in (select id from session where space_id = p_into) and space_id = p_from;
    update embedding v set space_id = p_into from entry e
    where e.id = v.entry_id and v.space_id = p_from and e.space_id = p_into;
    perform set_config('relay.index', '', true);
    delete from result where space_id = p_from;
    delete from consolidation where space_id in (p_into, p_from);  -- it was about the memories of one of them
    delete from sleep_due d where space_id = p_from and exists (select from sleep_due where space_id = p_into);
    update sleep_due set space_id = p_into where space_id = p_from;
    delete from context_setting where space_id = p_from and exists (
        select from context_setting where space_id = p_into);
    update context_setting set space_id = p_into where space_id = p_from;
    delete from digest d where space_id = p_from and exists (select from digest where space_id = p_into);
    update digest set space_id = p_into where space_id = p_from;
    perform relay.owe_digest(p_from), relay.owe_digest(p_into);
end $$;

-- Moves a group's spaces and threads to its new id. If both ids exist, the older row absorbs the other.
create or replace function relay.regroup_memory(p_from bigint, p_to bigint) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    old_space bigint := relay.find_space(jsonb_build_object('kind', 'group', 'chat_id', p_from));
    new_space bigint := relay.find_space(jsonb_build_object('kind', 'group', 'chat_id', p_to));
    pair record;
begin
    if old_space < new_space then
        perform relay.merge_spaces(old_space, new_space);
        update space set chat_id = 0 where id = new_space;
        update space set chat_id = p_to where id = old_space;
        update space set chat_id = p_from where id = new_space;
    elsif new_space is not null and old_space is not null then
        perform relay.merge_spaces(new_space, old_space);
    else
        update space set chat_id = p_to where id = old_space;
    end if;
    for pair in
        select least(a.id, b.id) as older, greatest(a.id, b.id) as newer from thread a
        join thread b on b.chat_id = p_to and b.topic_id = a.topic_id and b.space_id = a.space_id
        where a.chat_id = p_from
    loop
        perform relay.merge_threads(pair.older, pair.newer);
    end loop;
    update thread set chat_id = p_to where chat_id = p_from;
    update digest set chat_id = p_to where chat_id = p_from;
    update reminder set chat_id = p_to where chat_id = p_from;
    perform relay.owe_reminders(bot_id, p_to, topic_id) from (
        select distinct bot_id, topic_id from reminder where chat_id = p_to and status in ('active', 'proposed')) as moved;
end $$;

-- Rewrites an update as if it came from the other chat, where its message has no id.
create or replace function relay.in_chat(p_payload jsonb, p_chat_id bigint) returns jsonb
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select case
        when p_payload #> '{message,chat}' is not null then jsonb_set(p_payload, '{message}', p_payload -> 'message'
            || jsonb_build_object('message_id', 0, 'chat', jsonb_build_object('id', p_chat_id, 'type', 'supergroup')))
        when p_payload #> '{callback_query,message,chat}' is not null then
            jsonb_set(p_payload, '{callback_query,message}', (p_payload #> '{callback_query,message}')
            || jsonb_build_object('message_id', 0, 'chat', jsonb_build_object('id', p_chat_id, 'type', 'supergroup')))
        else p_payload
    end
$$;

-- Moves a group's lanes and pending updates to its new id. Two turns in progress both continue.
create or replace function relay.regroup_lanes(p_bot_id bigint, p_from bigint, p_to bigint) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    old_lane lane;
    new_lane lane;
begin
    for old_lane in select * from lane where bot_id = p_bot_id and chat_id = p_from for update loop
        update inbox set payload = relay.in_chat(payload, p_to)
        where lane_id = old_lane.id and status = 'pending';
        update inbox set payload = relay.in_chat(payload, p_to)
        where status = 'claimed' and turn_id in (
            select id from turn
            where bot_id = p_bot_id and status in ('working', 'answered') and lane_id = old_lane.id);
        select * into new_lane from lane
        where bot_id = p_bot_id and chat_id = p_to and topic_id = old_lane.topic_id for update;
        if new_lane.id is null then
            update lane set chat_id = p_to where id = old_lane.id;
        else
            update inbox set lane_id = new_lane.id where lane_id = old_lane.id;
            update turn set lane_id = new_lane.id where lane_id = old_lane.id;
            delete from lane where id = old_lane.id;
            update lane set open_turn_id = coalesce(open_turn_id, old_lane.open_turn_id),
                due_at = least(due_at, old_lane.due_at)
            where id = new_lane.id;
        end if;
    end loop;
end $$;

-- Moves a group's settings to its new id. If both ids have settings, the later ones count.
create or replace function relay.regroup_rules(p_bot_id bigint, p_from bigint, p_to bigint) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    insert into place (chat_id, topic_id, answers, set_by, set_at)
    select p_to, topic_id, answers, set_by, set_at from place where chat_id = p_from
    on conflict (chat_id, topic_id) do update
        set answers = excluded.answers, set_by = excluded.set_by, set_at = excluded.set_at
        where place.set_at < excluded.set_at;
    delete from place where chat_id = p_from;
    insert into link (chat_id, owner_id, linked_at)
    select p_to, owner_id, linked_at from link where chat_id = p_from
    on conflict (chat_id) do update set owner_id = excluded.owner_id, linked_at = excluded.linked_at
        where link.linked_at < excluded.linked_at;
    delete from link where chat_id = p_from;
    update persona set chat_id = p_to where chat_id = p_from;
    insert into topic (bot_id, chat_id, topic_id, name, implicit, renamed_at)
    select bot_id, p_to, topic_id, name, implicit, renamed_at from topic
    where bot_id = p_bot_id and chat_id = p_from
    on conflict do nothing;
    delete from topic where bot_id = p_bot_id and chat_id = p_from;
end $$;

-- Moves everything of a group that became a supergroup to its new id; safe to repeat. (Telegram says so in a service
-- message in either chat, and when a request to the old one fails.) p_turn_id: a turn whose part was refused for this
-- and is sent again.
create or replace function public.relay_regroup(p_bot_id bigint, p_before bigint, p_now bigint, p_turn_id bigint)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    if p_before >= 0 or p_before <= -1000000000000 or p_now > -1000000000000 then
        return to_jsonb(false);
    end if;
    perform pg_advisory_xact_lock(hashtextextended('relay_regroup', p_now));
    perform relay.regroup_lanes(p_bot_id, p_before, p_now);
    perform relay.regroup_memory(p_before, p_now);
    perform relay.regroup_rules(p_bot_id, p_before, p_now);
    -- Parts of other turns that are being sent are refused too, and arrive here on their own.
    update outbox set chat_id = p_now, telegram_message_id = null,
        request = (request - '{reply_parameters,reply_to}'::text[]) || jsonb_build_object('chat_id', p_now)
    where bot_id = p_bot_id and chat_id = p_before and (status = 'queued' or turn_id in (
            select id from turn where bot_id = p_bot_id and status in ('working', 'answered'))
        and (status = 'waiting' or turn_id = p_turn_id and status not in ('sent', 'failed')));
    return to_jsonb(true);
end $$;
