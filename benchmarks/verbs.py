"""Whole verbs of this version beside those of another, in one run: processor time and memory.

    python benchmarks/verbs.py                                   # beside BASE, every case
    python benchmarks/verbs.py --only 'spatial*' --against HEAD~3
    python benchmarks/verbs.py --quick --alone                   # short cases, this version alone

The other version is checked out beside this one by `git worktree` into build/verbs; where there is
no such commit, this version is measured alone. Both read the same recordings, made by this version.
Every case runs in a process of its own, after a small one that loads what is compiled; cases of the
two versions take turns.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
BASE = "b66d6fb"
SCRATCH = ROOT / "build" / "verbs"
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "NUMBA", "MKL")}


@dataclass(frozen=True)
class Case:
    """A call on a recording, and what is asked of it.

    rate and seconds: of the recording; least: times faster than the other version, at least;
    most: processor seconds at most; megabytes: at most. slow: the other version is not asked.
    """

    verb: str
    model: str
    seconds: float
    rate: float | None = None
    free: tuple[str, ...] = ()
    assess: bool = True
    least: float = 0.0
    most: float = 0.0
    megabytes: float = 0.0
    slow: bool = False

    @property
    def recording(self) -> str:
        """The name of its file, without the suffix."""
        return f"{self.model}-{self.seconds:g}s-{self.rate or 0:g}Hz"


WING_NAMES = ("bus.*", "hinge_*.stiffness", "hinge_*.damping")
SPATIAL = ("bus.*", "target.*")
CASES = {
    "wings, 22 parameters": Case("identify", "wings-3", 60.0, 100.0, WING_NAMES, least=5.0),
    "wings, 22 parameters, not assessed": Case(
        "identify", "wings-3", 60.0, 100.0, WING_NAMES, assess=False, least=5.0
    ),
    "spatial auto, 600": Case("identify", "spatial-capture", 60.0, 10.0, SPATIAL),
    "spatial auto, 6 000": Case("identify", "spatial-capture", 60.0, 100.0, SPATIAL, least=10.0),
    "spatial auto, 6 000, not assessed": Case(
        "identify", "spatial-capture", 60.0, 100.0, SPATIAL, assess=False
    ),
    "spatial auto, 30 000": Case(
        "identify", "spatial-capture", 300.0, 100.0, SPATIAL, least=15.0
    ),
    "spatial auto, 30 000, not assessed": Case(
        "identify", "spatial-capture", 300.0, 100.0, SPATIAL, assess=False
    ),
    "spatial auto, 1 000 000": Case(
        "identify", "spatial-capture", 10000.0, 100.0, SPATIAL, megabytes=2048.0, slow=True
    ),
    "arm of 3 joints, 5 000": Case("identify", "arm-3", 50.0, 100.0, ("link_3.*",), most=0.5),
    "arm of 3 joints, 5 000, not assessed": Case(
        "identify", "arm-3", 50.0, 100.0, ("link_3.*",), assess=False, most=0.5
    ),
    "validate wings": Case("validate", "wings-3", 60.0, 100.0, least=4.0),
    "validate a fit of spatial": Case("validate", "spatial-capture", 60.0, 100.0, SPATIAL,
                                      least=4.0),
    "structure of servicer": Case("structure", "servicer", 60.0, most=60.0, slow=True),
}  # fmt: skip


def model_of(name: str) -> Any:
    """A built-in model, wings of three panels, or an arm of the identification tables."""
    import freefloat as ff
    from freefloat.model import Sensor

    if name.startswith("arm-"):
        import arms

        return arms.arm(int(name.removeprefix("arm-")))
    if name != "wings-3":
        return ff.load_model(name)
    model = ff.load_model("servicer-wings")
    bodies, joints = list(model.bodies), list(model.joints)
    for side in "lr":
        bodies.append(replace(model.body(f"panel_{side}2"), name=f"panel_{side}3"))
        hinge = next(j for j in joints if j.name == f"hinge_{side}2")
        joints.append(
            replace(hinge, name=f"hinge_{side}3", parent=f"panel_{side}2", child=f"panel_{side}3")
        )
    suite = tuple(
        Sensor(kind, "bus", 100.0, noise=noise)
        for kind, noise in (("attitude", 2.4e-5), ("velocity", 1e-4), ("accelerometer", 1e-3))
    )
    return replace(
        model, name="wings-3", bodies=tuple(bodies), joints=tuple(joints),
        sensors=(*model.sensors, *suite),
    )  # fmt: skip


def prior_of(model: Any, case: Case) -> Any:
    """The model that a fit begins with: somewhat wrong, as usual."""
    if case.model == "wings-3":
        joints = tuple(
            replace(j, stiffness=1.1 * j.stiffness) if j.name.startswith("hinge") else j
            for j in model.joints
        )
        return replace(model, joints=joints)
    if case.model.startswith("arm-"):
        import arms

        return arms.perturb(model, "link_3")
    return model


def record(case: Case, out: Path) -> None:
    """The recording of a case, all sensors at its rate."""
    import freefloat as ff

    model = model_of(case.model)
    if case.model.startswith("arm-"):
        import arms

        plan = arms.plan(model, duration=case.seconds)
    else:
        plan = ff.default_plan(model, duration=case.seconds, seed=1)
    sensors = model.sensors
    if case.rate is not None:
        sensors = tuple(replace(sensor, rate=case.rate) for sensor in sensors)
    ff.simulate(model, plan, seed=1, sensors=sensors).save(out)


def run_case(case: Case, recording: Path) -> dict[str, Any]:
    """Processor time, peak memory and what was found."""
    import freefloat as ff

    model = model_of(case.model)
    flight = ff.read_telemetry(recording)
    job = JOBS[case.verb]
    cut = min(0.5 * case.seconds, 8.0)
    job(case, model, next(iter(flight.split(at=[flight.start + cut]))))
    begin = time.process_time()
    found = job(case, model, flight)
    seconds = time.process_time() - begin
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    return {"seconds": seconds, "megabytes": megabytes, **found}


def _identify(case: Case, model: Any, flight: Any) -> dict[str, Any]:
    import freefloat as ff

    prior = prior_of(model, case)
    wanted = ff.Parameters(prior).free(*case.free)
    fit = ff.identify(prior, wanted, flight, assess=case.assess, seed=0)
    estimates = {e.name: [e.value, e.std] for e in fit.estimates}
    said = fit.assessment.grade if fit.assessment else "not assessed"
    return {"estimates": estimates, "said": f"{fit.method}, {said}"}


def _structure(case: Case, model: Any, flight: Any) -> dict[str, Any]:
    import freefloat as ff
    from freefloat.identification.structure.structure_search import find_structure

    chosen = case.free or ("bus.*", "target.*")
    found = find_structure(model, ff.Parameters(model).free(*chosen), flight)
    words = [part.verdict for part in found.parts]
    told = ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys(words))
    return {"estimates": {}, "said": told}


FITS: dict[str, Any] = {}  # of what `_validate` judges; made in the run before the measured one


def _validate(case: Case, model: Any, flight: Any) -> dict[str, Any]:
    import freefloat as ff

    if case.model not in FITS:
        free = ff.Parameters(model).free(*case.free) if case.free else None
        FITS[case.model] = (
            ff.identify(model, free, flight, method="weak", assess=False) if free else model
        )
    verdict = ff.validate(FITS[case.model], flight)
    return {"estimates": {}, "said": verdict.status_code}


JOBS: dict[str, Callable[[Case, Any, Any], dict[str, Any]]] = {
    "identify": _identify, "structure": _structure, "validate": _validate,
}  # fmt: skip


def ask(source: Path, name: str, recording: Path, *, quick: bool) -> dict[str, Any]:
    """A case in a process of its own, on the sources of a version."""
    command = [sys.executable, __file__, "--case", name, "--recording", str(recording)]
    environment = {**os.environ, **ONE_THREAD, "PYTHONPATH": str(source)}
    done = subprocess.run(
        [*command, *(["--quick"] if quick else [])], env=environment, capture_output=True, text=True
    )
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or ["killed"])[-1]}
    return json.loads(done.stdout.splitlines()[-1])


def other_version(commit: str) -> Path | None:
    """The sources of another commit, checked out; None where there is none."""
    folder = SCRATCH / "versions" / commit.replace("/", "_")
    if not (folder / "src").exists():
        git = ["git", "-C", str(ROOT), "worktree", "add", "--detach", str(folder), commit]
        if subprocess.run(git, capture_output=True).returncode:
            return None
    return folder / "src"


def shorter(case: Case) -> Case:
    """The case for a quick look."""
    return replace(case, seconds=min(case.seconds, 20.0))


def difference(one: dict[str, Any], other: dict[str, Any]) -> str:
    """The largest difference of values, in deviations of the other version, and of deviations."""
    pairs = [(own, other["estimates"].get(name)) for name, own in one["estimates"].items()]
    moved = [abs(a[0] - b[0]) / b[1] for a, b in pairs if b and _is_finite(a, b)]
    ratios = [a[1] / b[1] for a, b in pairs if b and _is_finite(a, b)]
    if not moved:
        return ""
    return f"values within {max(moved):.2g} std, std x {min(ratios):.2f} to {max(ratios):.2f}"


def _is_finite(a: list[float], b: list[float]) -> bool:
    return bool(np.isfinite([*a, *b]).all() and b[1] > 0.0)


def compare(name: str, case: Case, old: Path | None, *, quick: bool) -> dict[str, Any]:
    """Both versions on one case, printed as a row."""
    recording = SCRATCH / f"{case.recording}.parquet"
    if not recording.exists():
        recording.parent.mkdir(parents=True, exist_ok=True)
        record(case, recording)
    ours = ask(ROOT / "src", name, recording, quick=quick)
    is_asked = old is not None and not (case.slow and not quick)
    theirs = ask(old, name, recording, quick=quick) if is_asked and old else {}
    show(name, case, ours, theirs)
    return {"case": name, "ours": ours, "theirs": theirs}


def show(name: str, case: Case, ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    """A row, and a line of what was found."""
    if "failed" in ours:
        print(f"{name:<38} FAILED: {ours['failed']}", flush=True)
        return
    row = f"{name:<38}{ours['seconds']:>9.2f}{ours['megabytes']:>8.0f}"
    if "seconds" in theirs:
        ratio = theirs["seconds"] / ours["seconds"]
        row += f"{theirs['seconds']:>9.2f}{theirs['megabytes']:>8.0f}{ratio:>7.1f}"
    else:
        ratio = np.nan
        row += f"{'–':>9}{'–':>8}{'–':>7}"
    limits = [(ratio >= case.least, f">= {case.least:g}x") if case.least else None,
              (ours["seconds"] <= case.most, f"<= {case.most:g} s") if case.most else None,
              (ours["megabytes"] <= case.megabytes, f"<= {case.megabytes:g} MB")
              if case.megabytes else None]  # fmt: skip
    told = [f"{'met' if met else 'MISSED'} {limit}" for met, limit in filter(None, limits)]
    print(f"{row}  {'; '.join(told)}")
    print(f"    {ours['said']}; {theirs.get('said', theirs.get('failed', 'not run'))}", end="")
    far = difference(ours, theirs) if "estimates" in theirs else ""
    print(f"; {far}" if far else "", flush=True)


def main() -> None:
    """Compare, and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", action="append", metavar="GLOB", help="these cases")
    parser.add_argument("--against", default=BASE, metavar="COMMIT", help="the other version")
    parser.add_argument("--alone", action="store_true", help="this version alone")
    parser.add_argument("--quick", action="store_true", help="at most 20 s of every recording")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write what was measured")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    parser.add_argument("--recording", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    cases = {n: shorter(c) for n, c in CASES.items()} if options.quick else CASES
    if options.case:
        print(json.dumps(run_case(cases[options.case], options.recording)))
        return
    old = None if options.alone else other_version(options.against)
    if old is None and not options.alone:
        print(f"no commit {options.against} here: this version alone")
    print(f"{'':38}{'CPU s':>9}{'MB':>8}{options.against:>9}{'MB':>8}{'ratio':>7}")
    rows = []
    for name, case in cases.items():
        if not options.only or any(fnmatchcase(name, glob) for glob in options.only):
            rows.append(compare(name, case, old, quick=options.quick))
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
