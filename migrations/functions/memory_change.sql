-- Changes to memories: forget, reword, pin, archive, restore. memory_write.sql adds them; memory_review.sql holds
-- people's decisions about changes.

-- Locks a space's memory until the end of the transaction. Every writer takes this lock after any locks on turns and
-- judging, and before any memory. So what it reads is still true when it writes, and nothing is stored twice.
create or replace function relay.hold_memory(p_space_id bigint) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    perform from space where id = p_space_id for no key update;
end $$;

-- Returns the active memories that words may refer to and the person may forget, best first, up to eleven: all that
-- contain the words, or words that begin with them; else all that contain the text; else the most similar. Words of up
-- to three letters (two in Arabic and Hebrew, which write “the” and “and” as part of a word) must match a whole word.
-- In a group, people may forget facts about themselves and about nobody; an admin's command (never a model's tag) may
-- forget any.
create or replace function relay.forgettable(p_space_id bigint, p_words text, p_user_id bigint, p_admin boolean)
returns setof relay.memory language sql stable set search_path = relay, extensions, pg_temp as $$
    with spelled as materialized (
        select length(regexp_replace(p_words, '[^[:alnum:]]', '', 'g'))
            >= case when p_words ~ '[\u05D0-\u06FF]' then 3 else 4 end as long),
    permitted as (
        select m.* from memory m join space s on s.id = m.space_id
        where m.space_id = p_space_id and m.status = 'active'
            and (s.kind = 'private' or m.subject_id is null or m.subject_id = p_user_id or p_admin)),
    within as materialized (
        select id, content, word_similarity(p_words, content) as closeness from permitted
        where position(relay.bare_letters(p_words) in relay.bare_letters(content)) > 0),
    whole as (
        select id, closeness from within, spelled where relay.has_words(content, p_words)
            or long and position(' ' || relay.normal_form(p_words) in ' ' || relay.normal_form(content)) > 0),
    containing as materialized (
        select id, closeness from whole union all
        select id, closeness from within, spelled where long and not exists (select from whole)),
    nearly as (
        select id, closeness, max(closeness) over () as best
        from (select id, word_similarity(p_words, content) as closeness from permitted) one
        where closeness >= 0.55 and (select long from spelled) and not exists (select from containing)),
    likely as (
        select id, closeness from containing union all
        select id, closeness from nearly where closeness >= best - 0.15)
    select m.* from likely l join memory m on m.id = l.id
    order by l.closeness desc, m.id desc limit 11
$$;

-- Forgets the one memory that the words clearly refer to, or the one with the given number (`memory_id`). Reports a
-- failure if there is none. Asks first, listing up to ten, if several match, the match is uncertain, or p_pending is
-- set.
create or replace function relay.forget_memory(p_turn relay.turn, p_action jsonb, p_pending boolean) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    words text := p_action ->> 'content';
    numbered constant boolean := p_action ? 'memory_id' or words ~ '^#?\d+$';
    stands boolean := false;
    by_admin boolean := coalesce((p_action ->> 'admin')::boolean, false);
    matches bigint[];
    sure boolean;
begin
    if numbered then
        select array_agg(m.id) into matches from memory m join space s on s.id = m.space_id
        where m.space_id = p_turn.space_id and m.status = 'active'
            and case when p_action ? 'memory_id' then m.id = (p_action ->> 'memory_id')::bigint
                else m.number = ltrim(words, '#')::numeric end
            and (s.kind = 'private' or m.subject_id is null or m.subject_id = p_turn.user_id or by_admin);
    end if;
    if matches is null and not p_action ? 'memory_id' and (not numbered or words ~ '^\d+$') then
        stands := numbered;  -- a number that may stand in one, such as a code
        select array_agg(id) into matches from relay.forgettable(p_turn.space_id, words, p_turn.user_id, by_admin);
    end if;
    if matches is null and p_action ? 'memory_id' then
        return relay.refuse_change(p_turn, p_action, array['active']);
    elsif matches is null then
        return jsonb_build_object('failed', 'nothing matches', 'tag', 'forget', 'text', words);
    end if;
    perform relay.end_questions(matches, p_turn.id, p_turn.user_id);
    sure := cardinality(matches) = 1 and not stands and (numbered
        or (select relay.surely_means(words, content) from memory where id = matches[1]));
    insert into memory_change (space_id, memory_id, turn_id, user_id, action, status, before)
    select p_turn.space_id, m.id, p_turn.id, p_turn.user_id, 'forget',
        case when p_pending or not sure then 'pending' else 'applied' end, to_jsonb(m)
    from memory m where m.id = any (matches[:10])
        and not exists (select from memory_change c
            where c.turn_id = p_turn.id and c.memory_id = m.id and c.action = 'forget');
    if sure and not p_pending then
        update memory set status = 'forgotten', updated_at = now() where id = matches[1];
    end if;
    if cardinality(matches) > 10 then
        return jsonb_build_object('failed', 'more than 10 match, these are the closest', 'tag', 'forget', 'text', words);
    end if;
    return jsonb_build_object('matches', cardinality(matches));
