-- A night put this preference away, since nothing had confirmed it for so long, and no digest has said so yet.
alter table relay.preference add column untold boolean not null default false;
