-- Which of an answer's messages a person reacted to: each has its own reactions. Null: unknown, from before.
alter table relay.signal add column telegram_message_id bigint;
drop index relay.signal_standing;
create unique index signal_standing on relay.signal (message_id, user_id, emoji, coalesce(telegram_message_id, 0))
where removed_at is null;
