"""Modes seen in a recording: frequency, damping and shape, with their deviations.

Not every oscillation is a mode. A wing that swings far is not a linear spring any more: it also
shows at twice its frequency, at sums and differences, and its own frequency moves as it
decays. Such companions are flagged and never called modes. Neither is what grows, which no free
swing does, nor anything in a stretch in which something is driven: that swings as it is told to.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement, product
from typing import Literal

import numpy as np

from freefloat.arrays import Array
from freefloat.errors import IdentificationError
from freefloat.identification.modes.free_response import (
    DEFAULTS,
    FreeResponse,
    ModalOptions,
    free_response,
    quiet_stretch,
)
from freefloat.identification.modes.oscillations import (
    Complex,
    Oscillations,
    find_oscillations,
    fit_poles,
)
from freefloat.identification.modes.power_spectrum import Spectrum, spectrum
from freefloat.model.model import Model
from freefloat.notes import Note
from freefloat.telemetry.telemetry import Telemetry
from freefloat.text import listing

Kind = Literal["mode", "harmonic", "drift", "faint", "growing", "driven"]
# theory: of modes without any damping, one in forty is taken for a growing one
GROWS = 2.0  # standard deviations below nought


@dataclass(frozen=True)
class SeenMode:
    """An oscillation: frequency [Hz] and damping ratio [1] with deviations, and where it shows.

    strength: the largest amplitude at the start of the stretch in units of that channel's noise;
    shape: complex amplitude by channel in its own unit; kind: mode, harmonic (of stronger ones:
    `of`), drift (slower than the stretch can tell), faint, growing (no free swing does) or driven
    (something moved or pushed in this stretch).
    """

    frequency: float
    frequency_std: float
    damping: float
    damping_std: float
    strength: float
    shape: dict[str, complex]
    kind: Kind = "mode"
    of: str = ""

    @property
    def is_growing(self) -> bool:
        """Whether its damping is negative beyond doubt: no free swing's is."""
        return self.damping < -GROWS * self.damping_std

    def __str__(self) -> str:
        """One line: frequency, damping, strength and what it is."""
        what = f"{self.kind}{' ' + self.of if self.of else ''}"
        return (
            f"{self.frequency:.4f} ± {self.frequency_std:.4f} Hz, zeta {self.damping:.4f} ±"
            f" {self.damping_std:.4f}, {self.strength:.3g} x noise: {what}"
        )


