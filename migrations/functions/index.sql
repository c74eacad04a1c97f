-- The search index: relay.entry and word counts, built from messages, artefacts and document parts. Triggers keep it
-- current; what a turn writes is indexed soon after.

-- Detects a text's language, as PostgreSQL names it: the one with the most stop words at its beginning, or simple if
-- there are none. One expression per language, because a loop takes three times as long; the dictionaries know stop
-- words only, because stemming takes more than twice as long.
create or replace function relay.language_of(p_text text) returns text
language plpgsql immutable set search_path = relay, extensions, pg_temp as $$
declare
    languages constant text[] := array['english', 'german', 'french', 'spanish', 'italian', 'portuguese', 'dutch',
        'russian', 'swedish', 'norwegian', 'danish', 'finnish', 'hungarian', 'turkish'];
    stops bigint[];
    most bigint;
begin
    select array[
        count(*) filter (where ts_lexize('english_stop', word) = '{}'),
        count(*) filter (where ts_lexize('german_stop', word) = '{}'),
        count(*) filter (where ts_lexize('french_stop', word) = '{}'),
        count(*) filter (where ts_lexize('spanish_stop', word) = '{}'),
        count(*) filter (where ts_lexize('italian_stop', word) = '{}'),
        count(*) filter (where ts_lexize('portuguese_stop', word) = '{}'),
        count(*) filter (where ts_lexize('dutch_stop', word) = '{}'),
        count(*) filter (where ts_lexize('russian_stop', word) = '{}'),
        count(*) filter (where ts_lexize('swedish_stop', word) = '{}'),
        count(*) filter (where ts_lexize('norwegian_stop', word) = '{}'),
        count(*) filter (where ts_lexize('danish_stop', word) = '{}'),
        count(*) filter (where ts_lexize('finnish_stop', word) = '{}'),
        count(*) filter (where ts_lexize('hungarian_stop', word) = '{}'),
        count(*) filter (where ts_lexize('turkish_stop', word) = '{}')] into stops
    from (
        select word from unnest(regexp_split_to_array(lower(left(p_text, 600)), '[^[:alpha:]]+')) as word
        where length(word) between 1 and 7 limit 40) short;
    select max(one) into most from unnest(stops) as one;
    return case when most > 0 then languages[array_position(stops, most)] else 'simple' end;
end $$;

-- Tests whether the beginning of a text names a time, in the most common languages.
create or replace function relay.names_time(p_text text) returns boolean
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select to_tsvector('simple', left(p_text, 1000)) @@ ('yesterday|today|tomorrow|tonight|ago|last|next|since|weekend|week'
        || '|weeks|month|months|year|years|day|days|january|february|march|april|may|june|july|august|september|october'
        || '|november|december|monday|tuesday|wednesday|thursday|friday|saturday|sunday|gestern|heute|morgen|letzte'
        || '|letzten|letzter|letztes|nächste|nächsten|nächster|nächstes|woche|wochen|monat|monate|monaten|jahr|jahre'
        || '|jahren|tag|tage|tagen|januar|februar|märz|mai|juni|juli|oktober|dezember|montag|dienstag|mittwoch|donnerstag'
        || '|freitag|samstag|sonntag|hier|aujourd|demain|dernier|dernière|prochain|prochaine|semaine|semaines|mois|an|ans'
        || '|année|années|jour|jours|janvier|février|mars|avril|juin|juillet|août|septembre|octobre|novembre|décembre'
        || '|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|ayer|hoy|mañana|semana|semanas|mes|meses|año|años|día|días'
        || '|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre|lunes|martes'
        || '|miércoles|jueves|viernes|sábado|domingo|вчера|сегодня|завтра|назад|неделю|недели|неделе|месяц|месяца|месяце|год'
        || '|года|году|понедельник|вторник|среду|четверг|пятницу|субботу|воскресенье|января|февраля|марта|апреля|мая|июня'
        || '|июля|августа|сентября|октября|ноября|декабря|wczoraj|dzisiaj|jutro|temu|tydzień|tygodniu|miesiąc|miesiącu|roku'
        || '|lat|poniedziałek|wtorek|środę|czwartek|piątek|sobotę|niedzielę|dün|bugün|yarın|önce|hafta|أمس|اليوم|غدا|منذ'
        || '|أسبوع|أسابيع|شهر|أشهر|سنة|سنوات|ieri|oggi|domani|settimana|settimane|mese|mesi|anno|anni|ontem|amanhã')::tsquery
        or left(p_text, 1000) ~ ('\m(19|20)\d\d\M|\m\d{1,2}[./]\d|\d[年月日号號时時点點]|[昨今明后後][天日]|[上下先来來今本][周週月年]|[周週]末|星期'
            || '|어제|오늘|내일|모레|[월화수목금토일]요일|지난|다음 주|\d[년월일시]')
