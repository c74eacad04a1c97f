-- Versions: shorter forms of a session. A person, a composition or the night asks for one, and a job makes it.

-- Returns the text of a version or composition: its rows, one after the other.
create or replace function relay.rows_text(p_rows jsonb) returns text
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select coalesce(string_agg(line ->> 'text', E'\n' order by place), '')
    from jsonb_array_elements(p_rows) with ordinality as one (line, place)
$$;

-- Returns the messages that a version of a session covers: all of one that is over, else those through its last
-- complete exchange.
create or replace function relay.version_messages(p_session_id bigint) returns setof relay.message
language sql stable set search_path = relay, extensions, pg_temp as $$
    select m.* from relay.session_messages(p_session_id) m
    where not exists (select from session s join thread t on t.id = s.thread_id and t.session_id = s.id
            where s.id = p_session_id)
        or m.id <= (select max(id) from relay.session_messages(p_session_id) where role = 'assistant')
$$;

-- Returns what a version is made of, oldest first: the session's messages, or the rows of another version (those that
-- stand for others' messages count as others' words). keepit: the marker that a row holds word for word.
create or replace function relay.version_units(p_session_id bigint, p_source_id bigint)
returns table (place bigint, from_id bigint, through_id bigint, role text, text text, at timestamptz, name text,
    user_id bigint, untrusted boolean, tainted boolean, keepit bigint)
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
begin
    if p_source_id is null then
        return query
            select row_number() over (order by m.id), m.id, m.id, m.role, m.text, m.created_at, m.name, m.user_id,
                m.untrusted, m.tainted, null::bigint
            from relay.version_messages(p_session_id) m order by m.id;
    else
        return query
            select one.place, (line ->> 'from')::bigint, (line ->> 'through')::bigint, line ->> 'role',
                line ->> 'text', (line ->> 'at')::timestamptz, null::text, null::bigint,
                c.tainted and exists (select from message m
                    where m.session_id = c.session_id and m.untrusted
                        and m.id between (line ->> 'from')::bigint and (line ->> 'through')::bigint),
                c.tainted, (line ->> 'keepit')::bigint
            from compression c, jsonb_array_elements(c.rows) with ordinality as one (line, place)
            where c.id = p_source_id and c.session_id = p_session_id and c.status = 'ready' order by one.place;
    end if;
end $$;

-- Returns for each current marker whether it survives: [{id, message_id, weight, content, role, at, threshold,
-- survived}]. p_spans: [{from, through: message ids, ratio, level}] by tier, with no ratio where messages stay
-- unchanged. p_mode: decay, preserve-all or ignore. p_distance: null is the real one.
create or replace function public.relay_marker_fates(
    p_session_id bigint, p_spans jsonb, p_mode text, p_distance integer)
returns jsonb language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_agg(jsonb_build_object('id', k.id, 'message_id', k.message_id, 'weight', k.weight,
        'content', k.content, 'role', m.role, 'at', m.created_at, 'threshold', judged.threshold,
        'survived', span.ratio is null or case p_mode
            when 'decay' then relay.keepit_survives(k.weight, judged.threshold, decay.rules)
            else p_mode = 'preserve-all' end) order by k.message_id, k.seq), '[]')
    from session s
    cross join lateral (select relay.context_settings(s.space_id) -> 'keepitDecay' as rules) decay
    cross join lateral (select coalesce(p_distance, relay.session_distance(s.id)) as away) far
    join keepit k on k.session_id = s.id and k.removed_at is null
    join message m on m.id = k.message_id and m.status <> 'replaced'
    join lateral jsonb_to_recordset(p_spans) as span ("from" bigint, through bigint, ratio numeric, level text)
        on k.message_id between span."from" and span.through
    cross join lateral (select coalesce(relay.keepit_threshold(span.level, span.ratio, far.away, decay.rules), 0)
        as threshold) judged
    where s.id = p_session_id and not s.private
$$;

-- Asks for a version of a session with complete settings. Returns its id; a job makes it. While a version is being
-- made, the same request returns it. It keeps the session's present distance.
create or replace function relay.make_version(
    p_session_id bigint, p_user_id bigint, p_settings jsonb, p_source_id bigint default null)
returns bigint language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own session;
    wanted constant jsonb := p_settings || jsonb_build_object('sessionDistance',
        coalesce((p_settings ->> 'sessionDistance')::integer, relay.session_distance(p_session_id)));
    made bigint;
    nr integer;
begin
    select * into strict own from session where id = p_session_id and not private for no key update;
    select id into made from compression
    where session_id = own.id and status = 'due' and settings = wanted and source_id is not distinct from p_source_id;
    if made is not null then
        return made;
    end if;
    perform relay.register_sessions(array[own.id]);
    update session set versions = 1 + greatest(versions, (select max(number) from compression where session_id = own.id))
    where id = own.id returning versions into nr;
    insert into compression (space_id, thread_id, session_id, number, name, settings, source_id, created_by)
    values (own.space_id, own.thread_id, own.id, nr, relay.version_number(nr), wanted, p_source_id, p_user_id)
    returning id into made;
    perform relay.owe_job('compression', made::text, jsonb_build_object('thread_id', own.thread_id));
    return made;
