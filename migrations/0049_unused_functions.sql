-- Functions that became part of others.
drop function if exists relay.caller_json(relay.api_token);
drop function if exists relay.choices_of(bigint, bigint, bigint);
drop function if exists relay.tidy_compositions();
drop function if exists relay.mark_sending(bigint, integer);
drop function if exists relay.pin_memory(relay.turn, jsonb);
drop function if exists relay.confirm_memory(relay.turn, jsonb);
drop function if exists relay.archive_memory(relay.turn, jsonb);
drop function if exists public.relay_reset_memory(jsonb, bigint);
drop function if exists relay.taken_back(relay.turn);
drop function if exists relay.preferences_rest(bigint, bigint, bigint);
drop function if exists relay.open_reminders(bigint);
drop function if exists relay.queue_reminder(relay.reminder, bigint, jsonb, text, bigint[], boolean);
drop function if exists relay.original_texts(bigint);
drop function if exists relay.activate_soul(text, bigint, text, text);
drop function if exists relay.derived_tables();
