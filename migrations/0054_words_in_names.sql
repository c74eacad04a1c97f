-- Returns the words within what PostgreSQL indexes as one word: names of files (Lease_Agreement.docx) and hosts. Empty for
-- most texts; only their first 20,000 characters are looked at.
create function relay.words_in_names(p_text text) returns text
language plpgsql immutable parallel safe set search_path = relay, extensions, pg_temp as $$
begin
    if left(p_text, 20000) !~ '[[:alpha:]]\.[[:alnum:]]{2}|[[:alnum:]]\.[[:alpha:]]{2}' then
        return '';
    end if;
    return coalesce((
        select string_agg(' ' || translate(left(name, 255), '._/:-', '     '), '' order by nr) from (
            select name, min(nr) as nr from regexp_split_to_table(left(p_text, 20000), '\s+') with ordinality as t (name, nr)
            where name ~ '[[:alpha:]]\.[[:alnum:]]{2}|[[:alnum:]]\.[[:alpha:]]{2}'
            group by name order by min(nr) limit 50) few), '');
end $$;
-- Returns a text's words and those within such names, for the search of messages that have some.
create function relay.words_with_names(p_text text) returns tsvector
language sql immutable parallel safe set search_path = relay, extensions, pg_temp as $$
    select to_tsvector('simple', left(p_text, 20000) || relay.words_in_names(p_text))
$$;
create index message_names on relay.message
    using gin (relay.words_of_space(space_id, relay.words_with_names(text))) with (fastupdate = off)
    where relay.words_in_names(text) <> '';
with found as (
    select e.id, e.words || to_tsvector(e.language::regconfig, relay.words_in_names(made.text)) as words
    from relay.entry e
        left join relay.message m on e.kind = 'message' and m.id = e.source_id
        left join relay.memory k on e.kind = 'memory' and k.id = e.source_id,
        lateral (select coalesce(m.text, k.content)) as made (text)
    where relay.words_in_names(made.text) <> ''),
-- A change of an entry's words deletes its vector.
changed as (
    update relay.entry e set words = found.words,
        length = (select coalesce(sum(cardinality(positions)), 0) from unnest(found.words))
    from found where found.id = e.id returning e.id)
insert into relay.embed_due (entry_id) select id from changed on conflict do nothing;
