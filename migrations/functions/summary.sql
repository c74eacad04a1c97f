-- Summaries of threads: every fifth exchange owes one, and a job writes it as a new version with its lineage.

-- Returns the version that a summary builds on: the latest of its conversation that covers less.
create or replace function relay.summary_before(p_thread_id bigint, p_from bigint, p_through bigint) returns relay.summary
language sql stable set search_path = relay, extensions, pg_temp as $$
    select * from summary
    where thread_id = p_thread_id and through_message_id >= p_from and through_message_id < p_through
    order by through_message_id desc, id desc limit 1
$$;

-- Owes a summary of a conversation, which began with message p_from, through message p_through. That range is its key.
create or replace function relay.owe_summary(p_session_id bigint, p_from bigint, p_through bigint) returns void
language sql set search_path = relay, extensions, pg_temp as $$
    select relay.owe_job('summary', p_through::text,
        jsonb_build_object('session_id', p_session_id, 'context_from', p_from))
    where not exists (
        select from summary s join session own on own.id = p_session_id and own.thread_id = s.thread_id
        where s.through_message_id = p_through and s.author_id is null)
$$;

-- Returns a held summary's inputs: {thread_id, space_id, user_id: whose budget pays, previous: the version before,
-- messages: those since}. Null if the process lost it.
create or replace function public.relay_summary_work(p_job_id bigint, p_fence bigint) returns jsonb
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    own job;
    place thread;
    since bigint;
    previous summary;
begin
    select * into own from job where id = p_job_id and fence = p_fence;
    select t.* into place from session s join thread t on t.id = s.thread_id
    where s.id = (own.payload ->> 'session_id')::bigint;
    if place.id is null then
        return null;
    end if;
    since := (own.payload ->> 'context_from')::bigint;
    previous := relay.summary_before(place.id, since, own.key::bigint);
    since := greatest(since, coalesce(previous.through_message_id, 0) + 1);
    return jsonb_build_object('thread_id', place.id, 'space_id', place.space_id, 'user_id', own.payload -> 'user_id',
        'previous', case when previous.id is not null then jsonb_build_object('id', previous.id,
            'text', previous.text, 'tainted', previous.tainted) end,
        'markers', relay.summary_markers(place.id, (own.payload ->> 'context_from')::bigint, own.key::bigint,
            relay.summary_tokens(place.id, since, own.key::bigint)),
        'messages', relay.summary_messages(place.id, since, own.key::bigint));
end $$;

-- Returns the messages that a summary of a thread is made from, the first 500. zone: their author's setting; mark: what
-- tells them apart from namesakes.
create or replace function relay.summary_messages(p_thread_id bigint, p_from bigint, p_through bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_agg(to_jsonb(m) order by m.id), '[]') from (
        select m.id, role, m.user_id, coalesce(p.name, m.name) as name, p.mark, left(text, 8000) as text, untrusted,
            tainted, created_at as at, coalesce(c.choices ->> 'zone', '') as zone
        from message m left join choice c on c.user_id = m.user_id
        left join relay.people_in((select space_id from thread where id = p_thread_id)) p on p.user_id = m.user_id
        where thread_id = p_thread_id and status <> 'replaced' and m.id between p_from and p_through
        order by m.id limit 500) m
$$;

-- Returns how many tokens a summary's messages have, of those that are read of each.
create or replace function relay.summary_tokens(p_thread_id bigint, p_from bigint, p_through bigint) returns bigint
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(sum(relay.token_count(m ->> 'text')), 0)
    from jsonb_array_elements(relay.summary_messages(p_thread_id, p_from, p_through)) m
$$;

-- Returns the version that a prompt shows: the first that covers all that left the window, and none before something
-- has. So the prompt stays cached while newer versions cover only what the window still shows. A person's correction,
-- or a version based on it, shows at once.
create or replace function relay.summary_shown(p_thread relay.thread) returns bigint
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    left_through bigint;
    corrected bigint;
begin
    if p_thread.summary_id is null then
        return null;
    end if;
    select id into left_through from message
    where thread_id = p_thread.id and status <> 'replaced' and id >= p_thread.context_from
        and id < p_thread.window_from
    order by id desc limit 1;
    select max(id) into corrected from summary
    where thread_id = p_thread.id and through_message_id >= p_thread.context_from and author_id is not null;
    if left_through is null and corrected is null then
        return null;
    end if;
    return coalesce((
        select id from summary
        where thread_id = p_thread.id and through_message_id >= greatest(p_thread.context_from, left_through)
            and id >= coalesce(corrected, 0)
        order by through_message_id, id limit 1), p_thread.summary_id);
end $$;

-- Returns where a prompt's window begins once a summary covers everything through p_through: at the last five
-- exchanges, as soon as it holds fifteen or 100,000 characters (about 25,000 tokens); otherwise unchanged.
create or replace function relay.window_after(p_thread relay.thread, p_through bigint) returns bigint
language sql stable set search_path = relay, extensions, pg_temp as $$
    with held as materialized (
        select id, role, length(case role when 'user' then blocks::text else text end) as size from message
        where thread_id = p_thread.id and status <> 'replaced' and id <= p_through
            and id >= greatest(p_thread.context_from, p_thread.window_from)
        order by id desc limit 200),
    large as (
        select count(*) filter (where role = 'user') >= 15 or sum(size) > 100000 as it from held)
    select case when it then (
            select min(id) from (select id from held where role = 'user' order by id desc limit 5) last_five)
        else p_thread.window_from end
    from large
