-- Selection: which version of a session to use within a number of tokens, and how a budget is shared.

-- Scores a version. p_criteria: {maxTokens, preferredRatio, preserveKeepits}, each null or missing where it doesn't count.
-- A session without markers loses nothing by them.
create or replace function relay.version_score(p_version relay.compression, p_criteria jsonb) returns numeric
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select case when most is null then 1 when p_version.output_tokens > most then 0.1
            else 0.5 + 0.5 * p_version.output_tokens / greatest(most, 1) end
        * case when preferred is null then 1 else greatest(0.5, 1 - abs(p_version.ratio - preferred) / 50) end
        * case when keeps and marked > 0 then 0.5 + 0.5 * kept / marked else 1 end
    from (select (p_criteria ->> 'maxTokens')::numeric as most, (p_criteria ->> 'preferredRatio')::numeric as preferred,
        coalesce((p_criteria ->> 'preserveKeepits')::boolean, false) as keeps,
        coalesce((p_version.keepit ->> 'preserved')::numeric, 0) as kept,
        coalesce((p_version.keepit ->> 'preserved')::numeric, 0)
            + coalesce((p_version.keepit ->> 'summarized')::numeric, 0) as marked) criteria
$$;

-- Chooses a version of a session of so many tokens: {choice: 'original', 'version' or 'need-new-compression', id, name,
-- tokens, score}. A session that fits in full needs no version. A version's score shrinks by the share of the session
-- that was said since, and markers set since count as summarised; one that lacks a change or a pinned marker is not
-- chosen.
create or replace function relay.select_version(p_session_id bigint, p_tokens bigint, p_criteria jsonb) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select case
        when coalesce(p_tokens <= (p_criteria ->> 'maxTokens')::numeric, true)
            then jsonb_build_object('choice', 'original', 'tokens', p_tokens)
        when best.score >= 0.5 then jsonb_build_object('choice', 'version', 'id', best.id, 'name', best.name,
            'tokens', best.output_tokens, 'score', best.score)
        else jsonb_build_object('choice', 'need-new-compression', 'score', best.score) end
    from (select 1) one left join (
        select c.id, c.name, c.output_tokens, relay.version_score(jsonb_populate_record(c, jsonb_build_object('keepit',
                c.keepit || jsonb_build_object('summarized', coalesce((c.keepit ->> 'summarized')::bigint, 0)
                    + (since ->> 'markers')::bigint))), p_criteria)
            * greatest(0, 1 - (since ->> 'tokens')::numeric / greatest(p_tokens, 1)) as score
        from compression c cross join lateral relay.version_since(c) since
        where c.session_id = p_session_id and c.status = 'ready' and since @> '{"changes": 0, "pins": 0}'
        order by score desc, c.output_tokens desc, c.id desc limit 1) best on true
$$;

-- The same with the size that the session has. minFreshness, which the criteria may hold, is ignored.
create or replace function public.relay_select_version(p_session_id bigint, p_criteria jsonb) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select relay.select_version(p_session_id, (relay.session_size(p_session_id) ->> 'tokens')::bigint, p_criteria)
$$;

-- Returns the ready or due version of a session with this name: in full (v002_uniform-aggressive_3k) or by its number
-- (v002, 2).
create or replace function relay.find_version(p_session_id bigint, p_name text) returns relay.compression
language sql stable set search_path = relay, extensions, pg_temp as $$
    select * from compression
    where session_id = p_session_id and status in ('ready', 'due')
        and (name = p_name or number::text = ltrim(substring(p_name from '^[vV]?([0-9]{1,9})$'), '0'))
$$;

-- Shares a budget among texts of these sizes, oldest first, by weight: equal (1 each), recency (1 … n) or proportional (by
-- size). A text smaller than its share takes what it needs, and the others share what is left.
create or replace function relay.share_budget(p_budget numeric, p_strategy text, p_sizes bigint[]) returns bigint[]
language plpgsql immutable set search_path = relay, extensions, pg_temp as $$
declare
    shares bigint[] := array_fill(null::bigint, array[cardinality(p_sizes)]);
    left_over numeric := greatest(p_budget, 0);
    whole numeric;
    small integer[];
