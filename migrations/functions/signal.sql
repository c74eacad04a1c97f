-- Reactions: what somebody thinks of a message, kept for later.

-- The reactions of a person at a message of the assistant's, or at one of their own, as they stand since p_at (Unix
-- seconds). Those that do not stand any more are kept as taken back; what is older than what is known changes nothing.
create or replace function public.relay_react(
    p_bot_id bigint, p_chat_id bigint, p_telegram_message_id bigint, p_user_id bigint, p_emojis jsonb, p_at bigint)
returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    about message;
begin
    -- Locked, so that one change comes after the other.
    select m.* into about from posted p join message m on m.id = p.message_id
    where p.bot_id = p_bot_id and p.chat_id = p_chat_id and p.telegram_message_id = p_telegram_message_id
        and (m.role = 'assistant' or m.user_id = p_user_id)
    for no key update of m;
    if about.id is null or exists (
        select from signal where message_id = about.id and user_id = p_user_id
            and greatest(created_at, removed_at) > to_timestamp(p_at))
    then
        return to_jsonb(false);
    end if;
    update signal set removed_at = to_timestamp(p_at)
    where message_id = about.id and user_id = p_user_id and removed_at is null and not p_emojis ? emoji;
    insert into signal (space_id, message_id, turn_id, user_id, emoji, created_at)
    select about.space_id, about.id, about.turn_id, p_user_id, emoji, to_timestamp(p_at)
    from jsonb_array_elements_text(p_emojis) as emoji
    on conflict do nothing;
    return to_jsonb(true);
end $$;

-- Whether an answer has a ◆ that proposes to keep it: its person wants that, and it is not off the record.
create or replace function relay.can_be_kept(p_turn relay.turn) returns boolean
language sql stable set search_path = relay, extensions, pg_temp as $$
    select p_turn.assistant_message_id is not null and coalesce((p_turn.told #>> '{choices,keep}')::boolean, true)
        and not coalesce(p_turn.told -> 'signs', '[]') ? 'private'
$$;

-- Takes the ◆ from the answer that a message of ours is part of, for whoever it answers. Returns what its last message
-- shows then; null where there is no ◆ to take.
create or replace function public.relay_take_keep(
    p_bot_id bigint, p_chat_id bigint, p_telegram_message_id bigint, p_user_id bigint)
returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    answered turn;
begin
    update turn t set told = jsonb_set(t.told, '{choices}', coalesce(t.told -> 'choices', '{}') || '{"keep": false}')
    from posted p
    where p.bot_id = p_bot_id and p.chat_id = p_chat_id and p.telegram_message_id = p_telegram_message_id and p.from_bot
        and t.id = p.turn_id and t.user_id = p_user_id and relay.can_be_kept(t)
    returning t.* into answered;
    return case when answered.id is not null then relay.shown_last(answered) end;
end $$;
