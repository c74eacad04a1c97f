-- A persona that was set off the record belongs to that session, and goes with it.
alter table relay.persona add column session_id bigint;
create index persona_session on relay.persona (session_id) where session_id is not null;
