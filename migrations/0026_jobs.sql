-- Background work that is owed: one row for each kind and key, written in the transaction that makes it due, and gone once
-- it is done. payload: what its kind has to know; a job that names a bot there (bot_id) is that bot's. due_at: -infinity is
-- at once, which no clock that was wrong can put off. parked_at: it failed for good.
create table relay.job (
    id bigint generated always as identity primary key,
    kind text not null,
    key text not null,
    payload jsonb not null default '{}',
    due_at timestamptz not null default '-infinity',
    lease_owner uuid,
    lease_until timestamptz,
    fence bigint not null default 0,
    failures integer not null default 0,
    last_error text,
    parked_at timestamptz,
    created_at timestamptz not null default now(),
    unique (kind, key)
);
create index job_due on relay.job (kind, due_at, id) where parked_at is null;
create index job_parked on relay.job (parked_at) where parked_at is not null;

-- What was owed is owed here. The old tables stay, empty, and so do the functions that read them: a process of the version
-- before finds nothing to do there.
insert into relay.job (kind, key, payload, due_at, failures, last_error, created_at)
select 'summary', through_message_id::text, jsonb_build_object('session_id', session_id, 'context_from', context_from),
    case when error is null then '-infinity' else not_before end, failures, error, created_at
from relay.summary_due where status = 'due' order by id
on conflict do nothing;
insert into relay.job (kind, key, payload, due_at, failures, last_error, created_at, parked_at)
select 'title', session_id::text, jsonb_build_object('bot_id', bot_id),
    case when error is null then '-infinity' else not_before end, failures, error, created_at,
    case when status = 'failed' then not_before end
from relay.title_due where status in ('due', 'failed') order by session_id
on conflict do nothing;
delete from relay.summary_due;
delete from relay.title_due;
