"""The names of the methods that `identify` takes, where the command can read them quickly."""

from __future__ import annotations

from typing import Literal

Method = Literal[
    "auto", "momentum", "angular", "force", "torque", "weak", "energy", "reduced", "output_error"
]  # fmt: skip