begin
    loop
        select sum(relay.share_weight(p_strategy, n, p_sizes[n])) into whole
        from generate_subscripts(p_sizes, 1) n where shares[n] is null;
        exit when whole is null;
        small := array(select n from generate_subscripts(p_sizes, 1) n
            where shares[n] is null
                and p_sizes[n] <= floor(left_over * relay.share_weight(p_strategy, n, p_sizes[n]) / whole));
        if small = '{}' then
            return array(select coalesce(shares[n],
                    floor(left_over * relay.share_weight(p_strategy, n, p_sizes[n]) / whole)::bigint)
                from generate_subscripts(p_sizes, 1) n order by n);
        end if;
        for n in 1 .. cardinality(small) loop
            shares[small[n]] := p_sizes[small[n]];
            left_over := left_over - p_sizes[small[n]];
        end loop;
    end loop;
    return shares;
end $$;

-- Returns the weight of the nth text, from the oldest, in a strategy.
create or replace function relay.share_weight(p_strategy text, p_nth integer, p_size bigint) returns numeric
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select case p_strategy when 'recency' then p_nth when 'proportional' then greatest(p_size, 1) else 1 end
$$;

-- Plans a composition of a space. p_request: {budget, strategy, order: 'time' or 'given', parts: [{session_id, version:
-- null, 'original', 'new' or a name, allocation, recompress: settings}]}. Returns {budget, strategy, total: estimated
-- tokens, new: versions to make, parts: [{place, session_id, title, words, first, tokens, messages, asked, allocation,
-- version, version_id, since, settings, estimate, reason, versions: [{id, name, tokens, ratio}]}]}, or {refused, what}:
-- no_session, empty, twice, no_version, nothing_left.
create or replace function relay.composition_plan(p_space_id bigint, p_request jsonb) returns jsonb
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    budget constant bigint := (p_request ->> 'budget')::bigint;
    strategy constant text := coalesce(p_request ->> 'strategy', 'equal');
    parts jsonb := '[]';
    one record;
    part jsonb;
    shared bigint[];
    shares bigint[];
begin
    for one in select value as asked, ordinality as place from jsonb_array_elements(p_request -> 'parts') with ordinality loop
        part := relay.planned_part(p_space_id, one.asked) || jsonb_build_object('place', one.place);
        if part ? 'refused' then
            return part;
        elsif parts @> jsonb_build_array(jsonb_build_object('session_id', part -> 'session_id')) then
            return jsonb_build_object('refused', 'twice', 'what', coalesce(part ->> 'title', part ->> 'words'));
        end if;
        parts := parts || part;
    end loop;
    select jsonb_agg(p order by (p ->> 'first')::timestamptz, (p ->> 'session_id')::bigint) into parts
    from jsonb_array_elements(parts) p;
    shared := array(select (p ->> 'tokens')::bigint from jsonb_array_elements(parts) with ordinality as e (p, n)
        where p ->> 'allocation' is null order by n);
    shares := relay.share_budget(budget - (
        select coalesce(sum((p ->> 'allocation')::bigint), 0) from jsonb_array_elements(parts) p), strategy, shared);
    -- So little is left that it is not enough for a session.
    if exists (select from unnest(shares, shared) as s (share, size) where share < least(size, 40)) then
        return jsonb_build_object('refused', 'nothing_left');
    end if;
    parts := (
        select jsonb_agg(relay.with_since(relay.chosen_part(p_space_id, p || jsonb_build_object('allocation',
                coalesce((p ->> 'allocation')::bigint, shares[unshared])))) order by
            case when p_request ->> 'order' = 'given' then (p ->> 'place')::integer else n end)
        from (select p, n, count(*) filter (where p ->> 'allocation' is null) over (order by n) as unshared
            from jsonb_array_elements(parts) with ordinality as e (p, n)) listed);
    return jsonb_build_object('budget', budget, 'strategy', strategy, 'parts', parts,
        'total', (select sum((p ->> 'estimate')::bigint) from jsonb_array_elements(parts) p),
        'new', (select count(*) from jsonb_array_elements(parts) p where p ->> 'version' = 'new'));
end $$;

-- Adds to a part of a composition what its version lacks (`since`).
create or replace function relay.with_since(p_part jsonb) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select p_part || coalesce((
        select jsonb_build_object('since', relay.version_since(c)) from compression c
        where c.id = (p_part ->> 'version_id')::bigint and c.status = 'ready'), '{}')
$$;

-- Reads the request for one session. allocation is null if the strategy decides: a version with a known size gets that.
create or replace function relay.planned_part(p_space_id bigint, p_asked jsonb) returns jsonb
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    own session;
    named compression;
    size jsonb;
    wanted constant text := case when coalesce(p_asked -> 'recompress', 'null') = 'null' then p_asked ->> 'version' end;
