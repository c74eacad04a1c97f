-- The outbox: messages that answer no update wait here until due. Each then gets its own turn, so it is leased, sent
-- once, erased and moved like a reply.

-- Tests by its key whether a message speaks first: nobody asked for it now, so /quiet holds it back.
create or replace function relay.speaks_first(p_key text) returns boolean
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select coalesce(p_key ~ '^(reminder|heartbeat|digest|idea|consolidation) ', false)
$$;

-- Queues messages for a bot's chats, each once per key (null: always): [{chat_id, topic_id, user_id, space_id, payload,
-- inputs, key, not_before}]. payload: {text (Markdown), rows (buttons), sound}. Sent only while user_id may use the
-- bot. inputs: what it was made from, so that erasing finds it. What speaks first waits until its space is no longer
-- quiet. Returns how many are new.
create or replace function public.relay_enqueue(p_bot_id bigint, p_messages jsonb) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    with added as (
        insert into outbox (seq, bot_id, chat_id, topic_id, user_id, space_id, request, inputs, dedupe_key, not_before,
            status)
        select 1, p_bot_id, m.chat_id, coalesce(m.topic_id, 0), m.user_id, m.space_id, m.payload, m.inputs, m.key,
            greatest(coalesce(m.not_before, now()), (
                select s.quiet_until from space s where s.id = m.space_id and relay.speaks_first(m.key))), 'queued'
        from jsonb_to_recordset(p_messages) as m (chat_id bigint, topic_id bigint, user_id bigint, space_id bigint,
            payload jsonb, inputs jsonb, key text, not_before timestamptz)
        on conflict (bot_id, dedupe_key) where dedupe_key is not null do nothing returning 1)
    select to_jsonb(count(*)) from added
$$;

-- Opens turns for due messages: the first of each chat and topic that is sending none. A message without a later time
-- is due when it was queued, even if the clock was ahead then and has been set back.
create or replace function relay.open_messages(
    p_bot_id bigint, p_worker uuid, p_limit integer, p_lease_seconds integer)
returns setof relay.turn language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    one outbox;
    opened turn;
    quiet timestamptz;
begin
    for one in
        select * from outbox o
        where bot_id = p_bot_id and status = 'queued' and turn_id is null and not_before <= greatest(now(), created_at)
            and not exists (select from turn where id = o.under_turn_id and status not in ('done', 'failed'))
            and not exists (select from outbox e
                where e.bot_id = o.bot_id and e.chat_id = o.chat_id and e.topic_id = o.topic_id and e.status = 'queued'
                    and e.turn_id is null and (e.not_before, e.id) < (o.not_before, o.id)
                    and not exists (select from turn where id = e.under_turn_id and status not in ('done', 'failed')))
            and not exists (select from turn t join outbox s on s.turn_id = t.id and s.not_before is not null
                where t.bot_id = o.bot_id and t.status in ('working', 'answered')
                    and s.chat_id = o.chat_id and s.topic_id = o.topic_id)
        order by not_before, id limit p_limit for update skip locked
    loop
        if relay.speaks_first(one.dedupe_key) then  -- /quiet may have passed over it meanwhile
            select quiet_until into quiet from space where id = one.space_id for key share;
            if quiet > now() then
                update outbox set not_before = quiet where id = one.id;
                continue;
            end if;
        end if;
        insert into turn (kind, bot_id, lane_id, user_id, space_id, prompt, lease_owner, lease_until)
        values ('control', p_bot_id, relay.ensure_lane(p_bot_id, one.chat_id, one.topic_id), one.user_id, one.space_id,
            case when one.inputs is not null then jsonb_build_object('inputs', one.inputs) end,
            p_worker, now() + make_interval(secs => p_lease_seconds)) returning * into opened;
        update outbox set turn_id = opened.id where id = one.id;
        return next opened;
    end loop;
end $$;

