-- What it takes to run for years: who may use it, which process does what, what it cost, and what was wrong.

-- Who may use Relay, besides those whom its settings name. asking: pressed Start and waits for an admin's word; refused:
-- an admin said no, or took back what they had said; blocked: and nothing more is heard of them. name and username are
-- theirs when they came, bot_id is the bot to which they did. decided_by: who said so; null: the claim link did.
create table relay.person (
    user_id bigint primary key,
    bot_id bigint not null,
    name text not null,
    username text,
    role text not null check (role in ('admin', 'user', 'asking', 'refused', 'blocked')),
    decided_by bigint,
    decided_by_name text,
    asked_at timestamptz not null default now(),
    decided_at timestamptz
);

-- Links that let somebody in, once: who claims Relay becomes an admin, who is invited a user. What the link carries is
-- not here, only its SHA-256 in hexadecimal. for_whom: whom the inviter thought of. guesses: of a claim link, how often
-- who opened a wrong one, {user id: times}.
create table relay.invite (
    hash text primary key,
    role text not null check (role in ('admin', 'user')),
    made_by bigint,
    made_by_name text,
    for_whom text not null default '',
    guesses jsonb not null default '{}',
    expires_at timestamptz not null,
    used_by bigint,
    used_at timestamptz,
    created_at timestamptz not null default now()
);

-- What only one process does at a time, or once in a while: polling for a bot, nightly jobs. Held under a lease; done_at:
-- when it was last done to its end.
create table relay.duty (
    name text primary key,
    lease_owner uuid,
    lease_until timestamptz,
    done_at timestamptz,
    state jsonb not null default '{}'
);

-- Trouble that admins were told of: one row for each time that something was wrong, until it is over.
create table relay.incident (
    id bigint generated always as identity primary key,
    kind text not null,
    detail text not null,
    begun_at timestamptz not null default now(),
    told_at timestamptz,
    over_at timestamptz,
    over_told_at timestamptz
);
create unique index incident_open on relay.incident (kind) where over_at is null;
