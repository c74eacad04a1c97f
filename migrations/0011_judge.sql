-- Automatic capture: how far each thread was judged, what is to be judged again, and what of it is to be told.

-- Whether something may be learned from a message: as it stood when the message was said.
alter table relay.message add column teaches boolean not null default true;

-- How far a thread was judged: a cursor that moves only with what was learned. due_at: since when something waits.
-- bulk: it is imported, and what people are just saying comes first. version: the oldest of the judge of whose findings
-- there may be some; null: nobody knows.
create table relay.judging (
    thread_id bigint primary key references relay.thread,
    through_message_id bigint not null,
    due_at timestamptz,
    bulk boolean not null default false,
    version text,
    lease_owner uuid,
    lease_until timestamptz,
    not_before timestamptz not null default now(),
    failures integer not null default 0,
    error text
);
create index judging_due on relay.judging (bulk, due_at) where due_at is not null;
-- What was said before there was a judge is not judged unasked.
insert into relay.judging (thread_id, through_message_id)
select t.id, coalesce((select max(m.id) from relay.message m where m.thread_id = t.id), 0) from relay.thread t;

-- Messages that only keywords have judged, while the model could not be had.
create table relay.judge_again (
    thread_id bigint not null references relay.thread,
    from_message_id bigint not null,
    through_message_id bigint not null,
    at timestamptz not null,
    primary key (thread_id, from_message_id)
);
create index judge_again_at on relay.judge_again (at);

-- Changes of memory that came after their answer was sent, to be told in the one line under it. before: that message as
-- it was first sent. A line that needs a message of its own is sent at most once (anew).
create table relay.announcement (
    turn_id bigint primary key references relay.turn,
    bot_id bigint not null,
    changes bigint[] not null,
    before jsonb,
    status text not null default 'due' check (status in ('due', 'done', 'anew')),
    lease_owner uuid,
    lease_until timestamptz,
    not_before timestamptz not null default now(),
    failures integer not null default 0
);
create index announcement_due on relay.announcement (bot_id, turn_id) where status = 'due';
