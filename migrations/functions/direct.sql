-- Memory by a script's word: /remember and /forget without a chat.

-- Applies what a script asks of a space's memory, in a turn that is done at once: so it is told and undone as any other.
create or replace function public.relay_change_directly(p_space jsonb, p_user_id bigint, p_actions jsonb)
returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own turn;
    results jsonb;
begin
    insert into turn (kind, bot_id, user_id, space_id, status, answered_at, done_at)
    values ('control', 0, p_user_id, relay.ensure_space(p_space), 'done', now(), now())
    returning * into own;
    results := relay.apply_actions(own, null, p_actions, false);
    return jsonb_build_object('changes', relay.changes_of(own.id),
        'failed', (select coalesce(jsonb_agg(r), '[]') from jsonb_array_elements(results) as r where r ? 'failed'));
end $$;
