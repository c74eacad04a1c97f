-- Nightly work: the nights, the results of their phases, and the spaces to process.

-- Returns goals whose date has passed, except pinned ones and those that a person decided to keep.
create or replace function relay.past_goals() returns setof relay.memory
language sql stable set search_path = relay, extensions, pg_temp as $$
    select m.* from memory m
    where m.status = 'active' and m.kind = 'goal' and m.valid_until < now() and not m.pinned
        and not exists (select from goal_left l where l.memory_id = m.id and l.valid_until = m.valid_until)
$$;

-- Returns spaces with something new between the last night's p_after_message/p_after_memory and p_message/p_memory:
-- messages, memories, or goals whose date has passed.
create or replace function relay.awake(p_after_message bigint, p_message bigint, p_after_memory bigint, p_memory bigint)
returns setof bigint language sql stable set search_path = relay, extensions, pg_temp as $$
    -- By space and thread, the last row of each along an index: for the first night, that is all of them.
    select s.id from space s
    where relay.remembers(s.id) and (
        exists (select from thread t where t.space_id = s.id and (
            select id from message where thread_id = t.id and id <= p_message and started_by is null
            order by id desc limit 1) > p_after_message)
        or (select id from memory where space_id = s.id and id <= p_memory order by id desc limit 1) > p_after_memory
        or s.id in (select space_id from relay.past_goals()))
$$;

-- Returns the range of a space's memories that is new: as the open night recorded, else since the last night.
create or replace function relay.new_memories(p_space_id bigint)
returns table (after_memory bigint, through_memory bigint)
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(d.after_memory, (select through_memory from night order by id desc limit 1), 0),
        coalesce(d.through_memory, (select max(id) from memory), 0)
    from (select) always left join sleep_due d on d.space_id = p_space_id
$$;

-- Previews a night. `awake`: the first hundred spaces with something new.
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
        'digests', (select count(*) from digest where space_id = any (spaces) and at_time is null),
        'goals', (select count(*) from relay.past_goals()),
        'summaries', (select count(*) from job where kind = 'summary' and parked_at is null));
end $$;

-- Returns a night.
create or replace function public.relay_night(p_night_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select to_jsonb(n) from night n where id = p_night_id
$$;

-- Begins a night, or continues the unfinished one unless it is too old, and returns its row. Includes what earlier
-- nights left undone. A question unanswered for a week is settled: nothing changes. Preferences that nothing confirmed
-- for 180 days are put away.
create or replace function public.relay_begin_night() returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    last night;
    made night;
begin
    perform pg_advisory_xact_lock(hashtext('relay.night'));
    select * into made from night where ended_at is null and begun_at > now() - interval '20 hours' order by id desc limit 1;
    if found then
        return to_jsonb(made);
    end if;
    perform public.relay_settle_consolidation(id, false) from consolidation where asked_at < now() - interval '7 days';
    perform relay.put_preferences_away();
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

-- Records the result of a phase.
create or replace function public.relay_end_phase(p_night_id bigint, p_phase text, p_told jsonb) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    update night set phases = phases || jsonb_build_object(p_phase, p_told) where id = p_night_id returning to_jsonb(night)
$$;

-- Ends a night. Spaces that could not be processed stay for the next.
create or replace function public.relay_end_night(p_night_id bigint) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    delete from sleep_due d where consolidated and after_memory >= through_memory and (digested or not exists (
        select from digest where space_id = d.space_id and at_time is null));
    update night set ended_at = now() where id = p_night_id returning to_jsonb(night)
$$;

-- Returns the spaces that a phase still has to process, up to 100 after p_after: descriptor, count of active memories,
-- and where the digest goes. No consolidation while a question to a person is open.
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
                else not d.digested and g.space_id is not null and g.at_time is null end
        order by d.space_id limit 100) one
$$;

-- Gathers planner statistics for the next table after p_after (null: the first): returns its name; null after the last.
-- Only a table's owner may; Supabase has its own jobs for this. Samples 9,000 rows (300 times the target) of any table.
create or replace function public.relay_statistics(p_after text) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp set default_statistics_target = 30 as $$
declare
    next_one text := (
        select min(relname) from pg_class
        where relnamespace = 'relay'::regnamespace and relkind = 'r' and pg_has_role(relowner, 'usage')
            and relname > coalesce(p_after, '')
            and relname in ('compression', 'document_part', 'entry', 'event', 'keepit', 'memory', 'message', 'posted',
                'session', 'summary', 'thread'));
begin
    if next_one is not null then
        execute format('analyze relay.%I', next_one);
    end if;
    return to_jsonb(next_one);
