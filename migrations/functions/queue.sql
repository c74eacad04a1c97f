-- The queue: stores updates and claims turns in order, one at a time per lane, under a fenced lease.

-- Locks and returns a turn that the caller holds; raises RL001 if another process has taken it over. The lock leaves
-- its key free, so that rows which merely reference it don't have to wait.
create or replace function relay.hold(p_turn_id bigint, p_fence bigint) returns relay.turn
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    held turn;
begin
    select * into held from turn where id = p_turn_id for no key update;
    if held.id is null or held.fence <> p_fence or held.status not in ('working', 'answered') then
        raise exception 'turn % is no longer held with fence %', p_turn_id, p_fence using errcode = 'RL001';
    end if;
    return held;
end $$;

-- Returns a claimed turn for the worker: its updates, and the parts of its reply already stored.
create or replace function relay.turn_json(p_turn relay.turn) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('turn_id', p_turn.id, 'fence', p_turn.fence, 'kind', p_turn.kind, 'status', p_turn.status,
        'failures', p_turn.failures, 'killed', p_turn.killed >= 25,
        'stopped', p_turn.stop_asked, 'user_id', coalesce(p_turn.user_id, 0),
        'space_id', p_turn.space_id,
        'owner_id', (select s.owner_id from space s where s.id = p_turn.space_id and s.kind = 'private'),
        'role', (select role from person where user_id = p_turn.user_id),
        'answers', (select relay.answers_in(l.chat_id, l.topic_id) from lane l where l.id = p_turn.lane_id),
        'linked_to', (select k.owner_id from lane l join link k on k.chat_id = l.chat_id where l.id = p_turn.lane_id),
        'choices', (select c.choices from choice c where c.user_id = p_turn.user_id),
        'answer', case when p_turn.told is not null then p_turn.told
            || jsonb_build_object('changes', relay.changes_of(p_turn.id)) end,
        'off_record', exists (select from inbox u where u.turn_id = p_turn.id and u.session_id is not null),
        'waited', coalesce((select extract(epoch from clock_timestamp() - min(u.received_at)) from inbox u
            where u.turn_id = p_turn.id), 0),
        'updates', coalesce((select jsonb_agg(u.payload order by u.update_id) from inbox u where u.turn_id = p_turn.id), '[]'),
        'parts', coalesce((select jsonb_agg(to_jsonb(d) order by d.seq) from outbox d where d.turn_id = p_turn.id), '[]'),
        'message', relay.message_of(p_turn.id))
$$;

