-- Finding vectors: those of a small space by the space, those of a large one by the signs of their numbers, a bit each.
-- That index is a tenth of one on the numbers, and built in a tenth of the time; what it finds is compared exactly.

create index embedding_space on relay.embedding (space_id, model);
do $$
declare
    dimensions integer;
begin
    foreach dimensions in array array[384, 512, 768, 1024] loop
        execute format('create index embedding_nearest_%1$s on relay.embedding using hnsw
            ((extensions.binary_quantize(vector)::bit(%1$s)) extensions.bit_hamming_ops)
            where extensions.vector_dims(vector) = %1$s', dimensions);
    end loop;
end $$;
