-- What is dropped once a day.

-- Drops what only served to recognise repeats: done updates after some days, and events of updates nobody answered; and
-- what answers were before lines were added to them, after two days.
-- Returns how many rows went; a run that drops p_limit of either may have left more.
create or replace function public.relay_tidy(p_days integer, p_limit integer) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    dropped integer;
    forgotten integer;
begin
    delete from inbox where (bot_id, update_id) in (
        select bot_id, update_id from inbox
        where status in ('done', 'ignored') and received_at < now() - make_interval(days => p_days)
            and not exists (select from session s where s.id = inbox.session_id and s.erased_at is null)
        order by received_at limit p_limit);
    get diagnostics dropped = row_count;
    delete from event where id in (
        select id from event where kind = 'ignored' and at < now() - make_interval(days => p_days)
        order by at limit p_limit);
    get diagnostics forgotten = row_count;
    delete from announcement a using turn t
    where a.status = 'done' and t.id = a.turn_id and t.done_at < now() - interval '2 days';
    return to_jsonb(dropped + forgotten);
end $$;
