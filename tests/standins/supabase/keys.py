"""The API keys of a Supabase project: legacy ones (signed tokens that name a role) and new ones (sb_…)."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import time

ROLES = ("anon", "authenticated", "service_role")


def signed(role: str, secret: str, lifetime: int = 10 * 365 * 86_400) -> str:
    """Returns a legacy key: a JSON Web Token (HS256) for a role. `lifetime` is in seconds; below 0 it has expired."""
    now = int(time.time())
    head = _part({"alg": "HS256", "typ": "JWT"})
    claims = _part({"iss": "supabase", "ref": "standin", "role": role, "iat": now - 60, "exp": now + lifetime})
    signature = hmac.new(secret.encode(), head + b"." + claims, hashlib.sha256).digest()
    return b".".join((head, claims, _plain(signature))).decode()


class Keys:
    """One generation of a project's keys, with the token of each."""

    def __init__(self) -> None:
        self.secret = secrets.token_hex(32)
        self.tokens = {role: signed(role, self.secret) for role in ROLES}
        self.secret_key = f"sb_secret_{secrets.token_urlsafe(22)}"
        self.publishable_key = f"sb_publishable_{secrets.token_urlsafe(22)}"
        self.known = {token: token for token in self.tokens.values()}
        self.known |= {self.secret_key: self.tokens["service_role"], self.publishable_key: self.tokens["anon"]}

    def token(self, key: str) -> str | None:
        """Returns PostgREST's token for a key, or None if the gateway doesn't know the key."""
        return self.known.get(key)

    def role(self, key: str) -> str:
        """Returns the role of a key; empty if the key is unknown."""
        token = self.token(key)
        return next((role for role, known in self.tokens.items() if known == token), "")


def _plain(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")


def _part(content: dict[str, object]) -> bytes:
    return _plain(json.dumps(content).encode())
