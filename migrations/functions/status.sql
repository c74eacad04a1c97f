-- How things stand, in numbers only.

create or replace function public.relay_status(p_space jsonb) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object(
        'waiting', (select count(*) from inbox where status = 'pending'),
        'running', (select count(*) from turn where kind = 'message' and status in ('working', 'answered')),
        'set_aside', (select count(*) from turn where status = 'failed' and done_at > now() - interval '1 day'),
        'summaries_due', (select count(*) from summary_due where status = 'due'),
        'soul', (select version from soul where active),
        'liked', (select count(*) from signal
            where emoji = '👍' and removed_at is null and created_at > now() - interval '30 days'),
        'disliked', (select count(*) from signal
            where emoji = '👎' and removed_at is null and created_at > now() - interval '30 days'),
        'memories', (select count(*) from memory where space_id = relay.find_space(p_space) and status = 'active'),
        'pending', (select count(*) from memory where space_id = relay.find_space(p_space) and status = 'pending'),
        'threads', (select count(*) from thread where space_id = relay.find_space(p_space)),
        'exchanges', (select coalesce(sum(exchange_count), 0) from thread
            where space_id = relay.find_space(p_space)),
        'today', (select jsonb_build_object('turns', count(*),
                'input', coalesce(sum((usage ->> 'input_tokens')::bigint), 0),
                'cached', coalesce(sum((usage ->> 'cache_read_input_tokens')::bigint), 0),
                'written', coalesce(sum((usage ->> 'cache_creation_input_tokens')::bigint), 0),
                'output', coalesce(sum((usage ->> 'output_tokens')::bigint), 0))
            from turn where space_id = relay.find_space(p_space) and created_at > now() - interval '1 day'),
        'incidents', (select coalesce(jsonb_agg(jsonb_build_object('begun_at', begun_at, 'detail', detail) order by id),
            '[]') from incident
            -- That a budget is nearly spent is no trouble any more once all of it is.
            where over_at is null and not (kind = 'spend' and calm_since is not null)),
        'night', (select jsonb_build_object('begun_at', begun_at, 'ended_at', ended_at, 'phases', phases)
            from night order by id desc limit 1),
        'used', public.relay_usage(p_space, jsonb_build_array(now() - interval '1 day'), false))
$$;

-- What is to be answered, in numbers, from indexes alone: updates that wait, turns under way or left behind, and for how
-- many seconds the oldest of what nobody has taken up could have been.
create or replace function public.relay_queue(p_bot_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object(
        'waiting', (select count(*) from inbox where status = 'pending' and bot_id = p_bot_id),
        'turns', (select count(*) from turn where status in ('working', 'answered') and bot_id = p_bot_id),
        'oldest', greatest(0, extract(epoch from now() - least(
            (select min(due_at) from lane where bot_id = p_bot_id and due_at is not null and open_turn_id is null),
            (select min(coalesce(lease_until, not_before, created_at)) from turn
                where status in ('working', 'answered') and bot_id = p_bot_id
                    and (lease_owner is null or lease_until < now()))))))
$$;

-- Whether the database answers; costs nothing.
create or replace function public.relay_ping() returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select to_jsonb(now())
$$;
