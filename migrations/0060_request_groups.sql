-- The chats of the groups that a stored answer may quote: it is repeated only for those who still see them.
alter table relay.api_request add column groups bigint[] not null default '{}';
-- It has another parameter.
drop function if exists public.relay_end_api_request(bigint, text, integer, text, text);