$$;

-- Splits text in scripts without spaces into what PostgreSQL can index as words. Nobody knows where a word ends, so
-- each pair of neighbouring letters is one. A Chinese character is also a word by itself, and a run of Katakana stays
-- whole. A question (p_asks) gets only pairs, and a single character only if it is by itself: no pair has a character
-- that merely joins words (的, 是), or the last syllable of a Korean word, which is mostly a particle. After Apache
-- Lucene's CJKBigramFilter.
create or replace function relay.set_apart(p_text text, p_asks boolean) returns text
language plpgsql immutable set search_path = relay, extensions, pg_temp as $$
begin
    if not relay.is_unspaced(p_text) then
        return p_text;
    end if;
    return (
        with sign as (
            select nr, sign, case
                    when sign < U&'\0E00' collate "C" then null
                    when sign < U&'\0F00' collate "C" then 'thai'  -- and Lao
                    when sign between U&'\3041' and U&'\309F' collate "C" then 'hiragana'
                    when sign between U&'\30A1' and U&'\30FF' collate "C" then 'katakana'
                    when p_asks and strpos('的了吗嗎呢吧啊是我你您他她它们們这這那哪谁誰什么麼怎几幾在和就也都请請呀嘛被把跟与與及或何', sign) > 0
                        then 'binds'
                    when sign between U&'\3400' and U&'\9FFF' collate "C" or sign = '々' then 'han'
                    when sign between U&'\AC00' and U&'\D7AF' collate "C" then 'hangul' end as script
            from string_to_table(p_text, null) with ordinality as t (sign, nr)),
        beside as (
            select *, lag(script) over (order by nr) as before, lead(script) over (order by nr) as after,
                lead(sign) over (order by nr) as next, lead(script, 2) over (order by nr) as second
            from sign)
        select string_agg(case
            when script is null or script = 'katakana'
                then case when before is distinct from script then ' ' else '' end || sign
            when script = 'binds' then ' '
            else ' ' || case when script = 'han' and not p_asks or script <> 'hiragana'
                    and before is distinct from script and after is distinct from script then sign || ' ' else '' end
                || case when after is distinct from script or p_asks and script = 'hangul'
                        and before is not distinct from script and second is distinct from script then ''
                    else sign || next end end, '' order by nr)
        from beside);
end $$;

