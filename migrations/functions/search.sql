-- What a person looks for: a space's messages and documents by their words, and what is known of them; best first.

-- The words of a query that carry meaning, as an OR of lexemes (prefixes from four letters on). Null when none do.
create or replace function relay.words_query(p_query text) returns tsquery
language sql stable set search_path = relay, extensions, pg_temp as $$
    with lexeme as (
        select distinct lexeme as word from unnest(to_tsvector('simple', left(p_query, 2000)))
        where length(lexeme) between 2 and 60),
    telling as (
        select word from lexeme
        where not (ts_lexize('english_stem', word) = '{}' or ts_lexize('german_stem', word) = '{}'
            or ts_lexize('french_stem', word) = '{}' or ts_lexize('spanish_stem', word) = '{}')
        order by length(word) desc, word limit 12)
    select to_tsquery('simple', string_agg(
        quote_literal(word) || case when length(word) >= 4 then ':*' else '' end, ' | '))
    from telling
$$;

-- The same query for the words of one space, as the index has them.
create or replace function relay.query_of_space(p_space_id bigint, p_query tsquery) returns tsquery
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select string_agg('''' || p_space_id || ':' || substr(one, 2), ' | ')::tsquery
    from unnest(string_to_array(p_query::text, ' | ')) as one
$$;

-- What every message that is looked for holds, as the index has it for its space: all words, and those of the phrases.
create or replace function relay.needle(p_space_id bigint, p_words tsquery, p_phrases tsquery[]) returns tsquery
language sql stable set search_path = relay, extensions, pg_temp as $$
    select string_agg('''' || p_space_id || ':' || substr(one, 2), ' & ')::tsquery from (
        select unnest(string_to_array(p_words::text, ' | ')) as one
        union
        select regexp_split_to_table(phrase::text, ' <(-|\d+)> ') from unnest(p_phrases) as phrase) part
$$;

-- The newest 2,001 messages of a space that fit the index query, or brought a document of which a part does, and the
-- filters (any of them null: all do), newest first.
create or replace function relay.hits(
    p_space_id bigint, p_index tsquery, p_phrases tsquery[], p_threads bigint[], p_query jsonb)
returns bigint[]
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
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
    found bigint[];
begin
    if p_index is null then
        select array_agg(newest.id order by newest.id desc) into found from (
            select one.id from thread t cross join lateral (
                select m.id from message m
                where m.thread_id = t.id and m.status <> 'replaced' and m.created_at >= since and m.created_at < until
                    and m.session_id <> all (unrecorded)
                    and (anybody or case m.role when 'assistant' then assistant
                        else m.user_id = asker or m.name ilike any (names) end)
                order by m.id desc limit 2001) one
            where t.space_id = p_space_id and (p_threads is null or t.id = any (p_threads))
            order by one.id desc limit 2001) newest;
        return found;
    end if;
    -- All that match, whatever their age, before the newest are taken: otherwise the plan may walk through all messages.
    with hit as materialized (
        select m.id from message m
        where m.id in (
                select d.message_id from document_part p join document d on d.id = p.document_id
                where relay.words_of_space(p.space_id, p.words) @@ p_index and p.space_id = p_space_id
                    and (p_phrases is null or p.words @@ all (p_phrases)))
            and m.status <> 'replaced' and m.created_at >= since and m.created_at < until
            and m.session_id <> all (unrecorded) and (p_threads is null or m.thread_id = any (p_threads))
            and (anybody or case m.role when 'assistant' then assistant
                else m.user_id = asker or m.name ilike any (names) end)
        union
        select m.id from message m
        where relay.words_of_space(m.space_id, m.words) @@ p_index
            and m.space_id = p_space_id and m.status <> 'replaced' and m.created_at >= since and m.created_at < until
            and m.session_id <> all (unrecorded) and (p_threads is null or m.thread_id = any (p_threads))
            and (anybody or case m.role when 'assistant' then assistant
                else m.user_id = asker or m.name ilike any (names) end)
            and (p_phrases is null or m.words @@ all (p_phrases)))
    select array_agg(newest.id order by newest.id desc) into found
    from (select id from hit order by id desc limit 2001) newest;
    return found;
end $$;

