-- What was learned after its answer was sent is told in the one line under that answer, once.

-- Leases what is to be told in a bot's chats: the message under which it is told as it stands (shown; null: there is none
-- any more), as it was first sent (before), whether it has a ◆, all changes of its turn, and which of them are told.
create or replace function public.relay_claim_announcements(
    p_bot_id bigint, p_worker uuid, p_limit integer, p_lease_seconds integer)
returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    with claimed as (
        update announcement set lease_owner = p_worker, lease_until = now() + make_interval(secs => p_lease_seconds)
        where turn_id in (
            select a.turn_id from announcement a join turn t on t.id = a.turn_id and t.status = 'done'
            where a.status = 'due' and a.bot_id = p_bot_id
                and (a.failures = 0 or a.not_before <= now() or a.not_before > now() + interval '2 hours')
                and (a.lease_owner is null or a.lease_until < now() or a.lease_until > now() + interval '15 minutes')
            order by a.turn_id limit p_limit for update of a skip locked)
        returning *)
    select coalesce(jsonb_agg(jsonb_build_object('turn_id', c.turn_id, 'failures', c.failures, 'tells', c.changes,
        'changes', relay.changes_of(c.turn_id), 'told', t.told, 'keeps', relay.can_be_kept(t), 'chat_id', h.chat_id, 'topic_id', h.topic_id,
        'private', s.kind = 'private' or h.chat_id > 0, 'owner_id', s.owner_id, 'shown', d.shown, 'before', coalesce(c.before, d.shown -> 'request'))),
        '[]')
    from claimed c join turn t on t.id = c.turn_id join thread h on h.id = t.thread_id join space s on s.id = t.space_id
    left join lateral (
        select jsonb_build_object('seq', seq, 'message_id', telegram_message_id, 'request', request) as shown
        from delivery
        where turn_id = c.turn_id and not t.dropped and status = 'sent' and telegram_message_id is not null
            and request ? 'text'
            and echo_of is null and not request ? 'say' and chat_id = h.chat_id and seq <= 1000000
        order by seq desc limit 1) d on true
$$;

-- It is told: the message shows p_request now.
create or replace function public.relay_announced(p_turn_id bigint, p_worker uuid, p_seq integer, p_request jsonb)
returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    update announcement a set status = 'done', lease_owner = null, lease_until = null, failures = 0,
        before = coalesce(a.before, (select request from delivery where turn_id = p_turn_id and seq = p_seq))
    where turn_id = p_turn_id and status = 'due' and lease_owner = p_worker;
    if not found then
        return to_jsonb(false);
    end if;
    update delivery set request = p_request where turn_id = p_turn_id and seq = p_seq and p_request is not null;
    return to_jsonb(true);
end $$;

-- It is about to be told in a message of its own, which is kept as the last part of the turn's reply: at most once, unless
-- it is put off since that certainly was not sent.
create or replace function public.relay_announce_anew(p_turn_id bigint, p_worker uuid, p_request jsonb default null)
returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own announcement;
begin
    update announcement set status = 'anew'
    where turn_id = p_turn_id and status in ('due', 'anew') and lease_owner = p_worker returning * into own;
    if own.turn_id is null then
        return 'false';
    end if;
    delete from delivery where turn_id = p_turn_id and seq > 1000000 and status = 'failed';
    insert into delivery (turn_id, seq, bot_id, chat_id, request, status, error)
    select p_turn_id, greatest(1000000, max(seq)) + 1, own.bot_id, (p_request ->> 'chat_id')::bigint, p_request, 'failed',
        'it is not known whether it was sent'
    from delivery where turn_id = p_turn_id having p_request is not null;
    return 'true';
end $$;

-- That message is in the chat.
create or replace function public.relay_announced_anew(p_turn_id bigint, p_chat_id bigint, p_telegram_message_id bigint)
returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    insert into posted (bot_id, chat_id, telegram_message_id, turn_id, from_bot)
    select bot_id, p_chat_id, p_telegram_message_id, turn_id, true from announcement where turn_id = p_turn_id
    on conflict do nothing;
    update delivery set status = 'sent', error = null, sent_at = now(), telegram_message_id = p_telegram_message_id
    where turn_id = p_turn_id and seq = (
        select max(seq) from delivery where turn_id = p_turn_id and seq > 1000000 and status = 'failed');
    update announcement set lease_owner = null, lease_until = null where turn_id = p_turn_id and status = 'anew';
    select 'true'::jsonb
$$;

-- It could not be told now.
create or replace function public.relay_put_off_announcement(
    p_turn_id bigint, p_worker uuid, p_retry_seconds double precision)
returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    with waits as (
        update announcement set status = 'due', failures = failures + 1, lease_owner = null, lease_until = null,
            not_before = now() + make_interval(secs => p_retry_seconds)
        where turn_id = p_turn_id and lease_owner = p_worker returning 1)
    select to_jsonb(count(*)) from waits
$$;
