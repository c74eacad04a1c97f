-- Consolidation: merges memories that say the same, retires contradicted ones, and archives goals whose date has
-- passed.

-- Tests whether two memories can be about the same thing: same subject, and both facts or both learnings.
create or replace function relay.of_one_kind(p_one relay.memory, p_other relay.memory) returns boolean
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select p_one.space_id = p_other.space_id and p_one.subject_id is not distinct from p_other.subject_id
        and (p_one.subject_id is not null or lower(p_one.subject) is not distinct from lower(p_other.subject))
        and (p_one.kind = 'learning') = (p_other.kind = 'learning')
$$;

-- Orders two memories by when they were said, and by id if that is equal. An import can bring old statements late, so
-- the order of learning is not enough.
create or replace function relay.in_order(p_one relay.memory, p_other relay.memory)
returns table (older relay.memory, newer relay.memory)
language sql stable set search_path = relay, extensions, pg_temp as $$
    select case when one_first then p_one else p_other end, case when one_first then p_other else p_one end
    from (select (relay.memory_said_at(p_one), p_one.id) < (relay.memory_said_at(p_other), p_other.id) as one_first) said
$$;

-- Returns the earlier memories to compare a memory with: the three nearest by words and by meaning, or the latest if there
-- is no vector. Leaves out pairs that may neither merge nor replace each other.
create or replace function relay.near_older(p_memory relay.memory) returns setof relay.memory
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    near bigint[] := array(
        with own as materialized (
            select v.vector, v.model from entry e join embedding v on v.entry_id = e.id
            where e.kind = 'memory' and e.source_id = p_memory.id and e.part = 0)
        select o.id from own
        join embedding v on v.space_id = p_memory.space_id and v.model = own.model
            and vector_dims(v.vector) = vector_dims(own.vector)
        join entry e on e.id = v.entry_id and e.kind = 'memory'
        join memory o on o.id = e.source_id and o.space_id = p_memory.space_id and o.status = 'active'
            and o.id < p_memory.id and relay.of_one_kind(o, p_memory)
        order by v.vector <=> own.vector, o.id limit 3);
begin
    if cardinality(near) = 0 then
        near := array(
            select o.id from memory o
            where o.space_id = p_memory.space_id and o.status = 'active' and o.id < p_memory.id
                and o.kind = p_memory.kind and relay.of_one_kind(o, p_memory)
            order by o.id desc limit 3);
    end if;
    near := near || array(
        select o.id from memory o
        where o.space_id = p_memory.space_id and o.status = 'active' and o.id < p_memory.id
            and o.content % p_memory.content and relay.of_one_kind(o, p_memory)
        order by similarity(o.content, p_memory.content) desc, o.id limit 3);
    return query select o.* from memory o
        where o.id = any (near) and exists (select from relay.in_order(o, p_memory) p
            where not (relay.not_unasked(p.older, p.newer, 'merge') and relay.not_unasked(p.older, p.newer, 'supersede')));
end $$;

-- Returns a memory as a note of a pair: {id, content, at: when it was last said, sessions: those in which it was said}.
create or replace function relay.note_of(p_memory relay.memory) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('id', p_memory.id, 'content', p_memory.content, 'at', relay.memory_said_at(p_memory),
        'sessions', array(
            select distinct session_id from message
            where id = p_memory.source_message_id or id = any (p_memory.evidence)))
$$;

