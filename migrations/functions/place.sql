-- What is answered in a group and its topics, and whose memory a group was lent.

-- What is answered in a group's topic: all, addressed or off, by the topic's word, else the whole group's; null where
-- nothing was said about it.
create or replace function relay.answers_in(p_chat_id bigint, p_topic_id bigint) returns text
language sql stable set search_path = relay, extensions, pg_temp as $$
    select answers from place
    where p_chat_id < 0 and chat_id = p_chat_id and topic_id in (p_topic_id, -1)
    order by topic_id desc limit 1
$$;

-- What a message in a group comes to, where p_answers is answered: a turn or nothing. overheard: it is not for the bot,
-- unless all is.
create or replace function relay.kind_in(p_kind text, p_answers text) returns text
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select case
        when p_answers = 'off' then 'ignored'
        when p_kind = 'overheard' then case when p_answers = 'all' then 'turn' else 'ignored' end
        else p_kind
    end
$$;

-- How things stand in a group's topic: what is answered there by its own word, in the whole group by its word (-1), and
-- who lends their memory. Null: nothing was said about it.
create or replace function public.relay_place(p_chat_id bigint, p_topic_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object(
        'here', (select answers from place where chat_id = p_chat_id and topic_id = p_topic_id),
        'everywhere', (select answers from place where chat_id = p_chat_id and topic_id = -1),
        'lender', (select owner_id from link where chat_id = p_chat_id))
$$;

-- Says what is answered in a topic; -1: in the whole group, whatever was said about its topics before. Returns how
-- things stand then.
create or replace function public.relay_set_place(
    p_chat_id bigint, p_topic_id bigint, p_answers text, p_user_id bigint)
returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    if p_topic_id = -1 then
        delete from place where chat_id = p_chat_id and topic_id <> -1;
    end if;
    insert into place (chat_id, topic_id, answers, set_by) values (p_chat_id, p_topic_id, p_answers, p_user_id)
    on conflict (chat_id, topic_id) do update
        set answers = excluded.answers, set_by = excluded.set_by, set_at = now();
    return public.relay_place(p_chat_id, p_topic_id);
end $$;

-- Lends somebody's memory to a group, for their own turns there, unless somebody else's is lent. Returns whose is lent
-- then.
create or replace function public.relay_link(p_chat_id bigint, p_owner_id bigint) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    insert into link (chat_id, owner_id) values (p_chat_id, p_owner_id) on conflict (chat_id) do nothing;
    return (select to_jsonb(owner_id) from link where chat_id = p_chat_id);
end $$;

-- Takes it back, if it is theirs that is lent. Returns whether it was.
create or replace function public.relay_unlink(p_chat_id bigint, p_owner_id bigint) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    with taken as (delete from link where chat_id = p_chat_id and owner_id = p_owner_id returning 1)
    select to_jsonb(count(*) > 0) from taken
$$;
