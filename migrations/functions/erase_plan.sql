-- Plans an erasure: finds a memory, or everything that contains given words, with everything that says the same.

-- Returns the meaningful words of a text in lower case: the twelve longest, without stop words. Words of one or two
-- letters count only if there are no others. If there are none at all, returns the beginning of the text.
create or replace function relay.needle_words(p_text text) returns text[]
language sql stable set search_path = relay, extensions, pg_temp as $$
    with found as (
        select distinct lexeme as word from unnest(to_tsvector('simple', normalize(left(p_text, 2000), NFC)))
        where length(lexeme) <= 60
            and not (ts_lexize('english_stem', lexeme) = '{}' or ts_lexize('german_stem', lexeme) = '{}'
                or ts_lexize('french_stem', lexeme) = '{}' or ts_lexize('spanish_stem', lexeme) = '{}'))
    select coalesce(nullif(array(
            select word from found where length(word) > 2 or not exists (select from found where length(word) > 2)
            order by length(word) desc, word limit 12), '{}'),
        array_remove(array[lower(normalize(left(btrim(p_text), 60), NFC))], ''))
$$;

-- Returns the nouns of a German text, which have a capital as names do: words after an article or the like, perhaps
-- with an adjective between them.
create or replace function relay.nouns_in(p_text text) returns text[]
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(array_agg(distinct lower(word)), '{}') from (
        select word, lag(lower(word)) over (order by nr) as before, lag(word) over (order by nr) as beside,
            lag(lower(word), 2) over (order by nr) as second
        from regexp_split_to_table(normalize(p_text, NFC), '[^[:alnum:]]+') with ordinality as t (word, nr)) near,
        (values ('^(de[mnrs]|die|das|[kmds]?ein(e[mnrs]?)?|ihre?[mnrs]?|unse?re?[mnrs]?|euer|eure[mnrs]?|diese[mnrs]?|jede[mnrs]?'
            || '|alle[nr]?|viele[nr]?|zum|zur|im|am|vom|beim|ins|ans|aufs)$')) as a (article)
    where relay.language_of(p_text) = 'german' and word ~ '^[[:upper:]][[:alpha:]]+$'
        and (before ~ article or beside ~ '^[[:lower:]]+e[mnrs]?$' and second ~ article)
$$;

-- Returns the words that tell a fact from a similar one: those with a digit or a capital, such as names, but not days
-- as numbers, stop words, German nouns, or the name of the person it is about.
create or replace function relay.names_in(p_text text, p_subject text) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_agg(distinct lower(word)), '[]')
    from regexp_matches(regexp_replace(normalize(p_text, NFC), '\d{4}-\d\d-\d\d', '', 'g'), '[[:alnum:]]+', 'g') as found,
        unnest(found) as word, coalesce(nullif(relay.language_of(p_text), 'simple'), 'english') as own, relay.nouns_in(p_text) as nouns
    where (word ~ '[0-9]' or word ~ '^[[:upper:]]') and not relay.is_unspaced(word)
        and not (ts_lexize('english_stem', lower(word)) = '{}' or ts_lexize('german_stem', lower(word)) = '{}'
            or ts_lexize((own || '_stop')::regdictionary, lower(word)) is not distinct from '{}' or lower(word) = any (nouns))
        and not exists (select from unnest(regexp_split_to_array(lower(p_subject), '[^[:alnum:]]+')) as name
            where name <> '' and starts_with(lower(word), name))
$$;

-- Joins the groups of long numbers, which people write with spaces, dashes and the like or without: phone numbers (without
-- the + or 00 before them, and the (0) in them), IBANs, cards.
create or replace function relay.join_numbers(p_text text) returns text
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select string_agg(case when length(regexp_replace(run, '[^0-9]', '', 'g')) >= 7
        then rtrim(before, '+(') || regexp_replace(run, '^00(?=[1-9])|[^[:alnum:]]', '', 'g') else before || run end, '' order by nr)
    from regexp_matches(regexp_replace(replace(p_text, '(0)', ''), '\m([a-z]{2}\d\d) ?([a-z]{4}|[a-z]) ?(?=\d{2})', '\1\2', 'gi'),
            '([^0-9]*)([0-9]*(?:[a-z]?[- \u00A0\u2009\u202F.()/\u2010-\u2013]{0,3}[0-9]+)*)', 'gi') with ordinality as t (found, nr),
        lateral (select found[1], found[2]) as m (before, run)
$$;

-- Returns a pattern of a long number's forms: in groups, and as a phone number with its country's code or without (0170 for
-- +49 170), of which one to three digits are the code.
create or replace function relay.number_forms(p_number text) returns text
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select format('(?:%s)', string_agg(before || regexp_replace(digits, '(.)(?=.)', '\1' || gap, 'g'), '|'))
    from (values ('[- \u00A0\u2009\u202F.()/\u2010-\u2013]{0,3}')) as g (gap), lateral (
        select '(?:00)?', p_number
        union all
        select '(?:\+|00)[1-9]' || gap || '(?:[0-9]' || gap || '){0,2}', substr(p_number, 2) where p_number ~ '^0[1-9][0-9]{7,}$'
        union all
        select '0' || gap, substr(p_number, length + 1) from generate_series(1, 3) as length where p_number ~ '^[1-9][0-9]{9,}$'
    ) as forms (before, digits)
