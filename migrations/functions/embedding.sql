-- Vectors: entries that need one, and storing them.

-- Indexes what turns wrote, then leases entries that need a vector, newest first: [{entry_id, since, said (by a
-- person), text (its beginning), hash}]. An entry that was leased and not stored returns after p_lease_seconds, then
-- after twice that, up to a day.
create or replace function public.relay_take_embed_due(p_limit integer, p_lease_seconds integer) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    select relay.enter_due(50);
    with picked as (
        select entry_id from embed_due
        where leased_until is null or leased_until < now() or leased_until > now() + interval '25 hours'
        order by since desc, entry_id desc limit p_limit for update skip locked),
    taken as (
        update embed_due d set tries = least(d.tries + 1, 20),
            leased_until = now() + make_interval(secs => least(86400, p_lease_seconds * 2 ^ least(d.tries, 16)))
        from picked where d.entry_id = picked.entry_id returning d.entry_id, d.since)
    select coalesce(jsonb_agg(jsonb_build_object(
            'entry_id', t.entry_id, 'since', t.since,
            'said', e.kind = 'message' and e.role = 'user', 'text', left(own.text, 16000), 'hash', md5(own.text))
        order by t.since desc, t.entry_id desc), '[]')
    from taken t join entry e on e.id = t.entry_id, lateral (select coalesce(relay.entry_text(e), '') as text) own
$$;

-- Stores vectors: [{entry_id, since, hash, vector}]; a null vector means there is nothing to embed. Returns how many
-- were stored. An entry whose text has changed since the lease is skipped and due at once.
create or replace function public.relay_store_embeddings(p_model text, p_rows jsonb) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    with given as (
        select (one ->> 'entry_id')::bigint as entry_id, (one ->> 'since')::timestamptz as since, one ->> 'hash' as hash,
            (one ->> 'vector')::vector as vector
        from jsonb_array_elements(p_rows) one),
    -- Never waits for an erasure, which locks in the other order.
    own as (
        select e.id, e.space_id, md5(coalesce(relay.entry_text(e), '')) as hash from entry e
        where e.id in (select entry_id from given) order by e.id for key share skip locked),
    fits as (
        select g.entry_id, g.since, o.space_id, g.vector from given g
        join own o on o.id = g.entry_id and o.hash = g.hash),
    gone as (delete from embedding where entry_id in (select entry_id from fits where vector is null)),
    kept as (
        insert into embedding (entry_id, space_id, model, vector)
        select entry_id, space_id, p_model, vector from fits where vector is not null
        on conflict (entry_id) do update set space_id = excluded.space_id, model = excluded.model,
            vector = excluded.vector, made_at = now()),
    again as (
        update embed_due set leased_until = null, tries = 0
        where entry_id in (
            select entry_id from embed_due
            where entry_id in (select entry_id from given except select entry_id from fits) for update skip locked)),
    -- Skips entries that were just queued again.
    done as (delete from embed_due d using fits f where d.entry_id = f.entry_id and d.since = f.since)
    select to_jsonb(count(*)) from fits
$$;

-- Releases leases without counting a failure.
create or replace function public.relay_return_embed_due(p_entries jsonb) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    with returned as (
        update embed_due set leased_until = null, tries = greatest(0, tries - 1)
        where entry_id in (select jsonb_array_elements_text(p_entries)::bigint) returning 1)
    select to_jsonb(count(*)) from returned
$$;

-- Returns a model's progress. `serves`: the model with the most vectors, which questions use; p_model if none is ahead.
create or replace function public.relay_embedding_status(p_model text) returns jsonb
language sql stable set search_path = relay, extensions, pg_temp as $$
    with made as (select model, count(*) as many from embedding group by model),
    own as (select coalesce((select many from made where model = p_model), 0) as many)
    select jsonb_build_object(
        'entries', (select count(*) from entry where kind <> 'version'),
        'embedded', own.many,
        'due', (select count(*) from embed_due),
        'of_other_models', (select coalesce(sum(many), 0) from made where model <> p_model),
        'serves', coalesce((select model from made where model <> p_model and many > own.many
            order by many desc, model limit 1), p_model),
        'rebuilding', exists (select from embedding_rebuild))
    from own
$$;

-- Queues entries whose vector another model made, after everything new, up to p_limit. Returns how many. Old vectors
-- serve until they are replaced, so the work can be interrupted at any time.
create or replace function public.relay_embed_again(p_model text, p_limit integer) returns jsonb
language sql set search_path = relay, extensions, pg_temp as $$
    with others as (
        (select entry_id from embedding m where m.model < p_model
            and not exists (select from embed_due d where d.entry_id = m.entry_id) limit p_limit)
        union all
        (select entry_id from embedding m where m.model > p_model
            and not exists (select from embed_due d where d.entry_id = m.entry_id) limit p_limit)),
    due as (
        insert into embed_due (entry_id, since) select entry_id, 'epoch' from others limit p_limit
        on conflict do nothing returning 1)
    select to_jsonb(count(*)) from due
$$;

-- Queues all entries for new vectors, p_limit at a time. p_start begins a rebuild unless one is running. Returns how
-- many were queued; 0 when done, or when none is running.
create or replace function public.relay_embed_everything(p_start boolean, p_limit integer) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    reached bigint;
    upto bigint;
    put integer;
begin
    if p_start and not exists (select from embed_due where since = 'epoch') then
        insert into embedding_rebuild default values on conflict do nothing;
    end if;
    select through into reached from embedding_rebuild for update;
    if reached is null then
        return to_jsonb(0);
    end if;
    select max(id), count(*) into upto, put from (
        select id from entry where id > reached order by id limit p_limit) step;
    if upto is null then
        delete from embedding_rebuild where true;
        return to_jsonb(0);
    end if;
    insert into embed_due (entry_id, since)
    select id, 'epoch' from entry where id > reached and id <= upto and kind <> 'version'
    on conflict do nothing;
    update embedding_rebuild set through = upto where true;
    return to_jsonb(put);
end $$;
