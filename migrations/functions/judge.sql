-- Judging: reads each thread again for what is worth keeping. A durable cursor per thread moves in the transaction that
-- stores the findings, so nothing is judged twice or skipped.

-- Marks whether a message may teach anything now.
create or replace function relay.mark_teaching() returns trigger
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    if not exists (select from move where state = 'copying') then
        new.teaches := relay.teaches(new.session_id);
    end if;
    return new;
end $$;

-- Makes a thread due once it has a complete exchange, or an import that nobody judged. When an answer is replaced, its
-- question is judged again, because the old findings were undone.
create or replace function relay.owe_judging() returns trigger
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    begins bigint := new.id;
begin
    if not new.teaches or exists (select from move where state = 'copying') then
        return null;
    end if;
    if new.turn_id is null and current_setting('relay.judged', true) = 'yes' then
        insert into judging as j (thread_id, through_message_id) values (new.thread_id, new.id)
        on conflict (thread_id) do update set through_message_id = new.id
            where not exists (select from message m where m.thread_id = new.thread_id and m.teaches
                and m.id > j.through_message_id and m.id < new.id);
        return null;
    end if;
    if new.role = 'user' and new.turn_id is not null then
        insert into judging (thread_id, through_message_id) values (new.thread_id, new.id - 1) on conflict do nothing;
        return null;
    end if;
    select least(new.id, user_message_id) into begins from turn
    where id = new.turn_id and replaces_turn_id is not null;
    begins := coalesce(begins, new.id);
    insert into judging as j (thread_id, through_message_id, due_at, bulk)
    values (new.thread_id, begins - 1, now(), new.turn_id is null)
    on conflict (thread_id) do update set due_at = coalesce(j.due_at, now()),
        bulk = excluded.bulk and (j.due_at is null or j.bulk),
        through_message_id = least(j.through_message_id, begins - 1);
    return null;
end $$;

create or replace trigger message_teaches before insert on relay.message
    for each row execute function relay.mark_teaching();
create or replace trigger message_judged after insert on relay.message
    for each row execute function relay.owe_judging();

-- Tests whether a thread may be claimed: no lease or pause, and its space remembers.
create or replace function relay.may_judge(p_own relay.judging) returns boolean
language sql stable set search_path = relay, extensions, pg_temp as $$
    select (p_own.failures = 0 or p_own.not_before <= now() or p_own.not_before > now() + interval '2 hours')
        and (p_own.lease_owner is null or p_own.lease_until < now()
            or p_own.lease_until > now() + interval '15 minutes')
        and relay.remembers((select space_id from thread where id = p_own.thread_id))
$$;

-- Returns the next messages of a thread to judge, within a count and a length: on the record, and allowed to teach.
-- p_through: the last one at most.
create or replace function relay.judged_next(p_thread_id bigint, p_after bigint, p_through bigint)
returns setof relay.message
language sql stable set search_path = relay, extensions, pg_temp as $$
    with next as (
        select id, sum(length(left(text, 4000))) over (order by id) - length(left(text, 4000)) as before from (
            select id, text from message
            where thread_id = p_thread_id and id > p_after and id <= p_through and status <> 'replaced' and teaches
                and session_id = any (array(
                    select s.id from session s join thread t on t.id = s.thread_id
                    where s.thread_id = p_thread_id and t.teaches and not s.private))
            order by id limit 12) few)
    select m.* from next n join message m on m.id = n.id where n.before < 12000
$$;

-- Returns a message as the judge reads it. learning: its speaker's setting.
create or replace function relay.judged_json(p_message relay.message) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('id', p_message.id, 'thread_id', p_message.thread_id, 'role', p_message.role,
        'user_id', p_message.user_id, 'name', p_message.name, 'text', left(p_message.text, 4000),
        'untrusted', p_message.untrusted, 'tainted', p_message.tainted, 'at', p_message.created_at,
        'learning', coalesce((select choices ->> 'learning' from choice where user_id = p_message.user_id), 'on'))
$$;

-- Returns a thread's next work: messages after the cursor (again: those that only keywords have judged), a few before
-- them, and what their turns already taught. {end}: where the cursor goes if nothing is left (the `after` of a second
-- judgement, if set).
create or replace function relay.judging_work(p_own relay.judging) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    last_said bigint := (
        select id from message where thread_id = p_own.thread_id and (role = 'assistant' or turn_id is null)
        order by id desc limit 1);
    batch message[] := array(
        select m from relay.judged_next(p_own.thread_id, p_own.through_message_id, last_said) m order by m.id);
    redo judge_again;
    reached bigint;
begin
    if cardinality(batch) = 0 then
        reached := greatest(p_own.through_message_id, last_said);
        select * into redo from judge_again where thread_id = p_own.thread_id and at <= now()
        order by from_message_id limit 1;
        batch := array(select m from relay.judged_next(
            p_own.thread_id, redo.from_message_id - 1, redo.through_message_id) m order by m.id);
    end if;
    if cardinality(batch) = 0 then
        delete from judge_again where thread_id = p_own.thread_id and from_message_id = redo.from_message_id;
        return jsonb_build_object('end', reached);
    end if;
    return (
        select jsonb_build_object('end', reached, 'thread_id', p_own.thread_id, 'space_id', s.id, 'kind', s.kind,
            'after', coalesce(reached, p_own.through_message_id),
            'again', redo.from_message_id, 'through', (batch[cardinality(batch)]).id, 'failures', p_own.failures,
            'messages', (select jsonb_agg(relay.judged_json(m) order by m.id) from unnest(batch) m),
            'before', coalesce((
                select jsonb_agg(relay.judged_json(b) order by b.id) from (
                    select * from message where thread_id = p_own.thread_id and id < (batch[1]).id
                        and session_id = (batch[1]).session_id and status <> 'replaced' and teaches
                    order by id desc limit 4) b), '[]'),
            'taught', coalesce((
                select jsonb_agg(jsonb_build_object('id', k.id, 'content', k.content, 'tainted', k.tainted,
                    'kind', k.kind, 'subject_id', k.subject_id, 'subject', k.subject,
                    'source', k.source_message_id, 'at', relay.memory_said_at(k), 'by_tag', k.status = 'active'
                        and k.derivation ->> 'name' = 'tag' and k.kind <> 'learning') order by k.id)
                from memory k
                where k.turn_id in (select turn_id from unnest(batch) where turn_id is not null)
                    and k.status in ('active', 'pending')
                    and (redo.from_message_id is null or k.derivation ->> 'name' <> 'keyword judge')), '[]'))
        from thread t join space s on s.id = t.space_id where t.id = p_own.thread_id);
