-- Lists of memories read what they count, and which memories a kind or state has, from indexes alone.
create index memory_counts on relay.memory (space_id, kind, category) include (id, valid_until, pinned, validated_at)
    where status = 'active';
drop index relay.memory_sort;
create index memory_past on relay.memory (space_id) where status in ('superseded', 'archived');
drop function if exists relay.project_line(relay.thread);
