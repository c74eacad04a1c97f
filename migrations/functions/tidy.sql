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

-- Drops records of what happened more than p_days ago: what went into the prompts of turns that are done, what their
-- answers told, the texts that were sent, the updates that were set aside, and what was spent (that stays for 100 days at
-- least: /usage reaches back 90).
-- Messages, memories and their changes, events, and which message in the chat is whose all stay; so do of a turn what
-- later turns and erasing ask of it, what a button of a control needs, and questions that wait for a reply.
-- Returns how many rows went; a run that drops p_limit of either may have left more.
create or replace function public.relay_drop_records(p_days integer, p_limit integer) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    old bigint[] := array(
        select id from turn
        where not dropped and done_at is not null and done_at < now() - make_interval(days => p_days)
        order by done_at limit p_limit);
    spent integer;
    aside integer;
begin
    update delivery set request = (request - 'entities') || '{"text": ""}', sending_text = null
    where turn_id = any (old) and request ->> 'text' <> '' and request #> '{reply_markup,force_reply}' is null;
    update turn set dropped = true,
        prompt = case kind when 'control' then prompt else jsonb_strip_nulls(jsonb_build_object(
            'wording', prompt -> 'wording', 'reply_to', prompt -> 'reply_to', 'inputs', prompt -> 'inputs')) end,
        told = nullif(jsonb_strip_nulls(jsonb_build_object(
            'resting', nullif(told -> 'resting', 'false'), 'tools', nullif(told -> 'tools', '[]'))), '{}')
    where id = any (old);
    delete from spend where id in (
        select id from spend where at < now() - make_interval(days => greatest(p_days, 100)) order by at limit p_limit);
    get diagnostics spent = row_count;
    update inbox set payload = null where (bot_id, update_id) in (
        select bot_id, update_id from inbox
        where status = 'failed' and payload is not null and received_at < now() - make_interval(days => p_days)
        order by received_at limit p_limit);
    get diagnostics aside = row_count;
    return to_jsonb(cardinality(old) + spent + aside);
end $$;
