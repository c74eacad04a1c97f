-- Two answers to choose from.

-- Saves the second of two answers as a replaced one, which isn't used unless it is chosen. The memory actions of both
-- wait for the choice.
create or replace function relay.save_second(p_turn relay.turn, p_first bigint, p_other jsonb, p_ask boolean)
returns void language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    second bigint;
begin
    insert into message (space_id, thread_id, session_id, turn_id, role, user_id, text, blocks, status, tainted)
    values (p_turn.space_id, p_turn.thread_id, p_turn.session_id, p_turn.id, 'assistant', p_turn.user_id,
        p_other ->> 'text', p_other -> 'blocks', 'replaced', (p_other ->> 'tainted')::boolean)
    returning id into second;
    update turn set prompt = prompt || jsonb_build_object('two', jsonb_build_object('ids', array[p_first, second],
        'order', p_other ->> 'order', 'actions', p_other -> 'actions', 'ask', p_ask))
    where id = p_turn.id;
end $$;

-- Returns the one of a turn's two answers that is not current. Null if it gave only one.
create or replace function relay.second_of(p_turn relay.turn) returns bigint
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select one::bigint from jsonb_array_elements_text(p_turn.prompt #> '{two,ids}') as one
    where one::bigint <> p_turn.assistant_message_id limit 1
$$;

-- Makes one of a turn's two answers (0: the first, 1: the second) the current one, and applies its memory actions unless
-- p_quiet. Undoes the actions of the other one, if that was chosen before.
create or replace function relay.let_stand(p_turn relay.turn, p_place integer, p_quiet boolean) returns relay.turn
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    chosen constant bigint := p_turn.prompt #>> array['two', 'ids', p_place::text];
begin
    perform relay.take_back_taught(p_turn.id, p_turn.user_id);
    update message set status = case when id = chosen then 'complete' else 'replaced' end
    where id in (select one::bigint from jsonb_array_elements_text(p_turn.prompt #> '{two,ids}') as one)
        and status <> case when id = chosen then 'complete' else 'replaced' end;
    update turn set assistant_message_id = chosen, tainted = (select m.tainted from message m where m.id = chosen)
    where id = p_turn.id returning * into p_turn;
    if not p_quiet and relay.unlearned_why(p_turn.space_id, p_turn.thread_id, p_turn.session_id) is distinct from 'private'
    then
        perform relay.apply_actions(p_turn, chosen,
            relay.taught(p_turn, p_turn.prompt #> array['two', 'actions', p_place::text]),
            p_turn.tainted or (p_turn.prompt #>> '{two,ask}')::boolean);
    end if;
    return p_turn;
end $$;

-- Stores a choice between two answers: a, b, both or neither. The chosen one (else the first) becomes the current one.
-- Within half a minute the person may choose again. Returns {chose, reasons, taught: whether the choice says something
-- about what they like; changes: what it changed in memory}; {refused: late} after that time. Null if there is no choice.
create or replace function public.relay_choose_answer(p_space jsonb, p_user_id bigint, p_turn_id bigint, p_chose text)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own constant bigint := relay.find_space(p_space);
    about turn := relay.answer_turn(own, p_user_id, jsonb_build_object('turn_id', p_turn_id));
    stood bigint[];
    done jsonb;
begin
    select * into about from turn where id = about.id for no key update;
    if about.prompt -> 'two' is null then
        return null;
    elsif exists (
        select from feedback where turn_id = about.id and kind = 'compare' and settles_at <= now())
    then
        return '{"refused": "late"}';
    end if;
    stood := array(
        select id from memory_change where turn_id = about.id and id not in (
            select id from relay.taught_by(about.id) where status in ('applied', 'pending')));
    about := relay.let_stand(about, case when p_chose in ('a', 'b')
        and strpos(about.prompt #>> '{two,order}', p_chose) = 2 then 1 else 0 end, p_chose = 'neither');
    done := relay.take_act(about, null, jsonb_build_object('kind', 'compare',
        'source', 'button', 'value', jsonb_build_object('chose', p_chose))
        || case when p_chose in ('a', 'b') then '{}' else '{"observations": []}'::jsonb end);
    perform relay.withdraw_feedback(about.id, p_user_id, 'thumbs', 'button');
    if p_chose = 'neither' then
        perform relay.take_act(about, null, '{"kind": "thumbs", "value": {"up": false}, "source": "button"}');
    end if;
    return jsonb_build_object('chose', p_chose, 'reasons', '[]'::jsonb, 'taught', not done ? 'refused', 'changes', (
        select coalesce(jsonb_agg(one), '[]') from jsonb_array_elements(relay.changes_of(about.id)) as one
        where (one ->> 'id')::bigint <> all (stood)));
end $$;

-- Records that a person, asked which of two answers is better, chose the first, which was brought back (p_turn). An
-- earlier choice of the other one (p_over) no longer counts.
create or replace function relay.prefer_first(p_turn relay.turn, p_over bigint) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    done jsonb;
begin
    perform relay.withdraw_feedback(p_over, p_turn.user_id, 'compare', 'button');
    done := relay.take_act(p_turn, p_over,
        '{"kind": "compare", "value": {"chose": "a", "dimensions": []}, "source": "button"}');
    update turn set told = told || jsonb_build_object('reasons', not done ? 'refused') where id = p_turn.id;
end $$;

-- Adds a reason for a choice within two minutes, or removes it. Returns the same as relay_choose_answer; null if there is
-- no such choice.
create or replace function public.relay_choice_reason(p_space jsonb, p_user_id bigint, p_turn_id bigint, p_reason text)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own constant bigint := relay.find_space(p_space);
    said feedback;
    reasons jsonb;
begin
    perform relay.hold_memory(own);
    select * into said from feedback
    where space_id = own and user_id = p_user_id and turn_id = p_turn_id and kind = 'compare' and withdrawn_at is null
        and value ->> 'chose' in ('a', 'b') and at > now() - interval '2 minutes'
    order by id desc limit 1 for update;
    if said.id is null then
        return null;
    end if;
    reasons := coalesce(said.value -> 'dimensions', '[]');
    reasons := case when reasons ? p_reason then reasons - p_reason else reasons || to_jsonb(p_reason) end;
    update feedback set value = value || jsonb_build_object('dimensions', reasons) where id = said.id;
    perform relay.free_jobs('preference', array[said.id::text]);
    perform relay.owe_job_anew('preference', said.id::text);
    update job set due_at = now() + interval '30 seconds' where kind = 'preference' and key = said.id::text;
    return jsonb_build_object('chose', said.value ->> 'chose', 'reasons', reasons);
end $$;
