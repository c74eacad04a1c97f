-- What was told without being asked is found by what it was made from: it goes with that.
create index outbox_made_from on relay.outbox (space_id) where message_id is not null and inputs is not null;

-- It was stored in another shape than answers, in which no prompt could show it, and taught as they do.
update relay.message set teaches = false,
    blocks = case when blocks -> 0 ? 'type'
        then jsonb_build_array(jsonb_build_object('role', 'assistant', 'content', blocks)) else blocks end
where started_by is not null;

-- The moment of a goal or an event, if its time of day was told too; null: only its day is known, or nothing.
alter table relay.memory add column exact_at timestamptz;
