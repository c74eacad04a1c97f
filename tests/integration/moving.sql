-- Some hundred rows of every table, of the kinds that get lost on the way: what is beyond 2^53, beyond the basic
-- plane, beyond a float's precision; NULL beside JSON null; arrays with quotes, commas and NULL; microseconds.
create function pg_temp.odd(n bigint) returns text language sql as $$
    select (array['plain', '', ' spaces ', 'Grüße, Ångström, Привет, 你好', '👩‍👩‍👧‍👦 🏳️‍🌈 𝔘', E'line\nbreak\ttab\r', 'null', 'NULL',
        '\u0000 is not NUL', '"quoted" ''and'' {braces}, \ and \\', '<b>&amp;</b>', E'\u2028\u00a0\u200d\ufeff',
        repeat('long 長い ', 400)])[1 + n % 13] || case when n % 13 = 1 then '' else n::text end
$$;
create function pg_temp.json(n bigint) returns jsonb language sql as $$
    select case n % 6
        when 0 then null
        when 1 then 'null'
        when 2 then jsonb_build_object('n', 12345678901234567890.12345678901234567890123, 'big', 9007199254740993 + n,
            'tiny', 1e-300, 'scale', 1.10, 'deep', jsonb_build_array(null, true, jsonb_build_object('', '[]'::jsonb)))
        when 3 then jsonb_build_array(jsonb_build_object('type', 'text', 'text', pg_temp.odd(n)))
        when 4 then to_jsonb(pg_temp.odd(n))
        else '{}' end
$$;
create function pg_temp.at(n bigint) returns timestamptz language sql as $$
    select case n % 50 when 7 then 'infinity' when 8 then '0044-03-15 12:00:00+00 BC'
        else timestamptz '2025-02-28 23:59:59.123456+00' + n * interval '1.000001 hours' end
$$;

set relay.index = 'later';  -- nobody searches these rows, and indexing them takes most of the time
insert into space (kind, owner_id, chat_id, created_at)
select case n % 2 when 0 then 'private' else 'group' end, 9007199254740993 + n, -1009007199254740993 - n, pg_temp.at(n)
from generate_series(1, 60) n;
insert into thread (space_id, chat_id, topic_id, session_id, exchange_count, summary_id, context_from, last_at)
select 1 + n % 60, -9007199254740993 - n, n % 3, nullif(n, 7), n, nullif(n % 400, 0), n, pg_temp.at(n)
from generate_series(1, 400) n;
insert into session (thread_id, space_id, title, started_at, ended_at, begun_by)
select 1 + n % 400, 1 + n % 60, nullif(pg_temp.odd(n), ''), pg_temp.at(n), case n % 2 when 0 then pg_temp.at(n + 9) end,
    nullif(n % 5, 0)
from generate_series(1, 700) n;
insert into lane (bot_id, chat_id, topic_id, due_at, open_turn_id)
select 7000000000 + n, -9223372036854775808 + n, n % 3, case n % 5 when 0 then pg_temp.at(n) end, nullif(n % 9, 0)
from generate_series(1, 400) n;
insert into turn (kind, bot_id, lane_id, user_id, space_id, thread_id, session_id, status, lease_owner, lease_until,
    fence, failures, user_message_id, tainted, model, usage, prompt, told, error, created_at, done_at, stop_asked)
select case n % 4 when 0 then 'control' else 'message' end, 7000000000 + n, nullif(1 + n % 400, 9), n,
    nullif(1 + n % 60, 7), 1 + n % 400, 1 + n % 700,
    (array['working', 'answered', 'done', 'failed'])[1 + n % 4],
    case n % 8 when 0 then gen_random_uuid() end, case n % 8 when 0 then timestamptz '2020-01-01' end, n, n % 4, n,
    n % 2 = 0, nullif(pg_temp.odd(n), ''), pg_temp.json(n), pg_temp.json(n + 1), pg_temp.json(n + 2),
    nullif(pg_temp.odd(n + 1), ''), pg_temp.at(n), case n % 3 when 0 then pg_temp.at(n + 1) end, n % 5 = 0
from generate_series(1, 800) n;
insert into inbox (bot_id, update_id, lane_id, turn_id, user_id, mergeable, status, payload, error, ready_at, session_id)
select 7000000000 + n % 3, 9007199254740990 + n, 1 + n % 400, nullif(1 + n % 800, 11), n, n % 2 = 0,
    (array['pending', 'claimed', 'done', 'failed', 'ignored'])[1 + n % 5], pg_temp.json(n), null, pg_temp.at(n),
    nullif(n % 700, 0)
