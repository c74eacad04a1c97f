-- Sessions off the record: what is said in one stays in its own rows, and goes with its end.

-- The running session off the record of a chat's topic, whoever's memory is used there; null when there is none.
create or replace function relay.off_record(p_chat_id bigint, p_topic_id bigint) returns bigint
language sql stable set search_path = relay, extensions, pg_temp as $$
    select s.id from thread t join session s on s.id = t.session_id
    where t.chat_id = p_chat_id and t.topic_id = p_topic_id and s.private and s.ended_at is null
    order by s.id desc limit 1
$$;

-- The session off the record in which a turn's message came in, be it over by now; but not one that so many silent hours
-- had ended when it came.
create or replace function relay.said_off_record(p_turn_id bigint, p_idle_hours integer) returns bigint
language sql stable set search_path = relay, extensions, pg_temp as $$
    select max(s.id) from inbox i join session s on s.id = i.session_id join thread t on t.id = s.thread_id
    where i.turn_id = p_turn_id
        and (s.ended_at is not null or i.received_at <= t.last_at + make_interval(hours => p_idle_hours))
$$;

-- Erases what was said in a session off the record that has ended, five hundred messages at most; what is still being
-- answered, or waits for that, goes when its turn ends. Whether nothing is left.
create or replace function relay.erase_private(p_session_id bigint) returns boolean
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own session;
    turns bigint[] := array(select id from private_turn where session_id = p_session_id);
    busy bigint[];
    ids bigint[];
begin
    select * into own from session where id = p_session_id and private and ended_at is not null;
    if own.id is null then
        return false;
    end if;
    delete from persona where session_id = own.id;
    busy := array(select id from turn where id = any (turns) and kind = 'message' and status in ('working', 'answered'));
    select array_agg(id) into ids from (
        select id from message where session_id = own.id and not coalesce(turn_id = any (busy), false)
        order by id limit 500) few;
    perform relay.erase_turns(turns);
    update inbox set payload = null
    where session_id = own.id and payload is not null and status not in ('pending', 'claimed');
    perform relay.erase_messages(own.space_id, ids) where ids is not null;
    if cardinality(busy) > 0 or exists (select from message where session_id = own.id)
        or exists (select from inbox where session_id = own.id and status in ('pending', 'claimed'))
    then
        return false;
    end if;
    update session set title = null, erased_at = now() where id = own.id;
    return true;
end $$;

-- Ends the running session of a thread without a trace in what comes after: no summary, no title. Another begins.
create or replace function relay.next_session(p_thread relay.thread, p_private boolean) returns bigint
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    begun bigint;
    past constant bigint := coalesce((select max(id) from message where thread_id = p_thread.id), 0);
begin
    update session set ended_at = now() where id = p_thread.session_id and ended_at is null;
    insert into session (thread_id, space_id, private) values (p_thread.id, p_thread.space_id, p_private)
    returning id into begun;
    update thread set session_id = begun, context_from = past + 1, window_from = past + 1, summary_id = null,
        last_at = now()
    where id = p_thread.id;
    return begun;
end $$;

-- Ends a session off the record, if the thread's is one: what is being answered in it stops, and it is erased.
create or replace function relay.end_private(p_thread relay.thread) returns boolean
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    if not exists (select from session where id = p_thread.session_id and private) then
        return false;
    end if;
    perform relay.next_session(p_thread, false);
    update turn set stop_asked = true where session_id = p_thread.session_id and status in ('working', 'answered');
    perform relay.erase_private(p_thread.session_id);
    return true;
end $$;

-- A thread with the session in which something is said there that came in off the record: that session itself, or, where
-- it is another thread's, since the chat's memory is another's now (somebody joined or left), a new one off the record
-- that goes on in its stead, and is over at once when that other is.
create or replace function relay.still_off_record(p_thread relay.thread, p_space jsonb, p_session_id bigint)
returns relay.thread
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own thread := p_thread;
    old session;
    begun bigint;
begin
    select * into old from session where id = p_session_id and private;
    if old.thread_id = own.id then
        own.session_id := old.id;
    elsif old.id is not null then
        perform public.relay_new_session(p_space, own.chat_id, own.topic_id, '');
        select * into own from thread where id = own.id;
        begun := relay.next_session(own, true);
        select * into own from thread where id = own.id;
        update session set begun_by = old.begun_by where id = begun;
        update inbox set session_id = begun where session_id = old.id and status in ('pending', 'claimed');
        if old.ended_at is null then
            perform relay.end_private(t) from thread t where t.session_id = old.id;
        else
            perform relay.next_session(own, false);
        end if;
    end if;
    return own;
end $$;

-- Begins a session off the record in a thread (p_on), or ends it: p_may: whether this person may, whoever began it.
-- Returns {private, was}: how it is, and how it was; refused: they may not.
create or replace function public.relay_private(
    p_space jsonb, p_chat_id bigint, p_topic_id bigint, p_on boolean, p_user_id bigint, p_may boolean)
returns jsonb
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
        perform relay.end_private(t) from thread t where t.session_id = running;
    end if;
    return jsonb_build_object('private', p_on, 'was', was);
end $$;

-- Ends the sessions off the record in which nothing was said for so many hours, and erases what is left of those that
-- have ended, twenty at a time. Returns how many are still to be erased.
create or replace function public.relay_sweep_private(p_idle_hours integer) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own thread;
    ended bigint;
begin
    for own in
        select t.* from thread t join session s on s.id = t.session_id
        where s.private and s.ended_at is null and t.last_at < now() - make_interval(hours => p_idle_hours)
        order by t.id limit 20 for update of t skip locked
    loop
        perform relay.end_private(own);
    end loop;
    for ended in
        select id from session where private and ended_at is not null and erased_at is null order by id limit 20
    loop
        perform relay.erase_private(ended);
        exit when clock_timestamp() > statement_timestamp() + interval '1 second';
    end loop;
    return to_jsonb((select count(*) from session where private and ended_at is not null and erased_at is null));
end $$;
