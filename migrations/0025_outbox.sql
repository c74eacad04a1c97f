-- The outbox: every message on its way to a chat. Parts of a reply belong to its turn. A message that no update asked for
-- (a digest, an alert, an announcement) is queued without one, and gets a turn of its own when it is due.
alter table relay.delivery rename to outbox;
alter table relay.outbox alter column turn_id drop not null;
alter table relay.outbox drop constraint delivery_status_check;
alter table relay.outbox add constraint outbox_status_check
    check (status in ('queued', 'waiting', 'sending', 'preview', 'sent', 'failed'));
alter table relay.outbox add column topic_id bigint not null default 0;
-- Of a queued message: whom it is for, whose memory it shows, and what it was made of, by the names of derivations' inputs.
alter table relay.outbox add column user_id bigint;
alter table relay.outbox add column space_id bigint references relay.space;
alter table relay.outbox add column inputs jsonb;
-- It is queued once by this key, and sent no sooner than then. One that goes under the answer of a turn waits for its end.
alter table relay.outbox add column dedupe_key text;
alter table relay.outbox add column not_before timestamptz;
alter table relay.outbox add column under_turn_id bigint references relay.turn;
create unique index outbox_dedupe on relay.outbox (bot_id, dedupe_key) where dedupe_key is not null;
create index outbox_due on relay.outbox (bot_id, not_before, id) where status = 'queued' and turn_id is null;
create index outbox_queued on relay.outbox (bot_id, chat_id, topic_id, not_before, id)
    where status = 'queued' and turn_id is null;
create index outbox_under on relay.outbox (under_turn_id) where status = 'queued' and turn_id is null;

-- What was to be said is queued.
insert into relay.outbox (seq, bot_id, chat_id, topic_id, user_id, space_id, inputs, request, status, not_before)
select 1, i.bot_id, (i.payload #>> '{message,chat,id}')::bigint,
    coalesce((i.payload #>> '{message,message_thread_id}')::bigint, 0), i.user_id, t.space_id, t.prompt -> 'inputs',
    i.payload -> 'notice', 'queued', now()
from relay.inbox i join relay.turn t on t.id = i.turn_id
where i.update_id < 0 and i.payload ? 'notice' and t.status = 'working' order by t.id;
update relay.turn t set status = 'done', done_at = now(), lease_owner = null, lease_until = null from relay.inbox i
where i.turn_id = t.id and i.update_id < 0 and i.payload ? 'notice' and t.status = 'working';
update relay.inbox i set status = 'done', payload = null from relay.turn t
where t.id = i.turn_id and i.update_id < 0 and i.payload ? 'notice' and t.status = 'done';
insert into relay.outbox (seq, bot_id, chat_id, topic_id, user_id, space_id, request, status, not_before, under_turn_id)
select 1, a.bot_id, h.chat_id, h.topic_id, t.user_id, t.space_id, '{}', 'queued', now(), t.id
from relay.announcement a join relay.turn t on t.id = a.turn_id join relay.thread h on h.id = t.thread_id
where a.status = 'due' order by t.id;
drop function if exists public.relay_claim_announcements(bigint, uuid, integer, integer);
drop function if exists public.relay_announced(bigint, uuid, integer, jsonb);
drop function if exists public.relay_announce_anew(bigint, uuid, jsonb);
drop function if exists public.relay_announced_anew(bigint, bigint, bigint);
drop function if exists public.relay_put_off_announcement(bigint, uuid, double precision);
drop function if exists public.relay_fail(bigint, bigint, text, double precision, integer);
drop function if exists relay.post_notice(bigint, bigint, bigint, bigint, jsonb);
drop function if exists relay.rest_of(relay.outbox, relay.erasure, jsonb);
-- The previous version knows the table by its old name.
create view relay.delivery as select id, turn_id, seq, bot_id, chat_id, message_id, request, preview, status, sending_text,
    floor_message_id, telegram_message_id, error, created_at, sent_at, echo_of from relay.outbox;
