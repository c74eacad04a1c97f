-- Which database this is. Made here and never moved, so that a move that was interrupted knows its source again.
create table relay.identity (
    only_row boolean primary key default true check (only_row),
    id uuid not null default gen_random_uuid()
);
insert into relay.identity default values;

-- What was moved into this database, from which one, and how far that has come: {table: {after, rows}}.
create table relay.move (
    source_id uuid primary key,
    state text not null check (state in ('copying', 'done')),
    progress jsonb not null default '{}',
    began_at timestamptz not null default now(),
    done_at timestamptz
);

notify pgrst, 'reload schema';
