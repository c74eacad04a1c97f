-- Erases rows that hold what was said, and everything derived from them.

-- Returns the part of a turn's prompt that a later erasure needs: that it used lent memory. Null if it didn't.
create or replace function relay.lent_only(p_prompt jsonb) returns jsonb
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select '{"lent": true}'::jsonb where p_prompt -> 'lent' = 'true'
$$;

-- Clears what turns store of what was said: prompts, replies, requests, updates, events, and earlier versions of
-- answers. Skips turns in progress. For an erasure, sent messages lose only what matches its needles.
create or replace function relay.erase_turns(
    p_turns bigint[], p_erasure_id bigint default null, p_needles jsonb default null) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    ended bigint[] := array(select id from turn
        where id = any (p_turns) and status in ('done', 'failed') order by id for no key update);
begin
    perform relay.note_theirs(p_erasure_id, relay.theirs_in(array(
        select e.id from inbox i join event e on e.at = i.received_at and e.bot_id = i.bot_id and e.update_id = i.update_id
        where i.turn_id = any (ended) and relay.says(e.payload::text, p_needles)))) where p_erasure_id is not null;
    update event e set payload = null from inbox i
    where i.turn_id = any (ended) and e.at = i.received_at and e.bot_id = i.bot_id and e.update_id = i.update_id;
    update event e set payload = null from posted p join turn t on t.id = p.turn_id
    where p.turn_id = any (ended) and not p.from_bot and e.kind = 'update'
        and e.at between t.created_at - interval '2 hours' and t.created_at
        and e.bot_id = p.bot_id and e.payload #>> '{message,message_id}' = p.telegram_message_id::text
        and e.payload #>> '{message,chat,id}' = p.chat_id::text;
    update event set payload = null where turn_id = any (ended) and payload is not null;
    update inbox set payload = null where turn_id = any (ended) and payload is not null;
    update posted set part = null where turn_id = any (ended) and part is not null;
    if p_erasure_id is null then
        update outbox set request = jsonb_build_object('chat_id', chat_id, 'erased', true), sending_text = null
        where turn_id = any (ended) and not request ? 'erased';
    else
        perform relay.retract(p_erasure_id, ended, p_needles);
    end if;
    update announcement a set before = relay.rest_before(a, e, p_needles)
    from turn t left join erasure e on e.id = p_erasure_id where t.id = a.turn_id and t.id = any (ended);
    update turn set prompt = relay.lent_only(prompt), told = null
    where id = any (ended) and (prompt is not null or told is not null);
end $$;

-- Returns the names that derivations use for their inputs.
create or replace function relay.input_names(p_kind text, p_ids bigint[]) returns text[]
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select coalesce(array_agg(p_kind || ':' || id), '{}') from unnest(p_ids) as id
$$;

-- Deletes cached derivations that read one of these inputs.
create or replace function relay.erase_results(p_space_id bigint, p_inputs text[]) returns void
language sql set search_path = relay, extensions, pg_temp as $$
    delete from result where space_id = p_space_id and inputs && p_inputs
$$;

-- Cancels work in progress on these messages by revoking its lease. Nothing is derived from off-the-record messages.
create or replace function relay.erase_under_way(p_messages bigint[]) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    sessions constant bigint[] := array(select distinct m.session_id from message m join session s on s.id = m.session_id
        where m.id = any (p_messages) and not s.private);
    threads constant bigint[] := array(select distinct thread_id from session where id = any (sessions));
begin
    perform relay.free_jobs('judging', threads::text[]);
    -- A turn that ends owes the other jobs after it has changed the memory.
    perform relay.hold_memory((select space_id from thread where id = threads[1]));
    perform relay.free_jobs('title', sessions::text[]);
    perform relay.free_jobs('summary', array(
        select key from job where kind = 'summary' and lease_owner is not null
            and (payload ->> 'session_id')::bigint in (select id from session where thread_id = any (threads))));
    perform relay.free_jobs('digest', array(select distinct space_id::text from thread where id = any (threads)));
    perform relay.free_jobs('compression', array(
        select id::text from compression where session_id = any (sessions) and status = 'due'));
