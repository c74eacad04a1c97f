-- What people do in the chat: soul drafts and personas, when a group is answered and whose memory it is lent, one's own
-- choices, reactions, edited messages, names of topics, titles of sessions, corrected summaries, pinned memories.

-- Who wrote a soul, as they were called then.
alter table relay.soul add column author text;
drop function if exists public.relay_set_soul(text, bigint, text);

-- A soul that waits to be activated or discarded. turn_id: in which it was given; it makes one draft, also when it runs
-- twice. decided_by: who activated or discarded it.
create table relay.soul_draft (
    id bigint generated always as identity primary key,
    turn_id bigint unique references relay.turn,
    text text not null,
    author_id bigint not null,
    author text not null,
    reason text not null,
    based_on integer references relay.soul,
    status text not null default 'open' check (status in ('open', 'activated', 'discarded')),
    version integer references relay.soul,
    created_at timestamptz not null default now(),
    decided_at timestamptz,
    decided_by bigint
);

-- What the soul is besides in one chat and topic. The newest row counts; an empty text takes it back.
create table relay.persona (
    id bigint generated always as identity primary key,
    chat_id bigint not null,
    topic_id bigint not null default 0,
    text text not null,
    author_id bigint not null,
    author text not null,
    created_at timestamptz not null default now()
);
create index persona_place on relay.persona (chat_id, topic_id, id desc);

-- What is answered in a group, or in a topic of it (topic_id -1: in all of it that says nothing else).
create table relay.place (
    chat_id bigint not null,
    topic_id bigint not null default -1,
    answers text not null check (answers in ('all', 'addressed', 'off')),
    set_by bigint not null,
    set_at timestamptz not null default now(),
    primary key (chat_id, topic_id)
);

-- A group to which somebody lends their own memory, for their own turns.
create table relay.link (
    chat_id bigint primary key,
    owner_id bigint not null,
    linked_at timestamptz not null default now()
);

-- A person's own choices, as the verbs name them.
create table relay.choice (
    user_id bigint primary key,
    choices jsonb not null default '{}',
    updated_at timestamptz not null default now()
);

-- A reaction to a message: one row for each emoji, kept when it is taken back.
create table relay.signal (
    id bigint generated always as identity primary key,
    space_id bigint not null references relay.space,
    message_id bigint not null references relay.message,
    turn_id bigint references relay.turn,
    user_id bigint not null,
    emoji text not null,
    created_at timestamptz not null default now(),
    removed_at timestamptz
);
create unique index signal_standing on relay.signal (message_id, user_id, emoji) where removed_at is null;
create index signal_message on relay.signal (message_id, user_id);

-- What a message said before its author edited it.
create table relay.message_version (
    id bigint generated always as identity primary key,
    message_id bigint not null references relay.message,
    text text not null,
    blocks jsonb not null,
    untrusted boolean not null,
    replaced_at timestamptz not null default now()
);
create index message_version_message on relay.message_version (message_id, id);
-- Of a message that came in several: what each says (text, blocks, and whether it only goes on with the one before).
-- edited_at: when its author edited it last, by Telegram's clock.
alter table relay.posted add column part jsonb, add column edited_at timestamptz;

-- A topic's name as Telegram shows it, and a group's title (topic 0). implicit: Telegram made it up, and a better one is
-- welcome. renamed_at: when it was given one; that is tried once.
create table relay.topic (
    bot_id bigint not null,
    chat_id bigint not null,
    topic_id bigint not null,
    name text not null,
    implicit boolean not null default false,
    renamed_at timestamptz,
    primary key (bot_id, chat_id, topic_id)
);
create index topic_place on relay.topic (chat_id, topic_id);

-- A title that is owed to a session: written by the small model, done once whatever the number of processes. The bot in
-- whose chat the session is may rename its topic.
create table relay.title_due (
    session_id bigint primary key references relay.session,
    bot_id bigint not null,
    status text not null default 'due' check (status in ('due', 'done', 'skipped', 'failed')),
    lease_owner uuid,
    lease_until timestamptz,
    not_before timestamptz not null default now(),
    failures integer not null default 0,
    error text,
    created_at timestamptz not null default now()
);
create index title_due_open on relay.title_due (session_id) where status = 'due';
alter table relay.session add column titled_by text check (titled_by in ('person', 'model'));
update relay.session set titled_by = 'person' where title is not null;
create index message_session on relay.message (session_id, id) include (status, turn_id);

-- A person's correction is a version of a summary like those that a model made, with its author.
alter table relay.summary add column author_id bigint;
alter table relay.summary drop constraint summary_thread_id_through_message_id_key;
create unique index summary_made on relay.summary (thread_id, through_message_id) where author_id is null;
create index summary_thread on relay.summary (thread_id, through_message_id desc, id desc);

alter table relay.memory_change drop constraint memory_change_action_check;
alter table relay.memory_change add constraint memory_change_action_check
    check (action in ('learn', 'refresh', 'forget', 'pin', 'unpin'));

-- What is known in a space and how it changed, newest first, page by page.
create index memory_space on relay.memory (space_id, id desc) where status = 'active';
create index memory_change_space on relay.memory_change (space_id, id desc);
create index memory_change_waiting on relay.memory_change (space_id) where status = 'pending';
drop function if exists public.relay_memory(jsonb, bigint);
drop function if exists public.relay_memories(jsonb, integer, integer);
drop function if exists public.relay_turn_of_change(bigint);
drop function if exists relay.matching_memories(bigint, text);

-- An answer that takes the place of another one in the chat.
alter table relay.turn add column replaces_turn_id bigint references relay.turn;

-- What one asks of the turns of a space; and usage by day, which is read from the index alone.
create index turn_space on relay.turn (space_id, created_at) where space_id is not null;
create index turn_used on relay.turn (space_id, created_at) include (model, usage) where usage is not null;

-- Turns that were set aside, for /status.
create index turn_failed on relay.turn (done_at) where status = 'failed';

drop function if exists public.relay_edit_target(bigint, bigint, bigint);
drop function if exists public.relay_posted(bigint, bigint, bigint);
drop function if exists public.relay_asked(bigint, bigint, bigint);
