-- Preferences: how a person likes answers, folded from observations, and which of them a prompt shows.

-- The version of the fold. A change of the arithmetic below needs a new one; then the daily cleanup folds all again.
create or replace function relay.fold_version() returns integer
language sql immutable set search_path = relay, extensions, pg_temp as $$ select 1 $$;

-- Returns the level that a strength allows: 0 low, 1 medium, 2 high. Without reinforcing observations a pattern is
-- provisional and stays low; with one, it is medium at most.
create or replace function relay.preference_level(p_strength numeric, p_reinforced integer) returns integer
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select least(case when p_strength >= 0.75 then 2 when p_strength >= 0.40 then 1 else 0 end, p_reinforced)
$$;

-- Returns a statement (null: none yet) after an observation that agrees with it.
create or replace function relay.strengthened(
    p_statement relay.statement, p_polarity integer, p_weight numeric, p_reinforcing integer, p_session bigint,
    p_at timestamptz)
returns relay.statement language plpgsql immutable set search_path = relay, extensions, pg_temp as $$
declare
    changed relay.statement := p_statement;
begin
    changed.polarity := p_polarity;
    changed.strength := least(1, coalesce(changed.strength, 0) + p_weight / 2.0);
    changed.reinforced := coalesce(changed.reinforced, 0) + p_reinforcing;
    changed.observations := coalesce(changed.observations, 0) + 1;
    changed.level := relay.preference_level(changed.strength, changed.reinforced);
    if p_session <> all (coalesce(changed.sessions, '{}')) then
        changed.sessions := coalesce(changed.sessions, '{}') || p_session;
    end if;
    changed.last_seen := p_at;
    changed.decayed := false;
    return changed;
end $$;

-- Returns a statement that nothing confirmed for 90 days: weaker, and one level lower.
create or replace function relay.weakened_by_time(p_statement relay.statement) returns relay.statement
language plpgsql immutable set search_path = relay, extensions, pg_temp as $$
declare
    changed relay.statement := p_statement;
begin
    changed.strength := changed.strength * 0.70;
    changed.level := least(greatest(changed.level - 1, 0),
        relay.preference_level(changed.strength, changed.reinforced));
    changed.decayed := true;
    return changed;
end $$;

create or replace function relay.as_preference(p_statement relay.statement, p_status text, p_shadow boolean) returns jsonb
language sql immutable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('polarity', p_statement.polarity, 'strength', round(p_statement.strength, 4),
        'level', p_statement.level, 'status', p_status, 'reinforced', p_statement.reinforced,
        'observations', p_statement.observations, 'sessions', cardinality(p_statement.sessions), 'shadow', p_shadow,
        'decayed', p_statement.decayed, 'last_seen', p_statement.last_seen)
$$;

-- Folds the observations of one pattern [{at, session_id, polarity, weight, reinforcing, said}], in order, to statements:
-- the current one, its shadow (the opposite, which is being learned), and the one that was put away last.
--
-- Agreement adds half of the weight. The first contradiction changes nothing; the second in a row takes a fifth, the third
-- from two sessions two fifths, and prompts no longer show the statement; from the fourth on it is under review, and its
-- shadow replaces it as soon as that is medium. What was said outright replaces it at once. After 90 days without
-- agreement a statement loses three tenths and a level, after 180 it is put away.
create or replace function relay.fold_observations(p_observations jsonb) returns jsonb
language plpgsql immutable set search_path = relay, extensions, pg_temp as $$
declare
    seen record;
    own relay.statement;
    shadow relay.statement;
    former relay.statement;
    at_first relay.statement;  -- as it was when the contradictions began
    contradictions integer := 0;
    sessions bigint[] := '{}';
