-- Edited messages, and answers that replace others.

-- Returns the text of a Telegram message.
create or replace function relay.text_of(p_message jsonb) returns text
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select coalesce(nullif(p_message ->> 'text', ''), p_message ->> 'caption', '')
$$;

-- Finds the stored update of an unanswered message, in the queue or in its lane's open turn.
create or replace function relay.queued_message(p_edit jsonb) returns relay.inbox
language sql stable set search_path = relay, extensions, pg_temp as $$
    with own as (
        select id, open_turn_id from lane
        where bot_id = (p_edit ->> 'bot_id')::bigint and chat_id = (p_edit ->> 'chat_id')::bigint
            and topic_id = (p_edit ->> 'topic_id')::bigint),
    queued as (
        select u.* from own join inbox u on u.lane_id = own.id and u.status = 'pending'
        union all
        select u.* from own join inbox u on u.turn_id = own.open_turn_id and u.status = 'claimed')
    select * from queued
    where user_id = (p_edit ->> 'user_id')::bigint
        and payload #> '{message,message_id}' = p_edit -> 'telegram_message_id'
    limit 1
$$;

-- Applies an edit to a message whose answer has not begun. A turn that has claimed it returns to the queue and reads it
-- again. taken: nothing more to do. busy: its turn is about to save or discard it. Null: the message is no longer
-- waiting.
create or replace function relay.edit_queued(p_edit jsonb) returns text
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    queued inbox;
    held turn;
