-- What each table is, declared in the table's comment. Moves, erasing, exports, search and group changes read it. The
-- migration of a new table ends with such a comment; tests/integration/test_tables_sql.py fails where one is missing.
--
--   class       canonical: cannot be derived again. derived: rebuilt where missing; neither moved nor backed up.
--               operational: queues, leases and records of work. local: about this database; not moved.
--   space       the column that leads to the space: space_id, or the id of a row that has one.
--   words       columns with people's words.
--   other       all other text columns: codes, model names, error types.
--   erased      deleted: the rows go. blanked: the words go. swept: every row that matches goes; needs no other code.
--               remade: follows what it is derived from. kept: `why` says why.
--   author      of swept rows, the column with whose words they hold: in a group, others' stay.
--   exported    the type of the export's line that carries it. Operational and derived tables are not exported.
--   off_record  `rows`: which rows belong to sessions off the record; `instead`: what replaces their columns in a move and
--               in a backup. A turn that was in progress there has failed in the copy.
--   regroup     follow: the rows change their space when two spaces of a group become one; needs no other code.
--   artefact    the table holds artefacts: see artefact.sql.

comment on table relay.migration is $${"class": "local"}$$;
comment on table relay.function_file is $${"class": "local"}$$;
comment on table relay.identity is $${"class": "local"}$$;
comment on table relay.move is $${"class": "local"}$$;

comment on table relay.message is $${"class": "canonical", "words": ["name", "text", "blocks", "words"], "other": ["role", "status", "started_by"], "space": "space_id",
    "off_record": {
        "rows": "t.session_id in (select id from relay.session where private and erased_at is null)",
        "instead": {"text": "''", "blocks": "'[]'", "name": "null"}},
    "erased": "deleted", "exported": "message"}$$;
comment on table relay.message_version is $${"class": "canonical", "words": ["text", "blocks"], "space": "message_id",
    "off_record": {
        "rows": "t.message_id in (select m.id from relay.message m join relay.session s on s.id = m.session_id where s.private and s.erased_at is null)",
        "instead": {"text": "''", "blocks": "'[]'"}},
    "erased": "deleted", "exported": "message"}$$;
comment on table relay.session is $${"class": "canonical", "words": ["title", "topics"], "other": ["titled_by"], "space": "space_id",
    "off_record": {
        "rows": "t.private",
        "instead": {"title": "null", "topics": "null"}},
    "erased": "blanked", "exported": "session"}$$;
comment on table relay.thread is $${"class": "canonical", "other": ["preferences"], "space": "space_id", "exported": "thread"}$$;
comment on table relay.space is $${"class": "canonical", "other": ["kind", "memory", "preferences"], "space": "id", "exported": "header"}$$;
comment on table relay.memory is $${"class": "canonical", "words": ["subject", "content", "category", "tags"], "other": ["kind", "status", "derivation"], "space": "space_id", "erased": "deleted", "exported": "memory",
    "artefact": {"kind": "memory",
        "text": "t.content",
        "inputs": "relay.input_names('message', t.evidence || t.source_message_id)",
        "author": "t.subject_id",
        "found": "t.status in ('active', 'archived')",
        "own": ["index", "export", "erase", "open"]}}$$;
comment on table relay.memory_change is $${"class": "canonical", "words": ["before"], "other": ["action", "status"], "space": "space_id", "erased": "deleted", "exported": "memory"}$$;
comment on table relay.summary is $${"class": "canonical", "words": ["text"], "other": ["model", "settings", "usage", "derivation"], "space": "thread_id", "erased": "deleted", "exported": "summary",
    "artefact": {"kind": "summary",
        "title": "'summary of ' || relay.session_name(t.session_id)",
        "space": "(select space_id from relay.session where id = t.session_id)",
        "inputs": "case when t.previous_id is null then '{}' else array['summary:' || t.previous_id] end",
        "author": "t.author_id",
        "found": "not exists (select from relay.summary n where n.session_id = t.session_id and (n.through_message_id, n.id) > (t.through_message_id, t.id))",
        "own": ["index", "export", "erase", "open"]}}$$;
