-- What was found in memory, opened: a message with those around it, a memory with where it came from, a summary, a part
-- of a document. And the model's search, as far as the thread in which it asks may look.

-- Whether a thread may look into the memory of a space now: of its own, or of one that is lent.
create or replace function relay.may_look(p_space_id bigint, p_asker jsonb) returns boolean
language sql stable set search_path = relay, extensions, pg_temp as $$
    select relay.remembers(p_space_id) and not exists (
        select from thread where chat_id = (p_asker ->> 'chat_id')::bigint
            and topic_id = (p_asker ->> 'topic_id')::bigint and not recalls)
$$;

-- The model's tool: what a space has that bears on a question, each with the name of the place where it was said.
-- p_asker: {bot_id, chat_id, topic_id, turn_id} of the thread and the turn that ask (what was said to it is not found).
-- p_query as in relay.find_entries. What turns wrote a moment ago is entered first. Null where memory may not be used.
create or replace function public.relay_look_up(p_space jsonb, p_asker jsonb, p_query jsonb, p_limit integer)
returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    select relay.enter_due(50);
    select case when relay.may_look(own.id, p_asker) then (
        select coalesce(jsonb_agg(one.line || jsonb_build_object('place',
            relay.place_name((p_asker ->> 'bot_id')::bigint, t.chat_id, t.topic_id)) order by one.nr), '[]')
        from jsonb_array_elements(relay.found_json(own.id,
            (p_query - 'floor' - 'not_thread') || jsonb_build_object(
                'not_message', (select user_message_id from turn where id = (p_asker ->> 'turn_id')::bigint)),
            p_limit))
            with ordinality as one (line, nr)
        left join thread t on t.id = (one.line ->> 'thread_id')::bigint and t.space_id = own.id) end
    from (select relay.find_space(p_space) as id) own
$$;

-- A message as it is shown with others: the head of its text, and whether others wrote in it, or its answer read such.
create or replace function relay.told_message(p_message relay.message, p_characters integer) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('id', p_message.id, 'at', p_message.created_at, 'role', p_message.role,
        'user_id', p_message.user_id, 'name', p_message.name, 'text', left(p_message.text, p_characters),
        'cut', length(p_message.text) > p_characters, 'untrusted', p_message.untrusted or p_message.tainted)
$$;

-- A message of a space with p_count before and after it in its thread. Null when there is none that may be shown: a
-- replaced one, or one that was off the record.
create or replace function relay.look_at_message(p_space_id bigint, p_bot_id bigint, p_id bigint, p_count integer)
returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    with own as (
        select m.*, t.chat_id, t.topic_id from message m join thread t on t.id = m.thread_id
        join session s on s.id = m.session_id
        where m.id = p_id and m.space_id = p_space_id and m.status <> 'replaced' and not s.private),
    near as (
        (select m.* from own, message m join session s on s.id = m.session_id and not s.private
        where m.thread_id = own.thread_id and m.id < own.id and m.status <> 'replaced'
        order by m.id desc limit p_count)
        union all
        (select m.* from own, message m join session s on s.id = m.session_id and not s.private
        where m.thread_id = own.thread_id and m.id >= own.id and m.status <> 'replaced'
        order by m.id limit p_count + 1))
    select jsonb_build_object('kind', 'message', 'id', own.id,
        'place', relay.place_name(p_bot_id, own.chat_id, own.topic_id),
        'messages', (select jsonb_agg(relay.told_message(m, case when n.id = own.id then 6000 else 1500 end)
            order by n.id) from near n join message m on m.id = n.id))
    from own
$$;

