-- relay.unindexed takes the name of a table instead of a kind.
drop function if exists relay.unindexed(text, bigint, integer, integer);
