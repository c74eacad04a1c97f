"""A speech engine in place of the real one, for a process that has `SITE` in its PYTHONPATH: it loads at once."""

from pathlib import Path

SITE = Path(__file__).parent / "site"
