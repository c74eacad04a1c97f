-- The callers of the API, and their tokens.

-- Returns the owner of a token of these kinds: {user_id, name, kind, role, choices}. Null if it is unknown or expired.
create or replace function relay.caller_with(p_hash text, variadic p_kinds text[]) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own api_token;
begin
    select * into own from api_token
    where hash = p_hash and kind = any (p_kinds) and (expires_at is null or expires_at > now());
    if own.id is null then
        return null;
    end if;
    if own.used_at is null or own.used_at < now() - interval '1 minute' then
        update api_token set used_at = now() where id = own.id;
    end if;
    return jsonb_build_object('user_id', own.user_id, 'kind', own.kind, 'name', public.relay_name_of(own.user_id),
        'role', (select role from person where user_id = own.user_id),
        'choices', (select choices from choice where user_id = own.user_id));
end $$;

-- Returns the owner of the token with this hash.
create or replace function public.relay_api_caller(p_hash text) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    select relay.caller_with(p_hash, 'token', 'session')
$$;

-- Stores a token's hash. Returns whether it did: false if the proof that it was given for has been used before.
create or replace function public.relay_store_api_token(
    p_user_id bigint, p_kind text, p_name text, p_hash text, p_seconds integer, p_given_for text)
returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    delete from api_token where expires_at < now() - interval '1 day';
    insert into api_token (user_id, kind, name, hash, expires_at, given_for)
    values (p_user_id, p_kind, p_name, p_hash, now() + make_interval(secs => p_seconds), p_given_for)
    on conflict do nothing;
    return to_jsonb(found);
end $$;

-- Exchanges a link for a session. Returns its user; null if the link was used before or has expired.
create or replace function public.relay_open_api_link(p_link text, p_hash text, p_seconds integer) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own api_token;
begin
    delete from api_token where hash = p_link and kind = 'link' and expires_at > now() returning * into own;
    if own.id is null then
        return null;
    end if;
    insert into api_token (user_id, kind, hash, expires_at)
    values (own.user_id, 'session', p_hash, now() + make_interval(secs => p_seconds));
    return to_jsonb(own.user_id);
end $$;

-- Returns a person's own tokens, oldest first: [{id, name, created_at, used_at}].
create or replace function public.relay_api_tokens(p_user_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_agg(jsonb_build_object(
        'id', id, 'name', name, 'created_at', created_at, 'used_at', used_at) order by id)
    from api_token where user_id = p_user_id and kind = 'token'
$$;

-- Revokes one of a person's own tokens. Returns it, as above; null if it doesn't exist.
create or replace function public.relay_revoke_api_token(p_user_id bigint, p_id bigint) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own api_token;
begin
    delete from api_token where user_id = p_user_id and id = p_id and kind = 'token' returning * into own;
    return case when own.id is not null then jsonb_build_object(
        'id', own.id, 'name', own.name, 'created_at', own.created_at, 'used_at', own.used_at) end;
end $$;

-- Ends the session with this hash. Returns whether there was one.
create or replace function public.relay_end_api_session(p_hash text) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    -- The row stays for a day, so that the proof it was given for can't be used again.
    update api_token set expires_at = now() where hash = p_hash and kind = 'session';
    return to_jsonb(found);
end $$;

-- Deletes the tokens of people who lose access.
create or replace function relay.drop_api_tokens() returns trigger
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    delete from api_token where user_id = new.user_id;
    return null;
end $$;
create or replace trigger drop_api_tokens after update of role on relay.person
    for each row when (new.role in ('refused', 'blocked')) execute function relay.drop_api_tokens();

-- Begins a request with an Idempotency-Key. Returns {state, status, content_type, body, groups}: new (nobody has made it,
-- or it was cut off p_lease seconds ago), running, other (the key belongs to another request), erased (its answer was), or
-- done with its answer. Requests older than p_keep seconds are forgotten, and all but a person's newest p_most.
create or replace function public.relay_begin_api_request(
    p_user_id bigint, p_hash text, p_asked text, p_lease integer, p_keep integer, p_most integer)
returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own api_request;
begin
    delete from api_request where at < now() - make_interval(secs => p_keep);
    insert into api_request (user_id, hash, asked) values (p_user_id, p_hash, p_asked) on conflict do nothing;
    if found then
        delete from api_request where user_id = p_user_id and hash in (
            select hash from api_request where user_id = p_user_id order by at desc, hash offset p_most);
        return '{"state": "new"}';
    end if;
    select * into own from api_request where user_id = p_user_id and hash = p_hash for update;
    if own.asked <> p_asked then
        return '{"state": "other"}';
    elsif own.status = 410 then
        return '{"state": "erased"}';
    elsif own.status is not null then
        return jsonb_build_object(
            'state', 'done', 'status', own.status, 'content_type', own.content_type, 'body', own.body,
            'groups', own.groups);
    elsif own.at > now() - make_interval(secs => p_lease) then
        return '{"state": "running"}';
    end if;
    update api_request set at = now() where user_id = p_user_id and hash = p_hash;
    return '{"state": "new"}';
end $$;

-- Stores the answer to a request, and the chats of the groups that it may quote. Without a status, forgets the request:
-- it may be made again.
create or replace function public.relay_end_api_request(
    p_user_id bigint, p_hash text, p_status integer, p_content_type text, p_body text,
    p_groups jsonb default '[]')
returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    if p_status is null then
        delete from api_request where user_id = p_user_id and hash = p_hash;
    else
        update api_request set status = p_status, content_type = p_content_type, body = p_body,
            groups = array(select value::bigint from jsonb_array_elements_text(p_groups))
        where user_id = p_user_id and hash = p_hash;
    end if;
    return to_jsonb(found);
end $$;

-- Erases stored answers too, because they may repeat what is erased. The keys stay, as their requests would do it again.
create or replace function relay.drop_api_requests() returns trigger
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    update api_request set status = 410, content_type = '', body = '' where status is not null;
    return null;
end $$;
create or replace trigger drop_api_requests after update of status on relay.erasure
    for each row when (old.status is distinct from new.status) execute function relay.drop_api_requests();
