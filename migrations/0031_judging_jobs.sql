-- Judging is a job. The cursors stay; what was due is owed as jobs, and the old columns for that stay unused. No message
-- comes in meanwhile: each is marked by the old function or by the new one.
lock table relay.message in share row exclusive mode;
insert into relay.job (kind, key, payload, due_at, failures, last_error)
select 'judging', thread_id::text, jsonb_build_object('thread_id', thread_id),
    case when failures > 0 then not_before when bulk then timestamptz 'epoch' else '-infinity' end, failures,
    case when failures > 0 then coalesce(error, '') end
from relay.judging where due_at is not null order by thread_id
on conflict do nothing;
insert into relay.job (kind, key, payload, due_at)
select 'judging', thread_id::text, jsonb_build_object('thread_id', thread_id), min(at)
from relay.judge_again group by thread_id order by thread_id
on conflict do nothing;
-- A process of the version before that is judging just now keeps nothing of it: that is judged again as a job.
update relay.judging set due_at = null, lease_owner = null, lease_until = null
where due_at is not null or lease_owner is not null;
drop index if exists relay.judging_due;
