-- Versions are read in one way: relay_versions and relay_version, which also say where they are used.
drop function if exists public.relay_session_versions(jsonb, bigint, bigint, bigint);
drop function if exists public.relay_session_version(jsonb, bigint);
drop function if exists relay.version_lines(bigint[]);
