-- Who may call the API: tokens that people made (`token`), sessions of the app (`session`), links that open it once
-- (`link`), and the token in the address of a person's calendar (`calendar`), which reads that alone. Only their SHA-256
-- is stored, in hexadecimal. given_for: the SHA-256 of what a session was given for; each link and each proof from
-- Telegram is good for one.
create table relay.api_token (
    id bigint generated always as identity primary key,
    user_id bigint not null,
    kind text not null check (kind in ('token', 'session', 'link', 'calendar')),
    name text not null default '',
    hash text not null unique,
    given_for text unique,
    created_at timestamptz not null default now(),
    expires_at timestamptz,
    used_at timestamptz
);
create index api_token_user on relay.api_token (user_id);
create unique index api_token_calendar on relay.api_token (user_id) where kind = 'calendar';
create index api_token_expiry on relay.api_token (expires_at) where expires_at is not null;
comment on table relay.api_token is $${"class": "local"}$$;

-- Requests that carry an Idempotency-Key, with what was answered. hash: the SHA-256 of the key; asked: that of the
-- request. status null: it runs. Kept for a day.
create table relay.api_request (
    user_id bigint not null,
    hash text not null,
    asked text not null,
    at timestamptz not null default now(),
    status integer,
    content_type text not null default '',
    body text not null default '',
    primary key (user_id, hash)
);
create index api_request_at on relay.api_request (at);
comment on table relay.api_request is $${"class": "local", "words": ["body"], "other": ["hash", "asked", "content_type"],
    "erased": "deleted"}$$;
