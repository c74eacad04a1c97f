-- Deriving again: earlier results, their inputs, and replacing them.

-- Returns a space's summaries made by a model since p_since, each after those it builds on, after p_after: up to 500
-- [{id, thread_id}].
create or replace function public.relay_derived_summaries(p_space jsonb, p_since timestamptz, p_after bigint)
returns jsonb language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_agg(to_jsonb(s) order by s.id), '[]') from (
        select s.id, s.thread_id from summary s join thread t on t.id = s.thread_id
        where t.space_id = relay.find_space(p_space) and s.author_id is null and s.id > p_after
            and s.created_at >= coalesce(p_since, '-infinity')
        order by s.id limit 500) s
$$;

-- Returns a summary with its inputs: {id, thread_id, space_id, text, hash, previous, messages}; null if it is gone.
create or replace function public.relay_derived_summary(p_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('id', s.id, 'thread_id', s.thread_id, 'space_id', t.space_id, 'text', s.text,
        'hash', s.derivation ->> 'hash',
        'previous', case when p.id is not null then
            jsonb_build_object('id', p.id, 'text', p.text, 'tainted', p.tainted,
                'kept', coalesce((p.settings ->> 'kept')::integer, 0)) end,
        'markers', relay.summary_markers(s.thread_id, relay.summary_began(s.id), s.through_message_id,
            relay.summary_tokens(s.thread_id, since, s.through_message_id)),
        'messages', relay.summary_messages(s.thread_id, since, s.through_message_id))
    from summary s join thread t on t.id = s.thread_id left join summary p on p.id = s.previous_id
    -- A summary may begin at a passage that an earlier one covers.
    cross join lateral (select greatest(s.from_message_id, p.through_message_id + 1) as since) own
    where s.id = p_id
$$;

-- Replaces a summary's text if it still says p_was. Returns whether it did.
create or replace function public.relay_replace_summary(p_id bigint, p_was text, p_summary jsonb) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    update summary set text = p_summary ->> 'text', model = p_summary ->> 'model', usage = p_summary -> 'usage',
        settings = p_summary -> 'settings', derivation = p_summary -> 'derivation',
        tainted = (p_summary ->> 'tainted')::boolean
    where id = p_id and text = p_was and author_id is null returning to_jsonb(true)
$$;

-- Returns threads with messages since p_since that another version of the judge may have judged, after p_after: up to
-- 500 [{id, space_id}].
create or replace function public.relay_told_threads(
    p_space jsonb, p_since timestamptz, p_after bigint, p_version text)
returns jsonb language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_agg(to_jsonb(t) order by t.id), '[]') from (
        select id, space_id from thread
        where space_id = relay.find_space(p_space) and id > p_after and last_at >= coalesce(p_since, '-infinity')
            and relay.remembers(space_id)
            and exists (select from judging j where j.thread_id = thread.id and j.version is distinct from p_version)
        order by id limit 500) t
$$;

-- Returns up to p_limit messages of a thread after p_after that may teach something.
create or replace function public.relay_told_messages(
    p_thread_id bigint, p_since timestamptz, p_after bigint, p_limit integer)
returns jsonb language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_agg(relay.judged_json(m) order by m.id), '[]') from (
        select * from message
        where thread_id = p_thread_id and id > p_after and status <> 'replaced' and teaches
            and created_at >= coalesce(p_since, '-infinity') and relay.teaches(session_id)
        order by id limit p_limit) m
$$;

-- Marks a thread as holding only this version's findings.
create or replace function public.relay_rejudged(p_thread_id bigint, p_version text) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    update judging set version = p_version where thread_id = p_thread_id;
    select 'true'::jsonb
$$;

-- Returns what a derivation, or keywords in its place, currently stores from some messages. held: a person pinned or
-- reworded it, or kept a proposal of keywords, so nothing replaces it.
create or replace function public.relay_derived_memories(p_space_id bigint, p_name text, p_messages jsonb) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_agg(jsonb_build_object('id', id, 'content', content, 'kind', kind, 'subject_id', subject_id,
        'subject', subject, 'evidence', evidence, 'held', pinned or exists (
            select from memory_change c where c.memory_id = memory.id and c.user_id is not null and c.status = 'applied'
                and (c.action = 'refresh'
                    or c.decided_at is not null and derivation ->> 'name' = 'keyword ' || p_name))) order by id), '[]')
    from memory
    where space_id = p_space_id and status in ('active', 'pending')
        and derivation ->> 'name' in (p_name, 'keyword ' || p_name)
        and evidence && array(select jsonb_array_elements_text(p_messages)::bigint)
