-- People's decisions about changes to memory: undo, keep, discard.

-- Returns when a goal is due, or an event is; null for others, without a date, and once it has passed.
create or replace function relay.happens_at(p_memory relay.memory) returns timestamptz
language sql stable set search_path = relay, extensions, pg_temp as $$
    select at from (select case p_memory.kind
        when 'goal' then coalesce(p_memory.exact_at, p_memory.valid_until, p_memory.valid_from)
        when 'event' then coalesce(p_memory.exact_at, p_memory.valid_from, p_memory.valid_until) end as at) dated
    where at > now() and p_memory.status = 'active'
$$;

-- Returns a turn's changes to memory, as shown under its answer.
create or replace function relay.changes_of(p_turn_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_agg(jsonb_build_object(
        'id', c.id, 'action', c.action, 'status', c.status, 'memory_id', m.id, 'kind', m.kind,
        'subject', relay.called(m.space_id, m.subject_id, m.subject), 'subject_id', m.subject_id, 'content', m.content,
        'before', c.before ->> 'content',
        'reminded', c.status = 'applied' and c.action in ('refresh', 'supersede', 'merge', 'forget')
            and (c.action = 'forget' or c.before ->> 'content' <> m.content) and exists (
                select from reminder r
                where r.space_id = m.space_id and r.status = 'active'
                    and 'memory:' || coalesce(c.before ->> 'id', m.id::text) = any (r.inputs)),
        'happens_at', case when c.status = 'applied' and c.action in ('learn', 'supersede', 'merge') and not exists (
            select from reminder r
            where r.space_id = m.space_id and r.status in ('proposed', 'active', 'paused')
                and 'memory:' || m.id = any (r.inputs)) then relay.happens_at(m) end) order by c.id), '[]')
    from memory_change c join memory m on m.id = c.memory_id
    where c.turn_id = p_turn_id
$$;

-- Returns the changes that a turn's button opens, for a person who may see them.
create or replace function public.relay_changes(p_turn_id bigint, p_user_id bigint, p_admin boolean) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select case when relay.may_decide(t.space_id, t.user_id, null, p_user_id, p_admin)
            or exists (select from memory_change c join memory m on m.id = c.memory_id where c.turn_id = t.id
                and relay.may_decide(c.space_id, c.user_id, m.subject_id, p_user_id, p_admin))
        then relay.changes_of(t.id) end
    from turn t where t.id = p_turn_id
$$;

-- Tests whether a person may decide: in a private space only its owner; in a group the person who made the change, the
-- one it is about, and admins.
create or replace function relay.may_decide(
    p_space_id bigint, p_changed_by bigint, p_subject_id bigint, p_user_id bigint, p_admin boolean)
returns boolean language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce((select case s.kind when 'private' then s.owner_id = p_user_id
            else p_user_id in (p_changed_by, p_subject_id) or p_admin end
        from space s where s.id = p_space_id), false)
$$;

-- Returns the memory that a change replaced with another; null for other changes.
create or replace function relay.replaced_in(p_change relay.memory_change) returns bigint
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select (p_change.before ->> 'id')::bigint where p_change.action in ('supersede', 'merge')
$$;

-- Returns a change with those made together with it, such as all merges into one memory.
create or replace function relay.changes_with(p_change relay.memory_change) returns setof relay.memory_change
language sql stable set search_path = relay, extensions, pg_temp as $$
    select c.* from memory_change c where c.id = p_change.id
    union all
    select c.* from memory_change c
    where p_change.action = 'merge' and c.action = 'merge' and c.memory_id = p_change.memory_id and c.id <> p_change.id
        and c.created_at = p_change.created_at and c.status = p_change.status
        and not c.before ? 'stood' and not p_change.before ? 'stood'
$$;

-- Tests whether a later change took effect on the same memory (or the one this change replaced). Repetitions and pins
-- don't count.
create or replace function relay.changed_since(p_change relay.memory_change) returns boolean
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    touched constant bigint[] := array(
        select id from memory where id in (p_change.memory_id, relay.replaced_in(p_change)));
    near constant bigint[] := touched || array(
        select replaced_by from memory where id = any (touched) and replaced_by is not null);
    together constant bigint[] := array(select id from relay.changes_with(p_change));
    one bigint;
