-- The tables of Relay. Raw rows (inbox, event, message) are kept; facts, summaries and counters derive from them.

create schema if not exists extensions;
create extension if not exists pg_trgm with schema extensions;
create extension if not exists btree_gin with schema extensions;

-- Whose memory it is: one per person, one per group.
create table relay.space (
    id bigint generated always as identity primary key,
    kind text not null check (kind in ('private', 'group')),
    owner_id bigint,
    chat_id bigint,
    created_at timestamptz not null default now(),
    check ((kind = 'private' and owner_id is not null) or (kind = 'group' and chat_id is not null))
);
create unique index space_owner on relay.space (owner_id) where kind = 'private';
create unique index space_chat on relay.space (chat_id) where kind = 'group';

-- One line of conversation as a space remembers it.
create table relay.thread (
    id bigint generated always as identity primary key,
    space_id bigint not null references relay.space,
    chat_id bigint not null,
    topic_id bigint not null default 0,
    session_id bigint,
    exchange_count integer not null default 0,
    summary_id bigint,
    context_from bigint not null default 0,
    window_from bigint not null default 0,
    last_at timestamptz not null default now(),
    created_at timestamptz not null default now(),
    unique (chat_id, topic_id, space_id)
);
create index thread_space on relay.thread (space_id);

create table relay.session (
    id bigint generated always as identity primary key,
    thread_id bigint not null references relay.thread,
    space_id bigint not null references relay.space,
    title text,
    started_at timestamptz not null default now(),
    ended_at timestamptz
);
create index session_thread on relay.session (thread_id, id);

-- The queue: one lane per bot, chat and topic, so that its turns run in order and one at a time.
create table relay.lane (
    id bigint generated always as identity primary key,
    bot_id bigint not null,
    chat_id bigint not null,
    topic_id bigint not null default 0,
    due_at timestamptz,
    open_turn_id bigint,
    unique (bot_id, chat_id, topic_id)
);
create index lane_due on relay.lane (bot_id, due_at) where due_at is not null and open_turn_id is null;

-- One user input and the reply to it, or one control (a command or a button) that passes the queue by.
create table relay.turn (
    id bigint generated always as identity primary key,
    kind text not null check (kind in ('message', 'control')),
    bot_id bigint not null,
    lane_id bigint references relay.lane,
    user_id bigint,
    space_id bigint references relay.space,
    thread_id bigint references relay.thread,
    session_id bigint references relay.session,
    status text not null default 'working' check (status in ('working', 'answered', 'done', 'failed')),
    lease_owner uuid,
    lease_until timestamptz,
    not_before timestamptz,
    fence bigint not null default 1,
    failures integer not null default 0,
    user_message_id bigint,
    assistant_message_id bigint,
    tainted boolean not null default false,
    model text,
    usage jsonb,
    prompt jsonb,
    told jsonb,
    error text,
    created_at timestamptz not null default now(),
    answered_at timestamptz,
    done_at timestamptz
);
create index turn_open on relay.turn (bot_id, id) where status in ('working', 'answered');
create index turn_thread on relay.turn (thread_id, id);

-- What Telegram handed out. The payload stays until its turn is done; the row stays a while so that it is known again.
create table relay.inbox (
    bot_id bigint not null,
    update_id bigint not null,
    lane_id bigint references relay.lane,
    turn_id bigint references relay.turn,
    user_id bigint,
    mergeable boolean not null default false,
    status text not null check (status in ('pending', 'claimed', 'done', 'failed', 'ignored')),
    payload jsonb,
    error text,
    ready_at timestamptz not null default now(),
    received_at timestamptz not null default now(),
    primary key (bot_id, update_id)
);
create index inbox_pending on relay.inbox (lane_id, update_id) where status = 'pending';
create index inbox_turn on relay.inbox (turn_id) where turn_id is not null;
create index inbox_received on relay.inbox (received_at);

-- One side of a turn, whole as content blocks, with its clean text.
create table relay.message (
    id bigint generated always as identity primary key,
    space_id bigint not null references relay.space,
    thread_id bigint not null references relay.thread,
    session_id bigint not null references relay.session,
    turn_id bigint references relay.turn,
    role text not null check (role in ('user', 'assistant')),
    user_id bigint,
    name text,
    text text not null,
    blocks jsonb not null,
    status text not null default 'complete' check (status in ('complete', 'stopped', 'cut', 'replaced')),
    untrusted boolean not null default false,
    tainted boolean not null default false,
    created_at timestamptz not null default now(),
    words tsvector generated always as (to_tsvector('simple', left(text, 200000))) stored
);
create index message_thread on relay.message (thread_id, id);
create index message_turn on relay.message (turn_id);
create index message_words on relay.message using gin (space_id, words);

