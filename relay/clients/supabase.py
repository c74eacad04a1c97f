"""Supabase through its own async client: every call is one `rpc`, over REST alone."""

from __future__ import annotations

import base64
import binascii
import json
from typing import TYPE_CHECKING, Any

import httpx

from relay.clients.sqlstates import is_transient
from relay.errors import DatabaseError, DatabaseUnavailable, SchemaError, SettingsError, TurnLost

if TYPE_CHECKING:
    from supabase import AsyncClient

NO_FUNCTION = ("PGRST202", "42883")
KEY_HELP = "Use the service role (or secret) key: Project → Settings → API keys. It stays on your machine."


class Supabase:
    """The `Database` port over PostgREST. Its statements end after 8 s, so calls wait a little longer."""

    def __init__(self, url: str, key: str, timeout: float = 12.0) -> None:
        """Raises `SettingsError` when the key is one that everybody may have."""
        check_key(key)
        self._url = url
        self._key = key
        self._http = httpx.AsyncClient(
            timeout=httpx.Timeout(timeout, connect=5), event_hooks={"response": [_refuse_early]}, http2=False
        )
        self._client: AsyncClient | None = None

    async def open(self) -> None:
        """Makes the client and asks the database for a sign of life. Raises `DatabaseError` when it gives none."""
        from supabase import AsyncClientOptions, acreate_client

        options = AsyncClientOptions(
            auto_refresh_token=False, persist_session=False, httpx_client=self._http, postgrest_client_retry=False
        )
        self._client = await acreate_client(self._url, self._key, options)

    async def close(self) -> None:
        await self._http.aclose()

    async def call(self, function: str, **arguments: Any) -> Any:
        """See `ports.Database.call`."""
        from postgrest.exceptions import APIError

        if self._client is None:
            raise DatabaseUnavailable("The Supabase client is not open.")
        parameters = {f"p_{name}": value for name, value in arguments.items()}
        try:
            answer = await self._client.rpc(f"relay_{function}", parameters).execute()
        except APIError as error:
            raise _translate(error) from None
        except httpx.HTTPError as error:
            raise DatabaseUnavailable(f"Supabase cannot be reached right now ({type(error).__name__}).") from None
        return answer.data


def check_key(key: str) -> None:
    """Raises `SettingsError` for a key that is not the service role's: the anon key, or a publishable one."""
    role = key_role(key)
    if key.startswith("sb_publishable_") or role in ("anon", "authenticated"):
        raise SettingsError(
            f"SUPABASE_SERVICE_ROLE_KEY holds the {role or 'publishable'} key, which may do nothing. {KEY_HELP}"
        )


def key_role(key: str) -> str:
    """The role that a legacy key (a JSON Web Token) names; empty for a key of another kind."""
    parts = key.split(".")
    if len(parts) != 3:
        return ""
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except (ValueError, binascii.Error):
        return ""
    return str(claims.get("role", "")) if isinstance(claims, dict) else ""


async def _refuse_early(response: httpx.Response) -> None:
    """Answers that come from in front of PostgREST, whose bodies say little: told by their status."""
    status = response.status_code
    if status == 540:
        raise DatabaseUnavailable(
            "The Supabase project is paused (the free tier does that after a week without use). "
            "Wake it at supabase.com/dashboard; messages are kept until then."
        )
    if status == 429:
        raise DatabaseUnavailable("Supabase asks for fewer requests right now.")
    if status == 401:
        raise DatabaseUnavailable(f"Supabase does not accept the key (401): it may have been rotated. {KEY_HELP}")
    if status in (502, 503, 504, 520, 521, 522, 523, 524, 544):
        raise DatabaseUnavailable(f"Supabase has a problem right now (HTTP {status}).")
    if status >= 500 and "application/json" not in response.headers.get("content-type", ""):
        raise DatabaseUnavailable(f"Supabase has a problem right now (HTTP {status}).")


def _translate(error: Any) -> DatabaseError:
    code = str(error.code or "")
    if code == "RL001":
        return TurnLost()
    if code in NO_FUNCTION:
        return SchemaError("The Supabase project does not have this version's schema.")
    if code == "42501":
        return DatabaseError(f"Supabase refused the call: the key may not do that. {KEY_HELP}")
    if code.startswith(("PGRST0", "PGRST3")) or is_transient(code):
        return DatabaseUnavailable(f"Supabase cannot be used right now ({error.message or code}).")
    return DatabaseError(f"Supabase refused a call: {error.message} ({code}).")
