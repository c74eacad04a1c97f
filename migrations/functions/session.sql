-- Sessions: the stretches of a thread between two /new.

-- Ends the running session of a thread: what was said is summarised, and the next message starts with a clean page.
create or replace function public.relay_new_session(
    p_space jsonb, p_chat_id bigint, p_topic_id bigint, p_title text)
returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own thread;
    last_message bigint;
    said integer;
begin
    own := relay.ensure_thread(relay.ensure_space(p_space), p_chat_id, p_topic_id, 1000000);
    select max(id), count(*) into last_message, said from message
    where thread_id = own.id and id >= own.context_from;
    if said > 0 then
        insert into summary_due (thread_id, session_id, context_from, through_message_id)
        values (own.id, own.session_id, own.context_from, last_message) on conflict do nothing;
        update session set ended_at = now() where id = own.session_id;
        insert into session (thread_id, space_id, title) values (own.id, own.space_id, nullif(p_title, ''))
        returning id into own.session_id;
        update thread set session_id = own.session_id, context_from = last_message + 1,
            window_from = last_message + 1, summary_id = null
        where id = own.id;
    end if;
    return jsonb_build_object('session_id', own.session_id, 'messages', said);
end $$;
