"""A Supabase project on loopback: a gateway in front of a real PostgREST on a Postgres prepared like Supabase's.

``SupabaseProject`` is the whole project. ``SupabaseBackend`` offers it to tests that take any database.
"""

from tests.standins.supabase.backend import SupabaseBackend, SupabaseServer, supabase_server
from tests.standins.supabase.gateway import Fault, Seen
from tests.standins.supabase.postgrest import PostgrestMissing, require_postgrest
from tests.standins.supabase.project import SupabaseProject

__all__ = [
    "Fault",
    "PostgrestMissing",
    "Seen",
    "SupabaseBackend",
    "SupabaseProject",
    "SupabaseServer",
    "require_postgrest",
    "supabase_server",
]
