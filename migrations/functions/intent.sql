-- Standing intents: what the model is reminded of when a person mentions something.

-- Returns a text as intents search it: its words (A), and their stems in the language that its common words suggest,
-- English (B) or German (C).
create or replace function relay.mentioned_words(p_text text) returns tsvector
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select setweight(to_tsvector('simple', p_text), 'A') || case
        when count(*) filter (where ts_lexize('german_stem', word) = '{}')
            > count(*) filter (where ts_lexize('english_stem', word) = '{}')
        then setweight(to_tsvector('german', p_text), 'C') else setweight(to_tsvector('english', p_text), 'B') end
    from unnest(tsvector_to_array(to_tsvector('simple', p_text))) as word
$$;

-- Returns the words of an intent as a search for all of them in relay.mentioned_words, unchanged or inflected. From six
-- letters on, and in other scripts, each may also begin a longer word; a shorter one begins too many others (car,
-- carpet). Words such as `the` count only if there are no others. Null: none.
create or replace function relay.intent_query(p_about text) returns tsquery
language sql immutable set search_path = relay, extensions, pg_temp as $$
    with said as (
        select word, ts_lexize('english_stem', word) as english, ts_lexize('german_stem', word) as german
        from unnest(tsvector_to_array(to_tsvector('simple', p_about))) as word),
    told as (select *, english = '{}' or german = '{}' as common from said)
    select to_tsquery('simple', nullif(string_agg(format('(%L:%sA | %L:A | %L:B | %L:C)', word,
        case when word ~ '^.{6}|[^\x01-\u024f]' then '*' end, word || 's',
        coalesce(english[1], word), coalesce(german[1], word)), ' & '), ''))
    from told where not common or not exists (select from told where not common)
$$;

-- Tests whether two turns answer the same message: one of them again.
create or replace function relay.same_message(p_one bigint, p_other bigint) returns boolean
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(p_one = p_other, false) or exists (
        select from turn a join turn b using (user_message_id) where a.id = p_one and b.id = p_other)
$$;

-- Tests whether an intent may apply in a turn: it doesn't rest, and wasn't shown too often. One that was shown with this
-- turn's message still applies to it.
create or replace function relay.intent_open(p_intent relay.standing_intent, p_turn_id bigint) returns boolean
language sql stable set search_path = relay, extensions, pg_temp as $$
    select p_intent.status = 'active' and p_intent.expires_at > now() and coalesce(relay.same_message(p_intent.used_turn, p_turn_id)
        or p_intent.used < p_intent.most and (p_intent.used_at is null
            or p_intent.used_at < now() - make_interval(hours => p_intent.cooldown_hours)), false)
$$;

-- Returns a person's intents that may apply in a turn, newest first: [{id, about, text, last: it ends with this turn}].
create or replace function relay.open_intents_for(p_space_id bigint, p_user_id bigint, p_turn_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_agg(jsonb_build_object('id', i.id, 'about', i.about, 'text', i.text, 'last',
        i.used + (not relay.same_message(i.used_turn, p_turn_id))::integer >= i.most) order by i.id desc), '[]')
    from standing_intent i
    where i.space_id = p_space_id and i.user_id = p_user_id and i.status = 'active' and relay.intent_open(i, p_turn_id)
$$;

-- Counts that a turn shows intents, which it was given as open; once for each message.
create or replace function public.relay_use_intents(p_turn_id bigint, p_intent_ids jsonb) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    update standing_intent i set used = used + (not relay.same_message(used_turn, p_turn_id))::integer,
        used_at = now(), used_turn = p_turn_id
    from turn t
    where t.id = p_turn_id and i.space_id = t.space_id
        and i.id in (select value::bigint from jsonb_array_elements_text(p_intent_ids));
    select 'true'::jsonb
$$;

-- Returns what a person asked to be reminded of when they say this: [{id, about, text, last}]. One that was shown rests for
-- its cooldown, and ends after it was shown so often; the same message shows it again.
create or replace function relay.intents_for(p_space_id bigint, p_user_id bigint, p_text text, p_turn_id bigint)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    said tsvector;
    hits jsonb;
begin
    if not exists (select from standing_intent where space_id = p_space_id and user_id = p_user_id and status = 'active') then
        return '[]';
    end if;
    said := relay.mentioned_words(left(p_text, 20000));
    with due as (
        update standing_intent i set used = used + (not relay.same_message(used_turn, p_turn_id))::integer,
            used_at = now(), used_turn = p_turn_id
        where space_id = p_space_id and user_id = p_user_id and relay.intent_open(i, p_turn_id)
            and said @@ relay.intent_query(about)
        returning id, about, text, used >= most as last)
    select jsonb_agg(to_jsonb(due) order by id) into hits from due;
    return coalesce(hits, '[]');