$$;

-- Returns a needle {words, least}. A text matches it if it contains at least `least` of the words: the given share, and
-- no fewer than two.
create or replace function relay.needle_of(p_text text, p_share real) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('words', to_jsonb(words),
        'least', least(cardinality(words), greatest(2, ceil(cardinality(words) * p_share)::integer)))
    from (select relay.needle_words(p_text) as words) own where cardinality(words) > 0
$$;

-- Tests whether a text (or JSON text) contains a word or a word that begins with it, both in lower case: Anna and Annas,
-- not Hanna. Words of up to three letters must be whole (Tom, not tomorrow), and so must numbers ($5, not $50). Also a
-- Russian word with another ending (Анна, Анне), and an Arabic one with “the”, “and” and the like before it.
create or replace function relay.mentions(p_body text, p_word text) returns boolean
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select position(p_word in p_body) > 0 and (relay.is_unspaced(p_word) or p_body ~ (case when p_word ~ '^[[:alnum:]]'
                then '(?:^|[^[:alnum:]]|\\[bfnrt]|\\u[0-9a-f]{4}|[\u0E00-\u0EFF\u3040-\u30FF\u3400-\u9FFF\uAC00-\uD7AF])' else '' end
            || case when p_word ~ '^[ء-ي]' then '(?:[وفبكل]?ال|[وف]?لل|[وفبكل])?' else '' end
            || regexp_replace(p_word, '([^[:alnum:]])', '\\\1', 'g')
            || case when length(regexp_replace(p_word, '[^[:alnum:]]', '', 'g')) between 1 and 3
                then '(?:$|[^[:alnum:]]|[\u0E00-\u0EFF\u3040-\u30FF\u3400-\u9FFF\uAC00-\uD7AF])'
                when p_word ~ '[0-9]$' then '(?![0-9])' else '' end))
        or p_word ~ '^[а-я]{2,}[аеийоьыя]$' and p_body ~ ('(?:^|[^[:alnum:]]|\\[bfnrt])' || left(p_word, -1)
            || case when p_word ~ '[ая]$' then '(?:[аеиуыюя]|[ое][йю]|[ая](?:[мх]|ми))'
                else '(?:[аеийоуыьюя]|[аяоеи][ймхв]|[ая]ми)' end || '(?![[:alnum:]])')
$$;

-- Replaces letters that people write in two ways in Russian, Arabic, German and Turkish (lower makes an i of both I and
-- İ). Words like Fuß, which must match whole, are not changed.
create or replace function relay.plain_letters(p_text text) returns text
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select regexp_replace(case when p_text ~ '[\u0622-\u0625\u0640\u064B-\u0652\u0671]'
        then translate(p_text, 'ёıأإآٱـًٌٍَُِّْ', 'еiاااا') else translate(p_text, 'ёı', 'еi') end,
        '(?<=[[:alpha:]]{3})ß|ß(?=[[:alpha:]])', 'ss', 'g')
$$;

-- Tests whether a text says the words of a needle {words, least, negative} with a “not”, or without one. If no sentence
-- or part of one has enough of them, that is unknown and counts as yes.
create or replace function relay.agrees(p_body text, p_needle jsonb) returns boolean
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select coalesce(bool_or(relay.is_negative(part) = (p_needle ->> 'negative')::boolean), true)
    from unnest(array['[.!?…。！？"]+|\n|\\n',
            '[.!?…。！？",;:()·–—]+|\n|\\n|\m(but|and|or|aber|und|oder|sondern|mais|et|pero|sino|y|но|и|а)\M'])
            as ends, regexp_split_to_table(p_body, ends) as part
    where (select count(*) from jsonb_array_elements_text(p_needle -> 'words') as word
        where relay.mentions(part, word)) >= (p_needle ->> 'least')::integer
$$;

-- Tests whether a text has all nouns of a German needle, or a sentence with enough of its words names nothing else.
create or replace function relay.names_nothing_else(p_text text, p_needle jsonb) returns boolean
language sql stable set search_path = relay, extensions, pg_temp as $$
    select not exists (
            select from jsonb_array_elements_text(p_needle -> 'nouns') as noun where not relay.mentions(lower(p_text), noun))
        or exists (
            select from regexp_split_to_table(normalize(p_text, NFC), '[.!?…"]+|\n|\\n') as part
            where (select count(*) from jsonb_array_elements_text(p_needle -> 'words') as word
                    where relay.mentions(lower(part), word)) >= (p_needle ->> 'least')::integer
                and exists (select from jsonb_array_elements_text(p_needle -> 'nouns') as noun
                    where strpos(part, initcap(noun)) > 0)
                and not exists (
                    select from regexp_matches(part, '\m[[:upper:]][[:alpha:]]+', 'g') as found, lower(found[1]) as other
                    where ts_lexize('german_stem', other) is distinct from '{}' and not exists (
                        select from jsonb_array_elements_text(
                            (p_needle -> 'words') || (p_needle -> 'must') || (p_needle -> 'nouns')) as word
                        where starts_with(other, word) or starts_with(word, other))))
$$;

