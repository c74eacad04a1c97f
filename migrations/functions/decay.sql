-- The nightly compression of old conversations: compresses those that were not used for days, and drops versions that
-- stronger ones replace. A space turns it on (autoDecay in its settings).

-- Returns the settings of a version that the night makes with a preset, as the space's defaults say.
create or replace function relay.decay_version(p_settings jsonb, p_preset text) returns jsonb
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('mode', 'tiered', 'tierPreset', p_preset, 'model', d -> 'model', 'method', 'model',
        'skipFirstMessages', 0, 'sessionDistance', null,
        'keepitMode', case when (d ->> 'keepitDecayEnabled')::boolean then 'decay' else 'preserve-all' end)
    from (select p_settings -> 'defaults' as d) own
$$;

-- Returns the versions that registered sessions of a space are to get by their age, the sessions that were used longest
-- ago first: an aggressive one, or the first one. One that failed within a week is not tried again.
create or replace function relay.decay_due(p_space_id bigint) returns table (session_id bigint, preset text)
language sql stable set search_path = relay, extensions, pg_temp as $$
    with own as (select relay.context_settings(p_space_id) -> 'autoDecay' as auto),
    aged as (
        select s.id, relay.session_recency(s) as used from session s
        where s.space_id = p_space_id and s.registered_at is not null and not s.private),
    made as (
        select session_id, bool_or(true) as some, array_agg(settings ->> 'tierPreset') as presets from compression
        where space_id = p_space_id and (status in ('due', 'ready')
            or status = 'failed' and created_by = 0 and created_at > now() - interval '7 days')
        group by session_id),
    meant as (
        select a.id, a.used, case
            when a.used <= now() - make_interval(days => (auto ->> 'aggressiveAfterDays')::integer)
                then case when coalesce(auto ->> 'aggressivePreset' = any (m.presets), false) then null
                    else auto ->> 'aggressivePreset' end
            when a.used <= now() - make_interval(days => (auto ->> 'createAfterDays')::integer) and m.some is null
                then auto ->> 'createPreset' end as preset
        from own, aged a left join made m on m.session_id = a.id)
    select id, preset from meant where preset is not null order by used, id
$$;

-- Returns up to 100 spaces after an id whose old conversations the night looks after: those that have versions, or
-- switched this on.
create or replace function public.relay_decay_spaces(p_after bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_agg(id order by id), '[]') from (
        select s.id from space s
        where s.id > p_after and relay.remembers(s.id) and (
            exists (select from compression v where v.space_id = s.id and v.status = 'ready')
            or (relay.context_settings(s.id) #>> '{autoDecay,enabled}')::boolean)
        order by s.id limit 100) hundred
$$;

-- Does the night's work for a space: versions of old conversations if they are switched on and due (p_sunday: weekly
-- ones are due, too), at most 20 in a night, and its retention. p_pays: there is budget for new versions. Returns
-- {made, dropped}. A space where something was done gets a digest.
create or replace function public.relay_decay(p_space_id bigint, p_night_id bigint, p_sunday boolean, p_pays boolean)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own night;
    settings constant jsonb := relay.context_settings(p_space_id);
    auto constant jsonb := settings -> 'autoDecay';
    one record;
    made integer := 0;
    past bigint[] := '{}';
begin
    select * into strict own from night where id = p_night_id;
    if (auto ->> 'enabled')::boolean
        and (auto ->> 'schedule' = 'daily' or auto ->> 'schedule' = 'weekly' and p_sunday)
    then
        for one in
            select * from relay.decay_due(p_space_id) where p_pays limit greatest(20 - (
                select count(*) from compression
                where space_id = p_space_id and created_by = 0 and created_at >= own.begun_at), 0)
        loop
            perform relay.make_version(one.session_id, 0, relay.decay_version(settings, one.preset));
            made := made + 1;
        end loop;
        -- Versions that the night made of old sessions and that a newer one of its own replaces, unless they were used or
        -- a composition holds them.
        past := array(
            select v.id from compression v join session s on s.id = v.session_id
            where v.space_id = p_space_id and v.created_by = 0 and v.status = 'ready' and v.last_used_at is null
                and exists (select from compression n
                    where n.session_id = v.session_id and n.created_by = 0 and n.status = 'ready' and n.number > v.number)
                and not exists (select from composition_part p join composition c on c.id = p.composition_id
                    where p.compression_id = v.id and c.deleted_at is null)
                and relay.session_recency(s)
                    <= now() - make_interval(days => (auto ->> 'pruneIntermediateAfterDays')::integer));
        update compression set status = 'dropped', dropped_at = now(), dropped_by_night = true where id = any (past);
    end if;
    past := past || relay.apply_retention(p_space_id);
    if made > 0 or past <> '{}' then
        insert into sleep_due (space_id, night_id, after_message, through_message, after_memory, through_memory,
            consolidated)
        select space_id, own.id, own.through_message, own.through_message, own.through_memory, own.through_memory, true
        from digest where space_id = p_space_id
        on conflict do nothing;
    end if;
    return jsonb_build_object('made', made, 'dropped', cardinality(past));
end $$;

-- Returns what a night did to a space's versions, for its digest: {made, dropped, undo: one of those dropped}; null for
-- nothing.
create or replace function relay.decay_told(p_space_id bigint, p_night_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('made', count(*) filter (where v.created_by = 0 and v.created_at >= n.begun_at),
        'dropped', count(*) filter (where v.dropped_at >= n.begun_at),
        'undo', min(v.id) filter (where v.dropped_at >= n.begun_at))
    from night n join compression v on v.space_id = p_space_id and v.status <> 'failed'
        and (v.created_by = 0 and v.created_at >= n.begun_at or v.dropped_by_night and v.dropped_at >= n.begun_at)
    where n.id = p_night_id having count(*) > 0
$$;

-- Makes the versions of sessions that are due when they are used again, where a space's schedule is on-access.
create or replace function relay.decay_on_access(p_sessions bigint[]) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    one record;
begin
    for one in
        select d.*, own.settings from (
            select distinct s.space_id, relay.context_settings(s.space_id) as settings from session s
            where s.id = any (p_sessions)) own
        cross join lateral relay.decay_due(own.space_id) d
        where (own.settings #>> '{autoDecay,enabled}')::boolean
            and own.settings #>> '{autoDecay,schedule}' = 'on-access' and d.session_id = any (p_sessions)
    loop
        perform relay.make_version(one.session_id, 0, relay.decay_version(one.settings, one.preset));
    end loop;
end $$;