-- Returns pairs that may say the same or contradict each other, for the next 5 memories after p_after that are new
-- since the last night: {pairs: [{older, newer}: notes], after: the last memory examined, null when done}.
create or replace function public.relay_pairs(p_space_id bigint, p_after bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    with fresh as materialized (
        select m from relay.new_memories(p_space_id) r join memory m on m.space_id = p_space_id and m.status = 'active'
            and m.id > greatest(r.after_memory, p_after) and m.id <= r.through_memory
        order by m.id limit 5)
    select jsonb_build_object('after', (select max((f.m).id) from fresh f), 'pairs', (
        select coalesce(jsonb_agg(jsonb_build_object('older', relay.note_of(p.older), 'newer', relay.note_of(p.newer))
            order by (f.m).id, o.id), '[]')
        from fresh f, lateral relay.near_older(f.m) o, lateral relay.in_order(o, f.m) p))
$$;

-- Returns the space's goals whose date has passed, up to 500: [{id, content}].
create or replace function public.relay_past_goals(p_space_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_agg(jsonb_build_object('id', id, 'content', content)), '[]') from (
        select id, content from relay.past_goals() where space_id = p_space_id order by id limit 500) past
$$;

-- Takes a memory out of use by an action (merge, supersede, archive). If another memory replaces it, the change belongs
-- to that one. p_stood: the other memory exists regardless of this change.
create or replace function relay.retire(p_memory relay.memory, p_action text, p_by bigint, p_stood boolean)
returns void language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    update memory set status = case p_action when 'archive' then 'archived' else 'superseded' end, replaced_by = p_by,
        valid_until = case when p_action = 'supersede' then coalesce(valid_until, now()) else valid_until end,
        updated_at = now()
    where id = p_memory.id;
    insert into memory_change (space_id, memory_id, action, before)
    values (p_memory.space_id, coalesce(p_by, p_memory.id), p_action,
        to_jsonb(p_memory) || case when p_stood then '{"stood": true}' else '{}' end::jsonb);
end $$;

-- Tests whether only a person may merge or replace this pair: what comes from other people's words must not change what
-- comes from the person's own, or what is pinned.
create or replace function relay.not_unasked(p_older relay.memory, p_newer relay.memory, p_action text) returns boolean
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select p_newer.tainted and (not p_older.tainted or p_older.pinned)
        or case p_action when 'supersede' then p_older.pinned else p_older.tainted and not p_newer.tainted end
$$;

-- Merges two memories into one that says p_content. It keeps the newer one's origin and the evidence, weight and pin of
-- both. Returns its number.
create or replace function relay.merged(p_older relay.memory, p_newer relay.memory, p_content text, p_derivation jsonb)
returns bigint language sql set search_path = relay, extensions, pg_temp as $$
    insert into memory (space_id, kind, subject_id, subject, content, category, tags, importance, pinned, tainted, thread_id,
        session_id, turn_id, source_message_id, derivation, confidence, valid_from, valid_until, exact_at, evidence,
        promoted_by, last_used_at, recalled_at, uses)
    select p_newer.space_id, p_newer.kind, p_newer.subject_id, p_newer.subject, p_content,
        coalesce(p_newer.category, p_older.category),
        array(select distinct unnest(p_older.tags || p_newer.tags)), greatest(p_older.importance, p_newer.importance),
        p_older.pinned or p_newer.pinned, p_older.tainted or p_newer.tainted, p_newer.thread_id, p_newer.session_id,
        p_newer.turn_id, p_newer.source_message_id, p_derivation, greatest(p_older.confidence, p_newer.confidence),
        least(p_older.valid_from, p_newer.valid_from),
        coalesce(p_newer.valid_until, nullif(greatest(p_older.valid_until, now()), now())),
        coalesce(p_newer.exact_at, p_older.exact_at), relay.evidence_in(p_newer.space_id,
            to_jsonb(p_older.evidence || p_newer.evidence || p_older.source_message_id || p_newer.source_message_id)),
        coalesce(p_newer.promoted_by, p_older.promoted_by), greatest(p_older.last_used_at, p_newer.last_used_at),
        greatest(p_older.recalled_at, p_newer.recalled_at), p_older.uses + p_newer.uses
    returning id
$$;

-- Learns a pattern from the memories that say it (the inputs of p_derivation), unless one of them is tainted; one that was
-- found before is as good as said again, and one that a person forgot stays forgotten. Returns whether it is new.
create or replace function relay.learn_pattern(p_newest relay.memory, p_content text, p_derivation jsonb)
returns boolean language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    said constant bigint[] := relay.inputs_of('memory', array(select jsonb_array_elements_text(p_derivation -> 'inputs')));
    proofs constant bigint[] := array(
        select distinct unnest(evidence || source_message_id) from memory
        where id = any (said) and space_id = p_newest.space_id);
    known memory;
    made bigint;
begin
    if exists (select from memory where id = any (said) and tainted) then
        return false;
    end if;
    select * into known from memory
    where space_id = p_newest.space_id and 'pattern' = any (tags) and derivation ->> 'name' = 'consolidate'
        and (evidence && proofs or relay.normal_form(content) = relay.normal_form(p_content))
    order by id desc limit 1 for update;
    if known.id is not null then
        update memory set confidence = confidence + (1 - confidence) / 2, updated_at = now(),
            evidence = array(select distinct unnest(known.evidence || proofs))
        where id = known.id and status = 'active' and not evidence @> proofs;
        return false;
    end if;
    insert into memory (space_id, kind, subject_id, subject, content, category, tags, importance, confidence, thread_id,
        session_id, source_message_id, evidence, derivation)
    select p_newest.space_id, 'learning', p_newest.subject_id, p_newest.subject, p_content, 'operational',
        array['pattern'], p_newest.importance, 0.8, p_newest.thread_id, p_newest.session_id,
        p_newest.source_message_id, array_remove(proofs, null), p_derivation
    returning id into made;
    insert into memory_change (space_id, memory_id, action) values (p_newest.space_id, made, 'learn');
    return true;
end $$;

-- Applies a plan in order: {action: merge, older, newer, content, derivation}, {action: supersede, older, newer},
-- {action: archive, older}, {action: pattern, older, newer, content, derivation}; each memory as {id, content}. Skips
-- memories that are no longer active, were reworded, are pinned, or would be changed by a tainted one. Returns {merged,
-- superseded, archived, patterns}.
create or replace function relay.carry_out(p_space_id bigint, p_plan jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    step jsonb;
    older memory;
    newer memory;
    into_one bigint;
    counts jsonb := '{"merged": 0, "superseded": 0, "archived": 0, "patterns": 0}';
    word text;
begin
    perform relay.hold_memory(p_space_id);
    for step in select jsonb_array_elements(p_plan) loop
        select * into older from memory where id = (step #>> '{older,id}')::bigint and space_id = p_space_id
            and status = 'active' and content = step #>> '{older,content}' for update;
        select * into newer from memory where id = (step #>> '{newer,id}')::bigint and space_id = p_space_id
            and status = 'active' and content = step #>> '{newer,content}' for update;
        continue when older.id is null or (step ? 'newer' and newer.id is null);
        if step ->> 'action' = 'archive' then
            perform relay.retire(older, 'archive', null, false);
            word := 'archived';
        elsif step ->> 'action' = 'pattern' then
            continue when not relay.learn_pattern(newer, step ->> 'content', step -> 'derivation');
            word := 'patterns';
        elsif not relay.of_one_kind(older, newer) or relay.not_unasked(older, newer, step ->> 'action') then
            continue;
        elsif step ->> 'action' = 'supersede' then
            perform relay.retire(older, 'supersede', newer.id, true);
            word := 'superseded';
        else
            into_one := relay.merged(older, newer, step ->> 'content', step -> 'derivation');
            perform relay.retire(older, 'merge', into_one, false), relay.retire(newer, 'merge', into_one, false);
            word := 'merged';
        end if;
        counts := jsonb_set(counts, array[word], to_jsonb((counts ->> word)::integer + 1));
    end loop;
    return counts;
end $$;

-- Applies a night's plan to a space's new memories up to p_through (null: all) and marks the space done for this night.
-- Null if it was already done.
create or replace function public.relay_consolidate(p_space_id bigint, p_plan jsonb, p_through bigint) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    update sleep_due set consolidated = true, after_memory = coalesce(p_through, through_memory)
    where space_id = p_space_id and not consolidated;
    return case when found then relay.carry_out(p_space_id, p_plan) end;
end $$;

-- Stores a night's plan until a person approves it, and queues the question to p_to once. Queued messages carry
-- consolidation_id for their buttons. /quiet holds the question back, since nobody asked for it.
create or replace function public.relay_ask_consolidation(
    p_space_id bigint, p_bot_id bigint, p_plan jsonb, p_lost integer, p_active integer, p_through bigint, p_to jsonb,
    p_notice jsonb)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    asked bigint;
begin
    update sleep_due set consolidated = true, after_memory = coalesce(p_through, through_memory)
    where space_id = p_space_id and not consolidated;
    if not found then
        return 'false';
    end if;
    insert into consolidation (space_id, plan, lost, active) values (p_space_id, p_plan, p_lost, p_active)
    on conflict do nothing returning id into asked;
    perform public.relay_enqueue(p_bot_id, jsonb_build_array(jsonb_build_object(
        'chat_id', person::bigint, 'user_id', person::bigint,
        'space_id', (select id from space where kind = 'private' and owner_id = person::bigint),
        'payload', p_notice || jsonb_build_object('consolidation_id', asked),
        'key', 'consolidation ' || asked || ' ' || person)))
    from jsonb_array_elements_text(p_to) as person where asked is not null;
    return to_jsonb(asked is not null);
end $$;

-- Returns the space of an open question: {id, kind, owner_id, chat_id}; null once it is settled.
create or replace function public.relay_consolidation(p_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('id', s.id, 'kind', s.kind, 'owner_id', s.owner_id, 'chat_id', s.chat_id)
    from consolidation c join space s on s.id = c.space_id where c.id = p_id
$$;

-- Settles a question by a person's decision. Goals that are kept are not asked about again unless they get a new date.
-- Returns what was done ({}: nothing); null if it was already settled.
create or replace function public.relay_settle_consolidation(p_id bigint, p_go boolean) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    asked consolidation;
begin
    delete from consolidation where id = p_id returning * into asked;
    insert into goal_left (memory_id, valid_until)
    select m.id, m.valid_until from jsonb_array_elements(asked.plan) as step
    join memory m on m.id = (step #>> '{older,id}')::bigint and m.space_id = asked.space_id
    where not p_go and step ->> 'action' = 'archive' and m.valid_until is not null
    on conflict (memory_id) do update set valid_until = excluded.valid_until;
    return case when asked.id is null then null when p_go then relay.carry_out(asked.space_id, asked.plan) else '{}' end;
end $$;