begin
    -- One memory at a time, without a join: a planner without statistics may read all changes for it, and this is asked
    -- of thousands in a row.
    foreach one in array near loop
        if exists (
            select from memory_change c
            where c.memory_id = one and c.status = 'applied' and c.id <> all (together)
                and (one = any (touched) or relay.replaced_in(c) = any (touched))
                and (p_change.action not in ('learn', 'supersede', 'merge') or c.action <> 'refresh'
                    or c.before ->> 'content' <> (select content from memory where id = one))
                and (p_change.action in ('pin', 'unpin')) = (c.action in ('pin', 'unpin'))
                and (coalesce(c.decided_at, c.created_at), c.id)
                    > (coalesce(p_change.decided_at, p_change.created_at), p_change.id))
        then
            return true;
        end if;
    end loop;
    return false;
end $$;

-- Applies a pending change.
create or replace function relay.take_effect(p_change relay.memory_change) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    update memory set updated_at = now(), status = case p_change.action
            when 'forget' then 'forgotten' when 'archive' then 'archived' else 'active' end
    where id = p_change.memory_id and status in ('active', 'pending');
    -- The replaced memory may have changed since the proposal.
    update memory_change set status = 'applied', decided_at = now(),
        before = before || coalesce((select to_jsonb(m) from memory m where id = relay.replaced_in(p_change)), '{}')
    where id = p_change.id;
    perform relay.end_memory(relay.replaced_in(p_change), p_change.memory_id, p_change.action = 'supersede');
    perform relay.end_questions(array[p_change.memory_id], p_change.turn_id, null) where p_change.action = 'forget';
end $$;

-- Restores a memory to its state before a change, except its pin and usage counts. Fields that the change didn't record
-- stay.
create or replace function relay.put_back(p_memory_id bigint, p_before jsonb, p_status text) returns void
language sql set search_path = relay, extensions, pg_temp as $$
    update memory m set updated_at = now(), status = coalesce(p_status, status),
        (content, kind, importance, confidence, evidence, valid_from, valid_until, exact_at, replaced_by) = (
            select content, kind, importance, confidence, evidence, valid_from, valid_until, exact_at, replaced_by
            from jsonb_populate_record(m, '{"replaced_by": null}' || p_before))
    where id = p_memory_id
$$;

-- Undoes an applied change, on both sides if one memory replaced another.
create or replace function relay.take_back(p_change relay.memory_change) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    approved memory_change;
begin
    if p_change.action in ('pin', 'unpin') then
        update memory set pinned = p_change.action = 'unpin', updated_at = now() where id = p_change.memory_id;
    elsif p_change.action = 'learn' or p_change.action in ('supersede', 'merge') and not p_change.before ? 'stood' then
        update memory set status = 'discarded', updated_at = now() where id = p_change.memory_id;
        perform relay.revive_same(p_change.memory_id);
    end if;
    case p_change.action
        when 'supersede', 'merge' then
            perform relay.put_back(relay.replaced_in(c), c.before, coalesce(c.before ->> 'status', 'active'))
            from relay.changes_with(p_change) c;
        when 'forget', 'archive' then
            update memory set status = 'active', updated_at = now() where id = p_change.memory_id;
        when 'refresh' then
            perform relay.put_back(p_change.memory_id, p_change.before, nullif(p_change.before ->> 'status', 'active'));
            -- Rewording a proposal approves it; without the rewording, it waits again.
            for approved in
                update memory_change set status = 'pending', decided_at = null
                where p_change.before ->> 'status' = 'pending' and memory_id = p_change.memory_id
                    and status = 'applied' and decided_at = p_change.created_at returning *
            loop
                perform relay.put_back(relay.replaced_in(approved), approved.before, approved.before ->> 'status'),
                    relay.owe_correction(approved.turn_id);
            end loop;
        when 'restore' then
            perform relay.put_back(p_change.memory_id, p_change.before, p_change.before ->> 'status');
        else null;
    end case;
    perform relay.yield_to_same(id) from (select p_change.memory_id as id
        union select relay.replaced_in(c) from relay.changes_with(p_change) c) touched;
    update memory_change set status = 'undone', decided_at = now()
    where id in (select id from relay.changes_with(p_change));
