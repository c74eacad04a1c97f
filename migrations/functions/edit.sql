-- Messages that their author edits, and answers that take the place of others.

-- What a Telegram message says.
create or replace function relay.text_of(p_message jsonb) returns text
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select coalesce(nullif(p_message ->> 'text', ''), p_message ->> 'caption', '')
$$;

-- The stored update of a message that has not been answered, in the queue or in its lane's open turn.
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

-- Lets an edit take the place of a message that no turn has begun with; a turn that has claimed it goes back to the
-- queue, so that it reads it again. taken: that is all there is to do. busy: its turn is about to save it, or to leave
-- it out. Null: it does not wait any more.
create or replace function relay.edit_queued(p_edit jsonb) returns text
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    queued inbox;
    held turn;
begin
    loop
        queued := relay.queued_message(p_edit);
        -- The turn before its update, as everybody locks them.
        select * into held from turn where id = queued.turn_id for update;
        if queued.update_id is null or held.status <> 'working' or exists (
            select from posted where bot_id = queued.bot_id and chat_id = (p_edit ->> 'chat_id')::bigint
                and telegram_message_id = (p_edit ->> 'telegram_message_id')::bigint and message_id is not null)
        then
            return null;
        elsif relay.text_of(queued.payload -> 'message') = relay.text_of(p_edit -> 'message')
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

-- Keeps what a message said, and lets it say what its author made of it. False: nothing is new in it, or it is one of
-- several that cannot be told apart.
create or replace function relay.reword(p_message relay.message, p_posted relay.posted, p_edit jsonb) returns boolean
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    if coalesce(p_posted.part ->> 'text', p_message.text) = p_edit ->> 'text'
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

-- Whether a message is the last that anybody said in its thread since the last /new.
create or replace function relay.is_last_said(p_message relay.message) returns boolean
language sql stable set search_path = relay, extensions, pg_temp as $$
    select p_message.id >= t.context_from and not exists (
        select from message m where m.thread_id = p_message.thread_id and m.id > p_message.id and m.role = 'user')
    from thread t where t.id = p_message.thread_id
$$;

-- The turn whose answer to a message stands; null when there is none.
create or replace function relay.standing_answer(p_message relay.message) returns relay.turn
language sql stable set search_path = relay, extensions, pg_temp as $$
    select t.* from turn t join message a on a.id = t.assistant_message_id
    where t.thread_id = p_message.thread_id and t.user_message_id = p_message.id and a.status <> 'replaced'
    order by t.id desc limit 1
$$;