end $$;

-- Returns the files that a message's blocks name.
create or replace function relay.files_in(p_blocks jsonb) returns setof text
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select one #>> '{}' from jsonb_path_query(p_blocks, 'lax $.**.file.unique_id') as one
$$;

-- Queues kept copies of files for removal unless other messages name them. Rewrites rows that are already queued, so
-- that a concurrent reader waits for this transaction.
create or replace function relay.let_files_go(p_files text[]) returns void
language sql set search_path = relay, extensions, pg_temp as $$
    insert into file_gone (unique_id)
    select distinct one from unnest(p_files) as one where one is not null order by one
    on conflict (unique_id) do update set unique_id = excluded.unique_id
$$;

-- Returns the turns that messages belong to.
create or replace function relay.turns_of(p_messages bigint[]) returns bigint[]
language sql stable set search_path = relay, extensions, pg_temp as $$
    select array(
        select turn_id from message where id = any (p_messages) and turn_id is not null
        union select id from turn where user_message_id = any (p_messages))
$$;

-- Returns what is left of messages with several files, some of which match: {id: {text, blocks}}. Messages are erased
-- whole if no file matches or none is left, or if the rest matches as well.
create or replace function relay.without_files(p_messages bigint[], p_needles jsonb) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_object_agg(m.id, to_jsonb(rest)), '{}') from message m cross join lateral (
        with block as (
            select one, place, coalesce(nullif(one #>> '{file,name}', ''), one ->> 'from', '') as named,
                one ? 'file' and (relay.says(one::text, p_needles) or exists (
                select from document d join document_part p on p.document_id = d.id
                where d.space_id = m.space_id and d.unique_id = one #>> '{file,unique_id}' and relay.says(p.text, p_needles))) as goes
            from jsonb_array_elements(m.blocks) with ordinality as b (one, place))
        -- The text has a file's name after a sign, or its spoken words.
        select (select coalesce(string_agg(line, E'\n' order by nr), '') from string_to_table(m.text, E'\n') with ordinality as t (line, nr)
                where not exists (select from block where goes and (one ? 'heard' and strpos(one ->> 'text', line) > 0
                    or line ~ '^[^[:alnum:]]' and right(line, length(named)) = named and named <> ''))) as text,
            jsonb_agg(one order by place) filter (where not goes) as blocks
        from block) rest
    where m.id = any (p_messages) and m.role = 'user' and jsonb_array_length(m.blocks) > 1
        and jsonb_array_length(m.blocks) > jsonb_array_length(rest.blocks)
        and rest.blocks @> '[{"file": {}}]' and not relay.says(rest.text || rest.blocks::text, p_needles)
$$;

-- Returns the documents of erased messages, except those that stay.
create or replace function relay.documents_without(p_messages bigint[], p_stay jsonb) returns bigint[]
language sql stable set search_path = relay, extensions, pg_temp as $$
    select array(select id from document where message_id = any (p_messages)
        and unique_id not in (select relay.files_in(p_stay #> array[message_id::text, 'blocks'])))
$$;

-- Deletes messages with their turns' data, derived rows, earlier wordings and documents, and queues their files for
-- removal. Of a message with several files, those that don't match stay. Returns how many messages went.
create or replace function relay.erase_messages(
    p_space_id bigint, p_messages bigint[], p_erasure_id bigint default null, p_needles jsonb default null)
returns integer language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    turns constant bigint[] := relay.turns_of(p_messages);
    stay constant jsonb := coalesce((
        select relay.without_files(array(
            select one from unnest(p_messages) as one where work -> 'shortened' @> to_jsonb(one)), work -> 'loose')
        from erasure where id = p_erasure_id), '{}');
    whole constant bigint[] := array(select one from unnest(p_messages) as one where not stay ? one::text);
    gone integer;
begin
    -- All functions lock in this order: turns, judging, memory, messages, the rest. Locking the messages also locks their
    -- documents, so that parts added right now are deleted and no more can be added.
    perform from turn where id = any (turns) order by id for no key update;
    perform relay.erase_under_way(p_messages);
    perform relay.hold_memory(p_space_id);
    perform from message where id = any (p_messages) and space_id = p_space_id order by id for update;
    perform relay.note_theirs(p_erasure_id, relay.theirs(p_messages)) where p_erasure_id is not null;
    perform relay.erase_turns(turns, p_erasure_id, p_needles);
    perform relay.erase_results(p_space_id, relay.input_names('message', p_messages));
    perform relay.erase_artefact_rows(p_space_id,
        relay.erase_artefacts(p_space_id, relay.input_names('message', p_messages), '[]', null, true));
    update posted set message_id = null where turn_id = any (turns) and message_id = any (whole);
    update turn set user_message_id = case when user_message_id = any (whole) then null else user_message_id end,
        assistant_message_id = case when assistant_message_id = any (whole) then null else assistant_message_id end
    where id = any (turns);
    update memory set source_message_id = null where source_message_id = any (whole);
    update memory set evidence = array(select unnest(evidence) except select unnest(whole))
    where space_id = p_space_id and evidence && whole;
    perform relay.let_files_go(array(
        select relay.files_in(blocks) from message where id = any (p_messages) and role = 'user'
        union select relay.files_in(blocks) from message_version where message_id = any (p_messages)));
    delete from message_version where message_id = any (p_messages);
    delete from signal where message_id = any (p_messages);
    perform relay.erase_feedback(p_space_id, relay.feedback_about(p_messages, turns));
    delete from document where id = any (relay.documents_without(p_messages, stay));
    update message set text = stay #>> array[id::text, 'text'], blocks = stay #> array[id::text, 'blocks']
    where stay ? id::text and space_id = p_space_id;
    delete from message where id = any (whole) and space_id = p_space_id;
    get diagnostics gone = row_count;
    return gone;
end $$;

-- Deletes summaries. Until a new one is written, their threads use the one before, or none. Other people's
-- corrections stay.
create or replace function relay.erase_summary_rows(p_space_id bigint, p_summaries bigint[]) returns void
language sql set search_path = relay, extensions, pg_temp as $$
    select relay.erase_results(p_space_id, relay.input_names('summary', p_summaries));
    select from thread where id in (select thread_id from summary where id = any (p_summaries))
    order by id for no key update;  -- first, as when a summary is stored
    update summary set previous_id = null where previous_id = any (p_summaries) and id <> all (p_summaries);
    delete from summary where id = any (p_summaries);
    update thread t set summary_id = (
        select id from summary s where s.thread_id = t.id and s.through_message_id >= t.context_from
        order by s.through_message_id desc, s.id desc limit 1)
    where summary_id = any (p_summaries)
$$;

-- Deletes memories with their history, derived rows, and any night's plans for them.
create or replace function relay.erase_memory_rows(
    p_space_id bigint, p_memories bigint[], p_erasure_id bigint default null, p_needles jsonb default null)
returns void language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    turns bigint[] := array(
        select turn_id from memory where id = any (p_memories) and turn_id is not null
        union select turn_id from memory_change where memory_id = any (p_memories) and turn_id is not null);
begin
    perform from turn where id = any (turns) order by id for no key update;  -- before memory
    perform relay.erase_results(p_space_id, relay.input_names('memory', p_memories));
    update consolidation set plan = (
        select coalesce(jsonb_agg(step order by place), '[]')
        from jsonb_array_elements(plan) with ordinality as s (step, place)
        where not exists (select from jsonb_path_query(step, '$.*.id') as one where one::bigint = any (p_memories)))
    where space_id = p_space_id;
    perform relay.hold_memory(p_space_id);
    delete from memory_change where space_id = p_space_id and memory_id = any (p_memories);
    update memory set replaced_by = null where replaced_by = any (p_memories);
    delete from memory where id = any (p_memories) and space_id = p_space_id;
    perform relay.erase_turns(turns, p_erasure_id, p_needles);
end $$;

-- Returns the new summaries that sessions need once these are erased, each of up to a hundred messages:
-- [{session_id, context_from, through}].
create or replace function relay.summaries_owed(p_summaries bigint[]) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_agg(to_jsonb(owed)), '[]') from (
        select session_id, min(from_message_id) as context_from, max(through_message_id) as through
        from summary where id = any (p_summaries) group by thread_id, session_id) owed
$$;

-- Owes these summaries. One that is being written starts over.
create or replace function relay.owe_summaries(p_owed jsonb) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    perform relay.free_jobs('summary', array(select one ->> 'through' from jsonb_array_elements(p_owed) as one));
    perform relay.owe_job_anew('summary', o.through::text,
        jsonb_build_object('session_id', o.session_id, 'context_from', o.context_from))
    from jsonb_to_recordset(p_owed) as o (session_id bigint, context_from bigint, through bigint);
end $$;

-- Returns the rows of a plan that still exist: {memories, messages, summaries, documents, feedback, preferences} as
-- ids, {artefacts} as names.
create or replace function relay.existing(p_plan jsonb) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object(
        'memories', (select coalesce(jsonb_agg(id), '[]') from memory
            where id = any (array(select jsonb_array_elements_text(p_plan -> 'memories')::bigint))),
        'messages', (select coalesce(jsonb_agg(id), '[]') from message
            where id = any (array(select jsonb_array_elements_text(p_plan -> 'messages')::bigint))),
        'summaries', (select coalesce(jsonb_agg(id), '[]') from summary
            where id = any (array(select jsonb_array_elements_text(p_plan -> 'summaries')::bigint))),
        'artefacts', relay.existing_artefacts(array(select jsonb_array_elements_text(p_plan -> 'artefacts'))),
        'documents', (select coalesce(jsonb_agg(id), '[]') from document
            where id = any (array(select jsonb_array_elements_text(p_plan -> 'documents')::bigint))),
        'feedback', (select coalesce(jsonb_agg(id), '[]') from feedback
            where id = any (array(select jsonb_array_elements_text(p_plan -> 'feedback')::bigint))),
        'preferences', (select coalesce(jsonb_agg(id), '[]') from preference
            where id = any (array(select jsonb_array_elements_text(p_plan -> 'preferences')::bigint))))
$$;

-- Starts a previewed erasure on a person's tap, including what was derived since the preview. Returns whether it
-- started.
create or replace function public.relay_erase_begin(p_erasure_id bigint, p_user_id bigint, p_admin boolean)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own erasure;
    since jsonb;
    plan jsonb;
begin
    select * into own from erasure
    where id = p_erasure_id and user_id = p_user_id and status = 'preview'
        and created_at > now() - interval '15 minutes' for update;
    if own.id is null then
        return to_jsonb(exists (
            select from erasure where id = p_erasure_id and user_id = p_user_id and status <> 'preview'));
    end if;
    since := relay.erase_plan(own.space_id, own.work -> 'query', p_user_id, p_admin, 2000);
    select own.work || since || jsonb_object_agg(name, (
        select coalesce(jsonb_agg(distinct one order by one), '[]')
        from jsonb_array_elements(coalesce(own.work -> name, '[]') || coalesce(since -> name, '[]')) as one))
    into plan
    from unnest(array['needles', 'loose', 'close', 'memories', 'messages', 'summaries', 'artefacts', 'documents',
        'feedback', 'preferences']) as name;
    -- Leave out what another erasure has taken since the preview.
    plan := plan || relay.existing(plan);
    update erasure set status = 'working', created_at = now(), counts = relay.erase_counts(plan),
        work = plan || jsonb_build_object('admin', p_admin, 'phase', 'rows', 'after', 0, 'owed', '[]'::jsonb,
            'gone', plan -> 'messages', 'gone_memories', plan -> 'memories', 'gone_artefacts', plan -> 'artefacts')
    where id = own.id;
    perform relay.owe_job('erasure', own.id::text);
    return to_jsonb(true);
end $$;

-- Cancels a preview and deletes its plan.
create or replace function public.relay_erase_keep(p_erasure_id bigint, p_user_id bigint) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    delete from erasure where id = p_erasure_id and user_id = p_user_id and status = 'preview' returning to_jsonb(true)
$$;

-- Returns up to 100 files whose kept copies are to be removed, except those that a message names. p_removed: files that
-- are removed now.
create or replace function public.relay_files_gone(p_removed jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    few text[];
begin
    delete from file_gone where unique_id in (select jsonb_array_elements_text(p_removed));
    -- Lock first, so that the next statement sees the erasures that queued these files.
    few := array(select unique_id from file_gone order by unique_id for update);
    if few = '{}' then
        return '[]';  -- without looking through all messages
    end if;
    delete from file_gone where unique_id = any (few) and unique_id in (
        select relay.files_in(blocks) from message where role = 'user' and blocks @> '[{"file": {}}]'
        union all select relay.files_in(blocks) from message_version);
    return (
        select coalesce(jsonb_agg(unique_id), '[]')
        from (select unique_id from file_gone where unique_id = any (few) order by unique_id limit 100) hundred);
end $$;

-- An erasure runs in steps of about half a second and resumes after a crash.

-- Erases the plan's rows: 10 artefacts at a time (their words leave the index), then 200 messages, then 300
-- summaries, newest first, then the memories. Returns whether it is done.
create or replace function relay.erase_rows(p_erasure relay.erasure) returns boolean
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    plan jsonb := p_erasure.work;
    artefacts constant text[] := array(select jsonb_array_elements_text(plan -> 'artefacts'));
    messages constant bigint[] := array(select jsonb_array_elements_text(plan -> 'messages')::bigint);
    summaries constant bigint[] := array(
        with recursive gone as (
            select one::bigint as id from jsonb_array_elements_text(plan -> 'summaries') as one
            union  -- what was built on them since
            select s.id from summary s join gone g on s.previous_id = g.id
            where s.author_id is null
                or relay.may_erase(p_erasure.space_id, s.author_id, p_erasure.user_id, (plan ->> 'admin')::boolean))
        select id from gone order by id desc);
begin
    if cardinality(artefacts) > 0 then
        perform relay.erase_artefact_rows(p_erasure.space_id, artefacts[:10]);
        plan := plan || jsonb_build_object('artefacts', artefacts[11:]);
    elsif cardinality(messages) > 0 then
        perform relay.erase_messages(p_erasure.space_id, messages[:200], p_erasure.id, plan -> 'close');
        plan := plan || jsonb_build_object('messages', messages[201:]);
    elsif cardinality(summaries) > 0 then
        if plan -> 'owed' = '[]' then
            plan := plan || jsonb_build_object('owed', relay.summaries_owed(summaries));
        end if;
        perform relay.erase_summary_rows(p_erasure.space_id, summaries[:300]);
        plan := plan || jsonb_build_object('summaries', summaries[301:]);
    else
        perform relay.owe_summaries(plan -> 'owed');
        perform relay.erase_memory_rows(p_erasure.space_id,
            array(select jsonb_array_elements_text(plan -> 'memories')::bigint), p_erasure.id, plan -> 'close');
        perform relay.erase_feedback(p_erasure.space_id,
            array(select jsonb_array_elements_text(plan -> 'feedback')::bigint));
        perform relay.erase_titles(p_erasure);
        return true;
    end if;
    update erasure set work = plan where id = p_erasure.id;
    return false;
end $$;

-- Erases what was derived meanwhile. Returns whether it is done; false if more summaries must go.
create or replace function relay.erase_rest(p_erasure relay.erasure) returns boolean
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    summaries constant bigint[] := relay.erase_summaries(p_erasure.space_id, '{}', p_erasure.work -> 'loose',
        p_erasure.user_id, (p_erasure.work ->> 'admin')::boolean);
begin
    if cardinality(summaries) > 0 then
        update erasure set work = work - 'since' || jsonb_build_object('summaries', summaries, 'owed', '[]'::jsonb)
        where id = p_erasure.id;
        return false;
    end if;
    perform relay.erase_artefact_rows(p_erasure.space_id, relay.erase_artefacts(p_erasure.space_id,
        relay.gone_inputs(p_erasure), '[]', p_erasure.user_id, (p_erasure.work ->> 'admin')::boolean));
    perform relay.erase_messages(p_erasure.space_id, late, p_erasure.id, p_erasure.work -> 'loose')
    from (select relay.said_from(p_erasure.space_id, relay.gone_inputs(p_erasure)) as late) own where late <> '{}';
    return true;
end $$;

-- Erases matching feedback and decisions, and drops other previews that ask for the same words of the same people, or of
-- which nothing is left.
create or replace function relay.sweep_feedback(p_erasure relay.erasure) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    theirs jsonb;
begin
    perform relay.erase_feedback(p_erasure.space_id, relay.feedback_saying(p_erasure.space_id, p_erasure.work -> 'loose',
        p_erasure.user_id, (p_erasure.work ->> 'admin')::boolean));
    delete from preference_decision
    where space_id = p_erasure.space_id and relay.says(pattern, p_erasure.work -> 'loose')
        and relay.may_erase(space_id, user_id, p_erasure.user_id, (p_erasure.work ->> 'admin')::boolean);
    with dropped as (
        delete from erasure where space_id = p_erasure.space_id and status = 'preview' and (
            relay.says(concat_ws(' ', work -> 'query', work -> 'needles'), p_erasure.work -> 'loose')
                and relay.may_erase(space_id, user_id, p_erasure.user_id, (p_erasure.work ->> 'admin')::boolean)
            or not exists (select from jsonb_each(relay.existing(work)) as one where one.value <> '[]'))
        returning user_id, posted)
    select coalesce(jsonb_agg(asked), '[]') into theirs
    from dropped, jsonb_array_elements(posted) as asked where user_id = p_erasure.user_id;
    perform relay.note_theirs(p_erasure.id, theirs);
end $$;

-- Tests whether a turn in progress may still show what it read: an answer until it is sent, or for ten minutes if its
-- process was killed; a list or a page for half a minute after p_since, as it may be queued behind the tap that erases. What
-- terminals and programs are shown is not in a chat.
create or replace function relay.may_show(p_turn relay.turn, p_since timestamptz) returns boolean
language sql stable set search_path = relay, extensions, pg_temp as $$
    select case
        when p_turn.kind = 'control' and p_turn.bot_id = 0 then false
        when p_turn.status = 'answered' then p_turn.lease_until > now() or p_turn.answered_at > now() - interval '10 minutes'
        when p_turn.kind = 'message' then p_turn.lease_until > now()
        else p_turn.lease_until > now() and p_since > now() - interval '30 seconds' and (
            exists (select from outbox where turn_id = p_turn.id)
            or exists (select from inbox where turn_id = p_turn.id
                and coalesce(payload #>> '{callback_query,data}', '') not like 'xe:%')) end
$$;

-- Continues an erasure (null: the oldest unfinished one) for half a second: {erasure_id, done, counts, theirs: what
-- the person must delete, as in erasure.posted, waiting: how many of our messages are still to be deleted or edited}.
-- Null if there is none, another process runs it, or it has to wait. Previews not started within 15 minutes are dropped.
create or replace function public.relay_erase_step(p_erasure_id bigint) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own erasure;
    phases constant text[] := '{rows,messages,artefacts,turns,events,entries,words,rest,memories,feedback,end}';
    alone constant text[] := '{rows,rest,memories,feedback}';  -- a transaction each, as they lock turns first
    phase text;
    after bigint;
    erased boolean;
begin
    -- Before any row is locked: relay_index_missing holds it while it waits for rows.
    perform pg_advisory_xact_lock(hashtext('relay.lexeme'));
    delete from erasure where status = 'preview' and created_at < now() - interval '15 minutes';
    loop
        -- Turns in progress may show what they read before it was deleted. The sweeps begin when they have ended.
        update erasure set work = work || jsonb_build_object('since', now())
        where status = 'working' and id = coalesce(p_erasure_id, id)
            and work @> '{"phase": "messages", "after": 0}' and not work ? 'since';
        select * into own from erasure e
        where status = 'working' and id = coalesce(p_erasure_id, id) and not (
            work @> '{"phase": "messages", "after": 0}' and exists (
                select from turn t
                where t.status in ('working', 'answered') and t.created_at < (e.work ->> 'since')::timestamptz
                    and (t.space_id = e.space_id or t.user_id = e.user_id and t.kind = 'message'  -- also where it is lent
                        or t.space_id is null and t.kind = 'control' and (t.user_id = e.user_id
                            or (select chat_id from lane where id = t.lane_id) = any (relay.chats_of(e.space_id))))
                    and relay.may_show(t, (e.work ->> 'since')::timestamptz)))
        order by id limit 1 for update skip locked;
        exit when own.id is null;
        phase := own.work ->> 'phase';
        after := (own.work ->> 'after')::bigint;
        case phase
            when 'rows' then after := case when relay.erase_rows(own) then null else 0 end;
            when 'messages' then after := relay.sweep_messages(own, after);
            when 'artefacts' then after := relay.sweep_artefacts(own, after);
            when 'turns' then after := relay.sweep_turns(own, after);
            when 'events' then after := relay.sweep_events(own, after);
            when 'entries' then after := relay.sweep_entries(own, after);
            when 'words' then after := relay.sweep_words(after);
            when 'memories' then after := null; perform relay.sweep_memories(own), relay.sweep_derived(own);
            when 'feedback' then after := null; perform relay.sweep_feedback(own), relay.add_up_space(own.space_id);
            else
                phase := case when relay.erase_rest(own) then phase else 'rows' end;
                after := case phase when 'rows' then 0 end;
        end case;
        phase := case when after is null then phases[array_position(phases, phase) + 1] else phase end;
        update erasure set status = case phase when 'end' then 'done' else 'working' end,
            done_at = case phase when 'end' then now() end,
            work = case when phase <> 'end' then work || jsonb_build_object('phase', phase, 'after', coalesce(after, 0)) end
        where id = own.id returning work -> 'gone' is distinct from own.work -> 'gone' into erased;
        delete from job where phase = 'end' and kind = 'erasure' and key = own.id::text;
        -- What is deleted must be committed before the wait for turns begins, and before other turns are locked.
        exit when phase = 'end' or alone && array[phase, own.work ->> 'phase'] or erased
            or clock_timestamp() > statement_timestamp() + interval '500 milliseconds';
    end loop;
    return (
        select jsonb_build_object('erasure_id', id, 'done', status = 'done', 'counts', counts,
            'theirs', coalesce(posted, '[]'),
            'waiting', (select count(*) from retraction r where r.erasure_id = erasure.id))
        from erasure where id = coalesce(own.id, p_erasure_id) and (id = own.id or status = 'done'));
end $$;
