"""`python -m tests.benchmarks.conversations FILE`: writes the conversations as JSON, in the format of LoCoMo."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.benchmarks.conversations import write

write(Path(sys.argv[1]))
