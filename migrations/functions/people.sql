-- Who may use Relay, besides people named in the settings. Every change takes one lock, so that concurrent changes have
-- an order.

create or replace function public.relay_people() returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_agg(jsonb_build_object('user_id', user_id, 'role', role, 'name', name) order by user_id), '[]')
    from person where role in ('admin', 'user')
$$;

-- Takes the lock.
create or replace function relay.lock_people() returns void
language sql set search_path = relay, extensions, pg_temp as $$
    select pg_advisory_xact_lock(hashtext('relay.person'))
$$;

-- Sets a person's role, p_person: {user_id, bot_id, name, username, role, decided_by, decided_by_name}.
create or replace function relay.put_person(p_person jsonb) returns void
language sql set search_path = relay, extensions, pg_temp as $$
    insert into person (user_id, bot_id, name, username, role, decided_by, decided_by_name, decided_at, let_in)
    select one.user_id, one.bot_id, one.name, one.username, one.role, one.decided_by, one.decided_by_name,
        case when one.role <> 'asking' then now() end, one.role in ('admin', 'user')
    from jsonb_to_record(p_person) as one (
        user_id bigint, bot_id bigint, name text, username text, role text, decided_by bigint, decided_by_name text)
    on conflict (user_id) do update
        set bot_id = excluded.bot_id, name = excluded.name, username = excluded.username, role = excluded.role,
            decided_by = excluded.decided_by, decided_by_name = excluded.decided_by_name,
            decided_at = excluded.decided_at, let_in = person.let_in or excluded.let_in
$$;

-- Opens the claim link: the person becomes the owner if nobody runs the bot. Each person has five guesses and all
-- together thirty; after that even the right one fails until the next start makes a new link. Compares digests, so that
-- timing reveals nothing about the link.
create or replace function relay.claim_bot(p_person jsonb, p_hash text) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own_id constant text := p_person ->> 'user_id';
    link invite;
    own_guesses integer;
begin
    select * into link from invite where role = 'admin' and used_by is null and expires_at > now() for update;
    own_guesses := coalesce((link.guesses ->> own_id)::integer, 0);
    if link.hash is null or own_guesses >= 5
        or (select coalesce(sum(value::integer), 0) from jsonb_each_text(link.guesses)) >= 30 then
        return null;
    end if;
    if link.hash <> p_hash then
        update invite set guesses = guesses || jsonb_build_object(own_id, own_guesses + 1) where hash = link.hash;
        return null;
    end if;
    update invite set used_by = own_id::bigint, used_at = now() where hash = link.hash;
    perform relay.put_person(p_person || '{"role": "admin"}');
    return '{"became": "admin"}';
end $$;

-- Opens an invitation: the person becomes a user, and the link is used up. An invitation older than a refusal doesn't
-- overrule it.
create or replace function relay.accept_invite(p_person jsonb, p_hash text, p_refused_at timestamptz) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    link invite;
begin
    update invite set used_by = (p_person ->> 'user_id')::bigint, used_at = now()
    where hash = p_hash and role = 'user' and used_by is null and expires_at > now()
        and (p_refused_at is null or created_at > p_refused_at)
    returning * into link;
    if link.hash is null then
        return null;
    end if;
    perform relay.put_person(p_person || jsonb_build_object(
        'role', 'user', 'decided_by', link.made_by, 'decided_by_name', link.made_by_name));
    return jsonb_build_object('became', 'user', 'invited', true, 'by', link.made_by, 'by_name', link.made_by_name,
        'for_whom', link.for_whom);
end $$;

