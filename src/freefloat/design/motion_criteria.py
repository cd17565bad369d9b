"""Criteria that look at the motion instead of at what is learned, and motions that spare the modes.

`ModalEnergy` is what is left swinging when a motion has ended; `BaseExcursion` and
`BaseAcceleration` are those of papers 002 and 000, published, and here to be compared with: they
know nothing of sensors or parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from freefloat.arrays import Array
from freefloat.design.candidate_flights import CandidateFlight
from freefloat.design.variables import Variables
from freefloat.dynamics.equations import mass_matrix
from freefloat.dynamics.frames import rotations
from freefloat.dynamics.modes import modes
from freefloat.dynamics.state import ATTITUDE, RATE, VELOCITY, positions, rates
from freefloat.dynamics.tree import System
from freefloat.errors import ExcitationError
from freefloat.model.rotations import conjugate, quaternion_product

# theory: zero padding puts eight lines into the width of one line of the plain spectrum
PADDED = 8  # times as long with zeros, so that a spectrum has points inside narrow bands

Bands = Sequence[tuple[float, float]]
AxisBalance = Literal["literal", "corrected", "none"]


@dataclass(frozen=True)
class ModalEnergy:
    """The energy [J] of springs and of what swings on them when the motion has ended.

    The arm is at rest then and nothing pushes, so all that moves is the modes. Paper 000 sums
    angular acceleration instead (eq. 10), which a motion may have in plenty and leave nothing.
    """

    system: System
    home: Array  # positions of all coordinates at the end, springs at rest

    def rows(self, flight: CandidateFlight) -> Array:
        """Numbers (n,) half of whose squares add up to the energy."""
        system, states = self.system, flight.at.states[-1:]
        H = mass_matrix(system, self.home)
        R = rotations(states)[0]
        twist = np.concatenate([states[0, RATE], R.T @ states[0, VELOCITY]])
        speeds = np.concatenate([twist, rates(states)[0]])[system.tree.free]
        stretch = []
        for spring in system.model.assembly.springs:
            q = positions(states)[0]
            ends = q[system.coordinates.index(spring.coordinate)] - spring.rest
            if spring.other is not None:
                ends -= q[system.coordinates.index(spring.other)]
            stretch.append(np.sqrt(spring.stiffness) * ends)
        return np.concatenate([np.linalg.cholesky(H).T @ speeds, stretch])

    def value(self, rows: Array) -> tuple[float, Array]:
        """Minus the logarithm of the energy, and its derivative."""
        energy = max(0.5 * float(rows @ rows), 1e-300)
        return -float(np.log(energy)), -rows / energy

    def describe(self, value: float) -> tuple[str, float]:
        """The energy."""
        return "energy left in the modes [J]", float(np.exp(-value))


def modal_energy(system: System) -> ModalEnergy:
    """The criterion for a system; raises ExcitationError where nothing swings."""
    if not modes(system.model):
        raise ExcitationError(
            f"{system.model.name!r} has no modes; give it wings, fuel, springs or flexible drives",
            code="modes.none",
        )
    home = np.array([c.home for c in system.model.assembly.coordinates])
    return ModalEnergy(system, home)


def bands_of(system: System, *, beside: float = 0.1) -> tuple[tuple[float, float], ...]:
    """The bands [Hz] of a system's modes at home; `beside`: how far to either side, relative.

    >>> from freefloat.dynamics import flatten
    >>> from freefloat.model import load_model
    >>> len(bands_of(flatten(load_model("servicer-wings"))))
    4
    """
    found = [mode.frequency for mode in modes(system.model)]
    return tuple((f * (1.0 - beside), f * (1.0 + beside)) for f in found)


def band_share(accelerations: Array, spacing: float, bands: Bands) -> float:
    """The part of the energy of some accelerations (N, joints) that lies in bands [Hz].

    >>> t = np.arange(0.0, 100.0, 0.1)
    >>> wave = np.sin(2.0 * np.pi * 0.5 * t)[:, None]
    >>> band_share(wave, 0.1, [(0.45, 0.55)]) > 0.95, band_share(wave, 0.1, [(1.0, 2.0)]) < 0.01
    (True, True)
    """
    spectrum, inside = _spectrum(accelerations, spacing, bands)
    power = np.sum(np.abs(spectrum) ** 2, axis=1)
    return float(power[inside].sum() / max(power.sum(), 1e-300))


def outside_bands(
    variables: Variables, bands: Bands, share: float, *, aim: float = 0.95
) -> Variables:
    """The motions among these of which no more than a share of the energy lies in bands [Hz].

    Energy inside the bands and in all are two quadratic forms of a mover's unknowns; in the space
    of their common directions that are quiet enough every motion is. aim: the part of the share
    that is used, because the spectrum on another grid of times is a little different.
    """
    movers = []
    for mover in variables.movers:
        n = 40 * (mover.basis.size + 1)
        times = np.linspace(0.0, variables.duration, n)
        moved = mover.basis.columns(times)[2] @ mover.mix
        spectrum, inside = _spectrum(moved, float(times[1]), bands)
        loud = np.real(spectrum[inside].conj().T @ spectrum[inside])
        whole = np.real(spectrum.conj().T @ spectrum)
        L = np.linalg.inv(np.linalg.cholesky(whole))
        shares, V = np.linalg.eigh(L @ loud @ L.T)
        quiet = (L.T @ V)[:, shares <= aim * share]
        if quiet.shape[1]:
            same, _ = np.linalg.qr(quiet)  # an orthonormal basis keeps unknowns of one size
            movers.append(replace(mover, mix=mover.mix @ same))
    if not movers:
        raise ExcitationError(
            "no motion of this family stays out of the bands; make it longer, or take fewer"
            " harmonics",
            code="bands.unavoidable",
        )
    return replace(variables, movers=tuple(movers))


def _spectrum(
    moved: Array, spacing: float, bands: Bands
) -> tuple[NDArray[np.complex128], NDArray[np.bool_]]:
    """The spectrum of columns, and which of its lines lie inside the bands."""
    n = PADDED * len(moved)
    frequency = np.fft.rfftfreq(n, spacing)
    inside = np.full(len(frequency), fill_value=False)
    for low, high in bands:
        inside |= (frequency >= low) & (frequency <= high)
    return np.fft.rfft(moved, n, axis=0), inside


@dataclass(frozen=True)
class BaseExcursion:
    """Paper 002, eq. 26: how far the base moves along each axis, less what tells axes apart.

    With y1 ... y6 the largest displacements [m] and rotations [rad]: V = |y|^2 - sum over pairs of
    axes of (yi^2 - yj^2), i < j. `literal` has the differences as printed, with their signs, which
    makes -y1^2 + y2^2 + 3 y3^2 of the first three: no balance, and another one when axes get other
    names. `corrected` takes their sizes; `none` leaves them out. order: the axes' names.
    """

    balance: AxisBalance = "literal"
    order: tuple[int, ...] = (0, 1, 2)
    size: float = 1.0

    def rows(self, flight: CandidateFlight) -> Array:
        """Displacement [m] and small rotation [rad] of the base from its start (N, 6)."""
        states = flight.at.states
        turn = quaternion_product(conjugate(states[:1, ATTITUDE]), states[:, ATTITUDE])
        moved = states[:, :3] - states[0, :3]
        return np.hstack([moved, 2.0 * np.sign(turn[:, 3:]) * turn[:, :3]])

    def value(self, rows: Array) -> tuple[float, Array]:
        """-V in units of `size`, and its derivative."""
        places = np.argmax(np.abs(rows), axis=0)
        peaks = rows[places, np.arange(6)]
        weights = self._weights(peaks**2)
        slopes = np.zeros_like(rows)
        slopes[places, np.arange(6)] = -2.0 * weights * peaks / self.size
        return float(-weights @ peaks**2 / self.size), slopes

    def _weights(self, squares: Array) -> Array:
        """How often each squared peak counts."""
        weights = np.ones(6)
        for first in (0, 3):
            axes = [first + k for k in self.order]
            for a, b in combinations(axes, 2):
                sign = 1.0
                if self.balance == "corrected" and squares[a] < squares[b]:
                    sign = -1.0
                if self.balance != "none":
                    weights[a] -= sign
                    weights[b] += sign
        return weights

    def describe(self, value: float) -> tuple[str, float]:
        """V itself."""
        return "excursion of the base, eq. 26", -value * self.size


@dataclass(frozen=True)
class BaseAcceleration:
    """Paper 000, eq. 10: angular acceleration of the base along an axis, summed up.

    As printed the sum is signed, and zero for every motion from rest to rest; `is_signed=False`
    sums sizes. axis: in root axes.
    """

    axis: tuple[float, float, float]
    is_signed: bool = False

    def rows(self, flight: CandidateFlight) -> Array:
        """Angular acceleration along the axis (N, 1) [rad/s^2]."""
        return flight.at.motion.accelerations[:, :3] @ np.array(self.axis)[:, None]

    def value(self, rows: Array) -> tuple[float, Array]:
        """The logarithm of eq. 10, one over the sum, and its derivative."""
        signs = np.ones_like(rows) if self.is_signed else np.sign(rows)
        total = float(np.sum(signs * rows))
        size = max(abs(total), 1e-12)
        return -float(np.log(size)), -np.sign(total) * signs / size

    def describe(self, value: float) -> tuple[str, float]:
        """The sum."""
        return "summed angular acceleration of the base [rad/s^2]", float(np.exp(-value))