comment on table relay.document is $${"class": "canonical", "words": ["name"], "other": ["unique_id", "mime", "kind"], "space": "space_id", "erased": "deleted", "exported": "document"}$$;
comment on table relay.document_part is $${"class": "canonical", "words": ["text", "words"], "space": "space_id", "erased": "deleted", "exported": "document"}$$;
comment on table relay.signal is $${"class": "canonical", "words": ["emoji"], "space": "space_id", "regroup": "follow", "erased": "deleted", "exported": "message"}$$;
comment on table relay.persona is $${"class": "canonical", "words": ["text", "author"], "space": "chat_id",
    "off_record": {
        "rows": "t.session_id in (select id from relay.session where private and erased_at is null)",
        "instead": {"text": "''", "author": "''"}},
    "erased": "kept", "why": "what an admin or owner set is theirs to change; replaced ones go", "exported": "persona"}$$;
comment on table relay.place is $${"class": "canonical", "other": ["answers"], "space": "chat_id", "exported": "place"}$$;
comment on table relay.choice is $${"class": "canonical", "other": ["choices"], "space": "user_id", "exported": "choices"}$$;
comment on table relay.topic is $${"class": "canonical", "words": ["name"], "space": "chat_id", "erased": "blanked", "exported": "thread"}$$;
comment on table relay.soul is $${"class": "canonical", "words": ["text", "reason", "author"], "erased": "kept", "why": "it belongs to all spaces; /soul changes it"}$$;
comment on table relay.soul_draft is $${"class": "canonical", "words": ["text", "reason", "author"], "other": ["status"], "erased": "kept", "why": "it belongs to all spaces; /soul changes it"}$$;
comment on table relay.feedback is $${"class": "canonical", "words": ["value"], "other": ["kind", "source", "derivation"], "space": "space_id", "erased": "deleted", "exported": "feedback"}$$;
comment on table relay.observation is $${"class": "canonical", "words": ["pattern"], "other": ["type", "derivation"], "space": "space_id", "erased": "deleted", "exported": "feedback"}$$;
comment on table relay.preference_decision is $${"class": "canonical", "words": ["pattern"], "other": ["type", "action"], "space": "space_id", "erased": "deleted", "exported": "preference_decision"}$$;
comment on table relay.keepit is $${"class": "canonical", "words": ["content", "context"], "other": ["origin"], "space": "space_id", "regroup": "follow",
    "off_record": {
        "rows": "t.session_id in (select id from relay.session where private and erased_at is null)",
        "instead": {"content": "''", "context": "''"}},
    "erased": "swept", "author": "user_id", "exported": "keepit"}$$;
comment on table relay.compression is $${"class": "canonical", "words": ["rows"], "other": ["name", "settings", "inputs", "keepit", "status", "model", "usage", "derivation", "error"], "space": "space_id", "regroup": "follow", "erased": "deleted", "exported": "version",
    "artefact": {"kind": "version",
        "text": "relay.rows_text(t.rows)",
        "title": "relay.version_number(t.number) || ' of ' || relay.session_name(t.session_id)",
        "found": "t.status = 'ready'",
        "whole": "t.status = 'ready'",
        "children": {"compression_keepit": "compression_id"},
        "same": "t.session_id = n.session_id and t.settings = n.settings",
        "adopt": "relay.adopt_version"}}$$;
comment on table relay.compression_keepit is $${"class": "canonical", "space": "compression_id", "exported": "version"}$$;
comment on table relay.composition is $${"class": "canonical", "words": ["name", "rows"], "other": ["strategy", "format", "status", "inputs", "derivation", "error"], "space": "space_id", "regroup": "follow", "erased": "deleted", "exported": "composition",
    "artefact": {"kind": "composition",
        "text": "concat_ws(E'\\n', t.name, relay.rows_text(t.rows))",
        "inputs": "t.inputs || relay.versions_of(t.id)",
        "found": "false",
        "whole": "t.deleted_at is null and t.status in ('ready', 'over')",
        "children": {"composition_part": "composition_id", "composition_use": "composition_id"},
        "same": "true",
        "adopt": "relay.adopt_composition"}}$$;
comment on table relay.composition_part is $${"class": "canonical", "other": ["version", "asked", "reason"], "space": "composition_id", "exported": "composition"}$$;
comment on table relay.composition_use is $${"class": "canonical", "space": "composition_id", "exported": "composition"}$$;
comment on table relay.session_link is $${"class": "canonical", "words": ["reason"], "space": "space_id", "regroup": "follow", "erased": "swept", "author": "linked_by", "exported": "session_link"}$$;
comment on table relay.context_setting is $${"class": "canonical", "other": ["settings"], "space": "space_id", "exported": "context_setting"}$$;

