-- What was said that bears on something, for the model: full text over a space's messages and documents.

-- The messages of a space that have the most of a query's words, best first: how many of them, how well, and the message
-- with a snippet.
create or replace function relay.message_hits(
    p_space_id bigint, p_query tsquery, p_least integer, p_limit integer, p_since timestamptz, p_until timestamptz,
    p_not_thread bigint, p_not_from bigint)
returns table (matched bigint, rank real, id bigint, line jsonb)
language sql stable set search_path = relay, extensions, pg_temp as $$
    with candidate as (
        select * from message m
        where relay.words_of_space(m.space_id, m.words) @@ relay.query_of_space(p_space_id, p_query)
            and m.space_id = p_space_id and m.status <> 'replaced'
            and m.session_id <> all ((select relay.private_sessions(p_space_id))::bigint[])
            and (p_since is null or m.created_at >= p_since) and (p_until is null or m.created_at < p_until)
            and (p_not_thread is null or m.thread_id <> p_not_thread or m.id < p_not_from)
        limit 2000),
    asked as materialized (
        select array_agg(one::tsquery) as words from unnest(string_to_array(p_query::text, ' | ')) as one),
    ranked as (
        select c.*, (select count(*) from unnest(asked.words) as word where c.words @@ word) as matched
        from candidate c, asked)
    select best.matched, best.rank, best.id, jsonb_build_object(
        'id', best.id, 'role', best.role, 'user_id', best.user_id, 'name', best.name, 'thread_id', best.thread_id,
        'at', best.created_at, 'untrusted', best.untrusted or best.tainted,
        'snippet', relay.bare_snippet(best.text, p_query))
    from (
        select *, ts_rank(words, p_query, 1) as rank from ranked r where r.matched >= p_least
        order by r.matched desc, rank desc, r.id desc limit p_limit) best
$$;

-- Messages and parts of documents that have the most of a query's words, best first.
create or replace function relay.find_words(
    p_space_id bigint, p_query tsquery, p_least integer, p_limit integer, p_since timestamptz, p_until timestamptz,
    p_not_thread bigint, p_not_from bigint)
returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_agg(best.line order by best.matched desc, best.rank desc, best.id desc), '[]') from (
        select * from (
            select * from relay.message_hits(
                p_space_id, p_query, p_least, p_limit, p_since, p_until, p_not_thread, p_not_from)
            union all
            select * from relay.part_hits(
                p_space_id, p_query, p_least, p_limit, p_since, p_until, p_not_thread, p_not_from)) hit
        order by matched desc, rank desc, id desc limit p_limit) best
$$;

-- The model's tool: what was said in this space or stands in its documents, by words, within dates.
create or replace function public.relay_search_history(
    p_space_id bigint, p_query text, p_limit integer, p_since timestamptz, p_until timestamptz)
returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select case when relay.words_query(p_query) is null or not relay.remembers(p_space_id) then '[]'::jsonb
        else relay.find_words(p_space_id, relay.words_query(p_query), 1, p_limit, p_since, p_until, null, null) end
$$;

-- What bears on a message: messages and documents outside the prompt's window that share at least two of its telling
-- words.
create or replace function public.relay_recall(
    p_space jsonb, p_chat_id bigint, p_topic_id bigint, p_query text, p_limit integer)
returns jsonb
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    own_space bigint := relay.find_space(p_space);
    wanted tsquery := relay.words_query(p_query);
    own thread;
begin
    if own_space is null or wanted is null or numnode(wanted) < 3 or not relay.remembers(own_space) then
        return jsonb_build_object('messages', '[]'::jsonb);
    end if;
    select * into own from thread where chat_id = p_chat_id and topic_id = p_topic_id and space_id = own_space;
    if not own.recalls then
        return jsonb_build_object('messages', '[]'::jsonb);
    end if;
    return jsonb_build_object('messages', relay.find_words(own_space, wanted,
        greatest(2, (numnode(wanted) + 1) / 5), p_limit, null, null, own.id,
        greatest(own.context_from, own.window_from)));
end $$;
