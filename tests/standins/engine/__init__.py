"""A speech engine that replaces the real one in a process with `SITE` in its PYTHONPATH. It loads at once."""

from pathlib import Path

SITE = Path(__file__).parent / "site"
