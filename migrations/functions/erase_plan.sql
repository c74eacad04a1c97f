-- What an erasure takes: a memory or whatever has some words, with all that says the same.

-- The words of a text that carry meaning, in lower case, the twelve longest at most.
create or replace function relay.own_words(p_text text) returns text[]
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(array_agg(word order by length(word) desc, word), '{}') from (
        select word from (select distinct lexeme as word from unnest(to_tsvector('simple', left(p_text, 2000)))) found
        where length(word) between 3 and 60
            and not (ts_lexize('english_stem', word) = '{}' or ts_lexize('german_stem', word) = '{}'
                or ts_lexize('french_stem', word) = '{}' or ts_lexize('spanish_stem', word) = '{}')
        order by length(word) desc, word limit 12) telling
$$;

-- By what it is known that a text says the same as another: such a share of its telling words, two at least.
create or replace function relay.needle_of(p_text text, p_share real) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('words', to_jsonb(words),
        'least', least(cardinality(words), greatest(2, ceil(cardinality(words) * p_share)::integer)))
    from (select relay.own_words(p_text) as words) own where cardinality(words) > 0
$$;

-- Whether a text has enough of the words of one of some needles [{words, least}], wherever in it.
create or replace function relay.says(p_text text, p_needles jsonb) returns boolean
language plpgsql immutable set search_path = relay, extensions, pg_temp as $$
declare
    body constant text := lower(p_text);
    needle jsonb;
begin
    for needle in select * from jsonb_array_elements(p_needles) loop
        if (select count(*) from jsonb_array_elements_text(needle -> 'words') as word where position(word in body) > 0)
            >= (needle ->> 'least')::integer
        then
            return true;
        end if;
    end loop;
    return false;
end $$;

-- A word as the index of a space has it, in the text form of a tsquery; null when it has none such.
create or replace function relay.word_of_space(p_space_id bigint, p_word text) returns text
language sql stable set search_path = relay, extensions, pg_temp as $$
    select '''' || p_space_id || ':' || replace(replace(lexeme, '\', '\\'), '''', '''''') || ''''
    from unnest(to_tsvector('simple', p_word)) order by length(lexeme) desc, lexeme limit 1
$$;

-- What every text has that a needle fits, as the index of a space has it: of words of which some may lack, so many more
-- than may lack.
create or replace function relay.needle_query(p_space_id bigint, p_needle jsonb) returns tsquery
language sql stable set search_path = relay, extensions, pg_temp as $$
    select string_agg(relay.word_of_space(p_space_id, word) || ':*', ' | ')::tsquery
    from (
        select word from jsonb_array_elements_text(p_needle -> 'words') with ordinality as given (word, place)
        order by length(word) desc, place
        limit jsonb_array_length(p_needle -> 'words') - (p_needle ->> 'least')::integer + 1) few
$$;

-- Whether a person may have erased what somebody said (or was told): in their own space all, in a group their own; an
-- admin all.
create or replace function relay.may_erase(p_space_id bigint, p_of bigint, p_user_id bigint, p_admin boolean)
returns boolean
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce((select case kind when 'private' then owner_id = p_user_id else p_admin or p_of = p_user_id end
        from space where id = p_space_id), false)
$$;

-- The memories that are meant, whatever became of them, 200 at most: one with those whose place it took, or all that
-- have, or had, the words.
create or replace function relay.erase_memories_meant(
    p_space_id bigint, p_query jsonb, p_needles jsonb, p_user_id bigint, p_admin boolean)
