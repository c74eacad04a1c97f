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
    from delivery d
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
    here bigint := (select chat_id from delivery where turn_id = p_turn.id order by seq limit 1);
    one record;
begin
    for one in
        select bot_id, chat_id, telegram_message_id, request ? 'text' as is_text,
            row_number() over (partition by request ? 'text' order by seq) as place
        from delivery
        where turn_id = p_turn.replaces_turn_id and p_turn.assistant_message_id is not null
            and status = 'sent' and telegram_message_id is not null and not request ? 'delete' and chat_id = here
            and echo_of is null
        order by seq
    loop
        update delivery set telegram_message_id = one.telegram_message_id
        where one.is_text and turn_id = p_turn.id and seq = (
            select n.seq from (
                select seq, row_number() over (order by seq) as place from delivery
                where turn_id = p_turn.id and request ? 'text' and echo_of is null) n
            where n.place = one.place);
        if not found then
            insert into delivery (turn_id, seq, bot_id, chat_id, request, telegram_message_id)
            select p_turn.id, max(seq) + 1, one.bot_id, one.chat_id,
                jsonb_build_object('chat_id', one.chat_id, 'delete', true), one.telegram_message_id
            from delivery where turn_id = p_turn.id;
        end if;
    end loop;
end $$;
