-- Digests: where they are wanted, what a day brought, and that each is sent once.

-- Wants the digests of a space in a chat from now on, or (p_where null) no more. Returns whether they are wanted.
create or replace function public.relay_want_digest(p_space jsonb, p_where jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own bigint := relay.ensure_space(p_space);
begin
    delete from digest where space_id = own;
    if p_where is not null then
        insert into digest (space_id, user_id, chat_id, topic_id)
        select own, w.user_id, w.chat_id, w.topic_id
        from jsonb_to_record(p_where) as w (user_id bigint, chat_id bigint, topic_id bigint);
    end if;
    return to_jsonb(p_where is not null);
end $$;

-- Where the digests of a space are wanted: {user_id, chat_id, topic_id, wanted_at}; null: nowhere.
create or replace function public.relay_digest_wanted(p_space jsonb) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select to_jsonb(d) from digest d where space_id = relay.find_space(p_space)
$$;

-- What a digest is made of: what was said in the space after a message in the last p_hours, the last 200 of it, with the
-- titles of the conversations; nothing of those that teach nothing or are private. And what was learned meanwhile.
create or replace function relay.day_of(p_space_id bigint, p_after bigint, p_through bigint, p_hours integer) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('space_id', p_space_id,
        'messages', (select coalesce(jsonb_agg(to_jsonb(m) order by m.id), '[]') from (
            select m.id, m.role, m.user_id, m.name, left(m.text, 1000) as text, m.untrusted, m.tainted, s.title
            from thread t
            join message m on m.thread_id = t.id and m.id > p_after and m.id <= p_through
            join session s on s.id = m.session_id
            where t.space_id = p_space_id and m.space_id = p_space_id and m.status <> 'replaced'
                and m.created_at > now() - make_interval(hours => p_hours) and m.teaches and relay.teaches(m.session_id)
            order by m.id desc limit 200) m),
        'learned', (select coalesce(jsonb_agg(to_jsonb(k) order by k.id), '[]') from (
            select id, content, subject from memory
            where space_id = p_space_id and status = 'active' and created_at > now() - make_interval(hours => p_hours)
            order by id desc limit 30) k))
$$;

-- What the digest of a space that is due is made of.
create or replace function public.relay_digest_due(p_space_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select relay.day_of(space_id, after_message, through_message, 36) from sleep_due
    where space_id = p_space_id and not digested
$$;

-- What a digest of the last day is made of, whenever one is asked for.
create or replace function public.relay_digest_now(p_space jsonb) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select relay.day_of(relay.find_space(p_space), 0, 9223372036854775807, 24)
$$;

-- The digest of a space is made: it is queued to be said where it is wanted (null: there is nothing to say), once, whatever
-- happens. Returns whether it was.
create or replace function public.relay_post_digest(p_space_id bigint, p_bot_id bigint, p_notice jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    place digest;
begin
    update sleep_due set digested = true, after_message = through_message where space_id = p_space_id and not digested;
    if not found then
        return 'false';
    end if;
    select * into place from digest where space_id = p_space_id;
    if p_notice is not null and place.space_id is not null then
        perform relay.post_notice(p_bot_id, place.chat_id, place.topic_id, place.user_id,
            p_notice || jsonb_build_object('space_id', p_space_id));
    end if;
    return to_jsonb(p_notice is not null and place.space_id is not null);
end $$;