end $$;

-- Handles a tap: undoes an applied change, or keeps or discards a pending one. Returns all changes of the turn. Safe to
-- repeat. If the memory has changed since, the later change must be undone first; until then this one stays applied.
-- Null if the person may not decide.
create or replace function public.relay_decide_change(
    p_change_id bigint, p_user_id bigint, p_admin boolean, p_decision text)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    change memory_change;
    about bigint;
begin
    perform relay.hold_memory((select space_id from memory_change where id = p_change_id));
    -- Lock the memories first: other changes wait here, or are visible below.
    perform from memory where id in (select unnest(array[c.memory_id, relay.replaced_in(c)])
        from memory_change own, relay.changes_with(own) c where own.id = p_change_id) order by id for update;
    select * into change from memory_change where id = p_change_id for update;
    select subject_id into about from memory where id = change.memory_id;
    if change.id is null or not relay.may_decide(change.space_id, change.user_id, about, p_user_id, p_admin) then
        return null;
    end if;
    if p_decision = 'keep' and change.status = 'pending' then
        perform relay.take_effect(change), relay.yield_to_same(change.memory_id);
        perform relay.validate_memory(change.memory_id, p_user_id) where change.action in ('learn', 'supersede', 'merge');
        -- Keeping an answer as a memory says that it was right.
        perform relay.take_act(t, null, '{"kind": "accept", "value": {}, "source": "button"}')
        from memory m join turn t on t.assistant_message_id = m.source_message_id and t.user_id = p_user_id
        where m.id = change.memory_id and m.promoted_by = p_user_id;
    elsif p_decision = 'discard' and change.status = 'pending' then
        update memory set status = 'discarded', updated_at = now()
        where id = change.memory_id and status = 'pending' and change.action in ('learn', 'supersede', 'merge');
        update memory_change set status = 'discarded', decided_at = now() where id = change.id;
    elsif p_decision = 'undo' and change.status = 'applied' and not relay.changed_since(change) then
        perform relay.take_back(change);
    end if;
    perform relay.owe_correction(change.turn_id)
    where exists (select from memory_change where id = change.id and status <> change.status);
    insert into event (kind, space_id, turn_id, user_id, payload)
    values ('memory', change.space_id, change.turn_id, p_user_id,
        jsonb_build_object('change', change.id, 'decision', p_decision));
    return relay.changes_of(change.turn_id);
end $$;

-- Returns the question that one of our messages asks a person, by the message's id in the chat; null for other messages
-- and people. A question forces a reply; an answer doesn't, whatever its text. A question that is being sent and has no
-- id yet matches if it is the only candidate.
create or replace function public.relay_asked_of(
    p_bot_id bigint, p_chat_id bigint, p_telegram_message_id bigint, p_user_id bigint)
returns jsonb language sql stable set search_path = relay, extensions, pg_temp as $$
    select d.request -> 'text'
    from (
        select p.turn_id from posted p
        where p.bot_id = p_bot_id and p.chat_id = p_chat_id and p.telegram_message_id = p_telegram_message_id
            and p.from_bot
        union all
        select t.id from turn t
        where t.status in ('working', 'answered') and t.bot_id = p_bot_id and t.user_id = p_user_id
            and not exists (select from posted p where p.bot_id = p_bot_id and p.chat_id = p_chat_id
                and p.telegram_message_id = p_telegram_message_id)
    ) asking
    join turn t on t.id = asking.turn_id and t.user_id = p_user_id and t.assistant_message_id is null
    join outbox d on d.turn_id = t.id and d.chat_id = p_chat_id and d.request -> 'reply_markup' ? 'force_reply'
        and (d.telegram_message_id = p_telegram_message_id or d.telegram_message_id is null
            and d.status = 'sending' and d.floor_message_id < p_telegram_message_id)
    order by d.id desc limit 1
$$;

-- The judge's findings: compared with memory, stored, and undone.

