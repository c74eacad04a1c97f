-- Markers: passages that a person wants kept, and which of them survive a compression.

-- Returns the level of a compression ratio.
create or replace function relay.compression_level(p_ratio numeric) returns text
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select case when p_ratio <= 5 then 'light' when p_ratio <= 15 then 'moderate' else 'aggressive' end
$$;

-- Returns the least weight that survives: the level's base + ratio / 100 × distance / the longest distance.
-- p_decay: the space's settings for it.
create or replace function relay.keepit_threshold(
    p_level text, p_ratio numeric, p_distance integer,
    p_decay jsonb default relay.context_defaults() -> 'keepitDecay')
returns numeric language sql immutable set search_path = relay, extensions, pg_temp as $$
    select (p_decay -> 'compressionBase' ->> case p_level when 'minimal' then 'light' else p_level end)::numeric
        + p_ratio / 100 * least(greatest(p_distance, 1), most) / most
    from (select (p_decay ->> 'maxSessionDistance')::numeric as most) own
$$;

-- Tests whether a marker of a weight survives a threshold.
create or replace function relay.keepit_survives(
    p_weight numeric, p_threshold numeric, p_decay jsonb default relay.context_defaults() -> 'keepitDecay')
returns boolean language sql immutable set search_path = relay, extensions, pg_temp as $$
    select p_weight >= (p_decay ->> 'pinnedWeight')::numeric or p_weight >= p_threshold
$$;

-- Removes the syntax of markers from a text, as relay/memory/contexts/markers.py does; the passages stay.
create or replace function relay.without_markers(p_text text) returns text
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select case when strpos(p_text, '##') = 0 then p_text
        else regexp_replace(p_text, '##keepit[0-9]+\.[0-9]{2}##[ \t]?|[ \t]?##/keepit##', '', 'gi') end
$$;

-- Returns a message's text as models, the index and searches read it.
create or replace function relay.plain_text(p_message relay.message) returns text
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select case p_message.role when 'user' then relay.without_markers(p_message.text) else p_message.text end
$$;

-- Sets the markers in a message's own text: [{weight, content, block, start, end, context}], in order. One with the same
-- content keeps its id, and its weight unless the text now has another; one that a person removed stays removed. Does
-- nothing off the record.
create or replace function relay.read_markers(p_message_id bigint, p_markers jsonb) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own message;
begin
    select m.* into own from message m join session s on s.id = m.session_id and not s.private
    where m.id = p_message_id;
    if own.id is null then
        return;
    end if;
    with said as (
        select one ->> 'content' as content, (one ->> 'weight')::numeric as weight, (one ->> 'block')::smallint as block,
            (one ->> 'start')::integer as start_at, (one ->> 'end')::integer as end_at, one ->> 'context' as context,
            place, row_number() over (partition by one ->> 'content' order by place) as nth
        from jsonb_array_elements(p_markers) with ordinality as given (one, place)),
    known as (
        select id, content, row_number() over (partition by content order by block, start_at, id) as nth
        from keepit where message_id = own.id and typed is not null),
    moved as (
        update keepit k
        set block = s.block, start_at = s.start_at, end_at = s.end_at, context = s.context, typed = s.weight,
            weight = case when k.typed = s.weight then k.weight else s.weight end,
            updated_at = case when k.typed = s.weight then k.updated_at else now() end
        from known n join said s using (content, nth)
        where k.id = n.id),
    gone as (
        update keepit set removed_at = coalesce(removed_at, now()), typed = null
        where id in (select id from known n
            where not exists (select from said s where s.content = n.content and s.nth = n.nth)))
    insert into keepit (space_id, thread_id, session_id, message_id, seq, weight, content, typed, block, start_at, end_at,
        context, origin, user_id)
    select own.space_id, own.thread_id, own.session_id, own.id, relay.last_keepit(own.id) + row_number() over (order by place),
        weight, content, weight, block, start_at, end_at, context, 'text', own.user_id
    from said s
    where not exists (select from known n where n.content = s.content and n.nth = s.nth);
    if p_markers <> '[]' then
        perform relay.register_sessions(array[own.session_id]);
    end if;
end $$;

