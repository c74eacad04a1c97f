-- Where a person wants to be asked first, what is learned of their acts waits for their tap.
alter table relay.observation add column pending boolean not null default false;
alter table relay.feedback add column kept boolean not null default false;
