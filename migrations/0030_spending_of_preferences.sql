-- The small model is also asked which patterns an act was about, and what could be better about a text.
alter table relay.spend drop constraint spend_what_check;
alter table relay.spend add constraint spend_what_check check (what in (
    'answer', 'summary', 'title', 'judge', 'proposal', 'digest', 'rederive', 'preference', 'critique'));
