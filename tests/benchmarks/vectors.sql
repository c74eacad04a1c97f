-- Vectors of the first %(spaces)s spaces, 384 numbers each: around a hundred directions, as those of texts about a hundred things.
select setseed(0.5);
set maintenance_work_mem = '512MB';
create temp table direction as
    select n, (select array_agg(random() - 0.5 + (n + k) * 0) from generate_series(1, 384) as k) as numbers
    from generate_series(1, 100) as n;
insert into relay.embedding (entry_id, space_id, model, vector)
select e.id, e.space_id, 'benchmark', extensions.l2_normalize((
    select array_agg(one + (random() - 0.5) * 0.6 + e.id * 0 order by place)
    from unnest(d.numbers) with ordinality as numbers (one, place))::extensions.vector)
from relay.entry e join direction d on d.n = 1 + e.id %% 100
where e.space_id <= %(spaces)s and not exists (select from relay.embedding o where o.entry_id = e.id);