comment on table relay.reminder is $${"class": "canonical", "words": ["text"], "other": ["kind", "zone", "rule", "status", "origin", "inputs", "derivation"], "space": "space_id", "regroup": "follow", "erased": "deleted", "exported": "reminder",
    "artefact": {"kind": "reminder",
        "author": "t.user_id",
        "found": "t.status in ('active', 'paused')",
        "children": {"reminder_event": "reminder_id"},
        "adopt": "relay.adopt_reminder"}}$$;
comment on table relay.reminder_event is $${"class": "canonical", "other": ["kind", "detail"], "space": "reminder_id", "exported": "reminder"}$$;

comment on table relay.heartbeat is $${"class": "operational", "words": ["checklist"], "other": ["zone", "outcome", "status"], "space": "space_id", "regroup": "follow", "erased": "blanked"}$$;

comment on table relay.standing_intent is $${"class": "canonical", "words": ["about", "text"], "other": ["status", "inputs", "derivation"], "space": "space_id", "regroup": "follow", "erased": "deleted", "exported": "intent",
    "artefact": {"kind": "intent", "text": "t.about || ': ' || t.text", "author": "t.user_id", "found": "false",
        "adopt": "relay.adopt_intent"}}$$;

comment on table relay.turn is $${"class": "operational", "words": ["prompt", "told", "error"], "other": ["kind", "status", "model", "usage"], "space": "space_id",
    "off_record": {
        "rows": "t.id in (select id from relay.private_turn)",
        "instead": {"prompt": "null", "told": "null", "error": "null", "status": "case when t.status in ('working', 'answered') then 'failed' else t.status end"}},
    "erased": "blanked"}$$;
comment on table relay.lane is $${"class": "operational",
    "off_record": {
        "rows": "t.open_turn_id in (select id from relay.private_turn)",
        "instead": {"open_turn_id": "null"}}}$$;
comment on table relay.inbox is $${"class": "operational", "words": ["payload"], "other": ["status", "error"], "space": "turn_id",
    "off_record": {
        "rows": "t.turn_id in (select id from relay.private_turn) or t.session_id in (select id from relay.session where private and erased_at is null)",
        "instead": {"payload": "null", "status": "case when t.status in ('pending', 'claimed') then 'failed' else t.status end"}},
    "erased": "blanked"}$$;
comment on table relay.outbox is $${"class": "operational", "words": ["request", "sending_text"], "other": ["status", "error", "inputs", "dedupe_key"], "space": "space_id", "regroup": "follow",
    "off_record": {
        "rows": "t.turn_id in (select id from relay.private_turn)",
        "instead": {"request": "'{}'", "sending_text": "null"}},
    "erased": "swept", "author": "user_id"}$$;
comment on table relay.posted is $${"class": "operational", "words": ["part"], "space": "turn_id",
    "off_record": {
        "rows": "t.turn_id in (select id from relay.private_turn)",
        "instead": {"part": "null"}},
    "erased": "blanked"}$$;
comment on table relay.event is $${"class": "operational", "words": ["payload"], "other": ["kind"], "space": "space_id",
    "off_record": {
        "rows": "t.turn_id in (select id from relay.private_turn) or (t.bot_id, t.update_id) in (select i.bot_id, i.update_id from relay.inbox i where i.turn_id in (select id from relay.private_turn))",
        "instead": {"payload": "null"}},
    "erased": "blanked"}$$;
