-- Erasing: for good, in steps of a second or so, each of which may be the last before a crash; the next goes on.

-- Takes from turns all that they keep of what was said: prompts, what was told, requests, updates, events. Of those
-- that are still under way nothing.
create or replace function relay.erase_turns(p_turns bigint[]) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    ended bigint[] := array(select id from turn where id = any (p_turns) and status in ('done', 'failed'));
begin
    update event e set payload = null from inbox i
    where i.turn_id = any (ended) and e.at = i.received_at and e.bot_id = i.bot_id and e.update_id = i.update_id;
    update event e set payload = null from posted p join turn t on t.id = p.turn_id
    where p.turn_id = any (ended) and not p.from_bot and e.kind = 'update'
        and e.at between t.created_at - interval '2 hours' and t.created_at
        and e.bot_id = p.bot_id and e.payload #>> '{message,message_id}' = p.telegram_message_id::text
        and e.payload #>> '{message,chat,id}' = p.chat_id::text;
    update event set payload = null where turn_id = any (ended) and payload is not null;
    update inbox set payload = null where turn_id = any (ended) and payload is not null;
    update posted set part = null where turn_id = any (ended) and part is not null;
    update delivery set request = jsonb_build_object('chat_id', chat_id, 'erased', true), sending_text = null
    where turn_id = any (ended) and not request ? 'erased';
    update turn set prompt = null, told = null where id = any (ended) and (prompt is not null or told is not null);
end $$;

-- Takes messages away, with what their turns keep of them, their older wordings and their documents. Returns how many.
create or replace function relay.erase_messages(p_space_id bigint, p_messages bigint[]) returns integer
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    turns bigint[] := array(
        select turn_id from message where id = any (p_messages) and turn_id is not null
        union select id from turn where user_message_id = any (p_messages));
    gone integer;
begin
    perform relay.erase_turns(turns);
    update posted set message_id = null where turn_id = any (turns) and message_id = any (p_messages);
    update turn set user_message_id = case when user_message_id = any (p_messages) then null else user_message_id end,
        assistant_message_id = case when assistant_message_id = any (p_messages) then null else assistant_message_id end
    where id = any (turns);
    update memory set source_message_id = null where source_message_id = any (p_messages);
    update memory set evidence = array(select unnest(evidence) except select unnest(p_messages))
    where space_id = p_space_id and evidence && p_messages;
    delete from message_version where message_id = any (p_messages);
    delete from signal where message_id = any (p_messages);
    delete from document where message_id = any (p_messages);
    delete from message where id = any (p_messages) and space_id = p_space_id;
    get diagnostics gone = row_count;
    return gone;
end $$;

-- Takes summaries away and owes each session whose they were a new one, of the hundred messages before its end; until it
-- is written the thread has the summary before them, or none.
create or replace function relay.erase_summary_rows(p_summaries bigint[]) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    with gone as (
        delete from summary where id = any (p_summaries)
        returning thread_id, session_id, from_message_id, through_message_id)
    insert into summary_due (thread_id, session_id, context_from, through_message_id)
    select thread_id, session_id, min(from_message_id), max(through_message_id) from gone
    group by thread_id, session_id
    on conflict (thread_id, through_message_id) do update
        set status = 'due', failures = 0, error = null, not_before = now(), lease_owner = null, lease_until = null;
    update thread t set summary_id = (
        select id from summary s where s.thread_id = t.id and s.through_message_id >= t.context_from
        order by s.through_message_id desc, s.id desc limit 1)
    where summary_id = any (p_summaries);
end $$;

-- Takes memories away with their history; and from the history of others what says it.
create or replace function relay.erase_memory_rows(p_space_id bigint, p_memories bigint[], p_needles jsonb) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    turns bigint[] := array(
        select turn_id from memory where id = any (p_memories) and turn_id is not null
        union select turn_id from memory_change where memory_id = any (p_memories) and turn_id is not null);
begin
    delete from memory_change
    where space_id = p_space_id
        and (memory_id = any (p_memories) or before is not null and relay.says(before ->> 'content', p_needles));
    update memory set replaced_by = null where replaced_by = any (p_memories);
    delete from memory where id = any (p_memories) and space_id = p_space_id;
    perform relay.erase_turns(turns);
end $$;

-- Titles and names of topics that say it go; a title that a model made is owed again.
create or replace function relay.erase_titles(p_space_id bigint, p_needles jsonb) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    update title_due set status = 'due', failures = 0, error = null, not_before = now()
    where session_id in (
        select id from session
        where space_id = p_space_id and titled_by = 'model' and relay.says(title, p_needles));
    update session set title = null, titled_by = null
    where space_id = p_space_id and title is not null and relay.says(title, p_needles);
    update topic set name = '' where relay.says(name, p_needles)
        and (chat_id, topic_id) in (select chat_id, topic_id from thread where space_id = p_space_id);
