"""Access to the API: proofs and sessions, limits, and idempotent requests."""