end $$;

-- Leases threads with work: those in conversation first, then imports, then those that only keywords have judged.
create or replace function public.relay_claim_judging(p_worker uuid, p_limit integer, p_lease_seconds integer)
returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own judging;
    taken bigint[] := array(
        select thread_id from judging j where due_at is not null and relay.may_judge(j)
        order by bulk, due_at limit p_limit for update skip locked);
    next jsonb;
    work jsonb := '[]';
begin
    taken := taken || array(
        select j.thread_id from judging j
        where j.thread_id in (select thread_id from judge_again where at <= now() order by at limit 100)
            and j.thread_id <> all (taken) and relay.may_judge(j)
        limit greatest(0, p_limit - cardinality(taken)) for update skip locked);
    for own in select * from judging where thread_id = any (taken) loop
        next := relay.judging_work(own);
        -- Update once: a second update of a row checks its thread, which a current speaker may have locked.
        update judging set through_message_id = coalesce((next ->> 'end')::bigint, through_message_id),
            due_at = case when next ->> 'end' is null then due_at end,
            lease_owner = case when next ? 'messages' then p_worker end,
            lease_until = case when next ? 'messages' then now() + make_interval(secs => p_lease_seconds) end
        where thread_id = own.thread_id;
        work := work || case when next ? 'messages' then next - 'end' else '[]' end;
    end loop;
    -- passed: some claimed threads had nothing left to judge, and others may wait.
    return jsonb_build_object('work', work, 'passed', cardinality(taken) > jsonb_array_length(work));
end $$;

-- Renews a worker's lease on a thread.
create or replace function public.relay_renew_judging(p_thread_id bigint, p_worker uuid, p_lease_seconds integer)
returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    with renewed as (
        update judging set lease_until = now() + make_interval(secs => p_lease_seconds)
        where thread_id = p_thread_id and lease_owner = p_worker returning 1)
    select to_jsonb(count(*)) from renewed
$$;

-- Makes failed work wait; the cursor stays. p_again: the second judgement of what keywords judged.
create or replace function public.relay_put_off_judging(
    p_thread_id bigint, p_worker uuid, p_error text, p_retry_seconds double precision, p_again bigint)
returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    update judging set lease_owner = null, lease_until = null, error = p_error,
        failures = failures + (p_again is null)::integer,
        not_before = case when p_again is null then now() + make_interval(secs => p_retry_seconds) else now() end
    where thread_id = p_thread_id and lease_owner = p_worker;
    if found then
        update judge_again set at = now() + make_interval(secs => p_retry_seconds)
        where thread_id = p_thread_id and from_message_id = p_again;
    end if;
    return to_jsonb(found);
end $$;

-- Where judging is off, moves cursors to the end, a number of threads at a time. Returns how many moved.
create or replace function public.relay_pass_judging(p_limit integer) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    with passed as (
        update judging j set due_at = null, through_message_id = greatest(j.through_message_id, (
            select coalesce(max(m.id), 0) from message m where m.thread_id = j.thread_id))
        where j.thread_id in (
            select thread_id from judging where due_at is not null limit p_limit for update skip locked)
        returning 1)
    select to_jsonb(count(*)) from passed
$$;

-- Returns seconds until the next thread can be claimed; null if nothing waits or memory is paused.
create or replace function public.relay_judging_rests() returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select to_jsonb(extract(epoch from min(greatest(now(), not_before, lease_until)) - now())) from judging j
    where due_at is not null and relay.remembers((select space_id from thread where id = j.thread_id))
$$;

-- Counts messages waiting to be judged, in all spaces.
create or replace function public.relay_unjudged() returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select to_jsonb(coalesce(sum(waiting), 0)) from judging j,
        lateral (select count(*) as waiting from message m
            where m.thread_id = j.thread_id and m.id > j.through_message_id) w
    where j.due_at is not null
$$;

-- Moves another thread's waiting work into this one, before the other is deleted.
create or replace function relay.merge_judging(p_into bigint, p_from bigint) returns void
language sql set search_path = relay, extensions, pg_temp as $$
    insert into judge_again (thread_id, from_message_id, through_message_id, at)
    select p_into, from_message_id, through_message_id, at from judge_again where thread_id = p_from
    on conflict do nothing;
    insert into judge_again (thread_id, from_message_id, through_message_id, at)
    select p_into, j.through_message_id + 1, max(m.id), now()
    from judging j join message m on m.thread_id = j.thread_id and m.id > j.through_message_id
    where j.thread_id = p_from and j.due_at is not null group by j.through_message_id
    on conflict do nothing;
    insert into judging (thread_id, through_message_id)
    select p_into, j.through_message_id from judging j where j.thread_id = p_from
    on conflict do nothing;
    delete from judge_again where thread_id = p_from;
    delete from judging where thread_id = p_from
$$;
