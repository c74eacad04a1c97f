-- Vectors of what can be found, derived from it.

create table relay.embedding (
    entry_id bigint primary key references relay.entry on delete cascade,
    space_id bigint not null,
    model text not null,
    vector extensions.vector not null,
    made_at timestamptz not null default now()
);
-- Whose vectors are to be replaced, and how many each model has.
create index embedding_model on relay.embedding (model, entry_id);

-- What one process makes a vector of, no other takes for a while; longer with each time it came to nothing.
alter table relay.embed_due
    add column leased_until timestamptz,
    add column tries integer not null default 0;
create index embed_due_newest on relay.embed_due (since desc, entry_id desc);

-- How far everything was put down to be embedded anew; no row: that is done.
create table relay.embedding_rebuild (
    single boolean primary key default true check (single),
    through bigint not null default 0
);
