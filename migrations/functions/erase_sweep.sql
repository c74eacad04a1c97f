-- Sweeps all tables, page by page, for matches that the plan did not list.

-- Clears matching titles, topics and topic names; what a model wrote is owed again, and a topic that Relay named after it
-- gets a plain name until then. In a group, only an admin clears a name that a person chose.
create or replace function relay.erase_titles(p_erasure relay.erasure) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    loose constant jsonb := p_erasure.work -> 'loose';
    all_of_it constant boolean := relay.may_erase(
        p_erasure.space_id, null, p_erasure.user_id, (p_erasure.work ->> 'admin')::boolean);
begin
    insert into retraction (bot_id, chat_id, telegram_message_id, erasure_id, request, sent_at)
    select p.bot_id, p.chat_id, -p.topic_id, p_erasure.id, '{"name": "Conversation"}', now() from topic p
    where p.chat_id > 0 and relay.says(p.name, loose) and exists (
        select from thread t join session s on s.thread_id = t.id
        where t.space_id = p_erasure.space_id and (t.chat_id, t.topic_id) = (p.chat_id, p.topic_id)
            and s.titled_by = 'model' and s.title = p.name)
    on conflict do nothing;
    update topic p set name = '', implicit = true, renamed_at = null from retraction r
    where r.erasure_id = p_erasure.id and (r.bot_id, r.chat_id, r.telegram_message_id) = (p.bot_id, p.chat_id, -p.topic_id);
    perform relay.owe_job_anew('title', s.id::text, jsonb_build_object('bot_id', t.bot_id))
    from session s, lateral (
        select bot_id from turn where thread_id = s.thread_id and bot_id is not null order by id desc limit 1) t
    where s.space_id = p_erasure.space_id and (s.titled_by = 'model' and relay.says(s.title, loose)
        or relay.says(array_to_string(s.topics, ', '), loose));
    update session set topics = null
    where space_id = p_erasure.space_id and relay.says(array_to_string(topics, ', '), loose);
    update session set title = null, titled_by = null
    where space_id = p_erasure.space_id and title is not null and (all_of_it or titled_by = 'model')
        and relay.says(title, loose);
    update topic set name = ''
    where all_of_it and relay.says(name, loose)
        and (chat_id, topic_id) in (select chat_id, topic_id from thread where space_id = p_erasure.space_id);
end $$;

-- Returns the chats of a space.
create or replace function relay.chats_of(p_space_id bigint) returns bigint[]
language sql stable set search_path = relay, extensions, pg_temp as $$
    select array(
        select coalesce(owner_id, chat_id) from space where id = p_space_id
        union select chat_id from thread where space_id = p_space_id)
$$;

-- Sweeps the next 1,000 messages after an id: erases those that match, and removes matching blocks (such as tool
-- results) from others. Keeps other people's messages and the answers to them, but not what tools found for them.
-- Returns the last id examined; null at the end.
create or replace function relay.sweep_messages(p_erasure relay.erasure, p_after bigint) returns bigint
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    needles constant jsonb := p_erasure.work -> 'needles';
    loose constant jsonb := p_erasure.work -> 'loose';
    admin constant boolean := coalesce((p_erasure.work ->> 'admin')::boolean, false);
    looked bigint;
    whole bigint[];
    blocks_only bigint[];
    stay jsonb;
    wordings jsonb;