-- Tests whether a text matches any of the needles, whatever its Unicode form, apostrophes, hyphens (Anna-Lena, Anna Lena),
-- plain letters, and groups of long numbers. It must have all words that the needle names (`must`), and agree with it about a
-- “not” (`negative`).
create or replace function relay.says(p_text text, p_needles jsonb) returns boolean
language plpgsql immutable set search_path = relay, extensions, pg_temp as $$
declare
    hyphen constant text := '(?<=[[:alpha:]])[-‐‑](?=[[:alnum:]])|(?<=[[:alnum:]])[-‐‑](?=[[:alpha:]])';
    sought constant text := case when strpos(p_needles::text, '-') > 0
        then regexp_replace(p_needles::text, hyphen, ' ', 'g') else p_needles::text end;
    needles jsonb := case when strpos(p_needles::text, '-') > 0 then sought::jsonb else p_needles end;
    told text := case when strpos(p_needles::text, '-') > 0 then regexp_replace(p_text, hyphen, ' ', 'g') else p_text end;
    body text;
    needle jsonb;
    number text;
begin
    -- Only for needles that need it: each takes longer than all the rest.
    for number in select distinct unnest(one) from regexp_matches(case when sought ~ '[0-9]{7}' and told ~ '[0-9]{2}' then sought end,
        '"([a-z0-9]*[0-9]{7}[a-z0-9]*)"', 'g') as one
    loop
        told := regexp_replace(replace(told, '(0)', ''), '(?<![[:alnum:]])' || relay.number_forms(number) || '(?![0-9])',
            '\& ' || number, 'gi');
    end loop;
    body := lower(told);
    if octet_length(sought) > length(sought) then
        body := case when body is nfc normalized then body else normalize(body, NFC) end;
        if sought ~ '[еёßışğ\u0621-\u0652]' then
            body := relay.plain_letters(body);
            needles := relay.plain_letters(sought)::jsonb;
        end if;
    end if;
    body := case when strpos(sought, 'ss') > 0 and strpos(body, 'ß') > 0 then relay.plain_letters(body) else body end;
    body := case when strpos(sought, '''') > 0 then translate(body, '’‘ʼ`´', repeat('''', 5)) else body end;
    for needle in select * from jsonb_array_elements(needles) loop
        if (select count(*) from jsonb_array_elements_text(needle -> 'words') as word
                where case when position(rtrim(word, 'аеийоьыя') in body) > 0 then relay.mentions(body, word) end)
            >= (needle ->> 'least')::integer
            and not exists (select from jsonb_array_elements_text(needle -> 'must') as word
                where not relay.mentions(body, word))
            and (not needle ? 'negative' or relay.agrees(body, needle))
            and (coalesce(needle -> 'nouns', '[]') = '[]' or relay.names_nothing_else(
                relay.plain_letters(told), relay.plain_letters(needle::text)::jsonb))
        then
            return true;
        end if;
    end loop;
    return false;
end $$;

-- Returns the ids of those texts that match. Tests them as one text first, because each test takes long. That test leaves
-- out a “not” and nouns, which count within a single text only.
create or replace function relay.saying(p_ids bigint[], p_texts text[], p_needles jsonb) returns setof bigint
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select id from unnest(p_ids, p_texts) as one (id, told)
    where relay.says(array_to_string(p_texts, E'\n'), (
            select jsonb_agg(needle - '{negative,nouns}'::text[]) from jsonb_array_elements(p_needles) as needle))
        and relay.says(told, p_needles)
$$;

-- Returns a word as the space's index stores it, as tsquery text; null if the index has no such word.
create or replace function relay.word_of_space(p_space_id bigint, p_word text) returns text
language sql stable set search_path = relay, extensions, pg_temp as $$
    select '''' || p_space_id || ':' || replace(replace(lexeme, '\', '\\'), '''', '''''') || ''''
    from unnest(to_tsvector('simple', p_word)) order by length(lexeme) desc, lexeme limit 1
$$;

-- Returns an index query that every matching text satisfies. A text may lack some words of the needle, so the query
-- asks for any one of a set that is one larger than that number.
create or replace function relay.needle_query(p_space_id bigint, p_needle jsonb) returns tsquery
language sql stable set search_path = relay, extensions, pg_temp as $$
    select string_agg(relay.word_of_space(p_space_id, form) || ':*', ' | ')::tsquery
    from (
        select word from jsonb_array_elements_text(p_needle -> 'words') as word order by length(word) desc, word
        limit jsonb_array_length(p_needle -> 'words') - (p_needle ->> 'least')::integer + 1) few,
        relay.spellings(substring(word from '^.[^-]*')) as form
$$;

-- Returns the beginnings of the words that the index may have for a word, see relay.mentions and relay.plain_letters.
create or replace function relay.spellings(p_word text) returns setof text
language sql immutable set search_path = relay, extensions, pg_temp as $$
    with own as materialized (select relay.plain_letters(p_word) as word),
    spelled as (
        select unnest(array[p_word, normalize(p_word, NFD), word]) as form from own
        union select overlay(word placing 'ё' from nr for 1) from own, generate_series(1, length(word)) as nr
            where substr(word, nr, 1) = 'е'
        union select replace(word, 'ss', 'ß') from own
        union select replace(p_word, 'i', 'ı') where p_word ~ '[ışğ]'
        union select head || substr(word, 2) from own, unnest('{أ,إ,آ}'::text[]) as head where word ~ '^ا')
    select form from spelled
    union select left(form, -1) from spelled where form ~ '^[а-яё]{2,}[аеийоьыя]$'
    union select head || form from spelled, unnest('{ال,وال,فال,بال,كال,لل,ولل,و,ف,ب,ك,ل}'::text[]) as head
        where form ~ '^[ء-ي]'
$$;

-- Tests whether a person may erase what p_of said or was told: everything in their own space, only their own words in a
-- group. Admins may erase anything in a group.
create or replace function relay.may_erase(p_space_id bigint, p_of bigint, p_user_id bigint, p_admin boolean)
returns boolean language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce((select case kind when 'private' then owner_id = p_user_id else p_admin or p_of = p_user_id end
        from space where id = p_space_id), false)
$$;

-- Keeps those memories that the person may erase, up to 200.
create or replace function relay.erasable(p_space_id bigint, p_memories bigint[], p_user_id bigint, p_admin boolean)
returns bigint[] language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(array_agg(id), '{}') from (
        select id from memory
        where id = any (p_memories) and space_id = p_space_id
            and relay.may_erase(p_space_id, subject_id, p_user_id, p_admin) order by id limit 200) allowed
$$;

-- Returns a memory with its line: what it replaced, and what replaced it in other words (merged or refined). What
-- contradicts it says something else, and stays.
create or replace function relay.erase_line(p_space_id bigint, p_memory_id bigint) returns bigint[]
language sql stable set search_path = relay, extensions, pg_temp as $$
    with recursive line as (
        select id, replaced_by, back from memory, unnest(array[true, false]) as back
        where space_id = p_space_id and id = p_memory_id
        union
        select near.id, near.replaced_by, back from line cross join lateral (
            select m.id, m.replaced_by from memory m where back and m.replaced_by = line.id
            union all
            select m.id, m.replaced_by from memory m where not back and m.id = line.replaced_by and not exists (
                select from memory_change c
                where c.memory_id = m.id and c.action = 'supersede' and relay.replaced_in(c) = line.id)) near)
    select coalesce(array_agg(distinct id), '{}') from line
$$;

-- Finds the space's memories, in any state, that match the needles; with p_history, also those that matched earlier (but
-- not those that only replaced one that matches).
create or replace function relay.erase_saying(p_space_id bigint, p_needles jsonb, p_history boolean) returns bigint[]
language sql stable set search_path = relay, extensions, pg_temp as $$
    select array(select distinct relay.saying(array_agg(id), array_agg(told), p_needles) from (
        select id, concat_ws(' ', content, category, array_to_string(tags, ' ')) as told from memory
        where space_id = p_space_id
        union all
        select memory_id, before ->> 'content' from memory_change
        where p_history and space_id = p_space_id and before is not null and action not in ('supersede', 'merge')) said
        group by id / 20)
