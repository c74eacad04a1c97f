-- Delivery of replies: each part is stored, marked as sending, sent, and marked as sent.

-- Returns the highest message id that Telegram can have assigned before a message that is sent now. Private chats and
-- basic groups share one counter; each supergroup (id below -10^12) has its own.
create or replace function relay.message_id_floor(p_bot_id bigint, p_chat_id bigint) returns bigint
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(case when p_chat_id > -1000000000000 then
        (select max(telegram_message_id) from posted where bot_id = p_bot_id and chat_id > -1000000000000)
    else
        (select max(telegram_message_id) from posted where bot_id = p_bot_id and chat_id = p_chat_id)
    end, 0)
$$;

-- Marks a part as sending and returns it. Stores its text (or file name; a voice note has neither) and the id floor above
-- which recovery looks for it if the response is lost.
create or replace function relay.begin_sending(p_turn_id bigint, p_seq integer) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    update outbox set status = 'sending', sending_text = coalesce(request ->> 'text', request #>> '{file,name}'),
        floor_message_id = relay.message_id_floor(bot_id, chat_id) where turn_id = p_turn_id and seq = p_seq
    returning to_jsonb(outbox)
$$;

-- Stores the parts of a turn's reply once and marks the first as sending. A streaming preview becomes the first part
-- and is edited; so do the messages of a replaced answer, and those left over are deleted. A part that was already
-- sending, such as an echo, is uncertain: it may be in the chat. Raises RL002 if the reply is an answer (`answered`)
-- that relay_finish saved and the server lost: it would be shown but not remembered.
create or replace function public.relay_deliver(
    p_turn_id bigint, p_fence bigint, p_bot_id bigint, p_parts jsonb, p_answered boolean default false)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp
set plan_cache_mode = force_generic_plan as $$
declare
    held turn := relay.hold(p_turn_id, p_fence);
    uncertain integer[] := array(select seq from outbox where turn_id = held.id and status = 'sending');
begin
    if held.status = 'working' then
        if p_answered then
            raise exception 'what turn % had saved is lost', held.id using errcode = 'RL002';
        end if;
        update turn set status = 'answered', answered_at = now(), space_id = coalesce(space_id, (
            select id from space where kind = 'private' and owner_id = (p_parts #>> '{0,owner_id}')::bigint)) where id = held.id;
    end if;
    if not exists (
        select from outbox where turn_id = held.id and not preview and echo_of is null and status <> 'queued')
    then
        insert into outbox (turn_id, seq, bot_id, chat_id, message_id, request)
        select held.id, part.seq, p_bot_id, part.chat_id, case when part.second
                then (held.prompt #>> '{two,ids,1}')::bigint else held.assistant_message_id end, part.request
        from jsonb_to_recordset(p_parts) as part (seq integer, chat_id bigint, request jsonb, second boolean)
        on conflict (turn_id, seq) do update set request = excluded.request, chat_id = excluded.chat_id,
            preview = false, message_id = coalesce(excluded.message_id, outbox.message_id),
            status = case outbox.status when 'queued' then 'waiting' else outbox.status end;
        -- Queued messages that only edit an answer's message or name a topic are done by now.
        update outbox set status = 'sent'
        where turn_id = held.id and status = 'queued' and (under_turn_id is not null or request ? 'names_after');
        update outbox set status = 'failed', error = 'there was nothing to send' where turn_id = held.id and status = 'queued';
        if held.replaces_turn_id is not null then
            perform relay.take_over_parts(held);
        end if;
        if cardinality(uncertain) = 0 and p_parts <> '[]' then
            perform relay.begin_sending(held.id, 1);
        end if;
    end if;
    return coalesce((
        select jsonb_agg(to_jsonb(d) || jsonb_build_object('uncertain', d.seq = any (uncertain)) order by d.seq)
        from outbox d where d.turn_id = held.id), '[]');
end $$;

-- Stores a streaming preview in a group as part 1 before it is sent, because it is a real message there. Safe to
-- repeat.
create or replace function public.relay_preview(
    p_turn_id bigint, p_fence bigint, p_bot_id bigint, p_chat_id bigint, p_request jsonb)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    held turn := relay.hold(p_turn_id, p_fence);
begin
    insert into outbox (turn_id, seq, bot_id, chat_id, request, preview)
    values (held.id, 1, p_bot_id, p_chat_id, p_request, true)
    on conflict (turn_id, seq) do update set request = excluded.request where outbox.preview;
    return relay.begin_sending(held.id, 1);
end $$;

-- Marks parts as sent, failed or previewed, and closes the turn after the last one. Returns whether the lane has more
-- to do (or queued messages wait), and which jobs are due.
create or replace function public.relay_sent(
    p_turn_id bigint, p_fence bigint, p_results jsonb, p_done boolean)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp
set plan_cache_mode = force_generic_plan as $$
declare
    held turn := relay.hold(p_turn_id, p_fence);
begin
    update outbox d set status = r.status, error = r.error, sent_at = now(),
        sending_text = case when r.status not in ('sent', 'failed') then d.sending_text end,
        telegram_message_id = coalesce(r.telegram_message_id, d.telegram_message_id)
    from jsonb_to_recordset(p_results) as r (seq integer, status text, telegram_message_id bigint, error text)
    where d.turn_id = held.id and d.seq = r.seq;
    insert into posted (bot_id, chat_id, telegram_message_id, message_id, turn_id, from_bot)
    select d.bot_id, d.chat_id, d.telegram_message_id, d.message_id, held.id, true
    from jsonb_to_recordset(p_results) as r (seq integer) join outbox d on d.turn_id = held.id and d.seq = r.seq
    where d.telegram_message_id is not null on conflict (bot_id, chat_id, telegram_message_id) do update
        set message_id = excluded.message_id, turn_id = excluded.turn_id, from_bot = true;
    if p_done then
        perform relay.close_turn(held.id, 'done', null);
    end if;
    return jsonb_build_object(
        'more', exists (select from lane where id = held.lane_id and due_at is not null and open_turn_id is null)
            or exists (select from turn where bot_id = held.bot_id and status = 'working' and lease_owner is null
                and not_before is null)
            or exists (select from outbox
                where bot_id = held.bot_id and status = 'queued' and turn_id is null
                    and not_before <= greatest(now(), created_at)),
        'owed', relay.jobs_owed(held.bot_id));
end $$;

-- Marks a part as sent and the next one as sending; returns the next one.
create or replace function public.relay_sending(p_turn_id bigint, p_fence bigint, p_results jsonb, p_seq integer)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    perform public.relay_sent(p_turn_id, p_fence, p_results, false);
    return relay.begin_sending(p_turn_id, p_seq);
end $$;

-- Turns a part whose message can't be edited into a new message, marked as sending; returns it.
create or replace function public.relay_sending_anew(p_turn_id bigint, p_fence bigint, p_seq integer) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    held turn := relay.hold(p_turn_id, p_fence);
begin
    update outbox set telegram_message_id = null where turn_id = held.id and seq = p_seq;
    return relay.begin_sending(held.id, p_seq);
end $$;

-- Replaces a voice note that can't be sent with a line of text, marked as sending; returns it.
create or replace function public.relay_sending_instead(
    p_turn_id bigint, p_fence bigint, p_seq integer, p_request jsonb)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    held turn := relay.hold(p_turn_id, p_fence);
begin
    update outbox set request = p_request where turn_id = held.id and seq = p_seq;
    return relay.begin_sending(held.id, p_seq);
end $$;

-- Stops a delivery for the user: drops unsent parts and adds a last part that says so, marked as sending.
create or replace function public.relay_stop_delivery(
    p_turn_id bigint, p_fence bigint, p_results jsonb, p_request jsonb)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    held turn := relay.hold(p_turn_id, p_fence);
    last constant integer := 1000000;
begin
    perform public.relay_sent(p_turn_id, p_fence, p_results, false);
    update outbox set status = 'failed', error = 'stopped'
    where turn_id = held.id and seq <> last and status not in ('sent', 'failed');
    insert into outbox (turn_id, seq, bot_id, chat_id, request)
    values (held.id, last, held.bot_id, (p_request ->> 'chat_id')::bigint, p_request) on conflict do nothing;
    update message set status = 'stopped' where id = held.assistant_message_id and status = 'complete';
    -- The line about memory changes was due under the last text; it goes under this line instead.
    if exists (select from outbox where turn_id = held.id and error = 'stopped' and request ? 'text'
        and not request ? 'say' and echo_of is null)
    then
        perform relay.announce(held, array(select id from memory_change where turn_id = held.id order by id));
    end if;
    return relay.begin_sending(held.id, last);
end $$;

-- Returns which ids above a floor are known, so that recovery looks for a lost part among the others. near: ids around
-- the highest known id of the chat itself, for servers that count private chats and basic groups separately.
create or replace function public.relay_known_ids(p_bot_id bigint, p_chat_id bigint, p_above bigint, p_limit integer)
returns jsonb language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object(
        'highest', relay.message_id_floor(p_bot_id, p_chat_id),
        'known', coalesce((select jsonb_agg(telegram_message_id) from posted
            where bot_id = p_bot_id and telegram_message_id > p_above and telegram_message_id <= p_above + p_limit
                and (chat_id = p_chat_id or (chat_id > -1000000000000 and p_chat_id > -1000000000000))), '[]'),
        'near', coalesce((
            select jsonb_agg(id order by id desc)
            from (select max(telegram_message_id) as highest from posted
                where bot_id = p_bot_id and chat_id = p_chat_id and chat_id > -1000000000000) own,
            generate_series(own.highest - 3, own.highest + 4) as id
            where id > 0 and id <= p_above and not exists (
                select from posted where bot_id = p_bot_id and chat_id = p_chat_id and telegram_message_id = id)), '[]'))
$$;

-- Echoes: the transcript of a recording, shown before the answer, and its corrections.

-- Stores the echo of a turn's recording once, as a part before all others, marked as sending. uncertain: it was already
-- sending, and may be in the chat.
create or replace function public.relay_echo(p_turn_id bigint, p_fence bigint, p_heard bigint, p_request jsonb)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    held turn := relay.hold(p_turn_id, p_fence);
    own outbox;
begin
    select * into own from outbox where turn_id = held.id and echo_of = p_heard;
    if own.id is not null then
        return to_jsonb(own) || jsonb_build_object('uncertain', own.status = 'sending');
    end if;
    insert into outbox (turn_id, seq, bot_id, chat_id, request, echo_of)
    select held.id, least(coalesce(min(seq), 0), 0) - 1, held.bot_id, (p_request ->> 'chat_id')::bigint, p_request,
        p_heard
    from outbox where turn_id = held.id returning * into own;
    return relay.begin_sending(held.id, own.seq) || '{"uncertain": false}';
end $$;

-- Returns a message's blocks with the transcript replaced by what was really said. Leaves recordings that the message
-- only replies to.
create or replace function relay.with_heard(p_blocks jsonb, p_text text) returns jsonb
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_agg(case when one ? 'heard' and not one ? 'replied' then one || jsonb_build_object(
        'text', p_text, 'heard', one -> 'heard' || '{"corrected": true}') else one end order by place), '[]')
    from jsonb_array_elements(p_blocks) with ordinality as b (one, place)
$$;

-- Handles a reply that corrects a transcript. If the message is the echo of the person's own recording, stores the new
-- wording; safe to repeat. turn_id: the turn of the recording; last: nothing was said after it; answered: the turn with
-- the current answer; marked: see relay_edit. Null if the reply is an ordinary message.
create or replace function public.relay_correct(
    p_turn_id bigint, p_fence bigint, p_chat_id bigint, p_telegram_message_id bigint, p_text text)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    held turn := relay.hold(p_turn_id, p_fence);
    heard posted;
    said message;
    corrected jsonb;
begin
    select own.* into heard from posted p
    join outbox d on d.turn_id = p.turn_id and d.chat_id = p.chat_id and d.telegram_message_id = p.telegram_message_id
    join posted own on own.bot_id = p.bot_id and own.chat_id = p.chat_id and own.telegram_message_id = d.echo_of
    where p.bot_id = held.bot_id and p.chat_id = p_chat_id and p.telegram_message_id = p_telegram_message_id
        and p.from_bot;
    select * into said from message
    where id = heard.message_id and role = 'user' and user_id = held.user_id for no key update;
    if said.id is null then
        return null;
    end if;
    corrected := relay.with_heard(coalesce(heard.part -> 'blocks', said.blocks), p_text);
    if corrected <> coalesce(heard.part -> 'blocks', said.blocks) then
        perform relay.give_wording(said, heard, btrim(
            relay.words_in(corrected, true) || E'\n' || relay.words_in(corrected, false), E' \n'), corrected);
    end if;
    return jsonb_build_object('turn_id', said.turn_id, 'last', relay.is_last_said(said),
        'answered', (relay.standing_answer(said)).id)
        || relay.marked_message(to_jsonb(heard) || jsonb_build_object('user_id', said.user_id));
end $$;
