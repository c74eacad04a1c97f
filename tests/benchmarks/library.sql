-- A library in the largest space of a generated database: half of its threads' sessions in the private chat, all of them
-- registered, 10,000 markers, 3,000 versions of 10,000 tokens, 200 compositions and 1,000 reminders. Run as superuser.
set session_replication_role = replica;
set search_path = relay, extensions, public;
create temp table moved as select id from thread where space_id = 1 and id % 2 = 0;
update session set thread_id = 1 where thread_id in (select id from moved);
update message set thread_id = 1 where thread_id in (select id from moved);
update turn set thread_id = 1 where thread_id in (select id from moved);
update entry set thread_id = 1 where thread_id in (select id from moved);
update memory set thread_id = 1 where thread_id in (select id from moved);
delete from judging where thread_id in (select id from moved);
delete from summary where thread_id in (select id from moved);
delete from thread where id in (select id from moved);
update session set registered_at = started_at where space_id = 1;
insert into keepit (space_id, thread_id, session_id, message_id, seq, weight, content, block, start_at, end_at, context,
    origin, user_id)
select 1, thread_id, session_id, id, 0, id % 101 / 100.0, left(text, 120), 0, 0, 120, left(text, 220), 'text', user_id
from message where space_id = 1 and id % 10 = 0 order by id limit 10000;
insert into compression (space_id, thread_id, session_id, number, name, settings, inputs, input_tokens, output_tokens,
    output_messages, ratio, rows, status, created_by)
select 1, s.thread_id, s.id, 1, 'v001_tiered-standard_10k', '{"tierPreset": "standard"}',
    array(select 'message:' || id from message where session_id = s.id), 100000, 10000, 42, 9.8, (
        select jsonb_agg(jsonb_build_object('role', 'user', 'at', s.started_at, 'from', s.id, 'through', s.id, 'text', (
            select string_agg(left(md5((s.id * i * k)::text), 3 + k % 4), ' ') from generate_series(1, 170) k)))
        from generate_series(1, 42) i), 'ready', 2000
from (select * from session where space_id = 1 and id % 3 = 0 order by id limit 2900) s;
-- One session has 100 of them.
insert into compression (space_id, thread_id, session_id, number, name, settings, inputs, input_tokens, output_tokens,
    output_messages, ratio, rows, status, created_by)
select 1, s.thread_id, s.id, n, 'v' || lpad(n::text, 3, '0') || '_tiered-standard_10k', v.settings, v.inputs, 100000, 10000,
    42, 9.8, v.rows, 'ready', 2000
from (select * from session where thread_id = 1 and id % 3 <> 0 order by id limit 1) s,
    (select * from compression order by id limit 1) v, generate_series(1, 100) n;
insert into composition (space_id, thread_id, name, budget, rows, inputs, status, total_tokens, created_by)
select 1, 1, 'Plan ' || id, 16000, rows, inputs, 'ready', 10000, 2000 from compression order by id limit 200;
insert into composition_part (composition_id, place, session_id, compression_id, version)
select c.id, 1, v.session_id, v.id, v.name from composition c join compression v on 'Plan ' || v.id = c.name;
insert into reminder (space_id, thread_id, user_id, bot_id, chat_id, text, zone, start_at, next_at, origin)
select 1, 1, 2000, 77, 2000, 'Water plant ' || n, 'Europe/Berlin', localtimestamp + n * interval '1 hour',
    now() + n * interval '1 hour', 'command' from generate_series(1, 1000) n;
insert into person (user_id, bot_id, name, role) values (2000, 77, 'Ada', 'user');
set session_replication_role = origin;
