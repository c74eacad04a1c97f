-- What a turn writes is entered into the indexes of words a moment later, beside answering.
create table relay.entry_due (message_id bigint primary key);
-- With a short list of what was not sorted in yet: relay_index_missing sorts it in, so that searches find next to none of
-- it, and where that may not, whoever fills it.
alter index relay.message_words set (fastupdate = on, gin_pending_list_limit = 64);
