-- What keeps the index right: triggers of what it is made from. And what fills it where it is missing.

-- A message was written, changed or erased: its entry follows, and those of the documents that it brought. What a turn
-- writes (relay.index is soon) is entered a moment after it.
create or replace function relay.message_written() returns trigger
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    own bigint := coalesce(new.id, old.id);
begin
    if tg_op = 'INSERT' then  -- it can have no entry that is to go
        case current_setting('relay.index', true)
            when 'soon' then insert into entry_due (message_id) values (own);
            when 'later' then null;
            else perform relay.enter('message', array[own], array[null::integer]);
        end case;
        return null;
    end if;
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

-- Parts of a document were written or changed: their entries follow, those of many at once a little later.
create or replace function relay.parts_written() returns trigger
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    if current_setting('relay.index', true) = 'later' then
        return null;
    elsif (select count(*) from made) > 50 then
        insert into index_due (document_id) select distinct document_id from made
        on conflict (document_id) do update set after_part = 0;
    else
        perform relay.enter('part', array_agg(document_id), array_agg(part)) from made;
    end if;
    return null;
end $$;
create or replace trigger parts_made after insert on relay.document_part
    referencing new table as made for each statement execute function relay.parts_written();
create or replace trigger parts_changed after update on relay.document_part
    referencing new table as made for each statement execute function relay.parts_written();

create or replace function relay.part_gone() returns trigger
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    perform relay.reindex('part', old.document_id, old.part);
    return null;
end $$;
create or replace trigger part_gone after delete
    on relay.document_part for each row execute function relay.part_gone();

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

-- Enters the parts of long documents that wait for it, until a second is over. Returns how many.
create or replace function relay.index_documents() returns integer
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    due index_due;
    next integer[];
    looked integer := 0;
begin
    loop
        select * into due from index_due order by document_id limit 1 for update;
        exit when not found;
        next := array(select part from document_part
            where document_id = due.document_id and part > due.after_part order by part limit 20);
        if next = '{}' then
            delete from index_due where document_id = due.document_id;
        else
            perform relay.enter('part', array_fill(due.document_id, array[cardinality(next)]), next);
            update index_due set after_part = next[cardinality(next)] where document_id = due.document_id;
            looked := looked + cardinality(next);
        end if;
        exit when clock_timestamp() > statement_timestamp() + interval '1 second';
    end loop;
    return looked;
end $$;

-- Enters messages of turns that wait for it, up to p_limit. Returns how many. Whoever changes or erases one just now is
-- not waited for: it waits on; whoever comes to it meanwhile waits, and finds its entry. In the order of ids, as all who
-- enter messages: so none waits for another in a circle. Nobody waits for the disk: what is lost is due again.
create or replace function relay.enter_due(p_limit integer) returns integer
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    due constant bigint[] := array(
        select message_id from entry_due order by message_id limit p_limit for update skip locked);
    ids bigint[];
begin
    if due = '{}' then
        return 0;
    end if;
    perform set_config('synchronous_commit', 'off', true);
    ids := array(
        select m.id from message m join session s on s.id = m.session_id where m.id = any (due)
        order by m.id for share skip locked);
    perform relay.enter('message', ids, array_fill(null::integer, array[cardinality(ids)]));
    delete from entry_due d
    where d.message_id = any (due)
        and (d.message_id = any (ids) or not exists (select from message where id = d.message_id));
    return cardinality(ids);
end $$;

-- Sorts the words of new messages into their index. Only whoever owns it may: else it is done by the turn that makes the
-- list too long.
create or replace function relay.sort_in_words() returns void
language sql set search_path = relay, extensions, pg_temp as $$
    select gin_clean_pending_list(oid) from pg_class
    where oid = 'relay.message_words'::regclass and pg_has_role(relowner, 'usage')
$$;

-- Enters what turns wrote; and makes the entries that are missing, of up to p_limit sources and for a second: of long
-- documents, and where what is there was not indexed when it was written (by an earlier version, in a move, from a
-- backup). Returns how many sources were looked at while there may be more, else how many were missing: what is said
-- meanwhile is told by its turn, and is no reason to go on.
create or replace function public.relay_index_missing(p_limit integer) returns jsonb
language plpgsql set search_path = relay, extensions, pg_temp as $$
declare
    kinds constant text[] := array['memory', 'summary', 'part', 'message'];
    own index_progress;
    ids bigint[];
    parts integer[];
    looked integer;
    entered integer;
    due integer;
begin
    perform pg_advisory_xact_lock(hashtext('relay.index_missing'));
    entered := relay.index_documents();
    looked := entered;
    loop
        exit when looked >= p_limit or clock_timestamp() > statement_timestamp() + interval '1 second';
        due := relay.enter_due(least(50, p_limit - looked));
        exit when due = 0;
        looked := looked + due;
    end loop;
    foreach own.kind in array kinds loop
        select p.after_id, p.after_part into own.after_id, own.after_part from index_progress p where p.kind = own.kind;
        own.after_id := coalesce(own.after_id, 0);
        own.after_part := coalesce(own.after_part, 0);
        loop
            exit when looked >= p_limit or clock_timestamp() > statement_timestamp() + interval '1 second';
            select array_agg(u.id order by u.id, u.part), array_agg(u.part order by u.id, u.part) into ids, parts
            from relay.unindexed(own.kind, own.after_id, own.after_part, least(20, p_limit - looked)) u;
            exit when ids is null;
            own.after_id := ids[cardinality(ids)];
            own.after_part := parts[cardinality(parts)];
            looked := looked + cardinality(ids);
            -- In order, however it is joined: else two who enter messages wait for each other.
            select array_agg(u.id order by u.id, u.part), array_agg(u.part order by u.id, u.part) into ids, parts
            from unnest(ids, parts) as u (id, part)
            where not exists (
                select from entry e where e.kind = own.kind and e.source_id = u.id and e.part = u.part);
            perform relay.enter(own.kind, ids, parts);
            entered := entered + coalesce(cardinality(ids), 0);
        end loop;
        insert into index_progress values (own.kind, own.after_id, own.after_part)
        on conflict (kind) do update set after_id = excluded.after_id, after_part = excluded.after_part;
    end loop;
    perform relay.add_up_words(20000);
    perform relay.sort_in_words();
    return to_jsonb(case when looked < p_limit and clock_timestamp() <= statement_timestamp() + interval '1 second'
        then entered else looked end);
end $$;