begin
    loop
        queued := relay.queued_message(p_edit);
        -- Lock the turn before its update, in the order that everything else uses.
        select * into held from turn where id = queued.turn_id for no key update;
        if queued.update_id is null or held.status <> 'working' or exists (
            select from posted where bot_id = queued.bot_id and chat_id = (p_edit ->> 'chat_id')::bigint
                and telegram_message_id = (p_edit ->> 'telegram_message_id')::bigint and message_id is not null)
        then
            return null;
        elsif relay.text_of(queued.payload -> 'message') = relay.text_of(p_edit -> 'message')
            and jsonb_path_query_array(queued.payload -> 'message', 'lax $.**.file_unique_id')
                = jsonb_path_query_array(p_edit -> 'message', 'lax $.**.file_unique_id')
            or relay.text_of(queued.payload -> 'message') ~ '^/[A-Za-z0-9_]{1,32}(@|\s|$)'
            or (queued.payload #>> '{message,edit_date}')::bigint > (p_edit ->> 'edited_at')::bigint
        then
            return 'taken';
        elsif held.user_message_id is not null then
            return 'busy';
        end if;
        update inbox set payload = jsonb_set(payload, '{message}', p_edit -> 'message')
        where bot_id = queued.bot_id and update_id = queued.update_id and status = queued.status
            and turn_id is not distinct from queued.turn_id;
        if found then
            update turn set fence = fence + 1, lease_owner = null, lease_until = null, not_before = null
            where id = held.id;
            return 'taken';
        end if;
    end loop;
end $$;

-- Stores a message's old wording and sets the new one. False if nothing changed, or the message is one of several that
-- can't be told apart.
create or replace function relay.reword(p_message relay.message, p_posted relay.posted, p_edit jsonb) returns boolean
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    if coalesce(p_posted.part ->> 'text', p_message.text) = p_edit ->> 'text' and not p_edit ? 'replaced'
        or p_posted.edited_at > to_timestamp((p_edit ->> 'edited_at')::bigint)
        or p_posted.part is null and 1 < (
            select count(*) from posted
            where turn_id = p_message.turn_id and message_id = p_message.id and not from_bot)
    then
        return false;
    end if;
    perform relay.give_wording(p_message, p_posted, p_edit ->> 'text', p_edit -> 'blocks');
    update posted set edited_at = to_timestamp((p_edit ->> 'edited_at')::bigint)
    where bot_id = p_posted.bot_id and chat_id = p_posted.chat_id
        and telegram_message_id = p_posted.telegram_message_id;
    return true;
end $$;

-- Tests whether a message is the last one in its thread since the last /new.
create or replace function relay.is_last_said(p_message relay.message) returns boolean
language sql stable set search_path = relay, extensions, pg_temp as $$
    select p_message.id >= t.context_from and not exists (
        select from message m where m.thread_id = p_message.thread_id and m.id > p_message.id and m.role = 'user')
    from thread t where t.id = p_message.thread_id
$$;

-- Returns the turn whose answer to a message is current; null if there is none.
create or replace function relay.standing_answer(p_message relay.message) returns relay.turn
language sql stable set search_path = relay, extensions, pg_temp as $$
    select t.* from turn t join message a on a.id = t.assistant_message_id
    where t.thread_id = p_message.thread_id and t.user_message_id = p_message.id and a.status <> 'replaced'
    order by t.id desc limit 1
$$;

-- Returns the last text message of an answer (not a line that replaces a voice note): where it is, its original
-- buttons, its turn's memory changes, and whether it has a ◆.
create or replace function relay.shown_last(p_turn relay.turn) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('turn_id', p_turn.id, 'chat_id', d.chat_id, 'message_id', d.telegram_message_id,
        'rows', coalesce(d.request #> '{reply_markup,inline_keyboard}', '[]'), 'changes', relay.changes_of(p_turn.id),
        'keeps', relay.can_be_kept(p_turn))
    from outbox d
    where d.turn_id = p_turn.id and d.status = 'sent' and d.telegram_message_id is not null and d.request ? 'text'
        and d.echo_of is null and not d.request ? 'say' order by d.seq desc limit 1
$$;

-- Returns an edited message whose markers are to be read: {marked: {message_id, wording, blocks}}; {} if it has none and
-- had none.
create or replace function relay.marked_message(p_edit jsonb) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce((
        select jsonb_build_object('marked', jsonb_build_object('message_id', m.id, 'wording', relay.wordings(m.id),
            'blocks', m.blocks))
        from posted p join message m on m.id = p.message_id
        where p.bot_id = (p_edit ->> 'bot_id')::bigint and p.chat_id = (p_edit ->> 'chat_id')::bigint
            and p.telegram_message_id = (p_edit ->> 'telegram_message_id')::bigint
            and m.role = 'user' and m.user_id = (p_edit ->> 'user_id')::bigint
            and (m.text ilike '%##keepit%' or exists (
                select from keepit where message_id = m.id and typed is not null))), '{}')
$$;

-- Handles an edit by a message's author. busy: the old wording is being answered, so retry later. offer: the answer
-- fits the old wording; a new one can be offered there. marked: its markers are to be read again.
create or replace function public.relay_edit(p_edit jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    done jsonb := relay.apply_edit(p_edit);
begin
    return case when done ? 'busy' then done else done || relay.marked_message(p_edit) end;
end $$;

-- Stores an edit: the part of relay_edit that changes the message.
create or replace function relay.apply_edit(p_edit jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own posted;
    said message;
    answering turn;
    answered turn;
begin
    case relay.edit_queued(p_edit)
        when 'taken' then return '{}';
        when 'busy' then return '{"busy": true}';
        else null;
    end case;
    select m.* into said from posted p join message m on m.id = p.message_id
    where p.bot_id = (p_edit ->> 'bot_id')::bigint and p.chat_id = (p_edit ->> 'chat_id')::bigint
        and p.telegram_message_id = (p_edit ->> 'telegram_message_id')::bigint
        and m.role = 'user' and m.user_id = (p_edit ->> 'user_id')::bigint
    for no key update of m;
    if said.id is null then
        return '{}';
    end if;
    select * into own from posted where bot_id = (p_edit ->> 'bot_id')::bigint
        and chat_id = (p_edit ->> 'chat_id')::bigint
        and telegram_message_id = (p_edit ->> 'telegram_message_id')::bigint;
    p_edit := relay.with_file(p_edit, coalesce(own.part ->> 'text', said.text),
        coalesce(own.part -> 'blocks', said.blocks));
    if not relay.is_last_said(said) then
        perform relay.reword(said, own, p_edit);
        return '{}';
    end if;
    select * into answering from turn
    where thread_id = said.thread_id and user_message_id = said.id order by id desc limit 1;
    if answering.status <> 'working' then
        perform relay.reword(said, own, p_edit);
    end if;
    answered := relay.standing_answer(said);
    if answering.status = 'working'
            and (coalesce(own.part ->> 'text', said.text) <> p_edit ->> 'text' or p_edit ? 'replaced')
        or answering.status = 'answered' and (answering.prompt ->> 'wording')::bigint < relay.wordings(said.id)
    then
        return '{"busy": true}';
    elsif answering.status in ('done', 'failed') and answered.id is not null
        and coalesce((answered.prompt ->> 'wording')::bigint, 0) < relay.wordings(said.id)
    then
        return jsonb_build_object('offer', relay.shown_last(answered));
    end if;
    return '{}';
end $$;

-- Returns the state of a turn for a person who wants a new answer. asked: the person sent the message. stands: no later
-- turn has answered that message. last: nothing was said after it. Null if there is no such turn.
create or replace function public.relay_standing(p_turn_id bigint, p_user_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('asked', t.user_id = p_user_id,
        'stands', not exists (select from turn n where n.thread_id = t.thread_id and n.id > t.id
                and n.user_message_id = t.user_message_id and n.assistant_message_id is not null),
        'last', coalesce(relay.is_last_said(m), false))
    from turn t left join message m on m.id = t.user_message_id where t.id = p_turn_id
$$;

-- Returns the turn whose answer a new one replaces: the current answer, if a button asked for it, or if the retried
-- turn was to replace one and has no answer yet.
create or replace function relay.turn_to_replace(p_message_id bigint, p_input jsonb) returns bigint
language sql stable set search_path = relay, extensions, pg_temp as $$
    select (relay.standing_answer(m)).id from message m
    where m.id = p_message_id and ((p_input ->> 'replaces')::boolean or exists (
        select from turn t where t.id = (p_input ->> 'retry_turn')::bigint and t.user_message_id = m.id
            and t.assistant_message_id is null and t.replaces_turn_id is not null))
$$;

-- Returns the memory changes that a turn's message made through its answer. Leaves out later findings from other
-- messages, which are only announced there, and people's own decisions.
create or replace function relay.taught_by(p_turn_id bigint) returns setof relay.memory_change
language sql stable set search_path = relay, extensions, pg_temp as $$
    select c.* from memory_change c join turn t on t.id = c.turn_id join memory m on m.id = c.memory_id
    where c.turn_id = p_turn_id and c.decided_at is null and c.user_id is not distinct from t.user_id
        and (c.action not in ('learn', 'supersede', 'merge') or m.source_message_id = t.user_message_id
            or m.derivation ->> 'name' not in ('judge', 'keyword judge'))
$$;

-- Filters out memories learned from the answer that is about to be replaced: its question was withdrawn.
create or replace function relay.without_taught(p_turn_id bigint, p_memories jsonb) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select case when p_turn_id is null then p_memories else (
        select coalesce(jsonb_agg(one order by place), '[]')
        from jsonb_array_elements(p_memories) with ordinality as m (one, place)
        where not exists (select from relay.taught_by(p_turn_id) c where c.memory_id = (one ->> 'id')::bigint
                and c.action in ('learn', 'supersede', 'merge') and c.status = 'applied')) end
$$;

-- Undoes or discards the memory changes that an answer made, last change first. Keeps what has changed again since.
create or replace function relay.take_back_taught(p_turn_id bigint, p_user_id bigint) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    change memory_change;
begin
    for change in
        select * from relay.taught_by(p_turn_id) where status in ('applied', 'pending') order by id desc
    loop
        perform public.relay_decide_change(
            change.id, p_user_id, true, case change.status when 'pending' then 'discard' else 'undo' end);
    end loop;
end $$;

-- Applies again what a former answer had taught, and what p_replaced took back, as changes of the turn that brings that answer
-- back. Does nothing if the question was edited since.
create or replace function relay.teach_again(p_turn relay.turn, p_replaced relay.turn) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    change memory_change;
begin
    for change in
        select c.* from turn f join memory_change c on c.turn_id = f.id
        where f.id = relay.former_turn(p_replaced) and c.status = 'undone' and c.decided_at = p_replaced.answered_at
            and c.action in ('learn', 'supersede', 'merge', 'forget') and not exists (
                select from message_version v where v.message_id = p_turn.user_message_id and v.replaced_at > f.answered_at)
        order by c.id
    loop
        update memory set status = 'pending' where id = change.memory_id and status = 'discarded';
        perform relay.take_effect(change), relay.yield_to_same(change.memory_id);
        update memory_change set turn_id = p_turn.id where id = change.id;
    end loop;
end $$;

-- Deletes the reminders and standing intents that the replaced answer set, as its tools did, unless the new answer set
-- them too (p_reminders) or somebody changed them since. p_again: those that this turn's own tools set before it ran
-- again, or failed; what they changed or deleted is restored.
create or replace function relay.withdraw_set(p_turn relay.turn, p_reminders jsonb, p_again boolean) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    source constant text[] := array['message:' || p_turn.user_message_id];
    changed bigint[];
    deleted bigint[];
begin
    with restored as (
        update reminder r set text = w.text, zone = w.zone, start_at = w.start_at, rule = w.rule, next_at = w.next_at,
            status = w.status, occurrence = w.occurrence, repeat_minutes = w.repeat_minutes, asked = w.asked,
            changed_at = w.changed_at
        from turn t, jsonb_each(t.prompt -> 'former') f, jsonb_populate_record(null::reminder, f.value) w
        where t.id = p_turn.id and p_again and r.id = w.id and r.changed_at = (f.value ->> 'left_at')::timestamptz
        returning r.id)
    select coalesce(array_agg(id), '{}') into changed from restored;
    with gone as (
        update reminder set status = 'deleted', changed_at = now()
        where space_id = p_turn.space_id and origin = 'tool' and inputs = source and status in ('proposed', 'active')
            and changed_at = created_at and (created_at >= p_turn.created_at) = p_again
            and not coalesce(p_reminders, '[]') @> jsonb_build_array(jsonb_build_object('id', id)) returning id)
    select coalesce(array_agg(id), '{}') into deleted from gone;
    perform relay.note_reminder(id, case when id = any (deleted) then 'deleted' else 'restored' end, p_turn.user_id),
        relay.owe_lines(r)
    from reminder r where id = any (changed || deleted);
    perform relay.owe_reminders(bot_id, chat_id, topic_id) from (
        select distinct bot_id, chat_id, topic_id from reminder where id = any (changed || deleted)
        order by bot_id, chat_id, topic_id) as places;
    update standing_intent i set status = f.value ->> 'was' from turn t, jsonb_each(t.prompt -> 'former') f
    where t.id = p_turn.id and p_again and i.id = (f.value ->> 'intent_id')::bigint and i.status = 'deleted';
    update standing_intent set status = 'deleted'
    where space_id = p_turn.space_id and inputs = source and status in ('proposed', 'active') and used = 0
        and (created_at >= p_turn.created_at) = p_again;
end $$;

-- Lists what was just undone for a turn's answer; the answer does not teach it again.
create or replace function relay.withdrawn_for(p_turn relay.turn) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_agg(one order by c.id), '[]')
    from jsonb_array_elements(relay.changes_of(p_turn.replaces_turn_id)) as one
    join memory_change c on c.id = (one ->> 'id')::bigint
    where c.status = 'undone' and c.decided_at = now() and not exists (
        select from memory_change n join memory m on m.id = n.memory_id
        where n.turn_id = p_turn.id and lower(m.content) = lower(one ->> 'content'))
$$;

-- Reuses the messages of a replaced answer for the new texts, in order, by editing them. Leftover messages and files
-- become parts to delete. Messages in another chat (a group that became a supergroup) are out of reach.
create or replace function relay.take_over_parts(p_turn relay.turn) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    here bigint := (select chat_id from outbox where turn_id = p_turn.id order by seq limit 1);
    one record;
begin
    for one in
        select bot_id, chat_id, telegram_message_id, request ? 'text' as is_text,
            row_number() over (partition by request ? 'text' order by seq) as place
        from outbox where turn_id = p_turn.replaces_turn_id and p_turn.assistant_message_id is not null
            and status = 'sent' and telegram_message_id is not null and not request ? 'delete' and chat_id = here
            and echo_of is null order by seq
    loop
        update outbox set telegram_message_id = one.telegram_message_id
        where one.is_text and turn_id = p_turn.id and seq = (
            select n.seq from (
                select seq, row_number() over (order by seq) as place from outbox
                where turn_id = p_turn.id and request ? 'text' and echo_of is null) n
            where n.place = one.place);
        if not found then
            insert into outbox (turn_id, seq, bot_id, chat_id, request, telegram_message_id)
            select p_turn.id, max(seq) + 1, one.bot_id, one.chat_id,
                jsonb_build_object('chat_id', one.chat_id, 'delete', true), one.telegram_message_id
            from outbox where turn_id = p_turn.id;
        end if;
    end loop;
end $$;

-- Message wordings, present and past.

-- Counts a message's earlier wordings.
create or replace function relay.wordings(p_message_id bigint) returns bigint
language sql stable set search_path = relay, extensions, pg_temp as $$
    select count(*) from message_version where message_id = p_message_id
$$;

-- Sets the parts of a message that came as several. A part that continues the one before shares its block.
create or replace function relay.join_parts(p_message relay.message) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    one jsonb;
    own jsonb;
    said text := '';
    whole jsonb := '[]';
begin
    for one in select part from posted where turn_id = p_message.turn_id and message_id = p_message.id and not from_bot
        order by telegram_message_id
    loop
        said := said || E'\n' || (one ->> 'text');
        own := one -> 'blocks';
        if (one ->> 'sequel')::boolean and whole <> '[]' and own <> '[]' then
            whole := jsonb_set(whole, array[(jsonb_array_length(whole) - 1)::text, 'text'],
                to_jsonb((whole -> -1 ->> 'text') || (own -> 0 ->> 'text')));
            own := own - 0;
        end if;
        whole := whole || own;
    end loop;
    update message set text = left(btrim(said, E' \n'), 400000), blocks = whole where id = p_message.id;
end $$;

-- Stores a message's old wording and sets a new one; for a message in several parts, only the edited part changes.
create or replace function relay.give_wording(
    p_message relay.message, p_posted relay.posted, p_text text, p_blocks jsonb) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    insert into message_version (message_id, text, blocks, untrusted)
    values (p_message.id, p_message.text, p_message.blocks, p_message.untrusted);
    if p_posted.part is null then
        update message set text = p_text, blocks = p_blocks where id = p_message.id;
    else
        update posted set part = part || jsonb_build_object('text', p_text, 'blocks', p_blocks)
        where bot_id = p_posted.bot_id and chat_id = p_posted.chat_id
            and telegram_message_id = p_posted.telegram_message_id;
        perform relay.join_parts(p_message);
    end if;
    update message set untrusted = jsonb_path_exists(blocks, '$[*].untrusted') where id = p_message.id;
end $$;

-- Returns the words in blocks: of a file (p_file), or beside it. Files that the message only replies to don't count.
create or replace function relay.words_in(p_blocks jsonb, p_file boolean) returns text
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select coalesce(btrim(string_agg(one ->> 'text', E'\n' order by place), E' \n'), '')
    from jsonb_array_elements(p_blocks) with ordinality as b (one, place)
    where one ->> 'type' = 'text' and (one ? 'file') = p_file and not one ? 'unread' and not one ? 'replied'
$$;

-- Edits a caption and keeps what was read from the file: p_text and p_blocks are the new message. A file that replaces
-- another (`replaced`) is neither read nor copied; a picture can still be shown. Other edits are not changed.
create or replace function relay.with_file(p_edit jsonb, p_text text, p_blocks jsonb) returns jsonb
language plpgsql immutable set search_path = relay, extensions, pg_temp as $$
declare
    beside text := relay.words_in(p_blocks, false);
    files constant text[] := array(select relay.files_in(p_blocks));
    other constant jsonb := (select jsonb_agg(one -> 'file' -> 'unique_id') from jsonb_array_elements(p_edit -> 'blocks') as one
        where one ->> 'type' = 'attachment' and not one ? 'replied' and one #>> '{file,unique_id}' <> all (files));
    words text;
begin
    if not p_edit -> 'blocks' @> '[{"type": "attachment"}]' then
        return p_edit;
    end if;
    -- A picture's text, which only says that there is one, is in no block.
    words := case when other is not null then ''
        when right(p_text, length(beside)) = beside then left(p_text, length(p_text) - length(beside))
        else relay.words_in(p_blocks, true) end;
    return p_edit || case when other is null then '{}' else '{"replaced": true}'::jsonb end || jsonb_build_object(
        'text', left(btrim(btrim(words, E' \n') || E'\n' || (p_edit ->> 'text'), E' \n'), 400000),
        'blocks', (
            select coalesce(jsonb_agg(read.one order by given.place, read.place), '[]')
            from jsonb_array_elements(p_edit -> 'blocks') with ordinality as given (one, place),
            lateral (
                select given.one, 0::bigint as place where given.one ->> 'type' <> 'attachment'
                union all
                select '{"untrusted": "image"}' || jsonb_set(given.one, '{file,kept}', 'false'), 0
                where not given.one ? 'replied' and other @> (given.one #> '{file,unique_id}')
                union all
                select stored.one, stored.place
                from jsonb_array_elements(p_blocks) with ordinality as stored (one, place)
                where given.one ->> 'type' = 'attachment'
                    and stored.one #> '{file,unique_id}' = given.one #> '{file,unique_id}') as read));
end $$;

-- Reactions.

-- Stores a person's reactions to a Telegram message, which may be one of several with an answer, as of p_at (Unix seconds).
-- Removed reactions are kept as withdrawn; an update older than what is stored changes nothing.
create or replace function public.relay_react(
    p_bot_id bigint, p_chat_id bigint, p_telegram_message_id bigint, p_user_id bigint, p_emojis jsonb, p_at bigint)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    about message;
begin
    -- Locked, so that changes apply one after the other; the memory first, as a finished turn does.
    perform relay.hold_memory(m.space_id) from posted p join message m on m.id = p.message_id
    where p.bot_id = p_bot_id and p.chat_id = p_chat_id and p.telegram_message_id = p_telegram_message_id;
    select m.* into about from posted p join message m on m.id = p.message_id
    where p.bot_id = p_bot_id and p.chat_id = p_chat_id and p.telegram_message_id = p_telegram_message_id
        and (m.role = 'assistant' or m.user_id = p_user_id)
    for no key update of m;
    if about.id is null or exists (select from signal where message_id = about.id and user_id = p_user_id
            and coalesce(telegram_message_id, p_telegram_message_id) = p_telegram_message_id
            and greatest(created_at, removed_at) > to_timestamp(p_at))
    then
        return to_jsonb(false);
    end if;
    update signal set removed_at = to_timestamp(p_at)
    where message_id = about.id and user_id = p_user_id and removed_at is null and not p_emojis ? emoji
        and coalesce(telegram_message_id, p_telegram_message_id) = p_telegram_message_id;
    insert into signal (space_id, message_id, turn_id, user_id, emoji, created_at, telegram_message_id)
    select about.space_id, about.id, about.turn_id, p_user_id, one.emoji, to_timestamp(p_at), p_telegram_message_id
    from jsonb_array_elements_text(p_emojis) with ordinality as one (emoji, place)
    where not exists (
        select from signal s where s.message_id = about.id and s.user_id = p_user_id and s.emoji = one.emoji
            and s.removed_at is null and s.telegram_message_id is null)  -- from before they were told apart
    order by one.place on conflict do nothing;
    if about.role = 'assistant' then
        perform relay.feedback_of_reactions(about, p_user_id, 'reaction');
        perform relay.settle_questions(p_bot_id, p_chat_id, topic_id) from thread where id = about.thread_id;
    end if;
    return to_jsonb(true);
end $$;

-- Tests whether an answer gets a ◆: the person wants it, and the session is on the record.
create or replace function relay.can_be_kept(p_turn relay.turn) returns boolean
language sql stable set search_path = relay, extensions, pg_temp as $$
    select p_turn.assistant_message_id is not null and coalesce((p_turn.told #>> '{choices,keep}')::boolean, true)
        and not coalesce(p_turn.told -> 'signs', '[]') ? 'private'
$$;

-- Removes the ◆ from the answer that a message is part of, if it answers this person. Returns what its last message
-- shows then; null if there is no ◆.
create or replace function public.relay_take_keep(
    p_bot_id bigint, p_chat_id bigint, p_telegram_message_id bigint, p_user_id bigint) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    answered turn;
begin
    update turn t set told = jsonb_set(t.told, '{choices}', coalesce(t.told -> 'choices', '{}') || '{"keep": false}')
    from posted p
    where p.bot_id = p_bot_id and p.chat_id = p_chat_id and p.telegram_message_id = p_telegram_message_id and p.from_bot
        and t.id = p.turn_id and t.user_id = p_user_id and relay.can_be_kept(t) returning t.* into answered;
    return case when answered.id is not null then relay.shown_last(answered) end;
end $$;
