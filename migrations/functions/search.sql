-- A person's search: a space's messages and documents by their words, and its memories; best first.

-- Returns the meaningful words of a query. Leaves out those of scripts without spaces, and words with a hyphen, whose parts it
-- returns: Anna-Lena finds Anna Lena.
create or replace function relay.telling_words(p_query text) returns text[]
language sql stable set search_path = relay, extensions, pg_temp as $$
    select array(
        select lexeme from unnest(to_tsvector('simple', (
            select string_agg(one, ' ') from regexp_split_to_table(left(p_query, 2000), '\s+') as one where not relay.is_unspaced(one))))
        where length(lexeme) between 2 and 60 and lexeme !~ '^[[:alpha:]]{3,}(-[[:alpha:]]{3,})+$'
            and not (ts_lexize('english_stem', lexeme) = '{}' or ts_lexize('german_stem', lexeme) = '{}'
                or ts_lexize('french_stem', lexeme) = '{}' or ts_lexize('spanish_stem', lexeme) = '{}')
        order by length(lexeme) desc, lexeme limit 12)
$$;

-- Returns a query's meaningful words as an OR of lexemes (prefixes from four letters on). Null if there are none.
create or replace function relay.words_query(p_query text) returns tsquery
language sql stable set search_path = relay, extensions, pg_temp as $$
    select string_agg(quote_literal(word) || case when length(word) >= 4 then ':*' else '' end, ' | ')::tsquery
    from unnest(relay.telling_words(p_query)) as word
$$;

