-- The soul: the personality, versioned. Versions are never overwritten, and the active one is always the latest.

-- The active soul: {version, text, author_id, author, reason, active, created_at}.
create or replace function public.relay_soul() returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select to_jsonb(s) from soul s where s.active
$$;

-- One version of it; null when there is none of that number.
create or replace function public.relay_soul_version(p_version bigint) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select to_jsonb(s) from soul s where s.version = p_version
$$;

-- The versions, newest first: {total, souls}.
create or replace function public.relay_souls(p_skip bigint, p_limit integer) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    select jsonb_build_object('total', (select count(*) from soul), 'souls', coalesce((
        select jsonb_agg(to_jsonb(page) order by page.version desc)
        from (select * from soul order by version desc offset p_skip limit p_limit) page), '[]'))
$$;

-- Makes a new version active. The same text as the active one makes none; returns the version that is active then.
create or replace function relay.activate_soul(p_text text, p_author_id bigint, p_author text, p_reason text)
returns integer
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
    return active_version;
end $$;

create or replace function public.relay_activate_soul(
    p_text text, p_author_id bigint, p_author text, p_reason text)
returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    select to_jsonb(relay.activate_soul(p_text, p_author_id, p_author, p_reason))
$$;

-- Keeps a text as a draft and returns its id: the same one for the same turn. p_based_on: the version it was made from.
create or replace function public.relay_draft_soul(
    p_turn_id bigint, p_text text, p_author_id bigint, p_author text, p_reason text, p_based_on bigint)
returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    insert into soul_draft (turn_id, text, author_id, author, reason, based_on)
    values (p_turn_id, p_text, p_author_id, p_author, p_reason, (select version from soul where version = p_based_on))
    on conflict (turn_id) do update set turn_id = excluded.turn_id
    returning to_jsonb(id)
$$;

-- Decides an open draft, once: p_decision is activate or discard. It is activated only as long as the version is active
-- to which the person saw the difference (p_seen). Returns the draft as it stands then; null when there is none.
create or replace function public.relay_decide_soul_draft(
    p_draft_id bigint, p_decision text, p_seen bigint, p_user_id bigint)
returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
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
            version = relay.activate_soul(text, author_id, author, reason)
        where id = draft.id returning * into draft;
    end if;
    return case when draft.id is not null then to_jsonb(draft) end;
end $$;