-- Returns the entries that a source should have. None for off-the-record sessions, replaced messages, memories not in
-- force (archived ones count as in force), and artefacts that declare that they are not found.
create or replace function relay.findable(p_kind text, p_id bigint, p_part integer)
returns table (space_id bigint, part integer, thread_id bigint, session_id bigint, role text, user_id bigint, name text,
    label text, tags text[], at timestamptz, text text)
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
#variable_conflict use_column
begin
    if p_kind = 'message' then
        return query select m.space_id, 0, m.thread_id, m.session_id, m.role, m.user_id, m.name, null, '{}'::text[],
                m.created_at, relay.plain_text(m)
            from message m join session s on s.id = m.session_id
            where m.id = p_id and m.status <> 'replaced' and not s.private;
    elsif p_kind = 'memory' then
        return query select k.space_id, 0, k.thread_id, k.session_id, null, k.subject_id, k.subject, k.kind,
                array_remove(k.tags, null), k.created_at, k.content
            from memory k left join session s on s.id = k.session_id
            where k.id = p_id and k.status in ('active', 'archived') and s.private is not true;
    elsif p_kind <> 'part' then
        return query select a.space_id, 0, a.thread_id, a.session_id, null, null::bigint, null, null, '{}'::text[],
                a.at, a.body
            from relay.artefact(p_kind, p_id) a left join session s on s.id = a.session_id
            where a.found and s.private is not true;
    else
        return query select p.space_id, p.part, m.thread_id, m.session_id, m.role, m.user_id, m.name, null, '{}'::text[],
                m.created_at, p.text
            from document_part p join document d on d.id = p.document_id join message m on m.id = d.message_id
                join session s on s.id = m.session_id
            where p.document_id = p_id and (p_part is null or p.part = p_part) and m.status <> 'replaced'
                and not s.private;
    end if;
end $$;

-- Returns an entry's text without its author: the input of its vector.
create or replace function relay.entry_text(p_entry relay.entry) returns text
language sql stable set search_path = relay, extensions, pg_temp as $$
    select case p_entry.kind
        when 'message' then (select relay.plain_text(m) from message m where id = p_entry.source_id)
        when 'memory' then (select content from memory where id = p_entry.source_id)
        when 'part' then (select text from document_part where document_id = p_entry.source_id and part = p_entry.part)
        else (select body from relay.artefact(p_entry.kind, p_entry.source_id)) end
$$;

-- Indexes sources of a kind (for a document: one part, or all with null). Uses indexes alone: see relay.reindex.
create or replace function relay.enter(p_kind text, p_ids bigint[], p_parts integer[]) returns void
language sql set search_path = relay, extensions, pg_temp set enable_seqscan = off set jit = off as $$
    insert into entry as e (space_id, kind, source_id, part, thread_id, session_id, role, user_id, name, label, tags, at,
        language, words, length, asks, dated, standing, digest)
    select f.space_id, p_kind, source.id, f.part, f.thread_id, f.session_id, f.role, f.user_id, f.name, f.label, f.tags,
        f.at, spoken.language, made.words, (
            select coalesce(sum(cardinality(positions)), 0) from unnest(made.words)),
        f.text ~ '[?？؟]\W*$', relay.names_time(f.text),
        p_kind = 'message' and f.role = 'user' and (relay.is_standing(f.text) or relay.is_standing_elsewhere(f.text)), md5(f::text)::uuid
    from unnest(p_ids, p_parts) as source (id, part), relay.findable(p_kind, source.id, source.part) f,
        relay.language_of(f.text) as spoken (language),
        -- Split, Chinese text takes six times the space, and a tsvector holds at most 1 MB.
        to_tsvector(spoken.language::regconfig, left(relay.set_apart(left(f.text, 200000), false), 200000)
            || relay.words_in_names(f.text)) as made (words)
    on conflict (kind, source_id, part) do update set space_id = excluded.space_id, thread_id = excluded.thread_id,
        session_id = excluded.session_id, role = excluded.role, user_id = excluded.user_id, name = excluded.name,
        label = excluded.label, tags = excluded.tags, at = excluded.at, language = excluded.language,
        words = excluded.words, length = excluded.length, asks = excluded.asks, dated = excluded.dated,
        standing = excluded.standing, digest = excluded.digest
    where e.digest <> excluded.digest
$$;

