-- How what an act says was found, also where nothing was; and reactions from before feedback was kept, which a daily job
-- takes over.
alter table relay.feedback add column derivation jsonb;
insert into relay.job (kind, key, payload) select 'backfill', '', '{"after": 0}' where exists (select from relay.signal)
on conflict do nothing;
