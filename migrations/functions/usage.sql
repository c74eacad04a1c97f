-- Usage: tokens by day and model.

-- Returns a space's usage by day, kind of work and model. times: how many had a result. Day n begins at the nth of
-- p_starts (ISO 8601, ascending). p_all: all spaces together, by model only (day 0).
create or replace function public.relay_usage(p_space jsonb, p_starts jsonb, p_all boolean) returns jsonb
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    starts timestamptz[] := array(select value::timestamptz from jsonb_array_elements_text(p_starts) order by 1);
    used jsonb;
begin
    -- Two plans: all spaces are read in order of time, one space by its own index.
    if p_all then
        select jsonb_agg(to_jsonb(s) order by s.what, s.model) into used from (
            select 0 as day, what, model, count(*) filter (where done) as times, sum(input) as input,
                sum(cached) as cached, sum(written) as written, sum(output) as output, sum(searches) as searches
            from spend where at >= starts[1] group by what, model) s;
    else
        select jsonb_agg(to_jsonb(s) order by s.day, s.what, s.model) into used from (
            select width_bucket(at, starts) as day, what, model, count(*) filter (where done) as times,
                sum(input) as input, sum(cached) as cached, sum(written) as written, sum(output) as output,
                sum(searches) as searches
            from spend where space_id = relay.find_space(p_space) and at >= starts[1] group by 1, 2, 3) s;
    end if;
    return coalesce(used, '[]');
end $$;

-- Use of models as their servers counted it, and what is left of a day's budget.

-- Records the use of a piece of work once: {id, done, model, usage}. Ignores null.
create or replace function relay.keep_spend(p_spend jsonb, p_what text, p_space_id bigint, p_user_id bigint) returns void
language sql set search_path = relay, extensions, pg_temp as $$
    insert into spend (id, what, done, user_id, space_id, model, input, cached, written, output, searches)
    select (p_spend ->> 'id')::uuid, p_what, (p_spend ->> 'done')::boolean, p_user_id, p_space_id, p_spend ->> 'model',
        coalesce((u ->> 'input_tokens')::bigint, 0), coalesce((u ->> 'cache_read_input_tokens')::bigint, 0),
        coalesce((u ->> 'cache_creation_input_tokens')::bigint, 0), coalesce((u ->> 'output_tokens')::bigint, 0),
        coalesce((u ->> 'web_search_requests')::bigint, 0)
    from (select p_spend -> 'usage' as u) as told where p_spend ->> 'id' is not null
    on conflict do nothing
$$;

-- Returns the account that a charge names: {what, user_id, space, space_id, turn_id, thread_id, session_id}, where all
-- but the first may be null. The person pays, else the owner of the private space.
create or replace function relay.account(p_charge jsonb) returns table (space_id bigint, user_id bigint)
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
begin
    select t.space_id, t.user_id into space_id, user_id from turn t where t.id = (p_charge ->> 'turn_id')::bigint;
    space_id := coalesce(space_id, (p_charge ->> 'space_id')::bigint,
        (select h.space_id from thread h where h.id = (p_charge ->> 'thread_id')::bigint),
        (select n.space_id from session n where n.id = (p_charge ->> 'session_id')::bigint));
    if space_id is null and p_charge -> 'space' <> 'null' then
        space_id := relay.find_space(p_charge -> 'space');
    end if;
    user_id := coalesce((p_charge ->> 'user_id')::bigint, user_id,
        (select s.owner_id from space s where s.id = account.space_id));
    return next;
end $$;

-- Records the use of a piece of work on an account.
create or replace function public.relay_spend(p_charge jsonb, p_spend jsonb) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    select relay.keep_spend(p_spend, p_charge ->> 'what', a.space_id, a.user_id) from relay.account(p_charge) a;
    select 'true'::jsonb
$$;

-- Returns who pays for an account and the use since a moment: {user_id, spent}, see relay_spent.
create or replace function public.relay_charged(p_charge jsonb, p_since timestamptz) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('user_id', a.user_id, 'spent', public.relay_spent(p_since, a.user_id))
    from relay.account(p_charge) a
$$;