-- A memory of a space that is in force (or was only put aside): what it says since when and until when, which messages
-- taught it, and what it said before. Null for any other.
create or replace function relay.look_at_memory(p_space_id bigint, p_bot_id bigint, p_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('kind', 'memory', 'id', k.id, 'number', k.number, 'type', k.kind, 'content', k.content,
        'subject', k.subject, 'subject_id', k.subject_id, 'category', k.category, 'tags', k.tags,
        'importance', k.importance, 'confidence', k.confidence, 'pinned', k.pinned, 'status', k.status,
        'at', k.created_at, 'updated_at', k.updated_at, 'valid_from', k.valid_from, 'valid_until', k.valid_until,
        'by', k.derivation ->> 'name', 'promoted', k.promoted_by is not null, 'untrusted', k.tainted,
        'place', relay.place_name(p_bot_id, t.chat_id, t.topic_id),
        'sources', (
            select coalesce(jsonb_agg(relay.told_message(m, 1500) order by m.id), '[]') from (
                select m.* from message m join session s on s.id = m.session_id and not s.private
                where m.id = any (k.evidence || k.source_message_id) and m.space_id = p_space_id
                    and m.status <> 'replaced'
                order by m.id limit 6) near join message m on m.id = near.id),
        'before', (
            select coalesce(jsonb_agg(jsonb_build_object('until', was.until, 'said', left(was.said, 600))
                order by was.until), '[]')
            from (
                select * from (
                    select coalesce(c.decided_at, c.created_at) as until, c.before ->> 'content' as said
                    from memory_change c
                    where c.memory_id = k.id and c.status = 'applied' and c.before ->> 'content' <> k.content
                    union
                    select o.updated_at, o.content from memory o
                    where o.replaced_by = k.id and o.space_id = p_space_id and o.status = 'superseded') every
                order by until desc limit 10) was))
    from memory k left join thread t on t.id = k.thread_id
    where k.id = p_id and k.space_id = p_space_id and k.status in ('active', 'archived')
$$;

-- A summary of a space, with the messages from and through which it reaches. Null when there is none, or it is of what
-- was off the record.
create or replace function relay.look_at_summary(p_space_id bigint, p_bot_id bigint, p_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('kind', 'summary', 'id', s.id, 'number', s.id, 'at', s.created_at, 'content', left(s.text, 12000),
        'messages', s.message_count, 'untrusted', s.tainted,
        'place', relay.place_name(p_bot_id, t.chat_id, t.topic_id),
        'from_id', s.from_message_id, 'through_id', s.through_message_id,
        'from_at', (select created_at from message where id = s.from_message_id and space_id = p_space_id),
        'through_at', (select created_at from message where id = s.through_message_id and space_id = p_space_id))
    from summary s join thread t on t.id = s.thread_id join session n on n.id = s.session_id
    where s.id = p_id and t.space_id = p_space_id and not n.private
$$;

-- A part of a document of a space. Null when there is none.
create or replace function relay.look_at_part(p_space_id bigint, p_bot_id bigint, p_id bigint, p_part integer)
returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('kind', 'part', 'id', d.id, 'part', p.part, 'parts', d.parts, 'document', d.name,
        'at', m.created_at, 'name', m.name, 'user_id', m.user_id, 'message_id', m.id, 'content', left(p.text, 12000),
        'untrusted', true, 'place', relay.place_name(p_bot_id, t.chat_id, t.topic_id))
    from document d join document_part p on p.document_id = d.id and p.part = p_part
    join message m on m.id = d.message_id join thread t on t.id = m.thread_id join session n on n.id = m.session_id
    where d.id = p_id and d.space_id = p_space_id and m.status <> 'replaced' and not n.private
$$;

-- What a search found in a space, opened: p_kind as in relay.entry. Null when the space has no such thing to show, or
-- p_asker ({bot_id, chat_id, topic_id}; guarded when the model asks) may not look into memory.
create or replace function public.relay_look_at(
    p_space jsonb, p_asker jsonb, p_guarded boolean, p_kind text, p_id bigint, p_part integer)
returns jsonb
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    own bigint := relay.find_space(p_space);
    bot bigint := (p_asker ->> 'bot_id')::bigint;
begin
    if own is null or p_guarded and not relay.may_look(own, p_asker) then
        return null;
    end if;
    return case p_kind
        when 'message' then relay.look_at_message(own, bot, p_id, 4)
        when 'memory' then relay.look_at_memory(own, bot, p_id)
        when 'summary' then relay.look_at_summary(own, bot, p_id)
        when 'part' then relay.look_at_part(own, bot, p_id, p_part) end;
end $$;
