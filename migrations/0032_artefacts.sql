-- The index takes entries of any kind of artefact: relay.artefact_kinds() lists them.
alter table relay.entry drop constraint entry_kind_check;
alter table relay.index_progress drop constraint index_progress_kind_check;
