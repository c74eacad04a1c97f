-- Compositions: several sessions' versions together, within a budget of tokens. A composition holds its own text.

-- Composes sessions of a space under a name. p_request: see relay.composition_plan; besides {chat_id, topic_id, name,
-- format, zone, bot_id: who tells when it is ready, replaces: the composition that is made again}. Versions that are
-- missing are made by their job first. Returns the composition, or {refused, what} and does nothing.
create or replace function public.relay_compose(p_space jsonb, p_user_id bigint, p_request jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own thread;
    former composition;
    made bigint;
    plan jsonb;
begin
    if relay.off_record((p_request ->> 'chat_id')::bigint, (p_request ->> 'topic_id')::bigint) is not null then
        return '{"refused": "off_record"}';
    end if;
    -- One at a time in a thread: it is locked.
    own := relay.ensure_thread(relay.ensure_space(p_space), (p_request ->> 'chat_id')::bigint,
        (p_request ->> 'topic_id')::bigint, 1000000);
    if p_request ->> 'replaces' is not null then
        select * into former from composition
        where id = (p_request ->> 'replaces')::bigint and space_id = own.space_id and deleted_at is null for update;
        if former.id is null or former.status = 'making' then
            return jsonb_build_object('refused', case when former.id is null then 'gone' else 'making' end,
                'what', former.name);
        end if;
    elsif exists (select from composition where thread_id = own.id and lower(name) = lower(p_request ->> 'name')
        and deleted_at is null)
    then
        return jsonb_build_object('refused', 'name', 'what', p_request ->> 'name');
    end if;
    plan := relay.composition_plan(own.space_id, p_request);
    if plan ? 'refused' then
        return plan;
    end if;
    if former.id is not null then
        delete from composition_part where composition_id = former.id;
        made := former.id;
    else
        insert into composition (space_id, thread_id, session_id, name, budget, created_by)
        values (own.space_id, own.id, own.session_id, p_request ->> 'name', (plan ->> 'budget')::integer, p_user_id)
        returning id into made;
    end if;
    update composition set budget = (plan ->> 'budget')::integer, strategy = plan ->> 'strategy',
        format = coalesce(p_request ->> 'format', former.format, 'both'), status = 'making', error = null,
        bot_id = nullif((p_request ->> 'bot_id')::bigint, 0), created_at = now(),
        derivation = jsonb_build_object('name', 'compose', 'version', '1', 'zone', coalesce(p_request ->> 'zone', 'UTC'))
    where id = made;
    -- In the order of sessions, because making a version locks its session.
    perform relay.add_part(made, p_user_id, nr::integer, p) from (
        select p, nr from jsonb_array_elements(plan -> 'parts') with ordinality as e (p, nr)
        order by (p ->> 'session_id')::bigint) listed;
    -- A composition that is made again shows its former text until the new one is ready.
    update composition set inputs = relay.composed_of(made) || coalesce(former.inputs, '{}') where id = made;
    perform relay.register_sessions(ids), relay.touch_sessions(ids)
    from (select array_agg(session_id) as ids from composition_part where composition_id = made) sessions;
    perform relay.settle_composition(made, false);
    return relay.composition_since(relay.composition_json(made));
end $$;

-- Names what a composition's parts are made of: all messages of their sessions, so that erasing any part of a session
-- erases its compositions, and the versions.
create or replace function relay.composed_of(p_composition_id bigint) returns text[]
language sql stable set search_path = relay, extensions, pg_temp as $$
    select array(
        select 'message:' || m.id from composition_part p cross join relay.session_messages(p.session_id) m
        where p.composition_id = p_composition_id
        union all
        select 'version:' || compression_id from composition_part
        where composition_id = p_composition_id and compression_id is not null)
$$;

-- Adds a planned part to a composition, and asks for its version if it is to be made.
create or replace function relay.add_part(p_composition_id bigint, p_user_id bigint, p_place integer, p_part jsonb)
returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    used compression;
    session_id constant bigint := (p_part ->> 'session_id')::bigint;
    version_id bigint := (p_part ->> 'version_id')::bigint;
begin
    if p_part ->> 'version' = 'new' then
        version_id := relay.make_version(session_id, p_user_id, p_part -> 'settings' || jsonb_build_object(
            'sessionDistance', coalesce((p_part #>> '{settings,sessionDistance}')::integer,
                relay.session_distance(session_id))));
    end if;
    -- A process that stores the version waits here, or its version is found when the composition is settled.
    select * into used from compression where id = version_id for share;
    insert into composition_part (composition_id, place, session_id, compression_id, version, allocation, tokens, messages,
        asked, reason)
    values (p_composition_id, p_place, session_id, used.id, coalesce(used.name, 'original'), (p_part ->> 'allocation')::integer,
        case when used.id is null then (p_part ->> 'tokens')::integer else used.output_tokens end,
        case when used.id is null then (p_part ->> 'messages')::integer else used.output_messages end,
        p_part -> 'asked', p_part ->> 'reason');
end $$;

-- Puts a composition's text together once all of its versions are there. p_tell: says so in its chat, unless it was
-- dropped.
create or replace function relay.settle_composition(p_composition_id bigint, p_tell boolean) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own composition;
    lost text;
    line jsonb;
    total integer;
begin
    select * into own from composition where id = p_composition_id and status = 'making' for update;
    if own.id is null or exists (
        select from composition_part p join compression c on c.id = p.compression_id
        where p.composition_id = own.id and c.status = 'due')
    then
        return;
    end if;
    select coalesce(c.error, 'A version of it is gone.') into lost
    from composition_part p left join compression c on c.id = p.compression_id
    where p.composition_id = own.id and p.version <> 'original' and c.rows is null limit 1;
    if lost is not null then
        update composition set status = 'failed', error = lost where id = own.id;
    else
        update composition_part p set version = c.name, tokens = c.output_tokens, messages = c.output_messages
        from compression c where p.composition_id = own.id and c.id = p.compression_id;
        -- A running session may have gone on since the plan was made.
        update composition_part p set (tokens, messages) = (
            select coalesce(sum(relay.token_count(m.text)), 0), count(*) from relay.version_messages(p.session_id) m)
        where p.composition_id = own.id and p.compression_id is null;
        select sum(tokens) into total from composition_part where composition_id = own.id;
        select jsonb_agg(r.line order by r.place, r.nr) into line from relay.composed_rows(own) r;
        update composition set rows = line, inputs = relay.composed_of(own.id), total_tokens = total,
            total_messages = (select sum(messages) from composition_part where composition_id = own.id),
            status = case when total > budget then 'over' else 'ready' end,
            tainted = exists (select from composition_part p left join compression c on c.id = p.compression_id
                where p.composition_id = own.id and case when c.id is not null then c.tainted
                    else exists (select from relay.session_messages(p.session_id) m where m.untrusted or m.tainted) end)
        where id = own.id;
    end if;
    if p_tell and own.bot_id is not null and own.deleted_at is null then
        perform public.relay_enqueue(own.bot_id, jsonb_build_array(jsonb_build_object('chat_id', t.chat_id,
            'topic_id', t.topic_id, 'user_id', own.created_by, 'space_id', own.space_id,
            'payload', jsonb_build_object('composition_id', own.id), 'inputs', jsonb_build_array('composition:' || own.id),
            'key', format('composition %s %s', own.id, own.created_at))))
        from thread t where t.id = own.thread_id;
    end if;
end $$;

-- Returns the rows of a composition: those of its parts, each after a heading.
create or replace function relay.composed_rows(p_composition relay.composition)
returns table (place integer, nr bigint, line jsonb)
language sql stable set search_path = relay, extensions, pg_temp as $$
    with part as (
        select p.place, p.session_id, c.rows, c.number, s.title, (
            select min(created_at) from relay.session_messages(p.session_id)) as first
        from composition_part p join session s on s.id = p.session_id left join compression c on c.id = p.compression_id
        where p.composition_id = p_composition.id)
    select place, 0::bigint, jsonb_build_object('role', 'heading', 'at', first, 'text', concat_ws(', ',
        'From ' || to_char(first at time zone (p_composition.derivation ->> 'zone'), 'YYYY-MM-DD'), '‘' || title || '’',
        coalesce(relay.version_number(number), 'original')))
    from part
    union all
    select place, r.nr, r.line from part cross join jsonb_array_elements(part.rows) with ordinality as r (line, nr)
    union all
    select place, m.id, jsonb_build_object(
        'role', m.role, 'text', relay.plain_text(m), 'at', m.created_at, 'from', m.id, 'through', m.id)
    from part cross join relay.version_messages(session_id) m where part.number is null
$$;

-- Continues the compositions that wait for a version, once it is ready or has failed.
create or replace function relay.finish_compositions(p_compression_id bigint) returns void
language sql set search_path = relay, extensions, pg_temp as $$
    select relay.settle_composition(id, true) from (
        select distinct p.composition_id as id from composition_part p join composition c on c.id = p.composition_id
        where p.compression_id = p_compression_id and c.status = 'making' order by 1) waiting
$$;

-- Begins a session of a thread with a composition. Returns how the one before ended, as relay_new_session does, or
-- {refused: gone, making, over or failed, what}.
create or replace function public.relay_use_composition(
    p_space jsonb, p_chat_id bigint, p_topic_id bigint, p_composition_id bigint)
returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    used composition;
    ended jsonb;
begin
    select * into used from composition
    where id = p_composition_id and space_id = relay.find_space(p_space) and deleted_at is null;
    if used.status is distinct from 'ready' then
        return jsonb_build_object('refused', coalesce(used.status, 'gone'), 'what', used.name,
            'over', used.total_tokens - used.budget);
    end if;
    ended := public.relay_new_session(p_space, p_chat_id, p_topic_id, '');
    insert into composition_use (session_id, composition_id) values ((ended ->> 'session_id')::bigint, used.id)
    on conflict (session_id) do update set composition_id = excluded.composition_id, used_at = now();
    perform relay.touch_sessions(array(select session_id from composition_part where composition_id = used.id));
    update compression set last_used_at = now()
    where id in (select compression_id from composition_part where composition_id = used.id);
    return ended;
end $$;

-- Drops a composition. A conversation that began with it keeps it until it ends. Returns {name, active: how many do}.
create or replace function public.relay_drop_composition(p_space jsonb, p_composition_id bigint) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    with dropped as (
        update composition set deleted_at = now()
        where id = p_composition_id and space_id = relay.find_space(p_space) and deleted_at is null returning id, name)
    select jsonb_build_object('name', name, 'active', relay.active_uses(id)) from dropped
$$;

-- Counts the running sessions that began with a composition.
create or replace function relay.active_uses(p_composition_id bigint) returns bigint
language sql stable set search_path = relay, extensions, pg_temp as $$
    select count(*) from composition_use u join thread t on t.session_id = u.session_id
    where u.composition_id = p_composition_id
$$;

-- Names the versions that a composition is made from.
create or replace function relay.versions_of(p_composition_id bigint) returns text[]
language sql stable set search_path = relay, extensions, pg_temp as $$
    select relay.input_names('version', array(
        select distinct compression_id from composition_part
        where composition_id = p_composition_id and compression_id is not null))
$$;

-- Fits an imported composition to its thread: gives it a name that is free there.
create or replace function relay.adopt_composition(p_row jsonb) returns jsonb
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    free text := p_row ->> 'name';
    nr integer := 1;
begin
    while exists (
        select from composition where thread_id = (p_row ->> 'thread_id')::bigint and lower(name) = lower(free)
            and deleted_at is null)
    loop
        nr := nr + 1;
        free := left(p_row ->> 'name', 58) || ' ' || nr;
    end loop;
    return p_row || jsonb_build_object('name', free, 'deleted_at', null, 'bot_id', null);
end $$;
