-- relay_deliver also hears whether the turn is answered; who does not say so yet is served as before.
drop function if exists public.relay_deliver(bigint, bigint, bigint, jsonb);
