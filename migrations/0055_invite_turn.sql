-- The turn in which an invitation was made: run again after a kill, it makes no second one.
alter table relay.invite add column turn_id bigint;
drop function if exists public.relay_invite(text, text, integer, integer, bigint, text);