begin
    with page as (
        select * from message where id > p_after order by id limit 1000),
    own as (
        select p.*, relay.may_erase(p.space_id, p.user_id, p_erasure.user_id, admin) as may
        from page p where p.space_id = p_erasure.space_id),
    said as (
        select relay.saying(array_agg(id), array_agg(text), needles) as id from own where may group by id / 20),
    shown as (
        select relay.saying(array_agg(id), array_agg(blocks::text), loose) as id
        from own where may or role = 'assistant' group by id / 20)
    select (select max(id) from page), (select array_agg(id) from said), (
        select array_agg(id) from own
        where id in (select id from shown) and id not in (select id from said) and (may or not relay.says(text, loose)))
    into looked, whole, blocks_only;
    if whole is not null then
        update erasure set work = jsonb_set(work, '{gone}', (work -> 'gone') || to_jsonb(whole)) where id = p_erasure.id;
        perform relay.erase_messages(p_erasure.space_id, whole, p_erasure.id, needles);
    end if;
    perform relay.let_files_go(array(
        select relay.files_in(blocks) from message where id = any (blocks_only) and role = 'user'));
    stay := relay.without_files(blocks_only, loose);
    update message set text = coalesce(stay #>> array[id::text, 'text'], text), blocks = coalesce(stay #> array[id::text, 'blocks'],
        case role when 'assistant' then jsonb_build_array(jsonb_build_object('role', 'assistant',
            'content', jsonb_build_array(jsonb_build_object('type', 'text', 'text', text))))
        else jsonb_build_array(jsonb_build_object('type', 'text', 'text', text)) end)
    where id = any (blocks_only);
    with gone as (
        delete from message_version v using message m
        where m.id = v.message_id and m.space_id = p_erasure.space_id and m.id > p_after and m.id <= looked
            and relay.may_erase(m.space_id, m.user_id, p_erasure.user_id, admin)
            and relay.says(v.blocks::text || v.text, needles)
        returning v.blocks)
    select jsonb_agg(blocks) into wordings from gone;
    perform relay.let_files_go(array(select relay.files_in(wordings)));
    return looked;
end $$;

-- Erases the matching answers among the next 500 turns after an id that used this person's memory in a group to which they
-- lent it, and the group's memories and summaries of them. New summaries are owed.
create or replace function relay.sweep_lent(p_erasure relay.erasure, p_after bigint) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    loose constant jsonb := p_erasure.work -> 'loose';
    summaries bigint[];
    owed jsonb;
    one record;
begin
    for one in
        select m.space_id, array_agg(m.id) as said, array_agg(distinct t.id) as turns
        from (select * from turn where id > p_after order by id limit 500) t
        join message m on m.turn_id = t.id and m.role = 'assistant'
        where t.user_id = p_erasure.user_id and t.prompt -> 'lent' = 'true' and relay.says(m.text, loose) group by m.space_id
    loop
        perform from turn where id = any (one.turns) order by id for no key update;
        update erasure set work = jsonb_set(work, '{gone}', (work -> 'gone') || to_jsonb(one.said)) where id = p_erasure.id;
        summaries := relay.erase_summaries(
            one.space_id, one.said, '[]', p_erasure.user_id, (p_erasure.work ->> 'admin')::boolean);
        owed := relay.summaries_owed(summaries);
        perform relay.erase_summary_rows(one.space_id, summaries);
        perform relay.erase_memory_rows(one.space_id, array(
            select id from memory where space_id = one.space_id and relay.says(content, loose)
                and (turn_id = any (one.turns) or evidence && one.said)), p_erasure.id, loose);
        perform relay.erase_messages(one.space_id, one.said, p_erasure.id, loose);
        perform relay.owe_summaries(owed), relay.add_up_space(one.space_id);
    end loop;
end $$;

-- Sweeps the next 500 turns after an id and clears those that match or were made from erased rows. Another person's
-- turn loses only prompt records and lists, and those only in a group.
create or replace function relay.sweep_turns(p_erasure relay.erasure, p_after bigint) returns bigint
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    loose constant jsonb := p_erasure.work -> 'loose';
    admin constant boolean := coalesce((p_erasure.work ->> 'admin')::boolean, false);
    shared constant boolean := exists (select from space where id = p_erasure.space_id and kind = 'group');
    chats constant bigint[] := relay.chats_of(p_erasure.space_id);
    inputs constant text[] := relay.gone_inputs(p_erasure);
    looked bigint;
    saying bigint[];
    prompts bigint[];
    lists bigint[];
