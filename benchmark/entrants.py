"""Who takes part: an adapter each, from the folder of a task to estimates with deviations.

An adapter returns {"estimates": {name: [value, std]}} and what it likes to say, or raises
`DeclinedError` with the reason why it does not take part in this task.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, get_args

import numpy as np
from forms import read_task

import freefloat as ff
from freefloat.identification.method_names import Method

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
    return {"estimates": found}


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
    return {"estimates": seen, "grade": last.grade}


def textbook(folder: Path) -> Answer:
    """Ordinary least squares of the Newton-Euler equations, with Pinocchio's regressors.

    Rates and velocities are smoothed and differentiated by Savitzky and Golay's filter, equations
    are not weighted, deviations are those of ordinary least squares.
    """
    from textbook_least_squares import solve

    try:
        return {"estimates": solve(folder)}
    except LookupError as error:
        raise DeclinedError(str(error)) from error


def absent(folder: Path, *, reason: str) -> Answer:
    """A neighbour without an adapter for this form, and why."""
    raise DeclinedError(reason)


SYSID = (
    "its rollouts take joint torques as inputs, and these tasks prescribe joint motion; an adapter"
    " for torque recordings of simulated arms is benchmarks/peer_mujoco_sysid.py"
)
FIGAROH = (
    "its floating-base regressor needs contact or base wrenches of every sample; an adapter for the"
    " fixed arm is benchmarks/peer_figaroh.py"
)
FILTERS = "it filters rows that somebody makes; benchmarks/peer_rls.py feeds it those of freefloat"
ENTRANTS: dict[str, tuple[str, Callable[[Path], Answer]]] = {
    **{f"freefloat {m}": ("freefloat", partial(by_freefloat, method=m)) for m in get_args(Method)},
    "freefloat live": ("freefloat", live_by_freefloat),
    "textbook least squares": ("pin", textbook),
    "mujoco.sysid": ("mujoco", partial(absent, reason=SYSID)),
    "FIGAROH": ("figaroh", partial(absent, reason=FIGAROH)),
    "padasip": ("padasip", partial(absent, reason=FILTERS)),
    "filterpy": ("filterpy", partial(absent, reason=FILTERS)),
}


def version_of(package: str) -> str:
    """The version of an entrant's package, if it is here."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def is_live(folder: Path) -> bool:
    """Whether a task is about estimates while it flies."""
    return bool(json.loads((folder / "task.json").read_text())["is_live"])
