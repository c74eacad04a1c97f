-- Sessions: stretches of a thread between two /new, or two long silences.

-- Returns the thread of a chat and topic in a space; null if nothing was said there yet.
create or replace function relay.find_thread(p_space jsonb, p_chat_id bigint, p_topic_id bigint) returns relay.thread
language sql stable set search_path = relay, extensions, pg_temp as $$
    select * from thread
    where chat_id = p_chat_id and topic_id = p_topic_id and space_id = relay.find_space(p_space)
$$;

-- Ends a thread's running session: owes its summary; the next message starts fresh.
create or replace function public.relay_new_session(
    p_space jsonb, p_chat_id bigint, p_topic_id bigint, p_title text) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own thread;
    last_message bigint;
    said integer;
begin
    perform relay.hold_off_record(p_chat_id, p_topic_id);
    own := relay.ensure_thread(relay.ensure_space(p_space), p_chat_id, p_topic_id, 1000000);
    if relay.end_private(own) then
        select * into own from thread where id = own.id;
        update session set title = nullif(p_title, ''), titled_by = case when p_title <> '' then 'person' end
        where id = own.session_id;
        return jsonb_build_object('session_id', own.session_id, 'messages', 0, 'private', true);
    end if;
    select max(id), count(*) into last_message, said from message
    where thread_id = own.id and id >= own.context_from;
    if said > 0 then
        perform relay.owe_summary(own.session_id, own.context_from, last_message);
        update session set ended_at = now() where id = own.session_id;
        perform relay.register_ended(own.session_id);
        perform relay.owe_title(own.session_id, (
            select bot_id from turn where thread_id = own.id order by id desc limit 1));
        insert into session (thread_id, space_id, title, titled_by)
        values (own.id, own.space_id, nullif(p_title, ''), case when p_title <> '' then 'person' end)
        returning id into own.session_id;
        update thread set session_id = own.session_id, context_from = last_message + 1,
            window_from = last_message + 1, summary_id = null where id = own.id;
    else
        delete from composition_use where session_id = own.session_id;
        update session set title = p_title, titled_by = 'person' where id = own.session_id and p_title <> '';
    end if;
    return jsonb_build_object('session_id', own.session_id, 'messages', said);
end $$;

-- Titles and topics of sessions: owed once there is something to name, written by a job, each at most once.

-- Owes a title and topics to a session that lacks one of them.
create or replace function relay.owe_title(p_session_id bigint, p_bot_id bigint) returns void
language sql set search_path = relay, extensions, pg_temp as $$
    select relay.owe_job('title', s.id::text, jsonb_build_object('bot_id', p_bot_id))
    from session s where s.id = p_session_id and (s.title is null or s.topics is null) and p_bot_id is not null
$$;

-- Returns the input of a title that a process holds: the beginning of its session.
create or replace function public.relay_title_work(p_job_id bigint, p_fence bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_agg(to_jsonb(m) order by m.id), '[]') from (
        select id, role, name, left(text, 1500) as text, untrusted from message
        where session_id = (select key::bigint from job where id = p_job_id and fence = p_fence)
            and status <> 'replaced' order by id limit 6) m
$$;

-- Stores a title, unless the session has one, and its topics, and finishes the job. A private topic is renamed, if its
-- name was made up by Telegram or never seen, and it was never renamed.
create or replace function public.relay_store_title(
    p_job_id bigint, p_fence bigint, p_title text, p_topics jsonb default '[]') returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    held job := relay.hold_job(p_job_id, p_fence);
    own thread;