-- The threads of a space that a search names: that of p_here ({chat_id, topic_id}), and those of which the name of the
-- topic or group has one of the words. Null when it names none.
create or replace function relay.threads_named(p_space_id bigint, p_bot_id bigint, p_query jsonb) returns bigint[]
language sql stable set search_path = relay, extensions, pg_temp as $$
    select case when p_query -> 'here' <> 'null' or p_query -> 'places' <> '[]' then array(
        select t.id from thread t
        where t.space_id = p_space_id and (
            t.chat_id = (p_query #>> '{here,chat_id}')::bigint and t.topic_id = (p_query #>> '{here,topic_id}')::bigint
            or exists (select from jsonb_array_elements_text(p_query -> 'places') as place
                where position(lower(place) in lower(relay.place_name(p_bot_id, t.chat_id, t.topic_id))) > 0))) end
$$;

-- What of a text is about a query (null: how it begins), on one line, with the words that match between U+0002 and
-- U+0003, and an ellipsis where something was left out.
create or replace function relay.snippet(p_text text, p_query tsquery, p_words integer) returns text
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    marks constant text := format('StartSel=%s, StopSel=%s, ', chr(2), chr(3));
    whole text := btrim(regexp_replace(translate(left(p_text, 20000), chr(2) || chr(3), ''), '\s+', ' ', 'g'));
    cut text;
    plain text;
begin
    if length(whole) <= p_words * 8 then
        return case when p_query is null then whole
            else ts_headline('simple', whole, p_query, marks || 'HighlightAll=true') end;
    elsif p_query is null then
        return rtrim(left(whole, p_words * 8)) || '…';
    end if;
    cut := ts_headline('simple', whole, p_query, marks || format(
        'MaxFragments=2, MaxWords=%s, MinWords=%s, FragmentDelimiter=" … "', p_words, p_words / 2));
    plain := translate(cut, chr(2) || chr(3), '');
    return case when starts_with(whole, left(plain, 20)) then '' else '… ' end || cut
        || case when right(whole, 20) = right(plain, 20) then '' else ' …' end;
end $$;

-- How many of a query's words and phrases there are in a text.
create or replace function relay.words_shared(p_words tsvector, p_query tsquery) returns bigint
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select count(*) from unnest(string_to_array(p_query::text, ' | ')) as one where p_words @@ one::tsquery
$$;

-- What of a message is about a query, or of a part of a document that it brought where that has more of the words.
create or replace function relay.best_snippet(p_message relay.message, p_query tsquery, p_words integer) returns text
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce((
        select format('📄 %s, part %s: ', d.name, p.part) || relay.snippet(p.text, p_query, p_words)
        from document d join document_part p on p.document_id = d.id
        where d.message_id = p_message.id and p.words @@ p_query
            and relay.words_shared(p.words, p_query) > relay.words_shared(p_message.words, p_query)
        order by relay.words_shared(p.words, p_query) desc, p.part limit 1),
        relay.snippet(p_message.text, p_query, p_words))
$$;

-- A message as a search shows it: who said it when and where, the Telegram message that it is, and what of it fits.
create or replace function relay.hit_json(p_message_id bigint, p_bot_id bigint, p_query tsquery, p_words integer)
returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('kind', 'message', 'id', m.id, 'role', m.role, 'user_id', m.user_id, 'name', m.name,
        'at', m.created_at, 'topic_id', t.topic_id, 'place', relay.place_name(p_bot_id, t.chat_id, t.topic_id),
        'posted', (select jsonb_build_object('chat_id', p.chat_id, 'message_id', p.telegram_message_id) from posted p
            where p.turn_id = m.turn_id and p.message_id = m.id and p.bot_id = p_bot_id
            order by p.telegram_message_id limit 1),
        'text', relay.best_snippet(m, p_query, p_words))
    from message m join thread t on t.id = m.thread_id where m.id = p_message_id
$$;

-- A query's phrases, and its words and phrases together (an OR), as tsqueries: those without a word are left out.
create or replace function relay.phrases_of(p_query jsonb) returns tsquery[]
language sql stable set search_path = relay, extensions, pg_temp as $$
    select array_agg(one) from (
        select phraseto_tsquery('simple', left(phrase, 2000)) as one
        from jsonb_array_elements_text(p_query -> 'phrases') as phrase) found
    where numnode(one) > 0
$$;

create or replace function relay.wanted(p_query jsonb) returns tsquery
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    everything tsquery := relay.words_query(p_query ->> 'words');
    phrase tsquery;
begin
    foreach phrase in array coalesce(relay.phrases_of(p_query), '{}') loop
        everything := coalesce(everything || phrase, phrase);
    end loop;
    return everything;
end $$;

-- A page of what a person looks for in a space, best first. p_query: {words, phrases, by: {me: a user's id or
-- null, you: whether the assistant, names: parts of names} or null, here: {chat_id, topic_id} or null, places, since,
-- until, vector and model of what it means or null}. What has all words and phrases is found; when nothing has all
-- words, what has some is; when nothing has any, what comes near. What turns wrote a moment ago is entered first.
-- {total: at most 2,000 messages and what is known, more: whether there are more, every: whether they have all words,
-- near: whether they have none of them, nowhere: whether no place has such a name, vague: whether no word of it can be
-- looked for, found}.
create or replace function public.relay_find(
    p_space jsonb, p_bot_id bigint, p_query jsonb, p_offset integer, p_limit integer)
returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own bigint := relay.find_space(p_space);
    any_word tsquery := relay.words_query(p_query ->> 'words');
    phrases tsquery[] := relay.phrases_of(p_query);
    wanted tsquery := relay.wanted(p_query);
    threads bigint[] := relay.threads_named(own, p_bot_id, p_query);
    ids bigint[];
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
        ids := relay.hits(own, case when partly
                then relay.query_of_space(own, any_word) && coalesce(relay.needle(own, null, phrases), '')
                else relay.needle(own, any_word, phrases) end, phrases, threads, p_query);
        known := case when wanted is not null then (
            select jsonb_agg(to_jsonb(k)) from relay.known_hits(own, threads, p_query, partly,
                case when ids is null then '["memory", "summary"]' else '["memory"]' end::jsonb) k) end;
        exit when ids is not null or known is not null or partly or coalesce(numnode(any_word), 0) < 2;
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
                select * from relay.ranked_hits(own, coalesce(ids, '{}'), coalesce(known, '[]'), p_query)
                order by nr offset p_offset limit p_limit) page));
end $$;
