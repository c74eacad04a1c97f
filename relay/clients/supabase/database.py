"""Supabase through its async client: every call is one `rpc` over REST."""

from __future__ import annotations

import asyncio
import base64
import binascii
import importlib
import json
from typing import TYPE_CHECKING, Any

import httpx

from relay.clients.postgres.sqlstates import IN_THE_WAY, OWN, TOO_SLOW, is_refused, is_transient, remove_values
from relay.core.errors import (
    AccessRefused,
    CallTooSlow,
    DatabaseError,
    DatabaseUnavailable,
    DataRefused,
    SchemaError,
    SettingsError,
)

if TYPE_CHECKING:
    from supabase import AsyncClient

MISSING = ("PGRST202", "PGRST203", "42883", "42P01", "3F000")
"""Codes for an unexpected schema."""
PAUSED = (
    "The Supabase project is paused (the free tier does that after a week without use). "
    "Wake it at supabase.com/dashboard; messages are kept until then."
)
BLIP_SECONDS = 0.25
"""The pause in seconds before the only retry after a closed connection, an error in front of the database, or a
conflicting call."""
KEY_HELP = "Use the service role (or secret) key: Project → Settings → API keys. It stays on your machine."


class Supabase:
    """The `Database` port over PostgREST. Its statements end after 8 s, so calls wait a little longer."""

    def __init__(self, url: str, key: str, timeout: float = 12.0) -> None:
        """Raises `SettingsError` for a public key. `timeout` in seconds."""
        self._url = url.rstrip("/").removesuffix("/rest/v1")
        self._key = key.strip()
        check_key(self._key)
        # HTTP/2 connections end in the middle of calls (supabase-py #1064). Two persistent HTTP/1.1 ones are as fast: a
        # turn makes at most two calls at a time.
        self._http = httpx.AsyncClient(
            timeout=httpx.Timeout(timeout, connect=5),
            limits=httpx.Limits(max_connections=32, max_keepalive_connections=32, keepalive_expiry=300),
            event_hooks={"response": [_refuse]},
            http2=False,
        )
        self._client: AsyncClient | None = None

    async def open(self) -> None:
        """Creates the client; sends nothing yet."""
        module = await asyncio.to_thread(importlib.import_module, "supabase")
        options = module.AsyncClientOptions(
            auto_refresh_token=False, persist_session=False, httpx_client=self._http, postgrest_client_retry=False
        )
        self._client = await module.acreate_client(self._url, self._key, options)

    async def close(self) -> None:
        await self._http.aclose()

    async def call(self, function: str, **arguments: Any) -> Any:
        """See `ports.Database.call`. Raises `AccessRefused` for a wrong key or address."""
        if self._client is None:
            raise DatabaseUnavailable("The Supabase client is not open.")
        parameters = {f"p_{name}": value for name, value in arguments.items()}
        try:
            return await self._send(self._client, function, parameters)
        except _Blip:
            await asyncio.sleep(BLIP_SECONDS)
            return await self._send(self._client, function, parameters)

    async def _send(self, client: AsyncClient, function: str, parameters: dict[str, Any]) -> Any:
        try:
            answer = await client.rpc(f"relay_{function}", parameters).execute()
        except httpx.TimeoutException as error:
            raise DatabaseUnavailable(f"Supabase does not answer right now ({type(error).__name__}).") from None
        except httpx.HTTPError as error:
            raise _Blip(
                f"Supabase cannot be reached right now ({type(error).__name__}): the network is down, SUPABASE_URL is "
                "wrong, or the project is paused or gone."
            ) from None
        return answer.data


class _Blip(DatabaseUnavailable):
    """Something that often passes in a moment."""


async def _refuse(response: httpx.Response) -> None:
    """Raises one of Relay's errors for every failed response. Responses from in front of PostgREST have no code."""
    is_json = "json" in response.headers.get("content-type", "")
    if response.is_success and is_json:
        return
    await response.aread()
    try:
        body = response.json() if is_json else None
    except ValueError:
        body = None
    told = body if isinstance(body, dict) else {}
    raise error_of(response.status_code, str(told.get("code") or ""), str(told.get("message") or ""))


def error_of(status: int, code: str, message: str) -> DatabaseError:
    """Returns Relay's error for an HTTP status and the code and message of PostgREST or PostgreSQL (empty: the response
    is from another server)."""
    if code in OWN:
        return OWN[code]()
    if code in MISSING:
        return SchemaError("The Supabase project does not have this version's schema.")
    if status == 540:
        return DatabaseUnavailable(PAUSED)
    if status == 402:
        return DatabaseUnavailable(
            "Supabase has restricted the project (over its quota, or unpaid): see its dashboard."
        )
    if status == 429:
        return DatabaseUnavailable("Supabase asks for fewer requests right now (HTTP 429).")
    if status == 401 or code == "42501" or (status == 403 and not code and message):
        return AccessRefused(f"Supabase does not accept the key (HTTP {status}): it may have been rotated. {KEY_HELP}")
    if status >= 500 and (not code or code.startswith("PGRST0")):
        return _Blip(f"Supabase has a problem right now (HTTP {status}).")
    if code in IN_THE_WAY:
        return _Blip("Supabase cannot be used right now (another call was in the way).")
    if code.startswith(("PGRST0", "PGRST3")) or is_transient(code):
        unavailable = CallTooSlow if code == TOO_SLOW else DatabaseUnavailable
        return unavailable(f"Supabase cannot be used right now ({message or code}).")
    if is_refused(code) or code == "PGRST102":
        return DataRefused(f"Supabase cannot hold a value: {remove_values(code, message)} ({code}).")
    if not code:
        return AccessRefused(
            f"SUPABASE_URL is not the address of a Supabase project (HTTP {status}). "
            "It must be the project's own address, such as https://abcdefgh.supabase.co (Project → Settings → API)."
        )
    return DatabaseError(f"Supabase refused a call: {message} ({code}).")


def check_key(key: str) -> None:
    """Raises `SettingsError` unless it is the service role's key (an anon or publishable key is not)."""
    role = key_role(key)
    if key.startswith("sb_publishable_") or role in ("anon", "authenticated"):
        raise SettingsError(
            f"SUPABASE_SERVICE_ROLE_KEY is set to the {role or 'publishable'} key, which has no access. {KEY_HELP}"
        )
    if not key.isascii() or not key.isprintable() or " " in key:
        raise SettingsError(f"SUPABASE_SERVICE_ROLE_KEY is not a key of Supabase's. {KEY_HELP}")


def key_role(key: str) -> str:
    """Returns the role in a legacy key (a JSON Web Token); empty for other keys."""
    parts = key.split(".")
    if len(parts) != 3:
        return ""
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except (ValueError, binascii.Error):
        return ""
    return str(claims.get("role", "")) if isinstance(claims, dict) else ""
