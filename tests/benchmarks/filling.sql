-- A big database: %(messages)s messages of %(spaces)s people (the first has %(largest)s), %(facts)s facts (half of them the first's).
-- Run as superuser: without foreign keys' triggers, and with the word index built at the end.
set session_replication_role = replica;
set maintenance_work_mem = '512MB';
set search_path = relay, extensions, public;
select setseed(0.5);

create temp table word as
    select n, chr(97 + n %% 26) || substr(md5(n::text), 1, 3 + n %% 6) as word from generate_series(1, 20000) as n;
create unique index on word (n);
-- Words as in a language without its most frequent ones: the commonest is in one of fifteen messages.
create temp table sentence as
    select s as n, string_agg(word, ' ') as text
    from generate_series(1, 20000) as s, generate_series(1, 12) as w
    join lateral (select floor(50 * power(401, random()))::integer - 49 as pick where s + w > 0) as p on true
    join word on word.n = p.pick
    group by s;
create unique index on sentence (n);
analyze word, sentence;

insert into space (kind, owner_id) select 'private', 2000 + n from generate_series(0, %(spaces)s - 1) as n;
-- Each person has a chat and two topics in it.
insert into thread (space_id, chat_id, topic_id, exchange_count, last_at)
    select s.id, s.owner_id, topic, 100, now() from space s, unnest(array[0, 11, 12]) as topic;
insert into session (thread_id, space_id, started_at) select id, space_id, now() - interval '1 day' from thread;
update thread t set session_id = s.id from session s where s.thread_id = t.id;
insert into lane (bot_id, chat_id, topic_id) select 12345, chat_id, topic_id from thread;

drop index message_words;
create temp table spoken as
    select n, 2 * n as first_id, case when n %% (%(messages)s / %(largest)s) = 0 then 1 else 2 + n %% (%(spaces)s - 1) end
            as space_id,
        now() - interval '1 year' * (1 - n * 2.0 / %(messages)s) as at, n / 7 %% 3 as line,
        1 + (random() * 19999)::integer as a, 1 + (random() * 19999)::integer as b, 1 + (random() * 19999)::integer as c
    from generate_series(1, %(messages)s / 2) as n;
create temp table line as
    select *, row_number() over (partition by space_id order by id) - 1 as line from thread;
create temp table exchange as
    select x.*, l.id as thread_id, l.session_id, l.chat_id, a.text as asked, b.text || '. ' || c.text as said
    from spoken x join line l using (space_id, line)
    join sentence a on a.n = x.a join sentence b on b.n = x.b join sentence c on c.n = x.c;

insert into turn (id, kind, bot_id, lane_id, user_id, space_id, thread_id, session_id, status, user_message_id,
        assistant_message_id, model, usage, prompt, told, created_at, answered_at, done_at) overriding system value
    select n, 'message', 12345, null, chat_id, space_id, thread_id, session_id, 'done', first_id - 1, first_id, 'm',
        '{"input_tokens": 100}', '{"soul": 1}', '{"text": "", "changes": []}', at, at, at from exchange order by n;
insert into spend (id, at, what, done, user_id, space_id, model, input)
    select gen_random_uuid(), at, 'answer', true, chat_id, space_id, 'm', 100 from exchange order by n;
insert into message (id, space_id, thread_id, session_id, turn_id, role, user_id, name, text, blocks, created_at)
    overriding system value
    select first_id - 1 + side, space_id, thread_id, session_id, n, case side when 0 then 'user' else 'assistant' end,
        chat_id, 'Ada', text, case side when 0 then jsonb_build_array(jsonb_build_object('type', 'text', 'text', text))
        else jsonb_build_array(jsonb_build_object('role', 'assistant',
            'content', jsonb_build_array(jsonb_build_object('type', 'text', 'text', text)))) end, at
    from exchange, lateral (values (0, asked), (1, said)) as m (side, text) order by first_id + side;
insert into posted (bot_id, chat_id, telegram_message_id, message_id, turn_id, from_bot, created_at)
    select 12345, chat_id, first_id - 1 + side, first_id - 1 + side, n, side = 1, at
    from exchange, generate_series(0, 1) as side;
insert into delivery (turn_id, seq, bot_id, chat_id, message_id, request, status, telegram_message_id, sent_at)
    select n, 1, 12345, chat_id, first_id, jsonb_build_object('chat_id', chat_id, 'text', said), 'sent', first_id, at
    from exchange;
insert into event (at, kind, bot_id, update_id, space_id, turn_id, user_id, payload)
    select at, 'update', 12345, n, space_id, n, chat_id, jsonb_build_object('text', asked) from exchange;
insert into inbox (bot_id, update_id, lane_id, turn_id, user_id, status, ready_at, received_at)
    select 12345, n, l.id, n, x.chat_id, 'done', at, at
    from exchange x join lane l on l.chat_id = x.chat_id and l.topic_id = 0 where at > now() - interval '14 days';

-- Each thread's window as summaries leave it: the last twenty messages.
insert into summary (thread_id, session_id, text, from_message_id, through_message_id, message_count, model, settings,
        tainted)
    select thread_id, max(session_id), repeat('What was said so far. ', 40), 1, max(first_id), 10, 'm', '{}', false
    from exchange group by thread_id;
update thread t set summary_id = s.id from summary s where s.thread_id = t.id;
create index on exchange (thread_id, n);
update thread t set window_from = coalesce((
    select min(id) from (select first_id - 1 as id from exchange x where x.thread_id = t.id order by n desc limit 10) w), 0);

insert into memory (space_id, subject_id, subject, content, thread_id, turn_id, importance)
    select case when f %% 2 = 0 then 1 else 1 + f / 2 %% %(spaces)s end, 2000, 'Ada', 'The user likes ' || s.text, 1, 1, 5
    from generate_series(1, %(facts)s) as f join sentence s on s.n = 1 + f %% 19999;

create index message_words on message using gin (words_of_space(space_id, words)) with (fastupdate = off);
select setval(pg_get_serial_sequence('relay.turn', 'id'), (select max(id) from turn));
select setval(pg_get_serial_sequence('relay.message', 'id'), (select max(id) from message));
