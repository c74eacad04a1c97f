-- killed: how often a process died with the turn (see relay_start).
alter table relay.turn add column killed smallint not null default 0;
-- The answer or command that made a change.
alter table relay.reminder_event add column turn_id bigint;
-- It has another parameter.
drop function if exists public.relay_set_intent(jsonb, bigint, bigint, text);
