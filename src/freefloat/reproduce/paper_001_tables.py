"""Tables 4, 5 and 6 and Figures 4 and 5 of paper 001: modified RLS and ours beside the print."""

from __future__ import annotations

import numpy as np

from freefloat.arrays import Array
from freefloat.reproduce import paper_001_flights as flights
from freefloat.reproduce.paper_001_published import (
    LARGE,
    MEDIUM,
    PRIOR,
    SMALL,
    SPATIAL,
    UNITS,
    Printed,
)
from freefloat.reproduce.rows import Row, within

# [%] after 3 s without noise: what a linear filter should reach in the plane, the band in space
SOON = {"plane": 1e-5, "space": 0.1}
QUICK = 3.05  # [s]: ours are in the band within 3 s and stay there


def planar_rows(*, quick: bool = False) -> list[Row]:
    """Small, medium and large target in the plane."""
    medium: dict[str, Printed] = {k: (v[0], v[1], None, v[2], None) for k, v in MEDIUM.items()}
    cases = {
        "Table 4: small target": ("planar-capture-small", SMALL),
        "Figures 4, 5: medium target": ("planar-capture", medium),
        "Table 5: large target": ("planar-capture-large", LARGE),
    }
    rows: list[Row] = []
    for title, (name, printed) in cases.items():
        rows += _rows(title, flights.planar(name), printed)
    return rows


def spatial_rows(*, quick: bool = False) -> list[Row]:
    """The six-joint arm in space."""
    return _rows("Table 6: in space", flights.spatial(duration=60.0 if quick else 100.0), SPATIAL)


def _rows(title: str, flight: flights.Flight, printed: dict[str, Printed]) -> list[Row]:
    form = flight.form
    names, truth = flights.names_of(form), flights.truth_of(form)
    sampled = flight.times[flight.sampled][1:]
    momentum, force = (flights.modified(flight, kind) for kind in ("momentum", "force"))
    own = {f"{1e-3 / flights.STEP / n * 1000:.0f} Hz": flights.ours(flight, every=n)
           for n in (flights.SAMPLED, flights.OFTEN)}  # fmt: skip
    rows = [_soon(title, list(printed), names=names, truth=truth, own=own["100 Hz"])]
    for name, print_ in printed.items():
        k = names.index(name)
        size = _size(name, names, truth)
        unit = UNITS[name[0]]
        for way, found, value, time in (
            ("momentum", momentum, print_[1], print_[2]),
            ("force", force, print_[3], print_[4]),
        ):
            got = flights.transit(sampled, found[:, k], truth[k], size=size)
            rows.append(_value(title, f"{name}, {way} RLS", unit, value, found[-1, k], size))
            rows.append(_time(title, f"{name}, {way} RLS: time", time, got))
        for rate, (times, found) in own.items():
            got = flights.transit(times, found[:, k], truth[k], size=size)
            error = 100.0 * abs(found[-1, k] - truth[k]) / size
            rows.append(_error(title, f"{name}, ours at {rate}: error", error))
            is_fast = rate == "100 Hz"
            rows.append(_our_time(title, f"{name}, ours at {rate}", print_[2], got, is_fast))
    return rows


def _soon(
    title: str, printed: list[str], *, names: list[str], truth: Array, own: tuple[Array, Array]
) -> Row:
    """The largest error [%] of any printed parameter 3 s after the start, at 100 Hz."""
    times, found = own
    sizes = np.array([_size(name, names, truth) for name in printed])
    places = [names.index(name) for name in printed]
    off = np.abs(found[np.searchsorted(times, 3.0)] - truth)[places]
    error = 100.0 * np.max(off / sizes)
    limit = SOON["plane" if len(names) == 8 else "space"]
    return within(title, "any parameter, ours at 100 Hz: error after 3 s", "%", float(error),
                  between=(0.0, limit), status="better", note=f"aim {limit:g} %")  # fmt: skip


def _size(name: str, names: list[str], truth: Array) -> float:
    """What a relative error is relative to: a CoM is as large as its body's."""
    if name[0] != "b":
        return float(abs(truth[names.index(name)])) or 1.0
    own = [truth[k] for k, other in enumerate(names) if other[:3] == name[:3]]
    return float(np.linalg.norm(own))


def _value(title: str, what: str, unit: str, paper: float, got: float, size: float) -> Row:
    """The final value: geometry and law are partly unpublished, so the pattern is what counts."""
    off = abs(got - paper) / size
    status = "missed"
    if off < 0.02:  # what is left of P0 = 1e6 depends on the motion, which is partly unpublished
        status = "reproduced" if off < 5e-5 else "reproduced in pattern"
    note = f"P0 = {PRIOR:g}; posture, links and thrust point are not published"
    return Row(title, what, unit, paper, float(got), status, note)


def _time(title: str, what: str, paper: float | None, got: float | None) -> Row:
    """When it converged: as soon within a factor of ten, or both never."""
    note = "last entry into the 0.1 % band; measures P0"
    if paper is None:
        return Row(title, what, "s", None, got, "not published", note)
    is_alike = got is not None and 0.1 < got / paper < 10.0
    return Row(
        title, what, "s", paper, got, "reproduced in pattern" if is_alike else "missed", note
    )


def _error(title: str, what: str, error: float) -> Row:
    """The final error [%]: a hundredth of the paper's band is asked for."""
    note = "square-root filter, deviation 1e6 natural sizes; left over: integration between samples"
    return Row(title, what, "%", None, error, "better" if error < 1e-2 else "missed", note)


def _our_time(title: str, what: str, paper: float | None, got: float | None, fast: bool) -> Row:
    """Within 3 s at 100 Hz; at the paper's 10 Hz sooner than the paper."""
    limit = QUICK if fast else (paper or np.inf)
    is_met = got is not None and got <= limit
    return Row(title, f"{what}: time", "s", paper, got, "better" if is_met else "missed")