begin
    select * into own from session
    where id = (p_asked ->> 'session_id')::bigint and space_id = p_space_id and not private;
    if own.id is null then
        return jsonb_build_object('refused', 'no_session', 'what', p_asked ->> 'session_id');
    end if;
    -- The same tokens as lists of sessions count: of the messages as they were written.
    select jsonb_build_object('tokens', sum((octet_length((m).text) + 3) / 4), 'messages', count(*),
        'first', min((m).created_at), 'words', left(min(relay.plain_text(m)) filter (where nr = 1), 80))
    into size from (
        select m, row_number() over (order by m.id) as nr from relay.version_messages(own.id) m) said;
    if (size ->> 'messages')::integer = 0 then
        return jsonb_build_object('refused', 'empty', 'what', coalesce(own.title, own.id::text));
    end if;
    if wanted not in ('original', 'new') then
        named := relay.find_version(own.id, wanted);
        if named.id is null then
            return jsonb_build_object('refused', 'no_version', 'what', wanted,
                'session', coalesce(own.title, size ->> 'words'));
        end if;
    end if;
    return size || jsonb_build_object('session_id', own.id, 'title', own.title, 'asked', p_asked - 'session_id',
        'allocation', coalesce((p_asked ->> 'allocation')::bigint,
            case when wanted = 'original' then (size ->> 'tokens')::bigint else named.output_tokens end),
        'version', case when wanted in ('original', 'new') then wanted else named.name end, 'version_id', named.id,
        'estimate', named.output_tokens,
        'versions', coalesce((
            select jsonb_agg(jsonb_build_object('id', v.id, 'name', v.name, 'tokens', v.output_tokens, 'ratio', v.ratio)
                order by v.number)
            from (select * from compression c where c.session_id = own.id and c.status = 'ready'
                order by c.number desc limit 12) v), '[]'));
end $$;

-- Chooses the version of a session within its allocation.
create or replace function relay.chosen_part(p_space_id bigint, p_part jsonb) returns jsonb
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    session_id constant bigint := (p_part ->> 'session_id')::bigint;
    tokens constant bigint := (p_part ->> 'tokens')::bigint;
    allocation constant bigint := (p_part ->> 'allocation')::bigint;
    recompress constant jsonb := nullif(p_part #> '{asked,recompress}', 'null');
    defaults jsonb;
    settings jsonb;
    found jsonb;
begin
    if recompress is null and p_part ->> 'version' = 'original' then
        return p_part || jsonb_build_object('estimate', tokens, 'reason', 'asked');
    elsif recompress is null and p_part ->> 'version' <> 'new' then
        return p_part || jsonb_build_object('estimate', coalesce((p_part ->> 'estimate')::bigint, allocation),
            'reason', 'asked');
    elsif recompress is null and p_part ->> 'version' is null then
        found := relay.select_version(session_id, tokens,
            jsonb_build_object('maxTokens', allocation, 'preserveKeepits', true));
        if found ->> 'choice' = 'original' then
            return p_part || jsonb_build_object('version', 'original', 'estimate', tokens, 'reason', 'fits');
        elsif found ->> 'choice' = 'version' then
            return p_part || jsonb_build_object('version', found -> 'name', 'version_id', found -> 'id',
                'estimate', found -> 'tokens', 'reason', 'best');
        end if;
    end if;
    settings := recompress;
    if settings is null then
        defaults := relay.context_settings(p_space_id) -> 'defaults';
        settings := jsonb_build_object('mode', 'uniform', 'aggressiveness', 'moderate',
            'compactionRatio', least(greatest(ceil(tokens::numeric / greatest(allocation, 1))::integer, 2), 100),
            'maxTokens', greatest(allocation, 1),
            'model', defaults -> 'model', 'method', 'model', 'skipFirstMessages', 0,
            'keepitMode', case when (defaults ->> 'keepitDecayEnabled')::boolean then 'decay' else 'preserve-all' end);
    end if;
    return p_part || jsonb_build_object('version', 'new', 'version_id', null, 'settings', settings,
        'estimate', least(allocation, coalesce(ceil(tokens / (settings ->> 'compactionRatio')::numeric)::bigint, tokens)),
        'reason', case when recompress is not null then 'asked' else 'new' end);
end $$;
