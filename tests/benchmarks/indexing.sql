-- The index of what can be found, as the triggers make it, of all texts at once: what a text's words are is worked out
-- once for each different one. Run as superuser, after filling.sql, in its session.
create temp table spelled as
    select d.text, l.language, w.words, (select coalesce(sum(cardinality(positions)), 0) from unnest(w.words)) as length,
        d.text ~ '[?？؟]\W*$' as asks, names_time(d.text) as dated
    from (select text from told union select text from summary) d, language_of(d.text) as l (language),
        to_tsvector(l.language::regconfig, left(d.text, 200000)) as w (words);
analyze spelled;
create temp view findable as
    select 'message' as kind, id, space_id, 0 as part, thread_id, session_id, role, user_id, name, null::text as label,
        '{}'::text[] as tags, created_at as at, text from message
    union all
    select 'memory', id, space_id, 0, thread_id, session_id, null, subject_id, subject, kind, tags, created_at, content
    from memory
    union all
    select 'summary', y.id, s.space_id, 0, y.thread_id, y.session_id, null, null, null, null, '{}', y.created_at, y.text
    from summary y join session s on s.id = y.session_id;
insert into entry (space_id, kind, source_id, part, thread_id, session_id, role, user_id, name, label, tags, at, language,
        words, length, asks, dated, digest)
    select f.space_id, f.kind, f.id, f.part, f.thread_id, f.session_id, f.role, f.user_id, f.name, f.label, f.tags, f.at,
        s.language, s.words, s.length, s.asks, s.dated,
        md5(row(f.space_id, f.part, f.thread_id, f.session_id, f.role, f.user_id, f.name, f.label, f.tags, f.at, f.text)
            ::text)::uuid
    from findable f join spelled s using (text) order by f.at, f.kind desc, f.id;

-- In how many entries of a space each word is: of a text's words by how often the space has the text.
create temp table counted as
    select space_id, md5(language || words::text || coalesce(first_name(name), '')) as said, min(id) as id, count(*) as times
    from entry group by 1, 2;
insert into lexeme (space_id, word, entries)
    select c.space_id, w.word, sum(c.times) from counted c join entry e using (id), counted_words(e) w group by 1, 2;
insert into embed_due (entry_id, since) select id, at from entry order by id;
insert into index_progress (kind, after_id)
    select kind, max(source_id) from entry group by kind;

do $$
declare
    index text;
begin
    for index in select definition from dropped loop
        execute index;
    end loop;
end $$;
analyze;
