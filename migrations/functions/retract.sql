-- Removes erased words from our own messages in chats: deletes messages, or edits them without those lines.

-- Returns a text's length in UTF-16 code units, which Telegram counts.
create or replace function relay.utf16_length(p_text text) returns integer
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select char_length(p_text) + char_length(regexp_replace(p_text, '[^\U00010000-\U0010FFFF]', '', 'g'))
$$;

-- Returns what a request shows in the chat: its text, spoken text, file name and buttons.
create or replace function relay.shown_in(p_request jsonb) returns text
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select concat_ws(' ', p_request ->> 'text', p_request #>> '{say,text}', p_request #>> '{file,name}',
        (select string_agg(label #>> '{}', ' ')
            from jsonb_path_query(p_request, 'lax $.reply_markup.inline_keyboard[*][*].text') as label))
$$;

-- Removes the matching lines from a text with entities: {text, entities}. Null if nothing is left, or the rest still
-- matches.
create or replace function relay.without_lines(p_text text, p_entities jsonb, p_needles jsonb) returns jsonb
language sql immutable set search_path = relay, extensions, pg_temp as $$
    with line as (
        select line, place, relay.says(line, p_needles) as goes, relay.utf16_length(line) + 1 as units
        from regexp_split_to_table(p_text, E'\n') with ordinality as given (line, place)),
    kept as (
        select *, sum(case when goes then 0 else units end) over (order by place) - units as lands
        from (select *, sum(units) over (order by place) - units as starts from line) placed),
    rest as (select rtrim(string_agg(line, E'\n' order by place), E' \n') as text from kept where not goes),
    entity as (
        select one, nth, min(lands + greatest(starts, first) - starts) as starts_at,
            least(max(lands + least(starts + units, after) - starts),
                (select relay.utf16_length(text) from rest)) as ends_at
        from (select one, nth, (one ->> 'offset')::integer as first,
                (one ->> 'offset')::integer + (one ->> 'length')::integer as after
            from jsonb_array_elements(coalesce(p_entities, '[]')) with ordinality as e (one, nth)) given
        join kept on not goes and starts < after and first < starts + units
        group by one, nth)
    select jsonb_build_object('text', rest.text, 'entities', (
        select coalesce(jsonb_agg(one || jsonb_build_object('offset', starts_at, 'length', ends_at - starts_at)
            order by nth), '[]')
        from entity where ends_at > starts_at))
    from rest where btrim(rest.text, E' \n') <> '' and not relay.says(rest.text, p_needles)
$$;

-- Removes buttons that match, or that act on erased memories.
create or replace function relay.buttons_left(
    p_rows jsonb, p_turn_id bigint, p_needles jsonb, p_gone bigint[]) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    with button as (
        select one, split_part(one ->> 'callback_data', ':', 1) as kind,
            substring(one ->> 'callback_data' from '^[a-z]+:([0-9]{1,18})')::bigint as number, row_place, place
        from jsonb_array_elements(coalesce(p_rows, '[]')) with ordinality as r (buttons, row_place),
            jsonb_array_elements(buttons) with ordinality as b (one, place)),
    stays as (
        select * from button where not relay.says(one ->> 'text', p_needles) and case kind
            when 'u' then exists (select from memory_change where turn_id = p_turn_id and memory_id <> all (p_gone))
            when 'c' then exists (select from memory_change where turn_id = p_turn_id and memory_id <> all (p_gone))
            when 'd' then exists (select from memory_change where id = number and memory_id <> all (p_gone))
            when 'e' then number <> all (p_gone) and exists (select from memory where id = number)
            else true end)
    select coalesce(jsonb_agg(buttons order by row_place), '[]')
    from (select row_place, jsonb_agg(one order by place) as buttons from stays group by row_place) left_over
$$;

-- Returns the text shown in place of the erasure's question, until its result is known.
create or replace function relay.told_erased() returns text
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select '🔥 Erased for good.'
$$;

-- Returns what one of our messages shows after an erasure; null: delete it. An answer loses its matching lines.
-- Anything else, and what was made from erased rows, is deleted while Telegram allows it (48 hours). The question that
-- began the erasure shows its result.
create or replace function relay.rest_of(p_message relay.outbox, p_erasure relay.erasure, p_needles jsonb)
returns jsonb language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    asked constant jsonb := to_jsonb(format('xe:%s', p_erasure.id));
    own turn;
    rest jsonb;
begin
    if p_message.message_id = any (array(select jsonb_array_elements_text(p_erasure.work -> 'gone')::bigint)) then
        return null;
    elsif p_message.request @? 'lax $.reply_markup.inline_keyboard[*][*].callback_data'
        and jsonb_path_query_array(p_message.request, 'lax $.reply_markup.inline_keyboard[*][*].callback_data') @> asked
    then
        return jsonb_build_object('text', relay.told_erased(), 'entities', '[]'::jsonb);
    end if;
    select * into own from turn where id = p_message.turn_id;
    if own.kind = 'control' and (p_message.sent_at > now() - interval '47 hours'
        or own.prompt -> 'inputs' ?| relay.gone_inputs(p_erasure))
    then
        return null;
    end if;
    rest := relay.without_lines(p_message.request ->> 'text', p_message.request -> 'entities', p_needles);
    if own.kind = 'message' and p_message.message_id is not null then
        rest := rest || jsonb_build_object('reply_markup', jsonb_build_object('inline_keyboard', relay.buttons_left(
            p_message.request #> '{reply_markup,inline_keyboard}', own.id, p_needles,
            array(select jsonb_array_elements_text(p_erasure.work -> 'gone_memories')::bigint))));
    end if;
    return rest;
end $$;

-- Returns what is left of an answer as it was before its announcement; null if nothing is, or the answer itself is erased.
create or replace function relay.rest_before(p_announcement relay.announcement, p_erasure relay.erasure, p_needles jsonb)
returns jsonb language sql stable set search_path = relay, extensions, pg_temp as $$
    select p_announcement.before
        || relay.without_lines(p_announcement.before ->> 'text', p_announcement.before -> 'entities', p_needles)
        || jsonb_build_object('reply_markup', jsonb_build_object('inline_keyboard', relay.buttons_left(
            p_announcement.before #> '{reply_markup,inline_keyboard}', p_announcement.turn_id, p_needles,
            array(select jsonb_array_elements_text(p_erasure.work -> 'gone_memories')::bigint))))
    from turn t where t.id = p_announcement.turn_id and p_erasure.id is not null
        and not coalesce(p_erasure.work -> 'gone' @> to_jsonb(t.assistant_message_id), false)
$$;

-- Removes erased words from what turns sent: from the record at once, from the chats afterwards. Skips turns in
-- progress.
create or replace function relay.retract(p_erasure_id bigint, p_turns bigint[], p_needles jsonb) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own erasure;
    one outbox;
    rest jsonb;
begin
    select * into own from erasure where id = p_erasure_id;
    for one in
        select d.* from outbox d join turn t on t.id = d.turn_id and t.status in ('done', 'failed')
        where d.turn_id = any (p_turns) and not d.request ? 'erased' and (
            relay.says(concat_ws(' ', relay.shown_in(d.request), d.sending_text), p_needles)
            or d.message_id = any (array(select jsonb_array_elements_text(own.work -> 'gone')::bigint))
            or t.kind = 'control' and t.prompt -> 'inputs' ?| relay.gone_inputs(own))
    loop
        rest := relay.rest_of(one, own, p_needles);
        insert into retraction (bot_id, chat_id, telegram_message_id, erasure_id, request, sent_at)
        select one.bot_id, one.chat_id, one.telegram_message_id, own.id, rest, coalesce(one.sent_at, one.created_at)
        where one.telegram_message_id > 0 and one.bot_id <> 0
        on conflict (bot_id, chat_id, telegram_message_id) do update
            set request = excluded.request, erasure_id = excluded.erasure_id;
        -- '': an edit is under way whose words are erased (see relay.redraw).
        update outbox set sending_text = case when telegram_message_id is not null and sending_text is not null then '' end,
            request = case when rest is null then jsonb_build_object('chat_id', chat_id, 'erased', true)
                else (request - 'reply_markup') || rest end
        where id = one.id;
    end loop;
end $$;

-- Adds to what the person must delete, [{chat_id, message_id, at, what}], keeping the newest 200 of each kind.
create or replace function relay.note_theirs(p_erasure_id bigint, p_more jsonb) returns void
language sql set search_path = relay, extensions, pg_temp as $$
    update erasure set posted = (
        select coalesce(jsonb_agg(one order by one ->> 'at'), '[]') from (
            select one, row_number() over (partition by one ->> 'what' order by one ->> 'at' desc) as place
            from (
                select distinct on (one ->> 'what', one ->> 'chat_id', one ->> 'message_id') one
                from jsonb_array_elements(coalesce(posted, '[]') || p_more) as one
                order by one ->> 'what', one ->> 'chat_id', one ->> 'message_id', one ->> 'at') once) ranked
        where place <= 200)
    where id = p_erasure_id and p_more <> '[]'
$$;

-- Lists the person's own messages, and exports that contain the erased words, for them to delete.
create or replace function relay.theirs(p_messages bigint[]) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_agg(jsonb_build_object('chat_id', p.chat_id, 'message_id', p.telegram_message_id,
        'at', p.created_at, 'what', 'yours')), '[]')
    from message m join posted p on p.turn_id = m.turn_id and p.message_id = m.id and not p.from_bot
    where m.id = any (p_messages) and m.role = 'user' and p.chat_id <> 0