begin
    for seen in
        select one.at, coalesce(one.session_id, 0) as session_id, one.polarity, one.weight, one.reinforcing, one.said
        from jsonb_to_recordset(p_observations) as one (
            at timestamptz, session_id bigint, polarity integer, weight numeric, reinforcing integer, said boolean)
    loop
        if own.polarity is not null and seen.at - own.last_seen >= interval '180 days' then
            former := own;
            own := case when shadow.polarity is not null and seen.at - shadow.last_seen < interval '180 days' then shadow end;
            shadow := null;
            contradictions := 0;
        end if;
        if own.polarity is not null and not own.decayed and seen.at - own.last_seen >= interval '90 days' then
            own := relay.weakened_by_time(own);
            at_first := relay.weakened_by_time(at_first);
        end if;
        if own.polarity is null or own.polarity = seen.polarity then
            own := relay.strengthened(
                own, seen.polarity, seen.weight, seen.reinforcing, seen.session_id, seen.at);
            shadow := null;
            contradictions := 0;
        else
            if contradictions = 0 then
                at_first := own;
                sessions := '{}';
            end if;
            contradictions := contradictions + 1;
            if seen.session_id <> all (sessions) then
                sessions := sessions || seen.session_id;
            end if;
            if seen.said or contradictions >= 4 and cardinality(sessions) >= 2 then
                own.strength := at_first.strength * 0.60;
                own.level := 0;
                shadow := relay.strengthened(
                    shadow, seen.polarity, seen.weight, seen.reinforcing, seen.session_id, seen.at);
                if shadow.level >= 1 then
                    former := own;
                    own := shadow;
                    shadow := null;
                    contradictions := 0;
                end if;
            elsif contradictions >= 3 and cardinality(sessions) >= 2 then
                own.strength := at_first.strength * 0.60;
                own.level := 0;
            elsif contradictions >= 2 then
                own.strength := at_first.strength * 0.80;
                own.level := least(at_first.level, relay.preference_level(own.strength, own.reinforced));
            end if;
        end if;
        if former.polarity = own.polarity or former.polarity = shadow.polarity then
            former := null;
        end if;
    end loop;
    return (
        select coalesce(jsonb_agg(one order by place), '[]') from (values
            (1, case when own.polarity is not null then relay.as_preference(
                own, case when shadow.polarity is not null then 'under_review' else 'stable' end, false) end),
            (2, case when shadow.polarity is not null then relay.as_preference(shadow, 'under_review', true) end),
            (3, case when former.polarity is not null then relay.as_preference(former, 'archived', false) end)
        ) as folded (place, one) where one is not null);
end $$;

-- Folds again the observations of one pattern that count: neither withdrawn nor forgotten. p_thread_id: those that only
-- count there; null: everywhere.
create or replace function relay.refold(
    p_space_id bigint, p_user_id bigint, p_thread_id bigint, p_type text, p_pattern text)
returns void language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    folded constant jsonb := relay.fold_observations((
        select coalesce(jsonb_agg(jsonb_build_object('at', o.at, 'session_id', o.session_id, 'polarity', o.polarity,
            'weight', o.weight, 'reinforcing', o.reinforcing, 'said', f.kind = 'said') order by o.at, o.id), '[]')
        from observation o join feedback f on f.id = o.feedback_id
        where o.space_id = p_space_id and o.user_id = p_user_id and o.type = p_type and o.pattern = p_pattern
            and o.thread_id is not distinct from p_thread_id and f.withdrawn_at is null and o.explicit and not o.pending
            and o.at > coalesce((
                select max(d.at) from preference_decision d
                where d.space_id = p_space_id and d.user_id = p_user_id and d.type = p_type and d.pattern = p_pattern
                    and d.thread_id is not distinct from p_thread_id and d.action = 'forget'), '-infinity')));
