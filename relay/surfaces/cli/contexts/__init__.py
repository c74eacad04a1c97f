"""Contexts: markers, versions, compositions."""

from __future__ import annotations

from relay.surfaces.cli.contexts import compress, library, markers, versions
from relay.surfaces.cli.contexts.session import session

__all__ = ["compress", "library", "markers", "session", "versions"]
