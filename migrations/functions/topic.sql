-- Names of topics and groups, as they are heard in passing.

-- Takes down what a message tells about names: its group's title, and that of its topic (in the service messages of
-- those who name it; and a message in a forum brings along its topic's first one).
create or replace function relay.note_names(
    p_bot_id bigint, p_chat_id bigint, p_topic_id bigint, p_message jsonb)
returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    title text := p_message #>> '{chat,title}';
    edited text := p_message #>> '{forum_topic_edited,name}';
    created jsonb := coalesce(p_message -> 'forum_topic_created',
        p_message #> '{reply_to_message,forum_topic_created}');
begin
    if p_chat_id < 0 and title is not null and not exists (
        select from topic where bot_id = p_bot_id and chat_id = p_chat_id and topic_id = 0 and name = title)
    then
        insert into topic (bot_id, chat_id, topic_id, name) values (p_bot_id, p_chat_id, 0, title)
        on conflict (bot_id, chat_id, topic_id) do update set name = excluded.name;
    end if;
    if p_topic_id > 0 and edited is not null then
        insert into topic (bot_id, chat_id, topic_id, name) values (p_bot_id, p_chat_id, p_topic_id, edited)
        on conflict (bot_id, chat_id, topic_id) do update set name = excluded.name, implicit = false;
    elsif p_topic_id > 0 and created ->> 'name' is not null then
        insert into topic (bot_id, chat_id, topic_id, name, implicit)
        values (p_bot_id, p_chat_id, p_topic_id, created ->> 'name',
            coalesce((created ->> 'is_name_implicit')::boolean, false))
        on conflict do nothing;
    end if;
end $$;

-- A topic bears the name that was thought up for it; one that the person gave meanwhile stays.
create or replace function public.relay_topic_renamed(
    p_bot_id bigint, p_chat_id bigint, p_topic_id bigint, p_name text)
returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    with renamed as (
        update topic set name = p_name, implicit = false
        where bot_id = p_bot_id and chat_id = p_chat_id and topic_id = p_topic_id and implicit returning 1)
    select to_jsonb(count(*)) from renamed
$$;

-- What a place is called: a group's title, a topic's name, or both. Null where nobody told.
create or replace function relay.place_name(p_bot_id bigint, p_chat_id bigint, p_topic_id bigint) returns text
language sql stable set search_path = relay, extensions, pg_temp as $$
    select string_agg(name, ' › ' order by topic_id) from (
        select distinct on (topic_id) topic_id, name from topic
        where chat_id = p_chat_id and topic_id in (0, p_topic_id)
        order by topic_id, bot_id = p_bot_id desc) names
$$;
