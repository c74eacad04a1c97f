-- The index of open intents also covers those that wait for an OK: pages list and follow them.
drop index relay.standing_intent_user;
create index standing_intent_user on relay.standing_intent (space_id, user_id) where status in ('proposed', 'active');