end $$;

-- Returns how a version's name begins: v001.
create or replace function relay.version_number(p_number integer) returns text
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select 'v' || lpad(p_number::text, greatest(3, length(p_number::text)), '0')
$$;

-- Asks for a version as a person does, which brings the session to the front. Returns its id; null where the space has
-- no such session with a complete exchange, or no such version of it to start from.
create or replace function public.relay_make_version(
    p_space jsonb, p_session_id bigint, p_user_id bigint, p_settings jsonb, p_source_id bigint)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    made bigint;
begin
    if not exists (select from session where id = p_session_id and not private and space_id = relay.find_space(p_space))
            or not exists (select from relay.version_units(p_session_id, p_source_id)) then
        return null;
    end if;
    made := relay.make_version(p_session_id, p_user_id, p_settings, p_source_id);
    perform relay.touch_sessions(array[p_session_id]);
    return to_jsonb(made);
end $$;

-- Asks to be told in a chat when a version is ready or can't be made. Returns whether it is still being made.
create or replace function public.relay_await_version(
    p_space jsonb, p_id bigint, p_bot_id bigint, p_chat_id bigint, p_topic_id bigint, p_user_id bigint)
returns jsonb language sql set search_path = relay, extensions, pg_temp as $$
    update job set payload = payload || jsonb_build_object('tells', jsonb_build_object(
        'bot_id', p_bot_id, 'chat_id', p_chat_id, 'topic_id', p_topic_id, 'user_id', p_user_id))
    where kind = 'compression' and key = (
        select id::text from compression where id = p_id and space_id = relay.find_space(p_space) and status = 'due')
    returning to_jsonb(true)
$$;

-- Tells in the chat that waits for a version what became of it.
create or replace function relay.tell_version(p_job relay.job, p_space_id bigint) returns void
language sql set search_path = relay, extensions, pg_temp as $$
    select public.relay_enqueue((asked ->> 'bot_id')::bigint, jsonb_build_array(asked - 'bot_id' || jsonb_build_object(
        'space_id', p_space_id, 'payload', jsonb_build_object('version_id', p_job.key::bigint),
        'inputs', jsonb_build_array('version:' || p_job.key), 'key', 'version ' || p_job.key)))
    from (select p_job.payload -> 'tells' as asked) one where asked is not null
$$;

-- Forgets the cached chunks of a session, or of one of its versions, so that a model is asked for them again.
create or replace function public.relay_forget_chunks(p_space jsonb, p_session_id bigint, p_source_id bigint) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    with gone as (
        delete from result where space_id = relay.find_space(p_space) and name = 'compress' and inputs && case
            when p_source_id is null then relay.input_names('message', array(
                select id from relay.version_messages(p_session_id)))
            else relay.input_names('version', array[p_source_id]) end
        returning 1)
    select to_jsonb(count(*)) from gone
$$;

