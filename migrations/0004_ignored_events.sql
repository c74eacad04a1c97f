-- Events that only say that an update was ignored, so that the nightly tidying finds the old ones among all others.
create index event_ignored on relay.event (at) where kind = 'ignored';
