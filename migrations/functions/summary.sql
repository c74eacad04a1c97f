-- Summaries of threads: owed by every fifth exchange, made by a job, each a version of its own with its lineage.

-- Leases summaries that are due and returns what each is made of: the one before and the messages since.
create or replace function public.relay_claim_summaries(p_worker uuid, p_limit integer, p_lease_seconds integer)
returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    due summary_due;
    previous summary;
    messages jsonb;
    work jsonb := '[]';
begin
    for due in
        update summary_due set lease_owner = p_worker, lease_until = now() + make_interval(secs => p_lease_seconds)
        where id in (
            select id from summary_due
            where status = 'due'
                and (not_before <= now() or not_before > now() + interval '2 hours')
                and (lease_owner is null or lease_until < now() or lease_until > now() + interval '15 minutes')
            order by id limit p_limit for update skip locked)
        returning *
    loop
        select * into previous from summary
        where thread_id = due.thread_id and through_message_id >= due.context_from
            and through_message_id < due.through_message_id
        order by through_message_id desc, id desc limit 1;
        select coalesce(jsonb_agg(to_jsonb(m) order by m.id), '[]') into messages from (
            select id, role, user_id, name, left(text, 8000) as text, untrusted, tainted, created_at from message
            where thread_id = due.thread_id and status <> 'replaced' and id <= due.through_message_id
                and id >= due.context_from and id > coalesce(previous.through_message_id, 0)
            order by id desc limit 100) m;
        work := work || jsonb_build_object('due_id', due.id, 'thread_id', due.thread_id, 'failures', due.failures,
            'previous', case when previous.id is not null then jsonb_build_object('id', previous.id,
                'text', previous.text, 'tainted', previous.tainted) end,
            'messages', messages);
    end loop;
    return work;
end $$;

-- Stores a summary as a new version and lets the thread's prompt use it: the window moves up, in one step, to the
-- last five exchanges. A lease that was lost stores nothing.
create or replace function public.relay_store_summary(p_due_id bigint, p_worker uuid, p_summary jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    due summary_due;
    made bigint;
    window_start bigint;
begin
    select * into due from summary_due where id = p_due_id and status = 'due' and lease_owner = p_worker for update;
    if due.id is null then
        return to_jsonb(false);
    end if;
    insert into summary (thread_id, session_id, previous_id, text, from_message_id, through_message_id,
        message_count, model, settings, usage, tainted)
    values (due.thread_id, due.session_id, (p_summary ->> 'previous_id')::bigint, p_summary ->> 'text',
        (p_summary ->> 'from_message_id')::bigint, due.through_message_id, (p_summary ->> 'message_count')::integer,
        p_summary ->> 'model', p_summary -> 'settings', p_summary -> 'usage', (p_summary ->> 'tainted')::boolean)
    on conflict (thread_id, through_message_id) where author_id is null do nothing
    returning id into made;
    update summary_due set status = 'done', lease_owner = null where id = due.id;
    select min(id) into window_start from (
        select id from message
        where thread_id = due.thread_id and role = 'user' and id <= due.through_message_id
        order by id desc limit 5) last_five;
    update thread set summary_id = made, window_from = greatest(window_from, window_start)
    where id = due.thread_id and made is not null and due.through_message_id >= context_from
        and not exists (select from summary s where s.id = summary_id and s.through_message_id > due.through_message_id);
    return to_jsonb(made is not null);
end $$;

-- Too little to summarise: nothing is made.
create or replace function public.relay_skip_summary(p_due_id bigint, p_worker uuid) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    with skipped as (
        update summary_due set status = 'skipped', lease_owner = null
        where id = p_due_id and lease_owner = p_worker returning 1)
    select to_jsonb(count(*)) from skipped
$$;

-- A summary could not be made: it is tried again after a pause, up to p_most times; the next one covers its messages.
create or replace function public.relay_fail_summary(
    p_due_id bigint, p_worker uuid, p_error text, p_retry_seconds double precision, p_most integer)
returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    with failed as (
        update summary_due set failures = failures + 1, error = p_error, lease_owner = null, lease_until = null,
            status = case when failures + 1 >= p_most then 'failed' else 'due' end,
            not_before = now() + make_interval(secs => p_retry_seconds)
        where id = p_due_id and lease_owner = p_worker returning 1)
    select to_jsonb(count(*)) from failed
$$;
