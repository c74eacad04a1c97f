-- The outbox: every message on its way to a chat. Parts of a reply belong to its turn. A message that no update asked for
-- (a digest, an alert, an announcement) is queued without one, and gets a turn of its own when it is due.
alter table relay.delivery rename to outbox;
alter table relay.outbox alter column turn_id drop not null;
alter table relay.outbox drop constraint delivery_status_check;
alter table relay.outbox add constraint outbox_status_check
    check (status in ('queued', 'waiting', 'sending', 'preview', 'sent', 'failed'));
alter table relay.outbox add column topic_id bigint not null default 0;
-- Whom a queued message is for, and whose memory it shows.
alter table relay.outbox add column user_id bigint;
alter table relay.outbox add column space_id bigint references relay.space;
-- What it was made of, by the names under which derivations know it.
alter table relay.outbox add column inputs jsonb;
alter table relay.outbox add column dedupe_key text;
alter table relay.outbox add column not_before timestamptz;
create unique index outbox_dedupe on relay.outbox (bot_id, dedupe_key) where dedupe_key is not null;
create index outbox_queued on relay.outbox (bot_id, not_before, id) where turn_id is null;
drop function if exists relay.rest_of(relay.outbox, relay.erasure, jsonb);
-- The previous version knows the table by its old name.
create view relay.delivery as select id, turn_id, seq, bot_id, chat_id, message_id, request, preview, status, sending_text,
    floor_message_id, telegram_message_id, error, created_at, sent_at, echo_of from relay.outbox;
