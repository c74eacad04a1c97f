-- What people decide about changes of memory: undo, keep, discard.

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

-- The memory that a change replaced by another; null for any other change.
create or replace function relay.replaced_in(p_change relay.memory_change) returns bigint
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select (p_change.before ->> 'id')::bigint where p_change.action in ('supersede', 'merge')
$$;

-- A change with the others that came about as one with it: where several memories were merged into one, all of these.
create or replace function relay.changes_with(p_change relay.memory_change) returns setof relay.memory_change
language sql stable set search_path = relay, extensions, pg_temp as $$
    select c.* from memory_change c
    where c.id = p_change.id or p_change.action = 'merge' and c.action = 'merge' and c.memory_id = p_change.memory_id
        and c.created_at = p_change.created_at and c.status = p_change.status
        and not c.before ? 'stood' and not p_change.before ? 'stood'
$$;

-- Whether another change of the same memory (or of one that this change replaced) took effect after this one. That a
-- learned fact was only said again is none; and whether it is pinned has nothing to do with what it says.
create or replace function relay.changed_since(p_change relay.memory_change) returns boolean
language sql stable set search_path = relay, extensions, pg_temp as $$
    with touched as (
        select id, replaced_by from memory where id in (p_change.memory_id, relay.replaced_in(p_change))),
    -- by these the index finds the few changes that can be meant, however many there are
    near as (select id from touched union select replaced_by from touched where replaced_by is not null)
    select exists (
        select from near join memory_change c on c.memory_id = near.id join memory m on m.id = c.memory_id
        where c.status = 'applied' and c.id not in (select id from relay.changes_with(p_change))
            and (c.memory_id in (select id from touched) or relay.replaced_in(c) in (select id from touched))
            and (p_change.action not in ('learn', 'supersede', 'merge') or c.action <> 'refresh'
                or c.before ->> 'content' <> m.content)
            and (p_change.action in ('pin', 'unpin')) = (c.action in ('pin', 'unpin'))
            and (coalesce(c.decided_at, c.created_at), c.id)
                > (coalesce(p_change.decided_at, p_change.created_at), p_change.id))
$$;

-- Lets a change that waited take effect.
create or replace function relay.take_effect(p_change relay.memory_change) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    update memory set updated_at = now(), status = case p_change.action
            when 'forget' then 'forgotten' when 'archive' then 'archived' else 'active' end
    where id = p_change.memory_id and status in ('active', 'pending');
    perform relay.end_memory(relay.replaced_in(p_change), p_change.memory_id, p_change.action = 'supersede');
    update memory_change set status = 'applied', decided_at = now() where id = p_change.id;
end $$;

-- Lets a memory be again what it was before a change, its pin and what counts its uses apart; what is not known of that
-- stays as it is.
create or replace function relay.put_back(p_memory_id bigint, p_before jsonb, p_status text) returns void
language sql set search_path = relay, extensions, pg_temp as $$
    update memory set updated_at = now(), status = coalesce(p_status, status),
        content = coalesce(p_before ->> 'content', content), kind = coalesce(p_before ->> 'kind', kind),
        importance = coalesce((p_before ->> 'importance')::smallint, importance),
        confidence = coalesce((p_before ->> 'confidence')::real, confidence),
        evidence = case when p_before ? 'evidence'
            then array(select jsonb_array_elements_text(p_before -> 'evidence')::bigint) else evidence end,
        valid_until = case when p_before ? 'valid_until' then (p_before ->> 'valid_until')::timestamptz
            else valid_until end,
        replaced_by = (p_before ->> 'replaced_by')::bigint
    where id = p_memory_id
$$;

-- Takes an applied change back, on both sides where one memory replaced another.
create or replace function relay.take_back(p_change relay.memory_change) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    if p_change.action in ('pin', 'unpin') then
        update memory set pinned = p_change.action = 'unpin', updated_at = now() where id = p_change.memory_id;
    elsif p_change.action = 'learn' or p_change.action in ('supersede', 'merge') and not p_change.before ? 'stood' then
        update memory set status = 'discarded', updated_at = now() where id = p_change.memory_id;
    end if;
    case p_change.action
        when 'supersede', 'merge' then
            perform relay.put_back(relay.replaced_in(c), c.before, 'active') from relay.changes_with(p_change) c;
        when 'forget', 'archive' then
            update memory set status = 'active', updated_at = now() where id = p_change.memory_id;
        when 'refresh' then perform relay.put_back(p_change.memory_id, p_change.before, null);
        when 'restore' then
            perform relay.put_back(p_change.memory_id, p_change.before, p_change.before ->> 'status');
        else null;
    end case;
    update memory_change set status = 'undone', decided_at = now()
    where id in (select id from relay.changes_with(p_change));
end $$;

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
    perform relay.hold_memory((select space_id from memory_change where id = p_change_id));
    -- The memories first: whatever else changes them waits here, or is seen below.
    perform from memory where id in (select unnest(array[c.memory_id, relay.replaced_in(c)])
        from memory_change own, relay.changes_with(own) c where own.id = p_change_id) order by id for update;
    select * into change from memory_change where id = p_change_id for update;
    select subject_id into about from memory where id = change.memory_id;
    if change.id is null or not relay.may_decide(change.space_id, change.user_id, about, p_user_id, p_admin) then
        return null;
    end if;
    if p_decision = 'keep' and change.status = 'pending' then
        perform relay.take_effect(change);
    elsif p_decision = 'discard' and change.status = 'pending' then
        update memory set status = 'discarded', updated_at = now()
        where id = change.memory_id and status = 'pending' and change.action in ('learn', 'supersede', 'merge');
        update memory_change set status = 'discarded', decided_at = now() where id = change.id;
    elsif p_decision = 'undo' and change.status = 'applied' and not relay.changed_since(change) then
        perform relay.take_back(change);
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