$$;

-- Tests whether a memory ended for good: it was replaced, archived by a person, or its goal has expired. One that only
-- lost its evidence has not, nor what such a memory had replaced.
create or replace function relay.is_over(p_memory relay.memory) returns boolean
language sql stable set search_path = relay, extensions, pg_temp as $$
    with recursive line as (
        select p_memory.id, p_memory.status, p_memory.replaced_by
        union
        select m.id, m.status, m.replaced_by from line l join memory m on m.id = l.replaced_by
        where l.status = 'superseded')
    select p_memory.status in ('superseded', 'archived') and not exists (
        select from line l join memory m on m.id = l.id
        where l.status = 'archived' and not (m.kind = 'goal' and coalesce(m.valid_until < now(), false))
            and not exists (select from memory_change c
                where c.memory_id = l.id and c.action = 'archive' and c.user_id is not null and c.status = 'applied'))
$$;

-- Returns other memories from some messages, current or ended for good, besides the derivation's own: up to 500
-- [{content, subject_id, evidence, tainted}].
create or replace function public.relay_known_besides(p_space_id bigint, p_name text, p_messages jsonb) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    with asked as materialized (select array(select jsonb_array_elements_text(p_messages)::bigint) as ids)
    select coalesce(jsonb_agg(jsonb_build_object('content', k.content, 'subject_id', k.subject_id, 'tainted', k.tainted,
        'evidence', array(select distinct one from unnest(k.evidence || k.source_message_id) as one
            where one is not null)) order by k.id), '[]')
    from (
        select m.* from asked, memory m
        where m.space_id = p_space_id and (m.evidence && asked.ids or m.source_message_id = any (asked.ids))
            and (m.status in ('active', 'pending')
                    and coalesce(m.derivation ->> 'name', '') not in (p_name, 'keyword ' || p_name)
                or relay.is_over(m))
        order by m.id desc limit 500) k
$$;

-- Tests whether a person rejected what some messages say about someone: forgotten, undone or discarded. Doesn't count
-- what was undone because words changed or a model judged again, or what was merged from several.
create or replace function relay.unwanted(p_space_id bigint, p_subject_id bigint, p_evidence bigint[]) returns boolean
language sql stable set search_path = relay, extensions, pg_temp as $$
    select exists (
        select from memory m
        where m.space_id = p_space_id and m.subject_id is not distinct from p_subject_id
            and (m.evidence && p_evidence or m.source_message_id = any (p_evidence))
            and (m.status = 'forgotten' or m.status = 'discarded'
                and coalesce(m.derivation ->> 'name', '') <> 'consolidate'
                and not exists (select from turn t where t.replaces_turn_id = m.turn_id)
                and (coalesce(m.derivation ->> 'name', '') <> 'keyword judge' or exists (
                    select from event e join memory_change c on c.id = (e.payload ->> 'change')::bigint
                    where e.turn_id = m.turn_id and e.kind = 'memory' and c.memory_id = m.id))))
$$;

-- Tests for each candidate {subject_id, evidence} whether no person rejected it: [true or false], in order.
create or replace function public.relay_wanted(p_space_id bigint, p_candidates jsonb) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_agg(not relay.unwanted(p_space_id, (one ->> 'subject_id')::bigint,
        array(select jsonb_array_elements_text(one -> 'evidence')::bigint)) order by place), '[]')
    from jsonb_array_elements(p_candidates) with ordinality as c (one, place)
$$;

-- Stores a rederived memory that refines or contradicts another, per {action, memory_id}. Returns whether it did.
create or replace function relay.apply_settled(p_space_id bigint, p_memory jsonb) returns boolean
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    proofs constant bigint[] := array(select jsonb_array_elements_text(p_memory -> 'evidence')::bigint);
    waits constant boolean := coalesce((p_memory ->> 'tainted')::boolean, true)
        or coalesce((p_memory ->> 'pending')::boolean, false);
    said message;
    held turn;
