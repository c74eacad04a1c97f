-- A turn: begin saves the user's message and loads the prompt's contents; finish saves the answer and its effects.

-- Returns the id of the space that a descriptor {kind, owner_id | chat_id} names; null if it has no rows yet.
create or replace function relay.find_space(p_space jsonb) returns bigint
language sql stable set search_path = relay, extensions, pg_temp as $$
    select case p_space ->> 'kind'
        when 'private' then
            (select id from space where kind = 'private' and owner_id = (p_space ->> 'owner_id')::bigint)
        else
            (select id from space where kind = 'group' and chat_id = (p_space ->> 'chat_id')::bigint)
    end
$$;

create or replace function relay.ensure_space(p_space jsonb) returns bigint
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    found_id bigint := relay.find_space(p_space);
begin
    if found_id is null then
        insert into space (kind, owner_id, chat_id)
        values (p_space ->> 'kind', (p_space ->> 'owner_id')::bigint, (p_space ->> 'chat_id')::bigint)
        on conflict do nothing;
        found_id := relay.find_space(p_space);
    end if;
    return found_id;
end $$;

-- Returns the thread of a chat and topic in a space, with a new session after p_idle_hours of silence.
create or replace function relay.ensure_thread(
    p_space_id bigint, p_chat_id bigint, p_topic_id bigint, p_idle_hours integer)
returns relay.thread language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    found thread;
    past bigint;
begin
    insert into thread (space_id, chat_id, topic_id) values (p_space_id, p_chat_id, p_topic_id) on conflict do nothing;
    select * into found from thread
    where chat_id = p_chat_id and topic_id = p_topic_id and space_id = p_space_id for no key update;
    if found.session_id is null or found.last_at < now() - make_interval(hours => p_idle_hours) then
        if relay.end_private(found) then
            select * into found from thread where id = found.id;
            return found;
        end if;
        update session set ended_at = found.last_at where id = found.session_id and ended_at is null;
        perform relay.register_ended(found.session_id);
        past := found.session_id;
        insert into session (thread_id, space_id) values (found.id, p_space_id) returning id into found.session_id;
        insert into composition_use (session_id, composition_id)  -- it stays until the next /new
        select found.session_id, composition_id from composition_use where session_id = past;
    end if;
    update thread set session_id = found.session_id, last_at = now() where id = found.id;
    return found;
end $$;

-- Returns messages since the window's start, oldest first, within a count and a total length (with file texts). Where
-- no summary moves the window, its beginning moves in steps of 50 messages, so that the prompt stays cached in between.
create or replace function relay.recent_messages(p_thread relay.thread, p_before bigint, p_budget integer)
returns jsonb language sql stable set search_path = relay, extensions, pg_temp as $$
    with held as materialized (
        select count(*) as messages from (
            select from message
            where thread_id = p_thread.id and status <> 'replaced' and id < p_before
                and id >= greatest(p_thread.context_from, p_thread.window_from) limit 1000) up_to_1000),
    newest as materialized (
        select id, role, user_id, name, text, blocks, untrusted, tainted, started_by, created_at,
            length(case role when 'user' then blocks::text else text end) as size
        from message
        where thread_id = p_thread.id and status <> 'replaced' and id < p_before
            and id >= greatest(p_thread.context_from, p_thread.window_from) order by id desc limit 200),
    latest as (
        select *, sum(size) over rows_so_far as used, row_number() over rows_so_far as nr from newest
        window rows_so_far as (order by id desc rows unbounded preceding))
    select coalesce(jsonb_agg(jsonb_build_object('id', id, 'role', role, 'user_id', user_id, 'name', name, 'text', text,
        'blocks', blocks, 'untrusted', untrusted, 'tainted', tainted, 'started_by', started_by, 'created_at', created_at)
        order by id), '[]')
    from latest, held
    where used - size <= p_budget and nr <= case when messages > 200 then 150 + messages % 50 else 200 end
$$;

-- Puts spaces into long runs of letters and underscores (a_a_a…): PostgreSQL's parser reads such a run again from each
-- underscore on, which takes minutes for a long one. A message's blocks don't change.
create or replace function relay.break_runs() returns trigger
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    new.text := regexp_replace(new.text, '(?=[A-Za-z0-9]{0,200}_[A-Za-z0-9])[A-Za-z0-9_]{250}|(?:~/){125}', '\& ', 'g');
    return new;
