-- Only the latest summary of a session is found: an earlier one repeats its words, and may have what it corrects.
create index summary_session on relay.summary (session_id, through_message_id desc, id desc);
delete from relay.entry e using relay.summary s
where e.kind = 'summary' and e.source_id = s.id and exists (
    select from relay.summary n
    where n.session_id = s.session_id and (n.through_message_id, n.id) > (s.through_message_id, s.id));
