"""The command `freefloat`: the library's words as verbs.

What is slow to import (NumPy, Numba, pyarrow, matplotlib) is imported by the verb that needs it,
once it needs it, so that `--help` answers at once.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command with the arguments of this process, and leave with its exit code."""
    try:
        from freefloat.cli.run import run

        sys.exit(run(sys.argv[1:]))
    except KeyboardInterrupt:  # so early that nothing has begun
        sys.exit(130)
