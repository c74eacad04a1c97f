-- What is remembered, and every change of it: told, traceable, undoable.

-- The active fact of the same person that says nearly the same: equal but for case and punctuation, or very similar.
create or replace function relay.near_duplicate(p_space_id bigint, p_kind text, p_subject_id bigint, p_content text)
returns relay.memory
language sql stable set search_path = relay, extensions, pg_temp as $$
    select m.* from memory m
    where m.space_id = p_space_id and m.status = 'active' and m.kind = p_kind
        and m.subject_id is not distinct from p_subject_id
        and m.content % p_content
        and (similarity(m.content, p_content) >= 0.85
            or regexp_replace(lower(m.content), '[^[:alnum:]]+', ' ', 'g')
                = regexp_replace(lower(p_content), '[^[:alnum:]]+', ' ', 'g'))
    order by similarity(m.content, p_content) desc, m.id limit 1
$$;

-- The active memories that the words may mean and that a person may have forgotten, best first: all that contain the
-- words, else the most similar; eleven at most. In a group everybody may have their own facts forgotten, and what is
-- about nobody; an admin's command (never a tag of the model, whoever it answers) may retire any.
create or replace function relay.forgettable(p_space_id bigint, p_words text, p_user_id bigint, p_admin boolean)
returns setof relay.memory
language sql stable set search_path = relay, extensions, pg_temp as $$
    with permitted as (
        select m.* from memory m join space s on s.id = m.space_id
        where m.space_id = p_space_id and m.status = 'active'
            and (s.kind = 'private' or m.subject_id is null or m.subject_id = p_user_id or p_admin)),
    containing as materialized (
        select id, word_similarity(p_words, content) as closeness from permitted
        where position(lower(p_words) in lower(content)) > 0),
    nearly as (
        select id, closeness, max(closeness) over () as best
        from (select id, word_similarity(p_words, content) as closeness from permitted) one
        where closeness >= 0.55 and not exists (select from containing)),
    likely as (
        select id, closeness from containing union all
        select id, closeness from nearly where closeness >= best - 0.15)
    select m.* from likely l join memory m on m.id = l.id
    order by l.closeness desc, m.id desc limit 11
$$;

-- Keeps a memory, or refreshes the one that says nearly the same. p_pending: it waits for its user's tap.
create or replace function relay.keep_memory(
    p_turn relay.turn, p_memory jsonb, p_message_id bigint, p_pending boolean)
returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    near memory;
    kept bigint;
begin
    near := relay.near_duplicate(p_turn.space_id, p_memory ->> 'kind', (p_memory ->> 'subject_id')::bigint,
        p_memory ->> 'content');
    if near.id is not null and p_pending and lower(near.content) = lower(p_memory ->> 'content') then
        return;
    end if;
    if near.id is not null and not p_pending then
        update memory set content = p_memory ->> 'content', updated_at = now() where id = near.id;
        insert into memory_change (space_id, memory_id, turn_id, user_id, action, before)
        values (p_turn.space_id, near.id, p_turn.id, p_turn.user_id, 'refresh', to_jsonb(near));
        return;
    end if;
    insert into memory (space_id, kind, subject_id, subject, content, category, tags, status, tainted, thread_id,
        session_id, turn_id, source_message_id, derivation)
    values (p_turn.space_id, p_memory ->> 'kind', (p_memory ->> 'subject_id')::bigint, p_memory ->> 'subject',
        p_memory ->> 'content', p_memory ->> 'category',
        coalesce((select array_agg(tag) from jsonb_array_elements_text(p_memory -> 'tags') as tag), '{}'),
        case when p_pending then 'pending' else 'active' end, p_turn.tainted, p_turn.thread_id, p_turn.session_id,
        p_turn.id, coalesce(p_turn.user_message_id, p_message_id),
        jsonb_build_object('name', coalesce(p_memory ->> 'by', 'tag'), 'version', 1, 'answer', p_message_id))
    returning id into kept;
    insert into memory_change (space_id, memory_id, turn_id, user_id, action, status)
    values (p_turn.space_id, kept, p_turn.id, p_turn.user_id, 'learn',
        case when p_pending then 'pending' else 'applied' end);
end $$;

-- Retires the one memory that the words mean. None: a failure to tell. Several, or p_pending: it asks first, about
-- ten at most, and tells when there are more.
create or replace function relay.forget_memory(p_turn relay.turn, p_action jsonb, p_pending boolean) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    words text := p_action ->> 'content';
    by_admin boolean := coalesce((p_action ->> 'admin')::boolean, false);
    matches bigint[];
    more boolean;