returns bigint[]
language sql stable set search_path = relay, extensions, pg_temp as $$
    with recursive line as (
        select id from memory where space_id = p_space_id and id = (p_query ->> 'memory_id')::bigint
        union
        select m.id from memory m join line on m.replaced_by = line.id),
    meant as (
        select id from line
        union
        select id from memory
        where space_id = p_space_id and p_query ? 'words'
            and relay.says(concat_ws(' ', content, category, array_to_string(tags, ' ')), p_needles)
        union
        select memory_id from memory_change
        where space_id = p_space_id and p_query ? 'words' and before is not null
            and relay.says(before ->> 'content', p_needles))
    select coalesce(array_agg(id), '{}') from (
        select m.id from meant join memory m using (id)
        where relay.may_erase(p_space_id, m.subject_id, p_user_id, p_admin) order by m.id limit 200) allowed
$$;

-- The messages from which memories are known: those they were learned from, or that said them again.
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

-- Messages that say it elsewhere: found by the index, 5,000 looked at, or because they brought a document that does.
create or replace function relay.erase_elsewhere(p_space_id bigint, p_needles jsonb, p_documents boolean)
returns bigint[]
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(array_agg(distinct found.id), '{}')
    from jsonb_array_elements(p_needles) as needle cross join lateral (
        (select id from (
            select id, text from message
            where relay.words_of_space(space_id, words) @@ relay.needle_query(p_space_id, needle)
                and space_id = p_space_id
            limit 5000) near where relay.says(near.text, jsonb_build_array(needle)))
        union all
        (select d.message_id from (
            select document_id, text from document_part
            where p_documents and relay.words_of_space(space_id, words) @@ relay.needle_query(p_space_id, needle)
                and space_id = p_space_id
            limit 5000) near join document d on d.id = near.document_id
            where relay.says(near.text, jsonb_build_array(needle)))) found
$$;

-- The summaries that were made from some messages, or from such summaries, or that say it.
create or replace function relay.erase_summaries(p_space_id bigint, p_messages bigint[], p_needles jsonb)
returns bigint[]
language sql stable set search_path = relay, extensions, pg_temp as $$
    with recursive own as (
        select s.* from thread t join summary s on s.thread_id = t.id where t.space_id = p_space_id),
    made as (
        select s.id from own s where exists (
                select from message m where m.id = any (p_messages) and m.thread_id = s.thread_id
                    and m.id between s.from_message_id and s.through_message_id)
            or relay.says(s.text, p_needles)
        union
        select s.id from summary s join made on s.previous_id = made.id)
    select coalesce(array_agg(id order by id), '{}') from made
$$;

-- All that goes: {memories, messages, summaries, documents} as ids, needles: what messages are found by, loose: what all
-- that only repeats messages is found by, more: whether it is more than p_most messages (then the newest of them).
create or replace function relay.erase_plan(
    p_space_id bigint, p_query jsonb, p_user_id bigint, p_admin boolean, p_most integer)
returns jsonb
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    needles jsonb := '[]';
    loose jsonb := '[]';
    telling text[] := '{}';
    memories bigint[];
    evidence bigint[];
    messages bigint[];
begin
    if p_query ? 'words' then
        telling := array(select distinct word from regexp_split_to_table(lower(btrim(p_query ->> 'words')), '\s+') as word
            where word <> '' limit 12);
        needles := jsonb_build_array(jsonb_build_object('words', to_jsonb(telling), 'least', cardinality(telling)));
        loose := needles;
    end if;
    memories := relay.erase_memories_meant(p_space_id, p_query, needles, p_user_id, p_admin);
    if not p_query ? 'words' then
        -- Lines and lists in the chat show its beginning.
        select coalesce(jsonb_agg(distinct relay.needle_of(text, 0.75)), '[]'),
            coalesce(jsonb_agg(distinct relay.needle_of(text, 0.5)), '[]'), coalesce(array_agg(distinct word), '{}')
        into needles, loose, telling
        from memory m cross join unnest(array[m.content, left(m.content, 89)]) as text
        cross join unnest(relay.own_words(text)) as word
        where m.id = any (memories);
    end if;
    evidence := relay.erase_evidence(memories);
    select array_agg(id order by id desc) into messages from (
        select m.id from message m left join turn t on t.id = m.turn_id
        where m.space_id = p_space_id and (m.id = any (evidence)
            or m.id = any (relay.erase_elsewhere(p_space_id, needles, p_query ? 'words'))
            -- answers to what goes, where they repeat it
            or m.role = 'assistant' and m.turn_id in (
                select turn_id from message where id = any (evidence)
                union select id from turn where user_message_id = any (evidence)
                union select turn_id from memory where id = any (memories))
                and exists (select from unnest(telling) as word where position(word in lower(m.text)) > 0))
            and relay.may_erase(p_space_id, coalesce(m.user_id, t.user_id), p_user_id, p_admin)
        order by m.id desc limit p_most + 1) meant;
    messages := coalesce(messages, '{}');
    return jsonb_build_object('needles', needles, 'loose', loose, 'memories', memories, 'messages', messages[:p_most],
        'more', cardinality(messages) > p_most,
        'summaries', relay.erase_summaries(p_space_id, messages[:p_most], loose),
        'documents', coalesce((select jsonb_agg(id) from document where message_id = any (messages[:p_most])), '[]'));