-- Finds the markers in a person's own words, as relay/memory/contexts/markers.py does: for messages that were stored
-- without, such as imported ones. Reads each text once, however many signs it has.
create or replace function relay.markers_in(p_blocks jsonb) returns jsonb
language sql immutable set search_path = relay, extensions, pg_temp as $$
    with own as (
        select block ->> 'text' as text, (place - 1)::smallint as place
        from jsonb_array_elements(p_blocks) with ordinality as one (block, place)
        where block ->> 'type' = 'text' and coalesce(block ->> 'untrusted', '') in ('', 'false')),
    piece as (  -- each sign with the text up to the next one
        select own.place, t.sign[1] as sign, lead(t.before) over one_by_one as said,
            (sum(length(t.before)) over one_by_one + sum(length(t.sign[1])) over one_by_one
                - length(t.sign[1]))::integer as begins
        from own, lateral (select '##keepit(?:[0-9]+\.[0-9]{2}##)?|##/keepit##' as signs) either, rows from (
            regexp_split_to_table(own.text, signs, 'i'), regexp_matches(own.text, signs, 'gi')
        ) with ordinality as t (before, sign, nr)
        window one_by_one as (partition by own.place order by t.nr)),
    marker as (
        select *, regexp_replace(said, '^[\s\u001C-\u001F]+|[\s\u001C-\u001F]+$', '', 'g') as content from piece where sign ~ '[0-9]##$'
        and regexp_replace(said, '[\s\u001C-\u001F\u00AD\u200B-\u200F\u202A-\u202E\u2060-\u206F\uFE00-\uFE0F\uFEFF]', '', 'g') <> ''
        order by place, begins limit 200)
    select coalesce(jsonb_agg(jsonb_build_object('content', content, 'block', place, 'start', begins,
        'end', begins + length(sign || said),
        'weight', case when length(sign) > 99 then 1 else least(btrim(sign, '#kepitKEPIT')::numeric, 1) end,
        'context', relay.marker_context(text, begins + 1, begins + length(sign || said) + 1)) order by place, begins), '[]')
    from marker join own using (place)
$$;

-- Returns the 50 characters on both sides of a passage that begins at one character and ends before another.
create or replace function relay.marker_context(p_text text, p_begins integer, p_ends integer) returns text
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select btrim(regexp_replace(relay.without_markers(substr(p_text, greatest(p_begins - 50, 1), least(p_begins - 1, 50)))
        || ' … ' || relay.without_markers(substr(p_text, p_ends, 50)), '\s+', ' ', 'g'), ' …')
$$;

-- Sets the markers in the messages of a session that were never searched for them.
create or replace function relay.scan_markers(p_session_id bigint) returns void
language sql set search_path = relay, extensions, pg_temp as $$
    select relay.read_markers(m.id, own.markers)
    from relay.session_messages(p_session_id) m cross join lateral relay.markers_in(m.blocks) as own (markers)
    where m.role = 'user' and m.user_id is not null and strpos(lower(m.text), '##keepit') > 0 and own.markers <> '[]'
        and not exists (select from keepit k where k.message_id = m.id and k.block >= 0) order by m.id
$$;

-- Returns the highest place of a message's markers, removed ones included.
create or replace function relay.last_keepit(p_message_id bigint) returns integer
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(max(seq), 0) from keepit where message_id = p_message_id
$$;

-- Sets the markers of an edited message again, unless its wording has changed since. The line under its answer follows.
create or replace function public.relay_read_keepits(
    p_message_id bigint, p_wording bigint, p_user_id bigint, p_markers jsonb)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    perform from message where id = p_message_id and user_id = p_user_id for no key update;
    if not found or relay.wordings(p_message_id) <> p_wording then
        return 'false';
    end if;
    perform relay.read_markers(p_message_id, p_markers);
    perform relay.owe_correction(t.id) from message m join turn t on t.id = m.turn_id and t.told ? 'kept'
    where m.id = p_message_id;
    return 'true';
end $$;

-- Returns the weights of the markers in a turn's own message: {kept: ["0.80"]}; {} if it has none or is answered again.
create or replace function relay.kept_by(p_turn relay.turn) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce((
        select jsonb_build_object('kept', jsonb_agg(k.weight::text order by k.seq))
        from keepit k join message m on m.id = k.message_id
        where k.message_id = p_turn.user_message_id and k.typed is not null and k.removed_at is null
            and m.turn_id = p_turn.id
        having count(*) > 0), '{}')
$$;

