-- Search results as turns, the model's tool, people's search and the terminal receive them.

-- Returns the results of relay.find_entries: [{kind, id, part, at, role, user_id, name, thread_id, message_id (of a
-- message or of the one that brought a document), untrusted, snippet, score, relevance, subject, label,
-- status and valid_until of a memory, document and parts of a part}].
create or replace function relay.found_json(p_space_id bigint, p_query jsonb, p_limit integer) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    with asked as materialized (select relay.asked_words(p_space_id, left(p_query ->> 'text', 2000)) as words)
    select coalesce(jsonb_agg(jsonb_build_object('kind', f.kind, 'id', f.source_id, 'part', f.part, 'at', e.at,
        'role', m.role, 'user_id', e.user_id, 'name', m.name, 'thread_id', e.thread_id, 'message_id', m.id,
        'untrusted', case f.kind when 'message' then m.untrusted or m.tainted when 'memory' then k.tainted
            when 'summary' then y.tainted when 'part' then true
            else (select a.tainted from relay.artefact(f.kind, f.source_id) a) end,
        'snippet', case when length(told.text) <= 600
            then regexp_replace(told.text, '\s+', ' ', 'g')
            else relay.passage(told.text, e.language, (select words from asked)) end,
        'score', f.score, 'relevance', f.text_score,
        'subject', k.subject, 'label', e.label, 'status', k.status, 'valid_until', k.valid_until,
        'document', d.name, 'parts', d.parts)
        order by f.score desc, e.at desc, e.id desc), '[]')
    from relay.find_entries(p_space_id, p_query, p_limit) f
    join entry e on e.id = f.entry_id
    left join document_part p on f.kind = 'part' and p.document_id = f.source_id and p.part = f.part
    left join document d on d.id = p.document_id
    left join message m on m.id = case f.kind when 'message' then f.source_id else d.message_id end
    left join memory k on f.kind = 'memory' and k.id = f.source_id
    left join summary y on f.kind = 'summary' and y.id = f.source_id
    cross join lateral (select coalesce(p.text, relay.plain_text(m), k.content, y.text, relay.entry_text(e)) as text) told
$$;

-- Returns a question's words as the space's texts store them, joined by OR.
create or replace function relay.asked_words(p_space_id bigint, p_text text) returns tsquery
language sql stable set search_path = relay, extensions, pg_temp as $$
    with telling as materialized (
        select array_agg(word) as words from relay.question_words(p_space_id, p_text, relay.language_of(p_text)))
    select string_agg(quote_literal(word), ' | ')::tsquery from (
        select unnest(words) as word from telling
        union
        select t.word from telling, relay.terms_of(p_space_id, words, array(
            select language from relay.languages_of(p_space_id)) || relay.language_of(p_text), 0) t
        where t.word is not null) w
$$;

-- Returns the passage of a long text that is about some words, on one line of up to 600 characters.
create or replace function relay.passage(p_text text, p_language text, p_words tsquery) returns text
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(
        translate(relay.unspaced_snippet(left(p_text, 20000), relay.unspaced_wanted(p_words), 590), chr(2) || chr(3), ''),
        left(regexp_replace(ts_headline(p_language::regconfig, left(p_text, 20000), coalesce(p_words, ''::tsquery),
            'MaxWords=60, MinWords=30, MaxFragments=2, FragmentDelimiter= … , StartSel="", StopSel=""'),
            '\s+', ' ', 'g'), 600))
$$;

-- Returns what is relevant to a message in a chat and topic, above the floor and not already in the prompt: {found}.
-- Only memories in force. Empty if memory is not used in this space (own or lent) or the thread does not recall.
-- Indexes recent messages first unless the prompt has them.
create or replace function public.relay_recall_for(p_space jsonb, p_query jsonb, p_limit integer) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp set plan_cache_mode = force_generic_plan as $$
declare
    own_space bigint := relay.find_space(p_space);
    own thread;
begin
    if not relay.may_look(own_space, p_query) then
        return '{"found": []}';
    end if;
    select * into own from thread where chat_id = (p_query ->> 'chat_id')::bigint
        and topic_id = (p_query ->> 'topic_id')::bigint and space_id = own_space;
    -- One by one: for a young table, the planner's statistics suggest reading all messages.
    if exists (
        select from (select message_id from entry_due order by message_id desc limit 200) d
        cross join lateral (select space_id, thread_id, id from message where id = d.message_id offset 0) m
        where m.space_id = own_space
            and (m.thread_id is distinct from own.id or m.id < greatest(own.context_from, own.window_from)))
    then
        perform relay.enter_due(50);
    end if;
    -- near: the lowest cosine at which a text is relevant. Measured for the e5 family, whose cosines are all high (in long
    -- chats a lower value returns small talk). For other models, words alone decide.
    return jsonb_build_object('found', relay.found_json(own_space, p_query || jsonb_build_object(
        'not_thread', own.id, 'not_from', greatest(own.context_from, own.window_from), 'valid', true, 'floor', 0.35,
        'near', case when p_query ->> 'model' ~* 'e5' then 0.86::real end), p_limit));
end $$;
