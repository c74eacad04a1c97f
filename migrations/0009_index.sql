-- breaking
-- What can be found: an index over messages, memories, summaries and parts of documents, derived from them. It is kept
-- right by triggers, and made again where it is missing: it is neither moved nor backed up.

-- One row for each thing that can be found (what of a document: source_id is the document, part which of its parts).
-- name: who said it, or whom it is about. label: what kind of memory it is. words: in the text's language (a name of
-- Postgres's, or simple). asks: it ends with a question. dated: it names a time. digest: of what the row was made from.
create table relay.entry (
    id bigint generated always as identity primary key,
    space_id bigint not null,
    kind text not null check (kind in ('message', 'memory', 'summary', 'part')),
    source_id bigint not null,
    part integer not null default 0,
    thread_id bigint,
    session_id bigint,
    role text,
    user_id bigint,
    name text,
    label text,
    tags text[] not null default '{}',
    at timestamptz not null,
    language text not null,
    words tsvector not null,
    length integer not null,
    asks boolean not null,
    dated boolean not null,
    digest uuid not null,
    unique (kind, source_id, part)
);
-- As message_words: the words of a space as its own.
create index entry_words on relay.entry using gin (relay.words_of_space(space_id, words)) with (fastupdate = off);
-- What was said before and after.
create index entry_session on relay.entry (session_id, kind, source_id) include (id, length);

-- In how many of a space's entries a word is, and (word ':english') how many are in a language. What changes is put into
-- lexeme_change, where nobody waits for anybody, and added up now and then.
create table relay.lexeme (
    space_id bigint not null,
    word text collate "C" not null,
    entries bigint not null,
    primary key (space_id, word)
);
create table relay.lexeme_change (
    id bigint generated always as identity primary key,
    space_id bigint not null,
    word text collate "C" not null,
    change integer not null
);
create index lexeme_change_word on relay.lexeme_change (space_id, word) include (change);

-- Entries that need a vector.
create table relay.embed_due (
    entry_id bigint primary key references relay.entry on delete cascade,
    since timestamptz not null default now()
);

-- Documents too long to be entered when they are kept, and after which part it goes on.
create table relay.index_due (
    document_id bigint primary key references relay.document on delete cascade,
    after_part integer not null default 0
);

-- How far entries were made for what was there before them, in the order of ids: nothing at or below is without one.
-- No row: from the beginning.
create table relay.index_progress (
    kind text primary key check (kind in ('message', 'memory', 'summary', 'part')),
    after_id bigint not null,
    after_part integer not null default 0
);

-- They are relay.find_entries, relay_recall_for and relay_look_up now.
drop function if exists public.relay_recall(jsonb, bigint, bigint, text, integer);
drop function if exists public.relay_search_history(bigint, text, integer, timestamptz, timestamptz);
drop function if exists relay.find_words(
    bigint, tsquery, integer, integer, timestamptz, timestamptz, bigint, bigint);
drop function if exists relay.message_hits(
    bigint, tsquery, integer, integer, timestamptz, timestamptz, bigint, bigint);
drop function if exists relay.part_hits(
    bigint, tsquery, integer, integer, timestamptz, timestamptz, bigint, bigint);