-- Updates the entries of one source (for a document: one part, or all). A long document's are built later; entries that
-- must not be found any more are deleted at once. Uses indexes alone: their references are looked up, one by one, with a plan
-- that is kept, even if it was made while the queue for vectors was empty. (Before PostgreSQL 18, the cost of a scan that is
-- off would have it compiled.)
create or replace function relay.reindex(p_kind text, p_id bigint, p_part integer default null) returns void
language plpgsql set search_path = relay, extensions, pg_temp set enable_seqscan = off set jit = off as $$
declare
    later constant boolean := p_kind = 'part' and p_part is null
        and (select parts > 50 from document where id = p_id);
begin
    if current_setting('relay.index', true) = 'later' then
        return;
    elsif later then
        insert into index_due (document_id) values (p_id) on conflict (document_id) do update set after_part = 0;
    else
        perform relay.enter(p_kind, array[p_id], array[p_part]);
    end if;
    with present as materialized (select * from relay.findable(p_kind, p_id, p_part))
    delete from entry e
    where e.kind = p_kind and e.source_id = p_id and (p_part is null or e.part = p_part)
        and not exists (select from present f where f.part = e.part and f.space_id = e.space_id);
end $$;

-- Returns the words that an entry counts under: its own, its language as ':english', and its author as '@ada'.
create or replace function relay.counted_words(p_entry relay.entry) returns table (word text)
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select word from unnest(tsvector_to_array(p_entry.words)) as word where octet_length(word) <= 255
    union all
    select ':' || p_entry.language
    union all
    select '@' || relay.first_name(p_entry.name) where relay.first_name(p_entry.name) <> ''
$$;

-- Returns the first word of a name, as it appears in texts.
create or replace function relay.first_name(p_name text) returns text
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select lower(left(substring(p_name from '\w+'), 60))
$$;

-- Applies pending changes to word counts. One process at a time; concurrent callers leave it to the next run. Uses indexes
-- alone: see relay.reindex.
create or replace function relay.add_up_words(p_limit integer) returns void
language plpgsql set search_path = relay, extensions, pg_temp set enable_seqscan = off set jit = off as $$
begin
    if not pg_try_advisory_xact_lock(hashtext('relay.lexeme')) then
        return;
    end if;
    -- By a bound, not by a join: a plan made while the table was empty would join each row with each.
    with gone as (
        delete from lexeme_change
        where id <= (select max(id) from (select id from lexeme_change order by id limit p_limit) as next)
        returning space_id, word, change)
    insert into lexeme as l (space_id, word, entries)
    select space_id, word, sum(change) from gone group by space_id, word having sum(change) <> 0
    on conflict (space_id, word) do update set entries = l.entries + excluded.entries;
end $$;

-- Applies a space's pending word counts and deletes words with none left, so that no trace of them remains. The caller
-- holds relay.lexeme.
create or replace function relay.add_up_space(p_space_id bigint) returns void
language sql set search_path = relay, extensions, pg_temp as $$
    with gone as (delete from lexeme_change where space_id = p_space_id returning word, change)
    insert into lexeme as l (space_id, word, entries)
    select p_space_id, word, sum(change) from gone group by word having sum(change) <> 0
    on conflict (space_id, word) do update set entries = l.entries + excluded.entries;
    delete from lexeme where space_id = p_space_id and entries <= 0
$$;

-- After entries are written: counts their words (at once if relay.counts is `now`), and queues changed texts for new
-- vectors.
create or replace function relay.entries_made() returns trigger
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    if current_setting('relay.counts', true) = 'now' then
        insert into lexeme as l (space_id, word, entries)
        select made.space_id, w.word, count(*) from made, relay.counted_words(made::entry) w
        group by made.space_id, w.word
        on conflict (space_id, word) do update set entries = l.entries + excluded.entries;
    else
        insert into lexeme_change (space_id, word, change)
        select made.space_id, w.word, count(*) from made, relay.counted_words(made::entry) w
        group by made.space_id, w.word;
    end if;
    -- Versions repeat messages, which have vectors of their own.
    insert into embed_due (entry_id) select id from made where kind <> 'version'
    on conflict (entry_id) do update set since = now();
    if exists (select from made where id % 64 = 0) then
        perform relay.add_up_words(5000);
    end if;
    return null;
