-- The soul: the personality, versioned. Versions are never overwritten, and the active one is always the latest.

-- Returns the active soul: {version, text, author_id, author, reason, active, created_at}.
create or replace function public.relay_soul() returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select to_jsonb(s) from soul s where s.active
$$;

-- Returns one version; null if it doesn't exist.
create or replace function public.relay_soul_version(p_version bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select to_jsonb(s) from soul s where s.version = p_version
$$;

-- Returns the versions, newest first: {total, souls}.
create or replace function public.relay_souls(p_skip bigint, p_limit integer) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('total', (select count(*) from soul), 'souls', coalesce((
        select jsonb_agg(to_jsonb(page) order by page.version desc)
        from (select * from soul order by version desc offset p_skip limit p_limit) page), '[]'))
$$;

-- Activates a new version, unless its text equals the active one's. Returns the active version.
create or replace function public.relay_activate_soul(
    p_text text, p_author_id bigint, p_author text, p_reason text)
returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    active_version integer;
begin
    perform pg_advisory_xact_lock(hashtext('relay.soul'));
    select version into active_version from soul where active and text = p_text;
    if active_version is null then
        update soul set active = false where active;
        insert into soul (version, text, author_id, author, reason, active)
        values ((select coalesce(max(version), 0) + 1 from soul), p_text, p_author_id, p_author, p_reason, true)
        returning version into active_version;
    end if;
    return to_jsonb(active_version);
end $$;

-- Stores a draft and returns its id; the same turn gets the same id. p_based_on: the version it was made from.
create or replace function public.relay_draft_soul(
    p_turn_id bigint, p_text text, p_author_id bigint, p_author text, p_reason text, p_based_on bigint)
returns jsonb language sql set search_path = relay, extensions, pg_temp as $$
    insert into soul_draft (turn_id, text, author_id, author, reason, based_on)
    values (p_turn_id, p_text, p_author_id, p_author, p_reason, (select version from soul where version = p_based_on))
    on conflict (turn_id) do update set turn_id = excluded.turn_id
    returning to_jsonb(id)
$$;

-- Decides an open draft once: p_decision is activate or discard. Activates only if the version that the person compared
-- it with (p_seen) is still active. Returns the draft; null if there is none.
create or replace function public.relay_decide_soul_draft(
    p_draft_id bigint, p_decision text, p_seen bigint, p_user_id bigint)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    draft soul_draft;
begin
    perform pg_advisory_xact_lock(hashtext('relay.soul'));
    select * into draft from soul_draft where id = p_draft_id for update;
    if draft.status = 'open' and p_decision = 'discard' then
        update soul_draft set status = 'discarded', decided_at = now(), decided_by = p_user_id
        where id = draft.id returning * into draft;
    elsif draft.status = 'open' and p_decision = 'activate'
        and coalesce((select version from soul where active), 0) = p_seen
    then
        update soul_draft set status = 'activated', decided_at = now(), decided_by = p_user_id,
            version = public.relay_activate_soul(text, author_id, author, reason)::integer
        where id = draft.id returning * into draft;
    end if;
    return case when draft.id is not null then to_jsonb(draft) end;
end $$;

-- Returns a draft; null if there is none.
create or replace function public.relay_soul_drafted(p_draft_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select to_jsonb(d) from soul_draft d where d.id = p_draft_id
$$;

-- Returns the questions for a trial of a soul, oldest first: what a turn would load (see relay_begin) for a person's last
-- three own messages in a place, or for message p_message_id, or for the one that p_replied (a message of the chat) is or
-- answers. Nothing that was said off the record. Only reads.
create or replace function public.relay_soul_trial(
    p_bot_id bigint, p_space jsonb, p_chat_id bigint, p_topic_id bigint, p_user_id bigint, p_message_id bigint,
    p_replied bigint, p_memory_budget integer, p_recent_budget integer)
returns jsonb language sql stable set search_path = relay, extensions, pg_temp as $$
    with own as materialized (
        select * from thread
        where chat_id = p_chat_id and topic_id = p_topic_id and space_id = relay.find_space(p_space)),
    picked as materialized (
        select p_message_id as id where p_message_id > 0
        union all
        select case m.role when 'user' then m.id else t.user_message_id end
        from posted p join message m on m.id = p.message_id left join turn t on t.id = m.turn_id
        where p.bot_id = p_bot_id and p.chat_id = p_chat_id and p.telegram_message_id = p_replied),
    asked as materialized (
        select m.* from own join message m on m.thread_id = own.id and m.space_id = own.space_id
        join session s on s.id = m.session_id and not s.private
        where m.role = 'user' and m.user_id = p_user_id and m.status <> 'replaced' and m.text <> ''
            and (p_message_id = 0 and p_replied = 0 or m.id in (select id from picked))
        order by m.id desc limit 3)
    select coalesce(jsonb_agg(jsonb_build_object(
        'space_id', own.space_id, 'thread_id', own.id, 'message_id', m.id,
        'soul', coalesce((select jsonb_build_object('version', version, 'text', text) from soul where active),
            '{"version": 0, "text": ""}'),
        'persona', (select jsonb_build_object('id', id, 'text', text) from persona
            where chat_id = own.chat_id and topic_id = own.topic_id order by id desc limit 1),
        'choices', '{}'::jsonb, 'lent', '[]'::jsonb, 'reply_to', null,
        'memories', case when own.recalls then relay.memories_for_prompt(own.space_id, p_memory_budget) else '[]' end,
        'memory_counts', case when own.recalls then relay.memory_counts(own.space_id) else '{}' end,
        'preferences', relay.preferences_for_prompt(own, p_user_id, null),
        'summary', (select jsonb_build_object('id', id, 'text', text, 'tainted', tainted)
            from summary where id = relay.summary_shown(own)),
        'recent', relay.recent_messages(own, m.id, p_recent_budget),
        'message', to_jsonb(m) - 'words' || jsonb_build_object('reply_to', (
            select t.prompt -> 'reply_to' from turn t where t.id = m.turn_id))) order by m.id), '[]')
    from asked m cross join own
$$;

-- Personas: additions to the soul in one chat and topic. Versions are kept; the newest counts. One set off the record
-- ends with that session, and the one before counts again.

-- Returns a version of a place's persona; p_id null: the current one. Its text is empty if it was cleared. Null if
-- there is none.
create or replace function public.relay_persona(p_chat_id bigint, p_topic_id bigint, p_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select to_jsonb(p) from persona p
    where p.chat_id = p_chat_id and p.topic_id = p_topic_id and (p_id is null or p.id = p_id)
    order by p.id desc limit 1
$$;

-- Sets a place's persona (an empty text clears it), unless it already has this text or is no longer p_instead_of.
-- Returns {present, before}: the current one and the one it replaced, each null for none.
create or replace function public.relay_set_persona(
    p_chat_id bigint, p_topic_id bigint, p_text text, p_author_id bigint, p_author text, p_instead_of bigint)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
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

-- People's preferences for themselves, under the commands' names.

-- Returns a person's preferences: {name: value}; empty if there are none.
create or replace function public.relay_choices(p_user_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce((select choices from choice where user_id = p_user_id), '{}')
$$;

-- Adds to a person's settings. Adds nothing if their zone is no longer former_zone. Returns all of them.
create or replace function public.relay_choose(p_user_id bigint, p_choices jsonb) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    insert into choice as c (user_id, choices) values (p_user_id, p_choices - 'former_zone')
    on conflict (user_id) do update set updated_at = now(), choices = c.choices || case
        when coalesce(p_choices ->> 'former_zone', c.choices ->> 'zone', '') = coalesce(c.choices ->> 'zone', '')
        then excluded.choices else '{}' end
    returning c.choices
$$;
