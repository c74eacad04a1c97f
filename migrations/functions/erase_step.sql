-- Erasing goes on in steps of a second or so, each of which may be the last before a crash; the next goes on.

-- The rows of the plan: two hundred messages at a time, then three hundred summaries, the newest first, then the memories.
-- Whether that is all.
create or replace function relay.erase_rows(p_erasure relay.erasure) returns boolean
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    plan jsonb := p_erasure.work;
    messages constant bigint[] := array(select jsonb_array_elements_text(plan -> 'messages')::bigint);
    summaries constant bigint[] := array(
        select one::bigint from jsonb_array_elements_text(plan -> 'summaries') as one order by one::bigint desc);
begin
    if cardinality(messages) > 0 then
        perform relay.erase_messages(p_erasure.space_id, messages[:200], p_erasure.id, plan -> 'close');
        plan := plan || jsonb_build_object('messages', messages[201:]);
    elsif cardinality(summaries) > 0 then
        if plan -> 'owed' = '[]' then
            plan := plan || jsonb_build_object('owed', relay.erase_owed(summaries));
        end if;
        perform relay.erase_summary_rows(p_erasure.space_id, summaries[:300]);
        plan := plan || jsonb_build_object('summaries', summaries[301:]);
    else
        perform relay.owe_summaries(plan -> 'owed');
        perform relay.erase_memory_rows(p_erasure.space_id,
            array(select jsonb_array_elements_text(plan -> 'memories')::bigint), p_erasure.id, plan -> 'close');
        perform relay.erase_titles(p_erasure);
        return true;
    end if;
    update erasure set work = plan where id = p_erasure.id;
    return false;
end $$;

-- What is left at the end: what was derived of it meanwhile. Whether that is all; not where summaries are to go again.
create or replace function relay.erase_rest(p_erasure relay.erasure) returns boolean
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    summaries constant bigint[] := relay.erase_summaries(p_erasure.space_id, '{}', p_erasure.work -> 'loose',
        p_erasure.user_id, (p_erasure.work ->> 'admin')::boolean);
begin
    if cardinality(summaries) > 0 then
        update erasure set work = work || jsonb_build_object('summaries', summaries, 'owed', '[]'::jsonb)
        where id = p_erasure.id;
        return false;
    end if;
    perform relay.sweep_memories(p_erasure), relay.sweep_derived(p_erasure);
    -- What else was shown can still be erased, but for what asks for the same words, or is gone.
    delete from erasure where space_id = p_erasure.space_id and status = 'preview' and (
        relay.says(concat_ws(' ', work -> 'query', work -> 'needles'), p_erasure.work -> 'loose')
        or relay.existing(work) = '{"memories": [], "messages": [], "summaries": [], "documents": []}');
    return true;
end $$;

-- Goes on with an erasure (null: with the oldest that is not done) for about a second: {erasure_id, done, counts,
-- theirs: what the person has to delete, as erasure.posted has it; waiting: how many of our messages are still to be
-- deleted or edited; posted: 0, for the version before}. Null when there is none, or another process is at it. What was shown and not begun within a quarter
-- of an hour is forgotten.
create or replace function public.relay_erase_step(p_erasure_id bigint) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own erasure;
    phases constant text[] := array['rows', 'messages', 'turns', 'events', 'entries', 'rest', 'end'];
    phase text;
    after bigint;
begin
    delete from erasure where status = 'preview' and created_at < now() - interval '15 minutes';
    loop
        select * into own from erasure
        where status = 'working' and id = coalesce(p_erasure_id, id) order by id limit 1 for update skip locked;
        exit when own.id is null;
        phase := own.work ->> 'phase';
        after := (own.work ->> 'after')::bigint;
        case phase
            when 'rows' then after := case when relay.erase_rows(own) then null else 0 end;
            when 'messages' then after := relay.sweep_messages(own, after);
            when 'turns' then after := relay.sweep_turns(own, after);
            when 'events' then after := relay.sweep_events(own, after);
            when 'entries' then after := relay.sweep_entries(own, after);
            else
                phase := case when relay.erase_rest(own) then phase else 'rows' end;
                after := case phase when 'rows' then 0 end;
        end case;
        phase := case when after is null then phases[array_position(phases, phase) + 1] else phase end;
        update erasure set status = case phase when 'end' then 'done' else 'working' end,
            done_at = case phase when 'end' then now() end,
            work = case when phase <> 'end' then work || jsonb_build_object('phase', phase, 'after', coalesce(after, 0)) end
        where id = own.id;
        exit when phase = 'end' or clock_timestamp() > statement_timestamp() + interval '1 second';
    end loop;
    return (
        select jsonb_build_object('erasure_id', id, 'done', status = 'done', 'counts', counts,
            'theirs', coalesce(posted, '[]'), 'posted', 0,
            'waiting', (select count(*) from retraction r where r.erasure_id = erasure.id))
        from erasure where id = coalesce(own.id, p_erasure_id) and status <> 'preview');
end $$;