from generate_series(1, 1000) n;
insert into message (space_id, thread_id, session_id, turn_id, role, user_id, name, text, blocks, status, untrusted,
    created_at)
select 1 + n % 60, 1 + n % 400, 1 + n % 700, nullif(1 + n % 800, 5), (array['user', 'assistant'])[1 + n % 2],
    9007199254740993 + n, nullif(pg_temp.odd(n + 3), ''), pg_temp.odd(n), coalesce(pg_temp.json(n), '[]'),
    (array['complete', 'stopped', 'cut', 'replaced'])[1 + n % 4], n % 3 = 0, pg_temp.at(n)
from generate_series(1, 1200) n;
insert into message (id, space_id, thread_id, session_id, role, text, blocks) overriding system value
values (9007199254740993, 1, 1, 1, 'user', repeat('what a long text 🎈 ', 60000), '[]'),
    (9007199254740995, 1, 1, 1, 'user', '', '[]');
select setval('message_id_seq', 9007199254740995);
insert into posted (bot_id, chat_id, telegram_message_id, message_id, turn_id, from_bot, part, edited_at, created_at)
select 7000000000 + n % 3, -1000000000000 - n % 7, 9007199254740990 + n, nullif(n, 3), nullif(n, 4), n % 2 = 0,
    pg_temp.json(n), pg_temp.at(n + 1), pg_temp.at(n)
from generate_series(1, 1000) n;
insert into outbox (turn_id, seq, bot_id, chat_id, message_id, request, status, telegram_message_id, error, sent_at,
    echo_of)
select n, n % 3, 7000000000, -n, nullif(n, 8), coalesce(pg_temp.json(n), '{}'),
    (array['waiting', 'sending', 'preview', 'sent', 'failed'])[1 + n % 5], 9007199254740990 + n,
    nullif(pg_temp.odd(n), ''), case n % 2 when 0 then pg_temp.at(n) end,
    case n % 3 when 0 then 9007199254740990 - n end
from generate_series(1, 600) n;
update soul set active = false, text = 'the first soul, edited';
insert into soul (version, text, author_id, author, reason, active)
select n, pg_temp.odd(n), 9007199254740993, nullif(pg_temp.odd(n + 1), ''), null, n = 40
from generate_series(2, 40) n;
insert into memory (space_id, kind, subject_id, subject, content, category, tags, importance, pinned, status, thread_id,
    turn_id, source_message_id, derivation, created_at, confidence, valid_from, valid_until, replaced_by, evidence,
    promoted_by, last_used_at, uses)
