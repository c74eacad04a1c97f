-- Judging: reads each thread again for what is worth keeping. A durable cursor per thread moves in the transaction that
-- stores the findings, so nothing is judged twice or skipped.

-- Marks whether a message may teach anything now. What Relay says by itself teaches nothing.
create or replace function relay.mark_teaching() returns trigger
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    if not exists (select from move where state = 'copying') then
        new.teaches := new.started_by is null and relay.teaches(new.session_id);
    end if;
    return new;
end $$;

-- Owes the judging of a thread once it has a complete exchange, or an import that nobody judged. Imports (due since 1970)
-- come after what people are saying now. When an answer is replaced, its question is judged again, because the old
-- findings were undone.
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
    -- The job is locked before the cursor, as when findings are stored.
    perform relay.owe_sooner('judging', new.thread_id::text, jsonb_build_object('thread_id', new.thread_id),
        case when new.turn_id is null then timestamptz 'epoch' else '-infinity' end);
    insert into judging as j (thread_id, through_message_id) values (new.thread_id, begins - 1)
    on conflict (thread_id) do update set through_message_id = begins - 1 where j.through_message_id >= begins;
    return null;
end $$;

create or replace trigger message_teaches before insert on relay.message
    for each row execute function relay.mark_teaching();
create or replace trigger message_judged after insert on relay.message
    for each row execute function relay.owe_judging();

-- Returns the next messages of a thread to judge, within a count and a length: on the record, allowed to teach, and not
-- of an answer that was stopped because their author lost access. p_through: the last one at most.
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
                and (select t.stop_asked and exists (
                        select from person p where p.user_id = t.user_id and p.role in ('refused', 'blocked'))
                    from turn t where t.id = turn_id) is not true
            order by id limit 12) few)
    select m.* from next n join message m on m.id = n.id where n.before < 12000
$$;

-- Returns the last message of a thread that may be judged: a question waits for its answer.
create or replace function relay.said_last(p_thread_id bigint) returns bigint
language sql stable set search_path = relay, extensions, pg_temp as $$
    select id from message where thread_id = p_thread_id and (role = 'assistant' or turn_id is null)
    order by id desc limit 1
$$;

-- Returns a message as the judge reads it. learning, zone: its speaker's settings.
create or replace function relay.judged_json(p_message relay.message) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('id', p_message.id, 'thread_id', p_message.thread_id, 'role', p_message.role,
        'user_id', p_message.user_id, 'name', p_message.name, 'text', left(relay.plain_text(p_message), 4000),
        'untrusted', p_message.untrusted, 'tainted', p_message.tainted, 'at', p_message.created_at,
        'learning', coalesce(c.choices ->> 'learning', 'on'), 'zone', coalesce(c.choices ->> 'zone', ''))
    from (select) always left join choice c on c.user_id = p_message.user_id
$$;

-- Returns a thread's next work: messages after the cursor (again: those that only keywords have judged), a few before
-- them, and what their turns already taught. {end}: where the cursor goes if nothing is left (the `after` of a second
-- judgement, if set).
create or replace function relay.judging_batch(p_own relay.judging) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    last_said constant bigint := relay.said_last(p_own.thread_id);
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
            'again', redo.from_message_id, 'through', (batch[cardinality(batch)]).id,
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

-- Ends a locked judging job, or gives it back with no failures: due now if messages are left after the cursor, later if
-- something is to be judged again.
create or replace function relay.settle_judging(p_job relay.job) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own constant judging := (select j from judging j where thread_id = p_job.key::bigint);
    next_at timestamptz := (select min(at) from judge_again where thread_id = own.thread_id);
begin
    if exists (select from relay.judged_next(own.thread_id, own.through_message_id, relay.said_last(own.thread_id))) then
        next_at := least(p_job.due_at, 'epoch');
    elsif next_at is null then
        delete from job where id = p_job.id;
        return;
    end if;
    update job set due_at = next_at, lease_owner = null, lease_until = null, failures = 0, last_error = null
    where id = p_job.id;
end $$;

