-- Leases: what a process has taken stays its own for as long as it says so every few seconds; what a dead one had,
-- another takes.

-- Prolongs the leases of a worker's turns. Returns the ids of those that another worker has taken over.
create or replace function relay.renew(p_worker uuid, p_turns jsonb, p_lease_seconds integer)
returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    with renewed as (
        update turn set lease_until = now() + make_interval(secs => p_lease_seconds)
        where id in (
            select id from turn
            where id = any (array(select jsonb_array_elements_text(p_turns)::bigint))
                and lease_owner = p_worker and status in ('working', 'answered')
                and (lease_until < now() + make_interval(secs => p_lease_seconds * 0.8)
                    or lease_until > now() + interval '15 minutes')
            order by id for update skip locked))
    select coalesce(jsonb_agg(id), '[]') from turn
    where id = any (array(select jsonb_array_elements_text(p_turns)::bigint))
        and lease_owner <> p_worker and status in ('working', 'answered')
$$;

-- Prolongs a worker's lease of polling for a bot. Returns whether it is the one that polls; null when nobody is.
create or replace function relay.renew_polling(p_bot_id bigint, p_worker uuid, p_lease_seconds integer)
returns boolean
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    polling duty;
begin
    select * into polling from duty where name = 'poll:' || p_bot_id;
    if polling.lease_owner = p_worker and polling.lease_until
        not between now() + make_interval(secs => p_lease_seconds * 0.8) and now() + interval '15 minutes'
    then
        update duty set lease_until = now() + make_interval(secs => p_lease_seconds)
        where name = polling.name and lease_owner = p_worker
        returning * into polling;
        -- Another process may have taken it meanwhile.
        if not found then
            select * into polling from duty where name = 'poll:' || p_bot_id;
        end if;
    end if;
    return case when polling.lease_until between now() and now() + interval '15 minutes'
        then polling.lease_owner = p_worker end;
end $$;

-- Keeps the sign that a worker is there, also while it has nothing to do: a duty of its own.
create or replace function relay.keep_serving(p_worker uuid, p_lease_seconds integer) returns void
language sql set search_path = relay, extensions, pg_temp as $$
    insert into duty (name, lease_owner, lease_until)
    select 'serve:' || p_worker, p_worker, now() + make_interval(secs => p_lease_seconds)
    where not exists (
        select from duty where name = 'serve:' || p_worker
            and lease_until between now() + make_interval(secs => p_lease_seconds * 0.8) and now() + interval '15 minutes')
    on conflict (name) do update set lease_owner = excluded.lease_owner, lease_until = excluded.lease_until
$$;

-- Frees everything that a worker holds: at its start (what its dead predecessor of the same name held), at its stop.
-- Takes away its sign that it is there, and those of the dead.
create or replace function public.relay_release(p_worker uuid) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    freed integer;
begin
    update turn set lease_owner = null, lease_until = null, fence = fence + 1
    where status in ('working', 'answered') and lease_owner = p_worker;
    get diagnostics freed = row_count;
    update summary_due set lease_owner = null, lease_until = null
    where status = 'due' and lease_owner = p_worker;
    update title_due set lease_owner = null, lease_until = null
    where status = 'due' and lease_owner = p_worker;
    update judging set lease_owner = null, lease_until = null where lease_owner = p_worker;
    update announcement set lease_owner = null, lease_until = null where lease_owner = p_worker;
    delete from duty where name = 'serve:' || p_worker;
    delete from duty where name in (
        select name from duty
        where name like 'serve:%' and (lease_until between now() and now() + interval '15 minutes') is not true
        for update skip locked);
    update duty set lease_owner = null, lease_until = null where lease_owner = p_worker;
    return to_jsonb(freed);
end $$;

-- Prolongs the lease of a summary that a worker is making.
create or replace function public.relay_renew_summary(p_due_id bigint, p_worker uuid, p_lease_seconds integer)
returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    with renewed as (
        update summary_due set lease_until = now() + make_interval(secs => p_lease_seconds)
        where id = p_due_id and status = 'due' and lease_owner = p_worker returning 1)
    select to_jsonb(count(*)) from renewed
$$;

-- Prolongs the lease of a title that a worker is making.
create or replace function public.relay_renew_title(p_session_id bigint, p_worker uuid, p_lease_seconds integer)
returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    with renewed as (
        update title_due set lease_until = now() + make_interval(secs => p_lease_seconds)
        where session_id = p_session_id and status = 'due' and lease_owner = p_worker returning 1)
    select to_jsonb(count(*)) from renewed
$$;

-- Which jobs have something to do that nobody does: a summary, or a title in a bot's chats, is due; or something is to be
-- judged, told there, or entered into the index. What never failed does not wait: a clock that was ahead when it was owed
-- puts nothing off.
create or replace function relay.jobs_owed(p_bot_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select to_jsonb(array_remove(array[
        case when exists (
            select from summary_due
            where status = 'due' and (error is null or not_before <= now())
                and (lease_owner is null or lease_until < now()))
        then 'summaries' end,
        case when exists (
            select from title_due
            where status = 'due' and bot_id = p_bot_id and (error is null or not_before <= now())
                and (lease_owner is null or lease_until < now()))
        then 'titles' end,
        case when exists (
            select from judging j
            where due_at is not null and (j.failures = 0 or not_before <= now())
                and (lease_owner is null or lease_until < now()) and relay.may_judge(j))
        or exists (
            select from judge_again a join judging j on j.thread_id = a.thread_id
            where a.at <= now() and (j.lease_owner is null or j.lease_until < now()) and relay.may_judge(j))
        then 'judging' end,
        case when exists (
            select from announcement a join turn t on t.id = a.turn_id and t.status = 'done'
            where a.status = 'due' and a.bot_id = p_bot_id and (a.failures = 0 or a.not_before <= now())
                and (a.lease_owner is null or a.lease_until < now()))
        then 'telling' end,
        case when exists (select from entry_due) then 'index' end], null))
$$;

-- Which turns somebody wants ended.
create or replace function relay.stopped(p_turns jsonb) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_agg(id), '[]') from turn
    where id = any (array(select jsonb_array_elements_text(p_turns)::bigint)) and stop_asked
$$;

-- Asks for the end of the answer that some process is writing in a lane, or as turn p_turn_id of that chat; whoever
-- writes it hears of it with its next claim. Returns whether there is one.
create or replace function public.relay_ask_stop(
    p_bot_id bigint, p_chat_id bigint, p_topic_id bigint, p_turn_id bigint)
returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    with asked as (
        update turn t set stop_asked = true from lane l
        where l.bot_id = p_bot_id and l.chat_id = p_chat_id and l.open_turn_id = t.id
            and case when p_turn_id is null then l.topic_id = p_topic_id else t.id = p_turn_id end
            and t.status in ('working', 'answered') and t.lease_owner is not null and not t.stop_asked
        returning 1)
    select to_jsonb(exists (select from asked))
$$;