begin
    select * into said from message where space_id = p_space_id and id = any (proofs) and role = 'user'
    order by id desc limit 1;
    if said.id is null or relay.unwanted(p_space_id, (p_memory ->> 'subject_id')::bigint, proofs) then
        return false;
    end if;
    held := relay.turn_of_finding(said);
    held.tainted := (p_memory ->> 'tainted')::boolean;
    return not relay.apply_actions(held, said.id, jsonb_build_array(p_memory || jsonb_build_object(
        'valid_from', coalesce(p_memory ->> 'valid_from', said.created_at::text))), waits) -> 0 ? 'failed';
end $$;

-- Tests whether all messages of a memory's evidence exist; locks them until the end of the transaction.
create or replace function relay.stands(p_space_id bigint, p_evidence jsonb) returns boolean
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    proofs constant bigint[] := array(select distinct jsonb_array_elements_text(p_evidence)::bigint);
begin
    perform from message where space_id = p_space_id and id = any (proofs) order by id for key share;
    return cardinality(proofs) = cardinality(relay.evidence_in(p_space_id, p_evidence));
end $$;

-- Stores a rederived memory: p_memory replaces (null: removes) the memory p_was {id, content} (null: none), which stays
-- in the history. It waits for a tap if it rests on untrusted words or its person wants to be asked (pending). With
-- {action, memory_id}, it is settled with p_was. Returns whether it was stored: not if that memory has changed, it is
-- already known, a person rejected it, or its evidence was erased.
create or replace function public.relay_apply_derived(p_space_id bigint, p_was jsonb, p_memory jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    old memory;
    same memory;
    source message;
    made memory;
begin
    perform relay.hold_memory(p_space_id);
    if p_memory is not null and not relay.stands(p_space_id, p_memory -> 'evidence') then
        return 'false';
    end if;
    if p_was is not null then
        select * into old from memory where id = (p_was ->> 'id')::bigint and space_id = p_space_id
            and status in ('active', 'pending') and content = p_was ->> 'content' for update;
        if old.id is null then
            return 'false';
        end if;
    end if;
    if p_memory ->> 'action' in ('refine', 'supersede') then
        return to_jsonb(relay.apply_settled(p_space_id, p_memory));
    end if;
    if p_memory is not null then
        same := relay.same_memory(p_space_id, p_memory ->> 'kind', (p_memory ->> 'subject_id')::bigint,
            p_memory ->> 'content');
        if same.id is not null and same.id is distinct from old.id or old.id is null and relay.unwanted(p_space_id,
            (p_memory ->> 'subject_id')::bigint, array(select jsonb_array_elements_text(p_memory -> 'evidence')::bigint))
        then
            return 'false';
        end if;
        select * into source from message where space_id = p_space_id and id = (p_memory #>> '{evidence,0}')::bigint;
        insert into memory (space_id, kind, subject_id, subject, content, category, tags, importance, confidence, status,
            tainted, thread_id, session_id, turn_id, source_message_id, evidence, derivation,
            valid_from, valid_until, exact_at)
        select p_space_id, m.kind, m.subject_id, m.subject, m.content, m.category, coalesce(m.tags, '{}'), m.importance,
            m.confidence, case when m.tainted or m.pending then 'pending' else 'active' end, m.tainted, source.thread_id,
            source.session_id, source.turn_id, source.id, m.evidence, m.derivation,
            m.valid_from, m.valid_until, m.exact_at
        from jsonb_to_record(p_memory) as m (kind text, subject_id bigint, subject text, content text, category text,
            tags text[], importance smallint, confidence real, tainted boolean, pending boolean, evidence bigint[],
            derivation jsonb, valid_from timestamptz, valid_until timestamptz, exact_at timestamptz)
        returning * into made;
        insert into memory_change (space_id, memory_id, turn_id, action, status, before)
        select p_space_id, made.id, made.turn_id, case when old.status = 'active' then 'merge' else 'learn' end,
            case made.status when 'pending' then 'pending' else 'applied' end,
            case when old.status = 'active' then to_jsonb(old) end
        where old.status is distinct from 'active' or made.status = 'pending';
    end if;
    if old.status = 'pending' then
        update memory set status = case when made.id is null then 'archived' else 'superseded' end, replaced_by = made.id,
            updated_at = now() where id = old.id;
        update memory_change set status = 'discarded', decided_at = now() where memory_id = old.id and status = 'pending';
    elsif old.id is not null and made.status is distinct from 'pending' then
        perform relay.retire(old, case when made.id is null then 'archive' else 'merge' end, made.id, false);
    end if;
    return 'true';
end $$;
