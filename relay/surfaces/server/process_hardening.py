"""What other processes of our account may see of this one."""

from __future__ import annotations

import sys

PR_SET_DUMPABLE = 4
"""Of `prctl`: 0 also gives what `/proc` tells of a process to root alone."""


def seal() -> None:
    """On Linux, keeps our environment and memory, which hold the keys, from the other processes of our account: one of
    them opens somebody's file. Whoever may look into every process (CAP_SYS_PTRACE) still can. No dump is left either.
    """
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