begin
    delete from preference p
    where space_id = p_space_id and user_id = p_user_id and thread_id is not distinct from p_thread_id
        and type = p_type and pattern = p_pattern
        and polarity not in (select (one ->> 'polarity')::smallint from jsonb_array_elements(folded) as one)
        and (sureness is null or not exists (
            select from observation o
            where o.space_id = p_space_id and o.user_id = p_user_id and o.type = p_type and o.pattern = p_pattern));
    -- The estimate from choices stays when the explicit statement goes.
    update preference set strength = 0, level = 0, status = 'stable', reinforced = 0, observations = 0, sessions = 0,
        shadow = false, decayed = false
    where space_id = p_space_id and user_id = p_user_id and thread_id is not distinct from p_thread_id
        and type = p_type and pattern = p_pattern and observations > 0
        and polarity not in (select (one ->> 'polarity')::smallint from jsonb_array_elements(folded) as one);
    insert into preference (space_id, user_id, thread_id, type, pattern, polarity, strength, level, status, reinforced,
        observations, sessions, shadow, decayed, last_seen, fold_version)
    select p_space_id, p_user_id, p_thread_id, p_type, p_pattern, polarity, strength, level, status, reinforced,
        observations, sessions, shadow, decayed, last_seen, relay.fold_version()
    from jsonb_to_recordset(folded) as one (
        polarity smallint, strength numeric, level smallint, status text, reinforced integer, observations integer,
        sessions integer, shadow boolean, decayed boolean, last_seen timestamptz)
    on conflict (space_id, user_id, thread_id, type, pattern, polarity) do update set strength = excluded.strength,
        level = excluded.level, status = excluded.status, reinforced = excluded.reinforced,
        observations = excluded.observations, sessions = excluded.sessions, shadow = excluded.shadow,
        decayed = excluded.decayed, last_seen = excluded.last_seen, fold_version = excluded.fold_version;
    -- An explicit statement of the opposite counts more than the estimate from choices.
    update preference p set sureness = null
    where space_id = p_space_id and user_id = p_user_id and thread_id is not distinct from p_thread_id
        and type = p_type and pattern = p_pattern and sureness is not null and exists (
            select from preference o
            where o.space_id = p.space_id and o.user_id = p.user_id and o.thread_id is not distinct from p.thread_id
                and o.type = p.type and o.pattern = p.pattern and o.polarity <> p.polarity and o.observations > 0);
    update preference p set told = relay.is_told(p)
    where space_id = p_space_id and user_id = p_user_id and thread_id is not distinct from p_thread_id
        and type = p_type and pattern = p_pattern and told <> relay.is_told(p);
end $$;

-- Tests whether a person was told of a preference, and has neither forgotten it nor been told of its opposite since, nor
-- was it put away and learned again.
create or replace function relay.is_told(p_preference relay.preference) returns boolean
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce((
        select action = 'told' and polarity = p_preference.polarity and not exists (
                select from (
                    select o.at, lag(o.at) over (order by o.at) as before from observation o
                    where (o.space_id, o.user_id, o.type, o.pattern, o.polarity) = (d.space_id, d.user_id, d.type,
                        d.pattern, d.polarity) and o.thread_id is not distinct from d.thread_id) seen
                where seen.at > d.at and seen.at - before >= interval '180 days')
        from preference_decision d
        where space_id = p_preference.space_id and user_id = p_preference.user_id and type = p_preference.type
            and pattern = p_preference.pattern and thread_id is not distinct from p_preference.thread_id
        order by at desc, id desc limit 1), false)
$$;

-- Trigger: notes whether the person of a preference that is found again was told of it before.
create or replace function relay.preference_added() returns trigger
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    new.told := relay.is_told(new);
    return new;
end $$;

create or replace trigger preference_added before insert on relay.preference
    for each row execute function relay.preference_added();

-- Trigger: when another answer replaces one in the chat, the old one no longer tells its person of preferences.
create or replace function relay.line_replaced() returns trigger
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    delete from preference_decision
    where turn_id = new.turn_id and action = 'told' and exists (select from turn where replaces_turn_id = new.turn_id);
    return null;
end $$;

create or replace trigger line_replaced after update of status on relay.message
    for each row when (new.status = 'replaced' and old.status <> 'replaced')
    execute function relay.line_replaced();

-- Trigger: updates relay.preference after any change of observations (relay.index = later: a move or a restore, which owes
-- the estimates at its end).
create or replace function relay.observations_changed() returns trigger
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    perform from space where id in (select space_id from changed) order by id for no key update;
    perform relay.refold(space_id, user_id, thread_id, type, pattern)
    from (select distinct space_id, user_id, thread_id, type, pattern from changed order by 1, 2, 3, 4, 5) touched;
    if current_setting('relay.index', true) is distinct from 'later' then
        perform relay.owe_estimates(space_id, user_id)
        from (select distinct space_id, user_id from changed order by 1, 2) people;
    end if;
    return null;
end $$;

create or replace trigger observations_added after insert on relay.observation
    referencing new table as changed for each statement execute function relay.observations_changed();
create or replace trigger observations_removed after delete on relay.observation
    referencing old table as changed for each statement execute function relay.observations_changed();