end $$;

create or replace function relay.entries_changed() returns trigger
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    if not exists (select from made) then
        return null;  -- the statement changed no row
    end if;
    insert into lexeme_change (space_id, word, change)
    select space_id, word, sum(change) from (
        select gone.space_id, w.word, -1 as change from gone, relay.counted_words(gone::entry) w
        union all
        select made.space_id, w.word, 1 from made, relay.counted_words(made::entry) w) counted
    group by space_id, word having sum(change) <> 0;
    insert into embed_due (entry_id)
    select made.id from made join gone using (id) where made.digest <> gone.digest and made.kind <> 'version'
    on conflict (entry_id) do update set since = now();
    -- The vector of former words answers no question any more, and must not outlive what was erased of them.
    delete from embedding where entry_id in (
        select v.entry_id from made join gone using (id) join embedding v on v.entry_id = made.id
        where made.words <> gone.words order by v.entry_id for update of v skip locked);
    return null;
end $$;

create or replace function relay.entries_gone() returns trigger
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    if not exists (select from gone) then
        return null;  -- the statement changed no row
    end if;
    insert into lexeme_change (space_id, word, change)
    select gone.space_id, w.word, -count(*) from gone, relay.counted_words(gone::entry) w group by gone.space_id, w.word;
    return null;
end $$;

create or replace trigger entries_made after insert on relay.entry
    referencing new table as made for each statement execute function relay.entries_made();
create or replace trigger entries_changed after update on relay.entry
    referencing old table as gone new table as made for each statement execute function relay.entries_changed();
create or replace trigger entries_gone after delete on relay.entry
    referencing old table as gone for each statement execute function relay.entries_gone();

-- Triggers on the sources, and filling in missing entries.

-- After a message changes, updates its entry and those of its documents. What a turn writes (relay.index is `soon`) is
-- indexed soon after.
create or replace function relay.message_written() returns trigger
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own bigint := coalesce(new.id, old.id);
begin
    if tg_op = 'INSERT' then  -- it can have no entry that is to go
        case current_setting('relay.index', true)
            when 'soon' then insert into entry_due (message_id) values (own);
            when 'later' then null;
            else perform relay.enter('message', array[own], array[null::integer]);
        end case;
        return null;
    end if;
    perform relay.reindex('message', own);
    if tg_op = 'UPDATE' then
        perform relay.reindex('part', d.id) from document d where d.message_id = own;
    end if;
    return null;
end $$;
create or replace trigger message_written
    after insert or update of space_id, thread_id, session_id, role, user_id, name, text, status, created_at or delete
    on relay.message for each row execute function relay.message_written();

create or replace trigger memory_written
    after insert or update of space_id, kind, subject_id, subject, content, tags, status, thread_id, session_id, created_at
    or delete on relay.memory for each row execute function relay.artefact_written('memory');

-- After a summary changes, updates its entry and that of its session's latest other one: only the latest is found.
create or replace function relay.summary_written() returns trigger
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own constant bigint := coalesce(new.id, old.id);
begin
    perform relay.reindex('summary', own);
    perform relay.reindex('summary', (
        select id from summary where session_id = one and id <> own order by through_message_id desc, id desc limit 1))
    from unnest(array[old.session_id, new.session_id]) as one group by one having one is not null;
    return null;
end $$;
create or replace trigger summary_written
    after insert or update of thread_id, session_id, through_message_id, text, created_at or delete
    on relay.summary for each row execute function relay.summary_written();

-- After document parts change, updates their entries; many at once are updated later.
create or replace function relay.parts_written() returns trigger
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    if current_setting('relay.index', true) = 'later' then
        return null;
    elsif (select count(*) from made) > 50 then
        insert into index_due (document_id) select distinct document_id from made
        on conflict (document_id) do update set after_part = 0;
    else
        perform relay.enter('part', array_agg(document_id), array_agg(part)) from made;
    end if;
    return null;
