-- What all of a person's choices say together is worked out by a job of its own, owed by whatever changes them.
drop function if exists public.relay_preference_contrasts(bigint, bigint, bigint);
drop function if exists public.relay_store_estimates(bigint, bigint, bigint, jsonb);
drop function if exists relay.withdraw_feedback(bigint, bigint, text, text);

-- The turn of the command that said so: when it runs again after its process died, it says the same once.
alter table relay.feedback add column by_turn_id bigint;
create index feedback_command on relay.feedback (by_turn_id) where by_turn_id is not null;