-- Returns, for each candidate {content, subject_id, subject, kind, vector, model}, the memories that it may repeat,
-- refine or contradict: [[{id, kind, content, at: when it was said}]]. Same subject only, facts with facts, learnings
-- with learnings; in turn the most similar, those found by words and by meaning, and the latest.
create or replace function public.relay_near_memories(p_space_id bigint, p_candidates jsonb, p_limit integer)
returns jsonb language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    one jsonb;
    found bigint[];
    all_near jsonb := '[]';
begin
    for one in select jsonb_array_elements(p_candidates) loop
        found := array(
            select f.source_id from relay.find_entries(p_space_id, one || jsonb_build_object(
                'text', one ->> 'content', 'kinds', jsonb_build_array('memory')), 5 * p_limit) f order by f.score desc);
        all_near := all_near || jsonb_build_array((
            with own as not materialized (
                select m.* from memory m
                where m.space_id = p_space_id and m.status = 'active'
                    and (m.kind = 'learning') = (one ->> 'kind' = 'learning')
                    and m.subject_id is not distinct from (one ->> 'subject_id')::bigint
                    and (m.subject_id is not null or m.subject is not distinct from one ->> 'subject')),
            near as (
                (select id, row_number() over (order by similarity(content, one ->> 'content') desc, id desc) as place
                from own where content % (one ->> 'content') order by place limit p_limit)
                union all
                (select own.id, row_number() over (order by f.place)
                from unnest(found) with ordinality as f (id, place) join own on own.id = f.id
                order by f.place limit p_limit)
                union all
                (select id, row_number() over (order by id desc) from own order by id desc limit p_limit)),
            best as (select id, min(place) as place from near group by id order by 2, 1 desc limit p_limit)
            select coalesce(jsonb_agg(jsonb_build_object('id', m.id, 'kind', m.kind, 'content', m.content,
                'at', relay.memory_said_at(m)) order by b.place, m.id desc), '[]')
            from best b join memory m on m.id = b.id));
    end loop;
    return all_near;
end $$;

-- Returns the turn that announces a finding and traces it: the one that answered its last message. Null for imports,
-- which still record where they were said.
create or replace function relay.turn_of_finding(p_said relay.message) returns relay.turn
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    found_turn turn;
begin
    select t.* into found_turn from turn t where t.id = coalesce((
        select turn_id from message
        where thread_id = p_said.thread_id and id > p_said.id and role = 'assistant' and status <> 'replaced'
        order by id limit 1), p_said.turn_id);
    found_turn.space_id := p_said.space_id;
    found_turn.thread_id := p_said.thread_id;
    found_turn.session_id := p_said.session_id;
    found_turn.user_id := p_said.user_id;
    found_turn.user_message_id := p_said.id;
    return found_turn;
end $$;

-- Applies a finding: an action as in relay.apply_actions, with {evidence, pending, tainted, own}. Does nothing if any
-- source message is gone, if nothing may be learned now, or if it repeats what the same turn taught. If the memory it
-- was compared with has changed, the finding is learned on its own, as it was before the comparison (own). With
-- `taught` it refers to the memory with this number, which an answer stored; nothing if that is gone.
create or replace function relay.keep_finding(p_thread_id bigint, p_finding jsonb) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    proofs constant bigint[] := array(select distinct jsonb_array_elements_text(p_finding -> 'evidence')::bigint);
    said message;
    held turn;
    before_it bigint := (select coalesce(max(id), 0) from memory_change);
    fresh bigint[];
    results jsonb;
