-- Messages of turns that are entered into the index a moment later, beside answering.
create table relay.entry_due (message_id bigint primary key);