$$;

-- Stores a summary as a new version, moves a large window up, and finishes the job, unless more messages follow: then the
-- next one is owed. Does nothing if the lease is lost, or if a person has corrected the version it builds on: then it is
-- still owed.
create or replace function public.relay_store_summary(p_job_id bigint, p_fence bigint, p_summary jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    held job;
    since bigint;
    through bigint;
    last constant bigint := (p_summary ->> 'through_message_id')::bigint;
    previous summary;
    made bigint;
    own thread;
begin
    -- The thread first, as when an answer is saved. A correction waits here, or is visible below.
    select t.* into own from thread t where t.id = (
        select s.thread_id from job j join session s on s.id = (j.payload ->> 'session_id')::bigint
        where j.id = p_job_id and j.fence = p_fence) for no key update;
    held := relay.hold_job(p_job_id, p_fence);
    if held.id is null then
        return to_jsonb(false);
    end if;
    since := (held.payload ->> 'context_from')::bigint;
    through := held.key::bigint;
    previous := relay.summary_before(own.id, since, through);
    if previous.author_id is not null and previous.id is distinct from (p_summary ->> 'previous_id')::bigint then
        update job set lease_owner = null, lease_until = null where id = held.id;
        return to_jsonb(false);
    elsif exists (
        select from message where thread_id = own.id and status <> 'replaced' and id > last and id <= through)
    then
        through := last;
    end if;
    insert into summary (thread_id, session_id, previous_id, text, from_message_id, through_message_id,
        message_count, model, settings, usage, tainted, derivation)
    values (own.id, (held.payload ->> 'session_id')::bigint, (p_summary ->> 'previous_id')::bigint,
        p_summary ->> 'text', (p_summary ->> 'from_message_id')::bigint, through,
        (p_summary ->> 'message_count')::integer, p_summary ->> 'model', p_summary -> 'settings', p_summary -> 'usage',
        (p_summary ->> 'tainted')::boolean, coalesce(p_summary -> 'derivation', '{}'))
    on conflict (thread_id, through_message_id) where author_id is null do nothing
    returning id into made;
    delete from job where id = held.id and key = through::text;
    update job set lease_owner = null, lease_until = null where id = held.id;
    update thread set summary_id = made, window_from = greatest(window_from, relay.window_after(own, through))
    where id = own.id and made is not null and through >= context_from
        and not exists (select from summary s where s.id = summary_id and s.through_message_id > through);
    return to_jsonb(made is not null);
end $$;

-- Owes a summary through a thread's last answer, now, paid by p_user_id. Returns the job's key; null if fewer than
-- p_least messages are new.
create or replace function public.relay_want_summary(
    p_space jsonb, p_chat_id bigint, p_topic_id bigint, p_least integer, p_user_id bigint)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own thread := relay.find_thread(p_space, p_chat_id, p_topic_id);
    covered bigint := (select through_message_id from summary where id = own.summary_id);
    through bigint;
    fresh integer;
begin
    if exists (select from session where id = own.session_id and private) then
        return null;
    end if;
    select id into through from message
    where thread_id = own.id and role = 'assistant' and status <> 'replaced' and id >= own.context_from
    order by id desc limit 1;
    select count(*) into fresh from (
        select from message
        where thread_id = own.id and status <> 'replaced' and id <= through and id >= own.context_from
            and id > coalesce(covered, 0) limit p_least) new;
    if fresh < p_least then
        return null;
    end if;
    perform relay.owe_job_anew('summary', through::text, jsonb_build_object(
        'session_id', own.session_id, 'context_from', own.context_from, 'user_id', p_user_id));
    return to_jsonb(through::text);
end $$;

-- Returns the summary versions of a thread's current conversation, numbered from the first.
create or replace function relay.summary_versions(p_thread relay.thread)
returns table (number bigint, id bigint, text text, through_message_id bigint, model text, author_id bigint, by text,
    tainted boolean, created_at timestamptz)
language sql stable set search_path = relay, extensions, pg_temp as $$
    select row_number() over (order by s.id), s.id, s.text, s.through_message_id, s.model, s.author_id,
        s.settings ->> 'by', s.tainted, s.created_at
    from summary s where s.thread_id = p_thread.id and s.through_message_id >= p_thread.context_from
$$;

-- Returns a thread's current summary or version p_summary_id, how many messages it covers, and how many came since. Counts
-- to 5,000.
create or replace function public.relay_summary(
    p_space jsonb, p_chat_id bigint, p_topic_id bigint, p_summary_id bigint)
returns jsonb language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    own thread := relay.find_thread(p_space, p_chat_id, p_topic_id);
    shown record;
begin
    select * into shown from relay.summary_versions(own) v where v.id = coalesce(p_summary_id, own.summary_id);
    return jsonb_build_object(
        'summary', case when shown.id is not null then to_jsonb(shown) end,
        'versions', (select count(*) from relay.summary_versions(own)),
        'present', own.summary_id,
        'kept', coalesce((select (settings ->> 'kept')::integer from summary where id = shown.id), 0),
        'left_out', coalesce((select (settings ->> 'left_out')::integer from summary where id = shown.id), 0),
        'messages', (select count(*) from (
            select from message where thread_id = own.id and status <> 'replaced' and id >= own.context_from
                and id <= shown.through_message_id limit 5000) covered),
        'through', (select created_at from message where id = shown.through_message_id),
        'fresh', (select count(*) from (
            select from message where thread_id = own.id and status <> 'replaced' and id >= own.context_from
                and id > coalesce(shown.through_message_id, 0) limit 5000) newer));
end $$;

-- Returns a page of a thread's summary versions, newest first: {total, present, versions}.
create or replace function public.relay_summaries(
    p_space jsonb, p_chat_id bigint, p_topic_id bigint, p_offset integer, p_limit integer)
returns jsonb language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    own thread := relay.find_thread(p_space, p_chat_id, p_topic_id);
begin
    return jsonb_build_object('total', (select count(*) from relay.summary_versions(own)),
        'present', own.summary_id, 'versions', coalesce((
            select jsonb_agg(to_jsonb(page) order by page.id desc) from (
                select * from relay.summary_versions(own) order by id desc offset p_offset limit p_limit) page), '[]'));
end $$;

-- Replaces a thread's current summary p_of with a person's words (or, with p_version, an older version) as a new
-- version of the same range. Returns whether these are current now: not if p_of no longer is. Safe to repeat.
create or replace function public.relay_correct_summary(
    p_space jsonb, p_chat_id bigint, p_topic_id bigint, p_of bigint, p_text text, p_version bigint, p_user_id bigint,
    p_name text)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own thread;
    present summary;
    tainted boolean := p_space ->> 'kind' = 'group';  -- somebody else's words to all others there
begin
    select t.* into own from thread t
    where t.id = (relay.find_thread(p_space, p_chat_id, p_topic_id)).id for no key update;
    select * into present from summary where id = own.summary_id;
    if p_version is not null then
        select v.text, v.tainted into p_text, tainted from relay.summary_versions(own) v where v.id = p_version;
    end if;
    tainted := tainted or (p_version is null and present.tainted);  -- a person's words beside what others wrote
    if present.id is null or p_text is null then
        return to_jsonb(false);
    elsif present.text = p_text then
        return to_jsonb(true);
    elsif present.id <> p_of then
        return to_jsonb(false);
    end if;
    insert into summary (thread_id, session_id, previous_id, text, from_message_id, through_message_id, message_count,
        model, settings, tainted, author_id)
    values (own.id, present.session_id, present.id, p_text, present.from_message_id, present.through_message_id,
        present.message_count, 'person', jsonb_build_object('by', p_name), tainted, p_user_id)
    returning id into present.id;
    update thread set summary_id = present.id where id = own.id;
    return to_jsonb(true);
end $$;

-- The cache of derivations.

-- Returns a derivation's cached result; null if there is none.
create or replace function public.relay_result(p_space_id bigint, p_hash text) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    update result set used_at = clock_timestamp() where space_id = p_space_id and hash = p_hash returning result
$$;

-- Tests whether any input of a derivation (message:1, memory:2, summary:3, version:4) is gone.
create or replace function relay.read_what_is_gone(p_inputs jsonb) returns boolean
language sql stable set search_path = relay, extensions, pg_temp as $$
    select exists (
        select from jsonb_array_elements_text(p_inputs) as one,
            lateral (select split_part(one, ':', 1) as kind, split_part(one, ':', 2)::bigint as id) i
        where not case i.kind when 'message' then exists (select from message m where m.id = i.id)
            when 'memory' then exists (select from memory m where m.id = i.id)
            when 'summary' then exists (select from summary s where s.id = i.id)
            when 'version' then exists (select from compression c where c.id = i.id) else true end)
$$;

-- Caches the result of a derivation {name, version, inputs, hash}, up to p_most per space; the least recently used go.
-- Safe to repeat. Does nothing if an input was erased meanwhile.
create or replace function public.relay_keep_result(
    p_space_id bigint, p_derivation jsonb, p_result jsonb, p_most integer)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    if relay.read_what_is_gone(p_derivation -> 'inputs') then
        return 'false';
    end if;
    insert into result (space_id, hash, name, version, inputs, result)
    values (p_space_id, p_derivation ->> 'hash', p_derivation ->> 'name', p_derivation ->> 'version',
        array(select jsonb_array_elements_text(p_derivation -> 'inputs')), p_result)
    on conflict (space_id, hash) do update set used_at = clock_timestamp();
    delete from result where space_id = p_space_id and hash in (
        select hash from result where space_id = p_space_id order by used_at desc, hash offset p_most);
    return 'true';
end $$;