-- What an answer's last message of text shows (a line in place of a voice note is none): where it is, its buttons when
-- it was sent, what its turn changed in memory, and whether it has a ◆.
create or replace function relay.shown_last(p_turn relay.turn) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('turn_id', p_turn.id, 'chat_id', d.chat_id, 'message_id', d.telegram_message_id,
        'rows', coalesce(d.request #> '{reply_markup,inline_keyboard}', '[]'), 'changes', relay.changes_of(p_turn.id),
        'keeps', relay.can_be_kept(p_turn))
    from outbox d
    where d.turn_id = p_turn.id and d.status = 'sent' and d.telegram_message_id is not null and d.request ? 'text'
        and d.echo_of is null and not d.request ? 'say'
    order by d.seq desc limit 1
$$;

-- A message was edited by its author. busy: it is being answered as it was, so ask again later. offer: its answer is
-- to the old wording, and this is where a new one can be offered.
create or replace function public.relay_edit(p_edit jsonb) returns jsonb
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
    if answering.status = 'working' and coalesce(own.part ->> 'text', said.text) <> p_edit ->> 'text'
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

-- How a turn stands, to somebody who wants its message answered again. asked: it was they who said it. stands: no later
-- turn has answered it. last: nothing was said after it. Null: there is no such turn.
create or replace function public.relay_standing(p_turn_id bigint, p_user_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('asked', t.user_id = p_user_id,
        'stands', not exists (
            select from turn n where n.thread_id = t.thread_id and n.id > t.id
                and n.user_message_id = t.user_message_id and n.assistant_message_id is not null),
        'last', coalesce(relay.is_last_said(m), false))
    from turn t left join message m on m.id = t.user_message_id where t.id = p_turn_id
$$;

-- The turn whose answer a new one takes the place of: the one that stands, where a button asked for that, or where the
-- turn that is tried again was to do it and has no answer.
create or replace function relay.turn_to_replace(p_message_id bigint, p_input jsonb) returns bigint
language sql stable set search_path = relay, extensions, pg_temp as $$
    select (relay.standing_answer(m)).id from message m
    where m.id = p_message_id and ((p_input ->> 'replaces')::boolean or exists (
        select from turn t where t.id = (p_input ->> 'retry_turn')::bigint and t.user_message_id = m.id
            and t.assistant_message_id is null and t.replaces_turn_id is not null))
$$;

-- What a turn's message did to memory by the answer to it. What was learned of other messages afterwards is only told
-- under that answer. What somebody decided about themselves stands for itself.
create or replace function relay.taught_by(p_turn_id bigint) returns setof relay.memory_change
language sql stable set search_path = relay, extensions, pg_temp as $$
    select c.* from memory_change c join turn t on t.id = c.turn_id join memory m on m.id = c.memory_id
    where c.turn_id = p_turn_id and c.decided_at is null and c.user_id is not distinct from t.user_id
        and (c.action not in ('learn', 'supersede', 'merge') or m.source_message_id = t.user_message_id
            or m.derivation ->> 'name' not in ('judge', 'keyword judge'))
$$;

-- Memories without those that an answer taught which is about to be replaced: they come from words that were taken
-- back.
create or replace function relay.without_taught(p_turn_id bigint, p_memories jsonb) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select case when p_turn_id is null then p_memories else (
        select coalesce(jsonb_agg(one order by place), '[]')
        from jsonb_array_elements(p_memories) with ordinality as m (one, place)
        where not exists (
            select from relay.taught_by(p_turn_id) c where c.memory_id = (one ->> 'id')::bigint
                and c.action in ('learn', 'supersede', 'merge') and c.status = 'applied')) end
$$;

-- Takes back what the answer that a turn replaces did to memory, the last change first. What was changed again since
-- stays.
create or replace function relay.withdraw_taught(p_turn relay.turn) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    change memory_change;
begin
    for change in
        select * from relay.taught_by(p_turn.replaces_turn_id) where status in ('applied', 'pending') order by id desc
    loop
        perform public.relay_decide_change(change.id, p_turn.user_id, true,
            case change.status when 'pending' then 'discard' else 'undo' end);
    end loop;
end $$;

-- What was taken back just now for a turn's answer, and is not taught again by it.
create or replace function relay.withdrawn_for(p_turn relay.turn) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_agg(one order by c.id), '[]')
    from jsonb_array_elements(relay.changes_of(p_turn.replaces_turn_id)) as one
    join memory_change c on c.id = (one ->> 'id')::bigint
    where c.status = 'undone' and c.decided_at = now() and not exists (
        select from memory_change n join memory m on m.id = n.memory_id
        where n.turn_id = p_turn.id and lower(m.content) = lower(one ->> 'content'))
$$;

-- The texts of an answer that takes another's place get the other's messages in the chat, in order, to be edited. Those
-- that are left over, and files, become parts of their own, to be deleted. What stands in another chat (a group that
-- has become a supergroup) is out of reach.
create or replace function relay.take_over_parts(p_turn relay.turn) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    here bigint := (select chat_id from outbox where turn_id = p_turn.id order by seq limit 1);
    one record;
begin
    for one in
        select bot_id, chat_id, telegram_message_id, request ? 'text' as is_text,
            row_number() over (partition by request ? 'text' order by seq) as place
        from outbox
        where turn_id = p_turn.replaces_turn_id and p_turn.assistant_message_id is not null
            and status = 'sent' and telegram_message_id is not null and not request ? 'delete' and chat_id = here
            and echo_of is null
        order by seq
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

-- What a message says, and what it said before that.

-- How many wordings a message had before its present one.
create or replace function relay.wordings(p_message_id bigint) returns bigint
language sql stable set search_path = relay, extensions, pg_temp as $$
    select count(*) from message_version where message_id = p_message_id
$$;

-- Gives a message that came in several what its parts say now; what only goes on with the part before stays one block
-- with it.
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

-- Keeps what a message said, and lets it (of one that came in several, the part that a Telegram message was) say
-- something else.
create or replace function relay.give_wording(
    p_message relay.message, p_posted relay.posted, p_text text, p_blocks jsonb)
returns void
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

-- The words in blocks: those of a file (p_file), or those beside it. A file that the message only replies to is none.
create or replace function relay.words_in(p_blocks jsonb, p_file boolean) returns text
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select coalesce(btrim(string_agg(one ->> 'text', E'\n' order by place), E' \n'), '')
    from jsonb_array_elements(p_blocks) with ordinality as b (one, place)
    where one ->> 'type' = 'text' and (one ? 'file') = p_file and not one ? 'unread' and not one ? 'replied'
$$;

-- An edit of what stands under a file, with what was read of that file when it came: p_text and p_blocks are what the
-- message says now. An edit of anything else stays as it is.
create or replace function relay.with_file(p_edit jsonb, p_text text, p_blocks jsonb) returns jsonb
language plpgsql immutable set search_path = relay, extensions, pg_temp as $$
declare
    beside text := relay.words_in(p_blocks, false);
    words text;
begin
    if not p_edit -> 'blocks' @> '[{"type": "attachment"}]' then
        return p_edit;
    end if;
    -- A picture has words (that there is one) which stand in no block.
    words := case when right(p_text, length(beside)) = beside then left(p_text, length(p_text) - length(beside))
        else relay.words_in(p_blocks, true) end;
    return p_edit || jsonb_build_object(
        'text', left(btrim(btrim(words, E' \n') || E'\n' || (p_edit ->> 'text'), E' \n'), 400000),
        'blocks', (
            select coalesce(jsonb_agg(read.one order by given.place, read.place), '[]')
            from jsonb_array_elements(p_edit -> 'blocks') with ordinality as given (one, place),
            lateral (
                select given.one, 0::bigint as place where given.one ->> 'type' <> 'attachment'
                union all
                select stored.one, stored.place
                from jsonb_array_elements(p_blocks) with ordinality as stored (one, place)
                where given.one ->> 'type' = 'attachment'
                    and stored.one #> '{file,unique_id}' = given.one #> '{file,unique_id}') as read));
end $$;

-- Reactions: what somebody thinks of a message, kept for later.

-- The reactions of a person at a message of the assistant's, or at one of their own, as they stand since p_at (Unix
-- seconds). Those that do not stand any more are kept as taken back; what is older than what is known changes nothing.
create or replace function public.relay_react(
    p_bot_id bigint, p_chat_id bigint, p_telegram_message_id bigint, p_user_id bigint, p_emojis jsonb, p_at bigint)
returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    about message;
begin
    -- Locked, so that one change comes after the other.
    select m.* into about from posted p join message m on m.id = p.message_id
    where p.bot_id = p_bot_id and p.chat_id = p_chat_id and p.telegram_message_id = p_telegram_message_id
        and (m.role = 'assistant' or m.user_id = p_user_id)
    for no key update of m;
    if about.id is null or exists (
        select from signal where message_id = about.id and user_id = p_user_id
            and greatest(created_at, removed_at) > to_timestamp(p_at))
    then
        return to_jsonb(false);
    end if;
    update signal set removed_at = to_timestamp(p_at)
    where message_id = about.id and user_id = p_user_id and removed_at is null and not p_emojis ? emoji;
    insert into signal (space_id, message_id, turn_id, user_id, emoji, created_at)
    select about.space_id, about.id, about.turn_id, p_user_id, emoji, to_timestamp(p_at)
    from jsonb_array_elements_text(p_emojis) as emoji
    on conflict do nothing;
    if about.role = 'assistant' then
        perform relay.feedback_of_reactions(about, p_user_id);
    end if;
    return to_jsonb(true);
end $$;

-- Whether an answer has a ◆ that proposes to keep it: its person wants that, and it is not off the record.
create or replace function relay.can_be_kept(p_turn relay.turn) returns boolean
language sql stable set search_path = relay, extensions, pg_temp as $$
    select p_turn.assistant_message_id is not null and coalesce((p_turn.told #>> '{choices,keep}')::boolean, true)
        and not coalesce(p_turn.told -> 'signs', '[]') ? 'private'
$$;

-- Takes the ◆ from the answer that a message of ours is part of, for whoever it answers. Returns what its last message
-- shows then; null where there is no ◆ to take.
create or replace function public.relay_take_keep(
    p_bot_id bigint, p_chat_id bigint, p_telegram_message_id bigint, p_user_id bigint)
returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    answered turn;
begin
    update turn t set told = jsonb_set(t.told, '{choices}', coalesce(t.told -> 'choices', '{}') || '{"keep": false}')
    from posted p
    where p.bot_id = p_bot_id and p.chat_id = p_chat_id and p.telegram_message_id = p_telegram_message_id and p.from_bot
        and t.id = p.turn_id and t.user_id = p_user_id and relay.can_be_kept(t)
    returning t.* into answered;
    return case when answered.id is not null then relay.shown_last(answered) end;
end $$;
