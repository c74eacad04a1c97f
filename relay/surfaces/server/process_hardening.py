"""Hides this process from other processes of the same account."""

import sys

PR_SET_DUMPABLE = 4
"""An option of `prctl`: with 0, only root can read the process's files under `/proc`."""


def seal() -> None:
    """On Linux, hides the environment and memory, which hold the keys, from other processes of the same account, such
    as the one that opens people's files. Processes with CAP_SYS_PTRACE can still read them. Also prevents core dumps.
    """
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
