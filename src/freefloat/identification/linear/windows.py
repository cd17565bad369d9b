"""Accelerations without a filter of unknown effect: short windows, each fitted by a polynomial.

A window of 2 h + 1 samples becomes one instant, at its centre: value, first and second derivative
of every channel, with the covariance the least squares gives them. Windows do not overlap, so what
they say is independent. Of the widths and degrees for which a polynomial of two degrees less still
describes every channel to within its noise, the one with the quietest derivatives is taken.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import factorial

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.tree import System
from freefloat.errors import IdentificationError
from freefloat.identification.linear.linear_options import DEFAULTS
from freefloat.identification.linear.samples import NoiseSource, Samples
from freefloat.model.rotations import (
    quaternion_from_rotation_vector,
    quaternion_product,
    rotation_vector_from_quaternion,
)
from freefloat.notes import Note

# theory: half widths in steps of about 1.4, even degrees; the data choose, the first if none fits
SHAPES = ((3, 6), *((half, degree) for degree in (4, 6) for half in (3, 4, 6, 8, 12, 16, 24, 36)))


@dataclass(frozen=True)
class Windows:
    """How samples are cut: rows (W, 2 h + 1) of indices, fits (W, 3, 2 h + 1) of the derivatives.

    fits[w, d] @ values is the d-th derivative at the centre; residue (W, 2h + 1, 2h + 1) projects
    values onto what a polynomial of two degrees less cannot follow, which has n_spare dimensions.
    """

    rows: np.ndarray
    fits: Array
    residue: Array
    n_spare: int

    @property
    def loudness(self) -> float:
        """Variance of the first derivatives, for as many windows as fit in a given time."""
        return float(np.mean(np.sum(self.fits[:, 1] ** 2, axis=1)) * self.rows.shape[1])


def fit_windows(
    samples: Samples, system: System | None = None, *, misfit: float = DEFAULTS.window_misfit
) -> Samples:
    """The recording at the centres of its windows, with accelerations.

    Root accelerations come from the accelerometer where there is one, else from the velocity (less
    the gravity around `system`); ddq from joint rates. No window looks across an instant at which
    a thruster or the commanded wrench switches. `misfit`: mean square residual over noise up to
    which polynomials describe the channels. Windowed samples are taken as they are.
    """
    if samples.is_windowed:
        return samples
    chosen: Windows | None = None
    for half, degree in SHAPES:
        cut = _windows(samples, half, degree) if degree <= 2 * half else None
        if cut is None or (chosen is not None and not _fits(samples, cut, misfit)):
            continue
        if chosen is None or cut.loudness < chosen.loudness:
            chosen = cut
    if chosen is None:
        raise IdentificationError(
            f"{len(samples.time)} instants are too few, or too unevenly spaced, to take"
            " accelerations from; use a family that needs none (momentum, weak)",
            code="samples.few",
        )
    return _at_centres(samples, chosen, system)


def _windows(samples: Samples, half: int, degree: int) -> Windows | None:
    width = 2 * half + 1
    step = np.median(np.diff(samples.time))
    gaps = np.flatnonzero(np.diff(samples.time) > 1.5 * step) + 1
    rows: list[np.ndarray] = []
    for piece in np.split(np.arange(len(samples.time)), np.union1d(gaps, input_jumps(samples))):
        n = len(piece) // width
        rows += list(piece[: n * width].reshape(n, width))
    if len(rows) < 3:
        return None
    index = np.array(rows)
    t = samples.time[index] - samples.time[index[:, half]][:, None]
    scale = half * step
    V = (t / scale)[:, :, None] ** np.arange(degree + 1)
    pinv = np.linalg.pinv(V)
    fits = np.stack([pinv[:, d] * factorial(d) / scale**d for d in range(3)], axis=1)
    lower = V[:, :, : degree - 1]
    residue = np.eye(width) - lower @ np.linalg.pinv(lower)
    return Windows(index, fits, residue, width - (degree - 1))


def input_jumps(samples: Samples) -> np.ndarray:
    """The instants from which on a thruster or the commanded wrench has another level.

    A wrench may also change smoothly: it jumps where it does four times what it does around.
    """
    switches = np.any(np.diff(samples.thrust, axis=0) != 0.0, axis=1)
    return np.union1d(np.flatnonzero(switches) + 1, wrench_jumps(samples))


def wrench_jumps(samples: Samples) -> np.ndarray:
    """The instants from which on the commanded wrench has another level."""
    change = np.abs(np.diff(samples.wrench, axis=0))
    padded = np.pad(change, ((2, 2), (0, 0)), mode="edge")
    around = np.median(np.lib.stride_tricks.sliding_window_view(padded, 5, axis=0), axis=2)
    least = 1e-9 * np.max(np.abs(samples.wrench), axis=0, initial=0.0)
    return np.flatnonzero((change > 4.0 * around + least).any(axis=1)) + 1


def gravity(system: System, samples: Samples) -> Array:
    """Gravity at the root's origin and the direction away from the planet (N, 6), world axes.

    The origin of an orbit's frame is taken where the root starts: a metre beside it changes
    gravity by a millionth of a metre per second squared.
    """
    environment = system.environment
    out = np.zeros((len(samples.time), 6))
    out[:, 3:] = r = environment.radial_at(samples.time)
    out[:, :3] = environment.gravity
    if environment.gradient and samples.velocity is not None:
        step = 0.5 * np.diff(samples.time)[:, None]
        p = np.cumsum(step * (samples.velocity[1:] + samples.velocity[:-1]), axis=0)
        p = np.vstack([np.zeros((1, 3)), p])
        out[:, :3] += environment.gradient * (3.0 * np.sum(r * p, axis=1, keepdims=True) * r - p)
    return out


def _channels(samples: Samples) -> list[tuple[str, int, float, Array]]:
    """Every measured column with its deviation, except attitudes."""
    return [
        (field, column, size, getattr(samples, field)[:, column])
        for source in samples.sources
        for field, column, size in source.parts
        if field != "attitude"
    ]


def _fits(samples: Samples, cut: Windows, misfit: float) -> bool:
    """Whether the polynomials leave no more than noise in any channel."""
    for _, _, size, values in _channels(samples):
        left = np.einsum("wij,wj->wi", cut.residue, values[cut.rows])
        if np.mean(left**2) * cut.rows.shape[1] / cut.n_spare > misfit * size**2:
            return False
    return True


def _at_centres(samples: Samples, cut: Windows, system: System | None) -> Samples:
    centre = cut.rows[:, cut.rows.shape[1] // 2]
    at = samples.select(centre)
    fields: dict[str, Array] = {"q": at.q.copy(), "dq": at.dq.copy()}
    for name in ("rate", "velocity", "acceleration", "torque"):
        if getattr(samples, name) is not None:
            fields[name] = getattr(at, name).copy()
    W = len(centre)
    slopes = {"rate": np.zeros((W, 3)), "velocity": np.zeros((W, 3)), "dq": np.zeros_like(at.q)}
    for field, column, _, values in _channels(samples):
        fields[field][:, column] = np.einsum("wj,wj->w", cut.fits[:, 0], values[cut.rows])
        if field in slopes:
            slopes[field][:, column] = np.einsum("wj,wj->w", cut.fits[:, 1], values[cut.rows])
    for k in samples.derived:
        fields["dq"][:, k], slopes["dq"][:, k] = (
            np.einsum("wj,wj->w", cut.fits[:, d], samples.q[:, k][cut.rows]) for d in (1, 2)
        )
    if samples.attitude is not None:
        fields["attitude"] = _attitude(samples.attitude, cut)
    made = replace(at, **fields, ddq=slopes["dq"], derived=(), is_windowed=True)
    if samples.rate is not None:
        made = replace(made, alpha=slopes["rate"])
    if samples.acceleration is None and samples.velocity is not None and made.attitude is not None:
        slope = slopes["velocity"]
        if system is not None:
            slope = slope - gravity(system, samples)[centre, :3]
        made = replace(made, acceleration=np.einsum("nji,nj->ni", made.rotation, slope))
    text = f"accelerations from polynomials over {cut.rows.shape[1]} samples"
    note = Note("accelerations.windows", text)
    return replace(made, sources=_sources(samples, cut, made), notes=(*samples.notes, note))


def _attitude(attitude: Array, cut: Windows) -> Array:
    """Attitude at the centres: the turns away from the central sample, fitted like the rest."""
    centre = attitude[cut.rows[:, cut.rows.shape[1] // 2]]
    back = centre * np.array([-1.0, -1.0, -1.0, 1.0])
    turns = rotation_vector_from_quaternion(quaternion_product(back[:, None], attitude[cut.rows]))
    mean = np.einsum("wj,wjk->wk", cut.fits[:, 0], turns)
    return quaternion_product(centre, quaternion_from_rotation_vector(mean))


def _sources(samples: Samples, cut: Windows, made: Samples) -> tuple[NoiseSource, ...]:
    """Errors of the fitted values; value and first derivative of a window are independent."""
    spread = np.mean(cut.fits @ np.swapaxes(cut.fits, 1, 2), axis=0)
    gains = np.sqrt(np.diag(spread))
    found: list[NoiseSource] = []
    slope_of = {"rate": "alpha", "dq": "ddq"}
    if samples.acceleration is None and made.acceleration is not None:
        slope_of["velocity"] = "acceleration"
    for source in samples.sources:
        ((field, column, size),) = source.parts
        if field == "q" and column in samples.derived:
            factor = size * np.linalg.cholesky(spread)
            fields = ("q", "dq", "ddq")
            for row in factor.T:
                found.append(
                    NoiseSource(
                        tuple((f, column, float(x)) for f, x in zip(fields, row, strict=True))
                    )
                )
            continue
        found.append(NoiseSource(((field, column, size * float(gains[0])),)))
        if field in slope_of:
            found.append(NoiseSource(((slope_of[field], column, size * float(gains[1])),)))
    return tuple(found)
