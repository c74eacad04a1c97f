-- What owners of memories do with them: private sessions, and what was erased.

-- When the words of a private session were erased, and who began it.
alter table relay.session add column erased_at timestamptz, add column begun_by bigint;
create index session_private on relay.session (space_id) where private and erased_at is null;

-- The session off the record in which an update came in; null: it is on the record.
alter table relay.inbox add column session_id bigint;
create index inbox_session on relay.inbox (session_id) where session_id is not null;

-- What was erased in a space: when, by whom, how much, and nothing of what it was. work: until it is done, what is still
-- to be erased and the words by which the rest is found; it goes with the end. posted: our messages in the chat that
-- told it, [[chat id, message id]], for as long as Telegram lets us delete them.
create table relay.erasure (
    id bigint generated always as identity primary key,
    space_id bigint not null references relay.space,
    user_id bigint not null,
    status text not null default 'preview' check (status in ('preview', 'working', 'done')),
    work jsonb,
    counts jsonb not null default '{}',
    posted jsonb,
    created_at timestamptz not null default now(),
    done_at timestamptz
);
create index erasure_open on relay.erasure (id) where status <> 'done';

-- Files of what was erased, whose kept copies are to be removed.
create table relay.file_gone (unique_id text primary key);

-- What is erased is found by what refers to it.
create index turn_user_message on relay.turn (user_message_id) where user_message_id is not null;
create index memory_source on relay.memory (source_message_id) where source_message_id is not null;
create index memory_replaced on relay.memory (replaced_by) where replaced_by is not null;
create index summary_previous on relay.summary (previous_id) where previous_id is not null;

-- The turns of sessions off the record of which something is still there: those that began in one, and those whose update
-- came in there.
create view relay.private_turn as
    select s.id as session_id, t.id from relay.session s
    join relay.turn t on t.thread_id = s.thread_id and t.session_id = s.id
    where s.private and s.erased_at is null
    union
    select s.id, i.turn_id from relay.session s join relay.inbox i on i.session_id = s.id
    where s.private and s.erased_at is null and i.turn_id is not null;
