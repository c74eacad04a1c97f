-- The numbers of memories, by space from 1 on: what people see, and what /forget #12 means.

create or replace function relay.number_memory() returns trigger
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    perform from space where id = new.space_id for no key update;  -- of two at the same moment one is first
    new.number := 1 + greatest(
        (select max(number) from memory where space_id = new.space_id),
        (select numbered from space where id = new.space_id));
    return new;
end $$;
create or replace trigger number_memory before insert on relay.memory
    for each row when (new.number is null) execute function relay.number_memory();

-- No number is given away twice: an old “#12” in a chat must not come to mean something else.
create or replace function relay.keep_numbers() returns trigger
language plpgsql set search_path = relay, extensions, pg_temp as $$
begin
    update space s set numbered = greatest(s.numbered, gone.number)
    from (select space_id, max(number) as number from old_rows group by space_id) gone
    where s.id = gone.space_id and s.numbered < gone.number;
    return null;
end $$;
create or replace trigger keep_numbers after delete on relay.memory
    referencing old table as old_rows for each statement execute function relay.keep_numbers();