-- Handles Start. p_start: {hash (of the link's content, or null), name, username, owned (the settings name an admin),
-- pairing}. Returns what changed, as the turn that announces it needs it ({became, …}); null if nothing did. The caller
-- holds the lock.
create or replace function relay.press_start(
    p_bot_id bigint, p_update_id bigint, p_user_id bigint, p_known boolean, p_start jsonb)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own person;
    came constant jsonb := jsonb_build_object('user_id', p_user_id, 'bot_id', p_bot_id, 'name', p_start ->> 'name',
        'username', p_start ->> 'username');
    became jsonb;
begin
    if exists (select from inbox where bot_id = p_bot_id and update_id = p_update_id) then
        return null;  -- the same update once more
    end if;
    if not (p_start ->> 'owned')::boolean and not exists (select from person where role = 'admin') then
        return case when p_start ->> 'hash' is not null then relay.claim_bot(came, p_start ->> 'hash') end;
    end if;
    select * into own from person where user_id = p_user_id;
    if p_known or own.role in ('admin', 'user', 'blocked') then
        return null;
    end if;
    became := relay.accept_invite(came, p_start ->> 'hash', case own.role when 'refused' then own.decided_at end);
    if became is null and own.user_id is null and relay.may_ask(p_start) then
        perform relay.put_person(came || '{"role": "asking"}');
        became := '{"became": "asking"}';
    end if;
    return became;
end $$;

-- Returns groups in which a person spoke lately, the ones with the latest message first.
create or replace function relay.groups_of(p_user_id bigint, p_most integer)
returns table (id bigint, chat_id bigint, last_at timestamptz)
language sql stable rows 10 set search_path = relay, extensions, pg_temp as $$
    select s.id, s.chat_id, last.last_at from space s
    join lateral (select max(last_at) as last_at from thread where space_id = s.id) last on last.last_at is not null
    where s.kind = 'group' and p_user_id in (
        select user_id from turn where space_id = s.id order by created_at desc limit 5000)
    order by last.last_at desc limit p_most
$$;

-- Lists them in that order: [{space_id, chat_id, name}].
create or replace function public.relay_groups_of(p_user_id bigint, p_most integer) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_agg(jsonb_build_object('space_id', id, 'chat_id', chat_id, 'name', coalesce((
            select name from topic where chat_id = g.chat_id and topic_id = 0 order by bot_id limit 1), ''))
        order by last_at desc), '[]')
    from relay.groups_of(p_user_id, p_most) g
$$;

-- Tests whether a stranger may ask for access: at most three requests are open at once.
create or replace function relay.may_ask(p_start jsonb) returns boolean
language sql stable set search_path = relay, extensions, pg_temp as $$
    select (p_start ->> 'pairing')::boolean and (select count(*) from person where role = 'asking') < 3
$$;