end $$;

-- Digests: where they go, what a day contained, and sending each once.

-- Sets where a space's digests go, or stops them (p_where null): {user_id, chat_id, topic_id}, and for a morning time of
-- its own {at_time, zone, bot_id, next_at}. Returns whether they are on.
create or replace function public.relay_want_digest(p_space jsonb, p_where jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own bigint := relay.ensure_space(p_space);
begin
    if p_where is null then
        delete from digest where space_id = own;
    else
        insert into digest as d (space_id, user_id, chat_id, topic_id, at_time, zone, bot_id, next_at)
        select own, w.user_id, w.chat_id, w.topic_id, w.at_time, coalesce(w.zone, ''), coalesce(w.bot_id, 0), w.next_at
        from jsonb_to_record(p_where) as w (user_id bigint, chat_id bigint, topic_id bigint, at_time time, zone text,
            bot_id bigint, next_at timestamptz)
        on conflict (space_id) do update set user_id = excluded.user_id, chat_id = excluded.chat_id,
            topic_id = excluded.topic_id, at_time = excluded.at_time, zone = excluded.zone, bot_id = excluded.bot_id,
            next_at = excluded.next_at, wanted_at = now();
    end if;
    perform relay.owe_digest(own);
    return to_jsonb(p_where is not null);
end $$;

-- Owes the next digest of a space that has a morning time, or none.
create or replace function relay.owe_digest(p_space_id bigint) returns void
language sql set search_path = relay, extensions, pg_temp as $$
    select relay.owe_next('digest', p_space_id::text, d.bot_id, d.next_at)
    from (select) always left join digest d on d.space_id = p_space_id and d.at_time is not null
$$;

-- Moves a person's morning digest, heartbeat and proposals for the soul to another time zone: their hours are local.
create or replace function public.relay_move_to_zone(p_user_id bigint, p_zone text) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own constant bigint := relay.find_space(jsonb_build_object('kind', 'private', 'owner_id', p_user_id));
begin
    update heartbeat set zone = p_zone where space_id = own;
    update soul_growth set zone = p_zone where space_id = own;
    update digest set zone = p_zone, next_at = (
        select min(at) from (
            select ((now() at time zone p_zone)::date + day + at_time) at time zone p_zone as at
            from generate_series(0, 1) day) as mornings
        where at > now())
    where space_id = own and at_time is not null;
    perform relay.owe_digest(own);
    return 'true';
end $$;

-- Returns where a space's digests go: {user_id, chat_id, topic_id, wanted_at}; null: nowhere.
create or replace function public.relay_digest_wanted(p_space jsonb) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select to_jsonb(d) from digest d where space_id = relay.find_space(p_space)
$$;

-- Returns a digest's material: the last 200 messages of the last p_hours after a given message, with conversation
-- titles, except from threads that teach nothing and private sessions; what was learned from these (or within a day, from
-- no message); and the preferences that were put away.
create or replace function relay.day_of(p_space_id bigint, p_after bigint, p_through bigint, p_hours integer) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('space_id', p_space_id, 'put_away', relay.put_away(p_space_id),
        'messages', (select coalesce(jsonb_agg(to_jsonb(m) order by m.id), '[]') from (
            select m.id, m.role, m.user_id, coalesce(p.name, m.name) as name, p.mark, left(m.text, 1000) as text,
                m.untrusted, s.title, m.created_at as at
            from thread t
            join message m on m.thread_id = t.id and m.id > p_after and m.id <= p_through
            join session s on s.id = m.session_id
            left join relay.people_in(p_space_id) p on p.user_id = m.user_id
            where t.space_id = p_space_id and m.space_id = p_space_id and m.status <> 'replaced'
                and m.created_at > now() - make_interval(hours => p_hours) and m.teaches and relay.teaches(m.session_id)
            order by m.id desc limit 200) m),
        'learned', (select coalesce(jsonb_agg(to_jsonb(k) order by k.id), '[]') from (
            select id, content, subject from memory
            where space_id = p_space_id and status = 'active' and created_at > now() - make_interval(hours => p_hours)
                and coalesce(source_message_id between p_after + 1 and p_through, created_at > now() - interval '1 day')
            order by id desc limit 30) k))
$$;

-- Returns the material of a due digest, with what the night did to versions of old conversations.
create or replace function public.relay_digest_due(p_space_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select relay.day_of(space_id, after_message, through_message, 36)
        || jsonb_build_object('decay', relay.decay_told(space_id, night_id))
    from sleep_due where space_id = p_space_id and not digested
$$;

-- Returns the material of a digest of the last day, on request.
create or replace function public.relay_digest_now(p_space jsonb) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select relay.day_of(relay.find_space(p_space), 0, 9223372036854775807, 24)
$$;

-- Queues a digest, once for the time it is for: {text, plain, inputs, dropped_version}. See relay.say_first.
create or replace function relay.say_digest(p_place relay.digest, p_bot_id bigint, p_notice jsonb, p_at timestamptz)
returns void language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    made_from constant text[] := array(select jsonb_array_elements_text(p_notice -> 'inputs'));
begin
    perform relay.say_first(p_bot_id, p_place.chat_id, p_place.topic_id, p_place.user_id, p_place.space_id,
        p_notice - 'inputs', made_from, format('digest %s %s', p_place.space_id, p_at), 'digest',
        relay.rests_on_others(made_from));
    update preference set untold = false where space_id = p_place.space_id and untold;
end $$;

-- Stores a digest (null: nothing to say) and queues it once, whatever happens. It replaces one that was not sent
-- because it was quiet. Returns whether it was queued.
create or replace function public.relay_post_digest(p_space_id bigint, p_bot_id bigint, p_notice jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    place digest;
begin
    update sleep_due set digested = true, after_message = through_message where space_id = p_space_id and not digested;
    if not found then
        return 'false';
    end if;
    select * into place from digest where space_id = p_space_id;
    if p_notice is not null and place.space_id is not null then
        with unsent as (
            delete from outbox where space_id = p_space_id and status = 'queued' and turn_id is null
                and dedupe_key like 'digest %' returning message_id)
        update message set status = 'replaced' where id in (select message_id from unsent);
        perform relay.say_digest(place, p_bot_id, p_notice, now());
    end if;
    return to_jsonb(p_notice is not null and place.space_id is not null);
end $$;

-- Returns what a held morning digest is made of. Null if the process lost it, or it is off.
create or replace function public.relay_morning_work(p_job_id bigint, p_fence bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    with held as (
        select d.*, s.quiet_until from job j join digest d on d.space_id = j.key::bigint join space s on s.id = d.space_id
        where j.id = p_job_id and j.fence = p_fence and d.at_time is not null),
    newest as (select max(m.id) as id from held h join message m on m.space_id = h.space_id)
    select jsonb_build_object('now', now(), 'quiet', coalesce(h.quiet_until > now(), false), 'digest', to_jsonb(h),
        'day', case when relay.remembers(h.space_id) then relay.day_of(h.space_id, h.through_message,
            coalesce(n.id, 0), case h.through_message when 0 then 24 else 48 end) || jsonb_build_object('decay',
            relay.decay_told(h.space_id, (select max(id) from night where ended_at > now() - interval '1 day')))
            else '{"space_id": null}' end,
        'reminders', (select coalesce(jsonb_agg(relay.reminder_json(r) order by r.next_at, r.id), '[]') from (
            select * from reminder where space_id = h.space_id and status = 'active'
                and next_at between now() - interval '1 day' and now() + interval '1 day'
            order by next_at, id limit 20) r),
        'through_message', coalesce(n.id, 0))
    from held h cross join newest n
$$;

-- Queues a held morning digest (p_notice null: nothing to say), and owes the next one. p_through: the last message that
-- it covers; null: none. Returns whether it was queued. Null if the process lost it.
create or replace function public.relay_post_morning(
    p_job_id bigint, p_fence bigint, p_bot_id bigint, p_notice jsonb, p_through bigint, p_next_at timestamptz)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    held job := relay.hold_job(p_job_id, p_fence);
    place digest;
begin
    if held.id is null then
        return null;
    end if;
    select * into place from digest where space_id = held.key::bigint and at_time is not null for update;
    if p_notice is not null and place.space_id is not null then
        perform relay.say_digest(place, p_bot_id, p_notice, place.next_at);
    end if;
    update digest set through_message = coalesce(p_through, through_message), next_at = p_next_at
    where space_id = place.space_id;
    delete from job where id = held.id;
    perform relay.owe_digest(held.key::bigint);
    return to_jsonb(p_notice is not null and place.space_id is not null);
end $$;

-- Daily cleanup.

-- Deletes rows kept only to recognize repeats: done updates after some days, events of unanswered updates, answers'
-- earlier versions after two days, and failed jobs after thirty. Returns how many rows; if p_limit was reached, more
-- may be left. Counts sessions that nobody's list has counted, as after an import.
create or replace function public.relay_tidy(p_days integer, p_limit integer) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    dropped integer;
    forgotten integer;
begin
    delete from inbox where (bot_id, update_id) in (
        select bot_id, update_id from inbox
        where status in ('done', 'ignored') and received_at < now() - make_interval(days => p_days)
            and not exists (select from session s where s.id = inbox.session_id and s.erased_at is null)
        order by received_at limit p_limit);
    get diagnostics dropped = row_count;
    delete from event where id in (
        select id from event where kind = 'ignored' and at < now() - make_interval(days => p_days)
        order by at limit p_limit);
    get diagnostics forgotten = row_count;
    delete from announcement a using turn t
    where a.status <> 'due' and t.id = a.turn_id and t.done_at < now() - interval '2 days';
    delete from job where parked_at < now() - interval '30 days';
    delete from api_request where at < now() - interval '1 day';
    perform relay.delete_dropped_versions(p_limit);
    delete from composition where deleted_at is not null and relay.active_uses(id) = 0;
    perform relay.count_sessions(array(
        select distinct thread_id from session s
        where not exists (select from session_count c where c.session_id = s.id) limit 1000));
    perform relay.refold(space_id, user_id, thread_id, type, pattern) from (
        select distinct space_id, user_id, thread_id, type, pattern from preference
        where fold_version <> relay.fold_version() and observations > 0 limit p_limit) stale;
    return to_jsonb(dropped + forgotten);
end $$;

-- Deletes records older than p_days: prompt contents of finished turns, what their answers announced, sent texts,
-- updates set aside, and usage (kept for at least 100 days: /usage covers 90). Keeps messages, memories and their
-- changes, events, message ids in chats, and whatever later turns, erasures, buttons and open questions need. Returns
-- how many rows; if p_limit was reached, more may be left.
create or replace function public.relay_drop_records(p_days integer, p_limit integer) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    old bigint[] := array(
        select id from turn
        where not dropped and done_at is not null and done_at < now() - make_interval(days => p_days)
        order by done_at limit p_limit);
    spent integer;
    aside integer;
begin
    update outbox set request = (request - 'entities') || '{"text": ""}', sending_text = null
    where turn_id = any (old) and (request ->> 'text' <> '' or sending_text is not null)
        and request #> '{reply_markup,force_reply}' is null;
    update turn set dropped = true,
        prompt = case kind when 'control' then prompt else jsonb_strip_nulls(jsonb_build_object(
            'wording', prompt -> 'wording', 'reply_to', prompt -> 'reply_to', 'inputs', prompt -> 'inputs')
            || coalesce(relay.lent_only(prompt), '{}')) end,
        told = nullif(jsonb_strip_nulls(jsonb_build_object(
            'resting', nullif(told -> 'resting', 'false'), 'tools', nullif(told -> 'tools', '[]'))), '{}')
    where id = any (old);
    delete from spend where id in (
        select id from spend where at < now() - make_interval(days => greatest(p_days, 100)) order by at limit p_limit);
    get diagnostics spent = row_count;
    update inbox set payload = null where (bot_id, update_id) in (
        select bot_id, update_id from inbox
        where status = 'failed' and payload is not null and received_at < now() - make_interval(days => p_days)
        order by received_at limit p_limit);
    get diagnostics aside = row_count;
    return to_jsonb(cardinality(old) + spent + aside);
end $$;

-- Duties: work that one process does at a time under a lease, such as polling for a bot, and presence (see queue.sql).

-- Takes or renews a duty for a worker. Returns whether it has it. Ignores leases too far ahead to be real.
create or replace function public.relay_hold_duty(p_name text, p_worker uuid, p_lease_seconds integer) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    insert into duty as d (name, lease_owner, lease_until)
    values (p_name, p_worker, now() + make_interval(secs => p_lease_seconds))
    on conflict (name) do update set lease_owner = excluded.lease_owner, lease_until = excluded.lease_until
        where d.lease_owner is null or d.lease_owner = p_worker or d.lease_until is null or d.lease_until <= now()
            or d.lease_until > now() + make_interval(secs => 2 * p_lease_seconds)
    returning to_jsonb(true)
$$;

-- Returns a duty. Returns whether the worker had it.
create or replace function public.relay_free_duty(p_name text, p_worker uuid) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    update duty set lease_owner = null, lease_until = null where name = p_name and lease_owner = p_worker
    returning to_jsonb(true)
$$;

-- Records that a bot's process started or is stopping.
create or replace function public.relay_note_run(p_kind text, p_bot_id bigint, p_payload jsonb) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    insert into event (kind, bot_id, payload)
    select p_kind, p_bot_id, p_payload where p_kind in ('started', 'stopped')
    returning to_jsonb(true)
$$;
