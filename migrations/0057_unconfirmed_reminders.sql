-- What nobody confirmed is told at its time, and ends. What has been past for a day ends without a word.
update relay.reminder set status = 'ended', changed_at = now()
where status = 'proposed' and next_at < now() - interval '1 day';
insert into relay.job as j (kind, key, payload, due_at)
select 'reminder', format('%s:%s:%s', bot_id, chat_id, topic_id),
    case when bot_id = 0 then '{}'::jsonb else jsonb_build_object('bot_id', bot_id) end, min(next_at)
from relay.reminder where status = 'proposed' and next_at is not null group by bot_id, chat_id, topic_id
on conflict (kind, key) do update set due_at = least(j.due_at, excluded.due_at) where j.due_at < 'infinity';
