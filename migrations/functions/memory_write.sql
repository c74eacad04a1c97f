-- Adds memories: new ones, repetitions, and replacements.

-- Adds a memory from {kind, content, subject_id, subject, category, tags, importance, confidence, valid_from,
-- valid_until, exact_at, evidence, tainted, source, by, inputs, derivation (instead of both), promoted_by}. Its source
-- is the message named, else the turn's, else the first of its evidence. Ignores messages of other spaces.
create or replace function relay.add_memory(
    p_turn relay.turn, p_memory jsonb, p_message_id bigint, p_pending boolean) returns bigint
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    proofs bigint[] := relay.evidence_in(p_turn.space_id, p_memory -> 'evidence');
    named message;
    added bigint;
begin
    select * into named from message where space_id = p_turn.space_id and id = coalesce(
        (p_memory ->> 'source')::bigint, p_turn.user_message_id, p_message_id, proofs[1]);
    insert into memory (space_id, kind, subject_id, subject, content, category, tags, importance, confidence, valid_from,
        valid_until, exact_at, evidence, promoted_by, status, tainted, thread_id, session_id, turn_id, source_message_id,
        derivation)
    values (p_turn.space_id, p_memory ->> 'kind', (p_memory ->> 'subject_id')::bigint, p_memory ->> 'subject',
        p_memory ->> 'content', p_memory ->> 'category',
        coalesce((select array_agg(tag) from jsonb_array_elements_text(nullif(p_memory -> 'tags', 'null')) as tag), '{}'),
        coalesce((p_memory ->> 'importance')::smallint, 5), coalesce((p_memory ->> 'confidence')::real, 1),
        (p_memory ->> 'valid_from')::timestamptz, (p_memory ->> 'valid_until')::timestamptz,
        (p_memory ->> 'exact_at')::timestamptz, proofs,
        (p_memory ->> 'promoted_by')::bigint, case when p_pending then 'pending' else 'active' end,
        coalesce(p_turn.tainted, false) or coalesce((p_memory ->> 'tainted')::boolean, false),
        coalesce(p_turn.thread_id, named.thread_id), coalesce(p_turn.session_id, named.session_id), p_turn.id, named.id,
        coalesce(p_memory -> 'derivation', jsonb_build_object('name', coalesce(p_memory ->> 'by', 'tag'), 'version', 1)
            || case when p_memory ? 'inputs' then jsonb_build_object('inputs', p_memory -> 'inputs') else '{}' end)
        || jsonb_build_object('answer', p_message_id))
    returning id into added;
    return added;
end $$;

-- Returns when a memory was last said: the latest of its messages, else its own time.
create or replace function relay.memory_said_at(p_memory relay.memory) returns timestamptz
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce((select max(created_at) from message
        where id = p_memory.source_message_id or id = any (p_memory.evidence)), p_memory.created_at)
$$;

-- Keeps those message ids (a JSON array) that belong to the space.
create or replace function relay.evidence_in(p_space_id bigint, p_ids jsonb) returns bigint[]
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(array_agg(m.id order by m.id), '{}')
    from (select distinct one::bigint as id from jsonb_array_elements_text(nullif(p_ids, 'null')) as one) given
    join message m on m.id = given.id and m.space_id = p_space_id
$$;

-- Stores a memory, or refreshes one that says the same. p_pending: it waits for its user's tap.
create or replace function relay.learn_memory(
    p_turn relay.turn, p_memory jsonb, p_message_id bigint, p_pending boolean) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    same memory := relay.same_memory(p_turn.space_id, p_memory ->> 'kind', (p_memory ->> 'subject_id')::bigint,
        p_memory ->> 'content');
    kept bigint;
begin
    perform relay.validate_memory(same.id, p_turn.user_id) where p_memory ->> 'by' = 'user' and not p_pending;
    if p_pending and (same.id is not null or relay.waits_already(p_turn, p_memory, null)) then
        return jsonb_build_object('known', same.id);
    elsif same.id is not null then
        return relay.say_again(p_turn, same, p_memory);
    end if;
    kept := relay.add_memory(p_turn, p_memory, p_message_id, p_pending);
    perform relay.validate_memory(kept, p_turn.user_id) where p_memory ->> 'by' = 'user' and not p_pending;
    insert into memory_change (space_id, memory_id, turn_id, user_id, action, status)
    values (p_turn.space_id, kept, p_turn.id, p_turn.user_id, 'learn',
        case when p_pending then 'pending' else 'applied' end);
    return jsonb_build_object('kept', kept);
end $$;

