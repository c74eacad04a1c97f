"""Checks which of a Supabase project's keys SUPABASE_SERVICE_ROLE_KEY has."""

from __future__ import annotations

import base64
import binascii
import json

from relay.core.errors import SettingsError

KEY_HELP = "Use the service role (or secret) key: Project → Settings → API keys. It stays on your machine."


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
