"""What the matrix between a rate and its position says: gain, unit, sign, axes, mounting."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import permutations, product
from math import degrees

import numpy as np

from freefloat.telemetry.channel import Array, Mask
from freefloat.telemetry.diagnosis import FAMILY_CHANCE, Finding
from freefloat.telemetry.names import XYZ, ChannelName
from freefloat.telemetry.stream_pairs import PairFit

Chance = Callable[[float], float]

# theory: factors between units that are mistaken for each other
UNITS = {
    degrees(1.0): "the rate is in radians and its position in degrees",
    1.0 / degrees(1.0): "the rate is in degrees and its position in radians",
    1e3: "the rate is in m and its position in mm",
    1e-3: "the rate is in mm and its position in m",
}
# theory: half way between an axis and the diagonal to the next, sin 22.5 deg: closer to the axis
_NEAR = 0.38


def matrix_findings(
    positions: Sequence[str], rates: Sequence[str], fit: PairFit, chance: Chance
) -> Iterator[Finding]:
    """Causes of a matrix that is not one: position derivative = matrix · rate."""
    names, span = (*rates,), (fit.start, fit.end)
    matrix, seen = fit.matrix, fit.seen
    size = _size(matrix, seen)
    axes = _nearest_axes(matrix / size, seen)
    if axes is not None:
        yield _axes_finding(names, span, axes, chance(_largest_z(fit)))
        matrix = np.linalg.inv(axes) @ matrix if abs(np.linalg.det(axes)) > 0.5 else matrix
    yield from _scale_findings(positions, names, span, fit, matrix, chance)
    if len(matrix) == len(XYZ):
        yield from _mounting_finding(names, span, fit, matrix / _size(matrix, seen), chance)


def _size(matrix: Array, seen: Mask) -> float:
    """The common gain: the root mean square of the columns that the motion shows."""
    return float(np.sqrt(np.mean(np.sum(matrix[:, seen] ** 2, axis=0))))


def _largest_z(fit: PairFit) -> float:
    off = np.abs(fit.matrix - np.eye(len(fit.matrix)))[:, fit.seen]
    return float(np.max(off / fit.matrix_deviation[:, fit.seen]))


def _nearest_axes(matrix: Array, seen: Mask) -> Array | None:
    """The exchange of axes and signs closest to a matrix, if it is close and not the identity."""
    n = len(matrix)
    signs = product((1.0, -1.0), repeat=n)
    tried = [np.diag(sign)[list(order)] for sign in signs for order in permutations(range(n))]
    best = min(tried, key=lambda axes: float(np.sum((axes - matrix)[:, seen] ** 2)))
    worst = float(np.max(np.linalg.norm((best - matrix)[:, seen], axis=0)))
    if worst > 2.0 * _NEAR or np.array_equal(best[:, seen], np.eye(n)[:, seen]):
        return None
    best = best.copy()
    if not seen.all():
        best[:, ~seen] = np.eye(n)[:, ~seen]
    return best


def _axes_finding(
    names: tuple[str, ...], span: tuple[float, float], axes: Array, chance: float
) -> Finding:
    shown = []
    for j, name in enumerate(names):
        i = int(np.argmax(np.abs(axes[:, j])))
        sign = "-" if axes[i, j] < 0.0 else ""
        if i != j or sign:
            shown.append(f"{name} is {sign}{XYZ[i] if len(names) > 1 else 'itself'}")
    return Finding(
        "recording.axes", names, *span, float(np.linalg.det(axes)), "1", deviation=0.0,
        chance=chance, text=f"axes or signs are exchanged: {', '.join(shown)}",
        advice="correct names or signs in the file, of the rate or of the position",
    )  # fmt: skip


def _scale_findings(
    positions: Sequence[str],
    names: tuple[str, ...],
    span: tuple[float, float],
    fit: PairFit,
    matrix: Array,
    chance: Chance,
) -> Iterator[Finding]:
    """Gains of axes that are not one; one finding where they are the same."""
    places = np.flatnonzero(fit.seen)
    gains = np.linalg.norm(matrix[:, places], axis=0)
    deviations = np.array([np.diag(fit.matrix_deviation)[j] for j in places])
    deviations = np.maximum(deviations, fit.matrix_deviation[:, places].min(axis=0))
    chances = [chance(float((g - 1.0) / d)) for g, d in zip(gains, deviations, strict=True)]
    wrong = [k for k, p in enumerate(chances) if p < FAMILY_CHANCE]
    if not wrong:
        return
    worst = max(wrong, key=lambda k: abs(gains[k] - 1.0) / deviations[k])
    gain, deviation = float(gains[worst]), float(deviations[worst])
    hint = next((text for factor, text in UNITS.items() if abs(gain / factor - 1.0) < 0.05), "")
    of_axes = ", ".join(f"{names[places[k]]} {gains[k]:.5g}" for k in wrong)
    of_position = ChannelName.parse(positions[0]).group
    text = f"the derivative of {of_position} over this rate: {of_axes}"
    yield Finding(
        "recording.scale", tuple(names[places[k]] for k in wrong), *span, gain, "1",
        deviation=deviation, chance=chances[worst], text=f"{text}; {hint}" if hint else text,
        advice="correct the unit" if hint else "free its gain, or correct the gear or the scale",
    )  # fmt: skip


def _mounting_finding(
    names: tuple[str, ...], span: tuple[float, float], fit: PairFit, matrix: Array, chance: Chance
) -> Iterator[Finding]:
    """The small rotation between the axes of a rate and those of its position."""
    angle, deviation = np.zeros(3), np.full(3, np.inf)
    for k in range(3):
        i, j = (k + 2) % 3, (k + 1) % 3  # a turn about k: entry (i, j) is the angle, (j, i) minus
        parts = []
        if fit.seen[j]:
            parts.append((matrix[i, j], fit.matrix_deviation[i, j]))
        if fit.seen[i]:
            parts.append((-matrix[j, i], fit.matrix_deviation[j, i]))
        if parts:
            weights = np.array([1.0 / max(d, 1e-300) ** 2 for _, d in parts])
            angle[k] = float(np.sum(weights * [v for v, _ in parts]) / np.sum(weights))
            deviation[k] = float(1.0 / math.sqrt(np.sum(weights)))
    z = np.abs(angle) / deviation
    worst = int(np.argmax(z))
    if chance(float(z[worst])) > FAMILY_CHANCE:
        return
    size = float(np.linalg.norm(angle))
    shown = ", ".join(f"{degrees(a):.3g}" for a in angle)
    yield Finding(
        "recording.mounting", names, *span, size, "rad", deviation=float(deviation[worst]),
        chance=chance(float(z[worst])),
        text=f"its axes are turned by ({shown}) deg against those of the attitude",
        advice="give the sensor a frame turned like that in the model, or free its mounting",
    )  # fmt: skip