$$;

-- Finds memories that share evidence with others and match a looser needle or are no longer in use.
create or replace function relay.erase_kin(p_space_id bigint, p_evidence bigint[], p_loose jsonb) returns bigint[]
language sql stable set search_path = relay, extensions, pg_temp as $$
    select array(
        select id from memory
        where space_id = p_space_id and (evidence && p_evidence or source_message_id = any (p_evidence))
            and (status not in ('active', 'pending') or relay.says(content, p_loose)))
$$;

-- Returns the messages that memories come from: those that taught them or repeated them.
create or replace function relay.erase_evidence(p_memories bigint[]) returns bigint[]
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(array_agg(distinct id), '{}') from (
        select unnest(evidence) as id from memory where id = any (p_memories)
        union
        select source_message_id from memory where id = any (p_memories)
        union
        select t.user_message_id from memory_change c join turn t on t.id = c.turn_id
        where c.memory_id = any (p_memories) and c.action in ('learn', 'refresh', 'supersede', 'merge')) known
    where id is not null
$$;

-- Finds other messages that match, or that show a matching document: it may have been sent or replied to several times.
-- Reads the latest 20,000 texts, as the index doesn't know all words in them (names in addresses of mail, long numbers,
-- scripts without spaces), and at most 5,000 older ones that it finds. For a memory's words, the index is mostly enough.
create or replace function relay.erase_elsewhere(p_space_id bigint, p_needles jsonb, p_documents boolean)
returns bigint[] language sql stable set search_path = relay, extensions, pg_temp as $$
    with found as materialized (
        select found.id, found.file from jsonb_array_elements(p_needles) as needle cross join lateral (
            with known as materialized (
                select id, text from message
                where relay.words_of_space(space_id, words) @@ relay.needle_query(p_space_id, needle) and space_id = p_space_id
                limit 5000),
            parts as materialized (
                select document_id, part, text from document_part
                where p_documents and relay.words_of_space(space_id, words) @@ relay.needle_query(p_space_id, needle)
                    and space_id = p_space_id
                limit 5000)
            select id, null as file from known where relay.says(text, jsonb_build_array(needle))
            union all
            select relay.saying(array_agg(id), array_agg(text), jsonb_build_array(needle)), null from (
                select id, text, row_number() over () / 20 as page from (
                    select id, text from message where space_id = p_space_id
                        and (p_documents or relay.is_unspaced(needle ->> 'words') or needle ->> 'words' ~ '[0-9]{7}')
                    order by id desc limit 20000) newest
                where id not in (select id from known)) paged
            group by page
            union all
            select d.message_id, d.unique_id from (
                select document_id as id from parts where relay.says(text, jsonb_build_array(needle))
                union all
                select relay.saying(array_agg(document_id), array_agg(text), jsonb_build_array(needle)) from (
                    select document_id, text, row_number() over () / 20 as page from (
                        select document_id, part, text from document_part where p_documents and space_id = p_space_id
                        order by document_id desc limit 20000) newest
                    where (document_id, part) not in (select document_id, part from parts)) paged
                group by page) near join document d using (id)) found)
    select coalesce(array_agg(distinct id), '{}') from (
        select id from found
        union all
        select id from message
        where exists (select from found where file is not null) and space_id = p_space_id and role = 'user'
            and blocks @> '[{"file": {}}]'
            and array(select relay.files_in(blocks)) && array(select file from found where file is not null)) meant
