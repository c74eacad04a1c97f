-- Their results have a column for what has the words only in other forms.
drop function if exists relay.hits(bigint, tsquery, tsquery[], tsquery[], bigint[], jsonb),
    relay.ranked_hits(bigint, bigint[], jsonb, jsonb);