begin
    if words ~ '^#?\d+$' then
        select array_agg(m.id) into matches from memory m join space s on s.id = m.space_id
        where m.space_id = p_turn.space_id and m.status = 'active' and m.id = ltrim(words, '#')::numeric
            and (s.kind = 'private' or m.subject_id is null or m.subject_id = p_turn.user_id or by_admin);
    else
        select array_agg(id) into matches from relay.forgettable(p_turn.space_id, words, p_turn.user_id, by_admin);
    end if;
    if matches is null then
        return jsonb_build_object('failed', 'nothing matches', 'tag', 'forget', 'text', words);
    end if;
    more := cardinality(matches) > 10;
    matches := matches[:10];
    insert into memory_change (space_id, memory_id, turn_id, user_id, action, status, before)
    select p_turn.space_id, m.id, p_turn.id, p_turn.user_id, 'forget',
        case when p_pending or cardinality(matches) > 1 then 'pending' else 'applied' end, to_jsonb(m)
    from memory m where m.id = any (matches)
        and not exists (select from memory_change c
            where c.turn_id = p_turn.id and c.memory_id = m.id and c.action = 'forget');
    if not p_pending and cardinality(matches) = 1 then
        update memory set status = 'forgotten', updated_at = now() where id = matches[1];
    end if;
    if more then
        return jsonb_build_object('failed', 'more than 10 match, these are the closest', 'tag', 'forget', 'text', words);
    end if;
    return jsonb_build_object('matches', cardinality(matches));
end $$;

-- A person's own wording in place of a memory's.
create or replace function relay.edit_memory(p_turn relay.turn, p_memory_id bigint, p_content text) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    edited memory;
begin
    select * into edited from memory
    where id = p_memory_id and space_id = p_turn.space_id and status = 'active' for update;
    if edited.id is null then
        return jsonb_build_object('failed', 'there is no such memory', 'tag', 'edit', 'text', p_content);
    end if;
    update memory set content = p_content, updated_at = now() where id = edited.id;
    insert into memory_change (space_id, memory_id, turn_id, user_id, action, before)
    values (p_turn.space_id, edited.id, p_turn.id, p_turn.user_id, 'refresh', to_jsonb(edited));
    return jsonb_build_object('edited', true);
end $$;