begin
    select m.* into said from message m
    where m.id = any (proofs) and m.thread_id = p_thread_id and m.role = 'user'
    order by m.id desc limit 1;
    if said.id is null or cardinality(proofs) <> (
        select count(*) from message m
        where m.id = any (proofs) and m.thread_id = p_thread_id and m.status <> 'replaced' and m.teaches
            and relay.teaches(m.session_id))
    then
        return;
    end if;
    if p_finding ? 'taught' and not exists (
        select from memory where id = (p_finding ->> 'taught')::bigint and status = 'active'
            and content = p_finding ->> 'content')
    then
        return;
    end if;
    p_finding := p_finding
        || jsonb_build_object('valid_from', coalesce(p_finding ->> 'valid_from', said.created_at::text));
    held := relay.turn_of_finding(said);
    if p_finding ->> 'action' = 'refresh' and exists (
        select from memory where id = (p_finding ->> 'memory_id')::bigint
            and (turn_id = held.id or source_message_id = said.id))
    then
        return;
    end if;
    held.tainted := (p_finding ->> 'tainted')::boolean;
    results := relay.apply_actions(held, said.id, jsonb_build_array(p_finding), (p_finding ->> 'pending')::boolean);
    if results -> 0 ? 'failed' and not p_finding ? 'taught' then
        perform relay.apply_actions(held, said.id, jsonb_build_array(
            p_finding || coalesce(p_finding -> 'own', '{}') || '{"action": "learn"}'),
            (p_finding ->> 'pending')::boolean);
    end if;
    -- A repetition needs no announcement, nor does what something newer had already replaced.
    fresh := array(select c.id from memory_change c join memory m on m.id = c.memory_id
        where c.turn_id = held.id and c.id > before_it and m.status <> 'superseded'
            and (c.action <> 'refresh' or c.before ->> 'content' <> m.content) order by c.id);
    if held.bot_id is not null and cardinality(fresh) > 0 then
        perform relay.announce(held, fresh);
    end if;
end $$;

-- Undoes what keywords found in messages that a model judges now, unless a person confirmed it, or it was said again.
create or replace function relay.retire_keywords(p_thread_id bigint, p_from bigint, p_through bigint) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    change memory_change;
begin
    for change in
        select c.* from memory m join memory_change c on c.memory_id = m.id
        where m.thread_id = p_thread_id and m.derivation ->> 'name' = 'keyword judge'
            and m.source_message_id between p_from and p_through and m.status in ('active', 'pending')
            and c.action = 'learn' and c.status in ('applied', 'pending') and c.decided_at is null and not m.pinned
            and m.validated_at is null and p_through >= all (m.evidence) and not relay.changed_since(c)
        for update of m
    loop
        update memory set status = 'discarded', updated_at = now() where id = change.memory_id;
        update memory_change set status = 'undone', decided_at = now() where id = change.id;
        update announcement set changes = array_remove(changes, change.id), status = 'due'
        where turn_id = change.turn_id and change.id = any (changes);
        perform relay.announce(t, '{}') from turn t where t.id = change.turn_id;
    end loop;
end $$;

