"""Who takes part: an adapter each, from the folder of a task to estimates with deviations.

An adapter returns {"estimates": {name: [value, std]}} and what it likes to say, or raises
`DeclinedError` with the reason why it does not take part in this task.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, get_args

import numpy as np
from forms import read_task

import freefloat as ff
from freefloat.identification.method_names import Method

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))
import peers

Answer = dict[str, Any]


class DeclinedError(Exception):
    """An entrant that does not take part in a task, and why."""


def by_freefloat(folder: Path, *, method: str) -> Answer:
    """`ff.identify` with a method; its grade goes with the answer."""
    model, unknown, recording, _ = read_task(folder)
    try:
        fit = ff.identify(model, ff.Parameters(model).free(*unknown), recording, method=method,
                          assess=method == "auto")  # fmt: skip
    except ff.FreefloatError as error:
        raise DeclinedError(error.message) from error
    if method == "auto" and fit.grade == "not trusted":
        said = "; ".join(one.text for one in fit.assessment.reasons[:2])
        return {**_estimates(fit), "grade": fit.grade, "refusal": said}
    return {**_estimates(fit), "grade": fit.grade, "method": fit.method}


def _estimates(fit: ff.Fit) -> Answer:
    found = {}
    for e in fit.estimates:
        std = e.total_std if np.isfinite(e.total_std) else e.std
        if e.status not in ("invisible", "fixed", "only in combination"):
            found[e.name] = [e.value, std, e.std]
    return {"estimates": found, "model": {e.name: e.value for e in fit.estimates}}


def live_by_freefloat(folder: Path) -> Answer:
    """`ff.OnlineEstimator`, sample by sample; the last estimate counts."""
    model, unknown, recording, _ = read_task(folder)
    try:
        tracker, last = ff.OnlineEstimator(model, ff.Parameters(model).free(*unknown)), None
        for sample in recording:
            last = tracker.update(sample)
    except ff.FreefloatError as error:
        raise DeclinedError(error.message) from error
    lines = zip(last.names, last.values, last.total_std, last.std, last.statuses, strict=True)
    seen = {n: [float(v), float(t), float(s)] for n, v, t, s, status in lines
            if status in ("seen", "weak")}  # fmt: skip
    values = dict(zip(last.names, map(float, last.values), strict=True))
    return {"estimates": seen, "grade": last.grade, "model": values}


def textbook(folder: Path, *, form: str) -> Answer:
    """Least squares with Pinocchio's regressors, on forces or on momentum.

    Forces: rates and velocities are smoothed and differentiated by Savitzky and Golay's filter.
    Deviations are those of ordinary least squares.
    """
    import textbook_least_squares
    import textbook_momentum

    solve = {"forces": textbook_least_squares, "momentum": textbook_momentum}[form].solve
    try:
        return {"estimates": solve(folder)}
    except LookupError as error:
        raise DeclinedError(str(error)) from error


def by_torques(folder: Path, *, script: str) -> Answer:
    """An adapter in the neighbours' interpreter, for arms on the ground with measured torques."""
    plain = json.loads((folder / "task.json").read_text())
    if plain["root"]["type"] != "fixed":
        raise DeclinedError(NOT_ON_GROUND[script])
    return _ask(script, "identify", folder=str(folder))


def by_filter(folder: Path, *, name: str) -> Answer:
    """A recursive filter on the textbook's rows of forces, sample by sample."""
    import textbook_least_squares

    plain = json.loads((folder / "task.json").read_text())
    if not plain["is_live"]:
        raise DeclinedError("a filter of rows that somebody makes: it takes part where it is live")
    rows, right, times = textbook_least_squares.force_rows(folder, plain)
    believed = np.array([plain["believed"][name] for name in plain["unknown"]])
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, "rows.npz")
        np.savez(path, rows=rows, right=right, n=len(times), believed=believed)
        answer = _ask("peer_rls.py", "follow", name=name, path=str(path))
    pairs = zip(plain["unknown"], answer.pop("values"), answer.pop("std"), strict=True)
    return {**answer, "estimates": {n: [v, s, s] for n, v, s in pairs}}


def _ask(script: str, do: str, **words: object) -> Answer:
    """The answer of a neighbour's script; its processor time comes on top of this process's."""
    try:
        with peers.Peer(script) as peer:
            return peer.ask(do, limit=PATIENCE, **words)
    except peers.PeerError as error:
        raise DeclinedError(f"{script}: {error}") from error


PATIENCE = 3600.0  # [s] by the clock
NOT_ON_GROUND = {
    "peer_sysid_task.py": "its rollouts take torques as inputs and start from a measured state;"
    " here joint motion is prescribed, or wheels and thrusters act beside noisy torques",
    "peer_arm_task.py": "its floating-base equations take contact or base wrenches of every sample"
    " as measured; with none, every parameter comes out as zero",
}
ENTRANTS: dict[str, tuple[str, Callable[[Path], Answer]]] = {
    **{f"freefloat {m}": ("freefloat", partial(by_freefloat, method=m)) for m in get_args(Method)},
    "freefloat live": ("freefloat", live_by_freefloat),
    "textbook least squares": ("pin", partial(textbook, form="forces")),
    "textbook momentum": ("pin", partial(textbook, form="momentum")),
    "mujoco.sysid": ("mujoco", partial(by_torques, script="peer_sysid_task.py")),
    "FIGAROH": ("figaroh", partial(by_torques, script="peer_arm_task.py")),
    "padasip": ("padasip", partial(by_filter, name="padasip")),
    "filterpy": ("filterpy", partial(by_filter, name="filterpy")),
}


def version_of(package: str) -> str:
    """The version of an entrant's package, here or in the neighbours' interpreter."""
    try:
        return version(package)
    except PackageNotFoundError:
        pass
    if not peers.PYTHON.exists():
        return "not installed"
    ask = "import importlib.metadata, sys; print(importlib.metadata.version(sys.argv[1]))"
    command = [str(peers.PYTHON), "-c", ask, package]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    return told.stdout.strip() or "not installed"


def is_live(folder: Path) -> bool:
    """Whether a task is about estimates while it flies."""
    return bool(json.loads((folder / "task.json").read_text())["is_live"])