end $$;

-- Ends the open questions of other turns whether to forget these memories, of one person or of everyone (null).
create or replace function relay.end_questions(p_memories bigint[], p_turn_id bigint, p_user_id bigint) returns void
language sql set search_path = relay, extensions, pg_temp as $$
    with ended as (
        update memory_change set status = 'discarded', decided_at = now()
        where memory_id = any (p_memories) and action = 'forget' and status = 'pending'
            and turn_id is distinct from p_turn_id and user_id = coalesce(p_user_id, user_id)
        returning turn_id)
    select relay.owe_correction(turn_id) from (select distinct turn_id from ended) asked
$$;

-- Says why a memory can't be changed in this way; only those in p_states can.
create or replace function relay.refuse_change(p_turn relay.turn, p_action jsonb, p_states text[]) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('tag', p_action ->> 'action', 'text', coalesce(p_action ->> 'content', ''),
        'failed', coalesce((
            select 'memory #' || number || ' is ' || case when status = any (p_states) then 'not yours to change'
                when status = 'superseded' then 'replaced' else status end
            from memory where id = (p_action ->> 'memory_id')::bigint and space_id = p_turn.space_id),
            'there is no such memory'))
$$;

-- Replaces a memory's text with a person's own (undated: which may name other days). For a pending memory, this also
-- approves it. If another memory says the same already, that one replaces it.
create or replace function relay.edit_memory(p_turn relay.turn, p_action jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    states constant text[] := array['active', 'pending'];
    undated constant boolean := p_action ? 'undated';
    edited memory;
    same memory;
begin
    select * into edited from memory
    where id = (p_action ->> 'memory_id')::bigint and space_id = p_turn.space_id and status = any (states) for update;
    if edited.id is null then
        return relay.refuse_change(p_turn, p_action, states);
    end if;
    perform relay.take_effect(c), relay.owe_correction(c.turn_id) from memory_change c
    where c.memory_id = edited.id and c.status = 'pending' and c.action <> 'forget';
    same := relay.same_memory(edited.space_id, edited.kind, edited.subject_id, p_action ->> 'content');
    if same.id <> edited.id and edited.status = 'active' then
        perform relay.validate_memory(same.id, p_turn.user_id);
        update memory set pinned = pinned or edited.pinned, tainted = false where id = same.id;
        return relay.replace_memory(p_turn, p_action || '{"action": "refine"}', null, false) || '{"edited": true}';
    end if;
    -- The new words may name another time.
    update memory set content = p_action ->> 'content', exact_at = null, updated_at = now(),
        valid_until = case when not undated then valid_until end,
        valid_from = case when not undated or kind not in ('goal', 'event') then valid_from end
    where id = edited.id;
    perform relay.validate_memory(edited.id, p_turn.user_id);
    insert into memory_change (space_id, memory_id, turn_id, user_id, action, before)
    values (p_turn.space_id, edited.id, p_turn.id, p_turn.user_id, 'refresh', to_jsonb(edited));
    perform relay.yield_to_same(edited.id);
    return jsonb_build_object('edited', true);
end $$;

-- Locks a memory that the person may forget, pin or restore, in one of these states.
create or replace function relay.own_memory(p_turn relay.turn, p_action jsonb, p_states text[]) returns relay.memory
language sql set search_path = relay, extensions, pg_temp as $$
    select m.* from memory m join space s on s.id = m.space_id
    where m.id = (p_action ->> 'memory_id')::bigint and m.space_id = p_turn.space_id and m.status = any (p_states)
        and (s.kind = 'private' or m.subject_id is null or m.subject_id = p_turn.user_id
            or coalesce((p_action ->> 'admin')::boolean, false))
    for update of m
$$;

-- Pins or unpins an active memory (pinned ones come first in every prompt), archives it (it is no longer used, but can
-- be found and restored), or takes a person's word that it is right. Allowed to people who may forget it.
create or replace function relay.mark_memory(p_turn relay.turn, p_action jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    action constant text := p_action ->> 'action';
    one constant memory := relay.own_memory(p_turn, p_action, array['active']);
    pin constant boolean := case action when 'pin' then true when 'unpin' then false else one.pinned end;
begin
    if one.id is null then
        return relay.refuse_change(p_turn, p_action, array['active']);
    end if;
    perform relay.validate_memory(one.id, p_turn.user_id) where action in ('pin', 'validate');
    if pin <> one.pinned or action = 'archive' then
        update memory set pinned = pin, status = case action when 'archive' then 'archived' else status end,
            updated_at = now()
        where id = one.id;
        insert into memory_change (space_id, memory_id, turn_id, user_id, action, before)
        values (p_turn.space_id, one.id, p_turn.id, p_turn.user_id, action, to_jsonb(one));
    end if;
    return jsonb_build_object('marked', one.id);
end $$;

-- Records that a person confirmed a memory: there is no doubt about it any more.
create or replace function relay.validate_memory(p_memory_id bigint, p_user_id bigint) returns void
language sql set search_path = relay, extensions, pg_temp as $$
    update memory set validated_at = now(), validated_by = p_user_id, confidence = 1
    where id = p_memory_id and validated_at is null
$$;

-- Restores an active memory's text from before the change `change_id`. Without that, restores a memory that was
-- archived, forgotten or replaced (its replacement stays).
create or replace function relay.restore_memory(p_turn relay.turn, p_action jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    wording boolean := p_action ? 'change_id';
    states text[] := case when wording then array['active'] else array['archived', 'superseded', 'forgotten'] end;
    one memory := relay.own_memory(p_turn, p_action, states);
    older jsonb := (select before from memory_change
        where id = (p_action ->> 'change_id')::bigint and memory_id = one.id);
begin
    if one.id is null then
        return relay.refuse_change(p_turn, p_action, states);
    elsif wording and older ->> 'content' is null then
        return jsonb_build_object('failed', 'there is no such change', 'tag', 'restore', 'text', '');
    end if;
    if wording and older ->> 'content' = one.content then
        return jsonb_build_object('restored', false);
    end if;
    if wording then
        update memory m set content = older ->> 'content', updated_at = now(),
            (exact_at, valid_from, valid_until) = (select exact_at, valid_from, valid_until
                from jsonb_populate_record(m, '{"exact_at": null}' || older)) where id = one.id;
    else
        select before into older from memory_change
        where memory_id = one.replaced_by and (before ->> 'id')::bigint = one.id order by id desc limit 1;
        update memory set status = 'active', replaced_by = null, updated_at = now(), valid_until =
            case when one.status = 'superseded' then (older ->> 'valid_until')::timestamptz else valid_until end
        where id = one.id;
    end if;
    insert into memory_change (space_id, memory_id, turn_id, user_id, action, before)
    values (p_turn.space_id, one.id, p_turn.id, p_turn.user_id, 'restore', to_jsonb(one));
    perform relay.yield_to_same(one.id);
    return jsonb_build_object('restored', true);
end $$;

-- Applies the actions that an answer, a person or a derivation asked for, in order. Returns one result per action.
-- Actions with `ask`, and all with p_pending, wait for a tap.
create or replace function relay.apply_actions(
    p_turn relay.turn, p_message_id bigint, p_actions jsonb, p_pending boolean) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    action jsonb;
    waits boolean;
    results jsonb := '[]';
begin
    perform relay.hold_memory(p_turn.space_id);
    for action in select jsonb_array_elements(relay.linked_actions(p_turn, coalesce(p_actions, '[]'))) loop
        waits := p_pending or coalesce((action ->> 'ask')::boolean, false);
        results := results || case
            when action ->> 'action' = 'forget' then relay.forget_memory(p_turn, action, waits)
            when action ->> 'action' = 'edit' then relay.edit_memory(p_turn, action)
            when action ->> 'action' in ('pin', 'unpin', 'validate', 'archive') then relay.mark_memory(p_turn, action)
            when action ->> 'action' = 'restore' then relay.restore_memory(p_turn, action)
            when action ->> 'action' = 'refresh' then relay.refresh_memory(p_turn, action, waits)
            when action ->> 'action' in ('refine', 'supersede') then
                relay.replace_memory(p_turn, action, p_message_id, waits)
            when action ->> 'action' = 'merge' then relay.merge_memories(p_turn, action)
            else relay.learn_memory(p_turn, action, p_message_id, waits) end;
    end loop;
    return results;
end $$;

-- Applies what a person does with memories, in the space that the command names: several actions together, or none if
-- one fails.
create or replace function public.relay_change_memory(
    p_turn_id bigint, p_fence bigint, p_space jsonb, p_actions jsonb) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    held turn := relay.hold(p_turn_id, p_fence);
    results jsonb := '[]';
begin
    if held.status = 'working' and not exists (select from memory_change where turn_id = held.id) then
        held.space_id := relay.ensure_space(p_space);
        update turn set space_id = held.space_id where id = held.id;
        results := relay.refused_actions(held, p_actions);
        if results = '[]' then
            begin
                results := relay.apply_actions(held, null, p_actions, false);
                if jsonb_array_length(p_actions) > 1 and results @? '$[*].failed' then
                    raise sqlstate 'RL004';
                end if;
            exception when sqlstate 'RL004' then null;  -- takes back what the others did
            end;
        end if;
    end if;
    return jsonb_build_object('changes', relay.changes_of(held.id), 'waits', results @? '$[*].known ? (@ == null)',
        'failed', (select coalesce(jsonb_agg(r), '[]') from jsonb_array_elements(results) as r where r ? 'failed'));
end $$;

-- Comparing texts: whether two memories say the same, and whether words clearly refer to one. Similarity plays no part:
-- facts that differ in one name, number or “not” are different facts.

-- Normalizes a text for comparison: ignores Unicode form, case, white space and punctuation. Keeps signs that change
-- the meaning: in numbers and times (1.5, 10:30), before or after them (-5, - 5, 5", 6'), in ordinals (“ist 3. geworden”),
-- in addresses (an-na@x.org is not an.na@x.org), at the end of a word (A-, C++), question marks, :) and :(. A removed sign
-- leaves a space, so that words stay apart.
create or replace function relay.normal_form(p_text text) returns text
language plpgsql immutable set search_path = relay, extensions, pg_temp as $$
declare
    plain text := normalize(p_text, NFKC);
begin
    -- ① and ² must not become digits of the number beside them.
    if regexp_count(plain, '[0-9]') <> regexp_count(p_text, '[0-9０-９]') then
        plain := normalize(p_text, NFC);
    end if;
    -- MW and mW are different units, as are MB and Mb.
    plain := regexp_replace(plain,
        '([0-9]\s?)[MМ](?=(W|J|V|A|N|Ω|Hz|Pa|bar|Bq|Sv|eV|Вт|Дж|В|А|Ом|Гц|Па)\M)', '\1mega', 'g');
    plain := regexp_replace(plain, '([0-9]\s?[kKMGT]i?)B(?=ps|\M)', '\1byte', 'g');
    plain := regexp_replace(plain, '([0-9])\.(?=\s+[[:lower:]])', '\1.º', 'g');
    plain := lower(translate(plain, '’‘ʼ´`′‚‐‑‒–—―−“”„«»‹›《》〈〉【】・؟İ٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹',
        '''''''''''''''-------"""""""       ?I01234567890123456789'));
    plain := regexp_replace(plain, '[\u00AD\u0640\u200B\u200E\u200F\u202A-\u202E\u2060-\u2069\uFEFF]', '', 'g');
    plain := regexp_replace(replace(plain, '''''', '"'), '[:;=]-?\)', ' ☺ ', 'g');
    plain := regexp_replace(plain, '(?<=[[:alpha:]])(?<![@./]\S*)-(?=[[:alpha:]])(?!\S*[@.][[:alnum:]])', ' ', 'g');
    plain := regexp_replace(plain, '[:;=]-?\(', ' ☹ ', 'g');
    plain := regexp_replace(plain, '[;…()\[\]{}¡¿、。「」『』،؛।]|[.,:](?![0-9º])|!(?!=)', ' ', 'g');
    plain := regexp_replace(plain, '(?<![0-9])"|(?<![[:alnum:]])''|(?<=[[:alpha:]])''(?![[:alnum:]])', ' ', 'g');
    plain := regexp_replace(plain, '(?<=\s)-(?=\s+[^\s0-9])', ' ', 'g');
    return btrim(regexp_replace(plain, '\s+', ' ', 'g'));
end $$;

-- Returns a text in lower case without accents and Arabic vowel signs, to find what words may refer to.
create or replace function relay.bare_letters(p_text text) returns text
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select regexp_replace(
        normalize(translate(replace(replace(lower(p_text), 'ß', 'ss'), 'œ', 'oe'), 'łıøđ’‘ٱ', 'liod''''ا'), NFD),
        '[\u0300-\u036F\u0640\u064B-\u0655]', '', 'g')
$$;

-- Tests whether one of two texts lists two words that only the other joins with a hyphen (Anna, Lena and Anna-Lena): these are
-- different facts.
create or replace function relay.lists_joined(p_one text, p_other text) returns boolean
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select exists (
        select from (values (normalize(p_one, NFC), normalize(p_other, NFC)), (normalize(p_other, NFC), normalize(p_one, NFC)))
                as t (lists, joins),
            regexp_matches(joins, '([[:alpha:]]+)[-‐‑–]([[:alpha:]]+)', 'g') as pair
        where lists ~* ('\m' || pair[1] || '[,;،、]\s*' || pair[2] || '\M')
            and lists !~* ('\m' || pair[1] || '[-‐‑–]' || pair[2] || '\M'))
$$;

-- Returns the active memories about a subject with the same normalized text, earliest first; there is one at most. Facts of
-- all kinds are compared with each other, and learnings with learnings. A model or a person decides about similar ones.
create or replace function relay.same_memories(p_space_id bigint, p_kind text, p_subject_id bigint, p_content text)
returns setof relay.memory
language plpgsql stable set search_path = relay, extensions, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
    form constant text := relay.normal_form(p_content);
begin
    return query select m.* from memory m
    where m.space_id = p_space_id and m.status = 'active' and (m.kind = 'learning') = (p_kind = 'learning')
        and m.subject_id is not distinct from p_subject_id and relay.normal_form(m.content) = form
        and not relay.lists_joined(m.content, p_content)
        and (show_trgm(p_content) = '{}'  -- nothing but symbols, which the index doesn't have
            or m.content % p_content or m.content % normalize(p_content, NFC) or m.content % normalize(p_content, NFD)
            or m.content % normalize(p_content, NFKC))
    order by m.id;
end $$;

-- Returns the first of them.
create or replace function relay.same_memory(p_space_id bigint, p_kind text, p_subject_id bigint, p_content text)
returns relay.memory language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    found memory;
begin
    select * into found from relay.same_memories(p_space_id, p_kind, p_subject_id, p_content) limit 1;
    return found;
end $$;

-- Takes a restored or reworded memory out of use again if another one says the same: that one was said in the meantime,
-- and stays.
create or replace function relay.yield_to_same(p_memory_id bigint) returns void
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    one memory;
    same memory;
begin
    select * into one from memory where id = p_memory_id and status = 'active';
    select * into same from relay.same_memories(one.space_id, one.kind, one.subject_id, one.content) m
    where m.id <> one.id limit 1;
    if same.id is null then
        return;
    end if;
    update memory set status = 'superseded', replaced_by = same.id, updated_at = now() where id = one.id;
    update memory set pinned = pinned or one.pinned, tainted = tainted and one.tainted
    where id = same.id and (one.pinned and not pinned or tainted and not one.tainted);
end $$;

-- Restores what had yielded to a memory whose learning is undone: the earliest comes back and replaces the others.
create or replace function relay.revive_same(p_memory_id bigint) returns void
language sql set search_path = relay, extensions, pg_temp as $$
    with yielded as (
        select m.id, min(m.id) over () as first from memory own join memory m on m.replaced_by = own.id
        where own.id = p_memory_id and m.status = 'superseded'
            and relay.normal_form(m.content) = relay.normal_form(own.content)
            and not relay.lists_joined(m.content, own.content) and not exists (
                select from memory_change c where c.memory_id = own.id and c.before ->> 'id' = m.id::text))
    update memory m set status = case when m.id = first then 'active' else 'superseded' end, updated_at = now(),
        replaced_by = case when m.id <> first then first end
    from yielded y where y.id = m.id
$$;

-- Tests whether a text contains letters of scripts that don't put spaces between words.
create or replace function relay.is_unspaced(p_text text) returns boolean
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select p_text ~ '[\u0E00-\u0EFF\u3040-\u30FF\u3400-\u9FFF\uAC00-\uD7AF]'
$$;

-- Tests whether a text contains words as whole words in the same order. Scripts without spaces have no word boundaries.
create or replace function relay.has_words(p_content text, p_words text) returns boolean
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select position(' ' || relay.normal_form(p_words) || ' ' in ' ' || relay.normal_form(p_content) || ' ') > 0
        or relay.is_unspaced(p_words)
            and position(relay.normal_form(p_words) in relay.normal_form(p_content)) > 0
$$;

-- Tests whether words clearly refer to a memory: it contains them in this order, give or take markup and articles, and
-- both or neither contain a “not”. Other forms of a word can be another name (Andrea, Andreas), and without spaces nobody
-- knows where a word ends (東京都 contains 京都): about these a person decides.
create or replace function relay.surely_means(p_words text, p_content text) returns boolean
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select (relay.is_negative(p_words) = relay.is_negative(p_content) or words !~ ' ')
        and (position(' ' || words || ' ' in ' ' || content || ' ') > 0
            or relay.without_articles(words) <> '' and position(
                ' ' || relay.without_articles(words) || ' ' in ' ' || relay.without_articles(content) || ' ') > 0)
    from (select case when p_words ~ '[[:alnum:]]' then '*_`~' else '' end as markup) ignored, lateral (
        select relay.normal_form(translate(p_words, markup, '')) as words,
            relay.normal_form(translate(p_content, markup, '')) as content) normal
$$;

-- Removes English words that distinguish nothing from a normalized text.
create or replace function relay.without_articles(p_text text) returns text
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select btrim(regexp_replace(regexp_replace(p_text, '(^| )(a|an|the|is|are|am|was|were|be|of|at|in|as)(?= |$)', '', 'g'),
        ' +', ' ', 'g'))
$$;

-- Tests whether a text contains a negation, in the languages that keywords cover (see NEGATION in telling_words.py).
create or replace function relay.is_negative(p_text text) returns boolean
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select relay.normal_form(p_text) ~ ('(^| )(not|no|never|none|nothing|nobody|neither|nor|without|cannot|[[:alpha:]]+n''t'
        || '|nicht|nichts|nie|niemals|niemand|kein[[:alpha:]]*|weder|ohne|nunca|jamás|nada|nadie|ni|ning[uú]n[ao]?|sin|ne'
        || '|n''[[:alpha:]]+|pas|jamais|rien|aucune?|sans|non|mai|niente|nessun[ao]?|senza|não|nenhuma?|ninguém|sem|не|нет'
        || '|ни|нельзя|никто|никогда|ничего|без|nigdy|nic|nikt|bez|değil[[:alpha:]]*|hiç|asla|yok|(?!g[oó]mez)[[:alpha:]]+m[ae]z'
        || '|[[:alpha:]]+m[ıiuü]yor[[:alpha:]]*|[[:alpha:]]+(medi|madı)[mnk]?|[[:alpha:]]+s[ıiuü]z'
        || '|[وف]?(لا|ما|ليس|ليست|لست|لم|لن|غير|مش)|بدون|دون|بلا)( |$)')
$$;

-- Memory numbers, from 1 in each space: what people see, as in /forget #12.

create or replace function relay.number_memory() returns trigger
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    perform from space where id = new.space_id for no key update;  -- two at the same moment get different numbers
    new.number := 1 + greatest(
        (select max(number) from memory where space_id = new.space_id),
        (select numbered from space where id = new.space_id));
    return new;
end $$;
create or replace trigger number_memory before insert on relay.memory
    for each row when (new.number is null) execute function relay.number_memory();

-- Numbers are never reused: an old “#12” in a chat must not refer to another memory.
create or replace function relay.keep_numbers() returns trigger
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    update space s set numbered = greatest(s.numbered, gone.number)
    from (select space_id, max(number) as number from old_rows group by space_id) gone
    where s.id = gone.space_id and s.numbered < gone.number;
    return null;
end $$;
create or replace trigger keep_numbers after delete on relay.memory
    referencing old table as old_rows for each statement execute function relay.keep_numbers();