select 1 + n % 60,
    (array['fact', 'learning', 'preference', 'decision', 'event', 'person', 'goal', 'feeling'])[1 + n % 8], 9007199254740993 + n, pg_temp.odd(n), pg_temp.odd(n + 1),
    nullif(pg_temp.odd(n + 2), ''), case n % 4 when 0 then '{}' when 1 then array[pg_temp.odd(n), null, '', 'NULL', '{,}"\']
        when 2 then array['ä'] else array['one', 'two'] end, 1 + n % 10, n % 7 = 0,
    (array['pending', 'active', 'superseded', 'archived', 'forgotten', 'discarded'])[1 + n % 6], nullif(1 + n % 400, 6), 1 + n % 800,
    nullif(1 + n % 1200, 9), coalesce(pg_temp.json(n), '{}'), pg_temp.at(n), 0.1::real * (n % 11),
    case n % 3 when 0 then pg_temp.at(n + 1) end, case n % 5 when 0 then pg_temp.at(n + 2) end,
    case n % 6 when 2 then 601 - n end, case n % 4 when 0 then array[9007199254740993 + n, n] else '{}' end,
    nullif(9007199254740993 + n, 9007199254740999), case n % 2 when 0 then pg_temp.at(n) end, n
from generate_series(1, 600) n;
insert into memory_change (space_id, memory_id, turn_id, user_id, action, status, before, decided_at)
select 1 + n % 60, n, nullif(n, 5), n, (array['learn', 'refresh', 'forget', 'pin', 'unpin', 'supersede', 'merge', 'archive', 'restore'])[1 + n % 9],
    (array['pending', 'applied', 'undone', 'discarded'])[1 + n % 4], pg_temp.json(n),
    case n % 2 when 0 then pg_temp.at(n) end
from generate_series(1, 600) n;
insert into summary (thread_id, session_id, previous_id, text, from_message_id, through_message_id, message_count,
    model, settings, usage, tainted)
select 1 + n % 400, 1 + n % 700, nullif(n - 1, 0), pg_temp.odd(n), n, 9007199254740993 + n, 5, 'small',
    coalesce(pg_temp.json(n), '{}'), pg_temp.json(n + 1), n % 2 = 0
from generate_series(1, 300) n;
insert into summary_due (thread_id, session_id, context_from, through_message_id, status)  -- of older versions
select 1, 1, n, n, 'done' from generate_series(1, 20) n;
insert into job (kind, key, payload, due_at, last_error)
select 'summary', (9007199254740993 + n)::text, coalesce(pg_temp.json(n), '{}'), pg_temp.at(n), nullif(pg_temp.odd(n), '')
from generate_series(1, 300) n;
insert into event (at, kind, bot_id, update_id, space_id, turn_id, user_id, payload)
select pg_temp.at(n), 'odd', 7000000000, 9007199254740990 + n, null, n, n, pg_temp.json(n)
from generate_series(1, 1200) n;
delete from event where id > 1190;  -- numbers that were given out are not given out again

insert into soul_draft (turn_id, text, author_id, author, reason, based_on, status, version, decided_at, decided_by)
select nullif(n, 4), pg_temp.odd(n), 9007199254740993, pg_temp.odd(n + 2), pg_temp.odd(n + 1), 1 + n % 9, 'activated',
    1 + n % 5, now(), 9007199254740993 + n
from generate_series(1, 20) n;
insert into persona (chat_id, topic_id, text, author_id, author)
select -1009007199254740993 + n, n, pg_temp.odd(n), n, pg_temp.odd(n + 1) from generate_series(1, 20) n;
insert into place (chat_id, topic_id, answers, set_by)
select -1009007199254740993 + n, n - 2, 'off', 9007199254740993 from generate_series(1, 20) n;
insert into link (chat_id, owner_id) select -1009007199254740993 + n, n from generate_series(1, 20) n;
insert into choice (user_id, choices)
select 9007199254740993 + n, jsonb_build_object('zone', pg_temp.odd(n)) from generate_series(1, 20) n;
insert into signal (space_id, message_id, turn_id, user_id, emoji, removed_at, telegram_message_id)
select m.space_id, m.id, m.turn_id, 9007199254740993, '👍🏽', case when m.id % 2 = 0 then now() end, m.id
from message m order by m.id limit 20;
insert into feedback (space_id, thread_id, session_id, user_id, kind, turn_id, message_id, value, source, withdrawn_at)
select m.space_id, m.thread_id, m.session_id, 9007199254740993, 'tag', m.turn_id, m.id,
    jsonb_build_object('tags', pg_temp.odd(m.id::integer % 50)), 'button', case when m.id % 2 = 0 then now() end
from message m order by m.id limit 20;
reset relay.index;  -- these make preferences
insert into observation (feedback_id, space_id, user_id, thread_id, type, pattern, polarity, weight, reinforcing,
    explicit, session_id, at)
select id, space_id, user_id, case when id % 2 = 0 then thread_id end, 'other', pg_temp.odd(id::integer % 50), 1, 0.3, 1,
    id % 3 <> 0, session_id, at
from feedback;
set relay.index = 'later';
insert into preference_decision (space_id, user_id, type, pattern, action, at)
select space_id, user_id, 'other', pg_temp.odd(id::integer % 50), 'forget', timestamptz '2020-01-01' from feedback;
insert into message_version (message_id, text, blocks, untrusted)
select m.id, pg_temp.odd(m.id::integer % 50), m.blocks, true from message m order by m.id limit 20;
insert into document (space_id, message_id, unique_id, name, mime, kind, pages, parts)
select m.space_id, m.id, 'file' || m.id, pg_temp.odd(m.id::integer % 50), 'application/pdf', 'PDF', m.id % 9, 3
from message m order by m.id limit 20;
insert into document_part (document_id, part, space_id, text)
select d.id, n, d.space_id, pg_temp.odd(d.id::integer % 50 + n) from document d, generate_series(1, 3) n;
insert into topic (bot_id, chat_id, topic_id, name, implicit, renamed_at)
select 7000000000, -1009007199254740993, n, pg_temp.odd(n), n % 2 = 0, now() from generate_series(1, 20) n;
insert into title_due (session_id, bot_id, status) select s.id, 7, 'done' from session s order by s.id limit 20;
insert into job (kind, key, payload, due_at, failures, last_error, parked_at)
select 'title', s.id::text, coalesce(pg_temp.json(s.id::integer), '{}'), pg_temp.at(s.id::integer), 6, pg_temp.odd(s.id::integer % 50), now()
from session s order by s.id limit 20;
insert into person (user_id, bot_id, name, username, role, decided_by, decided_by_name, asked_at, decided_at)
select 9007199254740993 + n, 9007199254740993, pg_temp.odd(n), nullif(pg_temp.odd(n), ''),
    (array['admin', 'user', 'asking', 'refused', 'blocked'])[1 + n % 5], nullif(n % 4, 0), pg_temp.odd(n), pg_temp.at(n), case n % 2 when 0 then pg_temp.at(n + 1) end
from generate_series(1, 300) n;
insert into invite (hash, role, made_by, made_by_name, for_whom, guesses, expires_at, used_by, used_at)
select md5(n::text) || md5((n + 1)::text), (array['admin', 'user'])[1 + n % 2], nullif(n % 4, 0), pg_temp.odd(n),
    pg_temp.odd(n), coalesce(pg_temp.json(n), '{}'), pg_temp.at(n),
    nullif(n % 3, 0), case n % 3 when 1 then pg_temp.at(n) end
from generate_series(1, 300) n;
insert into duty (name, lease_owner, lease_until, done_at, state)
select pg_temp.odd(n) || n, case n % 2 when 0 then gen_random_uuid() end, pg_temp.at(n), pg_temp.at(n),
    coalesce(pg_temp.json(n), '{}')
from generate_series(1, 300) n;
insert into incident (kind, detail, begun_at, seen_at, calm_since, told_at, over_at, lease_owner, lease_until)
select pg_temp.odd(n) || n, pg_temp.odd(n), pg_temp.at(n), pg_temp.at(n + 1), case n % 3 when 0 then pg_temp.at(n) end,
    pg_temp.at(n), case n % 2 when 0 then pg_temp.at(n) end, case n % 5 when 0 then gen_random_uuid() end,
    case n % 5 when 0 then pg_temp.at(n) end
from generate_series(1, 300) n;
insert into spend (id, at, what, done, user_id, space_id, model, input, cached, written, output, searches)
select gen_random_uuid(), pg_temp.at(n), (array['answer', 'summary', 'title'])[1 + n % 3], n % 4 > 0,
    nullif(9007199254740993 + n, 9007199254740999), nullif(1 + n % 60, 7), nullif(pg_temp.odd(n), ''),
    9007199254740993 + n, n, n % 5, n, n % 2
from generate_series(1, 600) n;
insert into budget_warning (user_id, told_at)
select 9007199254740993 + n, pg_temp.at(n) from generate_series(1, 300) n;
insert into file_gone select 'file' || n from generate_series(1, 20) n;
insert into erasure (space_id, user_id, status, work, counts, posted, created_at, done_at)
select 1 + n % 60, 9007199254740993 + n, (array['preview', 'working', 'done'])[1 + n % 3], pg_temp.json(n),
    coalesce(pg_temp.json(n + 1), '{}'), pg_temp.json(n + 2), pg_temp.at(n), case n % 3 when 2 then pg_temp.at(n + 1) end
from generate_series(1, 20) n;
insert into retraction (bot_id, chat_id, telegram_message_id, erasure_id, request, sent_at)
select 9007199254740993, 9007199254740993 + n, n, n, pg_temp.json(n), pg_temp.at(n) from generate_series(1, 20) n;
update space set memory = 'off', paused_until = pg_temp.at(id) where id % 3 = 0;
update thread set recalls = false, teaches = id % 2 = 0 where id % 5 = 0;
insert into night (begun_at, ended_at, through_message, through_memory, phases)
select pg_temp.at(n), case n % 2 when 0 then pg_temp.at(n + 1) end, n, n, coalesce(pg_temp.json(n), '{}')
from generate_series(1, 30) n;
insert into sleep_due (space_id, night_id, after_message, through_message, after_memory, through_memory, consolidated)
select n, n, n, 9007199254740993 + n, n, n, n % 2 = 0 from generate_series(1, 30) n;
insert into consolidation (space_id, plan, lost, active)
select n, coalesce(pg_temp.json(n), '[]'), n, 2 * n from generate_series(1, 30) n;
insert into goal_left (memory_id, valid_until) select n, pg_temp.at(n) from generate_series(1, 30) n;
insert into digest (space_id, user_id, chat_id, topic_id, at_time, zone, bot_id, through_message, next_at)
select n, 9007199254740993 + n, -1009007199254740993 - n, n % 3, case n % 2 when 0 then time '7:30' end, pg_temp.odd(n),
    9007199254740993, n, case n % 2 when 0 then pg_temp.at(n) end
from generate_series(1, 30) n;
insert into soul_growth (space_id, user_id, bot_id, zone, next_at)
select n, 9007199254740993 + n, 9007199254740993, pg_temp.odd(n), pg_temp.at(n) from generate_series(1, 30) n;
insert into soul_idea (space_id, user_id, based_on, text, replaces, inputs, derivation, status, decided_at)
select n, 9007199254740993 + n, n, left(pg_temp.odd(n) || n, 200), left(pg_temp.odd(n + 1), 200), array['memory:' || n],
    coalesce(pg_temp.json(n), '{}'), (array['open', 'accepted', 'edited', 'dismissed'])[1 + n % 4],
    case n % 4 when 0 then null else pg_temp.at(n) end
from generate_series(1, 30) n;
insert into result (space_id, hash, name, version, inputs, result)
select n, md5(n::text), 'summary', '1', array['message:' || n], '{"text": "made again"}' from generate_series(1, 30) n;
-- Its messages have made these threads due already.
update judging set through_message_id = 9007199254740993 + thread_id, failures = thread_id % 5,
    error = nullif(pg_temp.odd(thread_id), ''), lease_owner = case thread_id % 4 when 0 then gen_random_uuid() end,
    lease_until = case thread_id % 4 when 0 then timestamptz '2020-01-01' end;
insert into judge_again (thread_id, from_message_id, through_message_id, at)
select 1 + n % 400, 9007199254740993 + n, 9007199254740999 + n, pg_temp.at(n) from generate_series(1, 300) n;
insert into announcement (turn_id, bot_id, changes, before, status, failures)
select n, 9007199254740993, array[9007199254740993 + n, n], pg_temp.json(n), (array['due', 'done', 'anew'])[1 + n % 3], n % 5
from generate_series(1, 300) n;
insert into outbox (seq, bot_id, chat_id, topic_id, user_id, space_id, inputs, request, dedupe_key, status, not_before,
    under_turn_id)
select 1, 9007199254740993, n, n % 3, n, 1 + n % 3, jsonb_build_array('message:' || n), coalesce(pg_temp.json(n), '{}'),
    case n % 2 when 0 then 'key ' || n end, 'queued', timestamptz '2120-01-01' + n * interval '1 second',
    case n % 5 when 0 then n end
from generate_series(1, 50) n;
update session set registered_at = pg_temp.at(id), last_accessed_at = case when id % 2 = 0 then pg_temp.at(id + 1) end,
    topics = case id % 3 when 1 then array[pg_temp.odd(id), '{,}"\'] when 2 then '{}' end;
update memory set validated_at = pg_temp.at(id), validated_by = 9007199254740993 where id % 4 = 0;
insert into keepit (space_id, thread_id, session_id, message_id, seq, weight, content, block, start_at, end_at, context,
    origin, user_id, created_at, removed_at)
select m.space_id, m.thread_id, m.session_id, m.id, n, (m.id % 101) / 100.0, pg_temp.odd(m.id % 50), 0, n, 9 + n,
    pg_temp.odd(m.id % 50 + n), (array['text', 'command', 'button', 'cli', 'http', 'import'])[1 + m.id % 6],
    9007199254740993 + n, pg_temp.at(m.id), case when m.id % 3 = 0 then pg_temp.at(m.id + 1) end
from (select * from message order by id limit 20) m, generate_series(0, 2) n;
insert into compression (space_id, thread_id, session_id, number, name, settings, source_id, from_message_id,
    through_message_id, inputs, output_tokens, ratio, rows, keepit, status, usage, tainted, created_by, created_at,
    last_used_at, dropped_at, error)
select space_id, thread_id, id, 1, pg_temp.odd(id), coalesce(pg_temp.json(id), '{}'), nullif(id - 1, 0), id,
    9007199254740993 + id, array['message:' || id], id, id / 10.0, pg_temp.json(3), pg_temp.json(2),
    (array['due', 'ready', 'failed', 'dropped'])[1 + id % 4], pg_temp.json(id), id % 2 = 0, 9007199254740993,
    pg_temp.at(id), case when id % 2 = 0 then pg_temp.at(id + 1) end,
    case when id % 4 = 3 then pg_temp.at(id + 2) end, nullif(pg_temp.odd(id), '')
from session order by id limit 40;
insert into compression_keepit (compression_id, keepit_id, weight, threshold, survived)
select n, n, 0.80, 0.650 + n / 1000.0, n % 2 = 0 from generate_series(1, 30) n;
insert into composition (space_id, thread_id, session_id, name, budget, inputs, rows, status, created_by, deleted_at)
select space_id, thread_id, id, 'Plans äöü ' || id, 16000, array['version:' || id], pg_temp.json(3),
    (array['making', 'ready', 'over', 'failed'])[1 + id % 4], 9007199254740993,
    case when id % 3 = 0 then pg_temp.at(id) end
from session order by id limit 20;
insert into composition_part (composition_id, place, session_id, compression_id, version, allocation, reason)
select c.id, n, 1 + c.id, case when n = 1 then c.id end, pg_temp.odd(c.id), 9000, nullif(pg_temp.odd(c.id + n), '')
from composition c, generate_series(1, 2) n;
insert into composition_use (session_id, composition_id) select 100 + id, id from composition;
insert into session_link (source_session_id, target_thread_id, space_id, reason, linked_by)
select id, 1 + id % 400, space_id, pg_temp.odd(id), 9007199254740993 from session order by id limit 20;
insert into context_setting (space_id, settings) select n, coalesce(pg_temp.json(n), '{}') from generate_series(1, 20) n;
update feedback set by_turn_id = 9007199254740993 + id where id % 2 = 0;
insert into reminder (space_id, thread_id, session_id, user_id, bot_id, chat_id, topic_id, kind, text, zone, start_at, rule,
    next_at, occurrence, repeat_minutes, asked, status, origin, inputs, tainted)
select space_id, id, session_id, 9007199254740993, 9007199254740993, chat_id, topic_id,
    (array['say', 'ask', 'check'])[1 + id % 3], 'Reminder äöü ' || id, 'Europe/Berlin', timestamp '2120-01-01 09:00',
    case id % 2 when 0 then 'FREQ=DAILY' else '' end, case id % 3 when 0 then pg_temp.at(id) end, pg_temp.at(id),
    nullif(id % 4, 0) * 10, id % 3, (array['proposed', 'active', 'paused', 'ended', 'deleted'])[1 + id % 5], 'command',
    array['message:' || id], id % 2 = 0
from thread where session_id is not null order by id limit 20;
insert into reminder_event (reminder_id, kind, occurrence, user_id, outbox_id, detail)
select id, (array['made', 'fired', 'missed'])[1 + id % 3], pg_temp.at(id), user_id, nullif(id % 4, 0),
    case id % 2 when 0 then 'nothing to say' end
from reminder;
insert into heartbeat (space_id, user_id, bot_id, chat_id, topic_id, every_hours, from_hour, to_hour, zone, checklist,
    through_message, through_reminder, looked_at, outcome, next_at, status)
select n, 9007199254740993 + n, 9007199254740993, n, n % 3, 1 + n % 24, 8, 21, 'Europe/Berlin', 'Parcels äöü ' || n,
    9007199254740993 + n, n, case n % 2 when 0 then pg_temp.at(n) end, 'nothing to say', pg_temp.at(n),
    (array['on', 'off'])[1 + n % 2]
from generate_series(1, 20) n;
insert into standing_intent (space_id, thread_id, session_id, user_id, about, text, used, used_at, used_turn, status, inputs,
    tainted)
select space_id, id, session_id, 9007199254740993, 'dentist äöü ' || id, 'the card ' || id, id % 3,
    case id % 2 when 0 then pg_temp.at(id) end, nullif(id % 4, 0),
    (array['proposed', 'active', 'ended', 'deleted'])[1 + id % 4], array['message:' || id], id % 2 = 0
from thread where session_id is not null order by id limit 20;
-- A new kind of artefact with the usual columns gets its rows here.
do $$
declare
    one record;
    filled boolean;
begin
    for one in select name from relay.artefact_kinds() loop
        execute format('select exists (select from relay.%I)', one.name) into filled;
        if not filled then
            execute format($insert$
                insert into relay.%I (space_id, thread_id, session_id, text, inputs, tainted, derivation)
                select space_id, id, session_id, pg_temp.odd(id), array['message:' || id], id %% 2 = 0, '{"name": "a/1"}'
                from relay.thread where session_id is not null order by id limit 20 $insert$, one.name);
        end if;
    end loop;
end $$;
