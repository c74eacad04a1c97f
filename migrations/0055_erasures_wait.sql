-- It takes the turn that waits for the erasure, too.
drop function if exists public.relay_erase_begin(bigint, bigint, boolean);
