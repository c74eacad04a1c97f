-- Attribution: which patterns each act was about, and estimates from all of a person's choices together.

-- Returns an act with the texts that it is about, as an AttributionWork. Null if it was withdrawn or its answer is gone.
create or replace function relay.attribution_of(p_feedback_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('feedback_id', f.id, 'space_id', f.space_id, 'user_id', f.user_id,
        'session_id', f.session_id, 'kind', f.kind, 'value', f.value, 'question_id', asked.id,
        'question', coalesce(left(relay.plain_text(asked), 1500), ''),
        'former', case when f.kind = 'refine' and o.id is not null then (
            -- As it was when the other answer was written.
            select left(relay.without_markers(v.text), 1500) from message_version v where v.message_id = asked.id
            order by v.id offset coalesce((o.prompt ->> 'wording')::integer, 0) limit 1) end,
        'answer_id', said.id, 'answer', left(said.text, 4000),
        'other_id', other.id, 'other', coalesce(left(f.value ->> 'text', 4000), left(other.text, 4000)),
        'chosen', case when f.value ? 'text' then 'b' else 'a' end,
        'attributable', not (t.tainted or coalesce(o.tainted, false) or coalesce(other.tainted, false)),
        'dimensions', coalesce(f.value -> 'dimensions', '[]'),
        'known', (select coalesce(jsonb_agg(distinct jsonb_build_object('type', p.type, 'pattern', p.pattern)), '[]') from (
            select type, pattern from preference where space_id = f.space_id and user_id = f.user_id
            order by last_seen desc limit 50) p))
    from feedback f
    join turn t on t.id = f.turn_id
    join message said on said.id = t.assistant_message_id
    left join message asked on asked.id = t.user_message_id
    left join turn o on o.id = f.other_turn_id
    left join message other on other.id = coalesce(o.assistant_message_id, relay.second_of(t))
    where f.id = p_feedback_id and f.withdrawn_at is null
$$;

-- Returns the act that a job attributes. Null if it was withdrawn or its answer is gone.
create or replace function public.relay_preference_work(p_job_id bigint, p_fence bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select relay.attribution_of(key::bigint) from job where id = p_job_id and fence = p_fence
$$;

-- Replaces an act's observations by {observations, derivation}. Returns whether the act still counts.
create or replace function public.relay_replace_observations(p_feedback_id bigint, p_result jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    said feedback;
    here thread;
begin
    perform relay.hold_memory((select space_id from feedback where id = p_feedback_id));
    update feedback set derivation = p_result -> 'derivation' where id = p_feedback_id and withdrawn_at is null
    returning * into said;
    if said.id is null then
        return 'false';
    end if;
    select * into here from thread where id = said.thread_id;
    delete from observation where feedback_id = said.id;
    perform relay.observe(said, here, p_result -> 'observations', p_result -> 'derivation');
    return 'true';
end $$;

-- The same for a job, which it finishes. Returns whether the process still had it.
create or replace function public.relay_store_observations(p_job_id bigint, p_fence bigint, p_result jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    held job;
begin
    -- Locks the memory first, as when acts are erased.
    perform relay.hold_memory((select f.space_id from job j join feedback f on f.id = j.key::bigint where j.id = p_job_id));
    held := relay.hold_job(p_job_id, p_fence);
    perform public.relay_replace_observations(held.key::bigint, p_result);
    delete from job where id = held.id;
    return to_jsonb(held.id is not null);
end $$;

-- Returns a page of a space's acts since a moment that another version than p_version attributed, after an id: [{work,
-- before: [{type, pattern, polarity}]}].
create or replace function public.relay_derived_feedback(
    p_space jsonb, p_since timestamptz, p_version text, p_after bigint, p_most integer)
returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_agg(jsonb_build_object('work', work, 'before', (
            select coalesce(jsonb_agg(jsonb_build_object('type', o.type, 'pattern', o.pattern, 'polarity', o.polarity)
                order by o.id), '[]')
            from observation o where o.feedback_id = f.id)) order by f.id), '[]')
    from (
        select id, relay.attribution_of(id) as work from feedback
        where space_id = relay.find_space(p_space) and id > p_after and kind not in ('tag', 'said')
            and withdrawn_at is null and at >= coalesce(p_since, '-infinity')
            and derivation is not null and derivation ->> 'version' <> p_version
        order by id limit p_most) f
    where work is not null
$$;

-- Converts old reactions, from before feedback was stored: 200 signals a day, in order. Its job waits for the next day,
-- and is done once none are left. Returns how many became feedback; null if the process lost the job.
create or replace function public.relay_backfill_feedback(p_job_id bigint, p_fence bigint, p_most integer) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    held job := relay.hold_job(p_job_id, p_fence);
    last bigint := (held.payload ->> 'after')::bigint;
    one record;
    taken integer := 0;
begin
    if held.id is null then
        return null;
    end if;
    for one in
        select s.id, m as said, s.user_id from signal s join message m on m.id = s.message_id
        where s.id > last and s.removed_at is null and m.role = 'assistant' order by s.id limit p_most
    loop
        if not exists (select from feedback where message_id = (one.said).id and user_id = one.user_id) then
            perform relay.feedback_of_reactions(one.said, one.user_id, 'backfill');
            taken := taken + 1;
        end if;
        last := one.id;
    end loop;
    if last = (held.payload ->> 'after')::bigint then
        delete from job where id = held.id;
    else
        update job set payload = jsonb_build_object('after', last), lease_owner = null, lease_until = null,
            due_at = now() + interval '1 day', failures = 0, last_error = null
        where id = held.id;
    end if;
    return to_jsonb(taken);
end $$;

create or replace function relay.estimate_key(p_space_id bigint, p_user_id bigint, p_thread_id bigint) returns text
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select concat_ws(' ', p_space_id, p_user_id, p_thread_id)
$$;

-- Owes a person's estimates after choices were added, withdrawn, forgotten, erased or moved. A process that is working
-- on them loses the job, because it began with the old choices.
create or replace function relay.owe_estimates(p_space_id bigint, p_user_id bigint) returns void
language sql set search_path = relay, extensions, pg_temp as $$
    insert into job as j (kind, key, payload)
    select 'estimate', relay.estimate_key(space_id, user_id, thread_id),
        jsonb_build_object('space_id', space_id, 'user_id', user_id, 'counts_in', thread_id)
    from (
        -- Where their acts count, if a model attributed some of these or an estimate is left.
        select space_id, user_id, thread_id from observation
        where space_id = p_space_id and user_id = p_user_id and not explicit
        union
        select space_id, user_id, thread_id from preference
        where space_id = p_space_id and user_id = p_user_id and sureness is not null) place
    order by 2
    on conflict (kind, key) do update set due_at = '-infinity', failures = 0, last_error = null, parked_at = null,
        lease_owner = null, lease_until = null, fence = j.fence + 1
$$;

-- The same for all people, after a move or a restore, which don't copy estimates.
create or replace function relay.owe_all_estimates() returns void
language sql set search_path = relay, extensions, pg_temp as $$
    select relay.owe_job('estimate', relay.estimate_key(space_id, user_id, thread_id),
        jsonb_build_object('space_id', space_id, 'user_id', user_id, 'counts_in', thread_id))
    from (select distinct space_id, user_id, thread_id from observation where not explicit order by 1, 2, 3) place
    where not exists (
        select from job where kind = 'estimate' and key = relay.estimate_key(space_id, user_id, thread_id))
$$;

-- Returns what a model attributed to the newest 500 of a person's acts that count, oldest first: [{patterns, weight}].
-- Null if the process lost the job.
create or replace function public.relay_estimate_work(p_job_id bigint, p_fence bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    with held as materialized (
        select (payload ->> 'space_id')::bigint as space_id, (payload ->> 'user_id')::bigint as user_id,
            (payload ->> 'counts_in')::bigint as thread_id
        from job where id = p_job_id and fence = p_fence),
    act as (
        select f.id, jsonb_agg(jsonb_build_object('type', o.type, 'pattern', o.pattern, 'polarity', o.polarity)
            order by o.id) as patterns, max(o.weight) as weight
        from held h join observation o on o.space_id = h.space_id and o.user_id = h.user_id
            and o.thread_id is not distinct from h.thread_id
        join feedback f on f.id = o.feedback_id
        where not o.explicit and not o.pending and f.withdrawn_at is null and not exists (
                select from preference_decision d
                where d.space_id = o.space_id and d.user_id = o.user_id and d.type = o.type and d.pattern = o.pattern
                    and d.thread_id is not distinct from o.thread_id and d.action = 'forget' and d.at >= o.at)
        group by f.id order by f.id desc limit 500)
    select (select coalesce(jsonb_agg(jsonb_build_object('patterns', patterns, 'weight', weight / 0.4) order by id), '[]')
        from act) from held
$$;

-- Replaces a person's estimates by [{type, pattern, polarity, sureness}], and finishes the job. What the person said
-- outright takes precedence. Returns whether the process still had the job.
create or replace function public.relay_store_estimates(p_job_id bigint, p_fence bigint, p_estimates jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    held job;
    own record;
begin
    perform from space s join job j on s.id = (j.payload ->> 'space_id')::bigint where j.id = p_job_id
    for no key update of s;
    held := relay.hold_job(p_job_id, p_fence);
    if held.id is null then
        return 'false';
    end if;
    select * into own from jsonb_to_record(held.payload) as p (space_id bigint, user_id bigint, counts_in bigint);
    delete from preference
    where space_id = own.space_id and user_id = own.user_id and thread_id is not distinct from own.counts_in
        and sureness is not null and observations = 0 and (type, pattern, polarity) not in (
            select e.type, e.pattern, e.polarity
            from jsonb_to_recordset(p_estimates) as e (type text, pattern text, polarity smallint));
    update preference set sureness = null
    where space_id = own.space_id and user_id = own.user_id and thread_id is not distinct from own.counts_in
        and sureness is not null and observations > 0;
    insert into preference (space_id, user_id, thread_id, type, pattern, polarity, strength, level, status, reinforced,
        observations, sessions, last_seen, fold_version, sureness)
    select own.space_id, own.user_id, own.counts_in, e.type, e.pattern, e.polarity, 0, 0, 'stable', 0, 0, 0, agreed.last,
        relay.fold_version(), e.sureness
    from jsonb_to_recordset(p_estimates) as e (type text, pattern text, polarity smallint, sureness real),
    lateral (
        select max(o.at) as last from observation o
        where o.space_id = own.space_id and o.user_id = own.user_id and o.thread_id is not distinct from own.counts_in
            and o.type = e.type and o.pattern = e.pattern and o.polarity = e.polarity and not o.pending) agreed
    where agreed.last is not null and not exists (
        select from preference p
        where p.space_id = own.space_id and p.user_id = own.user_id and p.thread_id is not distinct from own.counts_in
            and p.type = e.type and p.pattern = e.pattern and p.polarity <> e.polarity)
    on conflict (space_id, user_id, thread_id, type, pattern, polarity) do update set sureness = excluded.sureness,
        last_seen = case when preference.observations = 0 then excluded.last_seen else preference.last_seen end,
        status = case when preference.observations = 0 then excluded.status else preference.status end;
    delete from job where id = held.id;
    return 'true';
end $$;