create or replace trigger decisions_added after insert on relay.preference_decision
    referencing new table as changed for each statement execute function relay.observations_changed();
create or replace trigger decisions_removed after delete on relay.preference_decision
    referencing old table as changed for each statement execute function relay.observations_changed();

-- Returns preferences as of a moment: those not said outright become medium at most, if all choices together are sure of
-- them; and time weakens them (relay.fold_observations). One statement, because every turn reads a person's preferences.
create or replace function relay.preferences_at(p_stored relay.preference[], p_at timestamptz)
returns setof relay.preference language plpgsql stable rows 50 set search_path = relay, extensions, pg_temp as $$
declare
    faded constant timestamptz := p_at - interval '2160 hours';  -- 90 days, however long a day is where the clock changes
    gone constant timestamptz := p_at - interval '4320 hours';
begin
    return query
    select p.id, p.space_id, p.user_id, p.thread_id, p.type, p.pattern, p.polarity,
        (case when fades then round(own.strength * 0.70, 4) else own.strength end)::numeric(5, 4),
        -- Seven tenths of any strength are too little for high.
        (case when fades then least(greatest(own.level - 1, 0), (round(own.strength * 0.70, 4) >= 0.40)::integer, p.reinforced)
            else own.level end)::smallint,
        case when p.last_seen <= gone then 'archived' else p.status end, p.reinforced, p.observations, p.sessions,
        p.shadow, p.decayed, p.sureness, p.last_seen, p.used_at, p.fold_version, p.untold, p.told
    from unnest(p_stored) p,
    lateral (select p.sureness is not null and p.status = 'stable' and p.level = 0 as guessed,
        p.last_seen <= faded and p.last_seen > gone and not p.decayed as fades) now,
    lateral (select case when guessed then greatest(p.strength, least(0.39 + (p.sureness - 1.5) / 10, 0.74))::numeric(5, 4)
            else p.strength end as strength,
        case when guessed then (p.sureness >= 2)::integer else p.level end as level) own;
end $$;

create or replace function relay.preference_json(p_preference relay.preference) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('id', p_preference.id, 'here', p_preference.thread_id is not null,
        'type', p_preference.type, 'pattern', p_preference.pattern, 'polarity', p_preference.polarity,
        'strength', p_preference.strength, 'level', (array['low', 'medium', 'high'])[p_preference.level + 1],
        'status', p_preference.status, 'shadow', p_preference.shadow, 'faded', p_preference.status = 'archived'
            and p_preference.last_seen <= now() - interval '180 days', 'reinforced', p_preference.reinforced,
        'observations', p_preference.observations, 'sessions', p_preference.sessions,
        'last_seen', p_preference.last_seen)
$$;

-- Stores which preferences time has put away: digests report those that answers had followed, unless that was long ago
-- (the database was restored since). Notes which preferences prompts have shown since the last night, and drops all but the
-- thousand used last of each person and space. What they were made from stays, so one that is taught again is found again.
create or replace function relay.put_preferences_away() returns void
language sql set search_path = relay, extensions, pg_temp as $$
    update preference set status = 'archived',
        untold = status = 'stable' and (level >= 1 or sureness >= 2) and last_seen > now() - interval '210 days'
    where status <> 'archived' and last_seen <= now() - interval '180 days';
    update preference p set used_at = shown.at
    from (
        select one::bigint as id, max(t.answered_at) as at
        from turn t, jsonb_array_elements_text(t.prompt -> 'preferences') as one
        where t.answered_at > now() - interval '2 days'
        group by 1) shown
    where p.id = shown.id and p.used_at < shown.at;
    delete from preference where id in (
        select id from (
            select id, row_number() over (partition by space_id, user_id order by used_at desc, id desc) as nr
            from preference) ranked
        where nr > 1000);
$$;

-- Returns the preferences in a person's own space that time has put away and no digest has reported: [{pattern, polarity,
-- messages: the answers that taught it}].
create or replace function relay.put_away(p_space_id bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_agg(jsonb_build_object('pattern', p.pattern, 'polarity', p.polarity, 'messages', (
            select coalesce(jsonb_agg(distinct f.message_id), '[]')
            from observation o join feedback f on f.id = o.feedback_id and f.message_id is not null
            where o.space_id = p.space_id and o.user_id = p.user_id and o.type = p.type and o.pattern = p.pattern))
        order by p.pattern, p.id), '[]')
    from preference p join space s on s.id = p.space_id and s.kind = 'private'
    where p.space_id = p_space_id and p.status = 'archived' and p.untold
