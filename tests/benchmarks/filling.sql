-- A big database, the same each time: %(messages)s messages in %(threads)s threads of %(spaces)s people (the first has
-- %(largest)s of them) and %(memories)s memories (the first has a share like that of the messages).
-- Run as superuser: without triggers and foreign keys; indexing.sql, in the same session, brings back the indexes.
set session_replication_role = replica;
set maintenance_work_mem = '1GB';
set work_mem = '256MB';
set search_path = relay, extensions, public;
select setseed(0.5);
create temp table dropped as
    select indexrelid::regclass as name, pg_get_indexdef(indexrelid) as definition from pg_index
    where not indisunique and indrelid in (select oid from pg_class where relnamespace = 'relay'::regnamespace);
do $$ begin
    execute (select 'drop index ' || string_agg(name::text, ', ') from dropped);
end $$;

-- Words of two to four syllables, and sentences of them as in a language: few words often (the commonest in one of fifteen
-- messages), most seldom, between words that carry no meaning. One in five speaks German.
create temp table word as
    select n, s[1 + n %% 40] || s[1 + n / 40 %% 40] || s[1 + n / 1600 %% 40] || case when n %% 3 = 0 then s[1 + n %% 37] else '' end
        as word
    from generate_series(1, 20000) as n, (select string_to_array('ba de fi go lu ma ne pi ro su ta ve wi zo kan del mor '
        || 'bel cor dun fal gim hor jas kel lom mur nav pol quin ras sol tem val wun yor zan bri cla dre', ' ') as s) as one;
create unique index on word (n);
create temp table sentence as
    select s as n, string_agg(word || case w %% 4 when 0 then case s %% 5 when 0 then ' und die' else ' and the' end else '' end,
        ' ' order by w) as text
    from generate_series(1, %(texts)s) as s, generate_series(1, 12) as w
    join lateral (select floor(50 * power(401, random()))::integer - 49 as pick where s + w > 0) as p on true
    join word on word.n = p.pick
    group by s;
create unique index on sentence (n);
analyze word, sentence;
-- What is said: questions and statements of one sentence, then as many answers of two, then memories.
create temp table told as
    select n, text || case n %% 3 when 0 then '?' else '.' end as text from sentence
    union all
    select %(texts)s + a.n, a.text || '. ' || b.text || '.'
    from sentence a join sentence b on b.n = 1 + a.n * 7919 %% %(texts)s
    union all
    select 2 * %(texts)s + n, 'The user likes ' || text from sentence;
create unique index on told (n);
analyze told;

insert into space (kind, owner_id) select 'private', 2000 + n from generate_series(0, %(spaces)s - 1) as n;
-- Each person has a chat and topics in it.
insert into thread (space_id, chat_id, topic_id, exchange_count, last_at)
    select s.id, s.owner_id, case line when 0 then 0 else 10 + line end, 100, now()
    from space s, generate_series(0, %(threads)s / %(spaces)s - 1) as line order by s.id, line;
insert into lane (bot_id, chat_id, topic_id) select 12345, chat_id, topic_id from thread order by id;

-- Exchanges: the person's message has the id 2n - 1, the answer 2n. A session has %(exchanges)s of a thread.
create temp table spoken as
    select n, 2 * n as first_id, case when n %% (%(messages)s / %(largest)s) = 0 then 1 else 2 + n %% (%(spaces)s - 1) end
            as space_id,
        now() - interval '1 year' * (1 - n * 2.0 / %(messages)s) as at, n / 7 %% (%(threads)s / %(spaces)s) as line,
        1 + floor(random() * %(texts)s)::integer as asked, %(texts)s + 1 + floor(random() * %(texts)s)::integer as said
    from generate_series(1, %(messages)s / 2) as n;
create temp table line as
    select *, row_number() over (partition by space_id order by id) - 1 as line from thread;
create temp table exchange as
    select *, dense_rank() over (order by thread_id, part) as session_id,
        row_number() over (order by space_id, n) as place
    from (
        select x.*, l.id as thread_id, l.chat_id, (row_number() over (partition by l.id order by x.n) - 1) / %(exchanges)s as part
        from spoken x join line l using (space_id, line)) each
    order by n;
analyze exchange;
insert into session (id, thread_id, space_id, started_at, ended_at, title, titled_by) overriding system value
    select session_id, thread_id, space_id, min(at), max(at), 'About something', 'model'
    from exchange group by session_id, thread_id, space_id order by session_id;
create temp table latest as
    select thread_id, max(session_id) as session_id, max(first_id) as said, (array_agg(first_id order by n desc))[10] - 1 as tenth
    from exchange group by thread_id;
