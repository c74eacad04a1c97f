-- Lists of versions: pruning with an undo, retention, and comparing two versions.

-- Returns two ready versions of the space with their rows, as relay_version does, and the markers that only one of them
-- kept: {a, b, only_a, only_b}. Null if the space lacks one of them.
create or replace function public.relay_compare_versions(p_space jsonb, p_a bigint, p_b bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    with kept as (
        select e.compression_id, k.id, k.weight, k.content from compression_keepit e join keepit k on k.id = e.keepit_id
        where e.compression_id in (p_a, p_b) and e.survived),
    lone as (
        select compression_id, jsonb_agg(jsonb_build_object('id', id, 'weight', weight, 'content', content)
            order by weight desc, id) as markers
        from kept k where not exists (select from kept o where o.id = k.id and o.compression_id <> k.compression_id)
        group by compression_id)
    select jsonb_build_object('a', one.opened, 'b', other.opened,
        'only_a', coalesce((select markers from lone where compression_id = p_a), '[]'),
        'only_b', coalesce((select markers from lone where compression_id = p_b), '[]'))
    from (select public.relay_version(p_space, p_a, 0, null) as opened) one,
        (select public.relay_version(p_space, p_b, 0, null) as opened) other
    where one.opened #>> '{version,status}' = 'ready' and other.opened #>> '{version,status}' = 'ready'
$$;

-- Drops versions, all or none: none if the space lacks one of them (missing) or it is still being made, and without
-- p_force none if one is in use by a session that has not ended (active). Compositions keep their text.
create or replace function public.relay_prune_versions(p_space jsonb, p_versions jsonb, p_force boolean) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    wanted constant bigint[] := array(select jsonb_array_elements_text(p_versions)::bigint);
    found bigint[];
    missing bigint[];
    lines jsonb;
    active jsonb;
begin
    found := array(
        select id from compression
        where id = any (wanted) and space_id = relay.find_space(p_space) and status in ('ready', 'failed')
        order by id for update);
    missing := array(select unnest(wanted) except select unnest(found));
    select coalesce(jsonb_agg(line order by id), '[]'),
        coalesce(jsonb_agg(line -> 'name' order by id) filter (where (line ->> 'active')::boolean), '[]')
    into lines, active
    from (select c.id, relay.version_json(c) as line from compression c where c.id = any (found)) listed;
    if cardinality(missing) > 0 or active <> '[]' and not p_force then
        return jsonb_build_object('pruned', '[]'::jsonb, 'missing', to_jsonb(missing), 'active', active, 'held', (
            select coalesce(jsonb_agg(jsonb_build_object('id', c.id, 'name', c.name,
                'active', relay.active_uses(c.id) > 0) order by c.id), '[]')
            from composition c where c.deleted_at is null and exists (
                select from composition_part p where p.composition_id = c.id and p.compression_id = any (found))));
    end if;
    update compression set status = 'dropped', dropped_at = now() where id = any (found);
    return jsonb_build_object(
        'pruned', lines, 'missing', '[]'::jsonb, 'active', '[]'::jsonb, 'held', '[]'::jsonb);
end $$;

-- Returns until when a dropped version can be brought back: what the night drops for a day, as people hear of it in the
-- morning.
create or replace function relay.undo_until(p_version relay.compression) returns timestamptz
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select p_version.dropped_at + case when p_version.dropped_by_night then interval '1 day' else interval '10 minutes' end
$$;

-- Brings back a dropped version while it can be undone, and those dropped with it; they count as used now, so that the
-- next night leaves them. Returns their ids and names.
create or replace function public.relay_restore_versions(p_space jsonb, p_version bigint) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    with back as (
        update compression v set status = case when v.rows is null then 'failed' else 'ready' end, dropped_at = null,
            dropped_by_night = false, last_used_at = case when v.dropped_by_night then now() else v.last_used_at end
        from compression one
        where one.id = p_version and one.space_id = relay.find_space(p_space) and v.space_id = one.space_id
            and v.dropped_at = one.dropped_at and relay.undo_until(one) > now()
        returning v.id, v.name)
    select coalesce(jsonb_agg(jsonb_build_object('id', id, 'name', name) order by id), '[]') from back
$$;

-- Deletes up to p_limit versions whose undo is over, and what was derived from them, which nothing would find afterwards.
create or replace function relay.delete_dropped_versions(p_limit integer) returns void
language sql set search_path = relay, extensions, pg_temp as $$
    with gone as (
        delete from compression where id in (
            select v.id from compression v where dropped_at is not null and relay.undo_until(v) < now()
            order by dropped_at limit p_limit)
        returning id, space_id)
    delete from result r using gone g where r.space_id = g.space_id and r.inputs @> array['version:' || g.id]
$$;

-- Returns the ready versions that a space's settings no longer keep, with their bytes: beyond the newest n of their
-- session, or older than n days (5, 30d), unless they were used within 7 days; and beyond the space's size those used
-- least recently, never used ones before. None that a composition holds. Stored limits that are no longer valid don't
-- drop anything.
create or replace function relay.versions_past_retention(p_space_id bigint) returns table (id bigint, bytes bigint)
language sql stable set search_path = relay, extensions, pg_temp as $$
    with own as (select relay.context_settings(p_space_id) -> 'storage' as storage),
    kept as (
        select storage ->> 'compressionRetention' as most, case
            when storage ->> 'maxCacheSize' ~ '^[1-9]([0-9]{0,8} ?(kB|MB|GB)|[0-9]{0,5} ?TB)$'
            then pg_size_bytes(storage ->> 'maxCacheSize') end as size
        from own),
    ready as (
        select v.id, pg_column_size(v.rows)::bigint as bytes, v.created_at, v.last_used_at,
            row_number() over (partition by v.session_id order by v.number desc) as nr,
            exists (
                select from composition_part p join composition c on c.id = p.composition_id and c.deleted_at is null
                where p.compression_id = v.id) as held
        from compression v where v.space_id = p_space_id and v.status = 'ready'),
    judged as (
        select r.*, not r.held and coalesce(r.last_used_at < now() - interval '7 days', true) and case
            when k.most ~ '^[0-9]{1,4}$' then r.nr > k.most::integer
            when k.most ~ '^[0-9]{1,4}d$' then r.created_at < now() - make_interval(days => left(k.most, -1)::integer)
            else false end as past
        from ready r, kept k),
    summed as (
        select j.*, sum(case when j.past then 0 else j.bytes end) over (
            order by j.held desc, j.last_used_at desc nulls last, j.created_at desc, j.id desc) as together
        from judged j)
    select s.id, s.bytes from summed s, kept k where s.past or not s.held and s.together > k.size
$$;

-- Drops what a space's settings no longer keep, once a night. Returns their ids; relay_restore_versions brings one back
-- with the others.
create or replace function relay.apply_retention(p_space_id bigint) returns bigint[]
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    gone constant bigint[] := array(select r.id from relay.versions_past_retention(p_space_id) r);
begin
    update compression set status = 'dropped', dropped_at = now(), dropped_by_night = true where id = any (gone);
    return gone;
end $$;
