"""The embedded server's configuration, and the SQL that its superuser runs at set-up."""

from __future__ import annotations

EXTENSIONS = ("vector", "pg_trgm", "btree_gin")
"""The extensions. Only a superuser can create `vector`, which is not trusted, so set-up creates all of them."""

SETTINGS = """\
# Relay writes this file again whenever it starts the server.
unix_socket_permissions = 0700
max_connections = 40
# Nothing may be lost: a commit is on the disk before it is answered. Slower, and worth it.
fsync = on
full_page_writes = on
synchronous_commit = on
# No replicas and no archive: the log only has to survive a crash.
wal_level = minimal
max_wal_senders = 0
# Few, spread-out, compressed writes, for SD cards; at most 256 MB to replay after a crash.
checkpoint_timeout = 15min
max_wal_size = 256MB
min_wal_size = 48MB
wal_compression = on
random_page_cost = 1.1
# Small enough for a Raspberry Pi: few processes, no parallel workers.
shared_buffers = 64MB
effective_cache_size = 256MB
io_method = sync
max_parallel_workers_per_gather = 0
max_parallel_maintenance_workers = 0
max_worker_processes = 2
max_logical_replication_workers = 0
autovacuum = on
autovacuum_max_workers = 2
autovacuum_worker_slots = 2
jit = off
# No segments in /dev/shm: Docker gives it 64 MB, and systemd-logind empties it of what a user's
# processes share there when the user logs out, even while they run.
min_dynamic_shared_memory = 4MB
dynamic_shared_memory_type = mmap
# Errors of a statement go to its client; here they would repeat what people wrote.
log_min_messages = log
log_min_error_statement = panic
log_checkpoints = off
log_line_prefix = '%m [%p] '
timezone = 'UTC'
log_timezone = 'UTC'
"""


def extension_sql() -> list[str]:
    """Returns idempotent SQL: extensions outside `public`, as on Supabase. The path omits `"$user"`, which is `relay`
    here and something else there: a missing schema name would fail only there."""
    statements = [
        "CREATE SCHEMA IF NOT EXISTS extensions",
        "GRANT USAGE ON SCHEMA extensions TO relay",
        # Relay may overwrite the log, so that erased text leaves it too.
        "GRANT pg_checkpoint TO relay",
        "GRANT EXECUTE ON FUNCTION pg_catalog.pg_ls_waldir() TO relay",
        "GRANT EXECUTE ON FUNCTION pg_catalog.pg_switch_wal() TO relay",
    ]
    for name in EXTENSIONS:
        statements.append(f"CREATE EXTENSION IF NOT EXISTS {name} SCHEMA extensions")
        statements.append(f"ALTER EXTENSION {name} UPDATE")
    return [*statements, "ALTER DATABASE relay SET search_path = public, extensions"]
