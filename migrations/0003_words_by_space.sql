-- The words of a message as its space's own: a search for how words begin then reads that space's entries alone, where
-- a search by space and words would read every space's (btree_gin joins the two only after reading both).
create function relay.words_of_space(p_space_id bigint, p_words tsvector) returns tsvector
language sql immutable parallel safe set search_path = relay, extensions, pg_temp as $$
    select array_to_tsvector(array_agg(p_space_id || ':' || word))
    from unnest(tsvector_to_array(p_words)) as word where octet_length(word) <= 255
$$;
drop index relay.message_words;
-- Without fastupdate: every search reads the list of what was not sorted in yet, which grows to 4 MB.
create index message_words on relay.message using gin (relay.words_of_space(space_id, words)) with (fastupdate = off);
