"""Read mutants of one kind of file in a process of its own, and print what happened as JSON.

`python tests/read_mutants.py KIND COUNT FILE`: sound and refused, what else was raised, the
slowest [s], and by how much the memory has grown [B] since the sound file was read.
"""

from __future__ import annotations

import json
import random
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

from mutated_bytes import csv_mutant, parquet_mutant

import freefloat as ff
from freefloat.errors import FreefloatError
from freefloat.excitation.plan_file import load_plan
from freefloat.identification.fit import load_fit
from freefloat.telemetry import read_telemetry
from freefloat.telemetry.doctor import examine
from freefloat.validation.verdict import load_verdict


def estimator() -> ff.OnlineEstimator:
    """The estimator whose state is saved and spoiled."""
    model = ff.load_model("planar-capture")
    return ff.OnlineEstimator(model, ff.Parameters(model).free("bus.mass", "target.mass"))


def look_at(path: Path) -> None:
    """Read a recording, and whatever it is, look at it as every verb does."""
    telemetry = read_telemetry(path)
    assert ff.quality(telemetry).summary
    assert examine(telemetry).summary


def show(path: Path, load: Callable[[Path], object]) -> None:
    """Read a noun and show it, as it must be whole for that."""
    noun = load(path)
    assert str(noun)
    if isinstance(noun, ff.Fit | ff.Verdict):
        noun.save_report(path.with_suffix(".html"))


READERS: dict[str, Callable[[Path], object]] = {
    "csv": look_at,
    "parquet": look_at,
    "toml": ff.load_model,
    "urdf": ff.load_model,
    "plan": lambda path: show(path, load_plan),
    "fit": lambda path: show(path, load_fit),
    "verdict": lambda path: show(path, load_verdict),
    "state": lambda path: estimator().restore(path),
}
PACKED = ("parquet", "state")


def grown() -> int:
    """The largest memory of this process so far [B]."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def main() -> None:
    """Read the sound file, then its mutants."""
    kind, count, path = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
    read, whole = READERS[kind], path.read_bytes()
    spoil = parquet_mutant if kind in PACKED else csv_mutant
    read(path)
    before = grown()
    found: dict[str, object] = {"read": 0, "refused": 0, "other": []}
    slowest = 0.0
    for seed in range(count):
        path.write_bytes(spoil(whole, random.Random(seed)))
        start = time.process_time()
        outcome = "read"
        try:
            read(path)
        except FreefloatError:
            outcome = "refused"
        except Exception as error:
            found["other"].append(f"mutant {seed}: {error!r}")  # type: ignore[attr-defined]
        found[outcome] += 1  # type: ignore[operator]
        slowest = max(slowest, time.process_time() - start)
    print(json.dumps({**found, "slowest": slowest, "grown": grown() - before}))


if __name__ == "__main__":
    main()
