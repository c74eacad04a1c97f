-- The memories that prompts carry, and what their answers may teach.

-- The facts and learnings that a prompt carries: pinned and most important first until the budget (in characters) is
-- used, told in the order of their ids so that the text stays the same until memory changes. Those whose time is over are
-- not among them, nor learnings that have faded; none is where memory is off or at rest. What a tainted turn taught is among them once its owner kept
-- it, and does not taint: that tap was the decision to take it as one's own.
create or replace function relay.memories_for_prompt(p_space_id bigint, p_budget integer) returns jsonb
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    one record;
    used bigint := 0;
    carried bigint[] := '{}';
begin
    if p_budget > 0 and relay.remembers(p_space_id) then
        -- A loop reads no further than the budget goes.
        for one in
            select id, length(content) + 8 as size from memory
            where space_id = p_space_id and status = 'active' and (valid_until is null or valid_until > now())
                and not relay.has_faded(memory)
            order by pinned desc, importance desc, id desc limit 1000
        loop
            used := used + one.size;
            exit when used > p_budget;
            carried := carried || one.id;
        end loop;
    end if;
    return (
        select coalesce(jsonb_agg(to_jsonb(r) order by r.id), '[]') from (
            select id, kind, subject_id, subject, content, category, tags, pinned, importance, valid_until
            from memory where id = any (carried)) r);
end $$;

-- Whether a learning has faded out of prompts: in 180 days it bore on nothing that was said, and nobody pinned, reworded,
-- kept or said it again. It is still found by searching and by recall, which bears it out.
create or replace function relay.has_faded(p_memory relay.memory) returns boolean
language sql stable set search_path = relay, extensions, pg_temp as $$
    select p_memory.kind = 'learning' and p_memory.recalled_at is null and not p_memory.pinned
        and p_memory.created_at < now() - interval '180 days' and p_memory.updated_at <= p_memory.created_at
        and p_memory.promoted_by is null and p_memory.derivation ->> 'name' is distinct from 'user'
$$;

-- How many learnings of a space have faded.
create or replace function relay.faded_memories(p_space_id bigint) returns bigint
language sql stable set search_path = relay, extensions, pg_temp as $$
    select count(*) from memory m
    where space_id = p_space_id and status = 'active' and kind = 'learning' and recalled_at is null and not pinned
        and created_at < now() - interval '180 days' and (valid_until is null or valid_until > now())
        and relay.has_faded(m)
$$;

-- How many memories of each sort a prompt could carry: facts by their kind, learnings by their category. Counted in the
-- order of an index that has all of it, for there may be thousands.
create or replace function relay.memory_counts(p_space_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_object_agg(sort, memories), '{}') from (
        select case kind when 'learning' then coalesce(category, 'knowledge') else kind end as sort,
            sum(memories) as memories
        from (
            select kind, category, count(*) as memories from memory
            where space_id = p_space_id and status = 'active' and (valid_until is null or valid_until > now())
                and (select relay.remembers(p_space_id))
            group by kind, category) each
        group by sort) sorted
$$;

-- Counts a use of memories that were recalled for a prompt; and of those that stand in it all along once an hour: they
-- are hundreds, and to count each of their turns would take longer than all else that ends a turn. Those that another
-- turn counts at the same moment are left to it. `bearing`: those that were recalled, also where they stand in it anyway.
create or replace function relay.count_uses(p_prompt jsonb) returns void
language sql set search_path = relay, extensions, pg_temp as $$
    update memory set uses = uses + 1, last_used_at = now(),
        recalled_at = case when coalesce(p_prompt -> 'bearing', '[]') @> to_jsonb(id) then now() else recalled_at end
    where id in (
        select id from memory
        where id in (select one::bigint from jsonb_array_elements_text(
                coalesce(p_prompt -> 'memories', '[]') || coalesce(p_prompt -> 'recalled_memories', '[]')) as one)
            and (last_used_at is null or last_used_at < now() - interval '1 hour'
                or recalled_at is null and coalesce(p_prompt -> 'bearing', '[]') @> to_jsonb(id)
                or coalesce(p_prompt -> 'recalled_memories', '[]') @> to_jsonb(id))
        for no key update skip locked)
$$;

-- What an answer asks of memory, as far as its session may teach: of one that may not, what it forgets.
create or replace function relay.taught(p_turn relay.turn, p_actions jsonb) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select case when relay.taken_back(p_turn) then '[]'
        when relay.teaches(p_turn.session_id) then p_actions
        else jsonb_path_query_array(p_actions, '$[*] ? (@.action == "forget")') end
$$;
