-- Memory switches: on, off or paused; what a thread recalls and teaches; pending changes; forgetting everything.

-- Returns the state of a space's memory and of a thread.
create or replace function public.relay_controls(p_space jsonb, p_chat_id bigint, p_topic_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    with own as (select relay.find_space(p_space) as id),
    here as (select * from relay.find_thread(p_space, p_chat_id, p_topic_id))
    select jsonb_build_object(
        'space_id', own.id,
        'memory', coalesce((select memory from space s where s.id = own.id), 'on'),
        'paused_until', (select paused_until from space s where s.id = own.id and paused_until > now()),
        'remembers', coalesce(not exists (select from space s where s.id = own.id) or relay.remembers(own.id), true),
        'recalls', coalesce((select recalls from here), true),
        'teaches', coalesce((select teaches from here), true),
        'private', relay.off_record(p_chat_id, p_topic_id) is not null,
        'memories', (select count(*) from memory where space_id = own.id and status = 'active'),
        'pending', (select count(*) from relay.waiting_changes(own.id)),
        'preferences_on', relay.follows_preferences(own.id),
        'preferences_paused_until', (
            select preferences_paused_until from space s where s.id = own.id and preferences_paused_until > now()))
    from own
$$;

-- Sets the given switches of a space (p_change {memory, paused_until}) or thread ({recalls, teaches}). Returns the
-- state.
create or replace function public.relay_control(
    p_space jsonb, p_chat_id bigint, p_topic_id bigint, p_user_id bigint, p_change jsonb)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own constant bigint := relay.ensure_space(p_space);
    -- Locks the thread before the memory, as when an answer is saved.
    here constant bigint := case when p_change ?| array['recalls', 'teaches']
        then (relay.ensure_thread(own, p_chat_id, p_topic_id, 1000000)).id end;
begin
    update space set memory = coalesce(p_change ->> 'memory', memory),
        paused_until = case when p_change ? 'paused_until' then (p_change ->> 'paused_until')::timestamptz
            else paused_until end
    where id = own;
    update thread set recalls = coalesce((p_change ->> 'recalls')::boolean, recalls),
        teaches = coalesce((p_change ->> 'teaches')::boolean, teaches)
    where id = here;
    insert into event (kind, space_id, user_id, payload) values ('control', own, p_user_id, p_change);
    return public.relay_controls(p_space, p_chat_id, p_topic_id);
end $$;

-- Returns why nothing is learned in a thread now: private, off, paused, or here (the thread teaches nothing). Null if
-- learning works.
create or replace function relay.unlearned_why(p_space_id bigint, p_thread_id bigint, p_session_id bigint) returns text
language sql stable set search_path = relay, extensions, pg_temp as $$
    select case
        when exists (select from session where id = p_session_id and private) then 'private'
        when (select memory from space where id = p_space_id) = 'off' then 'off'
        when not relay.remembers(p_space_id) then 'paused'
        when exists (select from thread where id = p_thread_id and not teaches) then 'here' end
$$;

-- Returns what an answer says about memory: {resting: memory is paused, signs: private; rests and woke, once after a
-- pause began or ended since the thread's last answer; unlearned and why, if the model wanted to learn (p_wanted)}.
create or replace function relay.signs_of(p_turn relay.turn, p_why text, p_wanted boolean) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    with known as (
        select not relay.remembers(p_turn.space_id) as rests, coalesce((
            select (told ->> 'resting')::boolean from turn
            where thread_id = p_turn.thread_id and id < p_turn.id and told ? 'resting'
            order by id desc limit 1), false) as rested)
    select jsonb_build_object('resting', rests, 'signs', to_jsonb(array_remove(array[
        case when p_why = 'private' then 'private' end,
        case when rests and not rested then 'rests' when rested and not rests then 'woke' end,
        case when p_wanted and p_why <> 'private' then 'unlearned ' || p_why end], null)))
    from known
$$;

-- Returns the explicit requests that can't be met now, with the reason, as relay.apply_actions does, and as hint the
-- command that changes it: nothing is stored while memory is off or paused, or off the record.
create or replace function relay.refused_actions(p_turn relay.turn, p_actions jsonb) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_agg(jsonb_build_object(
        'failed', why, 'tag', 'learn', 'text', action ->> 'content', 'hint', hint)), '[]')
    from jsonb_array_elements(p_actions) as action, (
        select 'this conversation is off the record' as why, '' as hint
        where exists (select from inbox where turn_id = p_turn.id and session_id is not null)
            or exists (select from session where id = p_turn.session_id and private)
        union all
        select 'memory is off or paused', '/memory on' where not relay.remembers(p_turn.space_id)
        order by hint limit 1) own
    where action ->> 'action' in ('learn', 'supersede')
$$;

-- Decides all pending changes of a space that this person may decide, up to 200. Returns how many were decided and how
-- many remain.
create or replace function public.relay_decide_waiting(
    p_space jsonb, p_user_id bigint, p_admin boolean, p_decision text)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own constant bigint := relay.find_space(p_space);
    one bigint;
    decided integer := 0;
begin
    for one in
        select c.id from relay.waiting_changes(own) c join memory m on m.id = c.memory_id
        where relay.may_decide(c.space_id, c.user_id, m.subject_id, p_user_id, p_admin)
            -- only a person can choose among several candidates
            and (c.action <> 'forget' or p_decision = 'discard' or 1 = (
                select count(*) from memory_change o where o.turn_id = c.turn_id and o.action = 'forget'))
        order by c.id limit 200
    loop
        perform public.relay_decide_change(one, p_user_id, p_admin, p_decision);
        decided := decided + 1;
    end loop;
    return jsonb_build_object('decided', decided, 'pending', (select count(*) from relay.waiting_changes(own)));
end $$;

-- Returns the active memories that match a pattern (* matches anything; without *, all words must match) and that the
-- person may forget.
create or replace function relay.meant_by(p_space_id bigint, p_pattern text, p_user_id bigint, p_admin boolean)
returns bigint[] language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(array_agg(m.id order by m.id desc), '{}') from memory m join space s on s.id = m.space_id
    where m.space_id = p_space_id and m.status = 'active'
        and (s.kind = 'private' or m.subject_id is null or m.subject_id = p_user_id or p_admin)
        and (p_pattern = '*' or m.content ~* (case when p_pattern like '*%' then '' else '\m' end
            || replace(regexp_replace(btrim(p_pattern, '*'), '([][\\^$.|?+(){}])', '\\\1', 'g'), '*', '.*')
            || case when p_pattern like '%*' then '' else '\M' end))
$$;

-- Previews what a pattern would forget: {total, memories: the newest ten}, stored with the command whose button forgets
-- them.
create or replace function public.relay_forget_preview(
    p_turn_id bigint, p_fence bigint, p_space jsonb, p_pattern text, p_user_id bigint, p_admin boolean)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    held turn := relay.hold(p_turn_id, p_fence);
    own constant bigint := relay.find_space(p_space);
    meant constant bigint[] := relay.meant_by(own, p_pattern, p_user_id, p_admin);
begin
    update turn set prompt = jsonb_build_object('forget', to_jsonb(meant), 'space_id', own) where id = held.id;
    return jsonb_build_object('total', cardinality(meant), 'memories', (
        select coalesce(jsonb_agg(jsonb_build_object('number', number, 'content', content, 'subject', subject) order by id desc),
            '[]')
        from memory where id = any (meant[:10])));
end $$;

-- Forgets memories in bulk, each as a change that can be undone; pending ones are discarded. Removes them from the
-- index together: one at a time takes five times as long. Uses indexes alone: see relay.reindex.
create or replace function relay.forget_together(p_memories bigint[], p_turn_id bigint, p_user_id bigint) returns void
language plpgsql set search_path = relay, extensions, pg_temp set enable_seqscan = off set jit = off as $$
begin
    insert into memory_change (space_id, memory_id, turn_id, user_id, action, before)
    select space_id, id, p_turn_id, p_user_id, 'forget', to_jsonb(m) from memory m
    where id = any (p_memories) and status = 'active';
    perform set_config('relay.index', 'later', true);
    update memory set updated_at = now(), status = case status when 'active' then 'forgotten' else 'discarded' end
    where id = any (p_memories) and status in ('active', 'pending');
    perform set_config('relay.index', '', true);
    delete from entry where kind = 'memory' and source_id = any (p_memories);
end $$;

-- Undoes forgetting in bulk, as relay.take_back does for one memory; indexes them together.
create or replace function relay.remember_together(p_changes bigint[], p_user_id bigint) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    back constant bigint[] := array(select memory_id from memory_change where id = any (p_changes));
begin
    perform set_config('relay.index', 'later', true);
    update memory set status = 'active', updated_at = now() where id = any (back);
    perform set_config('relay.index', '', true);
    perform relay.enter('memory', back, '{}');
    update memory_change set status = 'undone', decided_at = now() where id = any (p_changes);
    insert into event (kind, space_id, turn_id, user_id, payload)
    select 'memory', space_id, turn_id, p_user_id, jsonb_build_object('change', id, 'decision', 'undo')
    from memory_change where id = any (p_changes);
end $$;

-- Handles a tap: forgets what a command previewed, 2,000 at a time, or (p_undo) restores it, 500 at a time. Returns
-- {done: how many so far, over all calls, left: whether to call again}; null if the person may not, or it was never
-- shown. Safe to repeat.
create or replace function public.relay_forget_shown(
    p_turn_id bigint, p_user_id bigint, p_admin boolean, p_undo boolean)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    most constant integer := case when p_undo then 500 else 2000 end;
    asked turn;
    own bigint;
    change memory_change;
    going bigint[] := '{}';
begin
    select * into asked from turn where id = p_turn_id and prompt ? 'forget' for no key update;
    if asked.id is null or asked.user_id <> p_user_id then
        return null;
    elsif p_undo then
        perform relay.hold_memory((select max(space_id) from memory_change where turn_id = asked.id));
        -- One at a time, so that no more are checked than are taken.
        for change in
            select c.* from memory_change c join memory m on m.id = c.memory_id
            where c.turn_id = asked.id and c.action = 'forget' and c.status = 'applied'
                and relay.may_decide(c.space_id, c.user_id, m.subject_id, p_user_id, p_admin)
            order by c.id
        loop
            continue when relay.changed_since(change);
            going := going || change.id;
            exit when cardinality(going) = most;
        end loop;
        perform relay.remember_together(going, p_user_id);
    else
        own := (asked.prompt ->> 'space_id')::bigint;
        perform relay.hold_memory(own);
        going := array(
            select m.id from memory m join space s on s.id = m.space_id
            where m.id = any (array(select jsonb_array_elements_text(asked.prompt -> 'forget')::bigint))
                and m.space_id = own and m.status = 'active'
                and (s.kind = 'private' or m.subject_id is null or m.subject_id = p_user_id or p_admin)
            order by m.id limit most for update of m);
        perform relay.forget_together(going, asked.id, p_user_id);
    end if;
    return (
        select jsonb_build_object('done', count(*) filter (where gone <> p_undo), 'left', cardinality(going) = most)
        from (select bool_or(status = 'applied') as gone from memory_change
            where turn_id = asked.id and action = 'forget' group by memory_id) one);
end $$;

-- Tests whether a command showed this person what it would forget.
create or replace function public.relay_was_shown(p_turn_id bigint, p_user_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select to_jsonb(exists (select from turn where id = p_turn_id and user_id = p_user_id and prompt ? 'forget'))
$$;

-- Forgets the next 2,000 memories of a space by number; pending changes are discarded. Returns the last number.
create or replace function relay.forget_next(p_space_id bigint, p_user_id bigint, p_after bigint, p_through bigint)
returns bigint language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    going constant bigint[] := array(
        select id from memory
        where space_id = p_space_id and status in ('active', 'pending') and id > p_after and id <= p_through
        order by id limit 2000 for update);
begin
    perform relay.forget_together(going, null, p_user_id);
    perform relay.owe_correction(turn_id) from (
        select distinct turn_id from memory_change where status = 'pending' and memory_id = any (going)) undecided;
    update memory_change set status = 'discarded', decided_at = now() where status = 'pending' and memory_id = any (going);
    return coalesce(going[cardinality(going)], p_through);
end $$;

-- Forgets everything in a space, 2,000 at a time, each as a change that can be undone, if a turn gives the number of
-- memories. The turn records its progress and continues there if it is repeated. Returns how many are left; null if the
-- number is wrong.
create or replace function public.relay_confirm_reset(
    p_turn_id bigint, p_fence bigint, p_space jsonb, p_user_id bigint, p_known integer)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    held turn := relay.hold(p_turn_id, p_fence);
    own constant bigint := relay.find_space(p_space);
    through bigint := (held.prompt ->> 'reset')::bigint;
    after bigint := coalesce((held.prompt ->> 'after')::bigint, 0);
begin
    perform relay.hold_memory(own);
    if through is null then
        if p_known is distinct from (select count(*) from memory where space_id = own and status = 'active') then
            return null;
        end if;
        through := coalesce((select max(id) from memory where space_id = own), 0);
    end if;
    after := relay.forget_next(own, p_user_id, after, through);
    update turn set prompt = jsonb_build_object('reset', through, 'after', after) where id = held.id;
    return to_jsonb((
        select count(*) from memory
        where space_id = own and status in ('active', 'pending') and id > after and id <= through));
end $$;
