"""Code that Python 3.11 accepts and later versions refuse."""

from __future__ import annotations

import re
from pathlib import Path

import relay

RELAY = Path(relay.__file__).parent


def test_no_method_of_a_string_validates_a_field() -> None:
    """From Python 3.13 on, `str.format` has a signature, which pydantic refuses as soon as the model is imported."""
    assert not [path for path in RELAY.rglob("*.py") if re.search(r'Validator\("[^"]*"\.', path.read_text())]
