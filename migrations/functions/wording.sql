-- What a message says, and what it said before that.

-- How many wordings a message had before its present one.
create or replace function relay.wordings(p_message_id bigint) returns bigint
language sql stable set search_path = relay, extensions, pg_temp as $$
    select count(*) from message_version where message_id = p_message_id
$$;

-- Gives a message that came in several what its parts say now; what only goes on with the part before stays one block
-- with it.
create or replace function relay.join_parts(p_message relay.message) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    one jsonb;
    own jsonb;
    said text := '';
    whole jsonb := '[]';
begin
    for one in select part from posted where turn_id = p_message.turn_id and message_id = p_message.id and not from_bot
        order by telegram_message_id
    loop
        said := said || E'\n' || (one ->> 'text');
        own := one -> 'blocks';
        if (one ->> 'sequel')::boolean and whole <> '[]' and own <> '[]' then
            whole := jsonb_set(whole, array[(jsonb_array_length(whole) - 1)::text, 'text'],
                to_jsonb((whole -> -1 ->> 'text') || (own -> 0 ->> 'text')));
            own := own - 0;
        end if;
        whole := whole || own;
    end loop;
    update message set text = left(btrim(said, E' \n'), 400000), blocks = whole where id = p_message.id;
end $$;

-- Keeps what a message said, and lets it (of one that came in several, the part that a Telegram message was) say
-- something else.
create or replace function relay.give_wording(
    p_message relay.message, p_posted relay.posted, p_text text, p_blocks jsonb)
returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    insert into message_version (message_id, text, blocks, untrusted)
    values (p_message.id, p_message.text, p_message.blocks, p_message.untrusted);
    if p_posted.part is null then
        update message set text = p_text, blocks = p_blocks where id = p_message.id;
    else
        update posted set part = part || jsonb_build_object('text', p_text, 'blocks', p_blocks)
        where bot_id = p_posted.bot_id and chat_id = p_posted.chat_id
            and telegram_message_id = p_posted.telegram_message_id;
        perform relay.join_parts(p_message);
    end if;
    update message set untrusted = jsonb_path_exists(blocks, '$[*].untrusted') where id = p_message.id;
end $$;

-- The words in blocks: those of a file (p_file), or those beside it. A file that the message only replies to is none.
create or replace function relay.words_in(p_blocks jsonb, p_file boolean) returns text
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select coalesce(btrim(string_agg(one ->> 'text', E'\n' order by place), E' \n'), '')
    from jsonb_array_elements(p_blocks) with ordinality as b (one, place)
    where one ->> 'type' = 'text' and (one ? 'file') = p_file and not one ? 'unread' and not one ? 'replied'
$$;

-- An edit of what stands under a file, with what was read of that file when it came: p_text and p_blocks are what the
-- message says now. An edit of anything else stays as it is.
create or replace function relay.with_file(p_edit jsonb, p_text text, p_blocks jsonb) returns jsonb
language plpgsql immutable set search_path = relay, extensions, pg_temp as $$
declare
    beside text := relay.words_in(p_blocks, false);
    words text;
begin
    if not p_edit -> 'blocks' @> '[{"type": "attachment"}]' then
        return p_edit;
    end if;
    -- A picture has words (that there is one) which stand in no block.
    words := case when right(p_text, length(beside)) = beside then left(p_text, length(p_text) - length(beside))
        else relay.words_in(p_blocks, true) end;
    return p_edit || jsonb_build_object(
        'text', left(btrim(btrim(words, E' \n') || E'\n' || (p_edit ->> 'text'), E' \n'), 400000),
        'blocks', (
            select coalesce(jsonb_agg(read.one order by given.place, read.place), '[]')
            from jsonb_array_elements(p_edit -> 'blocks') with ordinality as given (one, place),
            lateral (
                select given.one, 0::bigint as place where given.one ->> 'type' <> 'attachment'
                union all
                select stored.one, stored.place
                from jsonb_array_elements(p_blocks) with ordinality as stored (one, place)
                where given.one ->> 'type' = 'attachment'
                    and stored.one #> '{file,unique_id}' = given.one #> '{file,unique_id}') as read));
end $$;
