-- What judging found: compared with what is known, kept, and taken back.

-- For each candidate {content, subject_id, subject, kind, vector, model} the memories that it may say again, refine or
-- contradict: [[{id, kind, content, at}]], at: when it was said. Only of the same subject, facts with facts and learnings
-- with learnings: by turns the most alike, those found by words and meaning, and the latest.
create or replace function public.relay_near_memories(p_space_id bigint, p_candidates jsonb, p_limit integer)
returns jsonb
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
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

-- The turn under whose answer a finding is told and by which it is traced: that of the answer to the last of its
-- messages. What was imported has none; such a finding still knows where it was said.
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

-- Applies one finding: an action as relay.apply_actions takes it, with {evidence, pending, tainted, own}. Nothing, when
-- any message that it was learned from is gone, or nothing may be learned from it now, or when it only says again what
-- the same turn has taught. What it was compared with may have changed since: then it is learned by itself, as what
-- it was before that (own). With taught it is the memory of this number, which an answer kept: nothing once that is not
-- known any more.
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
    -- That something was only said again is not worth a line, nor what something newer had replaced already.
    fresh := array(select c.id from memory_change c join memory m on m.id = c.memory_id
        where c.turn_id = held.id and c.id > before_it and m.status <> 'superseded'
            and (c.action <> 'refresh' or c.before ->> 'content' <> m.content) order by c.id);
    if held.bot_id is not null and cardinality(fresh) > 0 then
        insert into announcement as a (turn_id, bot_id, changes) values (held.id, held.bot_id, fresh)
        -- Whoever tells of the turn just now does not tell of this: it loses its lease, and it is told again.
        on conflict (turn_id) do update set status = 'due', failures = 0, not_before = now(), lease_owner = null,
            changes = case a.status when 'anew' then '{}' else a.changes end || excluded.changes;
    end if;
end $$;

-- Takes back what keywords had found in messages that a model judges now; what somebody decided about, or was changed
-- since, stays.
create or replace function relay.retire_keywords(p_thread_id bigint, p_from bigint, p_through bigint) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    change memory_change;
begin
    for change in
        select c.* from memory m join memory_change c on c.memory_id = m.id
        where m.thread_id = p_thread_id and m.derivation ->> 'name' = 'keyword judge'
            and m.source_message_id between p_from and p_through and m.status in ('active', 'pending')
            and c.action = 'learn' and c.status in ('applied', 'pending') and c.decided_at is null
            and not relay.changed_since(c)
        for update of m
    loop
        update memory set status = 'discarded', updated_at = now() where id = change.memory_id;
        update memory_change set status = 'undone', decided_at = now() where id = change.id;
        update announcement set changes = array_remove(changes, change.id), status = 'due', not_before = now()
        where turn_id = change.turn_id and status <> 'anew';
    end loop;
end $$;

-- Keeps what was found in the messages that were handed out and moves the cursor behind them: all of it or nothing.
-- p_result: {after, again, through, findings, fallback, again_seconds}; fallback: keywords found it, and a model is to
-- judge them again in so many seconds (null: it is not). False: the lease or the place is not the worker's any more, as
-- when this is repeated, or memory is at rest now: the cursor stays.
create or replace function public.relay_keep_judged(p_thread_id bigint, p_worker uuid, p_result jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own judging;
    redo bigint := (p_result ->> 'again')::bigint;
    through constant bigint := (p_result ->> 'through')::bigint;
    one jsonb;
begin
    select * into own from judging where thread_id = p_thread_id and lease_owner = p_worker
        and through_message_id = (p_result ->> 'after')::bigint
        and relay.remembers((select space_id from thread where id = p_thread_id)) for update;
    if own.thread_id is null then
        return to_jsonb(false);
    end if;
    perform relay.hold_memory((select space_id from thread where id = p_thread_id));
    if redo is not null then
        perform relay.retire_keywords(p_thread_id, redo, through);
        update judge_again set from_message_id = through + 1
        where thread_id = p_thread_id and from_message_id = redo and through_message_id > through;
        delete from judge_again where thread_id = p_thread_id and from_message_id = redo;
    elsif p_result ->> 'again_seconds' is not null then
        insert into judge_again (thread_id, from_message_id, through_message_id, at)
        values (p_thread_id, own.through_message_id + 1, through,
            now() + make_interval(secs => (p_result ->> 'again_seconds')::double precision))
        on conflict do nothing;
    end if;
    if not (p_result ->> 'fallback')::boolean then
        update judge_again set at = now() where at > now();  -- the model is back
    end if;
    for one in select jsonb_array_elements(p_result -> 'findings') loop
        perform relay.keep_finding(p_thread_id, one);
    end loop;
    update judging set through_message_id = case when redo is null then through else through_message_id end,
        due_at = case when due_at is not null then now() end, lease_owner = null, lease_until = null, failures = 0,
        error = null, not_before = now(), version = coalesce(version, p_result ->> 'version')
    where thread_id = p_thread_id;
    return to_jsonb(true);
end $$;
