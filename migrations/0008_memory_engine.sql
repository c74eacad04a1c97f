-- The memory engine: typed memories with their history, what of a person's talk memory may use, what is judged, found
-- and derived.

create extension if not exists vector with schema extensions;

-- What a memory is, how sure it is, from when until when it holds (a goal's deadline is its valid_until), what took its
-- place (a newer one that contradicts it, or one that says it better), the messages that it was learned from, who
-- promoted it, and how often prompts used it.
alter table relay.memory drop constraint memory_kind_check, drop constraint memory_status_check;
alter table relay.memory
    add constraint memory_kind_check check (kind in (
        'fact', 'preference', 'decision', 'event', 'person', 'goal', 'feeling', 'learning')),
    add constraint memory_status_check check (status in (
        'pending', 'active', 'superseded', 'archived', 'forgotten', 'discarded')),
    add constraint memory_importance_check check (importance between 1 and 10),
    add column confidence real not null default 1 check (confidence between 0 and 1),
    add column valid_from timestamptz,
    add column valid_until timestamptz,
    add column replaced_by bigint,
    add column evidence bigint[] not null default '{}',
    add column promoted_by bigint,
    add column last_used_at timestamptz,
    add column uses integer not null default 0;
alter table relay.memory_change drop constraint memory_change_action_check;
alter table relay.memory_change add constraint memory_change_action_check check (action in (
    'learn', 'refresh', 'forget', 'pin', 'unpin', 'supersede', 'merge', 'archive', 'restore'));

-- Whether memory is used in a space, and until when it rests. In a thread: whether it reads the space's memory, and
-- whether anything is learned from it. A private session is off the record.
alter table relay.space
    add column memory text not null default 'on' check (memory in ('on', 'off')),
    add column paused_until timestamptz;
alter table relay.thread
    add column recalls boolean not null default true,
    add column teaches boolean not null default true;
alter table relay.session add column private boolean not null default false;

alter table relay.spend drop constraint spend_what_check;
alter table relay.spend add constraint spend_what_check check (what in (
    'answer', 'summary', 'title', 'judge', 'proposal', 'digest', 'rederive'));

drop function if exists relay.keep_memory(relay.turn, jsonb, bigint, boolean);