comment on table relay.announcement is $${"class": "operational", "words": ["before"], "other": ["status"], "space": "turn_id", "erased": "blanked"}$$;
comment on table relay.erasure is $${"class": "operational", "words": ["work", "posted"], "other": ["status", "counts"], "space": "space_id", "regroup": "follow", "erased": "blanked"}$$;
comment on table relay.retraction is $${"class": "operational", "words": ["request"], "space": "erasure_id", "erased": "deleted"}$$;
comment on table relay.consolidation is $${"class": "operational", "words": ["plan"], "space": "space_id", "erased": "swept"}$$;
comment on table relay.digest is $${"class": "operational", "other": ["zone"], "space": "space_id"}$$;
comment on table relay.soul_growth is $${"class": "operational", "other": ["zone"], "space": "space_id", "regroup": "follow"}$$;
comment on table relay.soul_idea is $${"class": "operational", "words": ["text", "replaces"], "other": ["inputs", "derivation", "status"], "space": "space_id", "regroup": "follow", "erased": "swept"}$$;
comment on table relay.sleep_due is $${"class": "operational", "space": "space_id"}$$;
comment on table relay.spend is $${"class": "operational", "other": ["what", "model"], "space": "space_id", "regroup": "follow"}$$;
comment on table relay.person is $${"class": "operational", "words": ["name", "username", "decided_by_name"], "other": ["role"], "erased": "kept", "why": "who may talk to the bot; an admin changes it"}$$;
comment on table relay.invite is $${"class": "operational", "words": ["made_by_name", "for_whom"], "other": ["hash", "role", "guesses"], "erased": "kept", "why": "who may talk to the bot; an admin changes it"}$$;
comment on table relay.budget_warning is $${"class": "operational"}$$;
comment on table relay.duty is $${"class": "operational", "other": ["name", "state"]}$$;
comment on table relay.file_gone is $${"class": "operational", "other": ["unique_id"]}$$;
comment on table relay.goal_left is $${"class": "operational"}$$;
comment on table relay.incident is $${"class": "operational", "other": ["kind", "detail"]}$$;
comment on table relay.job is $${"class": "operational", "other": ["kind", "key", "payload", "last_error"]}$$;
comment on table relay.judge_again is $${"class": "operational"}$$;
comment on table relay.judging is $${"class": "operational", "other": ["version", "error"]}$$;
comment on table relay.link is $${"class": "operational"}$$;
comment on table relay.night is $${"class": "operational", "other": ["phases"]}$$;
comment on table relay.summary_due is $${"class": "operational"}$$;
comment on table relay.title_due is $${"class": "operational"}$$;

comment on table relay.entry is $${"class": "derived", "words": ["name", "label", "tags", "words"], "other": ["kind", "role", "language"], "space": "space_id", "erased": "remade"}$$;
comment on table relay.lexeme is $${"class": "derived", "words": ["word"], "space": "space_id", "erased": "remade"}$$;
comment on table relay.lexeme_change is $${"class": "derived", "words": ["word"], "space": "space_id", "erased": "remade"}$$;
comment on table relay.index_progress is $${"class": "derived", "other": ["kind"]}$$;
comment on table relay.index_due is $${"class": "derived"}$$;
comment on table relay.entry_due is $${"class": "derived"}$$;
comment on table relay.embed_due is $${"class": "derived"}$$;
comment on table relay.embedding_rebuild is $${"class": "derived"}$$;
comment on table relay.embedding is $${"class": "derived", "other": ["model", "vector"], "space": "space_id", "erased": "remade"}$$;
comment on table relay.result is $${"class": "derived", "words": ["result"], "other": ["hash", "name", "version", "inputs"], "space": "space_id", "erased": "swept"}$$;
comment on table relay.preference is $${"class": "derived", "words": ["pattern"], "other": ["type", "status"], "space": "space_id", "erased": "remade"}$$;

-- Lists the tables with what they declare.
create or replace function relay.declared_tables() returns table (name text, declared jsonb)
language sql stable set search_path = relay, extensions, pg_temp as $$
    select c.relname::text, d.description::jsonb
    from pg_class c join pg_description d on d.objoid = c.oid and d.classoid = 'pg_class'::regclass and d.objsubid = 0
    where c.relnamespace = 'relay'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
        and d.description like '{%'
$$;

-- Returns what one table declares, or null.
create or replace function relay.declared(p_table text) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select obj_description(to_regclass(format('relay.%I', p_table)), 'pg_class')::jsonb
$$;

-- Gives every kind of artefact without index functions of its own a trigger that keeps its entries current.
do $watch$
declare
    one record;
begin
    for one in select kind, name from relay.artefact_kinds() where not own ? 'index' loop
        execute format('create or replace trigger artefact_written after insert or update or delete on relay.%I
            for each row execute function relay.artefact_written(%L)', one.name, one.kind);
    end loop;
end $watch$;