@dataclass(frozen=True)
class ModalFit:
    """What oscillates in a recording: the modes first, then what only accompanies them.

    start, end [s]: the stretch looked at; misfit: what is left over, in units of the noise (one is
    perfect); spectrum of the stretch; noise: of an amplitude, by channel, in its unit.
    """

    start: float
    end: float
    modes: tuple[SeenMode, ...]
    others: tuple[SeenMode, ...]
    misfit: float
    spectrum: Spectrum
    noise: Mapping[str, float]
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The modes and their companions, one a line."""
        head = f"free response from {self.start:.4g} to {self.end:.4g} s:"
        return "\n".join([head, *map(str, (*self.modes, *self.others)), *self.notes])


def identify_modes(
    telemetry: Telemetry,
    model: Model | None = None,
    *,
    channels: str | Sequence[str] | None = None,
    between: tuple[float, float] | None = None,
    bandwidth: float = 2.0,
    options: ModalOptions = DEFAULTS,
) -> ModalFit:
    """The modes in the free response of a recording, by maximum likelihood.

    Args:
        telemetry: the recording.
        model: tells driven joints from others; without one every encoder counts as driven.
        channels: names or globs; all that respond to a free oscillation unless given.
        between: start and end of the stretch [s]; the longest on which driven joints rest unless
            given. Where something is driven in it, oscillations are `driven` and not modes.
        bandwidth: the highest frequency looked at [Hz]; 2 is what arms can excite.
        options: how the stretch is found, and how many oscillations are looked for.

    Returns:
        The modes with frequencies, damping and shapes, and what only accompanies them.

    Raises:
        IdentificationError: if nothing rests for long enough, or no channel responds.

    >>> import numpy as np
    >>> t = np.arange(0.0, 40.0, 0.02)
    >>> swing = np.exp(-0.02 * t) * np.sin(2 * np.pi * 0.23 * t)
    >>> swing += 0.05 * np.random.default_rng(0).normal(size=t.size)
    >>> found = identify_modes(Telemetry.from_arrays(t, {"base.rate.x": swing}))
    >>> [round(mode.frequency, 2) for mode in found.modes]
    [0.23]
    """
    response = free_response(
        telemetry, model, channels=channels, between=between, bandwidth=bandwidth, options=options
    )
    found = find_oscillations(
        response.time, response.values, most=options.most, patience=options.patience
    )
    merged = _merge_twins(response, found)
    notes = []
    if len(merged.poles) < len(found.poles):
        text = "frequency or damping changes as the oscillation decays: means are given"
        notes.append(Note("modes.amplitude_dependent", text))
    if response.driven:
        notes.append(_driven_note(telemetry, model, response, options))
    seen = _classify(response, merged, options.faint)
    end = response.start + response.duration
    cut = telemetry.between(response.start, end)
    return ModalFit(
        response.start, end,
        tuple(mode for mode in seen if mode.kind == "mode"),
        tuple(mode for mode in seen if mode.kind != "mode"),
        merged.misfit, spectrum(cut, response.channels, segment=0.95 * response.duration),
        dict(zip(response.channels, response.scale.tolist(), strict=True)), tuple(notes),
    )  # fmt: skip


def _driven_note(
    telemetry: Telemetry, model: Model | None, response: FreeResponse, options: ModalOptions
) -> Note:
    """What is driven in the stretch, and where in it nothing is."""
    cut = telemetry.between(response.start, response.start + response.duration)
    try:
        start, end = quiet_stretch(cut, model, options)
        advice = f"all rest from {start:.4g} to {end:.4g} s: look there"
    except IdentificationError:
        advice = "let the longest rest be looked for, or fly a plan that ends with one"
    verb = "is" if len(response.driven) == 1 else "are"
    text = f"{listing(response.driven)} {verb} driven in this stretch, so no mode is told; {advice}"
    return Note("modes.driven", text)


def _merge_twins(response: FreeResponse, found: Oscillations) -> Oscillations:
    """Poles closer than the stretch resolves, with one shape, made one.

    They come from a frequency that depends on amplitude. What their frequencies and decays differ
    by is added to the deviations.
    """
    strength = np.max(np.abs(found.amplitudes), axis=1, initial=0.0)
    twins: dict[int, list[int]] = {}
    for k in map(int, np.argsort(-strength)):
        near = [
            j for j in twins
            if abs(found.poles[k].imag - found.poles[j].imag) < 2.0 * np.pi / response.duration
            and likeness(found.amplitudes[k], found.amplitudes[j]) > 0.9
        ]  # fmt: skip
        if near:
            twins[near[0]].append(k)
        else:
            twins[k] = []
    if len(twins) == len(found.poles):
        return found
    kept = sorted(twins)
    one = fit_poles(response.time, response.values, found.poles[kept])
    extra = np.zeros(2 * len(kept))
    for place, k in enumerate(kept):
        for j in twins[k]:
            apart = found.poles[j] - found.poles[k]
            share = strength[j] / (strength[j] + strength[k])
            extra[place] += share * (1.0 - share) * apart.imag**2
            extra[len(kept) + place] += share * (1.0 - share) * apart.real**2
    return replace(one, covariance=one.covariance + np.diag(extra))


def likeness(a: Complex, b: Complex) -> float:
    """How alike two complex shapes are, from 0 to 1 (modal assurance criterion)."""
    size = float(np.vdot(a, a).real * np.vdot(b, b).real)
    return float(abs(np.vdot(a, b)) ** 2) / size if size > 0.0 else 0.0


def _classify(response: FreeResponse, found: Oscillations, faint: float) -> list[SeenMode]:
    """All oscillations, slowest first, each with what it is."""
    m = len(found.poles)
    strength = np.max(np.abs(found.amplitudes), axis=1, initial=0.0)
    std = np.sqrt(np.maximum(np.diag(found.covariance), 0.0))
    seen = []
    for k in range(m):
        s = found.poles[k]
        w = float(abs(s))
        kind, of = _kind(response, found, strength, k, faint)
        amplitudes = (found.amplitudes[k] * response.scale).tolist()
        mode = SeenMode(
            w / (2.0 * np.pi), float(std[k]) / (2.0 * np.pi), float(-s.real) / w,
            float(std[m + k]) / w, float(strength[k]),
            dict(zip(response.channels, amplitudes, strict=True)), kind, of,
        )  # fmt: skip
        if kind == "mode" and response.driven:
            mode = replace(mode, kind="driven")
        elif kind == "mode" and mode.is_growing:
            mode = replace(mode, kind="growing")
        seen.append(mode)
    return seen


def _kind(
    response: FreeResponse, found: Oscillations, strength: Array, k: int, faint: float
) -> tuple[Kind, str]:
    """What oscillation k is, and of which stronger ones it is a companion."""
    if found.poles[k].imag * response.duration < 1.5 * 2.0 * np.pi:
        return "drift", ""
    stronger = strength > 3.0 * strength[k]
    # of frequencies and, after them, of decays
    variance = np.maximum(np.diag(found.covariance), 0.0).reshape(2, -1)
    for parents, words in _products(found, np.flatnonzero(stronger).tolist()):
        # A companion oscillates with the product of its parents and decays as all of them together.
        together = np.sum([found.poles[j] if sign > 0 else np.conj(found.poles[j])
                           for j, sign in parents])  # fmt: skip
        # what changes as it decays is known no better than its deviations say
        times = Counter(j for j, _ in parents)
        spread = variance[:, k] + sum(n**2 * variance[:, j] for j, n in times.items())
        turn, decay = 2.0 * np.sqrt(spread)
        turn += 0.5 * np.pi / response.duration
        decay += 0.6 * abs(together.real)
        off = found.poles[k] - complex(together.real, abs(together.imag))
        if abs(off.imag) < turn and abs(off.real) < decay:
            return "harmonic", words
    # What the fit leaves over counts as noise: amplitudes are known no better than that.
    if strength[k] * np.sqrt(len(response.time) / 4.0) < faint * max(found.misfit, 1.0):
        return "faint", ""
    return "mode", ""


Product = tuple[list[tuple[int, int]], str]


def _products(found: Oscillations, among: list[int]) -> Iterator[Product]:
    """Sums and differences of two, and of two and one more, each with its name."""
    f = found.poles.imag / (2.0 * np.pi)
    for i, j in combinations_with_replacement(among, 2):
        low, high = sorted((i, j), key=lambda n: f[n])
        words = f"2 x {f[i]:.3g} Hz" if i == j else f"{f[high]:.3g} + {f[low]:.3g} Hz"
        yield [(i, 1), (j, 1)], words
        if i != j:
            yield [(high, 1), (low, -1)], f"{f[high]:.3g} - {f[low]:.3g} Hz"
    for i, j in product(among, repeat=2):
        # what goes with the third power comes after what goes with the second
        if i == j and any(abs(f[n] - 2.0 * f[i]) < 0.02 * f[i] for n in among):
            yield [(i, 1)] * 3, f"3 x {f[i]:.3g} Hz"
        elif i != j:
            yield [(i, 1), (i, 1), (j, 1)], f"2 x {f[i]:.3g} + {f[j]:.3g} Hz"
            yield [(i, 1), (i, 1), (j, -1)], f"2 x {f[i]:.3g} - {f[j]:.3g} Hz"
