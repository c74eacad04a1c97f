-- When two memories say the same, and when words surely mean one of them. Nothing here weighs likeness: facts that differ in
-- one name, number or “not” are different facts, however alike they look.

-- A text as it is compared: without differences of Unicode form, case, white space and punctuation. A sign that changes
-- what is said stays: in numbers and times (1.5, 10:30, -5), before or behind them (5", 6'), at the end of a word (A-, C++),
-- in a question, in :) and :(. Each sign that goes leaves a space, so that no two words become one.
create or replace function relay.normal_form(p_text text) returns text
language plpgsql immutable set search_path = relay, extensions, pg_temp as $$
declare
    plain text := normalize(p_text, NFKC);
begin
    -- ① and ² are no 1 and 2 beside other digits.
    if regexp_count(plain, '[0-9]') <> regexp_count(p_text, '[0-9０-９]') then
        plain := normalize(p_text, NFC);
    end if;
    -- MW and mW are different units, as are MB and Mb.
    plain := regexp_replace(plain, '([0-9]\s?)M(?=(W|J|V|A|N|Hz|Pa|Bq|Sv|eV)\M)', '\1mega', 'g');
    plain := regexp_replace(plain, '([0-9]\s?[kKMGT]i?)B\M', '\1byte', 'g');
    plain := lower(translate(plain, '’‘ʼ´`′‐‑‒–—―−“”„«»‹›', '''''''''''''-------"""""""'));
    plain := regexp_replace(plain, '[\u00AD\u200B\u200E\u200F\u202A-\u202E\u2060-\u2069\uFEFF]', '', 'g');
    plain := regexp_replace(plain, '[:;=]-?\)', ' ☺ ', 'g');
    plain := regexp_replace(plain, '[:;=]-?\(', ' ☹ ', 'g');
    plain := regexp_replace(plain, '[;…()\[\]{}¡¿、。「」『』،؛।]|[.,:](?![0-9])|!(?!=)', ' ', 'g');
    plain := regexp_replace(plain, '(?<![0-9])"|(?<![[:alnum:]])''|(?<=[[:alpha:]])''(?![[:alnum:]])', ' ', 'g');
    plain := regexp_replace(plain, '(?<=[[:alpha:]])-(?=[[:alpha:]])|(?<=\s)-(?=\s)', ' ', 'g');
    return btrim(regexp_replace(plain, '\s+', ' ', 'g'));
end $$;

-- The active memory about the same subject that says the same, equal but for form. A fact of whichever kind is compared with
-- facts of every kind, a learning with learnings. What is only similar is for a model or a person to decide.
create or replace function relay.same_memory(p_space_id bigint, p_kind text, p_subject_id bigint, p_content text)
returns relay.memory
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    form constant text := relay.normal_form(p_content);
    found memory;
begin
    if show_trgm(p_content) = '{}' then  -- nothing but signs, of which the index knows nothing
        select m.* into found from memory m
        where m.space_id = p_space_id and m.status = 'active' and (m.kind = 'learning') = (p_kind = 'learning')
            and m.subject_id is not distinct from p_subject_id and relay.normal_form(m.content) = form
        order by m.id limit 1;
        return found;
    end if;
    select m.* into found from memory m
    where m.space_id = p_space_id and m.status = 'active' and (m.kind = 'learning') = (p_kind = 'learning')
        and m.subject_id is not distinct from p_subject_id
        and (m.content % p_content or m.content % normalize(p_content, NFC) or m.content % normalize(p_content, NFD)
            or m.content % normalize(p_content, NFKC))
        and relay.normal_form(m.content) = form
    order by m.id limit 1;
    return found;
end $$;

-- Whether words stand in a text as they are: whole words, in their order. Scripts without spaces have no whole words.
create or replace function relay.has_words(p_content text, p_words text) returns boolean
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select position(' ' || relay.normal_form(p_words) || ' ' in ' ' || relay.normal_form(p_content) || ' ') > 0
        or p_words ~ '[\u0E00-\u0EFF\u3040-\u30FF\u3400-\u9FFF\uAC00-\uD7AF]'
            and position(relay.normal_form(p_words) in relay.normal_form(p_content)) > 0
$$;

-- Whether words surely mean a memory: they stand in it, or each of them does in some form, and a “not” on neither side only.
create or replace function relay.surely_means(p_words text, p_content text) returns boolean
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select relay.has_words(p_content, p_words) or relay.is_negative(p_words) = relay.is_negative(p_content)
        and to_tsvector('english', p_content) @@ plainto_tsquery('english', p_words)
        and numnode(plainto_tsquery('english', p_words)) > 0
$$;

-- Whether a text denies something, in the languages that keywords know.
create or replace function relay.is_negative(p_text text) returns boolean
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select relay.normal_form(p_text) ~ ('(^| )(not|no|never|none|nothing|without|cannot|[[:alpha:]]+n''t|nicht|nichts|nie'
        || '|niemals|kein[[:alpha:]]*|ohne|nunca|jamás|nada|sin|ne|n''[[:alpha:]]+|pas|jamais|rien|sans|non|mai|niente'
        || '|senza|não|nada|sem|не|нет|никогда|ничего|без)( |$)')
$$;