analyze latest, session, thread;
update session s set ended_at = null, title = null, titled_by = null from latest l where l.session_id = s.id;

insert into turn (id, kind, bot_id, lane_id, user_id, space_id, thread_id, session_id, status, user_message_id,
        assistant_message_id, model, usage, prompt, told, created_at, answered_at, done_at) overriding system value
    select n, 'message', 12345, null, chat_id, space_id, thread_id, session_id, 'done', first_id - 1, first_id, 'm',
        '{"input_tokens": 100}', '{"soul": 1}', '{"text": "", "changes": []}', at, at, at from exchange order by n;
insert into spend (id, at, what, done, user_id, space_id, model, input)
    select md5(n::text)::uuid, at, 'answer', true, chat_id, space_id, 'm', 100 from exchange order by n;
insert into message (id, space_id, thread_id, session_id, turn_id, role, user_id, name, text, blocks, created_at)
    overriding system value
    select first_id - 1 + side, space_id, thread_id, session_id, x.n, case side when 0 then 'user' else 'assistant' end,
        chat_id, case side when 0 then 'Ada' end, text,
        case side when 0 then jsonb_build_array(jsonb_build_object('type', 'text', 'text', text))
        else jsonb_build_array(jsonb_build_object('role', 'assistant',
            'content', jsonb_build_array(jsonb_build_object('type', 'text', 'text', text)))) end, at
    from exchange x, lateral (values (0, asked), (1, said)) as m (side, what) join told on told.n = what
    order by first_id + side;
insert into posted (bot_id, chat_id, telegram_message_id, message_id, turn_id, from_bot, created_at)
    select 12345, chat_id, first_id - 1 + side, first_id - 1 + side, n, side = 1, at
    from exchange, generate_series(0, 1) as side order by n;
insert into outbox (turn_id, seq, bot_id, chat_id, message_id, request, status, telegram_message_id, sent_at)
    select x.n, 1, 12345, chat_id, first_id, jsonb_build_object('chat_id', chat_id, 'text', text), 'sent', first_id, at
    from exchange x join told on told.n = said order by x.n;
insert into event (at, kind, bot_id, update_id, space_id, turn_id, user_id, payload)
    select at, 'update', 12345, x.n, space_id, x.n, chat_id, jsonb_build_object('text', text)
    from exchange x join told on told.n = asked order by x.n;
insert into inbox (bot_id, update_id, lane_id, turn_id, user_id, status, ready_at, received_at)
    select 12345, n, l.id, n, x.chat_id, 'done', at, at
    from exchange x join lane l on l.chat_id = x.chat_id and l.topic_id = 0 where at > now() - interval '14 days' order by n;

-- Each thread's window as summaries leave it: the last twenty messages. Everything is judged.
insert into summary (thread_id, session_id, text, from_message_id, through_message_id, message_count, model, settings,
        tainted)
    select thread_id, session_id, repeat('What was said so far. ', 40), 1, said, 10, 'm', '{}', false
    from latest order by thread_id;
update thread t set session_id = l.session_id, summary_id = s.id, window_from = coalesce(l.tenth, 0)
from latest l join summary s using (thread_id) where l.thread_id = t.id;
insert into judging (thread_id, through_message_id, version) select thread_id, said, 'generated' from latest order by thread_id;

insert into memory (space_id, kind, subject_id, subject, content, category, tags, importance, pinned, thread_id, session_id,
        turn_id, source_message_id, evidence, created_at, updated_at, number)
    select x.space_id, (array['fact', 'preference', 'event', 'learning'])[1 + f %% 4], x.chat_id, 'Ada', t.text,
        case when f %% 4 = 3 then 'knowledge' end, array['tag' || f %% 20], 1 + f %% 10, f %% 200 = 0, x.thread_id, x.session_id,
        x.n, x.first_id - 1, array[x.first_id - 1], x.at, x.at, row_number() over (partition by x.space_id order by f)
    from generate_series(1, %(memories)s) as f join told t on t.n = 2 * %(texts)s + 1 + f %% (%(texts)s / 3)
        join exchange x on x.place = 1 + (f * greatest(1, %(messages)s / 2 / %(memories)s) - 1) %% (%(messages)s / 2)
    order by f;
insert into memory_change (space_id, memory_id, turn_id, user_id, action, created_at)
    select space_id, id, turn_id, subject_id, 'learn', created_at from memory order by id;

select setval(pg_get_serial_sequence('relay.session', 'id'), (select max(id) from session));
select setval(pg_get_serial_sequence('relay.turn', 'id'), (select max(id) from turn));
select setval(pg_get_serial_sequence('relay.message', 'id'), (select max(id) from message));