begin
    perform relay.sweep_lent(p_erasure, p_after) where not shared;
    with page as (
        select * from turn where id > p_after order by id limit 500),
    own as (
        select p.*, relay.may_erase(p_erasure.space_id, p.user_id, p_erasure.user_id, admin) as may
        from page p left join lane l on l.id = p.lane_id
        where p.space_id = p_erasure.space_id or p.space_id is null and (shared or admin
            or coalesce(p.user_id, p_erasure.user_id) = p_erasure.user_id) and (l.chat_id = any (chats)
            or exists (select from outbox d where d.turn_id = p.id and d.chat_id = any (chats)))),
    said as (
        select relay.saying(array_agg(o.id), array_agg(body), loose) as id from own o, relay.turn_texts(o.id) as body
        where o.may group by o.id / 20)
    select (select max(id) from page), array_agg(o.id) filter (where o.prompt -> 'inputs' ?| inputs
            or o.id in (select id from said)),
        array_agg(o.id) filter (where not o.may and relay.says(o.prompt::text, loose)),
        array_agg(o.id) filter (where not o.may and o.kind = 'control')
    into looked, saying, prompts, lists from own o;
    perform relay.erase_turns(saying, p_erasure.id, loose) where saying is not null;
    delete from outbox q where q.status = 'queued' and q.turn_id is null and (q.inputs ?| relay.gone_inputs(p_erasure)
        or q.space_id = p_erasure.space_id and relay.may_erase(p_erasure.space_id, q.user_id, p_erasure.user_id, admin)
            and relay.says(relay.texts_in(to_jsonb(q), '["request"]'), loose));
    perform relay.retract(p_erasure.id, lists, loose) where lists is not null;
    perform relay.note_theirs(p_erasure.id, relay.exports_in(p_after, looked, chats));
    update turn set prompt = relay.lent_only(prompt) where id = any (prompts) and status in ('done', 'failed');
    return looked;
end $$;

-- Returns the files that turns in a range of ids sent to these chats, such as exports: they may contain the erased rows.
create or replace function relay.exports_in(p_after bigint, p_through bigint, p_chats bigint[]) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_agg(jsonb_build_object('chat_id', d.chat_id, 'message_id', d.telegram_message_id,
        'at', d.sent_at, 'what', 'export')), '[]')
    from outbox d join turn t on t.id = d.turn_id and t.kind = 'control'
    where d.turn_id > p_after and d.turn_id <= p_through and d.chat_id = any (p_chats)
        and d.telegram_message_id > 0 and d.request ->> 'method' = 'sendDocument'
$$;

-- Returns the texts of a turn's data: its own, its updates, its outbox rows and its events.
create or replace function relay.turn_texts(p_turn_id bigint) returns setof text
language sql stable rows 10 set search_path = relay, extensions, pg_temp as $$
    select concat_ws(' ', prompt, told) from turn where id = p_turn_id
    union all select concat_ws(' ', request, sending_text) from outbox where turn_id = p_turn_id
    union all select before::text from announcement where turn_id = p_turn_id
    union all select payload::text from inbox where turn_id = p_turn_id
    union all select part::text from posted where turn_id = p_turn_id
    union all select payload::text from event where turn_id = p_turn_id
$$;

-- Returns everything that is erased, by the names that derivations use.
create or replace function relay.gone_inputs(p_erasure relay.erasure) returns text[]
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select relay.input_names('message', array(select jsonb_array_elements_text(p_erasure.work -> 'gone')::bigint))
        || relay.input_names('memory', array(select jsonb_array_elements_text(p_erasure.work -> 'gone_memories')::bigint))
        || array(select jsonb_array_elements_text(p_erasure.work -> 'gone_artefacts'))
$$;

-- Returns the events after an id and up to another whose payloads match, except other people's.
create or replace function relay.events_saying(
    p_space_id bigint, p_needles jsonb, p_user_id bigint, p_admin boolean, p_after bigint, p_through bigint)
returns bigint[] language sql stable set search_path = relay, extensions, pg_temp as $$
    with own as materialized (
        select relay.chats_of(id) as chats, kind = 'group' as shared from space where id = p_space_id)
    select array(
        select relay.saying(array_agg(e.id), array_agg(e.payload::text), p_needles) from event e, own
        where e.id > p_after and e.id <= p_through and e.payload is not null
            and relay.may_erase(p_space_id, e.user_id, p_user_id, p_admin)
            and (e.space_id = p_space_id or e.space_id is null and (e.user_id = any (chats) or shared
                and jsonb_path_query_first(e.payload, '$.**.chat.id')::text::bigint = any (chats)))
        group by e.id / 20)