-- Which Telegram message is which of ours; also what tells a sent part from a lost one.
create table relay.posted (
    bot_id bigint not null,
    chat_id bigint not null,
    telegram_message_id bigint not null,
    message_id bigint,
    turn_id bigint,
    from_bot boolean not null,
    created_at timestamptz not null default now(),
    primary key (bot_id, chat_id, telegram_message_id)
);
-- Private chats and basic groups share one counter of message ids; supergroups (ids below -10^12) have one each.
create index posted_shared on relay.posted (bot_id, telegram_message_id) where chat_id > -1000000000000;
create index posted_turn on relay.posted (turn_id) where turn_id is not null;

-- Replies on their way: stored before they are sent, part by part.
create table relay.delivery (
    id bigint generated always as identity primary key,
    turn_id bigint not null references relay.turn,
    seq integer not null,
    bot_id bigint not null,
    chat_id bigint not null,
    message_id bigint,
    request jsonb not null,
    preview boolean not null default false,
    status text not null default 'waiting' check (status in ('waiting', 'sending', 'preview', 'sent', 'failed')),
    sending_text text,
    floor_message_id bigint,
    telegram_message_id bigint,
    error text,
    created_at timestamptz not null default now(),
    sent_at timestamptz,
    unique (turn_id, seq)
);

create table relay.soul (
    version integer primary key,
    text text not null,
    author_id bigint,
    reason text,
    active boolean not null default false,
    created_at timestamptz not null default now()
);
create unique index soul_active on relay.soul (active) where active;

create table relay.memory (
    id bigint generated always as identity primary key,
    space_id bigint not null references relay.space,
    kind text not null default 'fact' check (kind in ('fact', 'learning')),
    subject_id bigint,
    subject text,
    content text not null,
    category text,
    tags text[] not null default '{}',
    importance smallint not null default 5,
    pinned boolean not null default false,
    status text not null default 'active' check (status in ('pending', 'active', 'forgotten', 'discarded')),
    tainted boolean not null default false,
    thread_id bigint references relay.thread,
    session_id bigint references relay.session,
    turn_id bigint references relay.turn,
    source_message_id bigint references relay.message,
    derivation jsonb not null default '{}',
    created_at timestamptz not null default now(),
    updated_at timestamptz not null default now()
);
create index memory_active on relay.memory (space_id, pinned desc, importance desc, id desc) where status = 'active';
create index memory_turn on relay.memory (turn_id) where turn_id is not null;
create index memory_content on relay.memory using gin (space_id, content extensions.gin_trgm_ops) where status = 'active';

-- Every change of a memory, so that it can be told, traced and undone.
create table relay.memory_change (
    id bigint generated always as identity primary key,
    space_id bigint not null references relay.space,
    memory_id bigint not null references relay.memory,
    turn_id bigint references relay.turn,
    user_id bigint,
    action text not null check (action in ('learn', 'refresh', 'forget')),
    status text not null default 'applied' check (status in ('pending', 'applied', 'undone', 'discarded')),
    before jsonb,
    created_at timestamptz not null default now(),
    decided_at timestamptz
);
create index memory_change_turn on relay.memory_change (turn_id, id);
create index memory_change_memory on relay.memory_change (memory_id, id);

create table relay.summary (
    id bigint generated always as identity primary key,
    thread_id bigint not null references relay.thread,
    session_id bigint not null references relay.session,
    previous_id bigint references relay.summary,
    text text not null,
    from_message_id bigint not null,
    through_message_id bigint not null,
    message_count integer not null,
    model text not null,
    settings jsonb not null,
    usage jsonb,
    tainted boolean not null,
    created_at timestamptz not null default now(),
    unique (thread_id, through_message_id)
);

-- A summary that is owed: written by the fifth exchange, done once whatever the number of processes.
create table relay.summary_due (
    id bigint generated always as identity primary key,
    thread_id bigint not null references relay.thread,
    session_id bigint not null references relay.session,
    context_from bigint not null,
    through_message_id bigint not null,
    status text not null default 'due' check (status in ('due', 'done', 'skipped', 'failed')),
    lease_owner uuid,
    lease_until timestamptz,
    not_before timestamptz not null default now(),
    failures integer not null default 0,
    error text,
    created_at timestamptz not null default now(),
    unique (thread_id, through_message_id)
);
create index summary_due_open on relay.summary_due (id) where status = 'due';

-- One append-only, redacted record of something that happened.
create table relay.event (
    id bigint generated always as identity primary key,
    at timestamptz not null default now(),
    kind text not null,
    bot_id bigint,
    update_id bigint,
    space_id bigint,
    turn_id bigint,
    user_id bigint,
    payload jsonb
);
create index event_turn on relay.event (turn_id) where turn_id is not null;
create index event_at on relay.event (at);

insert into relay.soul (version, text, reason, active) values (1,
'You are Relay, a personal assistant who lives in this chat and remembers. You are warm, direct and curious. You speak the language you are spoken to in. You keep answers as short as the question deserves, say what you do not know, and never flatter. You have opinions and give them when asked. You bring up what you remember when it helps, lightly, the way a good friend would.',
'the soul that Relay starts with', true);
