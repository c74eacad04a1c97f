-- Memories are numbered by space, from 1 on. Those that there are already keep the number that people were told.
alter table relay.memory add column number bigint;
update relay.memory set number = id;
create unique index memory_number on relay.memory (space_id, number);
-- Up to which number a space has given numbers away to memories that are gone for good.
alter table relay.space add column numbered bigint not null default 0;
