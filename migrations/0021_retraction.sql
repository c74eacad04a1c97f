-- Messages of ours in chats that repeat what was erased.

-- Each is to be deleted there, or edited to what stays of it (request: text, entities, reply_markup). It goes from here
-- once that is done. It holds nothing of what was erased.
create table relay.retraction (
    bot_id bigint not null,
    chat_id bigint not null,
    telegram_message_id bigint not null,
    erasure_id bigint not null,
    request jsonb,
    sent_at timestamptz not null,
    primary key (bot_id, chat_id, telegram_message_id)
);

-- Of an erasure, posted now lists what its person has to delete: [{chat_id, message_id, at, what}], what: yours (they
-- wrote it), ours (Telegram keeps it), export.
update relay.erasure set posted = null where posted is not null;

-- They take the erasure along now.
drop function if exists relay.erase_turns(bigint[]);
drop function if exists relay.erase_messages(bigint, bigint[]);
drop function if exists relay.erase_memory_rows(bigint, bigint[]);
drop function if exists relay.erase_posted(bigint[]);
drop function if exists public.relay_erase_posted(bigint, bigint);
drop function if exists public.relay_erase_preview(jsonb, jsonb, bigint, boolean);
drop function if exists public.relay_announce_anew(bigint, uuid);
