-- breaking
-- Contexts: markers of what is to be kept, compressed versions of sessions, and compositions of several within a budget.

-- registered_at: in the library of past sessions. last_accessed_at: opened, compressed or composed. topics: null until
-- they were asked for. versions: the number of the latest one, so that none is used twice.
alter table relay.session add column registered_at timestamptz;
alter table relay.session add column last_accessed_at timestamptz;
alter table relay.session add column topics text[];
alter table relay.session add column versions integer not null default 0;
create index session_registered on relay.session (space_id, id) where registered_at is not null;

-- A passage of a message that a person wants kept, with a weight from 0 to 1. seq: its place in the message.
create table relay.keepit (
    id bigint generated always as identity primary key,
    space_id bigint not null references relay.space,
    thread_id bigint not null references relay.thread,
    session_id bigint not null references relay.session,
    message_id bigint not null references relay.message on delete cascade,
    seq integer not null,
    weight numeric(3, 2) not null check (weight between 0 and 1),
    content text not null,
    -- The weight that the message's own text says; null: the text does not say it, a person marked it otherwise.
    typed numeric(3, 2),
    -- Where it is in the text of this block of the message, in characters. -1: in the text of the whole message.
    block smallint not null,
    start_at integer not null,
    end_at integer not null,
    -- Up to 50 characters on either side.
    context text not null,
    origin text not null check (origin in ('text', 'command', 'button', 'cli', 'http', 'import')),
    user_id bigint not null,
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now(),
    removed_at timestamptz,
    unique (message_id, seq)
);
create index keepit_session on relay.keepit (session_id, id) where removed_at is null;
create index keepit_thread on relay.keepit (thread_id, weight desc, id) where removed_at is null;
create index keepit_space on relay.keepit (space_id, id) where removed_at is null;

-- A compressed version of a session. inputs: the messages and the version that it was made from. rows: [{role, text, at,
-- from, through, kept?, weight?, keepit?}]. keepit: {preserved, summarized, weights: {"0.80": 2}}. source_id: lineage.
create table relay.compression (
    id bigint generated always as identity primary key,
    space_id bigint not null references relay.space,
    thread_id bigint not null references relay.thread,
    session_id bigint not null references relay.session,
    number integer not null,
    name text not null,
    settings jsonb not null,
    source_id bigint references relay.compression on delete set null,
    from_message_id bigint,
    through_message_id bigint,
    inputs text[] not null default '{}',
    input_tokens integer not null default 0,
    input_messages integer not null default 0,
    output_tokens integer,
    output_messages integer,
    ratio numeric(7, 1),
    rows jsonb,
    keepit jsonb not null default '{}',
    status text not null default 'due' check (status in ('due', 'ready', 'failed', 'dropped')),
    model text,
    usage jsonb,
    derivation jsonb not null default '{}',
    tainted boolean not null default false,
    -- 0: the night made it.
    created_by bigint not null,
    created_at timestamptz not null default now(),
    last_used_at timestamptz,
    dropped_at timestamptz,
    -- It can be brought back for a day, otherwise for ten minutes.
    dropped_by_night boolean not null default false,
    error text,
    unique (session_id, number)
);
create index compression_space on relay.compression (space_id, id);
create index compression_thread on relay.compression (thread_id, id);
create index compression_source on relay.compression (source_id) where source_id is not null;
create index compression_dropped on relay.compression (dropped_at) where dropped_at is not null;

-- Which markers a version kept word for word, and against which threshold.
create table relay.compression_keepit (
    compression_id bigint not null references relay.compression on delete cascade,
    keepit_id bigint not null references relay.keepit on delete cascade,
    weight numeric(3, 2) not null,
    threshold numeric(5, 3) not null,
    survived boolean not null,
    primary key (compression_id, keepit_id)
);
create index compression_keepit_marker on relay.compression_keepit (keepit_id);

-- Several sessions' versions together, within a budget of tokens. It holds its own text, so it works without them.
-- session_id: where it was made. bot_id: the bot that tells whoever waits for it; null: nobody does.
create table relay.composition (
    id bigint generated always as identity primary key,
    space_id bigint not null references relay.space,
    thread_id bigint not null references relay.thread,
    session_id bigint references relay.session,
    name text not null check (name ~ '^\w[\w .-]{0,63}$'),
    budget integer not null check (budget between 1000 and 100000),
    strategy text not null default 'equal' check (strategy in ('equal', 'recency', 'proportional')),
    format text not null default 'both' check (format in ('markdown', 'jsonl', 'both')),
    status text not null default 'making' check (status in ('making', 'ready', 'over', 'failed')),
    inputs text[] not null default '{}',
    rows jsonb,
    total_tokens integer,
    total_messages integer,
    derivation jsonb not null default '{}',
    tainted boolean not null default false,
    created_by bigint not null,
    bot_id bigint,
    created_at timestamptz not null default now(),
    deleted_at timestamptz,
    error text
);
create unique index composition_name on relay.composition (thread_id, lower(name)) where deleted_at is null;
create index composition_space on relay.composition (space_id, id);

-- version: 'original' or a version's name, which stays when the version is pruned. asked: what was asked for, {version,
-- allocation, recompress: settings}; to make it again. reason: why this version.
create table relay.composition_part (
    composition_id bigint not null references relay.composition on delete cascade,
    place integer not null,
    session_id bigint not null references relay.session,
    compression_id bigint references relay.compression on delete set null,
    version text not null,
    allocation integer,
    tokens integer,
    messages integer,
    asked jsonb not null default '{}',
    reason text,
    primary key (composition_id, place)
);
create index composition_part_session on relay.composition_part (session_id);
create index composition_part_version on relay.composition_part (compression_id) where compression_id is not null;

-- The composition that a session began with.
create table relay.composition_use (
    session_id bigint primary key references relay.session on delete cascade,
    composition_id bigint not null references relay.composition on delete cascade,
    used_at timestamptz not null default now()
);
create index composition_use_composition on relay.composition_use (composition_id);

-- A session that another conversation of the same space looks at, too.
create table relay.session_link (
    source_session_id bigint not null references relay.session on delete cascade,
    target_thread_id bigint not null references relay.thread,
    space_id bigint not null references relay.space,
    reason text not null default '',
    linked_by bigint not null,
    linked_at timestamptz not null default now(),
    primary key (source_session_id, target_thread_id)
);
create index session_link_target on relay.session_link (target_thread_id);

-- What a space changed of the settings of contexts; the rest has its defaults.
create table relay.context_setting (
    space_id bigint primary key references relay.space,
    settings jsonb not null default '{}',
    changed_at timestamptz not null default now()
);

-- When a person said that a memory is right.
alter table relay.memory add column validated_at timestamptz;
alter table relay.memory add column validated_by bigint;

-- It takes topics now.
drop function if exists public.relay_store_title(bigint, bigint, text);
-- What a version costs is one kind of spending more.
alter table relay.spend drop constraint spend_what_check;
alter table relay.spend add constraint spend_what_check check (what in (
    'answer', 'summary', 'title', 'judge', 'proposal', 'digest', 'rederive', 'preference', 'critique', 'compression'));
-- A search tells it whether messages were found, not the kinds.
drop function if exists relay.known_hits(bigint, bigint[], jsonb, boolean, jsonb);
