-- Voice notes, photos and documents.

-- A part of a reply that tells what was heard in a recording: the Telegram message that held it.
alter table relay.delivery add column echo_of bigint;
create unique index delivery_echo on relay.delivery (turn_id, echo_of) where echo_of is not null;

-- Documents that people send: their text, in parts that are found and read again. The same file sent again in a space
-- is one document, of the message that brought it last.
create table relay.document (
    id bigint generated always as identity primary key,
    space_id bigint not null references relay.space,
    message_id bigint not null references relay.message on delete cascade,
    unique_id text not null,
    name text not null,
    mime text not null default '',
    kind text not null default '',
    pages integer not null default 0,
    parts integer not null,
    created_at timestamptz not null default now(),
    unique (space_id, unique_id)
);
create index document_message on relay.document (message_id);
create index document_newest on relay.document (space_id, created_at desc, id desc);

create table relay.document_part (
    document_id bigint not null references relay.document on delete cascade,
    part integer not null,
    space_id bigint not null references relay.space,
    text text not null,
    words tsvector generated always as (to_tsvector('simple', text)) stored,
    primary key (document_id, part)
);
-- As message_words: the words of a space as its own.
create index document_part_words on relay.document_part using gin (relay.words_of_space(space_id, words))
    with (fastupdate = off);

-- It is relay.message_hits and relay.part_hits now.
drop function if exists relay.find_messages(
    bigint, tsquery, integer, integer, timestamptz, timestamptz, bigint, bigint);

-- It is public.relay_open_document now, which reads also the older ones of a name.
drop function if exists public.relay_read_document(jsonb, text, integer);
