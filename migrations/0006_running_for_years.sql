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

-- What only one process does at a time, or once in a while: polling for a bot, nightly jobs; and that a process is there
-- (serve:). Held under a lease; done_at: when it was last done to its end.
create table relay.duty (
    name text primary key,
    lease_owner uuid,
    lease_until timestamptz,
    done_at timestamptz,
    state jsonb not null default '{}'
);

-- Trouble that admins were told of: one row for each time that something was wrong, until it is over. seen_at: when it was
-- last seen to be wrong; calm_since: since when it no longer is. lease_owner: who is telling it just now.
create table relay.incident (
    id bigint generated always as identity primary key,
    kind text not null,
    detail text not null,
    begun_at timestamptz not null default now(),
    seen_at timestamptz not null default now(),
    calm_since timestamptz,
    told_at timestamptz,
    over_at timestamptz,
    over_told_at timestamptz,
    lease_owner uuid,
    lease_until timestamptz
);
create unique index incident_open on relay.incident (kind) where over_at is null;

-- Somebody wants the answer ended; the process that writes it hears of it.
alter table relay.turn add column stop_asked boolean not null default false;
create index incident_untold on relay.incident (id) where told_at is null or over_told_at is null;

-- What was used of models: a row for each piece of work, whatever came of it (done: something did). user_id: who is charged
-- with it; null where it is nobody in particular, as with a group's summaries.
create table relay.spend (
    id uuid primary key,
    at timestamptz not null default now(),
    what text not null check (what in ('answer', 'summary', 'title')),
    done boolean not null,
    user_id bigint,
    space_id bigint references relay.space,
    model text,
    input bigint not null default 0,
    cached bigint not null default 0,
    written bigint not null default 0,
    output bigint not null default 0,
    searches bigint not null default 0
);
create index spend_at on relay.spend (at);
create index spend_space on relay.spend (space_id, at);
insert into relay.spend (id, at, what, done, user_id, space_id, model, input, cached, written, output)
select gen_random_uuid(), at, what, done, user_id, space_id, model,
    coalesce((usage ->> 'input_tokens')::bigint, 0), coalesce((usage ->> 'cache_read_input_tokens')::bigint, 0),
    coalesce((usage ->> 'cache_creation_input_tokens')::bigint, 0), coalesce((usage ->> 'output_tokens')::bigint, 0)
from (
    select t.created_at, 'answer', t.assistant_message_id is not null, t.user_id, t.space_id, t.model, t.usage
    from relay.turn t where jsonb_typeof(t.usage) = 'object'
    union all
    select y.created_at, 'summary', true, s.owner_id, s.id, y.model, y.usage
    from relay.summary y join relay.thread h on h.id = y.thread_id join relay.space s on s.id = h.space_id
    where jsonb_typeof(y.usage) = 'object') as used (at, what, done, user_id, space_id, model, usage)
order by at;
-- Usage is read from there.
drop index relay.turn_used;

-- When a person was last told that their budget of a day is nearly used up.
create table relay.budget_warning (
    user_id bigint primary key,
    told_at timestamptz not null
);

-- All memories of a space in the order in which they were made, for exports and imports.
create index memory_made on relay.memory (space_id, created_at, id);

-- It is relay.renew now: only claims call it.
drop function if exists public.relay_renew(uuid, jsonb, integer);