$$;

-- Sweeps the next 2,000 events after an id: clears payloads that match, except other people's.
create or replace function relay.sweep_events(p_erasure relay.erasure, p_after bigint) returns bigint
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    looked bigint;
    saying bigint[];
begin
    select max(id) into looked from (select id from event where id > p_after order by id limit 2000) page;
    saying := relay.events_saying(p_erasure.space_id, p_erasure.work -> 'loose', p_erasure.user_id,
        (p_erasure.work ->> 'admin')::boolean, p_after, looked);
    perform relay.note_theirs(p_erasure.id, relay.theirs_in(saying));
    update event set payload = null where id = any (saying);
    return looked;
end $$;

-- Sweeps the next 500 index entries after an id: rebuilds matching ones from their source, or deletes them if it is
-- gone.
create or replace function relay.sweep_entries(p_erasure relay.erasure, p_after bigint) returns bigint
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    looked bigint;
begin
    select max(id) into looked from (select id from entry where id > p_after order by id limit 500) page;
    perform relay.reindex(kind, source_id, part) from entry where id = any (array(
        select relay.saying(array_agg(id), array_agg(concat_ws(' ', name, array_to_string(tags, ' '), words)),
            p_erasure.work -> 'loose')
        from entry where id > p_after and id <= looked and space_id = p_erasure.space_id group by id / 20));
    return looked;
end $$;

-- Sweeps the next 20 artefacts after an id, of all kinds: erases those whose text matches, or that were made from erased
-- rows (what was made from these goes at the end, with the rest). Returns the last id examined; null at the end.
create or replace function relay.sweep_artefacts(p_erasure relay.erasure, p_after bigint) returns bigint
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    admin constant boolean := coalesce((p_erasure.work ->> 'admin')::boolean, false);
    inputs constant text[] := relay.gone_inputs(p_erasure);
    gone text[] := '{}';
    more text[];
    looked bigint;
    one record;
begin
    execute 'select max(id) from (select id from (' || (
        select string_agg(format('(select id from relay.%I where id > $1 order by id limit 20)', name), ' union all ')
        from relay.artefact_kinds() where not own ? 'erase') || ') every order by id limit 20) page'
        into looked using p_after;
    for one in select * from relay.artefact_kinds() k where not k.own ? 'erase' loop
        execute format('select array(select %1$L || t.id from relay.%2$I t where %3$s = $1 and t.id > $2 and t.id <= $3
                and (exists (select from unnest(%4$s) as one where one = any ($4)) or relay.says(%5$s, $5))
                and (%6$s is null or relay.may_erase($1, %6$s, $6, $7)))',
            one.kind || ':', one.name, one.space, one.inputs, one.body, one.author)
            into more using p_erasure.space_id, p_after, looked, inputs, p_erasure.work -> 'loose', p_erasure.user_id,
                admin;
        gone := gone || more;
    end loop;
    if cardinality(gone) > 0 then
        perform relay.erase_artefact_rows(p_erasure.space_id, gone);
        update erasure set work = jsonb_set(work, '{gone_artefacts}', work -> 'gone_artefacts' || to_jsonb(gone)),
            counts = jsonb_set(counts, '{artefacts}', to_jsonb((counts ->> 'artefacts')::integer + cardinality(gone)))
        where id = p_erasure.id;
    end if;
    return looked;
end $$;

-- Applies the next 20,000 pending changes to word counts, of all spaces: a range of ids is found by an index, however
-- many are pending. Returns the last one applied; null at the end.
create or replace function relay.sweep_words(p_after bigint) returns bigint
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    upto bigint;
begin
    select max(id) into upto from (
        select id from lexeme_change where id > p_after order by id limit 20000) page;
    with gone as (
        delete from lexeme_change where id > p_after and id <= upto returning space_id, word, change)
    insert into lexeme as l (space_id, word, entries)
    select space_id, word, sum(change) from gone group by space_id, word having sum(change) <> 0
    on conflict (space_id, word) do update set entries = l.entries + excluded.entries;
    return upto;
