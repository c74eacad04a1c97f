"""A temporary kind of artefact. One migration and one module declare it; no other file knows it."""

from __future__ import annotations

from relay.memory.derivations.artefacts import ArtefactKind

NOTE = ArtefactKind("note", "n", "🗒", "notes")
MIGRATION = """
create table relay.note (
    id bigint generated always as identity primary key,
    space_id bigint not null references relay.space,
    thread_id bigint references relay.thread,
    session_id bigint references relay.session,
    text text not null,
    inputs text[] not null,
    tainted boolean not null default false,
    derivation jsonb not null default '{}',
    created_at timestamptz not null default now()
);
comment on table relay.note is $${"class": "canonical", "words": ["text"], "other": ["inputs", "derivation"],
    "space": "space_id", "erased": "deleted", "exported": "note", "artefact": {"kind": "note"}}$$;
"""
