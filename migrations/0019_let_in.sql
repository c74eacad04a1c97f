-- Whether somebody was ever let in: then that was taken back, and not denied.
alter table relay.person add column let_in boolean not null default false;
update relay.person p set let_in = true
where role in ('admin', 'user')
    or exists (select from relay.space s where s.owner_id = p.user_id)
    or exists (select from relay.invite i where i.used_by = p.user_id);
-- By what a button names an invitation.
alter table relay.invite add column id bigint generated always as identity;
