"""What is left swinging when a motion has ended, and motions that stay out of the modes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from freefloat.arrays import Array
from freefloat.design.candidate_flights import CandidateFlight
from freefloat.design.variables import Variables
from freefloat.dynamics.equations import mass_matrix
from freefloat.dynamics.frames import rotations
from freefloat.dynamics.modes import modes
from freefloat.dynamics.state import positions, rates
from freefloat.dynamics.tree import System
from freefloat.errors import ExcitationError

PADDED = 8  # times as long with zeros, so that a spectrum has points inside narrow bands
AIM = 0.95  # of the share: another grid may see a little more
BESIDE = 0.1  # of a mode's frequency: how far its band goes to either side

Bands = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class ModalEnergy:
    """The energy [J] of springs and of what swings on them when the motion has ended.

    The arm is at rest then and nothing pushes, so all that moves is the modes. Paper 000 sums
    angular acceleration instead (eq. 10), which a motion may have in plenty and leave nothing.
    """

    system: System
    home: Array  # positions of all coordinates at the end, springs at rest

    def rows(self, flown: CandidateFlight) -> Array:
        """Numbers (n,) half of whose squares add up to the energy."""
        system, states = self.system, flown.at.states[-1:]
        H = mass_matrix(system, self.home)
        R = rotations(states)[0]
        twist = np.concatenate([states[0, 10:13], R.T @ states[0, 7:10]])
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

    def told(self, value: float) -> tuple[str, float]:
        """The energy."""
        return "energy left in the modes [J]", float(np.exp(-value))


def modal_energy(system: System) -> ModalEnergy:
    """The criterion for a system; raises ExcitationError where nothing swings."""
    if not modes(system.model):
        raise ExcitationError(f"nothing of {system.model.name!r} swings: it has no modes")
    home = np.array([c.home for c in system.model.assembly.coordinates])
    return ModalEnergy(system, home)


def bands_of(system: System) -> tuple[tuple[float, float], ...]:
    """The bands [Hz] of a system's modes at home, each a tenth to either side.

    >>> from freefloat.dynamics import flatten
    >>> from freefloat.model import load_model
    >>> len(bands_of(flatten(load_model("servicer-wings"))))
    4
    """
    found = [mode.frequency for mode in modes(system.model)]
    return tuple((f * (1.0 - BESIDE), f * (1.0 + BESIDE)) for f in found)


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


def quieted(variables: Variables, bands: Bands, share: float) -> Variables:
    """The motions among these of which no more than a share of the energy lies in bands [Hz].

    Energy inside the bands and in all are two quadratic forms of a mover's unknowns; in the space
    of their common directions that are quiet enough every motion is.
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
        quiet = (L.T @ V)[:, shares <= AIM * share]
        if quiet.shape[1]:
            same, _ = np.linalg.qr(quiet)  # an orthonormal basis keeps unknowns of one size
            movers.append(replace(mover, mix=mover.mix @ same))
    if not movers:
        raise ExcitationError(
            "no motion of this family stays out of the bands; make it longer, or take fewer"
            " harmonics"
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