-- Stores the findings from the messages of a job, moves the cursor past them and gives the job back, atomically. p_result:
-- {after, again, through, findings, fallback, again_seconds}; fallback: keywords found them, and a model judges again in
-- that many seconds (null: never). False if the job or position is lost, as when this is repeated, or if memory is paused;
-- the cursor stays.
create or replace function public.relay_store_judged(p_job_id bigint, p_fence bigint, p_result jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    held constant job := relay.hold_job(p_job_id, p_fence);
    own judging;
    redo constant bigint := (p_result ->> 'again')::bigint;
    through constant bigint := (p_result ->> 'through')::bigint;
    one jsonb;
begin
    select j.* into own from judging j join thread t on t.id = j.thread_id
    where j.thread_id = held.key::bigint and j.through_message_id = (p_result ->> 'after')::bigint
        and relay.remembers(t.space_id) and (redo is null or exists (
            select from judge_again a where a.thread_id = j.thread_id and a.from_message_id = redo))
    for update of j;
    if own.thread_id is null then
        update job set lease_owner = null, lease_until = null where id = held.id;
        return to_jsonb(false);
    end if;
    perform relay.hold_memory((select space_id from thread where id = own.thread_id));
    if redo is not null then
        perform relay.retire_keywords(own.thread_id, redo, through);
        update judge_again set from_message_id = through + 1
        where thread_id = own.thread_id and from_message_id = redo and through_message_id > through;
        delete from judge_again where thread_id = own.thread_id and from_message_id = redo;
    elsif p_result ->> 'again_seconds' is not null then
        insert into judge_again (thread_id, from_message_id, through_message_id, at)
        values (own.thread_id, own.through_message_id + 1, through,
            now() + make_interval(secs => (p_result ->> 'again_seconds')::double precision))
        on conflict do nothing;
    end if;
    if not (p_result ->> 'fallback')::boolean then
        perform relay.judge_again_now();
    end if;
    for one in select jsonb_array_elements(p_result -> 'findings') loop
        perform relay.keep_finding(own.thread_id, one);
    end loop;
    update judging set through_message_id = case when redo is null then through else through_message_id end,
        lease_owner = null, version = coalesce(version, p_result ->> 'version')
    where thread_id = own.thread_id;
    perform relay.settle_judging(held);
    return to_jsonb(true);
end $$;

-- Makes everything that only keywords have judged due now, because the model is back.
create or replace function relay.judge_again_now() returns void
language sql set search_path = relay, extensions, pg_temp as $$
    update judge_again set at = now() where at > now();
    update job set due_at = now()
    where id in (
        select id from job where kind = 'judging' and parked_at is null and lease_owner is null and last_error is null
            and due_at > now()
        for update skip locked)
$$;

-- A memory's history, and messages that people want to keep as memories.

-- Returns a page of a memory's changes, newest first, including its replacement. `restores`: the text before that change
-- differs from the current one and can be restored.
create or replace function public.relay_memory_past(p_memory_id bigint, p_offset integer, p_limit integer)
returns jsonb language sql stable set search_path = relay, extensions, pg_temp as $$
    with own as (select * from memory where id = p_memory_id),
    every as (
        select c.* from own join memory_change c on c.memory_id = own.id
            or c.memory_id = own.replaced_by and relay.replaced_in(c) = own.id),
    page as (
        select * from every order by id desc
        offset relay.page_start(p_offset, p_limit, (select count(*)::integer from every)) limit p_limit)
    select jsonb_build_object('total', (select count(*) from every),
        'offset', relay.page_start(p_offset, p_limit, (select count(*)::integer from every)),
        'changes', coalesce((
            select jsonb_agg(jsonb_build_object('id', p.id, 'action', p.action, 'status', p.status, 'kind', m.kind,
                'subject', m.subject, 'subject_id', m.subject_id, 'memory_id', m.id,
                'content', relay.content_after(p, m.content), 'before', p.before ->> 'content',
                'at', p.created_at, 'decided_at', p.decided_at,
                'restores', m.id = own.id and own.status = 'active' and p.before ->> 'content' <> own.content
                    and p.action in ('refresh', 'restore', 'supersede', 'merge')) order by p.id desc)
            from page p join memory m on m.id = p.memory_id cross join own), '[]'))
$$;

-- Returns the space's message with a Telegram id (p_telegram_message_id), or a turn's answer (p_turn_id), for keeping. The
-- answer may still be in delivery. Null if there is none.
create or replace function public.relay_keepable(
    p_space jsonb, p_bot_id bigint, p_chat_id bigint, p_telegram_message_id bigint, p_turn_id bigint)
returns jsonb language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('id', m.id, 'role', m.role, 'name', m.name, 'text', left(relay.plain_text(m), 20000),
        'untrusted', m.untrusted or m.tainted, 'private', s.private,
        'question', (select left(relay.plain_text(q), 20000) from turn t join message q on q.id = t.user_message_id
            where t.assistant_message_id = m.id),
        'documents', (
            select left(string_agg(p.text, E'\n' order by d.id, p.part), 20000)
            from document d join document_part p on p.document_id = d.id and p.part <= 20
            where m.role = 'user' and d.space_id = m.space_id and d.unique_id in (
                select one #>> '{file,unique_id}' from jsonb_array_elements(m.blocks) as one)))
    from message m join session s on s.id = m.session_id
    where m.space_id = relay.find_space(p_space) and m.status <> 'replaced' and m.id = case
        when p_turn_id is not null then (select assistant_message_id from turn where id = p_turn_id)
        else coalesce(
            (select message_id from posted where bot_id = p_bot_id and chat_id = p_chat_id
                and telegram_message_id = p_telegram_message_id),
            (select t.assistant_message_id from turn t join outbox d on d.turn_id = t.id
                where t.status in ('working', 'answered') and t.bot_id = p_bot_id and d.chat_id = p_chat_id
                    and d.telegram_message_id is null and d.status = 'sending'
                    and d.floor_message_id < p_telegram_message_id
                order by d.id desc limit 1)) end
$$;
