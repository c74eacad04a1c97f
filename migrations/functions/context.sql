-- Contexts: the library's data about each session, and a space's settings for it.

-- Returns the current messages of a session on the record.
create or replace function relay.session_messages(p_session_id bigint) returns setof relay.message
language sql stable set search_path = relay, extensions, pg_temp as $$
    select m.* from message m join session s on s.id = m.session_id and not s.private
    where m.session_id = p_session_id and m.status <> 'replaced'
$$;

-- Names a session in quotation marks, by its title or its first words. Null: it has neither.
create or replace function relay.session_name(p_session_id bigint) returns text
language sql stable set search_path = relay, extensions, pg_temp as $$
    select '“' || case when length(name) > 60 then rtrim(left(name, 59)) || '…' else name end || '”' from (
        select btrim(regexp_replace(coalesce(s.title, (
            select left(relay.plain_text(m), 200) from relay.session_messages(s.id) m order by m.id limit 1)),
            '\s+', ' ', 'g')) as name
        from session s where s.id = p_session_id) named
    where name <> ''
$$;

-- Estimates a text's tokens: a quarter of its UTF-8 bytes, rounded up (Anthropic's rule of thumb).
create or replace function relay.token_count(p_text text) returns integer
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select (octet_length(p_text) + 3) / 4
$$;

-- Returns how large a session is: {messages, tokens, first, last: times}.
create or replace function relay.session_size(p_session_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('messages', count(*), 'tokens', coalesce(sum(relay.token_count(text)), 0),
        'first', min(created_at), 'last', max(created_at))
    from relay.session_messages(p_session_id)
$$;

-- Returns when a session was last used: its last message, or when it was last opened, compressed or composed. Null: it
-- has no messages.
create or replace function relay.session_recency(p_session relay.session) returns timestamptz
language sql stable set search_path = relay, extensions, pg_temp as $$
    select case when m.created_at is not null then greatest(m.created_at, p_session.last_accessed_at) end
    from (select 1) one left join lateral (
        select created_at from message where session_id = p_session.id and status <> 'replaced'
        order by id desc limit 1) m on true
$$;

-- Returns how many sessions of its thread were used more recently than this one, plus 1.
create or replace function relay.session_distance(p_session_id bigint) returns integer
language sql stable set search_path = relay, extensions, pg_temp as $$
    select 1 + count(*)::integer
    from session own cross join lateral relay.counted_sessions(array[own.thread_id]) other
    where own.id = p_session_id and other.id <> own.id
        and other.used_at > coalesce(relay.session_recency(own), '-infinity')
$$;

-- Puts sessions into the library and reads their markers. Owes a title and topics to those that ended or have two answers.
create or replace function relay.register_sessions(p_sessions bigint[]) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    one session;
begin
    for one in
        update session set registered_at = now() where id = any (p_sessions) and registered_at is null and not private
        returning *
    loop
        perform relay.scan_markers(one.id);
        perform relay.owe_title(one.id, (
            select bot_id from turn where thread_id = one.thread_id and bot_id is not null order by id desc limit 1))
        where one.ended_at is not null or 2 <= (
            select count(*) from message where session_id = one.id and role = 'assistant' and status <> 'replaced');
    end loop;
end $$;

-- Puts a session that has ended into the library, if its space registers all sessions.
create or replace function relay.register_ended(p_session_id bigint) returns void
language sql set search_path = relay, extensions, pg_temp as $$
    select relay.register_sessions(array[s.id]) from session s
    where s.id = p_session_id and not s.private and s.registered_at is null
        and (relay.context_settings(s.space_id) #>> '{defaults,autoRegisterSessions}')::boolean
        and exists (select from relay.session_messages(s.id))
$$;

-- Notes that sessions were opened, compressed or composed: they come to the front.
create or replace function relay.touch_sessions(p_sessions bigint[]) returns void
language sql set search_path = relay, extensions, pg_temp as $$
    select relay.decay_on_access(p_sessions);
    update session set last_accessed_at = now() where id = any (p_sessions) and not private
$$;

-- Returns the defaults of a space's settings, in the form in which they are shown and downloaded.
create or replace function relay.context_defaults() returns jsonb
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select '{
        "version": "1.0.0",
        "storage": {"maxCacheSize": "1GB", "compressionRetention": "all"},
        "defaults": {"compressionPreset": "standard", "keepitDecayEnabled": true, "autoRegisterSessions": false,
            "model": "small"},
        "keepitDecay": {"compressionBase": {"light": 0.1, "moderate": 0.3, "aggressive": 0.5},
            "maxSessionDistance": 10, "pinnedWeight": 1.0},
        "ui": {"defaultView": "timeline", "showTokenEstimates": true, "confirmDestructiveActions": true},
        "autoDecay": {"enabled": false, "schedule": "daily", "createAfterDays": 7, "createPreset": "standard",
            "aggressiveAfterDays": 30, "aggressivePreset": "aggressive", "pruneIntermediateAfterDays": 60}
    }'::jsonb
$$;

-- Returns a space's settings: what it changed, over the defaults.
create or replace function relay.context_settings(p_space_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_object_agg(d.key, case
        when jsonb_typeof(d.value) = 'object' then d.value || coalesce(own.settings -> d.key, '{}')
        else coalesce(own.settings -> d.key, d.value) end)
    from jsonb_each(relay.context_defaults()) d
    left join context_setting own on own.space_id = p_space_id
$$;
