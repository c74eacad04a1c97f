-- What an erasure takes: a memory or whatever has some words, with all that says the same.

-- The words of a text that carry meaning, in lower case, the twelve longest at most.
create or replace function relay.needle_words(p_text text) returns text[]
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
    from (select relay.needle_words(p_text) as words) own where cardinality(words) > 0
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

-- Those of some memories that a person may have erased, the first 200.
create or replace function relay.erasable(p_space_id bigint, p_memories bigint[], p_user_id bigint, p_admin boolean)
returns bigint[]
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(array_agg(id), '{}') from (
        select id from memory
        where id = any (p_memories) and space_id = p_space_id
            and relay.may_erase(p_space_id, subject_id, p_user_id, p_admin) order by id limit 200) allowed
$$;

-- A memory with all that took its place, and all whose place it took.
create or replace function relay.erase_line(p_space_id bigint, p_memory_id bigint) returns bigint[]
language sql stable set search_path = relay, extensions, pg_temp as $$
    with recursive line as (
        select id, replaced_by from memory where space_id = p_space_id and id = p_memory_id
        union
        select near.id, near.replaced_by from line cross join lateral (
            select m.id, m.replaced_by from memory m where m.replaced_by = line.id
            union all
            select m.id, m.replaced_by from memory m where m.id = line.replaced_by) near)
    select coalesce(array_agg(id), '{}') from line
$$;

-- The memories of a space, whatever became of them, that have the words of some needles, or (p_history) once had them.
create or replace function relay.erase_saying(p_space_id bigint, p_needles jsonb, p_history boolean) returns bigint[]
language sql stable set search_path = relay, extensions, pg_temp as $$
    select array(
        select id from memory
        where space_id = p_space_id
            and relay.says(concat_ws(' ', content, category, array_to_string(tags, ' ')), p_needles)
        union
        select memory_id from memory_change
        where p_history and space_id = p_space_id and before is not null and relay.says(before ->> 'content', p_needles))
$$;

-- The memories that rest on the same messages as some others and say half of it, or are in use no more.
create or replace function relay.erase_kin(p_space_id bigint, p_evidence bigint[], p_loose jsonb) returns bigint[]
language sql stable set search_path = relay, extensions, pg_temp as $$
    select array(
        select id from memory
        where space_id = p_space_id and (evidence && p_evidence or source_message_id = any (p_evidence))
            and (status not in ('active', 'pending') or relay.says(content, p_loose)))
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

-- The summaries that were made from some messages, or from such summaries, or that say it; but not what somebody wrote
-- whose words this person may not have erased.
create or replace function relay.erase_summaries(
    p_space_id bigint, p_messages bigint[], p_needles jsonb, p_user_id bigint, p_admin boolean)
returns bigint[]
language sql stable set search_path = relay, extensions, pg_temp as $$
    with recursive gone as materialized (
        select thread_id, array_agg(id order by id) as ids from message where id = any (p_messages) group by thread_id),
    made as (
        select s.id from thread t join summary s on s.thread_id = t.id left join gone g on g.thread_id = t.id
        where t.space_id = p_space_id
            -- one of the messages is between its first and its last
            and (width_bucket(s.through_message_id, g.ids) > width_bucket(s.from_message_id - 1, g.ids)
                or relay.says(s.text, p_needles))
            and (s.author_id is null or relay.may_erase(p_space_id, s.author_id, p_user_id, p_admin))
        union
        select s.id from summary s join made on s.previous_id = made.id
        where s.author_id is null or relay.may_erase(p_space_id, s.author_id, p_user_id, p_admin))
    select coalesce(array_agg(id order by id), '{}') from made
$$;

-- What is looked for: {needles, loose, close, telling}: by some words, as they are given, or by what some memories say.
create or replace function relay.erase_needles(p_query jsonb, p_memories bigint[]) returns jsonb
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    telling text[];
    needles jsonb;
    loose jsonb;
begin
    if p_query ? 'words' then
        telling := array(select distinct word from regexp_split_to_table(lower(btrim(p_query ->> 'words')), '\s+') as word
            where word <> '' limit 12);
        needles := jsonb_build_array(jsonb_build_object('words', to_jsonb(telling), 'least', cardinality(telling)));
        loose := needles;
    else
        -- Lines and lists in the chat show its beginning.
        select coalesce(jsonb_agg(distinct relay.needle_of(text, 0.75)), '[]'),
            coalesce(jsonb_agg(distinct relay.needle_of(text, 0.5)), '[]'), coalesce(array_agg(distinct word), '{}')
        into needles, loose, telling
        from memory m cross join unnest(array[m.content, left(m.content, 89)]) as text
        cross join unnest(relay.needle_words(text)) as word
        where m.id = any (p_memories);
    end if;
    return jsonb_build_object('needles', needles, 'loose', loose, 'telling', telling,
        'close', case when p_query ? 'words' then needles else (
            select coalesce(jsonb_agg(jsonb_build_object('words', jsonb_build_array(word), 'least', 1)), '[]')
            from unnest(telling) as word) end);
end $$;

-- The messages that go, p_most of them, the newest: those from which memories are known, what says it elsewhere, and
-- answers to what goes where they repeat it.
create or replace function relay.erase_messages_meant(
    p_space_id bigint, p_memories bigint[], p_evidence bigint[], p_elsewhere bigint[], p_telling text[],
    p_user_id bigint, p_admin boolean, p_most integer)
