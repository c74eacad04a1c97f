-- What every turn reads of preferences is stored with them: whether their person was told of it. The functions that worked
-- it out anew are gone.
create index preference_strongest on relay.preference (space_id, user_id, strength desc, id)
    where status = 'stable' and sureness is null;
alter table relay.preference add column told boolean not null default false;
update relay.preference p set told = true
where exists (
    select from relay.preference_decision d
    where d.space_id = p.space_id and d.user_id = p.user_id and d.type = p.type and d.pattern = p.pattern
        and d.thread_id is not distinct from p.thread_id and d.polarity = p.polarity and d.action = 'told');
drop function if exists relay.preference_at(relay.preference, timestamptz);
drop function if exists relay.is_new(relay.preference);
drop function if exists relay.preferences_for_prompt(relay.thread, bigint, bigint);