end $$;

-- The chats in which a space's own things are said.
create or replace function relay.chats_of(p_space_id bigint) returns bigint[]
language sql stable set search_path = relay, extensions, pg_temp as $$
    select array(
        select coalesce(owner_id, chat_id) from space where id = p_space_id
        union select chat_id from thread where space_id = p_space_id)
$$;

-- The next thousand messages of a space after an id: those that say it go, and from the blocks of others (what a tool
-- found, for one) what does. Returns the last id that was looked at; null at the end.
create or replace function relay.sweep_messages(p_erasure relay.erasure, p_after bigint) returns bigint
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    needles constant jsonb := p_erasure.work -> 'needles';
    loose constant jsonb := p_erasure.work -> 'loose';
    admin constant boolean := coalesce((p_erasure.work ->> 'admin')::boolean, false);
    looked bigint;
    whole bigint[];
    blocks_only bigint[];
begin
    with page as (
        select * from message where id > p_after order by id limit 1000),
    own as (
        select id, relay.says(text, needles) as is_said, relay.says(blocks::text, loose) as in_blocks
        from page where space_id = p_erasure.space_id
            and relay.may_erase(space_id, user_id, p_erasure.user_id, admin))
    select (select max(id) from page), array_agg(id) filter (where is_said),
        array_agg(id) filter (where in_blocks and not is_said)
    into looked, whole, blocks_only from own;
    perform relay.erase_messages(p_erasure.space_id, whole) where whole is not null;
    update message set blocks = case role when 'assistant' then jsonb_build_array(jsonb_build_object('role', 'assistant',
            'content', jsonb_build_array(jsonb_build_object('type', 'text', 'text', text))))
        else jsonb_build_array(jsonb_build_object('type', 'text', 'text', text)) end
    where id = any (blocks_only);
    delete from message_version v using message m
    where m.id = v.message_id and m.space_id = p_erasure.space_id and m.id > p_after and m.id <= looked
        and relay.says(v.blocks::text || v.text, needles);
    return looked;
end $$;

-- The next five hundred turns after an id: those of the space's chats that keep what says it keep it no longer.
create or replace function relay.sweep_turns(p_erasure relay.erasure, p_after bigint) returns bigint
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    loose constant jsonb := p_erasure.work -> 'loose';
    chats constant bigint[] := relay.chats_of(p_erasure.space_id);
    looked bigint;
    saying bigint[];
begin
    with page as (
        select * from turn where id > p_after order by id limit 500),
    own as (
        select p.* from page p left join lane l on l.id = p.lane_id
        where p.space_id = p_erasure.space_id or p.space_id is null and l.chat_id = any (chats))
    select (select max(id) from page), array_agg(o.id) filter (where relay.says(o.prompt::text, loose)
        or relay.says(o.told::text, loose)
        or exists (select from delivery d where d.turn_id = o.id
            and (relay.says(d.request::text, loose) or relay.says(d.sending_text, loose)))
        or exists (select from inbox i where i.turn_id = o.id and relay.says(i.payload::text, loose))
        or exists (select from posted p where p.turn_id = o.id and relay.says(p.part::text, loose))
        or exists (select from event e where e.turn_id = o.id and relay.says(e.payload::text, loose)))
    into looked, saying from own o;
    perform relay.erase_turns(saying) where saying is not null;
    return looked;
end $$;

-- The next two thousand events after an id: those of the space's chats that say it are left without what they held.
create or replace function relay.sweep_events(p_erasure relay.erasure, p_after bigint) returns bigint
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    loose constant jsonb := p_erasure.work -> 'loose';
    chats constant bigint[] := relay.chats_of(p_erasure.space_id);
    looked bigint;
begin
    select max(id) into looked from (select id from event where id > p_after order by id limit 2000) page;
    update event set payload = null
    where id > p_after and id <= looked and payload is not null and relay.says(payload::text, loose)
        and (space_id = p_erasure.space_id or space_id is null and (
            jsonb_path_query_first(payload, '$.**.chat.id')::text::bigint = any (chats)
            or user_id = any (chats)));
    return looked;
end $$;

-- Takes what says it out of all tables that only hold what is derived from others: whichever have a space_id and none of
-- Relay's first tables' names. They are made again.
create or replace function relay.sweep_derived(p_erasure relay.erasure) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    one record;
begin
    for one in
        select c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'space_id'
        where c.relnamespace = 'relay'::regnamespace and c.relkind = 'r' and c.relname not in ('thread', 'session',
            'turn', 'message', 'memory', 'memory_change', 'event', 'signal', 'document', 'document_part', 'spend', 'erasure', 'lexeme', 'lexeme_change')
    loop
        execute format('delete from relay.%I t where space_id = $1 and relay.says(to_jsonb(t)::text, $2)', one.relname)
        using p_erasure.space_id, p_erasure.work -> 'loose';
    end loop;
    perform relay.add_up_space(p_erasure.space_id);