-- Returns what the holder of a judging job should judge now. Null: nothing; the job was ended or given back.
create or replace function public.relay_judging_work(p_job_id bigint, p_fence bigint) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    held constant job := relay.hold_job(p_job_id, p_fence);
    own constant judging := (select j from judging j where thread_id = held.key::bigint);
    work constant jsonb := case when own.thread_id is not null then relay.judging_batch(own) end;
begin
    if held.id is null then
        return null;
    end if;
    if work ->> 'end' is not null then
        update judging set through_message_id = (work ->> 'end')::bigint where thread_id = own.thread_id;
    end if;
    if work ? 'messages' then
        return work - 'end';
    end if;
    perform relay.settle_judging(held);
    return null;
end $$;

-- Puts off judging again what only keywords have judged, from p_again on. Nothing else waits. False: the job was lost.
create or replace function public.relay_put_off_again(
    p_job_id bigint, p_fence bigint, p_again bigint, p_seconds double precision)
returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    held constant job := relay.hold_job(p_job_id, p_fence);
begin
    if held.id is null then
        return to_jsonb(false);
    end if;
    update judge_again set at = now() + make_interval(secs => p_seconds)
    where thread_id = held.key::bigint and from_message_id = p_again;
    perform relay.settle_judging(held);
    return to_jsonb(true);
end $$;

-- Where judging is off, moves cursors to the end, a number of threads at a time. Returns how many moved.
create or replace function public.relay_pass_judging(p_limit integer) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    threads constant bigint[] := array(
        select key::bigint from job where kind = 'judging' order by id limit p_limit for update skip locked);
begin
    update judging j set through_message_id = greatest(j.through_message_id, (
        select coalesce(max(m.id), 0) from message m where m.thread_id = j.thread_id))
    where j.thread_id = any (threads);
    delete from judge_again where thread_id = any (threads);
    delete from job where kind = 'judging' and key = any (threads::text[]);
    return to_jsonb(cardinality(threads));
end $$;

-- Counts messages waiting to be judged, in all spaces.
create or replace function public.relay_unjudged() returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select to_jsonb(coalesce(sum(waiting), 0))
    from job o join judging j on j.thread_id = (o.payload ->> 'thread_id')::bigint,
        lateral (select count(*) as waiting from message m
            where m.thread_id = j.thread_id and m.id > j.through_message_id) w
    where o.kind = 'judging'
$$;

-- Moves another thread's waiting work into this one, before its messages are moved. What follows this one's cursor is
-- judged in its turn; what is before it is judged again.
create or replace function relay.merge_judging(p_into bigint, p_from bigint) returns void
language sql set search_path = relay, extensions, pg_temp as $$
    insert into judging (thread_id, through_message_id)
    select p_into, through_message_id from judging where thread_id = p_from
    on conflict (thread_id) do update set through_message_id = excluded.through_message_id
        where judging.through_message_id < excluded.through_message_id and not exists (
            select from message where thread_id = p_into and id > judging.through_message_id);
    insert into judge_again (thread_id, from_message_id, through_message_id, at)
    select p_into, from_message_id, through_message_id, at from judge_again where thread_id = p_from
    on conflict do nothing;
    insert into judge_again (thread_id, from_message_id, through_message_id, at)
    select p_into, old.through_message_id + 1, max(m.id), now()
    from judging old join judging own on own.thread_id = p_into
    join message m on m.thread_id = p_from and m.id > old.through_message_id and m.id <= own.through_message_id
    where old.thread_id = p_from and exists (select from job where kind = 'judging' and key = p_from::text)
    group by old.through_message_id
    on conflict do nothing;
    select relay.owe_sooner('judging', p_into::text, jsonb_build_object('thread_id', p_into), min(at)) from (
        select due_at as at from job where kind = 'judging' and key = p_from::text
        union all select at from judge_again where thread_id = p_into) waiting
    having count(*) > 0;
    delete from job where kind = 'judging' and key = p_from::text;
    delete from judge_again where thread_id = p_from;
    delete from judging where thread_id = p_from
$$;
