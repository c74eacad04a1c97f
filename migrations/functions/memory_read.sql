-- Reads memories page by page, with their origin and history.

-- Returns the descriptor of a space.
create or replace function public.relay_space(p_space_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('kind', kind, 'owner_id', owner_id, 'chat_id', chat_id) from space where id = p_space_id
$$;

-- Returns the first row of the page at an offset, or of the last page if there are fewer rows.
create or replace function relay.page_start(p_offset integer, p_limit integer, p_total integer) returns integer
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select greatest(0, least(p_offset, (p_total - 1) / p_limit * p_limit))
$$;

-- Turns each word of a search into a pattern that matches it anywhere; null if there are none.
create or replace function relay.patterns(p_words text) returns text[]
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select array_agg('%' || regexp_replace(word, '([\\%_])', '\\\1', 'g') || '%')
    from regexp_split_to_table(btrim(p_words), '\s+') as word where word <> ''
$$;

-- Returns the changes that wait for a tap. Once one of several candidates is chosen, the others no longer wait.
create or replace function relay.waiting_changes(p_space_id bigint) returns setof relay.memory_change
language sql stable set search_path = relay, extensions, pg_temp as $$
    select c.* from memory_change c left join turn t on t.id = c.turn_id
    where c.space_id = p_space_id and c.status = 'pending'
        and (c.action <> 'forget' or t.tainted or not exists (
            select from memory_change o
            where o.turn_id = c.turn_id and o.action = 'forget' and o.status in ('applied', 'undone')))
$$;

-- Returns the ids of a space's memories by {kind, facts, category, pinned, unconfirmed, subject_id, words, past, pending},
-- newest first. `unconfirmed`: nobody has said that it is right. Instead of active ones, `past`: archived and replaced
-- ones; `pending`: those that wait for a tap. `facts`: all kinds but learnings. p_limit null: all. A word is anywhere in
-- text, subject or tags; indexes find one with three letters in a row, without one all are read (100,000 in 70 ms).
create or replace function relay.chosen_memories(
    p_space_id bigint, p_chosen jsonb, p_offset integer, p_limit integer)
returns bigint[]
language plpgsql stable set search_path = relay, extensions, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
    of_kind text := p_chosen ->> 'kind';
    of_category text := p_chosen ->> 'category';
    of_subject bigint := p_chosen ->> 'subject_id';
    only_pinned boolean := coalesce((p_chosen ->> 'pinned')::boolean, false);
    only_unconfirmed boolean := coalesce((p_chosen ->> 'unconfirmed')::boolean, false);
    only_facts boolean := coalesce((p_chosen ->> 'facts')::boolean, false);
    states text[] := case when (p_chosen ->> 'past')::boolean then array['superseded', 'archived']
        when (p_chosen ->> 'pending')::boolean then array['pending'] else array['active'] end;
    words text[] := relay.patterns(left(p_chosen ->> 'words', 200));
    sought text := (select word from unnest(words) as word where word ~ '\w{3}' order by length(word) desc limit 1);
    others text[] := nullif(array_remove(words, sought), '{}');
begin
    -- The planner knows the values: it drops what is null, and reads along an index for a word that many have.
    return array(
        select id from memory
        where space_id = p_space_id and status = any (states) and (of_kind is null or kind = of_kind)
            and (not only_facts or kind <> 'learning') and (of_category is null or category = of_category)
            and (of_subject is null or subject_id = of_subject) and (not only_pinned or pinned)
            and (not only_unconfirmed or validated_at is null)
            and (sought is null or content ilike sought or relay.memory_labels(subject, tags) ilike sought)
            and (others is null or concat_ws(' ', subject, content, array_to_string(tags, ' ')) ilike all (others))
        order by id desc offset p_offset limit p_limit);
end $$;

-- Returns the newest 1,000 memories with words, by the same; if no words match, those among the newest 1,000 of the rest that
-- have them without accents or are similar (comparing 10,000 takes 160 ms).
create or replace function relay.memories_with_words(p_space_id bigint, p_chosen jsonb) returns bigint[]
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    found bigint[] := relay.chosen_memories(p_space_id, p_chosen, 0, 1000);
begin
    if found = '{}' then
        found := array(
            select id from memory where id = any (relay.chosen_memories(p_space_id, p_chosen - 'words', 0, 1000))
                and (content %> left(p_chosen ->> 'words', 200) or relay.folded(concat_ws(' ', subject, content))
                    ilike all (relay.patterns(relay.folded(left(p_chosen ->> 'words', 200))))) order by id desc);
    end if;
    return found;
end $$;

-- Returns the people that a group's memories are about, under their present names, with counts.
create or replace function relay.subjects(p_space_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_agg(jsonb_build_object('id', id, 'name', name, 'memories', memories)
        order by memories desc, id), '[]')
    from (
        select subject_id as id, count(*) as memories, coalesce(
            (select relay.called_in(p_space_id)) ->> subject_id::text, (array_agg(subject order by m.id desc))[1]) as name
        from memory m join space s on s.id = m.space_id and s.kind = 'group'
        where m.space_id = p_space_id and m.status = 'active' and subject_id is not null
        group by subject_id order by count(*) desc, subject_id limit 40) person
$$;

-- Returns a page of a space's memories by what chosen_memories says, with totals. Active ones that are chosen without words
-- or a person are counted with the rest, and only their page is read.
create or replace function public.relay_list_memories(
    p_space jsonb, p_chosen jsonb, p_offset integer, p_limit integer)
returns jsonb
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    own bigint := relay.find_space(p_space);
    counts jsonb := relay.count_memories(own, p_chosen);
    found bigint[] := case when relay.patterns(p_chosen ->> 'words') is not null then relay.memories_with_words(own, p_chosen)
        when p_chosen ?| array['subject_id', 'past', 'pending'] then relay.chosen_memories(own, p_chosen, 0, null) end;
    matching integer := coalesce(cardinality(found), (counts ->> 'matching')::integer);
    starts integer := relay.page_start(p_offset, p_limit, matching);
    page bigint[] := case when found is not null then found[starts + 1:starts + p_limit]
        else relay.chosen_memories(own, p_chosen, starts, p_limit) end;
begin
    return counts || jsonb_build_object(
        'space_id', own, 'matching', matching, 'offset', starts,
        'pending', (select count(*) from relay.waiting_changes(own)),
        'past', (select count(*) from memory where space_id = own and status in ('superseded', 'archived')),
        'people', relay.subjects(own),
        'memories', (
            select coalesce(jsonb_agg(to_jsonb(m) - 'derivation' - 'evidence'
                || jsonb_build_object('subject',
                    coalesce((select relay.called_in(own)) ->> m.subject_id::text, m.subject),
                    'session', (select s.title from session s where s.id = m.session_id and s.space_id = own))
                order by m.id desc), '[]')
            from memory m where m.id = any (page)));
end $$;

-- Counts a space's active memories. `matching`: those that are chosen by kind, facts, category, pinned and unconfirmed.
create or replace function relay.count_memories(p_space_id bigint, p_chosen jsonb) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    with sorts as (
        select kind, category, count(*) as memories, count(*) filter (where pinned) as pinned,
            count(*) filter (where validated_at is null) as unconfirmed,
            count(*) filter (where pinned and validated_at is null) as unconfirmed_pins
        from memory where space_id = p_space_id and status = 'active' group by kind, category),
    kinds as (select kind, sum(memories) as memories from sorts where kind <> 'learning' group by kind)
    select jsonb_build_object('total', coalesce(sum(memories), 0),
        'facts', coalesce(sum(memories) filter (where kind <> 'learning'), 0),
        'learnings', coalesce(sum(memories) filter (where kind = 'learning'), 0),
        'pinned', coalesce(sum(pinned), 0), 'unconfirmed', coalesce(sum(unconfirmed), 0),
        'kinds', (select coalesce(jsonb_object_agg(kind, memories), '{}') from kinds),
        'categories', coalesce(jsonb_object_agg(category, memories)
            filter (where kind = 'learning' and category is not null), '{}'),
        'matching', coalesce(sum(
            case when p_chosen ? 'pinned' and p_chosen ? 'unconfirmed' then unconfirmed_pins when p_chosen ? 'pinned' then pinned
                when p_chosen ? 'unconfirmed' then unconfirmed else memories end)
            filter (where (p_chosen ->> 'kind' is null or kind = p_chosen ->> 'kind')
                and (not p_chosen ? 'facts' or kind <> 'learning')
                and (p_chosen ->> 'category' is null or category = p_chosen ->> 'category')), 0))
    from sorts
$$;

-- Returns one memory in any state, with its space and the last change that a person may undo.
create or replace function public.relay_open_memory(p_memory_id bigint, p_user_id bigint, p_admin boolean)
returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select to_jsonb(m) || jsonb_build_object('by', m.derivation ->> 'name', 'evidence', cardinality(m.evidence),
        'replaced_number', (select number from memory where id = m.replaced_by), 'faded', relay.has_faded(m),
        'subject', relay.called(m.space_id, m.subject_id, m.subject),
        'space', public.relay_space(m.space_id),
        'last', case when last.id is not null and relay.may_decide(m.space_id, last.user_id, m.subject_id, p_user_id, p_admin)
            then jsonb_build_object('id', last.id, 'action', last.action) end)
    from memory m
    left join lateral (
        select c.id, c.action, c.user_id from memory_change c
        where c.status = 'applied' and (c.memory_id = m.id
            or c.memory_id = m.replaced_by and relay.replaced_in(c) = m.id)
        order by coalesce(c.decided_at, c.created_at) desc, c.id desc limit 1) last on true
    where m.id = p_memory_id
$$;

-- Returns the id of the memory with a number in a space, in any state; null if there is none.
create or replace function public.relay_numbered_memory(p_space jsonb, p_number bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select to_jsonb(id) from memory where space_id = relay.find_space(p_space) and number = p_number
$$;

-- Returns a message as it is quoted to a person who may see its space: author, time, and untrusted text in it.
create or replace function relay.quoted(p_message relay.message) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('role', p_message.role, 'name', p_message.name, 'user_id', p_message.user_id,
        'at', p_message.created_at, 'text', left(p_message.text, 20000),
        'foreign', (
            select coalesce(jsonb_agg(distinct jsonb_build_object('kind', b ->> 'untrusted', 'from', b ->> 'from')), '[]')
            from jsonb_array_elements(case jsonb_typeof(p_message.blocks) when 'array' then p_message.blocks end) as b
            where b ? 'untrusted'))
    where p_message.id is not null
$$;

-- Returns a memory's origin: the message that taught it and its answer (within its own space), the chat and topic, the
-- Telegram message to link to, and the untrusted text that the turn read.
create or replace function public.relay_memory_source(p_memory_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object(
        'elsewhere', coalesce(said.space_id <> m.space_id, false),
        'said', case when said.space_id = m.space_id then relay.quoted(said) end,
        'answer', case when answer.space_id = m.space_id and answer.id <> said.id then relay.quoted(answer) end,
        'at', coalesce(t.created_at, m.created_at), 'tools', t.told -> 'tools', 'reply_to', t.prompt -> 'reply_to',
        'chat_id', coalesce(own.chat_id, l.chat_id), 'topic_id', coalesce(own.topic_id, l.topic_id),
        'topic', (select name from topic where bot_id = t.bot_id and chat_id = coalesce(own.chat_id, l.chat_id)
            and topic_id = coalesce(own.topic_id, l.topic_id)),
        'posted', case when said.id is null then (
                select jsonb_build_object('chat_id', d.chat_id, 'message_id', d.telegram_message_id) from outbox d
                where d.turn_id = t.id and d.status = 'sent' order by d.seq limit 1)
            when said.space_id = m.space_id then (
                select jsonb_build_object('chat_id', p.chat_id, 'message_id', p.telegram_message_id) from posted p
                where p.turn_id = said.turn_id and p.message_id = said.id and not p.from_bot
                order by p.telegram_message_id limit 1) end)
    from memory m
    left join turn t on t.id = m.turn_id
    left join message said on said.id = m.source_message_id
    left join message answer on answer.id = (m.derivation ->> 'answer')::bigint
    left join thread own on own.id = m.thread_id
    left join lane l on l.id = t.lane_id
    where m.id = p_memory_id
$$;

-- Returns what a memory said right after a change; for an undone change, what it said before.
create or replace function relay.content_after(p_change relay.memory_change, p_now text) returns text
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(
        case when p_change.status = 'undone' and p_change.action not in ('supersede', 'merge')
            then p_change.before ->> 'content' end,
        (select c.before ->> 'content' from memory_change c
            where c.memory_id = p_change.memory_id and c.id > p_change.id and c.before is not null
                and c.action not in ('supersede', 'merge')
            order by c.id limit 1),
        p_now)
$$;

-- Returns a page of a space's changes, newest first: all, or those that wait for a tap. yours: the person may decide
-- it. undoable: nothing has changed the memory since, such as a merge.
create or replace function public.relay_memory_history(
    p_space jsonb, p_waiting boolean, p_offset integer, p_limit integer, p_user_id bigint, p_admin boolean)
returns jsonb
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    own bigint := relay.find_space(p_space);
    waiting bigint[] := array(select id from relay.waiting_changes(own));
    every integer := (select count(*) from memory_change where space_id = own);
    starts integer := relay.page_start(p_offset, p_limit, case when p_waiting then cardinality(waiting) else every end);
begin
    return jsonb_build_object(
        'space_id', own, 'total', every, 'pending', cardinality(waiting), 'offset', starts,
        'changes', (
            select coalesce(jsonb_agg(jsonb_build_object('id', c.id, 'action', c.action, 'status', c.status,
                'memory_id', m.id, 'kind', m.kind,
                'subject', coalesce((select relay.called_in(own)) ->> m.subject_id::text, m.subject),
                'subject_id', m.subject_id, 'content', relay.content_after(c, m.content), 'before', c.before ->> 'content',
                'at', c.created_at, 'decided_at', c.decided_at,
                'yours', relay.may_decide(c.space_id, c.user_id, m.subject_id, p_user_id, p_admin),
                'undoable', c.status = 'applied' and not relay.changed_since(c)) order by c.id desc), '[]')
            from (
                select * from memory_change
                where space_id = own and (not p_waiting or id = any (waiting))
                order by id desc offset starts limit p_limit) c
            join memory m on m.id = c.memory_id));
end $$;

-- Returns where a turn or a change belongs: its turn (and whether the answer has a ◆), space, memory, and the memory it
-- replaced. Null if it doesn't exist.
create or replace function public.relay_changed_in(p_turn_id bigint, p_change_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select case when p_turn_id is not null then (
            select jsonb_build_object('turn_id', id, 'space', public.relay_space(space_id), 'memory_id', null,
                'replaced', null, 'keeps', relay.can_be_kept(turn))
            from turn where id = p_turn_id and space_id is not null)
        else (
            select jsonb_build_object('turn_id', c.turn_id, 'space', public.relay_space(c.space_id),
                'memory_id', c.memory_id, 'replaced', relay.replaced_in(c), 'keeps', coalesce(relay.can_be_kept(t), false))
            from memory_change c left join turn t on t.id = c.turn_id where c.id = p_change_id) end
$$;

-- What prompts contain, and what their answers may teach.

-- Returns the facts and learnings for a prompt: pinned and most important first within a budget (in characters), then
-- sorted by id, so that the text stays the same until memory changes. Subjects have their present names. said_at: when
-- a person said what is kept in their words, such as “tomorrow”; models write the date out. zone: the setting of who said
-- it. Leaves out expired memories and faded learnings; empty if memory is off or paused. What a tainted turn taught is
-- included once its owner kept it, and does not taint: the tap made it the owner's own.
create or replace function relay.memories_for_prompt(p_space_id bigint, p_budget integer) returns jsonb
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    one record;
    used bigint := 0;
    left_out integer := 0;
    carried bigint[] := '{}';
begin
    if p_budget > 0 and relay.remembers(p_space_id) then
        -- A loop stops reading soon after the budget is used up: what is too long for the rest is left out alone.
        for one in
            select id, length(content) + 8 as size from memory
            where space_id = p_space_id and status = 'active' and (valid_until is null or valid_until > now())
                and not relay.has_faded(memory)
            order by pinned desc, importance desc, id desc limit 1000
        loop
            if used + one.size <= p_budget then
                used := used + one.size;
                carried := carried || one.id;
            else
                left_out := left_out + 1;
                exit when left_out = 20;
            end if;
        end loop;
    end if;
    return (
        select coalesce(jsonb_agg(to_jsonb(r) order by r.id), '[]') from (
            select m.id, kind, m.subject_id, coalesce(p.name, subject) as subject, content, category, tags, pinned,
                importance, valid_until, case when m.derivation ->> 'name' in ('user', 'keyword judge')
                    then greatest(coalesce(said.created_at, m.created_at), again.at) end as said_at,
                coalesce(c.choices ->> 'zone', '') as zone
            from memory m left join relay.people_in(p_space_id) p on p.user_id = m.subject_id
            left join message said on said.id = m.source_message_id
            left join choice c on c.user_id = coalesce(said.user_id, m.subject_id)
            left join (
                select memory_id, max(created_at) as at from memory_change
                where memory_id = any (carried) and action = 'refresh' and status = 'applied' group by 1) again
                on again.memory_id = m.id
            where m.id = any (carried)) r);
end $$;

-- Tests whether a learning has faded from prompts: for 180 days it was not relevant to anything said, and nobody
-- pinned, reworded, kept, confirmed or repeated it. Search and recall still find it, and recall refreshes it.
create or replace function relay.has_faded(p_memory relay.memory) returns boolean
language sql stable set search_path = relay, extensions, pg_temp as $$
    select p_memory.kind = 'learning' and p_memory.recalled_at is null and not p_memory.pinned
        and p_memory.created_at < now() - interval '180 days' and p_memory.updated_at <= p_memory.created_at
        and p_memory.promoted_by is null and p_memory.validated_at is null and p_memory.derivation ->> 'name' is distinct from 'user'
$$;

-- Counts a space's faded learnings.
create or replace function relay.faded_memories(p_space_id bigint) returns bigint
language sql stable set search_path = relay, extensions, pg_temp as $$
    select count(*) from memory m
    where space_id = p_space_id and status = 'active' and kind = 'learning' and recalled_at is null and not pinned
        and created_at < now() - interval '180 days' and (valid_until is null or valid_until > now())
        and relay.has_faded(m)
$$;

-- Counts the memories that a prompt could contain: facts by kind, learnings by category. Reads one index in order,
-- because there can be thousands.
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

-- Counts uses of memories: recalled ones each time, and those always in the prompt once an hour, because counting
-- hundreds each turn would take longer than the rest of finish. Leaves rows that another turn is counting to that turn.
-- `bearing`: the recalled ones, including those already in the prompt.
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

-- Returns the actions that an answer's session allows: only forgetting, if it may not teach; none if its user has lost
-- access since.
create or replace function relay.taught(p_turn relay.turn, p_actions jsonb) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select case
        when p_turn.stop_asked
            and exists (select from person where user_id = p_turn.user_id and role in ('refused', 'blocked')) then '[]'
        when relay.teaches(p_turn.session_id) then p_actions
        else jsonb_path_query_array(p_actions, '$[*] ? (@.action == "forget")') end
$$;

-- Whether memory is used: by space, thread and session.

-- Tests whether a space's memory is used now: neither off nor paused.
create or replace function relay.remembers(p_space_id bigint) returns boolean
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce((
        select memory = 'on' and (paused_until is null or paused_until <= now())
        from space where id = p_space_id), false)
$$;

-- Tests whether a session may teach: its space remembers, its thread teaches, and it is on the record.
create or replace function relay.teaches(p_session_id bigint) returns boolean
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce((
        select t.teaches and not s.private and relay.remembers(s.space_id)
        from session s join thread t on t.id = s.thread_id where s.id = p_session_id), false)
$$;