$$;

-- Lists the messages in updates that events hold, for their authors to delete.
create or replace function relay.theirs_in(p_events bigint[]) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_agg(jsonb_build_object('chat_id', payload #> '{message,chat,id}',
        'message_id', payload #> '{message,message_id}', 'at', at, 'what', 'yours')), '[]')
    from event where id = any (p_events) and payload #> '{message,message_id}' is not null
        and payload #>> '{message,chat,id}' <> '0'
$$;

-- Returns the record of one of our messages in a chat; null if there is none.
create or replace function relay.record_of(p_bot_id bigint, p_chat_id bigint, p_message_id bigint) returns bigint
language sql stable set search_path = relay, extensions, pg_temp as $$
    select d.id from posted p join outbox d on d.turn_id = p.turn_id and d.chat_id = p.chat_id
        and d.telegram_message_id = p.telegram_message_id
    where p.bot_id = p_bot_id and p.chat_id = p_chat_id and p.telegram_message_id = p_message_id and p.from_bot
$$;

-- Returns our messages that a bot must delete or edit for an erasure (null: any), newest first: [{erasure_id, chat_id,
-- message_id, request}]. A message whose edit is under way follows once that has ended, after 30 seconds at most:
-- Telegram must not carry out the edit afterwards.
create or replace function public.relay_retractions(p_bot_id bigint, p_erasure_id bigint, p_limit integer)
returns jsonb language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_agg(jsonb_build_object('erasure_id', erasure_id, 'chat_id', chat_id,
        'message_id', telegram_message_id, 'request', request) order by sent_at desc), '[]')
    from (
        select * from retraction r where bot_id = p_bot_id and erasure_id = coalesce(p_erasure_id, erasure_id)
            and not exists (
                select from outbox d join erasure e on e.id = r.erasure_id
                where d.id = relay.record_of(r.bot_id, r.chat_id, r.telegram_message_id) and d.sending_text = ''
                    and coalesce(e.done_at, now()) > now() - interval '30 seconds')
        order by sent_at desc limit p_limit) few
$$;

-- Records the result for such a message: deleted, edited, or left (Telegram refused) for the person to delete. Queues an
-- announcement that is still due under it.
create or replace function public.relay_retracted(
    p_bot_id bigint, p_chat_id bigint, p_message_id bigint, p_outcome text) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    done retraction;
    own constant bigint := relay.record_of(p_bot_id, p_chat_id, p_message_id);
begin
    -- First, as a step of the erasure does.
    perform from erasure where id = (select erasure_id from retraction
        where bot_id = p_bot_id and chat_id = p_chat_id and telegram_message_id = p_message_id) for no key update;
    delete from retraction where bot_id = p_bot_id and chat_id = p_chat_id and telegram_message_id = p_message_id
    returning * into done;
    if done.erasure_id is null then
        return 'false';
    end if;
    update outbox set sending_text = null where id = own and sending_text = '';
    perform relay.announce(t, '{}') from outbox d join turn t on t.id = d.turn_id where d.id = own;
    update erasure set counts = counts
        || jsonb_build_object(p_outcome, coalesce((counts ->> p_outcome)::integer, 0) + 1)
    where id = done.erasure_id and done.request ->> 'text' is distinct from relay.told_erased();
    perform relay.note_theirs(done.erasure_id, jsonb_build_array(jsonb_build_object(
        'chat_id', p_chat_id, 'message_id', p_message_id, 'at', done.sent_at, 'what', 'ours')))
    where p_outcome = 'left';
    return 'true';
end $$;

-- Returns what an edit shows instead of a message's earlier text and buttons; null if it has no words.
create or replace function relay.redrawn_text(p_request jsonb) returns text
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select nullif(relay.shown_in(relay.kept_request(p_request)), '')
$$;

-- Locks the turn of a message's record before the record, as an erasure does.
create or replace function relay.hold_record(p_record_id bigint) returns void
language sql set search_path = relay, extensions, pg_temp as $$
    select from turn where id = (select turn_id from outbox where id = p_record_id) for no key update
$$;

-- Records what one of our messages may show from now on, next to what it showed, so that an erasure finds both. Skips
-- messages whose record was erased. Returns false if the message may be one whose response was lost and which is still
-- looked for by what it shows: it must not change yet.
create or replace function public.relay_redrawing(
    p_bot_id bigint, p_chat_id bigint, p_message_id bigint, p_request jsonb) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    select relay.hold_record(relay.record_of(p_bot_id, p_chat_id, p_message_id));
    with own as (
        -- Two edits may be under way at once: both texts count until each is confirmed.
        update outbox set sending_text = case sending_text when '' then '' else
            right(nullif(concat_ws(E'\n', sending_text, relay.redrawn_text(p_request)), ''), 20000) end
        where id = relay.record_of(p_bot_id, p_chat_id, p_message_id) and not request ? 'erased' returning turn_id),
    -- A record dropped for its age gets dropped again.
    again as (update turn set dropped = false where dropped and id in (select turn_id from own))
    select to_jsonb(exists (select from own) or not exists (
        select from turn t join outbox d on d.turn_id = t.id
        where t.status in ('working', 'answered') and t.bot_id = p_bot_id and d.chat_id = p_chat_id
            and d.telegram_message_id is null and d.status = 'sending' and d.floor_message_id < p_message_id
            and not exists (select from posted where bot_id = p_bot_id and chat_id = p_chat_id
                and telegram_message_id = p_message_id)))
$$;

-- Returns whether an edit that was started and has failed may be tried again: nothing was erased from the message since,
-- and no other edit was started.
create or replace function public.relay_redrawing_still(
    p_bot_id bigint, p_chat_id bigint, p_message_id bigint, p_request jsonb) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select to_jsonb(not exists (
        select from outbox where id = relay.record_of(p_bot_id, p_chat_id, p_message_id)
            and right(sending_text, length(relay.redrawn_text(p_request))) is distinct from relay.redrawn_text(p_request)))
$$;

-- Records that a message shows p_request {text, entities, reply_markup}, as far as each changed. Skips a message from
-- which something was erased since the edit was started (see relay_redrawing).
create or replace function relay.redraw(p_record_id bigint, p_request jsonb) returns void
language sql set search_path = relay, extensions, pg_temp as $$
    select relay.hold_record(p_record_id);
    with own as (
        update outbox set sending_text = nullif(btrim(
                replace(sending_text, coalesce(relay.redrawn_text(p_request), ''), ''), E'\n'), ''),
            request = case
                when request ? 'erased' or sending_text = '' then request
                when sending_text is null and relay.redrawn_text(p_request) is not null then request
                else relay.kept_request(request || p_request) end
        where id = p_record_id returning turn_id)
    -- A record dropped for its age gets dropped again.
    update turn set dropped = false where dropped and id in (select turn_id from own);
$$;

-- Records that one of our messages shows what the edit that was started shows.
create or replace function public.relay_redrawn(
    p_bot_id bigint, p_chat_id bigint, p_message_id bigint, p_request jsonb) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    select relay.redraw(relay.record_of(p_bot_id, p_chat_id, p_message_id), p_request);
    select 'null'::jsonb
$$;
