-- What was used: tokens by day and model.

-- What a space used by day, kind of work and model: [{day, what, model, times, input, cached, written, output, searches}].
-- times: how often something came of it. Day n begins at the nth of p_starts (ISO 8601, ascending). p_all: of all spaces
-- together, by model alone (day 0).
create or replace function public.relay_usage(p_space jsonb, p_starts jsonb, p_all boolean) returns jsonb
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    starts timestamptz[] := array(select value::timestamptz from jsonb_array_elements_text(p_starts) order by 1);
    used jsonb;
begin
    -- Two plans: all spaces are read in the order of time, one space by its own index.
    if p_all then
        select jsonb_agg(to_jsonb(s) order by s.what, s.model) into used from (
            select 0 as day, what, model, count(*) filter (where done) as times, sum(input) as input,
                sum(cached) as cached, sum(written) as written, sum(output) as output, sum(searches) as searches
            from spend where at >= starts[1] group by what, model) s;
    else
        select jsonb_agg(to_jsonb(s) order by s.day, s.what, s.model) into used from (
            select width_bucket(at, starts) as day, what, model, count(*) filter (where done) as times,
                sum(input) as input, sum(cached) as cached, sum(written) as written, sum(output) as output,
                sum(searches) as searches
            from spend where space_id = relay.find_space(p_space) and at >= starts[1] group by 1, 2, 3) s;
    end if;
    return coalesce(used, '[]');
end $$;