end $$;
create or replace trigger parts_made after insert on relay.document_part
    referencing new table as made for each statement execute function relay.parts_written();
create or replace trigger parts_changed after update on relay.document_part
    referencing new table as made for each statement execute function relay.parts_written();

create or replace function relay.part_gone() returns trigger
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    perform relay.reindex('part', old.document_id, old.part);
    return null;
end $$;
create or replace trigger part_gone after delete
    on relay.document_part for each row execute function relay.part_gone();

create or replace function relay.document_written() returns trigger
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    perform relay.reindex('part', new.id);
    return null;
end $$;
create or replace trigger document_written after update of message_id, space_id
    on relay.document for each row when (old.message_id <> new.message_id or old.space_id <> new.space_id)
    execute function relay.document_written();

-- After a session goes on or off the record, or moves to another space, updates all its entries.
create or replace function relay.session_written() returns trigger
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    perform relay.reindex('message', id) from message where session_id = new.id;
    perform relay.reindex(k.kind, id) from relay.artefact_kinds() k, relay.artefact_ids(k.kind, 't.session_id = $1', new.id) id;
    perform relay.reindex('part', d.id) from message m join document d on d.message_id = m.id
        where m.session_id = new.id;
    return null;
end $$;
create or replace trigger session_written after update of private, space_id
    on relay.session for each row when (old.private <> new.private or old.space_id <> new.space_id)
    execute function relay.session_written();

-- Returns the next sources in a table after an id (and part) whose entries may be missing, in order.
create or replace function relay.unindexed(p_table text, p_after bigint, p_part integer, p_limit integer)
returns table (id bigint, part integer)
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
begin
    if p_table = 'document_part' then
        return query select document_id, p.part from document_part p
            where (document_id, p.part) > (p_after, p_part) order by document_id, p.part limit p_limit;
    else
        return query execute format('select id, 0 from relay.%I where id > $1 order by id limit $2', p_table)
            using p_after, p_limit;
    end if;
end $$;

-- Indexes waiting parts of long documents for up to half a second. Returns how many.
create or replace function relay.index_documents() returns integer
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    due index_due;
    next integer[];
    looked integer := 0;
begin
    loop
        select * into due from index_due order by document_id limit 1 for update;
        exit when not found;
        next := array(select part from document_part
            where document_id = due.document_id and part > due.after_part order by part limit 5);
        if next = '{}' then
            delete from index_due where document_id = due.document_id;
        else
            perform relay.enter('part', array_fill(due.document_id, array[cardinality(next)]), next);
            update index_due set after_part = next[cardinality(next)] where document_id = due.document_id;
            looked := looked + cardinality(next);
        end if;
        exit when clock_timestamp() > statement_timestamp() + interval '0.5 seconds';
    end loop;
    return looked;
end $$;

-- Indexes waiting messages of turns, up to p_limit. Returns how many. Skips messages that are being changed; a process
-- that waits for one finds its entry. Goes in order of ids, like all indexing of messages, to avoid deadlocks. Does not
-- wait for the disk: what a crash loses is due again.
create or replace function relay.enter_due(p_limit integer) returns integer
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    due constant bigint[] := array(
        select message_id from entry_due order by message_id limit p_limit for update skip locked);
    ids bigint[];
begin
    if due = '{}' then
        return 0;
    end if;
    perform set_config('synchronous_commit', 'off', true);
    ids := array(
        select m.id from message m join session s on s.id = m.session_id where m.id = any (due)
        order by m.id for share skip locked);
    perform relay.enter('message', ids, array_fill(null::integer, array[cardinality(ids)]));
    delete from entry_due d
    where d.message_id = any (due)
        and (d.message_id = any (ids) or not exists (select from message where id = d.message_id));
    return cardinality(ids);
end $$;