-- Removes the markers in a turn's message, or restores them. Returns how many changed.
create or replace function public.relay_undo_keepits(p_turn_id bigint, p_user_id bigint, p_removed boolean) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    select relay.owe_correction(id) from turn where id = p_turn_id and user_id = p_user_id;
    with changed as (
        update keepit k set removed_at = case when p_removed then now() end, updated_at = now()
        from turn t
        where t.id = p_turn_id and t.user_id = p_user_id and k.message_id = t.user_message_id and k.typed is not null
            and (k.removed_at is null) = p_removed returning 1)
    select to_jsonb(count(*)) from changed
$$;

-- Returns a marker with where it is and which versions kept it (survived) or did not (summarized), by name.
create or replace function relay.keepit_json(p_keepit relay.keepit) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select to_jsonb(p_keepit) || jsonb_build_object('weight', p_keepit.weight::text, 'start', p_keepit.start_at,
        'end', p_keepit.end_at, 'role', m.role, 'name', m.name, 'title', s.title, 'at', m.created_at,
        'removed', p_keepit.removed_at is not null, 'survived', fate.survived, 'summarized', fate.summarized)
    from message m join session s on s.id = m.session_id, (
        select coalesce(array_agg(c.name order by c.id) filter (where ck.survived), '{}') as survived,
            coalesce(array_agg(c.name order by c.id) filter (where not ck.survived), '{}') as summarized
        from compression_keepit ck join compression c on c.id = ck.compression_id and c.status = 'ready'
        where ck.keepit_id = p_keepit.id) fate
    where m.id = p_keepit.message_id
$$;

-- Returns a page of a session's markers, or of a thread's (p_session_id null), by weight: {total, keepits}.
create or replace function public.relay_keepits(
    p_space jsonb, p_session_id bigint, p_offset integer, p_limit integer, p_chat_id bigint default null,
    p_topic_id bigint default null)
returns jsonb language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    own bigint := relay.find_space(p_space);
    place bigint := (relay.find_thread(p_space, p_chat_id, p_topic_id)).id;
    total bigint;
    hidden bigint[];
    ids bigint[];
begin
    -- A marker of an answer that another one replaced keeps nothing.
    if p_session_id is not null then
        ids := array(select k.id from keepit k join message m on m.id = k.message_id and m.status <> 'replaced'
            where k.session_id = p_session_id and k.space_id = own and k.removed_at is null order by k.weight desc, k.id);
        total := cardinality(ids);
        ids := ids[p_offset + 1 : p_offset + p_limit];
    else
        -- A thread has many markers and few of replaced answers: these are found instead of a message for each marker.
        hidden := array(select k.id from message m join keepit k on k.message_id = m.id
            where m.thread_id = place and m.status = 'replaced' and k.removed_at is null);
        total := (select count(*) from keepit where thread_id = place and removed_at is null) - cardinality(hidden);
        ids := array(select id from keepit where thread_id = place and removed_at is null and id <> all (hidden)
            order by weight desc, id offset p_offset limit p_limit);
    end if;
    return jsonb_build_object('total', total, 'keepits', coalesce((
        select jsonb_agg(relay.keepit_json(k) order by k.weight desc, k.id) from keepit k where k.id = any (ids)), '[]'));
end $$;