returns bigint[]
language sql stable set search_path = relay, extensions, pg_temp as $$
    with meant as (
        select unnest(p_evidence || p_elsewhere) as id
        union
        select r.id from message r
        where r.role = 'assistant' and r.turn_id in (
                select turn_id from message where id = any (p_evidence)
                union select id from turn where user_message_id = any (p_evidence)
                union select turn_id from memory where id = any (p_memories))
            and exists (select from unnest(p_telling) as word where position(word in lower(r.text)) > 0))
    select coalesce(array_agg(id order by id desc), '{}') from (
        select m.id from meant join message m using (id) left join turn t on t.id = m.turn_id
        where m.space_id = p_space_id
            and relay.may_erase(p_space_id, coalesce(m.user_id, t.user_id), p_user_id, p_admin)
        order by m.id desc limit p_most) newest
$$;

-- All that goes: {memories, messages, summaries, documents} as ids, query, needles: what messages are found by, loose: what all
-- that only repeats messages is found by, close: what is found by in what was said along with them, more: whether it is
-- more than p_most messages (then the newest of them).
create or replace function relay.erase_plan(
    p_space_id bigint, p_query jsonb, p_user_id bigint, p_admin boolean, p_most integer)
returns jsonb
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    memories bigint[] := relay.erasable(p_space_id,
        relay.erase_line(p_space_id, (p_query ->> 'memory_id')::bigint), p_user_id, p_admin);
    found constant jsonb := relay.erase_needles(p_query, memories);
    evidence bigint[] := relay.erase_evidence(memories);
    elsewhere constant bigint[] := relay.erase_elsewhere(p_space_id, found -> 'needles', p_query ? 'words');
    messages bigint[];
begin
    memories := memories || relay.erasable(p_space_id, array(
        select unnest(relay.erase_saying(p_space_id, found -> 'needles', p_query ? 'words')
            || relay.erase_kin(p_space_id, evidence, found -> 'loose'))
        except select unnest(memories)), p_user_id, p_admin);
    evidence := relay.erase_evidence(memories);
    messages := relay.erase_messages_meant(p_space_id, memories, evidence, elsewhere,
        array(select jsonb_array_elements_text(found -> 'telling')), p_user_id, p_admin, p_most + 1);
    return jsonb_build_object('query', p_query, 'needles', found -> 'needles', 'loose', found -> 'loose', 'close', found -> 'close',
        'memories', memories, 'messages', messages[:p_most], 'more', cardinality(messages) > p_most,
        'summaries', relay.erase_summaries(p_space_id, messages[:p_most], found -> 'loose', p_user_id, p_admin),
        'documents', coalesce((select jsonb_agg(id) from document where message_id = any (messages[:p_most])), '[]'));
end $$;

-- How much a plan takes: {memories, messages, summaries, documents}.
create or replace function relay.erase_counts(p_plan jsonb) returns jsonb
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select jsonb_object_agg(name, jsonb_array_length(p_plan -> name))
    from unnest(array['memories', 'messages', 'summaries', 'documents']) as name
$$;

-- Words of what goes that a few other messages have too, the rarest first: [{word, messages}], for who wants them all.
create or replace function relay.erase_left(p_space_id bigint, p_plan jsonb) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_agg(to_jsonb(left_over) order by messages, word), '[]') from (
        select word, (
            select count(*) from (
                select from message m
                where relay.words_of_space(m.space_id, m.words) @@ relay.word_of_space(p_space_id, word)::tsquery
                    and m.space_id = p_space_id
                    and m.id <> all (array(select jsonb_array_elements_text(p_plan -> 'messages')::bigint))
                limit 21) few) as messages
        from (select distinct word from jsonb_array_elements(p_plan -> 'needles') as needle,
            jsonb_array_elements_text(needle -> 'words') as word) own
        where length(word) >= 4) left_over
    where messages between 1 and 20
$$;

-- Takes down what an erasure would take, for a quarter of an hour, and shows it: {erasure_id, memories, messages (ten of
-- each at most), counts, documents: their names, left, more}. Null when there is nothing. p_turn_id: in which it was asked
-- for; its words are not kept as an event.
create or replace function public.relay_erase_preview(
    p_space jsonb, p_query jsonb, p_user_id bigint, p_admin boolean, p_turn_id bigint default null)
returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own constant bigint := relay.find_space(p_space);
    query constant jsonb := case when p_query ? 'number' then jsonb_build_object('memory_id', (
        select id from memory where space_id = own and number = (p_query ->> 'number')::bigint)) else p_query end;
    plan constant jsonb := relay.erase_plan(own, query, p_user_id, p_admin, 2000);
    made bigint;
    counted constant jsonb := relay.erase_counts(plan);
begin
    update event e set payload = null from inbox i
    where i.turn_id = p_turn_id and e.at = i.received_at and e.bot_id = i.bot_id and e.update_id = i.update_id;
    if own is null or plan -> 'memories' = '[]' and plan -> 'messages' = '[]' and plan -> 'summaries' = '[]' then
        return null;
    end if;
    insert into erasure (space_id, user_id, work, counts) values (own, p_user_id, plan, counted) returning id into made;
    return jsonb_build_object('erasure_id', made, 'counts', counted, 'more', plan -> 'more',
        'memories', (select coalesce(jsonb_agg(to_jsonb(m) order by m.id), '[]') from (
            select id, number, content, status from memory
            where id = any (array(select jsonb_array_elements_text(plan -> 'memories')::bigint)) order by id limit 10) m),
        'messages', (select coalesce(jsonb_agg(to_jsonb(m) order by m.id), '[]') from (
            select id, role, name, left(text, 200) as text, created_at as at from message
            where id = any (array(select jsonb_array_elements_text(plan -> 'messages')::bigint))
            order by id limit 10) m),
        'documents', (select coalesce(jsonb_agg(name order by id), '[]') from document
            where id = any (array(select jsonb_array_elements_text(plan -> 'documents')::bigint))),
        'left', relay.erase_left(own, plan));
end $$;
