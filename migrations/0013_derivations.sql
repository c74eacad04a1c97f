-- Results of derivations, and nightly work.

-- How a summary was made: {name, version, inputs, hash}; {}: by a person, or before that was kept.
alter table relay.summary add column derivation jsonb not null default '{}';

-- What derivations came to, by the hash of what they read and what they were (relay/memory/derivations/derivation.py): a cache, so many a
-- space, the least recently used out first.
create table relay.result (
    space_id bigint not null references relay.space,
    hash text not null,
    name text not null,
    version text not null,
    inputs text[] not null,
    result jsonb not null,
    used_at timestamptz not null default clock_timestamp(),
    primary key (space_id, hash)
);
create index result_used on relay.result (space_id, used_at);

-- Nights: how far the record went when one began, and what each phase that is done came to. One that has not ended is
-- gone on with.
create table relay.night (
    id bigint generated always as identity primary key,
    begun_at timestamptz not null default now(),
    ended_at timestamptz,
    through_message bigint not null,
    through_memory bigint not null,
    phases jsonb not null default '{}'
);

-- Spaces in which something has happened that no night has dealt with: their new messages and memories are those after
-- after_message and after_memory, up to through_…, where the record was when the night began. pairs_after: how far its
-- new memories were compared.
create table relay.sleep_due (
    space_id bigint primary key references relay.space,
    night_id bigint not null references relay.night,
    after_message bigint not null,
    through_message bigint not null,
    after_memory bigint not null,
    through_memory bigint not null,
    consolidated boolean not null default false,
    digested boolean not null default false
);

-- What a night would do to a space's memories and asks a person about first, because it is so much.
create table relay.consolidation (
    id bigint generated always as identity primary key,
    space_id bigint not null unique references relay.space,
    plan jsonb not null,
    lost integer not null,
    active integer not null,
    asked_at timestamptz not null default now()
);

-- Goals past their date that a person wants left as they are.
create table relay.goal_left (
    memory_id bigint primary key references relay.memory on delete cascade,
    valid_until timestamptz not null
);

-- Where a space's digest is wanted, and who wanted it.
create table relay.digest (
    space_id bigint primary key references relay.space,
    user_id bigint not null,
    chat_id bigint not null,
    topic_id bigint not null default 0,
    wanted_at timestamptz not null default now()
);

create index memory_goal_due on relay.memory (valid_until) where status = 'active' and kind = 'goal';
-- How many a space has of each sort: counted for each of its prompts.
create index memory_sort on relay.memory (space_id, kind, category) include (valid_until) where status = 'active';
