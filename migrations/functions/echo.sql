-- What was heard in a recording, shown in the chat before the answer, and its corrections.

-- Stores the echo of a Telegram message of a turn once, as a part of the reply that stands before all others, marked as
-- being sent. uncertain: it was being sent before this call, and may be in the chat.
create or replace function public.relay_echo(p_turn_id bigint, p_fence bigint, p_heard bigint, p_request jsonb)
returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    held turn := relay.hold(p_turn_id, p_fence);
    own delivery;
begin
    select * into own from delivery where turn_id = held.id and echo_of = p_heard;
    if own.id is not null then
        return to_jsonb(own) || jsonb_build_object('uncertain', own.status = 'sending');
    end if;
    insert into delivery (turn_id, seq, bot_id, chat_id, request, echo_of)
    select held.id, least(coalesce(min(seq), 0), 0) - 1, held.bot_id, (p_request ->> 'chat_id')::bigint, p_request,
        p_heard
    from delivery where turn_id = held.id
    returning * into own;
    perform relay.mark_sending(held.id, own.seq);
    return (select to_jsonb(d) || '{"uncertain": false}' from delivery d where d.id = own.id);
end $$;

-- Blocks of a message in which somebody was heard, with what they really said. A recording that the message only
-- replies to is another's.
create or replace function relay.with_heard(p_blocks jsonb, p_text text) returns jsonb
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_agg(case when one ? 'heard' and not one ? 'replied' then one || jsonb_build_object(
        'text', p_text, 'heard', one -> 'heard' || '{"corrected": true}') else one end order by place), '[]')
    from jsonb_array_elements(p_blocks) with ordinality as b (one, place)
$$;

-- Somebody replied to a message of ours with what they really said in a recording: where that message is its echo, and
-- the recording theirs, what they said gets this wording (once, however often this is called). turn_id: the turn that
-- took the recording; last: nothing was said after it; answered: the turn whose answer to it stands. Null: the reply is a message like any other.
create or replace function public.relay_correct(
    p_turn_id bigint, p_fence bigint, p_chat_id bigint, p_telegram_message_id bigint, p_text text)
returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    held turn := relay.hold(p_turn_id, p_fence);
    heard posted;
    said message;
    corrected jsonb;
begin
    select own.* into heard from posted p
    join delivery d on d.turn_id = p.turn_id and d.chat_id = p.chat_id and d.telegram_message_id = p.telegram_message_id
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
        'answered', (relay.standing_answer(said)).id);
end $$;
