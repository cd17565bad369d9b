"""The command `freefloat`: the library's words as verbs.

What is slow to import (NumPy, Numba, pyarrow, matplotlib) is imported by the verb that needs it,
once it needs it, so that `--help` answers at once.
"""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command with the arguments of this process, and leave with its exit code."""
    # Our matrices are tall and thin: more threads do not help, and on busy cores they wait for
    # each other (a banded solve of 7 ms was seen to take 9 s).
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        from freefloat.cli.run import run
        from freefloat.cli.waiting import insist_on_interrupts

        insist_on_interrupts()

        sys.exit(run(sys.argv[1:]))
    except KeyboardInterrupt:  # so early that nothing has begun
        sys.exit(130)