begin
    update session set topics = array(select jsonb_array_elements_text(p_topics)) where id = held.key::bigint;
    delete from job where id = held.id;  -- after its session is locked, as by /new, which owes a title
    update session set title = p_title, titled_by = 'model' where id = held.key::bigint and title is null;
    if not found then
        return null;
    end if;
    select t.* into own from session s join thread t on t.id = s.thread_id where s.id = held.key::bigint;
    if own.chat_id <= 0 or own.topic_id = 0 then
        return null;
    end if;
    -- Recorded before the topic is renamed, so that a retry doesn't overwrite a name the person gives in between.
    insert into topic as known (bot_id, chat_id, topic_id, name, implicit, renamed_at)
    values ((held.payload ->> 'bot_id')::bigint, own.chat_id, own.topic_id, p_title, true, now())
    on conflict (bot_id, chat_id, topic_id) do update set renamed_at = now()
        where known.implicit and known.renamed_at is null;
    if found then
        perform public.relay_enqueue((held.payload ->> 'bot_id')::bigint, jsonb_build_array(jsonb_build_object(
            'chat_id', own.chat_id, 'topic_id', own.topic_id, 'user_id', own.chat_id,
            'payload', jsonb_build_object('names_after', held.key::bigint))));
    end if;
    return null;
end $$;

-- Names of topics and groups, learned from messages.