-- Returns the queued message that a turn sends: {chat_id, topic_id, under_turn_id, text, rows, sound, reply_to,
-- consolidation_id, composition, version: what became of it, topic_name: what to name the topic, unless the person has
-- named it meanwhile}; null for other turns.
create or replace function relay.message_of(p_turn_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select case status when 'queued' then request else '{}' end || jsonb_build_object(
        'chat_id', chat_id, 'topic_id', topic_id, 'under_turn_id', under_turn_id,
        'composition', relay.composition_json((request ->> 'composition_id')::bigint),
        'version', (select relay.version_json(c) from compression c
            where id = (request ->> 'version_id')::bigint and c.status in ('ready', 'failed')),
        'topic_name', (select s.title from session s join topic t on t.bot_id = o.bot_id and t.chat_id = o.chat_id
                and t.topic_id = o.topic_id and t.implicit where s.id = (request ->> 'names_after')::bigint))
    from outbox o where turn_id = p_turn_id and not_before is not null
$$;

-- Announcements: what was learned after an answer was sent is added to the line under it.

-- Queues an announcement of a turn's changes, unless one is queued.
create or replace function relay.announce(p_turn relay.turn, p_changes bigint[]) returns void
language sql set search_path = relay, extensions, pg_temp as $$
    insert into announcement as a (turn_id, bot_id, changes)
    select p_turn.id, p_turn.bot_id, p_changes where cardinality(p_changes) > 0
    on conflict (turn_id) do update set status = 'due', changes = a.changes || (
        select coalesce(array_agg(one order by one), '{}') from unnest(excluded.changes) as one where one <> all (a.changes));
    insert into outbox (seq, bot_id, chat_id, topic_id, user_id, space_id, request, status, not_before, under_turn_id)
    select 1, p_turn.bot_id, h.chat_id, h.topic_id, p_turn.user_id, p_turn.space_id, '{}', 'queued', now(), p_turn.id
    from thread h where h.id = p_turn.thread_id
        and exists (select from announcement where turn_id = p_turn.id and status = 'due')
        and not exists (select from outbox where under_turn_id = p_turn.id and status = 'queued' and turn_id is null
                and not request ? 'corrects')
$$;

-- Queues the correction of the line under a turn's messages, unless it is queued.
create or replace function relay.owe_correction(p_turn_id bigint) returns void
language sql set search_path = relay, extensions, pg_temp as $$
    insert into outbox (seq, bot_id, chat_id, topic_id, user_id, space_id, request, status, not_before, under_turn_id)
    select 1, t.bot_id, l.chat_id, l.topic_id, t.user_id, t.space_id, '{"corrects": true}', 'queued', now(), t.id
    from turn t join lane l on l.id = t.lane_id
    where t.id = p_turn_id and t.bot_id <> 0 and not exists (select from outbox
        where under_turn_id = t.id and status = 'queued' and turn_id is null and request ? 'corrects')
$$;

-- Returns what has become of what the line under a turn's messages says, and these messages, its own and separate
-- announcements: {turn_id, owner_id, changes, reminders (said: the texts that each had), answered (ids of the questions that
-- it asked), kept and preferences (null: it said nothing of them), messages: [{chat_id, message_id, request}]}. Leaves out
-- what another answer takes over.
create or replace function public.relay_shown_changes(p_turn_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('turn_id', t.id, 'owner_id', s.owner_id, 'changes', relay.changes_of(t.id),
        'reminders', (
            select coalesce(jsonb_agg(relay.reminder_json(r) || jsonb_build_object(
                'said', coalesce(one -> 'said', '[]') || (one -> 'text'))), '[]')
            from jsonb_array_elements(t.told -> 'reminders') one join reminder r on r.id = (one ->> 'id')::bigint),
        'answered', array(
            select e.reminder_id from outbox o join reminder_event e on e.outbox_id = o.id and e.kind = 'fired'
            join reminder r on r.id = e.reminder_id and r.kind = 'ask'
            where o.turn_id = t.id and exists (
                select from reminder_event where reminder_id = r.id and kind = 'done' and id > e.id)),
        'kept', case when t.told ? 'kept' then coalesce(relay.kept_by(t) -> 'kept', '[]') end,
        'preferences', case when t.told -> 'acting' <> '[]' then (
            select coalesce(jsonb_agg(relay.preference_json(p) order by p.strength desc, p.id), '[]')
            from preference_decision d join preference p using (space_id, user_id, type, pattern, polarity)
            where d.turn_id = t.id and d.action = 'told' and not exists (select from preference_decision f
                where f.action = 'forget' and f.at > d.at
                    and (f.space_id, f.user_id, f.type, f.pattern) = (d.space_id, d.user_id, d.type, d.pattern))) end,
        'messages', (
        select coalesce(jsonb_agg(jsonb_build_object(
            'chat_id', d.chat_id, 'message_id', d.telegram_message_id, 'request', d.request) order by d.id), '[]')
        from outbox d join posted p on p.bot_id = d.bot_id and p.chat_id = d.chat_id
            and p.telegram_message_id = d.telegram_message_id and p.turn_id = d.turn_id and p.from_bot
        where (d.turn_id = t.id or d.under_turn_id = t.id) and d.bot_id = t.bot_id and d.status = 'sent'
            and d.request ?& '{text,reply_markup}'
            and not exists (select from message where id = t.assistant_message_id and status = 'replaced')))
    from turn t left join space s on s.id = t.space_id where t.id = p_turn_id
$$;

-- Returns what to announce under a turn's answer: the message as it is now (shown; null if there is none), as first
-- sent (before), whether it has a ◆, all changes of the turn, and the new ones. Null if there is nothing.
create or replace function public.relay_announcement(p_turn_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('turn_id', t.id, 'tells', a.changes, 'changes', relay.changes_of(t.id), 'told', t.told,
        'keeps', relay.can_be_kept(t), 'chat_id', h.chat_id, 'topic_id', h.topic_id,
        'private', s.kind = 'private' or h.chat_id > 0, 'owner_id', s.owner_id, 'shown', d.shown,
        'before', coalesce(a.before, d.shown -> 'request'))
    from announcement a join turn t on t.id = a.turn_id join thread h on h.id = t.thread_id join space s on s.id = t.space_id
    left join lateral (
        select jsonb_build_object('seq', seq, 'message_id', telegram_message_id, 'request', request) as shown
        from outbox where turn_id = t.id and not t.dropped and status = 'sent' and telegram_message_id is not null
            and request ? 'text'
            and echo_of is null and not request ? 'say' and chat_id = h.chat_id and seq <= 1000000
        order by seq desc limit 1) d on true
    where a.turn_id = p_turn_id and t.bot_id = a.bot_id
$$;

-- Records an announcement: message p_seq now shows p_request (null: there was nothing to announce). If an erasure has
-- overtaken the edit, or is about to edit the message, the announcement stays due until then (see relay_retracted).
create or replace function public.relay_announced(p_turn_id bigint, p_seq integer, p_request jsonb) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    -- In the order in which an erasure locks them.
    select from turn where id = p_turn_id for no key update;
    select from outbox where turn_id = p_turn_id and seq = p_seq for no key update;
    update announcement a set
        before = coalesce(a.before, (select request from outbox where turn_id = p_turn_id and seq = p_seq)),
        status = case when exists (
            select from outbox d where d.turn_id = p_turn_id and d.seq = p_seq and (d.sending_text = '' or exists (
                select from retraction r where r.bot_id = d.bot_id and r.chat_id = d.chat_id
                    and r.telegram_message_id = d.telegram_message_id))) then 'due' else 'done' end
    where turn_id = p_turn_id;
    select relay.redraw(id, p_request) from outbox
    where turn_id = p_turn_id and seq = p_seq and p_request is not null;
    select 'true'::jsonb
$$;

-- Stores changes that turn p_turn_id announces in a message of its own; they are announced only there.
create or replace function public.relay_announce_anew(
    p_turn_id bigint, p_fence bigint, p_chat_id bigint, p_request jsonb, p_changes jsonb)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    held turn := relay.hold(p_turn_id, p_fence);
    under bigint;
begin
    update outbox set status = 'waiting', chat_id = p_chat_id, request = p_request
    where turn_id = held.id and status = 'queued' returning under_turn_id into under;
    update turn set status = 'answered', answered_at = now() where id = held.id;
    update announcement set status = 'anew', changes = array(
        select one from unnest(changes) with ordinality as c (one, place)
        where one <> all (array(select jsonb_array_elements_text(p_changes)::bigint)) order by place)
    where turn_id = under;
    return 'true';
end $$;