-- Tests whether the turn's person has been asked about the same {kind, subject_id, content}, in place of the same memory
-- (p_old_id; null: none), and the question is open.
create or replace function relay.waits_already(p_turn relay.turn, p_memory jsonb, p_old_id bigint) returns boolean
language sql stable set search_path = relay, extensions, pg_temp as $$
    select exists (
        select from memory_change c join memory m on m.id = c.memory_id
        where c.space_id = p_turn.space_id and c.status = 'pending' and c.user_id is not distinct from p_turn.user_id
            and (c.before ->> 'id')::bigint is not distinct from p_old_id
            and (m.kind = 'learning') = (p_memory ->> 'kind' = 'learning')
            and m.subject_id is not distinct from (p_memory ->> 'subject_id')::bigint
            and m.tainted = (coalesce(p_turn.tainted, false) or coalesce((p_memory ->> 'tainted')::boolean, false))
            and relay.normal_form(m.content) = relay.normal_form(p_memory ->> 'content')
            and not relay.lists_joined(m.content, p_memory ->> 'content'))
$$;

-- Records that a memory was repeated, maybe in other words: halves the doubt about it, adds evidence, may give a plain
-- fact a kind, and revives one that had expired.
create or replace function relay.say_again(p_turn relay.turn, p_known relay.memory, p_memory jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    update memory m set content = coalesce(p_memory ->> 'content', m.content), updated_at = now(),
        kind = case when m.kind = 'fact' then coalesce(p_memory ->> 'kind', m.kind) else m.kind end,
        importance = greatest(m.importance, (p_memory ->> 'importance')::smallint),
        confidence = m.confidence + (1 - m.confidence) / 2,
        evidence = array(select distinct one from unnest(
            m.evidence || relay.evidence_in(m.space_id, p_memory -> 'evidence')) as one order by one),
        valid_until = coalesce((p_memory ->> 'valid_until')::timestamptz,
            case when m.valid_until > now() then m.valid_until end),
        exact_at = coalesce((p_memory ->> 'exact_at')::timestamptz, m.exact_at),
        promoted_by = coalesce((p_memory ->> 'promoted_by')::bigint, m.promoted_by)
    where m.id = p_known.id;
    insert into memory_change (space_id, memory_id, turn_id, user_id, action, before)
    values (p_turn.space_id, p_known.id, p_turn.id, p_turn.user_id, 'refresh', to_jsonb(p_known));
    return jsonb_build_object('refreshed', p_known.id);
end $$;

-- Refreshes a memory by number. Pending memories refresh nothing.
create or replace function relay.refresh_memory(p_turn relay.turn, p_action jsonb, p_pending boolean) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    known memory;
begin
    select * into known from memory
    where id = (p_action ->> 'memory_id')::bigint and space_id = p_turn.space_id and status = 'active' for update;
    if known.id is null then
        return jsonb_build_object('failed', 'there is no such memory', 'tag', 'refresh', 'text', '');
    elsif p_pending then
        return jsonb_build_object('known', known.id);
    end if;
    return relay.say_again(p_turn, known, p_action - 'content');
end $$;

-- Replaces a memory with one that says it better (refine) or contradicts it (supersede). The old one is kept and
-- linked; if contradicted, it is valid no longer than until the new one. Never changes the subject. If the new one is
-- already known, that one replaces it. A contradiction of something said later is stored as expired.
create or replace function relay.replace_memory(
    p_turn relay.turn, p_action jsonb, p_message_id bigint, p_pending boolean) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    old memory;
    same memory;
    replacing bigint;
begin
    select * into old from memory
    where id = (p_action ->> 'memory_id')::bigint and space_id = p_turn.space_id and status = 'active' for update;
    if old.id is null then
        return jsonb_build_object('failed', 'there is no such memory', 'tag', p_action ->> 'action', 'text',
            p_action ->> 'content');
    elsif p_action ? 'subject_id' and (p_action ->> 'subject_id')::bigint is distinct from old.subject_id
        or (coalesce(p_action ->> 'kind', old.kind) = 'learning') <> (old.kind = 'learning')
    then
        return jsonb_build_object('failed', 'it is about somebody or something else', 'tag', p_action ->> 'action',
            'text', p_action ->> 'content');
    elsif p_pending and relay.waits_already(p_turn, relay.successor(old, p_action), old.id) then
        return jsonb_build_object('known', old.id);
    end if;
    if p_action ->> 'action' = 'supersede' and not p_pending and (
        select max(created_at) from message where space_id = old.space_id and id = any (
            relay.evidence_in(old.space_id, p_action -> 'evidence'))) < relay.memory_said_at(old)
    then
        return relay.keep_ended(p_turn, p_action, p_message_id, old);
    end if;
    same := relay.same_memory(old.space_id, old.kind, old.subject_id, p_action ->> 'content');
    if same.id <> old.id then
        replacing := same.id;
    else
        replacing := relay.add_memory(p_turn, relay.successor(old, p_action), p_message_id, p_pending);
        update memory set pinned = old.pinned where id = replacing;
    end if;
    perform relay.validate_memory(replacing, p_turn.user_id) where p_action ->> 'by' = 'user' and not p_pending;
    insert into memory_change (space_id, memory_id, turn_id, user_id, action, status, before)
    values (p_turn.space_id, replacing, p_turn.id, p_turn.user_id,
        case p_action ->> 'action' when 'refine' then 'merge' else 'supersede' end,
        case when p_pending then 'pending' else 'applied' end,
        to_jsonb(old) || case when same.id <> old.id then '{"stood": true}' else '{}' end::jsonb);
    if not p_pending then
        perform relay.end_memory(old.id, replacing, p_action ->> 'action' = 'supersede');
    end if;
    return jsonb_build_object('kept', replacing, 'replaced', old.id);
end $$;

-- Puts one memory in a person's words in place of several (`memory_ids`) about the same subject. If one of them says the
-- same already, that one stays.
create or replace function relay.merge_memories(p_turn relay.turn, p_action jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    given constant bigint[] := array(select jsonb_array_elements_text(p_action -> 'memory_ids')::bigint);
    merged memory[] := array(
        select m from memory m where id = any (given) and space_id = p_turn.space_id and status = 'active'
        order by id for update);
    same memory := relay.same_memory(p_turn.space_id, merged[1].kind, merged[1].subject_id, p_action ->> 'content');
    common jsonb;
    one memory;
    into_id bigint;
begin
    if cardinality(merged) < cardinality(given) then
        return (select relay.refuse_change(p_turn, p_action || jsonb_build_object('memory_id', id), array['active'])
            from unnest(given) as id where id <> all (select (m).id from unnest(merged) m) limit 1);
    end if;
    select jsonb_build_object('evidence', jsonb_agg(distinct proof), 'tainted', bool_or(m.tainted),
        'importance', max(m.importance)) into common
    from unnest(merged) m, unnest(m.evidence || m.source_message_id) proof;
    foreach one in array merged loop
        if one.id is distinct from same.id then
            into_id := (relay.replace_memory(p_turn, common || jsonb_build_object('action', 'refine', 'memory_id', one.id,
                'content', p_action ->> 'content', 'by', 'user'), null, false) ->> 'kept')::bigint;
        end if;
    end loop;
    if same.id is null then  -- undoing one of these changes undoes all of them
        update memory_change set before = before - 'stood' where turn_id = p_turn.id and memory_id = into_id;
        update memory set pinned = (select bool_or(m.pinned) from unnest(merged) m) where id = into_id;
    end if;
    perform relay.validate_memory(into_id, p_turn.user_id);
    return jsonb_build_object('kept', into_id);
end $$;

-- Stores an earlier statement as ended by a memory that was said later.
create or replace function relay.keep_ended(
    p_turn relay.turn, p_action jsonb, p_message_id bigint, p_newer relay.memory) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    kept bigint := relay.add_memory(
        p_turn, relay.successor(p_newer, p_action) - 'inputs', p_message_id, false);
begin
    update memory set status = 'superseded', replaced_by = p_newer.id, updated_at = now(),
        valid_until = greatest(valid_from, coalesce(p_newer.valid_from, relay.memory_said_at(p_newer)))
    where id = kept;
    insert into memory_change (space_id, memory_id, turn_id, user_id, action)
    values (p_turn.space_id, kept, p_turn.id, p_turn.user_id, 'learn');
    return jsonb_build_object('kept', kept, 'replaced_by', p_newer.id);
end $$;

-- Builds a replacement: the old memory with the new fields. When refining, it combines the evidence and the taint of
-- both.
create or replace function relay.successor(p_old relay.memory, p_action jsonb) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('kind', p_old.kind, 'subject_id', p_old.subject_id, 'subject', p_old.subject,
            'category', p_old.category, 'tags', to_jsonb(p_old.tags))
        || jsonb_strip_nulls(p_action)
        || jsonb_build_object(
            'importance', greatest(p_old.importance, (p_action ->> 'importance')::smallint),
            'tainted', coalesce((p_action ->> 'tainted')::boolean, false)
                or p_action ->> 'action' = 'refine' and p_old.tainted,
            'tags', relay.tags_after(p_old.tags, p_action),
            'evidence', case p_action ->> 'action' when 'refine'
                then to_jsonb(p_old.evidence || p_old.source_message_id)
                    || coalesce(nullif(p_action -> 'evidence', 'null'), '[]')
                else coalesce(p_action -> 'evidence', '[]') end,
            'valid_from', least((p_action ->> 'valid_from')::timestamptz,
                case p_action ->> 'action' when 'refine' then p_old.valid_from end),
            'valid_until', coalesce((p_action ->> 'valid_until')::timestamptz,
                case p_action ->> 'action' when 'refine' then p_old.valid_until end),
            'exact_at', coalesce((p_action ->> 'exact_at')::timestamptz,
                case p_action ->> 'action' when 'refine' then p_old.exact_at end),
            'inputs', jsonb_build_array('memory:' || p_old.id))
$$;

-- Returns a replacement's tags: both memories' when refining; else its own, or the old ones if it has none.
create or replace function relay.tags_after(p_tags text[], p_action jsonb) returns jsonb
language sql immutable set search_path = relay, extensions, pg_temp as $$
    with own as (select tag from jsonb_array_elements_text(nullif(p_action -> 'tags', 'null')) as tag)
    select coalesce(jsonb_agg(distinct tag), '[]') from (
        select tag from own
        union all
        select tag from unnest(p_tags) as tag
        where p_action ->> 'action' = 'refine' or not exists (select from own)) taken
$$;

-- Ends a memory that another replaces. p_contradicted: it is valid until the other begins.
create or replace function relay.end_memory(p_memory_id bigint, p_replaced_by bigint, p_contradicted boolean)
returns void language sql set search_path = relay, extensions, pg_temp as $$
    update memory m set status = 'superseded', replaced_by = p_replaced_by, updated_at = now(),
        valid_until = case when p_contradicted then least(m.valid_until, coalesce(n.valid_from, now()))
            else m.valid_until end
    from memory n where n.id = p_replaced_by and m.id = p_memory_id and m.status = 'active'
$$;

-- Joins a forgetting and a learning into one replacement, if an answer has exactly one of each, the forgetting clearly
-- refers to one fact about the same person, and both are about the same thing.
create or replace function relay.linked_actions(p_turn relay.turn, p_actions jsonb) returns jsonb
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    forgets jsonb := jsonb_path_query_array(p_actions, '$[*] ? (@.action == "forget")');
    learns jsonb := jsonb_path_query_array(p_actions, '$[*] ? (@.action == "learn" && @.kind != "learning")');
    learned jsonb := learns -> 0;
    matches bigint[];
    old memory;
begin
    if jsonb_array_length(forgets) <> 1 or jsonb_array_length(learns) <> 1 then
        return p_actions;
    end if;
    select array_agg(id) into matches
    from relay.forgettable(p_turn.space_id, forgets #>> '{0,content}', p_turn.user_id, false);
    select * into old from memory where id = matches[1] and cardinality(matches) = 1;
    if old.id is null or old.kind = 'learning'
        or old.subject_id is distinct from (learned ->> 'subject_id')::bigint
        or not relay.surely_means(forgets #>> '{0,content}', old.content)
        or not relay.about_the_same(old.content, learned ->> 'content', old.subject)
    then
        return p_actions;
    end if;
    return (select jsonb_agg(case when one = learned
            then one || jsonb_build_object('action', 'supersede', 'memory_id', old.id) else one end order by place)
        from jsonb_array_elements(p_actions) with ordinality as a (one, place) where one <> forgets -> 0);
end $$;

-- Tests whether two facts about a person are about the same thing: similar, or sharing a meaningful word (in the language
-- of the first) besides the name.
create or replace function relay.about_the_same(p_one text, p_other text, p_subject text) returns boolean
language sql stable set search_path = relay, extensions, pg_temp as $$
    select similarity(p_one, p_other) >= 0.4 or exists (
        select lexeme from unnest(to_tsvector(own, p_one)) where length(lexeme) >= 3
        intersect select lexeme from unnest(to_tsvector(own, p_other))
        except select lexeme from unnest(to_tsvector(own, coalesce(p_subject, ''))))
    from (select coalesce(nullif(relay.language_of(p_one), 'simple'), 'english')::regconfig as own) language
$$;

-- Memory for scripts: /remember and /forget without a chat.

-- Applies a script's actions to a space's memory, in a turn that ends at once, so that they are announced and undone
-- like others.
create or replace function public.relay_change_directly(p_space jsonb, p_user_id bigint, p_actions jsonb)
returns jsonb language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own turn;
    results jsonb;
begin
    insert into turn (kind, bot_id, user_id, space_id, status, answered_at, done_at)
    values ('control', 0, p_user_id, relay.ensure_space(p_space), 'done', now(), now())
    returning * into own;
    results := relay.apply_actions(own, null, p_actions, false);
    return jsonb_build_object('changes', relay.changes_of(own.id),
        'failed', (select coalesce(jsonb_agg(r), '[]') from jsonb_array_elements(results) as r where r ? 'failed'));
end $$;
