-- When a memory last bore on what somebody said. Of those that there are already nobody knows: they count as used.
alter table relay.memory add column recalled_at timestamptz;
update relay.memory set recalled_at = coalesce(last_used_at, updated_at) where kind = 'learning';
-- Learnings that nothing has borne out so far.
create index memory_unproved on relay.memory (space_id, created_at)
    where status = 'active' and kind = 'learning' and recalled_at is null and not pinned;
