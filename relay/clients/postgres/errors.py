"""What errors of PostgreSQL and libpq mean, as Relay's own errors."""

from __future__ import annotations

import re

import psycopg
from psycopg_pool import PoolTimeout

from relay.clients.postgres.sqlstates import OWN, TOO_SLOW, is_refused, is_transient, remove_values
from relay.core.errors import (
    AccessRefused,
    CallTooSlow,
    DatabaseError,
    DatabaseUnavailable,
    DataRefused,
    SchemaError,
)
from relay.core.program import RELAY

# libpq's messages for failed connections, and what they mean.
REFUSALS = {
    "password authentication failed": "wrong user or password",
    "no password supplied": "it needs a password",
    "no pg_hba.conf entry": "it refuses connections from here",
    "does not exist": "unknown user or database",
}
ABSENCES = {
    "resolve host": "unknown host, or no network",
    "Connection refused": "nothing answers at that host and port",
    "No such file": "nothing answers at that socket",
    "timeout": "it does not answer in time",
}
UNSAID: dict[type[BaseException], str] = {
    PoolTimeout: "no connection in time",
    TimeoutError: "it did not answer in time",
}
OLDEST = 15
# Server errors that prevent creating Relay's tables, and what to do about them.
MOVE = (
    "The extension {0} is in the wrong schema. Run `alter extension {0} set schema extensions` in this database as a "
    "superuser, then try again."
)
HINDRANCES = {
    r'permission denied to create extension "(\w+)"': "The database's user has no right to create the extension {0}. "
    "Run `create extension {0} schema extensions` in this database as a superuser, then try again.",
    r'extension "(vector)" is not available': "The server does not have the extension {0}. Install pgvector on it "
    "(Debian and Ubuntu: postgresql-18-pgvector, with its version's number), then try again.",
    r'extension "(\w+)" is not available': "The server does not have the extension {0}. Install PostgreSQL's contrib "
    "modules on it (Fedora: postgresql-contrib), then try again.",
    r'type "extensions\.(vector)" does not exist': MOVE,
    r'operator class "extensions\.gin_trgm_ops" does not exist': MOVE.replace("{0}", "pg_trgm"),
    r"permission denied for database (.+)": "The database's user has no right to create Relay's schema. Run "
    "`grant create on database {0} to` that user as the database's owner, then try again.",
    r"permission denied for schema (relay|extensions|public)": "The database's user can't create anything in the "
    "schema {0}. Let its owner run `grant usage, create on schema {0} to` that user in this database, then try again.",
}


def explain_connection(error: Exception) -> DatabaseError:
    """Explains a failed connection. psycopg gives no SQLSTATE, only libpq's text, which names host and user."""
    text = str(error)
    if isinstance(error, psycopg.ProgrammingError):
        return AccessRefused(
            "DATABASE_URL is not a connection string. It must be postgresql://user:password@host/database."
        )
    for words, meaning in REFUSALS.items():
        if words in text:
            return AccessRefused(f"The database refused the connection: {meaning}. Check DATABASE_URL.")
    for words, meaning in ABSENCES.items():
        if words in text:
            return DatabaseUnavailable(f"The database cannot be reached: {meaning}. Is DATABASE_URL right?")
    return translate(error)


def find_unsuitable(version: int, encoding: str | None) -> DatabaseError | None:
    """Returns an error if the server is too old or the database can't hold every text; otherwise None. `version` is as
    libpq gives it. A pooler may keep either to itself."""
    if 0 < version // 10000 < OLDEST:
        return AccessRefused(
            f"PostgreSQL {version // 10000}.{version % 10000} is too old. Relay needs PostgreSQL {OLDEST} or newer."
        )
    if encoding not in ("UTF8", None):
        return AccessRefused(
            f"The database has the encoding {encoding}. Relay needs one in UTF8: add `template template0 encoding "
            "'UTF8' locale 'C.UTF-8'` to `create database`, and name the new database in DATABASE_URL."
        )
    return None


def explain_hindrance(error: psycopg.Error) -> DatabaseError | None:
    """Returns an error that says what must be done in the database before Relay's tables can be created; None for other
    errors."""
    said = error.diag.message_primary or ""
    for pattern, sentence in HINDRANCES.items():
        if found := re.match(pattern, said):
            return DatabaseError(sentence.format(*found.groups()))
    return None


def translate(error: Exception) -> DatabaseError:
    """Explains the error of a call. The result contains no values."""
    state = getattr(error, "sqlstate", None) or ""
    diagnostics = getattr(error, "diag", None)
    message = (diagnostics.message_primary if diagnostics else None) or UNSAID.get(type(error), "")
    message = message or type(error).__name__
    if state in OWN:
        return OWN[state]()
    if state in ("42883", "3F000", "42P01"):
        return SchemaError(f"The database does not have this version's schema. Run `{RELAY} db migrate`.")
    if state in ("28P01", "28000", "3D000"):
        return DatabaseError(f"The database refused the connection: {message}. Check DATABASE_URL.")
    if not state or is_transient(state):
        slow = state == TOO_SLOW or type(error) is TimeoutError
        return (CallTooSlow if slow else DatabaseUnavailable)(f"The database cannot be used right now ({message}).")
    if is_refused(state):
        return DataRefused(f"The database cannot hold a value: {remove_values(state, message)} ({state}).")
    return DatabaseError(f"The database refused a call: {message} ({state}).")