-- Returns a marker of a space and whether it would survive: {keepit, decay: [{level, ratio, distance, threshold,
-- survives}]}; null if there is none.
create or replace function public.relay_keepit(p_space jsonb, p_keepit_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('keepit', relay.keepit_json(k), 'decay', (
        select jsonb_agg(jsonb_build_object('level', l.level, 'ratio', l.ratio, 'distance', d.distance,
            'threshold', round(least(cut.threshold, 1), 3)::text,
            'survives', relay.keepit_survives(k.weight, cut.threshold, own.decay)) order by l.ratio, d.distance)
        from (values ('light', 5), ('moderate', 15), ('aggressive', 30)) as l (level, ratio),
            (values (1), (5), (10)) as d (distance),
            lateral (select relay.keepit_threshold(l.level, l.ratio, d.distance, own.decay) as threshold) cut))
    from keepit k, lateral (select relay.context_settings(k.space_id) -> 'keepitDecay' as decay) own
    where k.id = p_keepit_id and k.space_id = relay.find_space(p_space)
$$;

-- Returns the message that a person means to mark: p_keep {message_id}, {bot_id, telegram_message_id}, or with only a
-- text the newest one of the running conversation that says it.
create or replace function relay.message_to_keep(p_space jsonb, p_chat_id bigint, p_topic_id bigint, p_keep jsonb)
returns relay.message language sql stable set search_path = relay, extensions, pg_temp as $$
    select m.* from message m
    where m.space_id = relay.find_space(p_space) and m.status <> 'replaced'
        and m.session_id = coalesce((p_keep ->> 'session_id')::bigint, m.session_id) and m.id = case
        when p_keep ->> 'message_id' is not null then (p_keep ->> 'message_id')::bigint
        when p_keep ->> 'telegram_message_id' is not null then (
            select message_id from posted
            where bot_id = (p_keep ->> 'bot_id')::bigint and chat_id = p_chat_id
                and telegram_message_id = (p_keep ->> 'telegram_message_id')::bigint)
        else (
            select n.id from (
                select recent.id, relay.plain_text(recent) as text
                from message recent, relay.find_thread(p_space, p_chat_id, p_topic_id) own
                where recent.thread_id = own.id and recent.id >= own.context_from and recent.status <> 'replaced'
                order by recent.id desc limit 1000) n
            where strpos(lower(n.text), lower(p_keep ->> 'text')) > 0 order by n.id desc limit 1) end
$$;

-- Marks a passage of a message (p_keep: see message_to_keep; text: the passage, empty for all; quoted: Telegram quoted
-- it; weight, origin) or gives a marker with the same content this weight: {keepit, before: its former weight; null: it is
-- new}. Without a weight it is only remembered with the turn, and p_keep {draft, weight} marks it: {draft, keepit: null}.
-- p_may: this person may mark what others wrote. {refused}: private, missing, absent (the message does not say it), other
-- (someone else's), empty.
create or replace function public.relay_keep_it(
    p_turn_id bigint, p_fence bigint, p_space jsonb, p_chat_id bigint, p_topic_id bigint, p_user_id bigint,
    p_may boolean, p_keep jsonb) returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    held turn := relay.hold(p_turn_id, p_fence);
    own message;
    made keepit;
    passage text;
    place integer;
    before numeric;
begin
    if p_keep ? 'draft' then
        p_keep := coalesce((select prompt -> 'keepit' from turn
            where id = (p_keep ->> 'draft')::bigint and user_id = p_user_id and prompt ? 'keepit'), '{}') || p_keep;
    end if;
    own := relay.message_to_keep(p_space, p_chat_id, p_topic_id, p_keep);
    if own.id is null and relay.off_record(p_chat_id, p_topic_id) is not null
        or exists (select from session where id = own.session_id and private)
    then
        return '{"refused": "private"}';
    elsif own.id is null then
        return '{"refused": "missing"}';
    elsif own.role = 'user' and own.user_id is distinct from p_user_id and not p_may then
        return '{"refused": "other"}';
    end if;
    passage := coalesce(p_keep ->> 'text', '');
    place := case when passage = '' then 1 else strpos(lower(own.text), lower(passage)) end;
    if place = 0 and strpos(lower(relay.plain_text(own)), lower(passage)) = 0
        and strpos(lower(regexp_replace(own.text, ' \(https?://[^ ]+\)', '', 'g')), lower(passage)) = 0
        and not coalesce((p_keep ->> 'quoted')::boolean, false)
    then
        return '{"refused": "absent"}';
    end if;
    -- A quote is what Telegram shows, without Markdown, and may span a marker or a link's address: its exact place is
    -- then unknown.
    passage := case when passage = '' then own.text when place = 0 then passage
        else substr(own.text, place, length(passage)) end;
    passage := btrim(relay.without_markers(passage), E' \n\t');
    if passage = '' then
        return '{"refused": "empty"}';
    elsif p_keep ->> 'weight' is null then
        update turn set prompt = jsonb_build_object('keepit', p_keep || jsonb_build_object('message_id', own.id))
        where id = held.id;
        return jsonb_build_object('draft', held.id, 'passage', passage);
    end if;
    perform from message where id = own.id for no key update;
    before := (select weight from keepit
        where message_id = own.id and content = passage and removed_at is null order by id limit 1);
    update keepit set weight = (p_keep ->> 'weight')::numeric, updated_at = now()
    where message_id = own.id and content = passage and removed_at is null returning * into made;
    if made.id is null then
        insert into keepit (space_id, thread_id, session_id, message_id, seq, weight, content, block, start_at, end_at,
            context, origin, user_id)
        select own.space_id, own.thread_id, own.session_id, own.id, relay.last_keepit(own.id) + 1,
            (p_keep ->> 'weight')::numeric, passage, -1, begins, ends,
            relay.marker_context(own.text, begins + 1, ends + 1), p_keep ->> 'origin', p_user_id
        from (select greatest(place - 1, 0) as begins, case when place = 0 or coalesce(p_keep ->> 'text', '') = ''
            then length(own.text) else place - 1 + length(p_keep ->> 'text') end as ends) span returning * into made;
    end if;
    perform relay.register_sessions(array[own.session_id]);
    return jsonb_build_object('keepit', relay.keepit_json(made), 'before', before::text);
end $$;

-- Changes a marker's weight, not its message. p_may: this person may change those of others. Returns {keepit, before:
-- its former weight}; {refused: "other"}; null if there is none.
create or replace function public.relay_weigh_keepit(
    p_space jsonb, p_keepit_id bigint, p_weight numeric, p_user_id bigint, p_may boolean)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own keepit;
    before numeric;
begin
    select * into own from keepit
    where id = p_keepit_id and space_id = relay.find_space(p_space) and removed_at is null for update;
    if own.id is null then
        return null;
    elsif own.user_id <> p_user_id and not p_may then
        return '{"refused": "other"}';
    end if;
    before := own.weight;
    update keepit set weight = p_weight, updated_at = now() where id = own.id returning * into own;
    return jsonb_build_object('keepit', relay.keepit_json(own), 'before', before::text);
end $$;

-- Removes a marker, or brings it back (p_removed false). Returns {keepit}; {refused: "other"}; null if there is none.
create or replace function public.relay_remove_keepit(
    p_space jsonb, p_keepit_id bigint, p_removed boolean, p_user_id bigint, p_may boolean)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own keepit;
begin
    select * into own from keepit where id = p_keepit_id and space_id = relay.find_space(p_space) for update;
    if own.id is null then
        return null;
    elsif own.user_id <> p_user_id and not p_may then
        return '{"refused": "other"}';
    end if;
    update keepit set removed_at = case when p_removed then now() end, updated_at = now()
    where id = own.id and (removed_at is null) = p_removed;
    select * into own from keepit where id = own.id;
    return jsonb_build_object('keepit', relay.keepit_json(own));
end $$;

-- Returns the markers shown under a conversation's running summary, most important first: [{id, message_id, weight,
-- content, tainted}]. The conversation counts as compressed to about 800 tokens, at distance 1. p_tokens: its length.
create or replace function relay.summary_markers(
    p_thread_id bigint, p_from bigint, p_through bigint, p_tokens bigint)