-- Returns the input of a held job that makes a version. Null if the process lost the job, or the version is no longer
-- wanted.
create or replace function public.relay_compression_work(p_job_id bigint, p_fence bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('id', c.id, 'session_id', c.session_id, 'thread_id', c.thread_id, 'space_id', c.space_id,
        'user_id', nullif(c.created_by, 0), 'settings', c.settings, 'source_id', c.source_id,
        'through', (select through_message_id from compression where id = c.source_id),
        'read_at', coalesce((
            select coalesce((derivation ->> 'read_at')::timestamptz, created_at) from compression
            where id = c.source_id), now()),
        'units', (
            select coalesce(jsonb_agg(to_jsonb(u)
                || jsonb_build_object('name', coalesce(p.name, u.name), 'mark', p.mark) order by u.place), '[]')
            from relay.version_units(c.session_id, c.source_id) u
            left join relay.people_in(c.space_id) p on p.user_id = u.user_id))
    from job j join compression c on c.id = j.key::bigint and c.status = 'due'
    where j.id = p_job_id and j.fence = p_fence
$$;

-- Notes how many of its pieces a version has.
create or replace function public.relay_note_progress(p_job_id bigint, p_fence bigint, p_done integer, p_total integer)
returns jsonb language sql set search_path = relay, extensions, pg_temp as $$
    update compression c set usage = jsonb_build_object('done', p_done, 'total', p_total)
    from relay.hold_job(p_job_id, p_fence) j where c.id = j.key::bigint and c.status = 'due' returning to_jsonb(true)
$$;

-- Stores a version {rows, label, inputs, input_tokens, input_messages, fates: [{id, threshold, survived}], model, usage,
-- derivation, tainted}, finishes the job and goes on with what waits for it. Does nothing if the lease is lost, or if
-- something that it was made of was erased meanwhile: then it is still owed.
create or replace function public.relay_store_version(p_job_id bigint, p_fence bigint, p_version jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    held job := relay.hold_job(p_job_id, p_fence);
    made compression;
    tokens integer;
    named text[];
begin
    if held.id is null then
        return to_jsonb(false);
    end if;
    select * into made from compression where id = held.key::bigint and status = 'due' for update;
    if made.id is null then
        delete from job where id = held.id;
        return to_jsonb(false);
    elsif relay.read_what_is_gone(p_version -> 'inputs') then
        update job set lease_owner = null, lease_until = null where id = held.id;
        return to_jsonb(false);
    end if;
    -- A version's own inputs stay known when it is pruned.
    named := array(select jsonb_array_elements_text(p_version -> 'inputs')) || coalesce((
        select inputs from compression where id = made.source_id), '{}');
    select coalesce(sum(relay.token_count(line ->> 'text')), 0) into tokens
    from jsonb_array_elements(p_version -> 'rows') line;
    insert into compression_keepit (compression_id, keepit_id, weight, threshold, survived)
    select made.id, k.id, k.weight, f.threshold, f.survived
    from jsonb_to_recordset(p_version -> 'fates') as f (id bigint, threshold numeric, survived boolean)
    join keepit k on k.id = f.id;
    update compression set status = 'ready', error = null, rows = p_version -> 'rows',
        name = relay.version_number(number) || '_' || (p_version ->> 'label') || '_'
            || greatest(1, round(tokens / 1000.0)) || 'k',
        from_message_id = (select min(m) from unnest(relay.inputs_of('message', named)) m),
        through_message_id = (select max(m) from unnest(relay.inputs_of('message', named)) m), inputs = named,
        input_tokens = (p_version ->> 'input_tokens')::integer,
        input_messages = (p_version ->> 'input_messages')::integer,
        output_tokens = tokens, output_messages = jsonb_array_length(p_version -> 'rows'),
        ratio = round((p_version ->> 'input_tokens')::numeric / greatest(tokens, 1), 1),
        keepit = relay.keepit_counts(made.id), model = p_version ->> 'model', usage = p_version -> 'usage',
        derivation = p_version -> 'derivation', tainted = (p_version ->> 'tainted')::boolean
    where id = made.id;
    delete from job where id = held.id;
    perform relay.finish_compositions(made.id), relay.tell_version(held, made.space_id);
    return to_jsonb(true);
end $$;

-- Counts a version's markers: {preserved, summarized, weights: {"0.80": 2}}, with the weights of all.
create or replace function relay.keepit_counts(p_compression_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('preserved', coalesce(sum(n) filter (where survived), 0),
        'summarized', coalesce(sum(n) filter (where not survived), 0), 'weights', (
            select coalesce(jsonb_object_agg(weight::text, n), '{}') from (
                select weight, count(*) as n from compression_keepit where compression_id = p_compression_id
                group by weight) by_weight))
    from (select survived, count(*) as n from compression_keepit where compression_id = p_compression_id
        group by survived) fates
$$;

-- Ends a version that can't be made, finishes the job and goes on with what waits for it.
create or replace function public.relay_fail_version(p_job_id bigint, p_fence bigint, p_error text) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    held job := relay.hold_job(p_job_id, p_fence);
begin
    if held.id is null then
        return to_jsonb(false);
    end if;
    update compression set status = 'failed', error = p_error, usage = null
    where id = held.key::bigint and status = 'due';
    delete from job where id = held.id;
    perform relay.finish_compositions(held.key::bigint);
    perform relay.tell_version(held, space_id) from compression where id = held.key::bigint and status = 'failed';
    return to_jsonb(true);
end $$;

-- Makes a version that is not ready without a model, now. Returns whether there is one.
create or replace function public.relay_make_without_model(p_space jsonb, p_id bigint) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own compression;
begin
    update compression set settings = settings || '{"method": "extract"}', status = 'due', error = null
    where id = p_id and space_id = relay.find_space(p_space) and status in ('due', 'failed') returning * into own;
    if own.id is not null then
        perform relay.free_jobs('compression', array[own.id::text]);
        perform relay.owe_job_anew('compression', own.id::text, jsonb_build_object('thread_id', own.thread_id));
        update composition set status = 'making', error = null
        where status = 'failed' and id in (select composition_id from composition_part where compression_id = own.id);
    end if;
    return to_jsonb(own.id is not null);
end $$;

-- Fits an imported version to its session: it is ready, and gets a number that is free there.
create or replace function relay.adopt_version(p_row jsonb) returns jsonb
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    own constant bigint := p_row ->> 'session_id';
    nr integer := p_row ->> 'number';
begin
    if jsonb_typeof(p_row -> 'rows') is distinct from 'array' then
        raise exception 'a version without rows';
    end if;
    if exists (select from compression where session_id = own and number = nr) then
        select 1 + max(number) into nr from compression where session_id = own;
    end if;
    return p_row || jsonb_build_object('number', nr, 'status', 'ready', 'dropped_at', null, 'error', null,
        'name', regexp_replace(p_row ->> 'name', '^v\d+', relay.version_number(nr)));
end $$;
