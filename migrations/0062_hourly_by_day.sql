-- What comes at least every hour keeps to the hours from 8 to 21, as what is made now does, unless it ends within a day.
-- What has longer steps stays: at night, it may be a medicine.
with often as (
    select id, case when rule ~ 'HOURLY' then interval '1 hour' else interval '1 minute' end
        * coalesce(substring(rule from 'INTERVAL=(\d{1,4})')::integer, 1) as step
    from relay.reminder
    where rule ~ '^FREQ=(MINUTELY|HOURLY)(;|$)' and rule !~ 'BYHOUR|BYSETPOS'
        and status in ('proposed', 'active', 'paused')),
lasting as (
    select r.id, o.step from often o join relay.reminder r using (id)
    where o.step between interval '1 minute' and interval '1 hour'
        and coalesce(substring(r.rule from 'UNTIL=(\d{8})') > to_char(r.start_at + interval '1 day', 'YYYYMMDD'), true)
        and coalesce(substring(r.rule from 'COUNT=(\d{1,6})')::integer * o.step > interval '1 day', true)),
zones as materialized (select name from pg_timezone_names)
update relay.reminder r set rule = r.rule || ';BYHOUR=8,9,10,11,12,13,14,15,16,17,18,19,20',
    next_at = case when r.occurrence is not null or r.zone not in (select name from zones) then r.next_at else (
        select min(r.next_at + n * l.step) from generate_series(0, 1440) n
        where extract(hour from (r.next_at + n * l.step) at time zone r.zone) between 8 and 20) end
from lasting l where l.id = r.id;