-- Pins a memory, so that it stands first in every prompt, or takes the pin out. Who may have it forgotten may do that.
create or replace function relay.pin_memory(p_turn relay.turn, p_action jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    one memory;
    pin boolean := p_action ->> 'action' = 'pin';
begin
    select m.* into one from memory m join space s on s.id = m.space_id
    where m.id = (p_action ->> 'memory_id')::bigint and m.space_id = p_turn.space_id and m.status = 'active'
        and (s.kind = 'private' or m.subject_id is null or m.subject_id = p_turn.user_id
            or coalesce((p_action ->> 'admin')::boolean, false))
    for update of m;
    if one.id is null then
        return jsonb_build_object('failed', 'there is no such memory', 'tag', p_action ->> 'action', 'text', '');
    end if;
    if one.pinned <> pin then
        update memory set pinned = pin, updated_at = now() where id = one.id;
        insert into memory_change (space_id, memory_id, turn_id, user_id, action, before)
        values (p_turn.space_id, one.id, p_turn.id, p_turn.user_id, p_action ->> 'action', to_jsonb(one));
    end if;
    return jsonb_build_object('pinned', pin);
end $$;

-- Applies what an answer (or a person) asked of memory, in order. Returns one result per action.
create or replace function relay.apply_actions(
    p_turn relay.turn, p_message_id bigint, p_actions jsonb, p_pending boolean)
returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    action jsonb;
    results jsonb := '[]';
begin
    for action in select jsonb_array_elements(coalesce(p_actions, '[]')) loop
        if action ->> 'action' = 'forget' then
            results := results || relay.forget_memory(p_turn, action, p_pending);
        elsif action ->> 'action' = 'edit' then
            results := results || relay.edit_memory(p_turn, (action ->> 'memory_id')::bigint, action ->> 'content');
        elsif action ->> 'action' in ('pin', 'unpin') then
            results := results || relay.pin_memory(p_turn, action);
        else
            perform relay.keep_memory(p_turn, action, p_message_id, p_pending);
            results := results || jsonb_build_object('kept', true);
        end if;
    end loop;
    return results;
end $$;

-- What a turn changed in memory, as told under its answer.
create or replace function relay.changes_of(p_turn_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_agg(jsonb_build_object(
        'id', c.id, 'action', c.action, 'status', c.status, 'memory_id', m.id, 'kind', m.kind,
        'subject', m.subject, 'subject_id', m.subject_id, 'content', m.content,
        'before', c.before ->> 'content') order by c.id), '[]')
    from memory_change c join memory m on m.id = c.memory_id
    where c.turn_id = p_turn_id
$$;

-- Memory by a person's own word: /remember and /forget, in the space and thread that the control names.
create or replace function public.relay_change_memory(
    p_turn_id bigint, p_fence bigint, p_space jsonb, p_actions jsonb)
returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    held turn := relay.hold(p_turn_id, p_fence);
    results jsonb := '[]';
begin
    if held.status = 'working' and not exists (select from memory_change where turn_id = held.id) then
        held.space_id := relay.ensure_space(p_space);
        update turn set space_id = held.space_id where id = held.id;
        results := relay.refused_actions(held, p_actions);
        if results = '[]' then
            results := relay.apply_actions(held, null, p_actions, false);
        end if;
    end if;
    return jsonb_build_object('changes', relay.changes_of(held.id),
        'failed', (select coalesce(jsonb_agg(r), '[]') from jsonb_array_elements(results) as r where r ? 'failed'));
end $$;

-- The changes that a turn's button opens, to a person who may see them.
create or replace function public.relay_changes(p_turn_id bigint, p_user_id bigint, p_admin boolean) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select case when relay.may_decide(t.space_id, t.user_id, null, p_user_id, p_admin)
            or exists (select from memory_change c join memory m on m.id = c.memory_id where c.turn_id = t.id
                and relay.may_decide(c.space_id, c.user_id, m.subject_id, p_user_id, p_admin))
        then relay.changes_of(t.id) end
    from turn t where t.id = p_turn_id
$$;

-- A private space obeys its owner alone; a group's memory obeys who changed it, whom it is about, and the admins.
create or replace function relay.may_decide(
    p_space_id bigint, p_changed_by bigint, p_subject_id bigint, p_user_id bigint, p_admin boolean)
returns boolean
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce((select case s.kind when 'private' then s.owner_id = p_user_id
            else p_user_id in (p_changed_by, p_subject_id) or p_admin end
        from space s where s.id = p_space_id), false)
$$;

-- Whether another change of the same memory took effect after this one. That a learned fact was only said again is
-- none; and whether it is pinned has nothing to do with what it says.
create or replace function relay.changed_since(p_change relay.memory_change) returns boolean
language sql stable set search_path = relay, extensions, pg_temp as $$
    select exists (
        select from memory_change c join memory m on m.id = c.memory_id
        where c.memory_id = p_change.memory_id and c.status = 'applied'
            and (p_change.action <> 'learn' or c.action <> 'refresh' or c.before ->> 'content' <> m.content)
            and (p_change.action in ('pin', 'unpin')) = (c.action in ('pin', 'unpin'))
            and (coalesce(c.decided_at, c.created_at), c.id)
                > (coalesce(p_change.decided_at, p_change.created_at), p_change.id))
$$;

-- One tap: undo an applied change, keep or discard a pending one. Returns all changes of that turn; deciding twice
-- changes nothing more, and what was changed again since is undone from the last change back: until then it stays
-- applied. Null when the person may not decide.
create or replace function public.relay_decide_change(
    p_change_id bigint, p_user_id bigint, p_admin boolean, p_decision text)
returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    change memory_change;
    about bigint;
begin
    -- The memory first: whatever else changes it waits here, or is seen below.
    select subject_id into about from memory
    where id = (select memory_id from memory_change where id = p_change_id) for update;
    select * into change from memory_change where id = p_change_id for update;
    if change.id is null or not relay.may_decide(change.space_id, change.user_id, about, p_user_id, p_admin) then
        return null;
    end if;
    if p_decision = 'keep' and change.status = 'pending' then
        update memory set status = case change.action when 'forget' then 'forgotten' else 'active' end,
            updated_at = now()
        where id = change.memory_id and status in ('active', 'pending');
        update memory_change set status = 'applied', decided_at = now() where id = change.id;
    elsif p_decision = 'discard' and change.status = 'pending' then
        update memory set status = 'discarded', updated_at = now()
        where id = change.memory_id and status = 'pending' and change.action = 'learn';
        update memory_change set status = 'discarded', decided_at = now() where id = change.id;
    elsif p_decision = 'undo' and change.status = 'applied' and not relay.changed_since(change) then
        update memory set updated_at = now(),
            status = case change.action when 'learn' then 'discarded' when 'forget' then 'active' else status end,
            content = case change.action when 'refresh' then change.before ->> 'content' else content end,
            pinned = case change.action when 'pin' then false when 'unpin' then true else pinned end
        where id = change.memory_id;
        update memory_change set status = 'undone', decided_at = now() where id = change.id;
    end if;
    insert into event (kind, space_id, turn_id, user_id, payload)
    values ('memory', change.space_id, change.turn_id, p_user_id,
        jsonb_build_object('change', change.id, 'decision', p_decision));
    return relay.changes_of(change.turn_id);
end $$;

-- What a message of ours asks somebody for, by the message that it is in the chat: the text of the question; null for
-- any other message, and for other people. A question forces a reply: an answer is none, whatever its text looks like.
-- One that is being sent, and of which is not known yet which message it has become, is the only one that can be meant.
create or replace function public.relay_asked_of(
    p_bot_id bigint, p_chat_id bigint, p_telegram_message_id bigint, p_user_id bigint)
returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
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
    join delivery d on d.turn_id = t.id and d.chat_id = p_chat_id and d.request -> 'reply_markup' ? 'force_reply'
        and (d.telegram_message_id = p_telegram_message_id or d.telegram_message_id is null
            and d.status = 'sending' and d.floor_message_id < p_telegram_message_id)
    order by d.id desc limit 1
$$;