end $$;
create or replace function relay.has_long_run(p_text text) returns boolean
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select length(p_text) - length(translate(p_text, '_~', '')) > 100 and p_text ~ '[A-Za-z0-9_]{250}|(~/){125}'
$$;
create or replace trigger long_run before insert or update of text on relay.message
    for each row when (relay.has_long_run(new.text)) execute function relay.break_runs();
create or replace trigger long_run before insert or update of text on relay.document_part
    for each row when (relay.has_long_run(new.text)) execute function relay.break_runs();

-- Saves the user's message of this turn with its documents and markers (again, if the turn runs again) and returns its id.
create or replace function relay.save_user_message(p_turn relay.turn, p_thread relay.thread, p_input jsonb)
returns bigint language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    saved bigint := p_turn.user_message_id;
begin
    if saved is null then
        insert into message (space_id, thread_id, session_id, turn_id, role, user_id, name, text, blocks, untrusted)
        values (p_thread.space_id, p_thread.id, p_thread.session_id, p_turn.id, 'user',
            (p_input ->> 'user_id')::bigint, p_input ->> 'name', p_input ->> 'text', p_input -> 'blocks',
            (p_input ->> 'untrusted')::boolean) returning id into saved;
    else
        update message set text = p_input ->> 'text', blocks = p_input -> 'blocks',
            untrusted = (p_input ->> 'untrusted')::boolean where id = saved;
    end if;
    if coalesce(p_input -> 'keepits', '[]') <> '[]' or p_turn.user_message_id is not null then
        perform relay.read_markers(saved, coalesce(p_input -> 'keepits', '[]'));
    end if;
    -- Off the record no document is stored: the prompt shows all there is.
    if coalesce(p_input -> 'documents', '[]') <> '[]'
        and not exists (select from session where id = p_thread.session_id and private)
    then
        perform relay.keep_documents(saved, p_thread.space_id, p_input -> 'documents');
    end if;
    insert into posted (bot_id, chat_id, telegram_message_id, message_id, turn_id, from_bot, part)
    select (p_input ->> 'bot_id')::bigint, p_thread.chat_id, one.id::bigint, saved, p_turn.id, false,
        p_input -> 'parts' -> (one.place - 1)::integer
    from jsonb_array_elements_text(p_input -> 'telegram_message_ids') with ordinality as one (id, place)
    on conflict (bot_id, chat_id, telegram_message_id) do update
        set message_id = excluded.message_id, turn_id = excluded.turn_id, part = excluded.part;
    return saved;
end $$;

-- Returns p_user_id's message to answer again (a turn's, else their last one in the thread); null if there is none. The
-- old answer stays until the new one is saved.
create or replace function relay.reopen_message(p_thread relay.thread, p_user_id bigint, p_of_turn bigint)
returns bigint language sql stable set search_path = relay, extensions, pg_temp as $$
    select case when p_of_turn is not null then (
            select m.id from turn t join message m on m.id = t.user_message_id and m.user_id = p_user_id
            where t.id = p_of_turn and t.thread_id = p_thread.id and t.user_id = p_user_id)
        else (
            select id from message
            where thread_id = p_thread.id and role = 'user' and user_id = p_user_id and id >= p_thread.context_from
            order by id desc limit 1) end
$$;