returns jsonb language sql stable set search_path = relay, extensions, pg_temp as $$
    with own as materialized (
        select least(greatest(ceil(p_tokens / 800.0), 2), 100) as ratio, settings -> 'keepitDecay' as decay,
            (settings #>> '{defaults,keepitDecayEnabled}')::boolean as decays
        from thread t, relay.context_settings(t.space_id) settings where t.id = p_thread_id)
    select coalesce(jsonb_agg(jsonb_build_object('id', k.id, 'message_id', k.message_id, 'weight', k.weight::text,
            'content', k.content, 'tainted', m.untrusted or m.tainted) order by k.weight desc, k.message_id, k.seq), '[]')
    from own, keepit k join message m on m.id = k.message_id and m.status <> 'replaced'
    where k.thread_id = p_thread_id and k.removed_at is null and k.message_id between p_from and p_through
        and (not own.decays or relay.keepit_survives(k.weight,
            relay.keepit_threshold(relay.compression_level(own.ratio), own.ratio, 1, own.decay), own.decay))
$$;

-- Returns the first message of the conversation that a summary belongs to: where the first summary before it begins.
create or replace function relay.summary_began(p_summary_id bigint) returns bigint
language sql stable set search_path = relay, extensions, pg_temp as $$
    with recursive chain as (
        select previous_id, from_message_id from summary where id = p_summary_id
        union all
        select s.previous_id, s.from_message_id from chain c join summary s on s.id = c.previous_id)
    select min(from_message_id) from chain
$$;
