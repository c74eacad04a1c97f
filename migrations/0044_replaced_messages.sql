-- A list of a conversation's markers leaves out those of answers that others replaced. They are few, so they are found
-- by themselves, instead of by a look at each marked message.
create index message_replaced on relay.message (thread_id) where status = 'replaced';
drop function if exists relay.sweep_words(relay.erasure, bigint);
