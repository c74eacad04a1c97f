-- A search among memories by words looks at subjects and tags, too; memory_content has only their texts.
create function relay.memory_labels(p_subject text, p_tags text[]) returns text
language plpgsql immutable parallel safe set search_path = relay, extensions, pg_temp as $$
begin  -- half of the time that a function in SQL takes
    return concat_ws(' ', p_subject, array_to_string(p_tags, ' '));
end $$;
create index memory_labels on relay.memory
    using gin (space_id, relay.memory_labels(subject, tags) extensions.gin_trgm_ops) where status = 'active';
-- Memories that are not active are listed in the order of their ids, and counted.
drop index relay.memory_past;
create index memory_past on relay.memory (space_id, id desc) where status in ('superseded', 'archived');
create index memory_pending on relay.memory (space_id, id desc) where status = 'pending';
drop function if exists relay.chosen_memories(bigint, jsonb);
drop function if exists relay.count_memories(bigint);
drop function if exists relay.count_session(bigint);
drop function if exists public.relay_marks(bigint);
