-- Suggestions: past sessions that fit a new conversation.

-- Returns how well a session fits: by its relevance and shared files (each 0 to 1), and the days since it was last used.
create or replace function relay.suggestion_score(p_relevance numeric, p_files numeric, p_days numeric) returns numeric
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select 0.6 * p_relevance + 0.25 * p_files + 0.15 / (1 + greatest(p_days, 0) / 30)
$$;

-- Returns how relevant sessions are to a question, 1 for the best: by what is found of their messages, summaries and
-- memories.
create or replace function relay.relevant_sessions(p_space_id bigint, p_query jsonb)
returns table (session_id bigint, relevance numeric)
language sql stable rows 20 set search_path = relay, extensions, pg_temp as $$
    select e.session_id, (max(f.score) / nullif(max(max(f.score)) over (), 0))::numeric
    from relay.find_entries(p_space_id, p_query || '{"kinds": ["message", "summary", "memory"]}', 200) f
    join entry e on e.id = f.entry_id
    where f.score > 0 and e.session_id is not null group by e.session_id
$$;

-- Returns the ids of the documents in a session's messages.
create or replace function relay.files_of_session(p_session_id bigint) returns text[]
language sql stable set search_path = relay, extensions, pg_temp as $$
    select array(
        select distinct one #>> '{}' from relay.session_messages(p_session_id) m,
            jsonb_path_query(m.blocks, 'lax $.**.file.unique_id') one
        where m.role = 'user' and exists (
            select from document d where d.space_id = m.space_id and d.unique_id = one #>> '{}'))
$$;

-- Returns up to 5 sessions that fit a question, those of a score of at least 0.25: linked ones first, then those in the
-- library. p_query: as in relay.find_entries; with chat_id and topic_id only sessions of that thread or linked to it, not
-- the running one; files: ids of files, otherwise those of the running session. p_budget: the tokens for all together.
create or replace function public.relay_suggest(p_space jsonb, p_query jsonb, p_budget integer) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own constant bigint := relay.find_space(p_space);
    here constant thread := relay.find_thread(
        p_space, (p_query ->> 'chat_id')::bigint, coalesce((p_query ->> 'topic_id')::bigint, 0));
    files text[] := array(select jsonb_array_elements_text(coalesce(p_query -> 'files', '[]')));
    left_over integer := p_budget;
    found jsonb := '[]';
    one record;
    version jsonb;
    tokens integer;
begin
    perform relay.enter_due(50);
    if cardinality(files) = 0 then
        files := relay.files_of_session(here.session_id);
    end if;
    for one in
        with candidate as (
            select s.*, k.reason as linked, coalesce(r.relevance, 0) as relevance, relay.session_recency(s) as used_at,
                case when cardinality(files) > 0 then relay.files_of_session(s.id) else '{}' end as own_files
            from session s
            left join session_link k on k.source_session_id = s.id and k.target_thread_id = here.id
            left join relay.relevant_sessions(own, p_query) r on r.session_id = s.id
            where s.space_id = own and not s.private and s.id is distinct from here.session_id
                and (p_query ->> 'chat_id' is null or s.thread_id = here.id or k.reason is not null)
                and (r.relevance > 0 or cardinality(files) > 0)),
        measured as (
            select c.*, coalesce((
                select count(*) filter (where mine and theirs)::numeric / nullif(count(*), 0) from (
                    select file = any (files) as mine, file = any (c.own_files) as theirs
                    from (select unnest(files) union select unnest(c.own_files)) each (file)) either), 0) as shared
            from candidate c),
        scored as (
            select m.*, relay.suggestion_score(m.relevance, m.shared,
                (extract(epoch from now() - m.used_at) / 86400)::numeric) as score
            from measured m where m.used_at is not null),
        fitting as (
            select * from scored where score >= 0.25
            order by linked is null, registered_at is null, score desc, id desc limit 5)
        select *, count(*) over (order by linked is null desc, registered_at is null desc, score, id) as to_come
        from fitting order by linked is null, registered_at is null, score desc, id desc
    loop
        version := public.relay_select_version(
            one.id, jsonb_build_object('maxTokens', left_over, 'preserveKeepits', true));
        -- A version to be made takes its share of the rest.
        tokens := coalesce((version ->> 'tokens')::integer, left_over / one.to_come);
        left_over := left_over - tokens;
        found := found || jsonb_build_array(jsonb_build_object('session_id', one.id, 'version_id', version -> 'id', 'version', version -> 'name',
            'tokens', tokens, 'make', version ->> 'choice' = 'need-new-compression', 'title', one.title,
            'score', round(one.score, 3), 'relevance', round(one.relevance, 3), 'used_at', one.used_at,
            'linked', one.linked, 'registered', one.registered_at,
            'topics', array(
                select topic from unnest(one.topics) topic
                where lower(p_query ->> 'text') like '%' || lower(topic) || '%'),
            'files', array(
                select d.name from document d where d.space_id = own and d.unique_id = any (files)
                    and d.unique_id = any (one.own_files)),
            'first', (select left(relay.plain_text(m), 200) from relay.session_messages(one.id) m order by m.id limit 1)));
    end loop;
    return found;
end $$;