-- Adds the waiting parts of a turn's albums to it, whoever wrote in between; not those of another session.
create or replace function relay.claim_albums(p_turn relay.turn) returns void
language sql set search_path = relay, extensions, pg_temp as $$
    update inbox i set status = 'claimed', turn_id = p_turn.id
    where lane_id = p_turn.lane_id and status = 'pending' and user_id = p_turn.user_id and exists (
        select from inbox own where own.turn_id = p_turn.id and own.session_id is not distinct from i.session_id
            and own.payload #> '{message,media_group_id}' = i.payload #> '{message,media_group_id}')
$$;

-- Opens a lane's next turn from the leading updates that belong together. Null if nothing is pending.
create or replace function relay.open_turn(
    p_bot_id bigint, p_lane_id bigint, p_worker uuid, p_lease_seconds integer) returns relay.turn
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    first inbox := (select u from inbox u where lane_id = p_lane_id and status = 'pending' order by update_id limit 1);
    border bigint;
    opened turn;
begin
    if first.update_id is null then
        update lane set due_at = null where id = p_lane_id;
        return null;
    end if;
    insert into turn (kind, bot_id, lane_id, user_id, lease_owner, lease_until)
    values ('message', p_bot_id, p_lane_id, first.user_id, p_worker, now() + make_interval(secs => p_lease_seconds))
    returning * into opened;
    select min(update_id) into border from inbox
    where lane_id = p_lane_id and status = 'pending' and update_id > first.update_id
        and not (mergeable and first.mergeable and user_id is not distinct from first.user_id
            and session_id is not distinct from first.session_id);
    update inbox set status = 'claimed', turn_id = opened.id
    where (bot_id, update_id) in (select bot_id, update_id from inbox
        where lane_id = p_lane_id and status = 'pending' and (border is null or update_id < border)
        order by update_id limit 100);
    if border is not null then
        perform relay.claim_albums(opened);
    end if;
    update lane set open_turn_id = opened.id where id = p_lane_id;
    return opened;
end $$;

-- Returns what a worker may start besides what it runs: turns abandoned by dead processes, due lanes, queued messages.
-- Renews its leases, its polling duty and its presence. Also returns wait: seconds until something else is due, lost and
-- stopped: which of p_running another process took over or someone wants stopped, polls: whether it is the one that polls
-- (null: nobody does), owed: kinds of jobs with due work.
create or replace function public.relay_claim(
    p_bot_id bigint, p_worker uuid, p_limit integer, p_lease_seconds integer, p_running jsonb default '[]')
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp
set plan_cache_mode = force_generic_plan as $$
declare
    claimed jsonb := '[]';
    lost jsonb := case when p_running = '[]' then p_running else relay.renew(p_worker, p_running, p_lease_seconds) end;
    one turn;
    lane_id bigint;
    wait real;
begin
    for one in
        update turn set lease_owner = p_worker, lease_until = now() + make_interval(secs => p_lease_seconds),
            fence = fence + 1, not_before = null
        -- As an array, the ids are found once. A joined subquery may run again, and takes more than p_limit.
        where id = any (array(select id from turn where status in ('working', 'answered') and bot_id = p_bot_id
                and id <> all (array(select jsonb_array_elements_text(p_running)::bigint))
                and (lease_owner is null or lease_until < now() or lease_until > now() + interval '15 minutes'
                    -- held, but neither running nor just handed out: the response was lost
                    or (lease_owner = p_worker
                        and lease_until < now() + make_interval(secs => p_lease_seconds * 0.6)))
                and (not_before is null or not_before <= now() or not_before > now() + interval '1 minute')
                and (killed < 10 or not exists (select from turn o  -- see relay_start
                    where o.bot_id = p_bot_id and o.status in ('working', 'answered') and o.killed >= 10 and o.id < turn.id))
            order by id limit p_limit for update skip locked)) returning *
    loop
        claimed := claimed || relay.turn_json(one);
    end loop;
    for lane_id in
        select id from lane
        where bot_id = p_bot_id and due_at is not null and open_turn_id is null
            and (due_at <= now() or due_at > now() + interval '1 minute')
        order by due_at limit greatest(0, p_limit - jsonb_array_length(claimed)) for update skip locked
    loop
        one := relay.open_turn(p_bot_id, lane_id, p_worker, p_lease_seconds);
        if one.id is not null then
            claimed := claimed || relay.turn_json(one);
        end if;
    end loop;
    for one in
        select * from relay.open_messages(
            p_bot_id, p_worker, greatest(0, p_limit - jsonb_array_length(claimed)), p_lease_seconds)
    loop
        claimed := claimed || relay.turn_json(one);
    end loop;
    select extract(epoch from least(
        (select min(due_at) from lane where bot_id = p_bot_id and due_at is not null and open_turn_id is null),
        (select min(not_before) from outbox
            where bot_id = p_bot_id and status = 'queued' and turn_id is null and not_before > now()),
        (select min(not_before) from turn
            where bot_id = p_bot_id and status in ('working', 'answered') and lease_owner is null
                and (killed < 10 or not_before > now())),
        -- A process asks again within seconds in any case, so those further ahead are not read.
        (select min(due_at) from job j
            where kind in ('reminder', 'digest') and parked_at is null and lease_owner is null
                and due_at between now() and now() + interval '10 seconds' and relay.is_for(j, p_bot_id)))
        - clock_timestamp()) into wait;
    perform relay.require_kept();
    perform relay.keep_serving(p_worker, p_lease_seconds);
    return jsonb_build_object('turns', claimed, 'wait', wait, 'lost', lost,
        'stopped', case when p_running = '[]' then p_running else relay.stopped(p_running) end,
        'owed', relay.jobs_owed(p_bot_id), 'polls', relay.renew_polling(p_bot_id, p_worker, p_lease_seconds));
end $$;

-- Returns the lane of a chat's topic.
create or replace function relay.ensure_lane(p_bot_id bigint, p_chat_id bigint, p_topic_id bigint) returns bigint
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    found_id bigint;
begin
    select id into found_id from lane where bot_id = p_bot_id and chat_id = p_chat_id and topic_id = p_topic_id;
    if found_id is null then
        insert into lane (bot_id, chat_id, topic_id) values (p_bot_id, p_chat_id, p_topic_id)
        on conflict (bot_id, chat_id, topic_id) do update set topic_id = excluded.topic_id returning id into found_id;
    end if;
    return found_id;
end $$;

-- Returns the id of the supergroup that a message's group has become; null if it is none, or the message isn't known.
create or replace function relay.moved_to(p_bot_id bigint, p_chat_id bigint, p_message jsonb) returns bigint
language sql stable set search_path = relay, extensions, pg_temp as $$
    select l.chat_id from posted p join turn t on t.id = p.turn_id join lane l on l.id = t.lane_id
    where p_chat_id between -999999999999 and -1 and p.bot_id = p_bot_id and p.chat_id = p_chat_id
        and p.telegram_message_id = (p_message ->> 'message_id')::bigint and l.chat_id <= -1000000000000
$$;

-- Begins a turn for a command given at a terminal, without an update. It is leased for ten minutes under no worker's
-- name, so that the process does not claim it back. Off the record, it belongs to that session.
create or replace function public.relay_begin_command(
    p_bot_id bigint, p_chat_id bigint, p_topic_id bigint, p_user_id bigint) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    private_in constant bigint := relay.off_record(p_chat_id, p_topic_id);
    begun turn;
begin
    insert into turn (kind, bot_id, lane_id, user_id, session_id, thread_id, lease_owner, lease_until)
    values ('control', p_bot_id, relay.ensure_lane(p_bot_id, p_chat_id, p_topic_id), p_user_id, private_in,
        (select thread_id from session where id = private_in), gen_random_uuid(), now() + interval '10 minutes')
    returning * into begun;
    return relay.turn_json(begun);
end $$;

-- Ends the turn of a command that was refused, as relay_sent does. If the command stored nothing, its turn is deleted.
create or replace function public.relay_refuse_command(p_turn_id bigint, p_fence bigint) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    ended constant jsonb := public.relay_sent(p_turn_id, p_fence, '[]', true);
begin
    delete from turn where id = p_turn_id and prompt is null
        and not exists (select from event where turn_id = p_turn_id)
        and not exists (select from feedback where by_turn_id = p_turn_id)
        and not exists (select from posted where turn_id = p_turn_id);
    return ended;
exception when foreign_key_violation then
    return ended;
end $$;

-- Tests whether a group message may continue one of the same person that waits or is being answered: it directly follows
-- it within five seconds, and is a forward, or the other is so long that Telegram may have split it. for_bot decides later.
create or replace function relay.follows(p_bot_id bigint, p_message jsonb) returns boolean
language sql stable set search_path = relay, extensions, pg_temp as $$
    select exists (
        select from generate_series(1, 2) as back, relay.queued_message(jsonb_build_object(
            'bot_id', p_bot_id, 'chat_id', p_message -> 'chat_id', 'topic_id', p_message -> 'topic_id',
            'user_id', p_message -> 'user_id',
            'telegram_message_id', (p_message ->> 'telegram_message_id')::bigint - back)) as queued
        where (p_message #>> '{payload,message,date}')::bigint - (queued.payload #>> '{message,date}')::bigint between 0 and 5
            and (p_message #> '{payload,message}' ?| '{forward_origin,forward_date}'
                or relay.utf16_length(queued.payload #>> '{message,text}') >= 4000))
$$;

-- Stores updates before Telegram is told that they arrived, once each however often they come, and claims what is due.
-- Commands and buttons are claimed at once, without waiting in a lane. For people without access only the update's
-- number is stored.
create or replace function public.relay_intake(
    p_bot_id bigint, p_worker uuid, p_updates jsonb, p_limit integer, p_lease_seconds integer,
    p_running jsonb default '[]') returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp
set plan_cache_mode = force_generic_plan as $$
declare
    given jsonb;
    one record;
    added integer;
    stored integer := 0;
    lane_of bigint;
    moved_to bigint;
    private_in bigint;
    control turn;
    controls jsonb := '[]';
    result jsonb;
begin
    if relay.may_change_people(p_updates) then
        perform relay.lock_people();  -- before any lane's lock, as decisions about people do
    end if;
    for given in select * from jsonb_array_elements(p_updates) loop
        select * into one from jsonb_to_record(relay.let_through(p_bot_id, given)) as u (
            update_id bigint, kind text, said boolean, chat_id bigint, topic_id bigint, user_id bigint, hold real,
            mergeable boolean, telegram_message_id bigint, payload jsonb, event text, redacted jsonb);
        lane_of := null;
        if one.said and one.chat_id < 0 then
            one.kind := relay.kind_in(
                case when one.kind = 'overheard' and relay.follows(p_bot_id, given) then 'turn' else one.kind end,
                relay.answers_in(one.chat_id, one.topic_id));
            if one.kind = 'ignored' then
                one.event := 'ignored';
                one.redacted := null;
                one.telegram_message_id := null;
            end if;
        end if;
        -- For old messages with buttons, Telegram omits the topic: their date is 0.
        if one.payload #>> '{callback_query,message,date}' = '0' then
            one.topic_id := coalesce(public.relay_topic_of(p_bot_id, one.chat_id,
                (one.payload #>> '{callback_query,message,message_id}')::bigint)::bigint, one.topic_id);
        end if;
        -- A group that has become a supergroup since takes no changes under its old messages, so nothing is done there.
        moved_to := case when one.payload ? 'callback_query'
            then relay.moved_to(p_bot_id, one.chat_id, one.payload #> '{callback_query,message}') end;
        if moved_to is not null then
            one.payload := jsonb_set(relay.in_chat(one.payload, moved_to), '{callback_query,data}', '"too old"');
            one.chat_id := moved_to;
        end if;
        if one.kind in ('turn', 'control') then
            lane_of := relay.ensure_lane(p_bot_id, one.chat_id, one.topic_id);
        end if;
        -- A person who writes can be reached again.
        perform relay.owe_reminders(split_part(key, ':', 1)::bigint, one.chat_id, split_part(key, ':', 3)::bigint) from job
        where kind = 'reminder' and parked_at is null and due_at = 'infinity' and lane_of is not null and one.chat_id > 0
            and key ~ format('^(0|%s):%s:', p_bot_id, one.chat_id);
        private_in := relay.off_record(one.chat_id, coalesce(one.topic_id, 0));
        insert into inbox (bot_id, update_id, lane_id, user_id, mergeable, status, payload, ready_at, session_id)
        values (p_bot_id, one.update_id, lane_of, one.user_id, coalesce(one.mergeable, false),
            case one.kind when 'turn' then 'pending' when 'control' then 'claimed' else 'ignored' end,
            case when one.kind in ('turn', 'control') then one.payload end,
            now() + make_interval(secs => coalesce(one.hold, 0)),
            case when one.kind in ('turn', 'control') then private_in end) on conflict do nothing;
        get diagnostics added = row_count;
        continue when added = 0;
        stored := stored + 1;
        -- Strangers' updates are not logged as events: the log would grow without bound.
        insert into event (kind, bot_id, update_id, user_id, payload)
        select coalesce(one.event, 'update'), p_bot_id, one.update_id, one.user_id,
            case when private_in is null then
                coalesce(one.redacted, case when one.kind <> 'ignored' then one.payload end) end
        where one.kind <> 'ignored' or one.event is not null;
        if one.telegram_message_id is not null then
            insert into posted (bot_id, chat_id, telegram_message_id, from_bot)
            values (p_bot_id, one.chat_id, one.telegram_message_id, false) on conflict do nothing;
        end if;
        if one.kind in ('turn', 'control') then
            perform relay.note_names(p_bot_id, one.chat_id, one.topic_id, one.payload -> 'message');
        end if;
        if one.kind = 'turn' then
            update lane set due_at = least(
                greatest(due_at, now() + make_interval(secs => coalesce(one.hold, 0))),
                -- Not before its turn among the waiting ones.
                greatest(least(due_at, now()),
                    (select min(received_at) from inbox where lane_id = lane_of and status = 'pending')
                        + interval '5 seconds')) where id = lane_of;
        elsif one.kind = 'control' then
            insert into turn (kind, bot_id, lane_id, user_id, lease_owner, lease_until)
            values ('control', p_bot_id, lane_of, one.user_id, p_worker, now() + make_interval(secs => p_lease_seconds))
            returning * into control;
            update inbox set turn_id = control.id where bot_id = p_bot_id and update_id = one.update_id;
            controls := controls || relay.turn_json(control);
        end if;
    end loop;
    result := public.relay_claim(p_bot_id, p_worker, p_limit, p_lease_seconds, p_running);
    return result || jsonb_build_object('stored', stored, 'turns', controls || (result -> 'turns'));
end $$;

-- Reduces a request to what is stored after its turn: without file contents (an export stored here would outlive its
-- source), an answer's spoken text (it is in the message), and invitation links (they grant access).
create or replace function relay.kept_request(p_request jsonb) returns jsonb
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select case when p_request ->> 'text' ~ '\?start=[A-Za-z0-9_-]{22}' then jsonb_set(kept, '{text}', to_jsonb(
            regexp_replace(p_request ->> 'text', '(\?start=)[A-Za-z0-9_-]{22}', '\1…', 'g'))) else kept end
    from (select p_request #- '{file,content}' #- '{say,text}' as kept) shorter
$$;

-- Ends a turn for good and lets its lane continue.
create or replace function relay.close_turn(p_turn_id bigint, p_status text, p_error text) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own_lane bigint;
begin
    update turn set status = p_status, error = coalesce(p_error, error), done_at = now(), lease_owner = null,
        lease_until = null where id = p_turn_id;
    -- It produced no message, so no erasure would find the files that it had begun to read.
    perform relay.let_files_go(array(
        select one #>> '{}' from inbox i, jsonb_path_query(i.payload, 'lax $.**.file_unique_id') as one
        where i.turn_id = p_turn_id))
    from turn where id = p_turn_id and kind = 'message' and user_message_id is null;
    update inbox set status = p_status, error = p_error,
        payload = case when p_status = 'failed' then payload end where turn_id = p_turn_id;
    update outbox set status = case when status in ('sent', 'failed') then status else 'failed' end,
        error = case when status in ('sent', 'failed') then error else coalesce(p_error, 'the turn ended first') end,
        sending_text = case when request ->> 'text' ~ '\?start=[A-Za-z0-9_-]{22}' then null else sending_text end,
        -- What /say speaks is in no message of its turn.
        request = relay.kept_request(request) || case when message_id is null and request ? 'say'
            then jsonb_build_object('say', request -> 'say') else '{}' end
    where turn_id = p_turn_id and (status not in ('sent', 'failed') or request <> relay.kept_request(request));
    -- It was off the record, in a session that has ended.
    perform relay.erase_private(s.id) from private_turn p join session s on s.id = p.session_id
    where p.id = p_turn_id and s.ended_at is not null;
    -- Lock first, so that the next statement sees what a concurrent intake stored.
    select id into own_lane from lane
    where id = (select lane_id from turn where id = p_turn_id) and open_turn_id = p_turn_id for no key update;
    update lane set open_turn_id = null,
        -- After a turn, a lane goes behind all due lanes, so that a flood in one blocks no other.
        due_at = (select greatest(max(u.ready_at), now()) from inbox u
            where u.lane_id = own_lane and u.status = 'pending' having count(*) > 0) where id = own_lane;
end $$;

-- Records a failed turn: retried after a pause, or set aside after p_most failures (or if it ended its process too often), so
-- that its lane continues. What it set is withdrawn then, and the messages p_say are queued. If it has several updates, it
-- first goes on with only the first (or its album), and the others get turns of their own: all but one may be harmless.
create or replace function public.relay_fail(
    p_turn_id bigint, p_fence bigint, p_error text, p_retry_seconds double precision, p_most integer,
    p_say jsonb default '[]') returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    held turn := relay.hold(p_turn_id, p_fence);
    first inbox := (select u from inbox u where turn_id = p_turn_id order by update_id limit 1);
    last constant boolean := held.failures + 1 >= p_most or held.killed >= 25;
begin
    insert into event (kind, space_id, turn_id, user_id, payload)
    select 'error', held.space_id, held.id, held.user_id, case when not exists (
        select from session where id = held.session_id and private) then jsonb_build_object('error', p_error) end;
    if last and held.status = 'working' then
        update inbox set status = 'pending', turn_id = null, mergeable = false
        where turn_id = held.id and update_id > first.update_id
            and (payload #> '{message,media_group_id}' = first.payload #> '{message,media_group_id}') is not true;
    end if;
    if last and not (held.status = 'working' and found) then
        perform relay.withdraw_set(held, '[]', true) where held.status = 'working';
        update turn set failures = failures + 1, prompt = prompt - 'former' where id = held.id;
        perform relay.close_turn(held.id, 'failed', p_error);
        perform public.relay_enqueue(held.bot_id, p_say);
        return jsonb_build_object('set_aside', true);
    end if;
    update inbox set mergeable = false where turn_id = held.id and last;
    update turn set failures = failures + (not last)::integer, killed = least(killed, 20), error = p_error, lease_owner = null,
        lease_until = null, fence = fence + 1, not_before = now() + make_interval(secs => p_retry_seconds) where id = held.id;
    return jsonb_build_object('set_aside', false);
end $$;

-- Lets pending updates join a running turn that has not answered yet (a forward that arrives after its comment). Only
-- parts of an album overtake a command or another person's message, and nothing joins a command.
create or replace function public.relay_absorb(p_turn_id bigint, p_fence bigint) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    held turn := relay.hold(p_turn_id, p_fence);
    border bigint;
begin
    if held.status = 'working' and not exists (select from inbox where turn_id = held.id and not mergeable) then
        select min(update_id) into border from inbox
        where lane_id = held.lane_id and status = 'pending'
            and not (mergeable and user_id is not distinct from held.user_id
                and session_id is not distinct from (select max(session_id) from inbox where turn_id = held.id));
        update inbox set turn_id = held.id, status = 'claimed'
        where lane_id = held.lane_id and status = 'pending' and (border is null or update_id < border);
    end if;
    perform relay.claim_albums(held) where held.status = 'working';
    return relay.turn_json(held);
end $$;

-- Leases: a process keeps its work by renewing every few seconds; another process takes over a dead one's.

-- Renews the leases of a worker's turns. Returns the ids that it has lost: to another worker, or to the queue.
create or replace function relay.renew(p_worker uuid, p_turns jsonb, p_lease_seconds integer) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    with renewed as (
        update turn set lease_until = now() + make_interval(secs => p_lease_seconds)
        where id in (select id from turn where id = any (array(select jsonb_array_elements_text(p_turns)::bigint))
                and lease_owner = p_worker and status in ('working', 'answered')
                and (lease_until < now() + make_interval(secs => p_lease_seconds * 0.8)
                    or lease_until > now() + interval '15 minutes') order by id for update skip locked))
    select coalesce(jsonb_agg(id), '[]') from turn
    where id = any (array(select jsonb_array_elements_text(p_turns)::bigint))
        and lease_owner is distinct from p_worker and status in ('working', 'answered')
$$;

-- Renews a worker's polling lease for a bot. Returns whether it polls; null if nobody does.
create or replace function relay.renew_polling(p_bot_id bigint, p_worker uuid, p_lease_seconds integer) returns boolean
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    polling duty;
begin
    select * into polling from duty where name = 'poll:' || p_bot_id;
    if polling.lease_owner = p_worker and polling.lease_until
        not between now() + make_interval(secs => p_lease_seconds * 0.8) and now() + interval '15 minutes'
    then
        update duty set lease_until = now() + make_interval(secs => p_lease_seconds)
        where name = polling.name and lease_owner = p_worker returning * into polling;
        -- Another process may have taken it meanwhile.
        if not found then
            select * into polling from duty where name = 'poll:' || p_bot_id;
        end if;
    end if;
    return case when polling.lease_until between now() and now() + interval '15 minutes'
        then polling.lease_owner = p_worker end;
end $$;

-- Renews a worker's presence, a duty of its own, also while it is idle.
create or replace function relay.keep_serving(p_worker uuid, p_lease_seconds integer) returns void
language sql set search_path = relay, extensions, pg_temp as $$
    insert into duty (name, lease_owner, lease_until)
    select 'serve:' || p_worker, p_worker, now() + make_interval(secs => p_lease_seconds)
    where not exists (select from duty where name = 'serve:' || p_worker
            and lease_until between now() + make_interval(secs => p_lease_seconds * 0.8) and now() + interval '15 minutes')
    on conflict (name) do update set lease_owner = excluded.lease_owner, lease_until = excluded.lease_until
$$;

-- Starts a worker: releases what a dead process of the same name held. A message may be what ends the process each time, or
-- just be there when somebody kills it, so its turn notes (killed) 5 for each death with it, and 4 less for each without it.
-- From 10 on, it waits, runs with no other such turn, and notes only deaths when the process held nothing else; with 25, it is
-- not run again but set aside (see relay_fail).
create or replace function public.relay_start(p_worker uuid) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    alone constant boolean := 1 = (select count(*) from turn where lease_owner = p_worker and status in ('working', 'answered'));
begin
    perform relay.require_kept();
    update turn set killed = case when lease_owner is null then greatest(killed - 4, 0)
            when alone or killed < 10 then killed + 5 else killed end,
        not_before = case when lease_owner = p_worker and killed between 5 and 19 then now() + interval '30 seconds' else not_before end
    where status in ('working', 'answered') and (lease_owner = p_worker or lease_owner is null and killed > 0);
    return public.relay_release(p_worker);
end $$;

-- Releases everything a worker holds, as at its stop. Deletes its presence and that of dead workers.
create or replace function public.relay_release(p_worker uuid) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    freed integer;
begin
    update turn set lease_owner = null, lease_until = null, fence = fence + 1
    where status in ('working', 'answered') and lease_owner = p_worker;
    get diagnostics freed = row_count;
    update job set lease_owner = null, lease_until = null, fence = fence + 1 where lease_owner = p_worker;
    delete from duty where name = 'serve:' || p_worker;
    delete from duty where name in (select name from duty
        where name like 'serve:%' and (lease_until between now() and now() + interval '15 minutes') is not true
        for update skip locked);
    update duty set lease_owner = null, lease_until = null where lease_owner = p_worker;
    return to_jsonb(freed);
end $$;

-- Returns the kinds of jobs with unclaimed due work. Messages wait for the index in a queue of their own: a job for that
-- would be one row that every turn locks.
create or replace function relay.jobs_owed(p_bot_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select to_jsonb(relay.kinds_owed(p_bot_id)
        || case when exists (select from entry_due) then array['index'] else '{}' end)
$$;

-- Returns which turns someone wants stopped.
create or replace function relay.stopped(p_turns jsonb) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_agg(id), '[]') from turn
    where id = any (array(select jsonb_array_elements_text(p_turns)::bigint)) and stop_asked
$$;

-- Stops the answer in progress in a lane, or turn p_turn_id of that chat; its process learns of it at its next claim.
-- Returns whether there is one.
create or replace function public.relay_ask_stop(
    p_bot_id bigint, p_chat_id bigint, p_topic_id bigint, p_turn_id bigint) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    update turn t set stop_asked = true from lane l
    where l.bot_id = p_bot_id and l.chat_id = p_chat_id and l.open_turn_id = t.id
        and case when p_turn_id is null then l.topic_id = p_topic_id else t.id = p_turn_id end
        and t.status in ('working', 'answered') and not t.stop_asked returning to_jsonb(true)
$$;