-- Stores the names that a message contains: its group's title, and its topic's (from service messages; a message in a
-- forum also carries its topic's first name).
create or replace function relay.note_names(
    p_bot_id bigint, p_chat_id bigint, p_topic_id bigint, p_message jsonb) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    title text := p_message #>> '{chat,title}';
    edited text := p_message #>> '{forum_topic_edited,name}';
    created jsonb := coalesce(p_message -> 'forum_topic_created',
        p_message #> '{reply_to_message,forum_topic_created}');
begin
    if p_chat_id < 0 and title is not null and not exists (
        select from topic where bot_id = p_bot_id and chat_id = p_chat_id and topic_id = 0 and name = title)
    then
        insert into topic (bot_id, chat_id, topic_id, name) values (p_bot_id, p_chat_id, 0, title)
        on conflict (bot_id, chat_id, topic_id) do update set name = excluded.name;
    end if;
    if p_topic_id > 0 and edited is not null then
        insert into topic (bot_id, chat_id, topic_id, name) values (p_bot_id, p_chat_id, p_topic_id, edited)
        on conflict (bot_id, chat_id, topic_id) do update set name = excluded.name, implicit = false;
    elsif p_topic_id > 0 and created ->> 'name' is not null then
        insert into topic (bot_id, chat_id, topic_id, name, implicit)
        values (p_bot_id, p_chat_id, p_topic_id, created ->> 'name',
            coalesce((created ->> 'is_name_implicit')::boolean, false)) on conflict do nothing;
    end if;
end $$;

-- Records that a topic got its generated name, unless the person has named it since. It needs no plain one any more.
create or replace function public.relay_topic_renamed(
    p_bot_id bigint, p_chat_id bigint, p_topic_id bigint, p_name text) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    delete from retraction where bot_id = p_bot_id and chat_id = p_chat_id and telegram_message_id = -p_topic_id;
    with renamed as (
        update topic set name = p_name, implicit = false
        where bot_id = p_bot_id and chat_id = p_chat_id and topic_id = p_topic_id and implicit returning 1)
    select to_jsonb(count(*)) from renamed
$$;

-- Returns a place's name: a group's title, a topic's name, or both. Null if unknown.
create or replace function relay.place_name(p_bot_id bigint, p_chat_id bigint, p_topic_id bigint) returns text
language sql stable set search_path = relay, extensions, pg_temp as $$
    select string_agg(name, ' › ' order by topic_id) from (
        select distinct on (topic_id) topic_id, name from topic
        where chat_id = p_chat_id and topic_id in (0, p_topic_id) order by topic_id, bot_id = p_bot_id desc) names
$$;

-- Sessions off the record: their contents stay in their own rows and are erased at their end.

-- Returns the running off-the-record session of a chat's topic, no matter whose memory is used there; null if there is
-- none.
create or replace function relay.off_record(p_chat_id bigint, p_topic_id bigint) returns bigint
language sql stable set search_path = relay, extensions, pg_temp as $$
    select s.id from thread t join session s on s.id = t.session_id
    where t.chat_id = p_chat_id and t.topic_id = p_topic_id and s.private and s.ended_at is null
    order by s.id desc limit 1
$$;

-- Returns the off-the-record session in which a turn's message arrived, even if it has ended since; not one that had
-- expired by then.
create or replace function relay.said_off_record(p_turn_id bigint, p_idle_hours integer) returns bigint
language sql stable set search_path = relay, extensions, pg_temp as $$
    select max(s.id) from inbox i join session s on s.id = i.session_id join thread t on t.id = s.thread_id
    where i.turn_id = p_turn_id
        and (s.ended_at is not null or i.received_at <= t.last_at + make_interval(hours => p_idle_hours))
$$;

-- Erases an ended off-the-record session, up to 500 messages; messages still being answered go when their turn ends.
-- Waits for no turn, since the caller may have locked the thread: relay_sweep_private erases the rest. Returns whether
-- nothing is left.
create or replace function relay.erase_private(p_session_id bigint) returns boolean
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own session;
    turns bigint[] := array(select id from private_turn where session_id = p_session_id);
    previews bigint[];
    busy bigint[];
    ids bigint[];
begin
    select * into own from session where id = p_session_id and private and ended_at is not null;
    if own.id is null then
        return false;
    end if;
    delete from persona where session_id = own.id;
    previews := array(select e.id from erasure e where e.space_id = own.space_id and e.status = 'preview' and exists (
        select from message m where m.session_id = own.id and e.work -> 'messages' @> to_jsonb(m.id)));
    busy := array(select id from turn where id = any (turns) and kind = 'message' and status in ('working', 'answered'));
    if array(select id from turn where id = any (turns) for no key update skip locked) || busy @> turns is false then
        return false;
    end if;
    select array_agg(id) into ids from (
        select id from message where session_id = own.id and not coalesce(turn_id = any (busy), false)
        order by id limit 500) few;
    perform relay.erase_turns(turns);
    update inbox set payload = null
    where session_id = own.id and payload is not null and status not in ('pending', 'claimed');
    perform relay.erase_messages(own.space_id, ids) where ids is not null;
    -- The preview of an erasure has its words. It goes last, as in an erasure; one that is locked is about to go or begin.
    delete from erasure where id in (
        select id from erasure where id = any (previews) and status = 'preview' for update skip locked);
    if cardinality(busy) > 0 or exists (select from message where session_id = own.id)
        or exists (select from inbox where session_id = own.id and status in ('pending', 'claimed'))
    then
        return false;
    end if;
    update session set title = null, erased_at = now() where id = own.id;
    return true;
end $$;

-- Ends a thread's running session without a trace: no summary, no title. A new one begins.
create or replace function relay.next_session(p_thread relay.thread, p_private boolean) returns bigint
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    begun bigint;
    past constant bigint := coalesce((select max(id) from message where thread_id = p_thread.id), 0);
begin
    update session set ended_at = now() where id = p_thread.session_id and ended_at is null;
    perform relay.register_ended(p_thread.session_id);
    insert into session (thread_id, space_id, private) values (p_thread.id, p_thread.space_id, p_private)
    returning id into begun;
    update thread set session_id = begun, context_from = past + 1, window_from = past + 1, summary_id = null,
        last_at = now() where id = p_thread.id;
    return begun;
end $$;

-- Ends a thread's off-the-record session, if it has one: stops its answers and erases it.
create or replace function relay.end_private(p_thread relay.thread) returns boolean
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    if not exists (select from session where id = p_thread.session_id and private) then
        return false;
    end if;
    perform relay.next_session(p_thread, false);
    update turn set stop_asked = true where id = any (array(
        select id from turn where session_id = p_thread.session_id and status in ('working', 'answered')
        for no key update skip locked));
    perform relay.erase_private(p_thread.session_id);
    return true;
end $$;

-- Returns a thread and session for something said off the record: that session, or, if it belongs to another thread
-- because the chat's memory changed hands (someone joined or left), a new off-the-record session that continues it and
-- ends with it.
create or replace function relay.still_off_record(p_thread relay.thread, p_space jsonb, p_session_id bigint)
returns relay.thread language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own thread := p_thread;
    old session;
    begun bigint;
begin
    select * into old from session where id = p_session_id and private;
    if old.thread_id = own.id then
        own.session_id := old.id;
    elsif old.id is not null then
        -- First, so that relay_new_session finds no turns that it would wait for.
        perform relay.end_private(t) from session s join thread t on t.id = s.thread_id and t.session_id = s.id
        where s.id in (old.id, own.session_id);
        perform public.relay_new_session(p_space, own.chat_id, own.topic_id, '');
        select * into own from thread where id = own.id;
        begun := relay.next_session(own, true);
        select * into own from thread where id = own.id;
        update session set begun_by = old.begun_by where id = begun;
        update inbox set session_id = begun where session_id = old.id and status in ('pending', 'claimed');
        perform relay.next_session(own, false) where old.ended_at is not null;
    end if;
    return own;
end $$;

-- Locks the turns of a chat's running off-the-record session, before its thread, as an answer does.
create or replace function relay.hold_off_record(p_chat_id bigint, p_topic_id bigint) returns void
language sql set search_path = relay, extensions, pg_temp as $$
    select from turn where id = any (array(
        select id from private_turn where session_id = relay.off_record(p_chat_id, p_topic_id)))
    order by id for no key update
$$;

-- Begins (p_on) or ends an off-the-record session. p_may: this person may, even if another began it. Returns {private,
-- was}: the new and old state; refused: they may not.
create or replace function public.relay_private(
    p_space jsonb, p_chat_id bigint, p_topic_id bigint, p_on boolean, p_user_id bigint, p_may boolean) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own thread;
    running bigint;
    was boolean;
    begun bigint;
begin
    if p_on is null then
        return jsonb_build_object('private', relay.off_record(p_chat_id, p_topic_id) is not null);
    end if;
    perform relay.hold_off_record(p_chat_id, p_topic_id);
    own := relay.ensure_thread(relay.ensure_space(p_space), p_chat_id, p_topic_id, 1000000);
    running := relay.off_record(p_chat_id, p_topic_id);
    was := running is not null;
    select begun_by into begun from session where id = running;
    if not p_may and p_on <> was and (p_on or begun is distinct from p_user_id) then
        return jsonb_build_object('private', was, 'was', was, 'refused', true);
    elsif p_on and not was then
        perform public.relay_new_session(p_space, p_chat_id, p_topic_id, '');
        select * into own from thread where id = own.id;
        own.session_id := relay.next_session(own, true);
        update session set begun_by = p_user_id where id = own.session_id;
    elsif not p_on then
        perform relay.end_private(t) from session s join thread t on t.id = s.thread_id and t.session_id = s.id
        where s.id = running;
    end if;
    return jsonb_build_object('private', p_on, 'was', was);
end $$;

-- Ends off-the-record sessions that were silent for so many hours and erases ended ones, twenty at a time. Drops
-- erasure previews after 15 minutes. Returns how many sessions are still to be erased.
create or replace function public.relay_sweep_private(p_idle_hours integer) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    place record;
    own thread;
    ended bigint;
begin
    delete from erasure where status = 'preview' and created_at < now() - interval '15 minutes';
    for place in
        select t.*, array(select p.id from private_turn p where p.session_id = t.session_id) as turns
        from thread t join session s on s.id = t.session_id
        where s.private and s.ended_at is null and t.last_at < now() - make_interval(hours => p_idle_hours)
        order by t.id limit 20
    loop
        -- All its turns or none, so that no answer goes on after it.
        continue when not array(
            select id from turn where id = any (place.turns) for no key update skip locked) @> place.turns;
        select t.* into own from thread t where t.id = place.id and t.last_at = place.last_at
        for no key update skip locked;
        if found then
            perform relay.end_private(own);
        end if;
    end loop;
    for ended in
        select id from session where private and ended_at is not null and erased_at is null order by id limit 20
    loop
        perform relay.erase_private(ended);
        exit when clock_timestamp() > statement_timestamp() + interval '1 second';
    end loop;
    return to_jsonb((select count(*) from session where private and ended_at is not null and erased_at is null));
end $$;
