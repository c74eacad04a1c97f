-- Attribution: which patterns acts were about, and what all of a person's choices say together.

-- An act with the texts that it is about, as AttributionWork has it. Null when it was taken back, or its answer is gone.
create or replace function relay.attribution_of(p_feedback_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('feedback_id', f.id, 'space_id', f.space_id, 'user_id', f.user_id,
        'session_id', f.session_id, 'kind', f.kind, 'value', f.value, 'question_id', asked.id,
        'question', coalesce(left(asked.text, 1500), ''), 'answer_id', said.id, 'answer', left(said.text, 4000),
        'other_id', other.id, 'other', coalesce(left(f.value ->> 'text', 4000), left(other.text, 4000)),
        'chosen', case when f.value ? 'text' then 'b' else 'a' end,
        'attributable', not t.tainted and (o.id is null or not o.tainted),
        'dimensions', coalesce(f.value -> 'dimensions', '[]'),
        'counts_in', relay.observed_in(h),
        'known', (select coalesce(jsonb_agg(distinct p.pattern), '[]') from (
            select pattern from preference where space_id = f.space_id and user_id = f.user_id
            order by last_seen desc limit 50) p))
    from feedback f
    join turn t on t.id = f.turn_id
    join thread h on h.id = f.thread_id
    join message said on said.id = t.assistant_message_id
    left join message asked on asked.id = t.user_message_id
    left join turn o on o.id = f.other_turn_id
    left join message other on other.id = coalesce(o.assistant_message_id, relay.second_of(t))
    where f.id = p_feedback_id and f.withdrawn_at is null
$$;

-- What a job is to attribute. Null when the act was taken back, or its answer is gone.
create or replace function public.relay_preference_work(p_job_id bigint, p_fence bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select relay.attribution_of(key::bigint) from job where id = p_job_id and fence = p_fence
$$;

-- Keeps what an act says of patterns in place of what it said before, {observations, derivation}. Whether it still counts.
create or replace function public.relay_replace_observations(p_feedback_id bigint, p_result jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    said feedback;
    here thread;
begin
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

-- The same for a job, which it finishes. Whether the process still had it.
create or replace function public.relay_store_observations(p_job_id bigint, p_fence bigint, p_result jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    held job := relay.hold_job(p_job_id, p_fence);
begin
    perform public.relay_replace_observations(held.key::bigint, p_result);
    delete from job where id = held.id;
    return to_jsonb(held.id is not null);
end $$;

-- A page of a space's acts since a moment that another version than p_version attributed, after an id:
-- [{work, before: [{type, pattern, polarity}]}].
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

-- Takes over reactions from before feedback was kept: 200 signals a day, in order. The job that does it waits for the next
-- day, and is done once there are no more. Returns how many became feedback; null when the process has lost it.
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
            due_at = now() + interval '1 day'
        where id = held.id;
    end if;
    return to_jsonb(taken);
end $$;

-- What a model attributed to a person's acts, oldest first, as far as it counts: [{patterns, weight}]; the newest 500.
create or replace function public.relay_preference_contrasts(p_space_id bigint, p_user_id bigint, p_thread_id bigint)
returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    with act as (
        select f.id, jsonb_agg(jsonb_build_object('type', o.type, 'pattern', o.pattern, 'polarity', o.polarity)
            order by o.id) as patterns, max(o.weight) as weight
        from observation o join feedback f on f.id = o.feedback_id
        where o.space_id = p_space_id and o.user_id = p_user_id and o.thread_id is not distinct from p_thread_id
            and not o.explicit and not o.pending and f.withdrawn_at is null and not exists (
                select from preference_decision d
                where d.space_id = o.space_id and d.user_id = o.user_id and d.type = o.type and d.pattern = o.pattern
                    and d.thread_id is not distinct from o.thread_id and d.action = 'forget' and d.at >= o.at)
        group by f.id order by f.id desc limit 500)
    select coalesce(jsonb_agg(jsonb_build_object('patterns', patterns, 'weight', weight / 0.4) order by id), '[]') from act
$$;

-- Stores what all of a person's choices say together, [{type, pattern, polarity, sureness}], in place of what they said
-- before. Where the person said otherwise outright, that holds.
create or replace function public.relay_store_estimates(
    p_space_id bigint, p_user_id bigint, p_thread_id bigint, p_estimates jsonb)
returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    perform from space where id = p_space_id for update;
    delete from preference
    where space_id = p_space_id and user_id = p_user_id and thread_id is not distinct from p_thread_id
        and sureness is not null and observations = 0;
    update preference set sureness = null
    where space_id = p_space_id and user_id = p_user_id and thread_id is not distinct from p_thread_id
        and sureness is not null;
    insert into preference (space_id, user_id, thread_id, type, pattern, polarity, strength, level, status, reinforced,
        observations, sessions, last_seen, fold_version, sureness)
    select p_space_id, p_user_id, p_thread_id, e.type, e.pattern, e.polarity, 0, 0, 'stable', 0, 0, 0, now(),
        relay.fold_version(), e.sureness
    from jsonb_to_recordset(p_estimates) as e (type text, pattern text, polarity smallint, sureness real)
    where exists (
        select from observation o
        where o.space_id = p_space_id and o.user_id = p_user_id and o.type = e.type and o.pattern = e.pattern)
    and not exists (
        select from preference p
        where p.space_id = p_space_id and p.user_id = p_user_id and p.thread_id is not distinct from p_thread_id
            and p.type = e.type and p.pattern = e.pattern and p.polarity <> e.polarity)
    on conflict (space_id, user_id, thread_id, type, pattern, polarity) do update set sureness = excluded.sureness;
    return 'true';
end $$;
