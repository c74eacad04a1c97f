-- How much was said in a session, so that a page of many needs no look at their messages. There is a row where it was
-- counted since the session's messages last changed: reading lists makes it, a change deletes it. messages, tokens: of
-- the messages that stand; last_at: when the last of them was said, null if none stands.
create table relay.session_count (
    session_id bigint primary key references relay.session on delete cascade,
    messages integer not null,
    tokens bigint not null,
    last_at timestamptz
);
comment on table relay.session_count is $${"class": "derived"}$$;