-- Saves the user's message and loads the prompt's contents in one call; with `spent_since`, also the use since then.
-- Safe to repeat, so it doesn't wait for the disk: if the server loses what it saved, the turn (which intake flushed)
-- begins again, and nobody saw anything of it.
create or replace function public.relay_begin(p_turn_id bigint, p_fence bigint, p_input jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp set plan_cache_mode = force_generic_plan as $$
declare
    held turn := relay.hold(p_turn_id, p_fence);
    own thread;
    said bigint;
    replaced bigint := held.replaces_turn_id;
    replied jsonb := p_input -> 'reply_to';
    shown bigint;
    budget integer;
    private_in bigint := coalesce(held.session_id, relay.said_off_record(held.id, (p_input ->> 'idle_hours')::integer));
    liked text;
    liked_at timestamptz;
begin
    perform set_config('synchronous_commit', 'off', true), set_config('relay.index', 'soon', true);
    own := relay.ensure_thread(relay.ensure_space(p_input -> 'space'), (p_input ->> 'chat_id')::bigint,
        (p_input ->> 'topic_id')::bigint, (p_input ->> 'idle_hours')::integer);
    budget := case when own.recalls then (p_input ->> 'memory_budget')::integer else 0 end;
    -- What was said off the record stays off the record, even if the session has ended.
    if private_in is not null then
        own := relay.still_off_record(own, p_input -> 'space', private_in);
    end if;
    if private_in = own.session_id then  -- erased already, as this message came in: so it is again when the turn ends
        update session set erased_at = null where id = private_in and erased_at is not null;
    end if;
    perform relay.withdraw_set(held, '[]', true) where held.user_message_id is not null;
    if (p_input ->> 'retry')::boolean then
        said := coalesce(held.user_message_id, relay.reopen_message(own,
            (p_input ->> 'user_id')::bigint, (p_input ->> 'retry_turn')::bigint));
        replaced := coalesce(replaced, relay.turn_to_replace(said, p_input));
        select t.prompt -> 'reply_to' into replied from message m join turn t on t.id = m.turn_id where m.id = said;
    else
        said := relay.save_user_message(held, own, p_input);
    end if;
    update turn set space_id = own.space_id, thread_id = own.id, session_id = own.session_id, user_message_id = said,
        model = p_input ->> 'model', replaces_turn_id = replaced,
        prompt = coalesce(prompt, '{}') - 'former' || jsonb_build_object('reply_to', replied, 'wording', relay.wordings(said))
    where id = held.id;
    shown := relay.summary_shown(own);
    liked_at := clock_timestamp();
    liked := relay.preferences_for_prompt(own, (p_input ->> 'user_id')::bigint,
        case when p_input -> 'lent' <> 'null' then relay.find_space(p_input -> 'lent') end);
    return jsonb_build_object(
        'preference_seconds', extract(epoch from clock_timestamp() - liked_at), 'preferences', liked,
        'space_id', own.space_id, 'thread_id', own.id, 'session_id', own.session_id, 'message_id', said,
        'soul', coalesce((select jsonb_build_object('version', version, 'text', text) from soul where active),
            '{"version": 0, "text": ""}'),
        'persona', (select jsonb_build_object('id', id, 'text', text) from persona
            where chat_id = own.chat_id and topic_id = own.topic_id order by id desc limit 1),
        'choices', coalesce((
            select choices from choice where user_id = (p_input ->> 'user_id')::bigint), '{}'),
        'memories', relay.without_taught(replaced, relay.memories_for_prompt(own.space_id, budget)),
        'people', case when p_input #>> '{space,kind}' = 'group' then relay.told_apart(own.space_id) else '{}' end,
        'lent', case when p_input -> 'lent' <> 'null' then relay.memories_for_prompt(
            relay.find_space(p_input -> 'lent'), budget) else '[]' end,
        'former', case when (p_input ->> 'brings_back')::boolean then (
            select jsonb_build_object('text', m.text, 'blocks', m.blocks, 'tainted', m.tainted)
            from turn t join turn f on f.id = relay.former_turn(t)
            join message m on m.id = f.assistant_message_id
            where t.id = replaced) end,
        'intents', case when own.recalls and not (p_input ->> 'untrusted')::boolean then relay.intents_for(own.space_id,
            (p_input ->> 'user_id')::bigint, (select text from message where id = said), held.id) else '[]' end,
        'open_intents', case when own.recalls and not (p_input ->> 'untrusted')::boolean then
            relay.open_intents_for(own.space_id, (p_input ->> 'user_id')::bigint, held.id) else '[]' end,
        'memory_counts', case when budget > 0 then relay.memory_counts(own.space_id) else '{}' end,
        'faded', case when budget > 0 then relay.faded_memories(own.space_id) else 0 end,
        'summary', (select jsonb_build_object('id', id, 'text', text, 'tainted', tainted)
            from summary where id = shown),
        'latest_summary', (select jsonb_build_object('id', id, 'text', text, 'tainted', tainted)
            from summary where id = own.summary_id and id <> coalesce(shown, 0)),
        'composed', (select jsonb_build_object('id', c.id, 'name', c.name, 'tainted', c.tainted, 'rows', c.rows)
            from composition_use u join composition c on c.id = u.composition_id
            where u.session_id = own.session_id and c.space_id = own.space_id and c.rows is not null
                and c.status <> 'over'),
        'recent', relay.recent_messages(own, coalesce(said, 0), (p_input ->> 'recent_budget')::integer),
        'message', (select to_jsonb(m) - 'words' || jsonb_build_object('reply_to', replied)
            from message m where m.id = said),
        'reply_to', (select jsonb_build_object('role', m.role, 'user_id', m.user_id, 'text', m.text,
                'untrusted', m.untrusted or m.tainted, 'at', m.created_at)
            from posted p join message m on m.id = p.message_id
            where p.bot_id = (p_input ->> 'bot_id')::bigint and p.chat_id = own.chat_id
                and p.telegram_message_id = (replied ->> 'telegram_message_id')::bigint
                and m.space_id = own.space_id),
        'spent', case when p_input ->> 'spent_since' is not null then public.relay_spent(
            (p_input ->> 'spent_since')::timestamptz, (p_input ->> 'user_id')::bigint) else '[]' end);
end $$;

-- Returns the topic of one of our messages; null if unknown.
create or replace function public.relay_topic_of(p_bot_id bigint, p_chat_id bigint, p_telegram_message_id bigint)
returns jsonb language sql stable set search_path = relay, extensions, pg_temp as $$
    select to_jsonb(coalesce(own.topic_id, l.topic_id))
    from posted p join turn t on t.id = p.turn_id
    -- A question from a group may be answered in a private chat, where the group's topic means nothing.
    left join thread own on own.id = t.thread_id and own.chat_id = p.chat_id
    left join lane l on l.id = t.lane_id and l.chat_id = p.chat_id
    where p.bot_id = p_bot_id and p.chat_id = p_chat_id and p.telegram_message_id = p_telegram_message_id
$$;

-- Counts a completed exchange. Every fifth owes a summary; the second of a session owes a title.
create or replace function relay.count_exchange(p_turn relay.turn, p_through bigint) returns integer
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    counted thread;
begin
    update thread set exchange_count = exchange_count + 1, last_at = now() where id = p_turn.thread_id
    returning * into counted;
    if exists (select from session where id = p_turn.session_id and private) then
        return counted.exchange_count;
    end if;
    if counted.exchange_count % 5 = 0 then
        perform relay.owe_summary(p_turn.session_id, counted.context_from, p_through);
    end if;
    if (select count(*) >= 2 from (
            select session_id, role, status from message where thread_id = counted.id order by id desc limit 20) newest
        where session_id = p_turn.session_id and role = 'assistant' and status <> 'replaced')
    then
        perform relay.owe_title(p_turn.session_id, p_turn.bot_id);
    end if;
    return counted.exchange_count;
end $$;

-- Returns the turn whose answer to the same message was current before a turn's own.
create or replace function relay.answered_before(p_turn relay.turn) returns bigint
language sql stable set search_path = relay, extensions, pg_temp as $$
    select max(id) from turn
    where thread_id = p_turn.thread_id and user_message_id = p_turn.user_message_id and id < p_turn.id
        and assistant_message_id is not null
$$;

-- Returns the turn whose answer a turn's own replaced.
create or replace function relay.former_turn(p_turn relay.turn) returns bigint
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(p_turn.replaces_turn_id, relay.answered_before(p_turn))
$$;

-- Atomically saves the answer, applies its memory actions (pending in a tainted turn or with `ask`; none if the user
-- lost access), counts the exchange, and records its cost. A budget warning is given once since `warned_since`.
-- Repeating it returns the first result. It doesn't wait for the disk either: the answer is shown once relay_deliver
-- has stored its parts, and that waits for all earlier commits. If the server loses this save, or that of relay_begin
-- (RL002), the turn is answered again.
create or replace function public.relay_finish(p_turn_id bigint, p_fence bigint, p_reply jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp set plan_cache_mode = force_generic_plan as $$
declare
    held turn := relay.hold(p_turn_id, p_fence);
    answer bigint := held.assistant_message_id;
    applied jsonb := '[]';
    before bigint;
    why text := relay.unlearned_why(held.space_id, held.thread_id, held.session_id);
    signs jsonb := relay.signs_of(held, why, p_reply -> 'actions' <> '[]');
begin
    perform set_config('synchronous_commit', 'off', true), set_config('relay.index', 'soon', true);
    if held.status = 'working' then
        if held.thread_id is null then
            raise exception 'what turn % had saved is lost', held.id using errcode = 'RL002';
        end if;
        if p_reply -> 'blocks' <> '[]' then
            perform from thread where id = held.thread_id for no key update;  -- before its messages, as relay_begin does
            insert into message (space_id, thread_id, session_id, turn_id, role, user_id, text, blocks, status, tainted)
            values (held.space_id, held.thread_id, held.session_id, held.id, 'assistant', held.user_id,
                p_reply ->> 'text', p_reply -> 'blocks', p_reply ->> 'status', (p_reply ->> 'tainted')::boolean)
            returning id into answer;
            if held.replaces_turn_id is not null then
                perform relay.hold_memory(held.space_id);  -- before the old answer, which may have told of preferences
                perform relay.take_back_taught(held.replaces_turn_id, held.user_id);
                perform relay.teach_again(held, t) from turn t
                where t.id = held.replaces_turn_id and p_reply ->> 'again' = 'back';
                perform relay.withdraw_set(held, p_reply #> '{told,reminders}', false);
            end if;
            held.tainted := (p_reply ->> 'tainted')::boolean;
            if p_reply -> 'actions' <> '[]' and why is distinct from 'private' then
                applied := relay.apply_actions(held, answer, relay.taught(held, p_reply -> 'actions'),
                    held.tainted or coalesce((p_reply ->> 'ask')::boolean, false));
            end if;
            update message m set status = 'replaced' from turn t
            where t.id = m.turn_id and m.thread_id = held.thread_id and m.id > held.user_message_id
                and m.id <> answer and m.role = 'assistant' and t.user_message_id = held.user_message_id;
            if not found then
                perform relay.count_exchange(held, answer);
            elsif p_reply ->> 'again' in ('true', 'back') then
                before := relay.answered_before(held);
            end if;
        end if;
        perform relay.withdraw_set(held, '[]', true) where answer is null;
        perform relay.keep_spend(p_reply -> 'spent', 'answer', held.space_id, held.user_id);
        if answer is not null and p_reply -> 'actions' @@ 'exists($[*] ? (@.action != "forget"))'
            and not relay.teaches(held.session_id)
        then
            p_reply := jsonb_set(p_reply, '{told,unlearned}', 'true');
        end if;
        if p_reply #>> '{told,warning}' <> ''
            and not relay.first_warning(held.user_id, (p_reply ->> 'warned_since')::timestamptz)
        then
            p_reply := p_reply #- '{told,warning}';
        end if;
        update turn set status = 'answered', assistant_message_id = answer, answered_at = now(),
            tainted = (p_reply ->> 'tainted')::boolean, usage = p_reply -> 'usage',
            prompt = coalesce(prompt, '{}') - 'former' || coalesce(p_reply -> 'prompt', '{}'),
            model = coalesce(p_reply ->> 'model', model), error = p_reply ->> 'error',
            told = (p_reply -> 'told') || jsonb_build_object(
                'replaced', held.replaces_turn_id is not null and p_reply ->> 'again' is distinct from 'back',
                'before', case when p_reply ->> 'again' = 'true' and p_reply ->> 'status' = 'complete' then before end,
                'withdrawn', case when held.replaces_turn_id is null then '[]' else relay.withdrawn_for(held) end,
                'failed', (p_reply -> 'told' -> 'failed') || (
                select coalesce(jsonb_agg(a), '[]') from jsonb_array_elements(applied) as a where a ? 'failed'))
                || signs || relay.kept_by(held) where id = held.id;
        if before is not null or p_reply ->> 'status' = 'stopped' and answer is not null then
            select * into held from turn where id = held.id;
            if (p_reply ->> 'preferred')::boolean then
                perform relay.prefer_first(held, before);
            else
                perform relay.feedback_of_finish(
                    held, p_reply ->> 'status' = 'stopped', before, p_reply ->> 'again' = 'back');
            end if;
        end if;
        insert into event (kind, space_id, turn_id, user_id, payload)
        select coalesce(e ->> 'kind', 'reply'), held.space_id, held.id, held.user_id,
            case when why is distinct from 'private' then e - 'kind' end
        from jsonb_array_elements(
            coalesce(p_reply -> 'events', '[]') || jsonb_build_object('kind', 'reply', 'message_id', answer)) as e;
        if coalesce(p_reply #> '{prompt,memories}', '[]') || coalesce(p_reply #> '{prompt,recalled_memories}', '[]') <> '[]'
        then
            perform relay.count_uses(p_reply -> 'prompt');
        end if;
        if p_reply -> 'other' <> 'null' and answer is not null then
            perform relay.save_second(held, answer, p_reply -> 'other', coalesce((p_reply ->> 'ask')::boolean, false));
        end if;
        if p_reply #> '{told,acting}' <> '[]' then
            perform relay.tell_preferences(held, p_reply #> '{told,acting}');
        end if;
        perform relay.settle_questions(held.bot_id, chat_id, topic_id) from thread where id = held.thread_id;
    end if;
    return (select t.told || jsonb_build_object('changes', relay.changes_of(t.id), 'preferences', case
            when t.told -> 'acting' <> '[]' then relay.told_preferences(t) else '[]' end)
        from turn t where t.id = held.id);
end $$;
