-- Reminders: what a person asked to be told, and when. One job for each chat tells what is due there.

-- start_at: local time in `zone`, the only time or the first of `rule` (an RRULE; empty: once). next_at: when it is due
-- next; null: never again. proposed: waits for a tap. repeat_minutes: an `ask` is asked again after so long.
create table relay.reminder (
    id bigint generated always as identity primary key,
    space_id bigint not null references relay.space,
    thread_id bigint references relay.thread,
    -- Where it was made.
    session_id bigint references relay.session,
    user_id bigint not null,
    bot_id bigint not null,
    chat_id bigint not null,
    topic_id bigint not null default 0,
    kind text not null default 'say' check (kind in ('say', 'ask', 'check')),
    text text not null,
    zone text not null,
    start_at timestamp not null,
    rule text not null default '',
    next_at timestamptz,
    -- The occurrence that an `ask`, or a snooze, repeats; null: next_at is the rule's own.
    occurrence timestamptz,
    repeat_minutes integer,
    asked integer not null default 0,
    status text not null default 'active' check (status in ('proposed', 'active', 'paused', 'ended', 'deleted')),
    origin text not null check (origin in ('tool', 'command', 'button', 'cli', 'http', 'import')),
    inputs text[] not null default '{}',
    derivation jsonb not null default '{}',
    tainted boolean not null default false,
    created_at timestamptz not null default now(),
    changed_at timestamptz not null default now()
);
create index reminder_due on relay.reminder (bot_id, chat_id, topic_id, next_at) where status = 'active' and next_at is not null;
create index reminder_space on relay.reminder (space_id, user_id, id);

-- What happened to a reminder. sent is read from the outbox: a message counts once Telegram has given it a number.
create table relay.reminder_event (
    id bigint generated always as identity primary key,
    reminder_id bigint not null references relay.reminder on delete cascade,
    kind text not null check (kind in ('made', 'changed', 'fired', 'snoozed', 'done', 'missed', 'failed', 'looked', 'paused',
        'resumed', 'deleted', 'restored')),
    occurrence timestamptz,
    user_id bigint,
    outbox_id bigint,
    -- Why a check asked no model.
    detail text,
    at timestamptz not null default now()
);
create index reminder_event_reminder on relay.reminder_event (reminder_id, id);
create index reminder_event_outbox on relay.reminder_event (outbox_id) where outbox_id is not null;

-- Until then nothing speaks first in this space; infinity: until somebody says so.
alter table relay.space add column quiet_until timestamptz;
-- What a message says that answers nothing: reminder.
alter table relay.message add column started_by text;

-- A look every few hours at what has changed, for one person, with a checklist of theirs. Hours are local; through_*: what
-- it has seen. outcome: what the last look came to.
create table relay.heartbeat (
    space_id bigint primary key references relay.space,
    user_id bigint not null,
    bot_id bigint not null,
    chat_id bigint not null,
    topic_id bigint not null default 0,
    every_hours smallint not null check (every_hours between 1 and 24),
    from_hour smallint not null check (from_hour between 0 and 23),
    to_hour smallint not null check (to_hour between 1 and 24),
    zone text not null,
    checklist text not null default '',
    through_message bigint not null default 0,
    through_reminder bigint not null default 0,
    looked_at timestamptz,
    outcome text not null default '',
    next_at timestamptz not null default now(),
    status text not null default 'on' check (status in ('on', 'off'))
);

-- Looks, versions and trials of a soul are paid for, too.
alter table relay.spend drop constraint spend_what_check;
alter table relay.spend add constraint spend_what_check check (what in (
    'answer', 'summary', 'title', 'judge', 'proposal', 'digest', 'rederive', 'preference', 'critique', 'compression',
    'check', 'heartbeat', 'growth', 'soul'));

-- A morning time of one's own for a digest: local, in `zone`; null: with the night. through_message: told before.
alter table relay.digest
    add column at_time time,
    add column zone text not null default '',
    add column bot_id bigint not null default 0,
    add column through_message bigint not null default 0,
    add column next_at timestamptz;

-- Admins for whom, once a week, the small model may propose a change of the soul.
create table relay.soul_growth (
    space_id bigint primary key references relay.space,
    user_id bigint not null,
    bot_id bigint not null,
    zone text not null,
    next_at timestamptz not null
);

-- What it proposed: text takes the place of `replaces` (empty: it is added). inputs: what it rests on. An idea is never
-- proposed twice, whatever became of it.
create table relay.soul_idea (
    id bigint generated always as identity primary key,
    space_id bigint not null references relay.space,
    user_id bigint not null,
    based_on integer not null,
    text text not null check (length(text) between 1 and 200),
    replaces text not null default '' check (length(replaces) <= 200),
    inputs text[] not null,
    derivation jsonb not null,
    status text not null default 'open' check (status in ('open', 'accepted', 'edited', 'dismissed')),
    created_at timestamptz not null default now(),
    decided_at timestamptz
);
create index soul_idea_space on relay.soul_idea (space_id, id);

-- What the model is reminded of when a person mentions something. about: the words; used_turn: the turn that it was last
-- shown in.
create table relay.standing_intent (
    id bigint generated always as identity primary key,
    space_id bigint not null references relay.space,
    thread_id bigint references relay.thread,
    session_id bigint references relay.session,
    user_id bigint not null,
    about text not null,
    text text not null,
    cooldown_hours integer not null default 24,
    most integer not null default 3,
    used integer not null default 0,
    used_at timestamptz,
    used_turn bigint,
    expires_at timestamptz not null default now() + interval '90 days',
    status text not null default 'active' check (status in ('proposed', 'active', 'ended', 'deleted')),
    inputs text[] not null default '{}',
    derivation jsonb not null default '{}',
    tainted boolean not null default false,
    created_at timestamptz not null default now()
);
create index standing_intent_user on relay.standing_intent (space_id, user_id) where status = 'active';
