"""Lengths, counts and sizes that more than one module uses."""

from __future__ import annotations

SUMMARY_TOKENS = 1_500
MAX_OFFSET = 10_000
"""How many entries of a list can be skipped."""
