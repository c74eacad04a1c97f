-- A memory is older than what replaced it, and rows are moved and restored in the order of their age: what replaced it may
-- not be there yet.
alter table relay.memory drop constraint memory_replaced_by_fkey;

drop function if exists relay.keep_memory(relay.turn, jsonb, bigint, boolean);