end $$;

-- Erases matching memories learned meanwhile, and matches in other memories' history.
create or replace function relay.sweep_memories(p_erasure relay.erasure) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    needles constant jsonb := p_erasure.work -> 'needles';
    admin constant boolean := (p_erasure.work ->> 'admin')::boolean;
    saying constant bigint[] := relay.erasable(
        p_erasure.space_id, relay.erase_saying(p_erasure.space_id, needles, false), p_erasure.user_id, admin);
    former bigint[];
begin
    perform relay.erase_memory_rows(p_erasure.space_id, saying, p_erasure.id, p_erasure.work -> 'close')
    where cardinality(saying) > 0;
    perform relay.hold_memory(p_erasure.space_id);  -- waits for changes to the memory that are under way
    former := array(
        select relay.saying(array_agg(id), array_agg(before ->> 'content'), needles) from memory_change
        where space_id = p_erasure.space_id and before is not null group by id / 20);
    -- A memory that replaced only matches stays, as if it had been learned alone.
    update memory_change c set action = 'learn', before = null from memory m
    where c.id = any (former) and m.id = c.memory_id
        and c.action in ('supersede', 'merge') and not c.before ? 'stood' and not exists (
            select from memory_change o
            where o.memory_id = c.memory_id and o.action in ('supersede', 'merge') and not o.before ? 'stood'
                and not relay.says(o.before ->> 'content', needles))
        and relay.may_erase(m.space_id, m.subject_id, p_erasure.user_id, admin);
    delete from memory_change c using memory m
    where c.id = any (former) and c.before is not null and m.id = c.memory_id
        and relay.may_erase(m.space_id, m.subject_id, p_erasure.user_id, admin);
end $$;

-- Returns the texts in some columns of a row, without the names of JSON fields.
create or replace function relay.texts_in(p_row jsonb, p_columns jsonb) returns text
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select string_agg(text #>> '{}', ' ')
    from jsonb_array_elements_text(p_columns) as name,
        jsonb_path_query(p_row -> name, 'strict $.** ? (@.type() == "string")') as text
$$;

-- Tests whether a role was replaced or cleared.
create or replace function relay.is_past(p_persona relay.persona) returns boolean
language sql stable set search_path = relay, extensions, pg_temp as $$
    select exists (select from persona where chat_id = p_persona.chat_id and topic_id = p_persona.topic_id
        and id > p_persona.id)
$$;

-- Deletes matches from the tables that declare `erased: swept`. A heartbeat goes on with the usual checklist.
-- A role stays, but not one that was replaced.
create or replace function relay.sweep_derived(p_erasure relay.erasure) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    one record;
begin
    for one in
        select name, declared -> 'words' as words, declared ->> 'author' as author from relay.declared_tables()
        where declared ->> 'erased' = 'swept' and declared ? 'words' order by name
    loop
        -- Most rows are skipped without examining each of their texts.
        execute format('delete from relay.%I t where space_id = $1 and case when relay.says(to_jsonb(t)::text, $2)
            then relay.says(relay.texts_in(to_jsonb(t), $3), $2) end', one.name)
            || case when one.author is null then '' else format(' and relay.may_erase($1, t.%I, $4, $5)', one.author) end
        using p_erasure.space_id, p_erasure.work -> 'loose', one.words, p_erasure.user_id,
            (p_erasure.work ->> 'admin')::boolean;
    end loop;
    delete from persona p
    where chat_id = any (relay.chats_of(p_erasure.space_id)) and relay.says(text, p_erasure.work -> 'loose')
        and relay.is_past(p) and relay.may_erase(p_erasure.space_id, author_id, p_erasure.user_id,
            (p_erasure.work ->> 'admin')::boolean);
    update heartbeat set checklist = ''
    where space_id = p_erasure.space_id and relay.says(checklist, p_erasure.work -> 'loose');
end $$;
