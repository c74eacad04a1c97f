-- Who has spoken in a space, and under which name last.
create index message_speaker on relay.message (space_id, user_id, id) where role = 'user';