-- Returns use since a moment by model, and whether p_user_id pays for it (`own`).
create or replace function public.relay_spent(p_since timestamptz, p_user_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    with used as (
        select model, coalesce(user_id = p_user_id, false) as own, sum(input) as input, sum(cached) as cached,
            sum(written) as written, sum(output) as output, sum(searches) as searches
        from spend where at >= p_since group by 1, 2)
    select coalesce(jsonb_agg(to_jsonb(u)), '[]') from used u
$$;

-- Tests whether to warn a person now that their budget is nearly used up, and records that they were; false if they
-- were warned since p_since.
create or replace function relay.first_warning(p_user_id bigint, p_since timestamptz) returns boolean
language sql set search_path = relay, extensions, pg_temp as $$
    with told as (
        insert into budget_warning as w (user_id, told_at) values (p_user_id, now())
        on conflict (user_id) do update set told_at = now() where w.told_at < p_since
        returning 1)
    select exists (select from told)
$$;

-- Why an answer came out as it did: the contents of its prompt, for people who may see them.

-- Returns the turn of an answer (or its question) in the chat. p_telegram_message_id 0: the last answer of that chat
-- and topic in this space; in chat 0, the terminal, the last of the whole space. Null if there is none.
create or replace function public.relay_answered_turn(
    p_bot_id bigint, p_chat_id bigint, p_topic_id bigint, p_telegram_message_id bigint, p_space jsonb)
returns jsonb language sql stable set search_path = relay, extensions, pg_temp as $$
    select to_jsonb(case
        when p_telegram_message_id <> 0 then coalesce(
            (select t.id from posted p join turn t on t.id = p.turn_id
                where p.bot_id = p_bot_id and p.chat_id = p_chat_id and p.telegram_message_id = p_telegram_message_id
                    and t.assistant_message_id is not null),
            -- It has just arrived in the chat, but its id isn't stored yet.
            (select t.id from turn t join outbox d on d.turn_id = t.id
                where t.status = 'answered' and t.assistant_message_id is not null and t.bot_id = p_bot_id
                    and d.chat_id = p_chat_id and d.telegram_message_id is null and d.status = 'sending'
                    and d.floor_message_id < p_telegram_message_id and not exists (
                        select from posted p where p.bot_id = p_bot_id and p.chat_id = p_chat_id
                            and p.telegram_message_id = p_telegram_message_id)
                order by d.id desc limit 1))
        when p_chat_id = 0 then (
            select id from turn
            where space_id = relay.find_space(p_space) and assistant_message_id is not null
            order by created_at desc limit 1)
        else (
            select id from turn
            where thread_id = (select h.id from thread h where h.chat_id = p_chat_id and h.topic_id = p_topic_id
                    and h.space_id = relay.find_space(p_space))
                and assistant_message_id is not null
            order by id desc limit 1) end)
$$;

-- Returns what a turn answered, and its space. Null if it has no answer.
create or replace function public.relay_answer_said(p_turn_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('text', m.text,
        'space', jsonb_build_object('kind', s.kind, 'owner_id', s.owner_id, 'chat_id', s.chat_id))
    from turn t join message m on m.id = t.assistant_message_id join space s on s.id = t.space_id
    where t.id = p_turn_id
$$;

-- Returns the tools that an answer called, in order, with input and result.
create or replace function relay.tool_calls(p_message_id bigint)
returns table (nr bigint, name text, input jsonb, result jsonb, failed boolean)
language sql stable set search_path = relay, extensions, pg_temp as $$
    with blocks as (
        select c.block, row_number() over (order by s.nr, c.nr) as nr
        from message m
        cross join jsonb_array_elements(m.blocks) with ordinality as s (step, nr)
        cross join jsonb_array_elements(s.step -> 'content') with ordinality as c (block, nr)
        where m.id = p_message_id and m.role = 'assistant')
    select row_number() over (order by c.nr), c.block ->> 'name', c.block -> 'input', r.block -> 'content',
        coalesce((r.block ->> 'is_error')::boolean, false)
    from blocks c left join blocks r on r.block ->> 'tool_use_id' = c.block ->> 'id'
    where c.block ->> 'type' in ('tool_use', 'server_tool_use')
$$;

-- Returns one tool call of a turn's answer, the nearest to p_nr. Input and result are cut; of web results only titles and
-- addresses are returned. Null if no tool was called.
create or replace function public.relay_tool_call(p_turn_id bigint, p_nr bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    with calls as materialized (
        select c.*, t.id as turn_id, s.kind, s.owner_id, s.chat_id, count(*) over () as total
        from turn t
        join space s on s.id = t.space_id
        cross join relay.tool_calls(t.assistant_message_id) c
        where t.id = p_turn_id),
    told as (
        select *, case jsonb_typeof(result)
            when 'string' then result #>> '{}'
            when 'array' then (
                select string_agg(coalesce(e ->> 'text', concat_ws(' ', e ->> 'title', e ->> 'url')), E'\n')
                from jsonb_array_elements(result) as e)
            else concat_ws(' ', result ->> 'title', result ->> 'url', result ->> 'error_code') end as text
        from calls order by abs(nr - p_nr) limit 1)
    select jsonb_build_object('turn_id', turn_id,
        'space', jsonb_build_object('kind', kind, 'owner_id', owner_id, 'chat_id', chat_id),
        'nr', nr, 'total', total, 'name', name, 'input', left(input::text, 600), 'result', left(text, 2000),
        'length', coalesce(length(text), 0), 'failed', failed)
    from told
$$;

-- Returns what went into a turn's answer. Only the lender sees more of memories lent to a group than the number
-- (`hidden`). Null if the turn has no answer.
create or replace function public.relay_why(p_turn_id bigint, p_user_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    with own as (
        select t.*, s.kind as space_kind, s.owner_id, s.chat_id from turn t join space s on s.id = t.space_id
        where t.id = p_turn_id and t.assistant_message_id is not null),
    known as (
        select m.id, m.number, m.kind, m.subject, m.content, m.status, m.space_id <> own.space_id as lent, said.nr,
            m.space_id = own.space_id or s.owner_id is not distinct from p_user_id as visible
        from own cross join jsonb_array_elements_text(own.prompt -> 'memories') with ordinality as said (id, nr)
        join memory m on m.id = said.id::bigint
        join space s on s.id = m.space_id)
    select jsonb_build_object(
        'turn_id', own.id,
        'space', jsonb_build_object('kind', own.space_kind, 'owner_id', own.owner_id, 'chat_id', own.chat_id),
        'at', own.answered_at, 'model', own.model, 'usage', coalesce(own.usage, '{}'), 'tainted', own.tainted,
        'prompt', coalesce(own.prompt - 'reply_to', '{}'), 'resting', coalesce((own.told -> 'resting')::boolean, false),
        'persona', (select left(text, 300) from persona where id = (own.prompt ->> 'persona')::bigint),
        'memories', coalesce((
            select jsonb_agg(jsonb_build_object('id', k.id, 'number', k.number, 'kind', k.kind, 'subject', k.subject,
                'content', left(k.content, 300), 'status', k.status, 'lent', k.lent) order by k.nr)
            from known k where k.visible), '[]'),
        'hidden', (select count(*) from known k where not k.visible), 'signs', coalesce(own.told -> 'signs', '[]')
            || case when relay.wordings(own.user_message_id) > coalesce((own.prompt ->> 'wording')::bigint, 0)
                then '["reworded"]'::jsonb else '[]' end,
        'summary', (select jsonb_build_object('text', left(text, 300), 'at', created_at)
            from summary where id = (own.prompt ->> 'summary')::bigint),
        'composed', (select name from composition
            where id = (own.prompt #>> '{composed,id}')::bigint and space_id = own.space_id),
        'recalled', coalesce((
            select jsonb_agg(jsonb_build_object('role', m.role, 'name', m.name, 'text', left(relay.plain_text(m), 300),
                'at', m.created_at) order by said.nr)
            from jsonb_array_elements_text(own.prompt -> 'recalled') with ordinality as said (id, nr)
            join message m on m.id = said.id::bigint and m.space_id = own.space_id), '[]'),
        'recalled_memories', coalesce((
            select jsonb_agg(jsonb_build_object('number', m.number, 'content', left(m.content, 300)) order by said.nr)
            from jsonb_array_elements_text(own.prompt -> 'recalled_memories') with ordinality as said (id, nr)
            join memory m on m.id = said.id::bigint
            join space s on s.id = m.space_id
            where m.space_id = own.space_id or s.owner_id is not distinct from p_user_id), '[]'),
        'recalled_summaries', coalesce((
            select jsonb_agg(jsonb_build_object('text', left(u.text, 300), 'at', u.created_at) order by said.nr)
            from jsonb_array_elements_text(own.prompt -> 'recalled_summaries') with ordinality as said (id, nr)
            join summary u on u.id = said.id::bigint
            join thread h on h.id = u.thread_id and h.space_id = own.space_id), '[]'),
        'preferences', coalesce((
            select jsonb_agg(relay.preference_json(p) order by said.nr)
            from jsonb_array_elements_text(own.prompt -> 'preferences') with ordinality as said (id, nr)
            join preference p on p.id = said.id::bigint and p.space_id = own.space_id and p.user_id = p_user_id), '[]'),
        'recalled_artefacts', coalesce((
            select jsonb_agg(jsonb_build_object('kind', split_part(said.name, ':', 1), 'id', a.id,
                'text', left(a.body, 300), 'at', a.at) order by said.nr)
            from jsonb_array_elements_text(own.prompt -> 'recalled_artefacts') with ordinality as said (name, nr)
            cross join relay.artefact(split_part(said.name, ':', 1), split_part(said.name, ':', 2)::bigint) a
            where a.space_id = own.space_id), '[]'),
        'tool_calls', (select count(*) from relay.tool_calls(own.assistant_message_id)),
        'recent_from', (select created_at from message where id = (own.prompt #>> '{recent,0}')::bigint))
    from own
$$;
