-- A refused command leaves no turn. Deleting one looks for what refers to it.
create index turn_replaces on relay.turn (replaces_turn_id) where replaces_turn_id is not null;
create index outbox_under_turn on relay.outbox (under_turn_id) where under_turn_id is not null;
create index signal_turn on relay.signal (turn_id) where turn_id is not null;