$$;

-- Returns why preferences are neither used nor learned: private, off or paused. Null if they are.
create or replace function relay.preferences_rest(p_space_id bigint, p_session_id bigint)
returns text language sql stable set search_path = relay, extensions, pg_temp as $$
    select case
        when exists (select from session where id = p_session_id and private) then 'private'
        when s.memory = 'off' or s.preferences = 'off' then 'off'
        when not relay.remembers(s.id) or s.preferences_paused_until > now() then 'paused' end
    from space s where s.id = p_space_id
$$;

-- Stores that a person was told under an answer that preferences (p_ids) take effect from now on.
create or replace function relay.tell_preferences(p_turn relay.turn, p_ids jsonb) returns void
language sql set search_path = relay, extensions, pg_temp as $$
    insert into preference_decision (space_id, user_id, thread_id, type, pattern, polarity, action, turn_id)
    select space_id, user_id, thread_id, type, pattern, polarity, 'told', p_turn.id from preference
    where p_ids @> to_jsonb(id) and space_id = p_turn.space_id and user_id = p_turn.user_id
$$;

-- Returns the preferences of which a person was told under an answer.
create or replace function relay.told_preferences(p_turn relay.turn) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select coalesce(jsonb_agg(relay.preference_json(p) order by p.strength desc, p.id), '[]') from preference p
    where p_turn.told -> 'acting' @> to_jsonb(p.id) and p.space_id = p_turn.space_id and p.user_id = p_turn.user_id
$$;

-- Returns the preferences that a prompt may show: the sixty strongest stable ones, and all of this thread's own, which
-- replace others however weak they are; [] if it may show none. p_lent: the person's own space, if its memory is lent for
-- the turn; the group's preference for a pattern wins. `new`: they have not been told of it. Text, because that is faster
-- to make than jsonb, and need not be parsed if it equals the last turn's.
create or replace function relay.preferences_for_prompt(p_thread relay.thread, p_user_id bigint, p_lent bigint)
returns text language plpgsql stable set search_path = relay, extensions, pg_temp as $$
declare
    faded constant timestamptz := now() - interval '2160 hours';
begin
    if not exists (select from preference where space_id in (p_thread.space_id, p_lent) and user_id = p_user_id)
        or p_thread.preferences = 'ignore' or not p_thread.recalls
        or relay.preferences_rest(p_thread.space_id, p_thread.session_id) is not null
    then
        return '[]';
    end if;
    return (
        select coalesce(json_agg(shown order by strength desc, id), '[]') from (
            select p.id, p.thread_id is not null as here, p.type, p.pattern, p.polarity, p.strength,
                (array['low', 'medium', 'high'])[p.level + 1] as level, p.status, p.last_seen, not p.told as new
            from (
                -- Most have not changed since they were stored: an index finds the strongest of these.
                (select * from preference
                where space_id = p_thread.space_id and user_id = p_user_id and status = 'stable' and sureness is null
                    and last_seen > faded and (thread_id is null or thread_id = p_thread.id)
                order by strength desc, id limit 60)
                union all
                select * from relay.preferences_at(array(
                    select stored from preference stored
                    where stored.space_id in (p_thread.space_id, p_lent) and stored.user_id = p_user_id
                        and stored.status = 'stable' and case when stored.space_id = p_thread.space_id
                            then (stored.sureness is not null or stored.last_seen <= faded)
                                and (stored.thread_id is null or stored.thread_id = p_thread.id)
                            else stored.thread_id is null and relay.preferences_rest(p_lent, null) is null
                                and not exists (
                                    select from preference o
                                    where o.space_id = p_thread.space_id and o.user_id = p_user_id
                                        and o.type = stored.type and o.pattern = stored.pattern
                                        and o.status <> 'archived') end), now())
                where status = 'stable') p
            where p.strength >= 0.40 or p.thread_id is not null order by p.strength desc, p.id limit 60) as shown);
end $$;
