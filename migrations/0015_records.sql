-- Records of what happened, which the daily tidying drops after RELAY_KEEP_RECORDS_DAYS.

-- dropped: what went into the prompt, what the answer told and the texts that were sent are not kept any more.
alter table relay.turn add column dropped boolean not null default false;
-- Turns that still have them, the oldest first.
create index turn_records on relay.turn (done_at) where not dropped and done_at is not null;