end $$;

-- Makes an intent: {space, chat_id, topic_id, user_id, about, text, turn_id, proposed, most_open, mention_hours: its
-- cooldown, mention_times, mention_days}. Returns it, or {refused}: many, private, or words (about has none).
create or replace function public.relay_make_intent(p_intent jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own constant bigint := relay.ensure_space(p_intent -> 'space');
    place thread;
    source constant bigint := (select user_message_id from turn where id = (p_intent ->> 'turn_id')::bigint);
    made standing_intent;
begin
    perform pg_advisory_xact_lock(hashtextextended('relay_intent', (p_intent ->> 'user_id')::bigint));
    select * into place from thread
    where chat_id = (p_intent ->> 'chat_id')::bigint and topic_id = (p_intent ->> 'topic_id')::bigint and space_id = own;
    if relay.intent_query(p_intent ->> 'about') is null then
        return '{"refused": "words"}';
    elsif exists (select from session where id = place.session_id and private and ended_at is null) then
        return '{"refused": "private"}';
    end if;
    select * into made from standing_intent
    where space_id = own and user_id = (p_intent ->> 'user_id')::bigint and about = p_intent ->> 'about'
        and text = p_intent ->> 'text' and status in ('proposed', 'active');
    if made.id is not null then
        -- Answered again: the new answer set it, too (see relay.withdraw_set).
        update standing_intent set created_at = now()
        where id = made.id and inputs = array['message:' || source];
        return relay.intent_json(made);
    elsif (p_intent ->> 'most_open')::integer <= (
        select count(*) from standing_intent
        where user_id = (p_intent ->> 'user_id')::bigint and status in ('proposed', 'active') and expires_at > now())
    then
        return '{"refused": "many"}';
    end if;
    insert into standing_intent (space_id, thread_id, session_id, user_id, about, text, cooldown_hours, most, expires_at,
        status, inputs, tainted)
    values (own, place.id, place.session_id, (p_intent ->> 'user_id')::bigint, p_intent ->> 'about', p_intent ->> 'text',
        coalesce((p_intent ->> 'mention_hours')::integer, 24), coalesce((p_intent ->> 'mention_times')::integer, 3),
        now() + make_interval(days => coalesce((p_intent ->> 'mention_days')::integer, 90)),
        case when (p_intent ->> 'proposed')::boolean then 'proposed' else 'active' end,
        case when source is null then '{}' else array['message:' || source] end,
        coalesce((p_intent ->> 'proposed')::boolean, false))
    returning * into made;
    return relay.intent_json(made);
end $$;

-- Returns an intent as people and programs see it.
create or replace function relay.intent_json(p_intent relay.standing_intent) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select to_jsonb(p_intent) || jsonb_build_object('status',
        case when p_intent.expires_at < now() or p_intent.used >= p_intent.most then 'ended' else p_intent.status end)
$$;

-- Returns a person's open intents in a space, newest first.
create or replace function public.relay_intents(p_space jsonb, p_user_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_agg(relay.intent_json(i) order by i.id desc), '[]') from standing_intent i
    where space_id = relay.find_space(p_space) and user_id = p_user_id and status in ('proposed', 'active')
        and expires_at > now() and used < most
$$;

-- Sets the status of a person's own intent; one from others' words that is restored needs their OK again. p_turn_id: the
-- answer, which keeps what it was until it is saved (see relay.withdraw_set). Returns it; null if they have no such
-- intent.
create or replace function public.relay_set_intent(
    p_space jsonb, p_user_id bigint, p_intent_id bigint, p_status text, p_turn_id bigint default null) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    update turn set prompt = jsonb_set(coalesce(prompt, '{}'), '{former}', coalesce(prompt -> 'former', '{}')
        || jsonb_build_object('intent ' || i.id, jsonb_build_object('intent_id', i.id, 'was', i.status)))
    from standing_intent i where turn.id = p_turn_id and turn.status = 'working' and i.id = p_intent_id;
    update standing_intent i
    set status = case when p_status = 'active' and status = 'deleted' and tainted then 'proposed' else p_status end
    where id = p_intent_id and space_id = relay.find_space(p_space) and user_id = p_user_id
    returning relay.intent_json(i)
$$;

-- Fits an imported intent to its space: in a person's own space it is theirs, whatever the file says.
create or replace function relay.adopt_intent(p_row jsonb) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select p_row || jsonb_build_object('user_id', coalesce(s.owner_id, (p_row ->> 'user_id')::bigint), 'used_turn', null)
    from space s where s.id = (p_row ->> 'space_id')::bigint
$$;
