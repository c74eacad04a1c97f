-- The index of open intents has those that wait for an OK, which pages list and follow.
drop index relay.standing_intent_user;
create index standing_intent_user on relay.standing_intent (space_id, user_id) where status in ('proposed', 'active');
