-- Titles of sessions: owed when there is something to name, written by a job, each at most once.

-- Owes a title to a session that has none. One that was given up is not owed again.
create or replace function relay.owe_title(p_session_id bigint, p_bot_id bigint) returns void
language sql set search_path = relay, extensions, pg_temp as $$
    insert into title_due (session_id, bot_id)
    select s.id, p_bot_id from session s where s.id = p_session_id and s.title is null and p_bot_id is not null
    on conflict do nothing
$$;

-- Leases titles that are due in a bot's chats and returns what each is made of: how its session began.
create or replace function public.relay_claim_titles(
    p_bot_id bigint, p_worker uuid, p_limit integer, p_lease_seconds integer)
returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    with claimed as (
        update title_due set lease_owner = p_worker, lease_until = now() + make_interval(secs => p_lease_seconds)
        where session_id in (
            select session_id from title_due
            where status = 'due' and bot_id = p_bot_id
                and (error is null or not_before <= now() or not_before > now() + interval '2 hours')
                and (lease_owner is null or lease_until < now() or lease_until > now() + interval '15 minutes')
            order by session_id limit p_limit for update skip locked)
        returning session_id, failures)
    select coalesce(jsonb_agg(jsonb_build_object('session_id', c.session_id, 'failures', c.failures, 'messages',
        coalesce((
            select jsonb_agg(to_jsonb(m) order by m.id) from (
                select id, role, name, left(text, 1500) as text, untrusted from message
                where session_id = c.session_id and status <> 'replaced' order by id limit 6) m), '[]'))), '[]')
    from claimed c
$$;

-- Stores a title, unless the session has got one. Returns {chat_id, topic_id} of a private topic that is to be renamed
-- by it: one whose name Telegram made up, or that was never heard of, and that was never renamed. Null otherwise.
create or replace function public.relay_store_title(p_session_id bigint, p_worker uuid, p_title text) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    due title_due;
    own thread;
begin
    update title_due set status = 'done', lease_owner = null
    where session_id = p_session_id and status = 'due' and lease_owner = p_worker returning * into due;
    if due.session_id is null then
        return null;
    end if;
    update session set title = p_title, titled_by = 'model' where id = p_session_id and title is null;
    if not found then
        return null;
    end if;
    select t.* into own from session s join thread t on t.id = s.thread_id where s.id = p_session_id;
    if own.chat_id <= 0 or own.topic_id = 0 then
        return null;
    end if;
    -- Taken down before it is done: a name that the person gives in between is not to be lost to a second try.
    insert into topic as known (bot_id, chat_id, topic_id, name, implicit, renamed_at)
    values (due.bot_id, own.chat_id, own.topic_id, p_title, true, now())
    on conflict (bot_id, chat_id, topic_id) do update set renamed_at = now()
        where known.implicit and known.renamed_at is null;
    return case when found then jsonb_build_object('chat_id', own.chat_id, 'topic_id', own.topic_id) end;
end $$;

-- Nothing to name: no title is made.
create or replace function public.relay_skip_title(p_session_id bigint, p_worker uuid) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    with skipped as (
        update title_due set status = 'skipped', lease_owner = null
        where session_id = p_session_id and lease_owner = p_worker returning 1)
    select to_jsonb(count(*)) from skipped
$$;

-- A title could not be made: it is tried again after a pause, up to p_most times.
create or replace function public.relay_fail_title(
    p_session_id bigint, p_worker uuid, p_error text, p_retry_seconds double precision, p_most integer)
returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    with failed as (
        update title_due set failures = failures + (p_most is not null)::integer, error = p_error, lease_owner = null, lease_until = null,
            status = case when failures + 1 >= p_most then 'failed' else 'due' end,
            not_before = now() + make_interval(secs => p_retry_seconds)
        where session_id = p_session_id and lease_owner = p_worker returning 1)
    select to_jsonb(count(*)) from failed
$$;