end $$;

-- Words of what goes that a few other messages have too, the rarest first: [{word, messages}], for who wants them all.
create or replace function relay.erase_left(p_space_id bigint, p_plan jsonb) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_agg(to_jsonb(left_over) order by messages, word), '[]') from (
        select word, (
            select count(*) from (
                select from message m
                where relay.words_of_space(m.space_id, m.words) @@ relay.word_of_space(p_space_id, word)::tsquery
                    and m.space_id = p_space_id
                    and not m.id = any (array(select jsonb_array_elements_text(p_plan -> 'messages')::bigint))
                limit 21) few) as messages
        from (select distinct word from jsonb_array_elements(p_plan -> 'needles') as needle,
            jsonb_array_elements_text(needle -> 'words') as word) own
        where length(word) >= 4) left_over
    where messages between 1 and 20
$$;

-- Takes down what an erasure would take, for a quarter of an hour, and shows it: {erasure_id, memories, messages (ten of
-- each at most), counts, documents: their names, left, more}. Null when there is nothing.
create or replace function public.relay_erase_preview(
    p_space jsonb, p_query jsonb, p_user_id bigint, p_admin boolean)
returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own constant bigint := relay.find_space(p_space);
    plan constant jsonb := relay.erase_plan(own, p_query, p_user_id, p_admin, 2000);
    made bigint;
    counted jsonb;
begin
    delete from erasure where status = 'preview' and created_at < now() - interval '15 minutes';
    if own is null or plan -> 'memories' = '[]' and plan -> 'messages' = '[]' and plan -> 'summaries' = '[]' then
        return null;
    end if;
    select jsonb_object_agg(name, jsonb_array_length(plan -> name)) into counted
    from unnest(array['memories', 'messages', 'summaries', 'documents']) as name;
    insert into erasure (space_id, user_id, work, counts) values (own, p_user_id, plan, counted) returning id into made;
    return jsonb_build_object('erasure_id', made, 'counts', counted, 'more', plan -> 'more',
        'memories', (select coalesce(jsonb_agg(to_jsonb(m) order by m.id), '[]') from (
            select id, content, status from memory
            where id = any (array(select jsonb_array_elements_text(plan -> 'memories')::bigint)) order by id limit 10) m),
        'messages', (select coalesce(jsonb_agg(to_jsonb(m) order by m.id), '[]') from (
            select id, role, name, left(text, 200) as text, created_at as at from message
            where id = any (array(select jsonb_array_elements_text(plan -> 'messages')::bigint))
            order by id limit 10) m),
        'documents', (select coalesce(jsonb_agg(name order by id), '[]') from document
            where id = any (array(select jsonb_array_elements_text(plan -> 'documents')::bigint))),
        'left', relay.erase_left(own, plan));
end $$;
