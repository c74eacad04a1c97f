-- Judging: what was said is read again, thread by thread, for what is worth keeping. A durable cursor per thread moves
-- in the same transaction as what was learned, so nothing is judged twice and nothing is left out.

-- Marks a message by whether something may be learned from it now.
create or replace function relay.mark_teaching() returns trigger
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    if not exists (select from move where state = 'copying') then
        new.teaches := relay.teaches(new.session_id);
    end if;
    return new;
end $$;

-- Makes a thread due once an exchange in it is complete, or something was imported into it that was judged nowhere. An
-- answer that takes another's place has its question judged again: what the old one had taught was taken back.
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

-- Whether a thread may be taken up now: its lease and its pause are over, and its space remembers.
create or replace function relay.may_judge(p_own relay.judging) returns boolean
language sql stable set search_path = relay, extensions, pg_temp as $$
    select (p_own.failures = 0 or p_own.not_before <= now() or p_own.not_before > now() + interval '2 hours')
        and (p_own.lease_owner is null or p_own.lease_until < now()
            or p_own.lease_until > now() + interval '15 minutes')
        and relay.remembers((select space_id from thread where id = p_own.thread_id))
$$;

-- The next messages of a thread to be judged, within a number and a length: those that teach, of sessions that are on
-- the record. p_through: the last of them, at most.
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

-- A message as a judge reads it. learning: what its speaker chose.
create or replace function relay.judged_json(p_message relay.message) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('id', p_message.id, 'thread_id', p_message.thread_id, 'role', p_message.role,
        'user_id', p_message.user_id, 'name', p_message.name, 'text', left(p_message.text, 4000),
        'untrusted', p_message.untrusted, 'tainted', p_message.tainted, 'at', p_message.created_at,
        'learning', coalesce((select choices ->> 'learning' from choice where user_id = p_message.user_id), 'on'))
$$;

-- What is to be judged in a thread now: the messages behind its cursor (again: those from there on that only keywords
-- have judged), a few before them, and what their own turns have taught already. {end}: where nothing is left behind the
-- cursor, how far it moves (it is the after of what is judged again, if that is there).
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

-- Leases threads in which something waits to be judged, each with the next of it: those in which people are just
-- speaking first, then what was imported, then what only keywords have judged.
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
        -- Once: a row that is changed twice looks after its thread, which whoever speaks there now holds.
        update judging set through_message_id = coalesce((next ->> 'end')::bigint, through_message_id),
            due_at = case when next ->> 'end' is null then due_at end,
            lease_owner = case when next ? 'messages' then p_worker end,
            lease_until = case when next ? 'messages' then now() + make_interval(secs => p_lease_seconds) end
        where thread_id = own.thread_id;
        work := work || case when next ? 'messages' then next - 'end' else '[]' end;
    end loop;
    -- passed: threads were taken in which nothing was left to judge, and others may wait.
    return jsonb_build_object('work', work, 'passed', cardinality(taken) > jsonb_array_length(work));
end $$;

-- Prolongs the lease of a thread that a worker judges.
create or replace function public.relay_renew_judging(p_thread_id bigint, p_worker uuid, p_lease_seconds integer)
returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    with renewed as (
        update judging set lease_until = now() + make_interval(secs => p_lease_seconds)
        where thread_id = p_thread_id and lease_owner = p_worker returning 1)
    select to_jsonb(count(*)) from renewed
$$;

-- What could not be judged waits; the cursor stays. p_again: it is what keywords have judged already, from there on.
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

-- Where nothing is judged the cursors move to the end, a number of threads at a time. How many did.
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

-- Seconds until the nearest thread may be taken up in which something waits; null: nothing waits, or its space is at rest.
create or replace function public.relay_judging_rests() returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select to_jsonb(extract(epoch from min(greatest(now(), not_before, lease_until)) - now())) from judging j
    where due_at is not null and relay.remembers((select space_id from thread where id = j.thread_id))
$$;

-- How many messages wait to be judged, in all spaces.
create or replace function public.relay_unjudged() returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select to_jsonb(coalesce(sum(waiting), 0)) from judging j,
        lateral (select count(*) as waiting from message m
            where m.thread_id = j.thread_id and m.id > j.through_message_id) w
    where j.due_at is not null
$$;

-- A thread takes over what waits to be judged in another one, which is about to go.
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