-- Returns for each meaningful word (as an OR) the words of the space's entries that are its forms; null if there are none.
-- Null for all if relay.words_query finds these forms as well (which it may not where a language's stems lose accents).
create or replace function relay.forms_of(p_space_id bigint, p_query text) returns tsquery[]
language sql stable set search_path = relay, extensions, pg_temp as $$
    select case when bool_or(others) then array_agg(forms) end from (
        select string_agg(quote_literal(t.word), ' | ')::tsquery as forms, bool_or(not starts_with(t.word, words[place])
            or '{german,spanish,french,dutch,russian,hungarian}' && languages) as others
        from relay.telling_words(p_query) as words, (select array(select language from relay.languages_of(p_space_id))) as l (languages),
            relay.terms_of(p_space_id, words, languages || relay.language_of(p_query), 0) t group by place) each
$$;

-- Returns those of some words or phrases that are of scripts without spaces, in lower case. A text has them anywhere,
-- where the index knows only what is between two signs. Null if there are none.
create or replace function relay.unspaced_words(p_given text[]) returns text[]
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select array_agg(distinct word) from (
        select left(btrim(translate(lower(normalize(one, NFC)), '\|<>''', ''),
            ' 、。，．・…「」『』（）()[]{}【】〈〉《》！？!?,.;:"'), 200) as word
        from unnest(p_given[1:12]) as one where relay.is_unspaced(one)) given
    where relay.is_unspaced(word)
$$;

-- Returns such words of a search, and such phrases; null: none. partly: one of the words is enough.
create or replace function relay.unspaced_query(p_query jsonb)
returns table (words text[], phrases text[], partly boolean)
language sql immutable rows 1 set search_path = relay, extensions, pg_temp as $$
    select relay.unspaced_words(regexp_split_to_array(left(p_query ->> 'words', 2000), '\s+')),
        relay.unspaced_words(array(select jsonb_array_elements_text(p_query -> 'phrases'))),
        coalesce((p_query ->> 'partly')::boolean, false)
$$;

-- Tests whether a text contains such words: all of them, or (p_any) one. Without words: true, or (p_any) false.
create or replace function relay.contains_unspaced(p_text text, p_words text[], p_any boolean) returns boolean
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select coalesce(
        case when p_any then bool_or(strpos(body, word) > 0) else bool_and(strpos(body, word) > 0) end, not p_any)
    from lower(p_text) as body, unnest(p_words) as word
$$;

-- Returns such words as patterns that match them anywhere in a text of lower case.
create or replace function relay.unspaced_patterns(p_words text[]) returns text[]
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select coalesce(array_agg('%' || regexp_replace(word, '([\\%_])', '\\\1', 'g') || '%'), '{}') from unnest(p_words) as word
$$;

-- Returns the messages that contain a search's words and phrases of scripts without spaces, or brought a document that
-- does; null: it has none. Reads the latest 20,000 texts, and older ones in which the words follow a sign.
create or replace function relay.messages_unspaced(p_space_id bigint, p_query jsonb) returns bigint[]
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    asked constant record := (select u from relay.unspaced_query(p_query) u);
    needed constant text[] := relay.unspaced_patterns(
        case when asked.partly then asked.phrases else asked.phrases || asked.words end);
    either constant text[] := case when asked.partly then relay.unspaced_patterns(asked.words) else '{}' end;
    since constant timestamptz := coalesce((p_query ->> 'since')::timestamptz, '-infinity');
    until constant timestamptz := coalesce((p_query ->> 'until')::timestamptz, 'infinity');
    by_text constant boolean := relay.wants_kind(p_query, 'message');
    by_part constant boolean := relay.wants_kind(p_query, 'document');
    begun tsquery;
begin
    if asked.words is null and asked.phrases is null then
        return null;
    end if;
    select string_agg(quote_literal(p_space_id || ':' || word) || ':*',
        case when asked.partly then ' | ' else ' & ' end)::tsquery
    into begun from unnest(coalesce(asked.words, asked.phrases)) as word;
    return array(
        select distinct near.id from (
            (select one.id, one.text from thread t cross join lateral (
                    select id, text from message
                    where thread_id = t.id and space_id = p_space_id and created_at >= since and created_at < until
                    order by id desc limit 20000) one
                where by_text and t.space_id = p_space_id order by one.id desc limit 20000)
            union all
            (select id, text from message
                where by_text and relay.words_of_space(space_id, words) @@ begun and space_id = p_space_id limit 5000)
            union all
            (select d.message_id, p.text from document_part p join document d on d.id = p.document_id
                where by_part and p.space_id = p_space_id order by p.document_id desc limit 20000)) near
        where lower(near.text) like all (needed) and (either = '{}' or lower(near.text) like any (either)));
end $$;

-- Returns the same query in the form of one space's index.
create or replace function relay.query_of_space(p_space_id bigint, p_query tsquery) returns tsquery
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select string_agg('''' || p_space_id || ':' || substr(one, 2), ' | ')::tsquery
    from unnest(string_to_array(p_query::text, ' | ')) as one
$$;

-- Returns the index query that every match satisfies: all words, and those of the phrases.
create or replace function relay.needle(p_space_id bigint, p_words tsquery, p_phrases tsquery[]) returns tsquery
language sql stable set search_path = relay, extensions, pg_temp as $$
    select string_agg('''' || p_space_id || ':' || substr(one, 2), ' & ')::tsquery from (
        select unnest(string_to_array(p_words::text, ' | ')) as one
        union
        select regexp_split_to_table(phrase::text, ' <(-|\d+)> ') from unnest(p_phrases) as phrase) part
$$;

-- Returns the messages to which a search is narrowed by the names of files that they brought, by the weight of their
-- markers, by words of scripts without spaces, or because they must have brought a document; null: it is not.
create or replace function relay.messages_narrowed(p_space_id bigint, p_query jsonb) returns bigint[]
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    named constant boolean := coalesce(p_query -> 'files', '[]') <> '[]';
    brought constant boolean := p_query -> 'kinds' ? 'document' and not p_query -> 'kinds' ? 'message';
    marked constant boolean := p_query #> '{keepit,min}' is not null;
    among bigint[] := relay.messages_unspaced(p_space_id, p_query);
    documents bigint[];
    markers bigint[];
begin
    if named or brought then
        documents := array(
            select distinct message_id from document
            where space_id = p_space_id and (not named or exists (
                select from jsonb_array_elements_text(p_query -> 'files') as file
                where position(lower(file) in lower(name)) > 0)));
    end if;
    if marked then
        markers := array(
            select distinct message_id from keepit
            where space_id = p_space_id and removed_at is null
                and weight between (p_query #>> '{keepit,min}')::numeric and (p_query #>> '{keepit,max}')::numeric);
    end if;
    among := case when among is null then documents when documents is null then among
        else array(select unnest(among) intersect select unnest(documents)) end;
    return case when among is null then markers when markers is null then among
        else array(select unnest(among) intersect select unnest(markers)) end;
end $$;

-- Returns the sessions with one of the topics of a search (parts of them); null: it names none.
create or replace function relay.sessions_about(p_space_id bigint, p_query jsonb) returns bigint[]
language sql stable set search_path = relay, extensions, pg_temp as $$
    select case when coalesce(p_query -> 'topics', '[]') <> '[]' then array(
        select s.id from session s
        where s.space_id = p_space_id and not s.private and exists (
            select from unnest(s.topics) as topic, jsonb_array_elements_text(p_query -> 'topics') as word
            where position(lower(word) in lower(topic)) > 0)) end
$$;

-- Tests whether a search wants results of a kind: it names that one, or none.
create or replace function relay.wants_kind(p_query jsonb, p_kind text) returns boolean
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select coalesce(p_query -> 'kinds', '[]') = '[]' or p_query -> 'kinds' ? p_kind
$$;

-- Returns up to 2,001 newest messages that match the index query (also by words within names, as of files), or whose
-- entries match p_forms (one of them if p_query has no words; the newest 1,000), or brought a document with a matching
-- part, and pass the filters (null: no filter), newest first. others: only p_forms match.
create or replace function relay.hits(
    p_space_id bigint, p_index tsquery, p_forms tsquery[], p_phrases tsquery[], p_threads bigint[], p_query jsonb)
returns table (id bigint, others boolean) language plpgsql stable set search_path = relay, extensions, pg_temp as $$
#variable_conflict use_column
declare
    since timestamptz := coalesce((p_query ->> 'since')::timestamptz, '-infinity');
    until timestamptz := coalesce((p_query ->> 'until')::timestamptz, 'infinity');
    anybody boolean := p_query ->> 'by' is null;
    assistant boolean := coalesce((p_query #>> '{by,you}')::boolean, false);
    asker bigint := (p_query #>> '{by,me}')::bigint;
    names text[] := case when not anybody then array(
        select '%' || regexp_replace(name, '([\\%_])', '\\\1', 'g') || '%'
        from jsonb_array_elements_text(p_query #> '{by,names}') as name) end;
    unrecorded bigint[] := array(
        select n.id from session n join thread t on t.id = n.thread_id where t.space_id = p_space_id and n.private);
    forms constant tsquery := case when p_query ->> 'words' = '' or array_position(p_forms, null) is null then (
        select string_agg('(' || relay.query_of_space(p_space_id, one)::text || ')',
            case p_query ->> 'words' when '' then '|' else '&' end)::tsquery from unnest(p_forms) as one) end;
    by_text constant boolean := relay.wants_kind(p_query, 'message');
    by_part constant boolean := relay.wants_kind(p_query, 'document');
    sessions constant bigint[] := relay.sessions_about(p_space_id, p_query);
    among bigint[] := relay.messages_narrowed(p_space_id, p_query);
begin
    if not by_text and not by_part then
        return;
    elsif p_index is null and (among is not null or sessions is not null) then
        among := coalesce(among, array(
            select id from message where session_id = any (sessions) order by id desc limit 20000));
        return query select m.id, false from message m
            where m.id = any (among) and m.space_id = p_space_id and m.status <> 'replaced' and m.created_at >= since
                and m.created_at < until and m.session_id <> all (unrecorded)
                and (sessions is null or m.session_id = any (sessions))
                and (p_threads is null or m.thread_id = any (p_threads))
                and (anybody or case m.role when 'assistant' then assistant
                    else m.user_id = asker or m.name ilike any (names) end)
            order by m.id desc limit 2001;
        return;
    elsif p_index is null then
        return query select one.id, false from thread t cross join lateral (
                select m.id from message m
                where m.thread_id = t.id and m.status <> 'replaced' and m.created_at >= since and m.created_at < until
                    and m.session_id <> all (unrecorded)
                    and (anybody or case m.role when 'assistant' then assistant
                        else m.user_id = asker or m.name ilike any (names) end)
                order by m.id desc limit 2001) one
            where t.space_id = p_space_id and (p_threads is null or t.id = any (p_threads))
            order by one.id desc limit 2001;
        return;
    end if;
    -- Finds all matches before taking the newest; otherwise the plan may walk through all messages.
    return query with hit as materialized (
        select m.id, one.others from (
            select d.message_id as id, false as others from document_part p join document d on d.id = p.document_id
            where by_part and relay.words_of_space(p.space_id, p.words) @@ p_index and p.space_id = p_space_id
                and (p_phrases is null or p.words @@ all (p_phrases))
            union
            select id, false from message m
            where by_text and relay.words_of_space(space_id, relay.words_with_names(text)) @@ p_index
                and relay.words_in_names(text) <> '' and space_id = p_space_id
                and (p_phrases is null or words @@ all (p_phrases)
                    or relay.words_with_names(text) @@ all (p_phrases))
            union
            (select coalesce(d.message_id, e.source_id), p_query ->> 'words' <> ''
            from entry e left join document d on e.kind = 'part' and d.id = e.source_id
            where p_phrases is null and relay.words_of_space(e.space_id, e.words) @@ forms
                and e.space_id = p_space_id and e.at >= since and e.at < until
                and (by_text and e.kind = 'message' or by_part and e.kind = 'part')
            order by e.id desc limit 1000)) one join message m on m.id = one.id
        where (among is null or m.id = any (among)) and (sessions is null or m.session_id = any (sessions))
            and m.status <> 'replaced' and m.created_at >= since and m.created_at < until
            and m.session_id <> all (unrecorded) and (p_threads is null or m.thread_id = any (p_threads))
            and (anybody or case m.role when 'assistant' then assistant
                else m.user_id = asker or m.name ilike any (names) end)
        union all
        select m.id, false from message m
        where by_text and relay.words_of_space(m.space_id, m.words) @@ p_index
            and (among is null or m.id = any (among)) and (sessions is null or m.session_id = any (sessions))
            and m.space_id = p_space_id and m.status <> 'replaced' and m.created_at >= since and m.created_at < until
            and m.session_id <> all (unrecorded) and (p_threads is null or m.thread_id = any (p_threads))
            and (anybody or case m.role when 'assistant' then assistant
                else m.user_id = asker or m.name ilike any (names) end)
            and (p_phrases is null or m.words @@ all (p_phrases)))
    select id, bool_and(others) from hit group by id order by id desc limit 2001;
end $$;

-- Returns the threads that a search names: that of p_here ({chat_id, topic_id}), and those whose topic or group name
-- contains one of the words. Null if it names none.
create or replace function relay.threads_named(p_space_id bigint, p_bot_id bigint, p_query jsonb) returns bigint[]
language sql stable set search_path = relay, extensions, pg_temp as $$
    select case when p_query -> 'here' <> 'null' or p_query -> 'places' <> '[]' then array(
        select t.id from thread t
        where t.space_id = p_space_id and (
            t.chat_id = (p_query #>> '{here,chat_id}')::bigint and t.topic_id = (p_query #>> '{here,topic_id}')::bigint
            or exists (select from jsonb_array_elements_text(p_query -> 'places') as place
                where position(lower(place) in lower(relay.place_name(p_bot_id, t.chat_id, t.topic_id))) > 0))) end
$$;

-- Returns the words of relay.wanted that are of scripts without spaces; null: none.
create or replace function relay.unspaced_wanted(p_query tsquery) returns text[]
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select array_agg(btrim(one, '''')) from unnest(string_to_array(p_query::text, ' | ')) as one
    where one !~ ' <' and relay.is_unspaced(one)
$$;

-- Returns the passage of a text with the most of such words, as relay.snippet does; null if it has none of them.
create or replace function relay.unspaced_snippet(p_text text, p_words text[], p_length integer) returns text
language plpgsql immutable set search_path = relay, extensions, pg_temp as $$
declare
    whole text;
    begins integer;
    cut text;
    word text;
begin
    if p_words is null then
        return null;
    end if;
    whole := btrim(regexp_replace(translate(p_text, chr(2) || chr(3), ''), '\s+', ' ', 'g'));
    begins := (
        select place from unnest(p_words) as one, strpos(lower(whole), one) as place where place > 0
        order by (select count(*) from unnest(p_words) as each
            where strpos(lower(substr(whole, greatest(1, place - p_length / 4), p_length)), each) > 0) desc, place limit 1);
    if begins is null then
        return null;
    end if;
    begins := case when length(whole) <= p_length then 1 else greatest(1, begins - p_length / 4) end;
    cut := substr(whole, begins, p_length);
    for word in select one from unnest(p_words) as one order by length(one) desc loop
        -- None within a longer one that is marked.
        cut := regexp_replace(cut, regexp_replace(word, '([^[:alnum:]])', '\\\1', 'g') || '(?![^\u0002]*\u0003)',
            chr(2) || '\&' || chr(3), 'gi');
    end loop;
    return case when begins > 1 then '… ' else '' end || btrim(cut)
        || case when length(whole) >= begins + p_length then ' …' else '' end;
end $$;

-- Returns the passage of a text that matches a query (null: its beginning), on one line, with matches between U+0002
-- and U+0003 and an ellipsis where text is left out.
create or replace function relay.snippet(p_text text, p_query tsquery, p_words integer) returns text
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    marks constant text := format('StartSel=%s, StopSel=%s, ', chr(2), chr(3));
    whole text := btrim(regexp_replace(translate(left(p_text, 20000), chr(2) || chr(3), ''), '\s+', ' ', 'g'));
    cut text := relay.unspaced_snippet(p_text, relay.unspaced_wanted(p_query), p_words * 8);
    plain text;
    config constant regconfig := case when to_tsvector('simple', whole) @@ p_query then 'simple' else relay.language_of(whole) end;
begin
    if cut is not null then
        return cut;
    elsif length(whole) <= p_words * 8 then
        return case when p_query is null then whole
            else ts_headline(config, whole, p_query, marks || 'HighlightAll=true') end;
    elsif p_query is null then
        return rtrim(left(whole, p_words * 8)) || '…';
    end if;
    cut := ts_headline(config, whole, p_query, marks || format(
        'MaxFragments=2, MaxWords=%s, MinWords=%s, FragmentDelimiter=" … "', p_words, p_words / 2));
    plain := translate(cut, chr(2) || chr(3), '');
    return case when starts_with(whole, left(plain, 20)) then '' else '… ' end || cut
        || case when right(whole, 20) = right(plain, 20) then '' else ' …' end;
end $$;

-- Counts a query's words and phrases in a text, and those of scripts without spaces, which may be anywhere in it.
create or replace function relay.words_found(p_text text, p_words tsvector, p_query tsquery) returns bigint
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select (select count(*) from unnest(string_to_array(p_query::text, ' | ')) as one where p_words @@ one::tsquery)
        + (select count(*) from unnest(relay.unspaced_wanted(p_query)) as word where strpos(lower(p_text), word) > 0)
$$;

-- Returns the matching passage of a message, or of its document's part with more of the words.
create or replace function relay.best_snippet(p_message relay.message, p_query tsquery, p_words integer) returns text
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce((
        select format('📄 %s, part %s: ', d.name, p.part) || relay.snippet(p.text, p_query, p_words)
        from document d join document_part p on p.document_id = d.id
        left join entry e on e.kind = 'part' and e.source_id = d.id and e.part = p.part
        cross join lateral relay.words_found(p.text, p.words || coalesce(e.words, ''), p_query) as shared
        where d.message_id = p_message.id and shared > relay.words_found(p_message.text, p_message.words, p_query)
        order by shared desc, p.part limit 1),
        relay.snippet(relay.plain_text(p_message), p_query, p_words))
$$;

-- Returns a message as a search result: author, time, place, Telegram message and passage.
create or replace function relay.hit_json(p_message_id bigint, p_bot_id bigint, p_query tsquery, p_words integer)
returns jsonb language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('kind', 'message', 'id', m.id, 'role', m.role, 'user_id', m.user_id, 'name', m.name,
        'at', m.created_at, 'topic_id', t.topic_id, 'place', relay.place_name(p_bot_id, t.chat_id, t.topic_id),
        'posted', (select jsonb_build_object('chat_id', p.chat_id, 'message_id', p.telegram_message_id) from posted p
            where p.turn_id = m.turn_id and p.message_id = m.id and p.bot_id = p_bot_id
            order by p.telegram_message_id limit 1),
        'text', relay.best_snippet(m, p_query, p_words))
    from message m join thread t on t.id = m.thread_id where m.id = p_message_id
$$;

-- Returns a query's phrases, and its words, their forms and phrases together (an OR), as tsqueries; drops those without a
-- lexeme. Those of scripts without spaces are only in the second, which shows what was found.
create or replace function relay.phrases_of(p_query jsonb) returns tsquery[]
language sql stable set search_path = relay, extensions, pg_temp as $$
    select array_agg(one) from (
        select phraseto_tsquery('simple', left(phrase, 2000)) as one
        from jsonb_array_elements_text(p_query -> 'phrases') as phrase where not relay.is_unspaced(phrase)) found
    where numnode(one) > 0
$$;

create or replace function relay.wanted(p_query jsonb, p_forms tsquery[]) returns tsquery
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    everything tsquery := nullif(concat_ws(' | ', relay.words_query(p_query ->> 'words'), (
        select string_agg(one || case when length(one) >= 5 then ':*' else '' end, ' | ')
        from unnest(p_forms) as forms, string_to_table(forms::text, ' | ') as one)), '');
    unspaced constant record := (select u from relay.unspaced_query(p_query) u);
    phrase tsquery;
    word text;
begin
    foreach word in array coalesce(unspaced.words, '{}') || coalesce(unspaced.phrases, '{}') loop
        everything := coalesce(everything || quote_literal(word)::tsquery, quote_literal(word)::tsquery);
    end loop;
    foreach phrase in array coalesce(relay.phrases_of(p_query), '{}') loop
        everything := coalesce(everything || phrase, phrase);
    end loop;
    return everything;
end $$;

-- Returns a page of search results, best first. p_query: {words, phrases, by: {me: user id or null, you: whether the
-- assistant, names: parts of names} or null, here: {chat_id, topic_id} or null, places, since, until, files and topics:
-- parts of names, keepit: {min, max: weights} or null, kinds (message, document, memory, summary, version; empty: all),
-- vector and model or null}. Finds what has all words and phrases; for several words, also the answers to questions that
-- have them. If nothing has all words, finds what has some; if nothing has any, what is similar. Words of scripts without
-- spaces are found anywhere in a text. Indexes recent messages first.
-- {total: up to 2,000 messages plus memories, more: whether there are more, every: whether results have all words, near:
-- whether they have none, nowhere: whether no place has such a name, vague: whether no word can be searched for, found}.
create or replace function public.relay_find(
    p_space jsonb, p_bot_id bigint, p_query jsonb, p_offset integer, p_limit integer)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own bigint := relay.find_space(p_space);
    any_word tsquery := relay.words_query(p_query ->> 'words');
    phrases tsquery[] := relay.phrases_of(p_query);
    unspaced text[] := (select u.words from relay.unspaced_query(p_query) u);
    forms constant tsquery[] := relay.forms_of(own, p_query ->> 'words');
    wanted tsquery := relay.wanted(p_query, forms);
    threads bigint[] := relay.threads_named(own, p_bot_id, p_query);
    ids bigint[];
    others boolean[];
    known jsonb;
    partly boolean := false;
    near jsonb;
begin
    perform relay.enter_due(50);
    if wanted is null and (p_query ->> 'words' <> '' or p_query -> 'phrases' <> '[]') or threads = '{}' or own is null
    then
        return jsonb_build_object('total', 0, 'more', false, 'every', true, 'near', false, 'found', '[]'::jsonb,
            'nowhere', coalesce(threads = '{}', false), 'vague', wanted is null);
    end if;
    loop
        if not partly then
            select array_agg(h.id), array_agg(h.others) into ids, others
            from relay.hits(own, relay.needle(own, any_word, phrases), forms, phrases, threads, p_query) h;
        elsif any_word is not null then
            select array_agg(h.id) into ids from relay.hits(own, relay.query_of_space(own, any_word)
                && coalesce(relay.needle(own, null, phrases), ''), forms, phrases, threads, p_query || '{"words": ""}') h;
        end if;
        if partly and unspaced is not null then
            ids := nullif(array(
                select unnest(ids) as id
                union
                select h.id
                from relay.hits(own, relay.needle(own, null, phrases), null, phrases, threads, p_query || '{"partly": true}') h
                order by id desc limit 2001), '{}');
        end if;
        if not partly and cardinality(ids) <= 20 and p_query ->> 'by' is null and phrases is null
            and coalesce(numnode(any_word), 0) + coalesce(cardinality(unspaced), 0) >= 2
            and p_query #> '{keepit,min}' is null and coalesce(p_query -> 'files', '[]') = '[]'
            and relay.wants_kind(p_query, 'message')
        then
            select array_agg(id), array_agg(other) into ids, others from (
                select id, other from unnest(ids, others) as h (id, other)
                union all
                select a.id, true from message q cross join lateral (
                    select m.* from message m
                    where m.session_id = q.session_id and m.id > q.id and m.status not in ('replaced', 'alternate')
                    order by m.id limit 1) a
                where q.id = any (ids) and q.role = 'user' and relay.is_question(q.text) and a.role = 'assistant'
                    and a.created_at < coalesce((p_query ->> 'until')::timestamptz, 'infinity')
                    and a.id <> all (ids)) found;
        end if;
        known := case when wanted is not null then (
            select jsonb_agg(to_jsonb(k)) from relay.known_hits(own, threads, p_query, forms, partly, ids is not null) k) end;
        exit when ids is not null or known is not null or partly
            or coalesce(numnode(any_word), 0) + coalesce(cardinality(unspaced), 0) < 2;
        partly := true;
    end loop;
    if ids is null and known is null then
        near := relay.nearly(p_space, p_bot_id, p_query, p_limit);
        return jsonb_build_object('total', coalesce(jsonb_array_length(near), 0), 'more', false, 'every', not partly,
            'near', near is not null, 'nowhere', false, 'vague', false,
            'found', case when p_offset = 0 then coalesce(near, '[]') else '[]' end);
    end if;
    return jsonb_build_object(
        'total', least(cardinality(coalesce(ids, '{}')), 2000) + coalesce(jsonb_array_length(known), 0),
        'more', coalesce(cardinality(ids) > 2000, false), 'every', not partly, 'near', false, 'nowhere', false,
        'vague', false, 'found', (
            select coalesce(jsonb_agg(case page.kind
                when 'message' then relay.hit_json(page.id, p_bot_id, wanted, 24)
                else relay.known_json(page.kind, page.id, p_bot_id, wanted) end order by page.nr), '[]')
            from (
                select * from relay.ranked_hits(own, ids, others, coalesce(known, '[]'), p_query)
                order by nr offset p_offset limit p_limit) page));
end $$;

-- Opening search results by their buttons.

-- Returns messages of a thread near a result: p_count before and after (around), or only before or after. {messages,
-- earlier, later: whether there are more}. Null if the space has no such message.
create or replace function public.relay_found_context(
    p_space jsonb, p_bot_id bigint, p_query jsonb, p_message_id bigint, p_side text, p_count integer)
returns jsonb language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    own thread;
    unrecorded bigint[];
    ids bigint[];
begin
    select t.* into own from message m join thread t on t.id = m.thread_id
    join session n on n.id = m.session_id
    where m.id = p_message_id and m.space_id = relay.find_space(p_space) and not n.private;
    if own.id is null then
        return null;
    end if;
    unrecorded := array(select id from session where thread_id = own.id and private);
    select array_agg(id order by id) into ids from (
        (select id from message where thread_id = own.id and id < p_message_id and status <> 'replaced'
            and session_id <> all (unrecorded) and p_side in ('around', 'before') order by id desc limit p_count)
        union all
        (select id from message where thread_id = own.id and id > p_message_id and status <> 'replaced'
            and session_id <> all (unrecorded) and p_side in ('around', 'after') order by id limit p_count)
        union all
        (select p_message_id where p_side = 'around')) near;
    return jsonb_build_object(
        'messages', (select coalesce(jsonb_agg(relay.hit_json(id, p_bot_id,
                case when id = p_message_id then relay.wanted(p_query, relay.forms_of(own.space_id, p_query ->> 'words')) end,
                case when id = p_message_id then 60 else 24 end) order by id), '[]') from unnest(ids) as id),
        'earlier', exists (select from message
            where thread_id = own.id and status <> 'replaced' and session_id <> all (unrecorded)
                and id < ids[1]),
        'later', exists (select from message
            where thread_id = own.id and status <> 'replaced' and session_id <> all (unrecorded)
                and id > ids[cardinality(ids)]));
end $$;

-- Stores a search with its command, so that its buttons work after a restart.
create or replace function public.relay_keep_search(p_turn_id bigint, p_fence bigint, p_space jsonb, p_text text)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    held turn := relay.hold(p_turn_id, p_fence);
begin
    update turn set prompt = jsonb_build_object('search', p_text, 'space_id', relay.find_space(p_space))
    where id = held.id;
    return to_jsonb(held.id);
end $$;

-- Returns a stored search: {text, user_id, at, chat_id, topic_id}. Null if it belongs to another space or doesn't
-- exist.
create or replace function public.relay_kept_search(p_turn_id bigint, p_space jsonb) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('text', t.prompt ->> 'search', 'user_id', t.user_id, 'at', t.created_at,
        'chat_id', l.chat_id, 'topic_id', l.topic_id)
    from turn t join lane l on l.id = t.lane_id
    where t.id = p_turn_id and t.kind = 'control' and t.prompt ? 'search'
        and (t.prompt ->> 'space_id')::bigint = relay.find_space(p_space)
$$;

-- What a search finds besides messages, and the order of all results, as relay.find_entries ranks them.

-- Returns memories, versions and other artefacts with all words (p_partly: some) and all phrases. None if the search
-- names an author, a file or a marker's weight. p_beside: messages were found, which a summary would repeat; of
-- versions, which do too, the best few come after them.
create or replace function relay.known_hits(
    p_space_id bigint, p_threads bigint[], p_query jsonb, p_forms tsquery[], p_partly boolean, p_beside boolean)
returns table (kind text, id bigint, score real) language sql stable set search_path = relay, extensions, pg_temp as $$
    with asked as materialized (
        select relay.phrases_of(p_query) as phrases, relay.sessions_about(p_space_id, p_query) as sessions, array(
            select one::tsquery
            from unnest(string_to_array(relay.words_query(p_query ->> 'words')::text, ' | ')) as one) as words,
            unspaced.words as unspaced, unspaced.phrases as unspaced_phrases
        from relay.unspaced_query(p_query) unspaced),
    wanted as (
        select k.kind from relay.artefact_kinds() k
        where relay.wants_kind(p_query, k.kind)
            and (not p_beside or k.kind in ('memory', 'version') or p_query -> 'kinds' ? k.kind)),
    ranked as (
        select kind, source_id, score from relay.find_entries(p_space_id, relay.entry_query(p_query, coalesce(
            (select jsonb_agg(kind) from wanted where kind <> 'version'), '[]')), 100)
        union all
        select kind, source_id, score from relay.find_entries(p_space_id, relay.entry_query(p_query, '["version"]'), 5)
        where 'version' in (select kind from wanted)),
    near as (
        select kind, source_id, max(score) as score from (
            select * from ranked
            union all
            select u.kind, u.id, null from asked cross join lateral relay.artefacts_unspaced(
                p_space_id, asked.unspaced || asked.unspaced_phrases, p_partly, array(select kind from wanted)) u
            where coalesce(asked.unspaced, asked.unspaced_phrases) is not null
            union all
            -- The index has no very common words, so phrases of nothing else are looked for in the texts.
            (select 'memory', m.id, null from asked join memory m on m.space_id = p_space_id
                and m.status in ('active', 'archived') and to_tsvector('simple', m.content) @@ all (asked.phrases)
            where relay.telling_words(relay.entry_query(p_query, '[]') ->> 'text') = '{}' and 'memory' in (select kind from wanted)
            order by m.id desc limit 100)) either
        group by kind, source_id),
    known as (
        select e.kind, e.source_id, e.score, to_tsvector('simple', coalesce(k.content, a.body)) as words,
            coalesce(k.content, a.body) as text, n.words as entered,
            coalesce(k.thread_id, a.thread_id) as thread_id, coalesce(k.session_id, a.session_id) as session_id
        from near e
        left join memory k on e.kind = 'memory' and k.id = e.source_id and k.space_id = p_space_id
            and k.status in ('active', 'archived')
        left join lateral relay.artefact(nullif(e.kind, 'memory'), e.source_id) a on true
        left join entry n on n.kind = e.kind and n.source_id = e.source_id and n.part = 0)
    select known.kind, known.source_id, known.score from known, asked
    where p_query -> 'by' = 'null' and coalesce(p_query -> 'files', '[]') = '[]'
        and p_query #> '{keepit,min}' is null
        and (p_threads is null or known.thread_id = any (p_threads))
        and (asked.sessions is null or known.session_id = any (asked.sessions))
        and (asked.phrases is null or known.words @@ all (asked.phrases))
        and relay.contains_unspaced(known.text, asked.unspaced_phrases, false)
        and case when p_partly then known.words @@ any (asked.words) or known.entered @@ any (p_forms)
                or asked.words = '{}' and asked.unspaced is null or relay.contains_unspaced(known.text, asked.unspaced, true)
            else (known.words @@ all (asked.words) or known.entered @@ all (p_forms))
                and relay.contains_unspaced(known.text, asked.unspaced, false) end
$$;

-- Returns the newest artefacts with all words of scripts without spaces, or (p_any) one: up to 200 of each kind, and 5
-- versions.
create or replace function relay.artefacts_unspaced(p_space_id bigint, p_words text[], p_any boolean, p_kinds text[])
returns table (kind text, id bigint) language sql stable set search_path = relay, extensions, pg_temp as $$
    select k.kind, one.id from relay.artefact_kinds() k, lateral (
        select found.id from relay.artefact_ids(k.kind, format(
            '%s = $1 and %s and lower(%s) like %s (array(select jsonb_array_elements_text($2)))', k.space, k.found, k.body,
            case when p_any then 'any' else 'all' end), p_space_id, to_jsonb(relay.unspaced_patterns(p_words))) as found (id)
        order by found.id desc limit case k.kind when 'version' then 5 else 200 end) one
    where k.kind = any (p_kinds)
$$;

-- Returns a search in the form of relay.find_entries. p_kinds: which kinds of entries.
create or replace function relay.entry_query(p_query jsonb, p_kinds jsonb) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('text', concat_ws(' ', p_query ->> 'words', (
            select string_agg(phrase, ' ') from jsonb_array_elements_text(p_query -> 'phrases') as phrase)),
        'vector', p_query -> 'vector', 'model', p_query -> 'model', 'kinds', p_kinds,
        'since', p_query -> 'since', 'until', p_query -> 'until')
$$;

-- Ranks all results as relay.find_entries does: messages of relay.hits (those it doesn't rank come last, newest first),
-- memories and summaries. p_others: which messages have the words only in other forms; they come after the rest.
create or replace function relay.ranked_hits(
    p_space_id bigint, p_messages bigint[], p_others boolean[], p_known jsonb, p_query jsonb)
returns table (kind text, id bigint, nr bigint) language sql stable set search_path = relay, extensions, pg_temp as $$
    with scored as materialized (
        select coalesce(d.message_id, e.source_id) as id, max(e.score) as score
        from relay.find_entries(p_space_id, relay.entry_query(p_query, '["message", "part"]'), 500) e
        left join document d on e.kind = 'part' and d.id = e.source_id
        where p_query ->> 'words' <> '' or p_query -> 'phrases' <> '[]'
        group by 1),
    hit as (
        select 'message' as kind, m.id, s.score, coalesce(m.others, false) as others
        from unnest(p_messages, p_others) as m (id, others) left join scored s using (id)
        union all
        select k.kind, k.id, k.score, false from jsonb_to_recordset(p_known) as k (kind text, id bigint, score real))
    select kind, id, row_number() over (
        order by kind = 'version', others, score desc nulls last, kind = 'message' desc, id desc) from hit
$$;

-- Returns a memory or summary as a search result.
create or replace function relay.known_json(p_kind text, p_id bigint, p_bot_id bigint, p_query tsquery) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('kind', p_kind, 'id', p_id, 'number', one.number,
        'title', relay.artefact_title(p_kind, p_id), 'at', one.at, 'subject', one.subject,
        'status', one.status, 'valid_until', one.valid_until, 'place', relay.place_name(p_bot_id, t.chat_id, t.topic_id), 'text', relay.snippet(one.text, p_query, 24))
    from (
        select content as text, number, subject, status, valid_until, created_at as at, thread_id from memory where p_kind = 'memory' and id = p_id
        union all
        select body, id, null, null, null, at, thread_id from relay.artefact(nullif(p_kind, 'memory'), p_id)) one
    left join thread t on t.id = one.thread_id
$$;

-- Returns similar results for a search without matches: what recall would return. Null if there are none, or the search
-- is narrowed.
create or replace function relay.nearly(p_space jsonb, p_bot_id bigint, p_query jsonb, p_limit integer) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_agg(case when one.kind not in ('message', 'part')
        then relay.known_json(one.kind, one.id, p_bot_id, null)
        else relay.hit_json(coalesce(d.message_id, one.id), p_bot_id, null, 24) end order by one.nr)
    from (
        select line ->> 'kind' as kind, (line ->> 'id')::bigint as id, nr
        from jsonb_array_elements(
            public.relay_recall_for(p_space, relay.entry_query(p_query, null), p_limit) -> 'found')
            with ordinality as found (line, nr)) one
    left join document d on one.kind = 'part' and d.id = one.id
    where p_query ->> 'words' <> '' and p_query -> 'phrases' = '[]' and p_query -> 'by' = 'null'
        and p_query -> 'here' = 'null' and p_query -> 'places' = '[]' and p_query #> '{keepit,min}' is null
        and '[]' = all (array[coalesce(p_query -> 'files', '[]'), coalesce(p_query -> 'topics', '[]'),
            coalesce(p_query -> 'kinds', '[]')])
$$;
