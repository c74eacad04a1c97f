-- What keeps the index right: triggers of what it is made from. And what fills it where it is missing.

-- A message was written, changed or erased: its entry follows, and those of the documents that it brought.
create or replace function relay.message_written() returns trigger
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own bigint := coalesce(new.id, old.id);
begin
    perform relay.reindex('message', own);
    if tg_op = 'UPDATE' then
        perform relay.reindex('part', d.id) from document d where d.message_id = own;
    end if;
    return null;
end $$;
create or replace trigger message_written
    after insert or update of space_id, thread_id, session_id, role, user_id, name, text, status, created_at or delete
    on relay.message for each row execute function relay.message_written();

create or replace function relay.memory_written() returns trigger
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    perform relay.reindex('memory', coalesce(new.id, old.id));
    return null;
end $$;
create or replace trigger memory_written
    after insert or update of space_id, kind, subject_id, subject, content, tags, status, thread_id, session_id, created_at
    or delete on relay.memory for each row execute function relay.memory_written();

-- A summary was written, changed or erased: the one that it took up is found no more, or again.
create or replace function relay.summary_written() returns trigger
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    perform relay.reindex('summary', coalesce(new.id, old.id));
    perform relay.reindex('summary', id)
    from unnest(array[old.previous_id, new.previous_id]) as id where id is not null;
    return null;
end $$;
create or replace trigger summary_written
    after insert or update of thread_id, session_id, previous_id, text, created_at or delete
    on relay.summary for each row execute function relay.summary_written();

create or replace function relay.part_written() returns trigger
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    perform relay.reindex('part', coalesce(new.document_id, old.document_id), coalesce(new.part, old.part));
    return null;
end $$;
create or replace trigger part_written after insert or update or delete
    on relay.document_part for each row execute function relay.part_written();

create or replace function relay.document_written() returns trigger
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    perform relay.reindex('part', new.id);
    return null;
end $$;
create or replace trigger document_written after update of message_id, space_id
    on relay.document for each row when (old.message_id <> new.message_id or old.space_id <> new.space_id)
    execute function relay.document_written();

-- A session went off the record, or back, or to another space: so does all that was said in it.
create or replace function relay.session_written() returns trigger
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    perform relay.reindex('message', id) from message where session_id = new.id;
    perform relay.reindex('memory', id) from memory where session_id = new.id;
    perform relay.reindex('summary', id) from summary where session_id = new.id;
    perform relay.reindex('part', d.id) from message m join document d on d.message_id = m.id
        where m.session_id = new.id;
    return null;
end $$;
create or replace trigger session_written after update of private, space_id
    on relay.session for each row when (old.private <> new.private or old.space_id <> new.space_id)
    execute function relay.session_written();

-- The next sources of a kind after an id (and part) whose entries may be missing, in the order of their ids.
create or replace function relay.unindexed(p_kind text, p_after bigint, p_part integer, p_limit integer)
returns table (id bigint, part integer)
language plpgsql stable set search_path = relay, extensions, pg_temp as $$
#variable_conflict use_column
begin
    if p_kind = 'part' then
        return query select document_id, part from document_part
            where (document_id, part) > (p_after, p_part) order by document_id, part limit p_limit;
    else
        return query execute format('select id, 0 from relay.%I where id > $1 order by id limit $2', p_kind)
            using p_after, p_limit;
    end if;
end $$;

-- Makes the entries that are missing, of up to p_limit sources and for a second: where what is there was not indexed when
-- it was written (by an earlier version, in a move, from a backup). Returns how many sources were looked at: 0 when
-- everything is indexed.
create or replace function public.relay_index_missing(p_limit integer) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    kinds constant text[] := array['memory', 'summary', 'part', 'message'];
    one record;
    own index_progress;
    looked integer := 0;
begin
    perform pg_advisory_xact_lock(hashtext('relay.index_missing'));
    foreach own.kind in array kinds loop
        select p.after_id, p.after_part into own.after_id, own.after_part from index_progress p where p.kind = own.kind;
        if not found then
            own.after_id := 0;
            own.after_part := 0;
        end if;
        for one in select * from relay.unindexed(own.kind, own.after_id, own.after_part, p_limit - looked) loop
            if not exists (
                select from entry e where e.kind = own.kind and e.source_id = one.id and e.part = one.part)
            then
                perform relay.reindex(own.kind, one.id, one.part);
            end if;
            own.after_id := one.id;
            own.after_part := one.part;
            looked := looked + 1;
            exit when clock_timestamp() > statement_timestamp() + interval '1 second';
        end loop;
        insert into index_progress values (own.kind, own.after_id, own.after_part)
        on conflict (kind) do update set after_id = excluded.after_id, after_part = excluded.after_part;
        exit when looked >= p_limit or clock_timestamp() > statement_timestamp() + interval '1 second';
    end loop;
    perform relay.add_up_words(20000);
    return to_jsonb(looked);
end $$;