-- Merges the pending list of the message index. Only its owner may; otherwise the turn that overfills the list does it.
create or replace function relay.sort_in_words() returns void
language sql set search_path = relay, extensions, pg_temp as $$
    select gin_clean_pending_list(oid) from pg_class
    where oid = 'relay.message_words'::regclass and pg_has_role(relowner, 'usage')
$$;

-- Indexes parts of long documents and up to p_limit messages of turns, for half a second. Returns how many.
create or replace function relay.enter_waiting(p_limit integer, out documents integer, out messages integer) returns record
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    due integer;
begin
    perform pg_advisory_xact_lock(hashtext('relay.index_missing'));
    -- All others take this lock first, so nobody who holds rows waits for it.
    perform set_config('relay.counts', case when pg_try_advisory_xact_lock(hashtext('relay.lexeme')) then 'now' else '' end, true);
    documents := relay.index_documents();
    messages := 0;
    loop
        exit when documents + messages >= p_limit or clock_timestamp() > statement_timestamp() + interval '0.5 seconds';
        due := relay.enter_due(least(50, p_limit - documents - messages));
        exit when due = 0;
        messages := messages + due;
    end loop;
end $$;

-- Indexes what turns wrote, up to p_limit sources and for half a second. Returns whether more may remain.
create or replace function public.relay_index_due(p_limit integer) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    looked constant integer := (select documents + messages from relay.enter_waiting(p_limit));
begin
    perform relay.add_up_words(5000);
    perform relay.sort_in_words();
    return to_jsonb(looked >= p_limit or clock_timestamp() > statement_timestamp() + interval '0.5 seconds');
end $$;

-- Indexes what turns wrote, then entries missing elsewhere, for up to p_limit sources and half a second: rows from an
-- earlier version, a move or a backup. Returns how many sources were examined while more may remain, else how many were
-- missing. (New messages are announced by their own turns, so they don't keep this running.)
create or replace function public.relay_index_missing(p_limit integer) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    source text;
    own index_progress;
    ids bigint[];
    parts integer[];
    looked integer;
    entered integer;
begin
    select documents, documents + messages into entered, looked from relay.enter_waiting(p_limit);
    for own.kind, source in
        select k.kind, k.name from relay.artefact_kinds() k
        union all values ('part', 'document_part'), ('message', 'message')
    loop
        select p.after_id, p.after_part into own.after_id, own.after_part from index_progress p where p.kind = own.kind;
        own.after_id := coalesce(own.after_id, 0);
        own.after_part := coalesce(own.after_part, 0);
        loop
            exit when looked >= p_limit or clock_timestamp() > statement_timestamp() + interval '0.5 seconds';
            select array_agg(u.id order by u.id, u.part), array_agg(u.part order by u.id, u.part) into ids, parts
            from relay.unindexed(source, own.after_id, own.after_part, least(20, p_limit - looked)) u;
            exit when ids is null;
            own.after_id := ids[cardinality(ids)];
            own.after_part := parts[cardinality(parts)];
            looked := looked + cardinality(ids);
            -- In order, whichever way the planner joins: otherwise two processes that index messages can deadlock.
            select array_agg(u.id order by u.id, u.part), array_agg(u.part order by u.id, u.part) into ids, parts
            from unnest(ids, parts) as u (id, part)
            where not exists (
                select from entry e where e.kind = own.kind and e.source_id = u.id and e.part = u.part);
            perform relay.enter(own.kind, ids, parts);
            entered := entered + coalesce(cardinality(ids), 0);
        end loop;
        insert into index_progress values (own.kind, own.after_id, own.after_part)
        on conflict (kind) do update set after_id = excluded.after_id, after_part = excluded.after_part;
    end loop;
    perform relay.add_up_words(5000);
    perform relay.sort_in_words();
    return to_jsonb(case when looked < p_limit and clock_timestamp() <= statement_timestamp() + interval '0.5 seconds'
        then entered else looked end);
end $$;