-- Handles a stranger who addresses the bot in a group where known people use it and it is on: this asks for access.
-- Returns the update that announces the request, without their words. p_start: as for press_start, with the group's
-- title, where, and the reduced message. Null: nothing happens.
create or replace function relay.knock(p_bot_id bigint, p_update jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    start constant jsonb := p_update -> 'knock';
    sender constant bigint := (p_update ->> 'user_id')::bigint;
    place constant bigint := (p_update ->> 'chat_id')::bigint;
begin
    if not relay.may_ask(start)
        or not ((start ->> 'owned')::boolean or exists (select from person where role = 'admin'))
        or exists (select from person where user_id = sender)
        or exists (select from inbox where bot_id = p_bot_id and update_id = (p_update ->> 'update_id')::bigint)
        or not exists (select from lane where bot_id = p_bot_id and chat_id = place)
        or relay.answers_in(place, (p_update ->> 'topic_id')::bigint) = 'off' then
        return null;
    end if;
    perform relay.put_person(jsonb_build_object('user_id', sender, 'bot_id', p_bot_id, 'name', start ->> 'name',
        'username', start ->> 'username', 'role', 'asking'));
    return p_update - 'redacted' - 'said' || jsonb_build_object('kind', 'control', 'mergeable', false, 'hold', 0,
        'payload', jsonb_build_object('update_id', p_update -> 'update_id', 'message', start -> 'message',
            'person', jsonb_build_object('became', 'asking', 'group', start -> 'group')));
end $$;

-- Returns the name of a message's sender as name_of does in Python: without invisible characters, on one line.
create or replace function relay.name_of(p_sender jsonb) returns text
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select left(coalesce(
        nullif(btrim(regexp_replace(regexp_replace(concat_ws(' ', p_sender ->> 'first_name', p_sender ->> 'last_name'),
            '[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164'
            '\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]', '', 'g'), '\s+', ' ', 'g')), ''),
        nullif(p_sender ->> 'username', ''), 'somebody'), 64)
$$;

-- Tests whether a person who may use the bot has another name or username by now than the database knows.
create or replace function relay.is_renamed(p_user_id bigint, p_sender jsonb) returns boolean
language sql stable set search_path = relay, extensions, pg_temp as $$
    select exists (
        select from person
        where user_id = p_user_id and (p_sender ->> 'id')::bigint = p_user_id and role in ('admin', 'user')
            and (name, username) is distinct from (relay.name_of(p_sender), nullif(p_sender ->> 'username', '')))
$$;

-- Stores a person's present name and username, which nobody else has any more. The caller holds the lock.
create or replace function relay.rename(p_user_id bigint, p_sender jsonb) returns void
language sql set search_path = relay, extensions, pg_temp as $$
    update person set username = null where user_id <> p_user_id and lower(username) = lower(p_sender ->> 'username');
    update person set name = relay.name_of(p_sender), username = nullif(p_sender ->> 'username', '')
    where user_id = p_user_id;
$$;

-- Tests whether updates can change what is known of people: Start, a stranger in a group, or a new name.
create or replace function relay.may_change_people(p_updates jsonb) returns boolean
language sql stable set search_path = relay, extensions, pg_temp as $$
    select p_updates @? '$[*].start' or exists (
        select from jsonb_array_elements(p_updates) as one
        where relay.is_renamed((one ->> 'user_id')::bigint, one #> '{payload,message,from}')
            or one ? 'knock' and not exists (select from person where user_id = (one ->> 'user_id')::bigint))
$$;

-- Reduces an update to what intake may store. It stays whole if the settings (known) or the database admit its sender,
-- or if Start or a request in a group changes something; of others only the number stays.
create or replace function relay.let_through(p_bot_id bigint, p_update jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    known constant boolean := coalesce((p_update ->> 'known')::boolean, false);
    sender constant bigint := (p_update ->> 'user_id')::bigint;
    became jsonb;
    knocked jsonb;
begin
    if p_update ? 'start' then
        became := relay.press_start(p_bot_id, (p_update ->> 'update_id')::bigint, sender, known, p_update -> 'start');
    end if;
    if became is not null then
        return jsonb_set(p_update, '{payload,person}', became);
    elsif known or exists (select from person where user_id = sender and role in ('admin', 'user')) then
        if relay.is_renamed(sender, p_update #> '{payload,message,from}') then
            perform relay.rename(sender, p_update #> '{payload,message,from}');
        end if;
        return p_update;
    elsif p_update ? 'knock' then
        knocked := relay.knock(p_bot_id, p_update);
    end if;
    return coalesce(knocked, jsonb_build_object('update_id', p_update -> 'update_id', 'kind', 'ignored'));
end $$;

-- Queues a turn that tells a person their new role, for any process of their bot.
create or replace function relay.tell_person(p_person relay.person, p_change jsonb) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    lane_of constant bigint := relay.ensure_lane(p_person.bot_id, p_person.user_id, 0);
    made bigint;
begin
    insert into turn (kind, bot_id, lane_id, user_id) values ('control', p_person.bot_id, lane_of, p_person.user_id)
    returning id into made;
    -- Telegram's own numbers are positive.
    insert into inbox (bot_id, update_id, lane_id, turn_id, user_id, status, payload)
    values (p_person.bot_id, -made, lane_of, made, p_person.user_id, 'claimed', jsonb_build_object(
        'update_id', -made, 'person', p_change, 'message', jsonb_build_object(
            'chat', jsonb_build_object('id', p_person.user_id, 'type', 'private'),
            'from', jsonb_build_object('id', p_person.user_id, 'first_name', p_person.name))));
end $$;

-- Creates the claim link unless someone runs the bot. Returns whether there is one.
create or replace function public.relay_offer_claim(p_hash text, p_minutes integer) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    perform relay.lock_people();
    delete from invite where role = 'admin' and used_by is null;
    if exists (select from person where role = 'admin') then
        return 'false';
    end if;
    insert into invite (hash, role, expires_at) values (p_hash, 'admin', now() + make_interval(mins => p_minutes));
    return 'true';
end $$;

-- Creates an invitation. Returns when it expires; null if p_most are open. It replaces one of the same turn (null: none),
-- which a killed process made and nobody was given.
create or replace function public.relay_invite(p_hash text, p_for_whom text, p_days integer, p_most integer, p_by bigint,
    p_by_name text, p_turn_id bigint)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    open_until constant timestamptz := now() + make_interval(days => p_days);
begin
    perform relay.lock_people();
    delete from invite where role = 'user' and (expires_at < now() or turn_id = p_turn_id and used_by is null);
    if (select count(*) from invite where role = 'user' and used_by is null) >= p_most then
        return null;
    end if;
    insert into invite (hash, role, made_by, made_by_name, for_whom, expires_at, turn_id)
    values (p_hash, 'user', p_by, p_by_name, p_for_whom, open_until, p_turn_id) on conflict do nothing;
    return to_jsonb(open_until);
end $$;

-- Revokes an open invitation. Returns it; null if it is not open.
create or replace function public.relay_cancel_invite(p_id bigint) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    gone invite;
begin
    perform relay.lock_people();
    delete from invite where id = p_id and role = 'user' and used_by is null returning * into gone;
    return case when gone.id is not null then to_jsonb(gone) - 'hash' - 'guesses' end;
end $$;

-- Returns everyone the database knows, and open invitations. For people without access: the newest p_most and the
-- total.
create or replace function public.relay_everybody(p_most integer) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object(
        'people', coalesce((
            select jsonb_agg(to_jsonb(p) order by p.decided_at, p.asked_at, p.user_id)
            from person p where role in ('admin', 'user', 'asking')), '[]'),
        'out', coalesce((
            select jsonb_agg(to_jsonb(p) order by p.decided_at desc) from (
                select * from person where role in ('refused', 'blocked') order by decided_at desc limit p_most) p), '[]'),
        'out_count', (select count(*) from person where role in ('refused', 'blocked')),
        'invites', coalesce((
            select jsonb_agg(to_jsonb(i) - 'hash' - 'guesses' order by i.expires_at)
            from invite i where role = 'user' and used_by is null and expires_at > now()), '[]'))
$$;

-- Finds a person by id or (p_user_id null) @name; null if unknown.
create or replace function public.relay_person(p_user_id bigint, p_username text) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select to_jsonb(p) from person p
    where user_id = p_user_id or (p_user_id is null and lower(username) = lower(p_username))
    order by role in ('admin', 'user') desc, decided_at desc limit 1
$$;

-- Applies an admin's decision about a person who has one of p_roles; the first decision counts. Returns the person,
-- with changed; null if unknown.
create or replace function public.relay_decide(
    p_user_id bigint, p_roles jsonb, p_role text, p_by bigint, p_by_name text)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own person;
    changed boolean;
begin
    perform relay.lock_people();
    update person set role = p_role, decided_by = p_by, decided_by_name = p_by_name, decided_at = now(),
        let_in = let_in or p_role = 'user'
    where user_id = p_user_id and p_roles ? role
    returning * into own;
    changed := own.user_id is not null;
    if changed and p_role = 'user' then
        perform relay.tell_person(own, jsonb_build_object('became', 'user', 'by', p_by, 'by_name', p_by_name));
    elsif not changed then
        select * into own from person where user_id = p_user_id;
    end if;
    return case when own.user_id is not null then to_jsonb(own) || jsonb_build_object('changed', changed) end;
end $$;

-- Revokes a person's access, their invitations and loans, and stops replies to them. Not for the last admin: p_owned says
-- whether the settings name one. Returns done, last or unknown.
create or replace function public.relay_revoke(p_user_id bigint, p_owned boolean, p_by bigint, p_by_name text)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own person;
begin
    perform relay.lock_people();
    select * into own from person where user_id = p_user_id and role in ('admin', 'user');
    if own.user_id is null then
        return '"unknown"';
    elsif own.role = 'admin' and not p_owned
        and not exists (select from person where role = 'admin' and user_id <> p_user_id) then
        return '"last"';
    end if;
    update person set role = 'refused', decided_by = p_by, decided_by_name = p_by_name, decided_at = now()
    where user_id = p_user_id;
    delete from invite where made_by = p_user_id and used_by is null;
    delete from link where owner_id = p_user_id;
    update turn set stop_asked = true
    where user_id = p_user_id and kind = 'message' and status in ('working', 'answered') and lease_owner is not null;
    perform relay.tell_person(own, '{"became": "refused"}');
    return '"done"';
end $$;

-- Returns a person's name: from the database, else as of their last private message.
create or replace function public.relay_name_of(p_user_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select to_jsonb(coalesce(
        (select name from person where user_id = p_user_id),
        (select said.name from space s
            join thread t on t.space_id = s.id and t.chat_id = p_user_id
            cross join lateral (
                select m.id, m.name from message m
                where m.thread_id = t.id and m.role = 'user' and m.user_id = p_user_id order by m.id desc limit 1) said
        where s.owner_id = p_user_id and s.kind = 'private' order by said.id desc limit 1)))
$$;
