-- Voice notes, photos and documents.

-- A part of a reply that tells what was heard in a recording: the Telegram message that held it.
alter table relay.delivery add column echo_of bigint;
create unique index delivery_echo on relay.delivery (turn_id, echo_of) where echo_of is not null;
