-- Personas: what the soul is besides in one chat and topic. Versions are kept; the newest counts. One that was set off the
-- record goes with that session, and the one before it counts again.

-- One version of a place's persona, p_id null: the present one. Its text is empty where it was cleared. Null when there
-- is none.
create or replace function public.relay_persona(p_chat_id bigint, p_topic_id bigint, p_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select to_jsonb(p) from persona p
    where p.chat_id = p_chat_id and p.topic_id = p_topic_id and (p_id is null or p.id = p_id)
    order by p.id desc limit 1
$$;

-- Sets a place's persona (an empty text clears it), unless it has just that text, or is not p_instead_of any more.
-- Returns {present, before}: the one that counts then, and the one that it took the place of, each null for none.
create or replace function public.relay_set_persona(
    p_chat_id bigint, p_topic_id bigint, p_text text, p_author_id bigint, p_author text, p_instead_of bigint)
returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    present persona;
    made persona;
begin
    perform pg_advisory_xact_lock(hashtextextended('relay.persona:' || p_topic_id, p_chat_id));
    select * into present from persona where chat_id = p_chat_id and topic_id = p_topic_id order by id desc limit 1;
    if coalesce(present.text, '') <> p_text and (p_instead_of is null or p_instead_of = present.id) then
        insert into persona (chat_id, topic_id, text, author_id, author, session_id)
        values (p_chat_id, p_topic_id, p_text, p_author_id, p_author, relay.off_record(p_chat_id, p_topic_id))
        returning * into made;
        return jsonb_build_object('present', to_jsonb(made),
            'before', case when present.id is not null then to_jsonb(present) end);
    end if;
    return jsonb_build_object('present', case when present.id is not null then to_jsonb(present) end, 'before', null);
end $$;
