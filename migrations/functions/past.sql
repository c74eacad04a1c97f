-- What a memory was before, and messages that people want to be kept as memories.

-- A page of the changes of a memory, newest first, also that by which another took its place: {total, offset, changes}.
-- `restores`: what it said before that change is not what it says, and can be said again.
create or replace function public.relay_memory_past(p_memory_id bigint, p_offset integer, p_limit integer)
returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    with own as (select * from memory where id = p_memory_id),
    every as (
        select c.* from own join memory_change c on c.memory_id = own.id
            or c.memory_id = own.replaced_by and relay.replaced_in(c) = own.id),
    page as (
        select * from every order by id desc
        offset relay.page_start(p_offset, p_limit, (select count(*)::integer from every)) limit p_limit)
    select jsonb_build_object('total', (select count(*) from every),
        'offset', relay.page_start(p_offset, p_limit, (select count(*)::integer from every)),
        'changes', coalesce((
            select jsonb_agg(jsonb_build_object('id', p.id, 'action', p.action, 'status', p.status, 'kind', m.kind,
                'subject', m.subject, 'memory_id', m.id, 'content', relay.content_after(p, m.content),
                'before', p.before ->> 'content', 'at', p.created_at, 'decided_at', p.decided_at,
                'restores', m.id = own.id and own.status = 'active' and p.before ->> 'content' <> own.content
                    and p.action in ('refresh', 'restore', 'supersede', 'merge')) order by p.id desc)
            from page p join memory m on m.id = p.memory_id cross join own), '[]'))
$$;

-- The message of a space that a Telegram message is (p_telegram_message_id), or that a turn answered with (p_turn_id), as
-- somebody may want it kept: {id, role, name, text, untrusted, private}, private where it is off the record. An answer
-- may still be on its way. Null when there is none.
create or replace function public.relay_keepable(
    p_space jsonb, p_bot_id bigint, p_chat_id bigint, p_telegram_message_id bigint, p_turn_id bigint)
returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('id', m.id, 'role', m.role, 'name', m.name, 'text', left(m.text, 20000),
        'untrusted', m.untrusted or m.tainted, 'private', s.private)
    from message m join session s on s.id = m.session_id
    where m.space_id = relay.find_space(p_space) and m.status <> 'replaced' and m.id = case
        when p_turn_id is not null then (select assistant_message_id from turn where id = p_turn_id)
        else coalesce(
            (select message_id from posted where bot_id = p_bot_id and chat_id = p_chat_id
                and telegram_message_id = p_telegram_message_id),
            (select t.assistant_message_id from turn t join delivery d on d.turn_id = t.id
                where t.status in ('working', 'answered') and t.bot_id = p_bot_id and d.chat_id = p_chat_id
                    and d.telegram_message_id is null and d.status = 'sending'
                    and d.floor_message_id < p_telegram_message_id
                order by d.id desc limit 1)) end
$$;