$$;

-- Finds summaries that cover erased messages, build on such summaries, or match. Leaves out summaries by authors whose
-- words this person may not erase.
create or replace function relay.erase_summaries(
    p_space_id bigint, p_messages bigint[], p_needles jsonb, p_user_id bigint, p_admin boolean) returns bigint[]
language sql stable set search_path = relay, extensions, pg_temp as $$
    with recursive gone as materialized (
        select thread_id, array_agg(id order by id) as ids from message where id = any (p_messages) group by thread_id),
    said as materialized (
        select relay.saying(array_agg(s.id), array_agg(s.text), p_needles) as id
        from thread t join summary s on s.thread_id = t.id where t.space_id = p_space_id group by s.id / 20),
    made as (
        select s.id from thread t join summary s on s.thread_id = t.id left join gone g on g.thread_id = t.id
        where t.space_id = p_space_id
            -- one of the messages lies in the summary's range
            and (width_bucket(s.through_message_id, g.ids) > width_bucket(s.from_message_id - 1, g.ids)
                or s.id in (select id from said))
            and (s.author_id is null or relay.may_erase(p_space_id, s.author_id, p_user_id, p_admin))
        union
        select s.id from summary s join made on s.previous_id = made.id
        where s.author_id is null or relay.may_erase(p_space_id, s.author_id, p_user_id, p_admin))
    select coalesce(array_agg(id order by id), '{}') from made
$$;

