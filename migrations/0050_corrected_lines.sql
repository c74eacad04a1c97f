-- The messages under a turn are found after they were sent, too.
drop index relay.outbox_under;
create index outbox_under on relay.outbox (under_turn_id) where under_turn_id is not null;
drop function if exists relay.withdraw_set(relay.turn, jsonb);