end $$;

-- Our own messages in the chat that an erasure takes, of the last 47 hours: [[chat id, message id]], 200 at most.
create or replace function relay.erase_posted(p_messages bigint[]) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_agg(jsonb_build_array(chat_id, telegram_message_id)), '[]') from (
        select p.chat_id, p.telegram_message_id from posted p
        where p.turn_id in (select turn_id from message where id = any (p_messages)) and p.message_id = any (p_messages)
            and p.from_bot and p.chat_id <> 0 and p.created_at > now() - interval '47 hours'
        order by p.created_at desc limit 200) own
$$;

-- A person's tap: what was shown is erased from now on. Whether it is.
create or replace function public.relay_erase_begin(p_erasure_id bigint, p_user_id bigint, p_admin boolean)
returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own erasure;
begin
    update erasure set status = 'working', created_at = now(), work = work || jsonb_build_object('admin', p_admin,
            'phase', 'rows', 'after', 0),
        posted = relay.erase_posted(array(select jsonb_array_elements_text(work -> 'messages')::bigint))
    where id = p_erasure_id and user_id = p_user_id and status = 'preview'
        and created_at > now() - interval '15 minutes'
    returning * into own;
    return to_jsonb(own.id is not null
        or exists (select from erasure where id = p_erasure_id and user_id = p_user_id and status <> 'preview'));
end $$;

-- The rows that were shown, two hundred messages at a time, then the summaries and memories. Whether that is all.
create or replace function relay.erase_rows(p_erasure relay.erasure) returns boolean
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    needles constant jsonb := p_erasure.work -> 'needles';
    ids bigint[] := array(select jsonb_array_elements_text(p_erasure.work -> 'messages')::bigint);
begin
    if cardinality(ids) > 0 then
        perform relay.erase_messages(p_erasure.space_id, ids[:200]);
        update erasure set work = work || jsonb_build_object('messages', to_jsonb(ids[201:])) where id = p_erasure.id;
        return false;
    end if;
    perform relay.erase_summary_rows(array(select jsonb_array_elements_text(p_erasure.work -> 'summaries')::bigint));
    perform relay.erase_memory_rows(p_erasure.space_id,
        array(select jsonb_array_elements_text(p_erasure.work -> 'memories')::bigint), needles);
    perform relay.erase_titles(p_erasure.space_id, p_erasure.work -> 'loose');
    return true;
end $$;

-- Goes on with an erasure (null: with the oldest that is not done) for about a second: {erasure_id, done, counts,
-- posted: how many messages of ours in the chat it took}. Null when there is none, or another process is at it.
create or replace function public.relay_erase_step(p_erasure_id bigint) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own erasure;
    phases constant text[] := array['rows', 'messages', 'turns', 'events', 'derived', 'end'];
    phase text;
    after bigint;
begin
    loop
        select * into own from erasure
        where status = 'working' and id = coalesce(p_erasure_id, id) order by id limit 1 for update skip locked;
        exit when own.id is null;
        phase := own.work ->> 'phase';
        after := (own.work ->> 'after')::bigint;
        case phase
            when 'rows' then after := case when relay.erase_rows(own) then null else 0 end;
            when 'messages' then after := relay.sweep_messages(own, after);
            when 'turns' then after := relay.sweep_turns(own, after);
            when 'events' then after := relay.sweep_events(own, after);
            else
                perform relay.sweep_derived(own);
                after := null;
        end case;
        phase := case when after is null then phases[array_position(phases, phase) + 1] else phase end;
        update erasure set status = case phase when 'end' then 'done' else 'working' end,
            done_at = case phase when 'end' then now() end,
            work = case when phase <> 'end' then work || jsonb_build_object('phase', phase, 'after', coalesce(after, 0)) end
        where id = own.id;
        exit when phase = 'end' or clock_timestamp() > statement_timestamp() + interval '1 second';
    end loop;
    return (
        select jsonb_build_object('erasure_id', id, 'done', status = 'done', 'counts', counts,
            'posted', jsonb_array_length(coalesce(posted, '[]')))
        from erasure where id = coalesce(own.id, p_erasure_id) and status <> 'preview');
end $$;

-- The messages of ours in the chat that an erasure took, once: they are deleted there now, or never.
create or replace function public.relay_erase_posted(p_erasure_id bigint, p_user_id bigint) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    with taken as (
        select id, posted from erasure where id = p_erasure_id and user_id = p_user_id and posted is not null for update),
    emptied as (update erasure e set posted = null from taken where e.id = taken.id returning e.id)
    select (select posted from taken) where exists (select from emptied)
$$;