-- Returns {needles, loose, close, telling} for a query: from the words that were given, or from what the memories
-- say (the last two also from what they said before).
create or replace function relay.erase_needles(p_query jsonb, p_memories bigint[]) returns jsonb
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
begin
    if p_query ? 'words' then
        return (
            select jsonb_build_object('needles', needles, 'loose', needles, 'close', needles, 'telling', telling)
            from (
                select coalesce(jsonb_agg(distinct jsonb_build_object('words', words, 'least', cardinality(words))), '[]') as needles,
                    coalesce(jsonb_agg(distinct word), '[]') as telling
                from unnest(array[p_query ->> 'words', relay.join_numbers(p_query ->> 'words')]) as given, lateral (select array(
                    select distinct word from regexp_split_to_table(
                            lower(translate(normalize(given, NFC), '’‘ʼ`´‐‑', '''''''''''--')), '\s+') as one,
                        btrim(one, '.,;:!?…"“”„«»()[]''') as word
                    where word <> '') as words) own, unnest(words) as word) both_ways);
    end if;
    return (
        select jsonb_build_object(
            'needles', coalesce(jsonb_agg(distinct relay.needle_of(text, 0.75) || names) filter (where stands), '[]'),
            -- Half of a fact's words are enough only beside the names in it.
            'loose', coalesce(jsonb_agg(distinct relay.needle_of(
                text, case names -> 'must' when '[]' then 0.75 else 0.5 end) || names) filter (where stands), '[]'),
            'close', coalesce(jsonb_agg(distinct jsonb_build_object('words', array[word], 'least', 1)), '[]'),
            'telling', coalesce(jsonb_agg(distinct word), '[]'))
        from (
            select content, subject, true as stands from memory where id = any (p_memories)
            union all
            select c.before ->> 'content', null, false from memory_change c
            where c.memory_id = any (p_memories) and c.before ->> 'content' <> '') said,
            -- The chat shows only the beginning of a memory in lines and lists, so that is searched for too.
            unnest(array[content, left(content, 89), relay.join_numbers(content)]) as text,
            jsonb_build_object('must', relay.names_in(text, subject), 'nouns', relay.nouns_in(text), 'negative',
                relay.is_negative(content)) as names,
            unnest(relay.needle_words(text)) as word);
end $$;

-- Returns the messages that Relay sent unasked about what it made from these inputs, such as digests.
create or replace function relay.said_from(p_space_id bigint, p_inputs text[]) returns bigint[]
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(array_agg(m.id), '{}') from outbox o join message m on m.id = o.message_id
    where o.space_id = p_space_id and o.message_id is not null and o.inputs is not null and o.inputs ?| p_inputs
$$;

-- Returns the newest p_most messages to erase: the evidence, other matches, answers that repeat the words, and what
-- Relay sent unasked about any of these or the memories.
create or replace function relay.erase_messages_meant(
    p_space_id bigint, p_memories bigint[], p_evidence bigint[], p_elsewhere bigint[], p_telling text[],
    p_user_id bigint, p_admin boolean, p_most integer) returns bigint[]
language sql stable set search_path = relay, extensions, pg_temp as $$
    with meant as (
        select unnest(p_evidence || p_elsewhere) as id
        union
        select r.id from message r
        where r.role = 'assistant' and r.turn_id in (
                select turn_id from message where id = any (p_evidence)
                union select id from turn where user_message_id = any (p_evidence)
                union select turn_id from memory where id = any (p_memories))
            and relay.says(r.text, (select jsonb_agg(jsonb_build_object('words', array[word], 'least', 1))
                from unnest(p_telling) as word))),
    own as materialized (
        select m.id from meant join message m using (id) left join turn t on t.id = m.turn_id
        where m.space_id = p_space_id
            and relay.may_erase(p_space_id, coalesce(m.user_id, t.user_id), p_user_id, p_admin)
        order by m.id desc limit p_most)
    select coalesce(array_agg(id order by id desc), '{}') from (
        select id from own
        union
        select unnest(relay.said_from(p_space_id, relay.input_names('message', array(select id from own))
            || relay.input_names('memory', p_memories)))
        order by id desc limit p_most) newest
$$;

-- Returns the plan: ids of {memories, messages, summaries, documents, feedback, preferences}, names of {artefacts}, the
-- messages that are only `shortened` by a file, the query, and three sets of needles: `needles` finds messages, `loose` finds
-- what repeats them, `close` finds traces in what was said nearby. `more`: there are more than p_most messages; the plan has
-- the newest. `others`: words of others match, and stay.
create or replace function relay.erase_plan(
    p_space_id bigint, p_query jsonb, p_user_id bigint, p_admin boolean, p_most integer) returns jsonb
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    memories bigint[] := relay.erasable(p_space_id,
        relay.erase_line(p_space_id, (p_query ->> 'memory_id')::bigint), p_user_id, p_admin);
    found constant jsonb := relay.erase_needles(p_query, memories);
    evidence bigint[] := relay.erase_evidence(memories);
    elsewhere constant bigint[] := relay.erase_elsewhere(p_space_id, found -> 'needles', p_query ? 'words');
    messages bigint[];
    feedback bigint[];
    stay jsonb;
begin
    memories := memories || relay.erasable(p_space_id, array(
        select unnest(relay.erase_saying(p_space_id, found -> 'needles', p_query ? 'words')
            || relay.erase_kin(p_space_id, evidence, found -> 'loose'))
        except select unnest(memories)), p_user_id, p_admin);
    evidence := relay.erase_evidence(memories);
    messages := relay.erase_messages_meant(p_space_id, memories, evidence, elsewhere,
        array(select jsonb_array_elements_text(found -> 'telling')), p_user_id, p_admin, p_most + 1);
    -- Messages that taught a memory are erased whole.
    stay := relay.without_files(array(
        select unnest(messages[:p_most]) except select unnest(evidence) where p_query ? 'memory_id'), found -> 'loose');
    feedback := array(
        select unnest(relay.feedback_about(messages[:p_most], relay.turns_of(messages[:p_most])))
        union select unnest(relay.feedback_saying(p_space_id, found -> 'loose', p_user_id, p_admin)));
    return jsonb_build_object('query', p_query, 'needles', found -> 'needles', 'loose', found -> 'loose', 'close', found -> 'close',
        'feedback', feedback, 'preferences', relay.preferences_of(p_space_id, feedback),
        'memories', memories, 'messages', messages[:p_most], 'more', cardinality(messages) > p_most,
        'summaries', relay.erase_summaries(p_space_id, messages[:p_most], found -> 'loose', p_user_id, p_admin),
        'artefacts', relay.erase_artefacts(p_space_id, relay.input_names('message', messages[:p_most])
            || relay.input_names('memory', memories), found -> 'loose', p_user_id, p_admin),
        'others', exists (
            select from message m left join turn t on t.id = m.turn_id
            where m.id = any (elsewhere) and coalesce(m.user_id, t.user_id) is not null and not relay.may_erase(
                p_space_id, coalesce(m.user_id, t.user_id), p_user_id, p_admin)),
        'shortened', (select coalesce(jsonb_agg(id::bigint), '[]') from jsonb_object_keys(stay) as id),
        'documents', relay.documents_without(messages[:p_most], stay));
end $$;

-- Counts a plan's rows that go: {memories, messages, summaries, artefacts, documents, feedback, preferences}.
create or replace function relay.erase_counts(p_plan jsonb) returns jsonb
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select jsonb_object_agg(name, (select count(*) from jsonb_array_elements(p_plan -> name) as one
        where name <> 'messages' or (p_plan -> 'shortened' @> one) is not true))
    from unnest(array['memories', 'messages', 'summaries', 'artefacts', 'documents', 'feedback', 'preferences']) as name
$$;

-- Returns words of the plan that up to 20 other messages of this person also contain, rarest first: [{word, messages}].
create or replace function relay.erase_left_over(p_space_id bigint, p_plan jsonb, p_user_id bigint, p_admin boolean)
returns jsonb language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_agg(to_jsonb(left_over) order by messages, word), '[]') from (
        select word, (
            select count(*) from (
                select from message m
                where relay.words_of_space(m.space_id, m.words) @@ relay.word_of_space(p_space_id, word)::tsquery
                    and m.space_id = p_space_id and relay.may_erase(m.space_id, m.user_id, p_user_id, p_admin)
                    and m.id <> all (array(select jsonb_array_elements_text(p_plan -> 'messages')::bigint))
                limit 21) few) as messages
        from (select distinct word from jsonb_array_elements(p_plan -> 'needles') as needle,
            jsonb_array_elements_text(needle -> 'words') as word) own
        where length(word) >= 4) left_over
    where messages between 1 and 20
$$;

-- Returns other spellings of up to four given words in what the person may erase: with other accents, or ae for ä. At
-- most five; erasing the words leaves them. The index finds the texts, as a search does.
create or replace function relay.other_spellings(p_space_id bigint, p_words text, p_user_id bigint, p_admin boolean)
returns jsonb language sql stable set search_path = relay, extensions, pg_temp as $$
    with given as materialized (
        select w.place, w.bare, '\m(' || string_agg(case
                when sign[1] = 'ae' then '(?:ae|[äæ])' when sign[1] = 'oe' then '(?:oe|[öøœ])' when sign[1] = 'ss' then '(?:ss|ß)'
                when sign[1] = 'ue' then case when length(bare) >= 5 then '(?:ue|[uü])' else '(?:ue|ü)' end
                when sign[1] = 'u' and length(bare) >= 5 then '(?:ue|[uùúûüūůű])'
                when sign[1] = 'o' and length(bare) >= 5 then '(?:oe|[oòóôõöøōőœ])'
                when sign[1] = 'a' and length(bare) >= 5 then '(?:ae|[aàáâãäåāăąæ])'
                when strpos('aouecinszyldrtg', sign[1]) > 0 then (array['[aàáâãäåāăą]', '[oòóôõöøōő]',
                    '[uùúûüūůű]', '[eèéêëēėęě]', '[cçćč]', '[iìíîïīįı]', '[nñńň]', '[sśşš]', '[zźżž]', '[yýÿ]', '[lł]', '[dđď]',
                    '[rř]', '[tťţ]', '[gğ]'])[strpos('aouecinszyldrtg', sign[1])]
                else sign[1] end, '' order by nr) || ')\M' as pattern
        from (select place, word, relay.bare_letters(word) as bare
            from regexp_split_to_table(btrim(p_words), '\s+') with ordinality as t (word, place)) w,
            regexp_matches(w.bare, 'ae|oe|ue|ss|.', 'g') with ordinality as l (sign, nr)
        group by w.place, w.bare),
    -- The longest word as the index may have it, also with a for ae and the like.
    sought as (
        select string_agg(quote_literal(p_space_id || ':' || t.word), ' | ')::tsquery as forms
        from (select bare from given order by length(bare) desc, place limit 1) one, (
                select array(select language from relay.languages_of(p_space_id)) as languages) l,
            relay.terms_of(p_space_id, array[bare, regexp_replace(bare, '([aou])e', '\1', 'g'),
                regexp_replace(bare, '([aou])(?!e)', '\1e', 'g')], languages, 0) t
        where (select count(*) from given) <= 4 and (select bool_and(bare ~ '^[a-z][a-z''-]+$') from given)),
    near as materialized (
        select e.kind, e.source_id from sought, entry e
        where relay.words_of_space(e.space_id, e.words) @@ forms and e.space_id = p_space_id and e.kind in ('message', 'memory')
        order by e.id desc limit 1000),
    said as (
        select m.text as body from near n join message m on n.kind = 'message' and m.id = n.source_id
        where m.role = 'user' and relay.may_erase(p_space_id, m.user_id, p_user_id, p_admin)
        union all
        select k.content from near n join memory k on n.kind = 'memory' and k.id = n.source_id
        where relay.may_erase(p_space_id, k.subject_id, p_user_id, p_admin)),
    spelled as (
        select distinct (select string_agg((regexp_match(plain, g.pattern, 'i'))[1], ' ' order by g.place) from given g
            having bool_and(plain ~* g.pattern)) as words
        from (select lower(normalize(left(body, 4000), NFC)) as plain from said) texts),
    needles as (select relay.erase_needles(jsonb_build_object('words', p_words), '{}') -> 'needles' as needles)
    select coalesce(jsonb_agg(words order by words), '[]') from (
        select words from spelled, needles where words is not null and not relay.says(words, needles) order by words limit 5) few
$$;

-- Returns the other spellings of words that nothing matches, see relay.other_spellings.
create or replace function public.relay_other_spellings(p_space jsonb, p_words text, p_user_id bigint, p_admin boolean)
returns jsonb language sql stable set search_path = relay, extensions, pg_temp as $$
    select relay.other_spellings(relay.find_space(p_space), p_words, p_user_id, p_admin)
$$;

-- Tests whether a title, a heartbeat or an earlier wording matches. No plan lists these; an erasure clears them.
create or replace function relay.has_unlisted(p_space_id bigint, p_needles jsonb, p_user_id bigint, p_admin boolean)
returns boolean language sql stable set search_path = relay, extensions, pg_temp as $$
    select exists (
        select relay.saying(array_agg(id), array_agg(told), p_needles) from (
            select id, concat_ws(', ', array_to_string(topics, ', '), case when titled_by = 'model' or may then title end)
            from session, (select relay.may_erase(p_space_id, null, p_user_id, p_admin) as may) own where space_id = p_space_id
            union all select 0, checklist from heartbeat where space_id = p_space_id
            union all
            select v.id, v.blocks::text || v.text from message_version v join message m on m.id = v.message_id
            where m.space_id = p_space_id and (m.user_id = p_user_id or relay.may_erase(p_space_id, m.user_id, p_user_id, p_admin))
        ) said (id, told) group by id / 20)
$$;

-- Stores a plan for 15 minutes and returns a preview of up to ten rows of each kind. `role`: a role in the space's chats
-- matches, and stays; so do matches in the soul and in open invitations, of which admins hear. Null if there is nothing to
-- erase; commands count if they are among the newest 2,000 events, and an erasure clears all. p_turn_id: the turn that asked;
-- the event log drops its words.
create or replace function public.relay_erase_preview(
    p_space jsonb, p_query jsonb, p_user_id bigint, p_admin boolean, p_turn_id bigint default null) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own constant bigint := relay.ensure_space(p_space);  -- commands alone leave events, but no space
    query constant jsonb := case when p_query ? 'number' then jsonb_build_object('memory_id', (
        select id from memory where space_id = own and number = (p_query ->> 'number')::bigint)) else p_query end;
    plan constant jsonb := relay.erase_plan(own, query, p_user_id, p_admin, 2000);
    made bigint;
    counted constant jsonb := relay.erase_counts(plan);
    asking constant bigint[] := array(
        select e.id from inbox i join event e on e.at = i.received_at and e.bot_id = i.bot_id and e.update_id = i.update_id
        where i.turn_id = p_turn_id);
    asked constant jsonb := relay.theirs_in(array(
        select id from event where id = any (asking) and relay.says(payload::text, plan -> 'needles')));
    newest constant bigint := coalesce((select max(id) from event), 0);
begin
    update event set payload = null where id = any (asking);
    if plan -> 'memories' = '[]' and plan -> 'messages' = '[]' and plan -> 'summaries' = '[]'
        and plan -> 'artefacts' = '[]' and plan -> 'feedback' = '[]'
        and relay.events_saying(own, plan -> 'loose', p_user_id, p_admin, greatest(newest - 2000, 0), newest) = '{}'
        and not relay.has_unlisted(own, plan -> 'loose', p_user_id, p_admin)
    then
        return null;
    end if;
    insert into erasure (space_id, user_id, work, counts, posted) values (own, p_user_id, plan, counted, asked)
    returning id into made;
    return jsonb_build_object('erasure_id', made, 'counts', counted, 'more', plan -> 'more',
        'memories', (select coalesce(jsonb_agg(to_jsonb(m) order by m.id), '[]') from (
            select id, number, content, status from memory
            where id = any (array(select jsonb_array_elements_text(plan -> 'memories')::bigint)) order by id limit 10) m),
        'messages', (select coalesce(jsonb_agg(to_jsonb(m) order by m.id), '[]') from (
            select id, role, name, left(text, 200) as text, created_at as at from message
            where id = any (array(select jsonb_array_elements_text(plan -> 'messages')::bigint))
                and not plan -> 'shortened' @> to_jsonb(id)
            order by id limit 10) m),
        'documents', (select coalesce(jsonb_agg(name order by id), '[]') from document
            where id = any (array(select jsonb_array_elements_text(plan -> 'documents')::bigint))),
        'preferences', (select coalesce(jsonb_agg(pattern order by pattern), '[]') from (
            select distinct pattern from preference
            where id = any (array(select jsonb_array_elements_text(plan -> 'preferences')::bigint))
            order by pattern limit 10) p),
        'artefacts', (select coalesce(jsonb_agg(jsonb_build_object('kind', split_part(name, ':', 1),
                'text', left(body, 200)) order by place), '[]')
            from jsonb_array_elements_text(plan -> 'artefacts') with ordinality as named (name, place)
            cross join relay.artefact(split_part(name, ':', 1), split_part(name, ':', 2)::bigint)
            where place <= 10),
        'began', (select coalesce(jsonb_agg(name order by id), '[]') from composition
            where relay.active_uses(id) > 0 and plan -> 'artefacts' ? ('composition:' || id) and space_id = own),
        'role', exists (select from persona p
            where chat_id = any (relay.chats_of(own)) and relay.says(text, plan -> 'loose') and not relay.is_past(p)),
        'soul', p_admin and exists (select from soul where relay.says(concat_ws(' ', text, reason), plan -> 'needles')),
        'invitation', p_admin and exists (
            select from invite where used_at is null and expires_at > now() and relay.says(for_whom, plan -> 'needles')),
        'others', plan -> 'others',
        'spellings', case when p_query ? 'words' then relay.other_spellings(own, p_query ->> 'words', p_user_id, p_admin) else '[]' end,
        'left', relay.erase_left_over(own, plan, p_user_id, p_admin));
end $$;
