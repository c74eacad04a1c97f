-- Preferences: what people say about answers (feedback), what that says about how they like them (observation), and what
-- follows (preference).

-- One act of a person: a tag, a statement, a choice. Append-only: what is taken back is marked.
create table relay.feedback (
    id bigint generated always as identity primary key,
    space_id bigint not null references relay.space,
    thread_id bigint references relay.thread,
    session_id bigint references relay.session,
    user_id bigint not null,
    kind text not null check (kind in ('accept', 'refine', 'tag', 'thumbs', 'abandon', 'revert', 'compare', 'said')),
    -- The answer that it is about. After an import its message is known, and no turn.
    turn_id bigint references relay.turn,
    message_id bigint,
    other_turn_id bigint references relay.turn,
    value jsonb not null default '{}',
    source text not null check (source in ('reaction', 'button', 'command', 'cli', 'http', 'import', 'backfill')),
    at timestamptz not null default now(),
    settles_at timestamptz not null default now() + interval '30 seconds',
    withdrawn_at timestamptz
);
create index feedback_turn on relay.feedback (turn_id, user_id) where turn_id is not null;
create index feedback_message on relay.feedback (message_id) where message_id is not null;
create index feedback_other_turn on relay.feedback (other_turn_id) where other_turn_id is not null;
create index feedback_space on relay.feedback (space_id, user_id, id);

-- What an act says of one pattern. thread_id: it counts only there; null: everywhere.
create table relay.observation (
    id bigint generated always as identity primary key,
    feedback_id bigint not null references relay.feedback on delete cascade,
    space_id bigint not null references relay.space,
    user_id bigint not null,
    thread_id bigint references relay.thread,
    type text not null,
    pattern text not null,
    polarity smallint not null check (polarity in (-1, 1)),
    weight numeric(4, 3) not null,
    -- How many observations of this weight make a pattern more than provisional: 0, 1, or 2 for what was said outright.
    reinforcing smallint not null,
    -- The person named the pattern; else a model did, and it counts only together with all other choices.
    explicit boolean not null,
    session_id bigint references relay.session,
    at timestamptz not null,
    derivation jsonb not null default '{}',
    unique (feedback_id, type, pattern)
);
create index observation_pattern on relay.observation (space_id, user_id, type, pattern, at, id);

-- What a person decided about a pattern: to forget what was observed before (forget), or that they were told of it (told).
create table relay.preference_decision (
    id bigint generated always as identity primary key,
    space_id bigint not null references relay.space,
    user_id bigint not null,
    thread_id bigint references relay.thread,
    type text not null,
    pattern text not null,
    polarity smallint,
    action text not null check (action in ('forget', 'told')),
    -- The answer under which they were told.
    turn_id bigint references relay.turn,
    at timestamptz not null default now()
);
create index preference_decision_turn on relay.preference_decision (turn_id) where turn_id is not null;
create index preference_decision_pattern on relay.preference_decision (space_id, user_id, type, pattern, at desc);

-- A cache: the fold of the explicit observations of a pattern (relay.fold_observations), and how sure all other choices are
-- of it together (sureness, in standard errors). Levels: 0 low, 1 medium, 2 high.
create table relay.preference (
    id bigint generated always as identity primary key,
    space_id bigint not null references relay.space,
    user_id bigint not null,
    thread_id bigint references relay.thread,
    type text not null,
    pattern text not null,
    polarity smallint not null,
    strength numeric(5, 4) not null,
    level smallint not null,
    status text not null check (status in ('stable', 'under_review', 'archived')),
    reinforced integer not null,
    observations integer not null,
    sessions integer not null,
    shadow boolean not null default false,
    decayed boolean not null default false,
    sureness real,
    last_seen timestamptz not null,
    used_at timestamptz not null default now(),
    fold_version integer not null,
    unique nulls not distinct (space_id, user_id, thread_id, type, pattern, polarity)
);

-- What adds up while observations are folded: one statement about a pattern.
create type relay.statement as (
    polarity integer, strength numeric, level integer, reinforced integer, observations integer, sessions bigint[],
    last_seen timestamptz, decayed boolean);

alter table relay.space add column preferences text not null default 'on' check (preferences in ('on', 'off'));
alter table relay.space add column preferences_paused_until timestamptz;
alter table relay.thread add column preferences text not null default 'use'
    check (preferences in ('use', 'ignore', 'quiet', 'own'));
