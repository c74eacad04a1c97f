-- relay.entries_by_words takes the place of this one: it tells the two sides of an exchange apart.
drop function if exists relay.entries_with_words(
    bigint, bigint[], text[], real[], tsquery, text[], timestamptz, timestamptz, integer);
