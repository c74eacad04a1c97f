-- An erasure that was begun is a job. Those that are under way are owed.
insert into relay.job (kind, key) select 'erasure', id::text from relay.erasure where status = 'working' order by id
on conflict do nothing;
