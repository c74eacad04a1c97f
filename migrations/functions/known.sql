-- What a person's search finds besides messages, and in which order all of it comes: as relay.find_entries ranks it.

-- The memories and summaries of a space that have all words (or, p_partly, some of them) and all phrases of a search. A
-- search that says by whom something was said means none: nobody says these. p_kinds: only memories, where messages
-- were found: a summary would repeat them.
create or replace function relay.known_hits(
    p_space_id bigint, p_threads bigint[], p_query jsonb, p_partly boolean, p_kinds jsonb)
returns table (kind text, id bigint, score real)
language sql stable set search_path = relay, extensions, pg_temp as $$
    with asked as materialized (
        select relay.phrases_of(p_query) as phrases, array(
            select one::tsquery
            from unnest(string_to_array(relay.words_query(p_query ->> 'words')::text, ' | ')) as one) as words),
    known as (
        select e.kind, e.source_id, e.score, to_tsvector('simple', coalesce(k.content, s.text)) as words,
            coalesce(k.thread_id, s.thread_id) as thread_id
        from relay.find_entries(p_space_id, relay.entry_query(p_query, p_kinds), 100) e
        left join memory k on e.kind = 'memory' and k.id = e.source_id and k.space_id = p_space_id
            and k.status in ('active', 'archived')
        left join summary s on e.kind = 'summary' and s.id = e.source_id)
    select known.kind, known.source_id, known.score from known, asked
    where p_query -> 'by' = 'null' and (p_threads is null or known.thread_id = any (p_threads))
        and (asked.phrases is null or known.words @@ all (asked.phrases))
        and case when p_partly then known.words @@ any (asked.words) or asked.words = '{}'
            else known.words @@ all (asked.words) end
$$;

-- A search as relay.find_entries takes it. p_kinds: which kinds of entries.
create or replace function relay.entry_query(p_query jsonb, p_kinds jsonb) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('text', concat_ws(' ', p_query ->> 'words', (
            select string_agg(phrase, ' ') from jsonb_array_elements_text(p_query -> 'phrases') as phrase)),
        'vector', p_query -> 'vector', 'model', p_query -> 'model', 'kinds', p_kinds,
        'since', p_query -> 'since', 'until', p_query -> 'until')
$$;

-- All that a search finds, best first, as relay.find_entries ranks it: messages that relay.hits found (those that it
-- ranks no more come after, the newest first), memories and summaries.
create or replace function relay.ranked_hits(p_space_id bigint, p_messages bigint[], p_known jsonb, p_query jsonb)
returns table (kind text, id bigint, nr bigint)
language sql stable set search_path = relay, extensions, pg_temp as $$
    with scored as materialized (
        select coalesce(d.message_id, e.source_id) as id, max(e.score) as score
        from relay.find_entries(p_space_id, relay.entry_query(p_query, '["message", "part"]'), 500) e
        left join document d on e.kind = 'part' and d.id = e.source_id
        where p_query ->> 'words' <> '' or p_query -> 'phrases' <> '[]'
        group by 1),
    hit as (
        select 'message' as kind, m.id, s.score from unnest(p_messages) as m (id) left join scored s on s.id = m.id
        union all
        select k.kind, k.id, k.score from jsonb_to_recordset(p_known) as k (kind text, id bigint, score real))
    select kind, id, row_number() over (order by score desc nulls last, kind = 'message' desc, id desc) from hit
$$;

-- A memory or summary as a search shows it.
create or replace function relay.known_json(p_kind text, p_id bigint, p_bot_id bigint, p_query tsquery) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('kind', p_kind, 'id', p_id, 'number', one.number, 'at', one.at, 'subject', one.subject,
        'status', one.status, 'valid_until', one.valid_until, 'place', relay.place_name(p_bot_id, t.chat_id, t.topic_id), 'text', relay.snippet(one.text, p_query, 24))
    from (
        select content as text, number, subject, status, valid_until, created_at as at, thread_id from memory where p_kind = 'memory' and id = p_id
        union all
        select text, id, null, null, null, created_at, thread_id from summary where p_kind = 'summary' and id = p_id) one
    left join thread t on t.id = one.thread_id
$$;

-- What comes near a search of which nothing has the words: what would be recalled for it. Null when nothing does, or
-- the search is narrowed to people or places.
create or replace function relay.nearly(p_space jsonb, p_bot_id bigint, p_query jsonb, p_limit integer) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_agg(case when one.kind in ('memory', 'summary')
        then relay.known_json(one.kind, one.id, p_bot_id, null)
        else relay.hit_json(coalesce(d.message_id, one.id), p_bot_id, null, 24) end order by one.nr)
    from (
        select line ->> 'kind' as kind, (line ->> 'id')::bigint as id, nr
        from jsonb_array_elements(
            public.relay_recall_for(p_space, relay.entry_query(p_query, null), p_limit) -> 'found')
            with ordinality as found (line, nr)) one
    left join document d on one.kind = 'part' and d.id = one.id
    where p_query ->> 'words' <> '' and p_query -> 'phrases' = '[]' and p_query -> 'by' = 'null'
        and p_query -> 'here' = 'null' and p_query -> 'places' = '[]'
$$;
