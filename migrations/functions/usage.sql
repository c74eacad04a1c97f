-- What was used: tokens by day and model, as the model's server counted them. What titles of sessions used is not kept.

-- Answers and summaries of a space by day and model: [{day, what, model, times, input, cached, written, output}]. Day n
-- begins at the nth of p_starts (ISO 8601, ascending). p_all: of all spaces together, by model alone (day 0).
create or replace function public.relay_usage(p_space jsonb, p_starts jsonb, p_all boolean) returns jsonb
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    starts timestamptz[] := array(select value::timestamptz from jsonb_array_elements_text(p_starts) order by 1);
    spaces bigint[] := case when p_all then array(select id from space) else array[relay.find_space(p_space)] end;
begin
    return (
        with used as (
            select case when p_all then 0 else width_bucket(t.created_at, starts) end as day, 'answers' as what, t.model,
                t.usage
            from turn t
            where t.space_id = any (spaces) and t.created_at >= starts[1] and t.usage is not null
            union all
            select case when p_all then 0 else width_bucket(s.created_at, starts) end, 'summaries', s.model, s.usage
            from thread h join summary s on s.thread_id = h.id
            where h.space_id = any (spaces) and s.created_at >= starts[1] and s.usage is not null),
        summed as (
            select day, what, model, count(*) as times,
                sum(coalesce((usage ->> 'input_tokens')::bigint, 0)) as input,
                sum(coalesce((usage ->> 'cache_read_input_tokens')::bigint, 0)) as cached,
                sum(coalesce((usage ->> 'cache_creation_input_tokens')::bigint, 0)) as written,
                sum(coalesce((usage ->> 'output_tokens')::bigint, 0)) as output
            from used group by day, what, model)
        select coalesce(jsonb_agg(to_jsonb(s) order by s.day, s.what, s.model), '[]') from summed s);
end $$;
