-- Whether memory is used: by space, thread and session.

-- Whether memory is used in a space now: it is neither off nor at rest.
create or replace function relay.remembers(p_space_id bigint) returns boolean
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce((
        select memory = 'on' and (paused_until is null or paused_until <= now())
        from space where id = p_space_id), false)
$$;

-- Whether something may be learned from a session: its space remembers, its thread teaches, and it is on the record.
create or replace function relay.teaches(p_session_id bigint) returns boolean
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce((
        select t.teaches and not s.private and relay.remembers(s.space_id)
        from session s join thread t on t.id = s.thread_id where s.id = p_session_id), false)
$$;
