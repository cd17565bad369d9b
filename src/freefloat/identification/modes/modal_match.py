"""Seen modes beside the model's: which is which, and the stiffnesses that would make them agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.equations import no_inputs, observe
from freefloat.dynamics.modes import Mode, modes
from freefloat.dynamics.state import ATTITUDE, POSITION, RATE, VELOCITY, Start
from freefloat.dynamics.tree import System, flatten, without_environment
from freefloat.errors import IdentificationError
from freefloat.identification.modes.modal import ModalFit, SeenMode, likeness
from freefloat.identification.modes.oscillations import Complex
from freefloat.model.model import Model
from freefloat.model.rotations import quaternion_from_rotation_vector
from freefloat.parameters.write_back import with_parameters
from freefloat.prediction.flight import FlightSegment
from freefloat.prediction.sensor_models import sensor_readings
from freefloat.prediction.sensor_noise import SUFFIXES
from freefloat.records.option_record import CheckedOptions
from freefloat.records.values import Positive
from freefloat.telemetry.names import channel_names
from freefloat.telemetry.telemetry import Telemetry

# theory: [rad] of deflection at which shapes are read off the model: linear to 1e-6 of itself, and
# ten digits above rounding
SMALL = 1e-6


@dataclass(frozen=True)
class MatchOptions(CheckedOptions, error=IdentificationError):
    """How seen modes are assigned to the model's, and how far its springs may follow.

    Args:
        farthest: ratio of frequencies within which a mode is looked for [1].
        together: standard deviation of the logarithm of all stiffnesses together [1] ...
        apart: ... and of each by itself [1]: a model errs in common before it errs in parts.
    """

    farthest: Positive = 2.0
    together: Positive = 1.0
    apart: Positive = 0.1


DEFAULTS = MatchOptions()


@dataclass(frozen=True)
class Match:
    """A mode of the model, the seen one it was taken for (None: not seen), and their likeness."""

    mode: Mode
    seen: SeenMode | None
    likeness: float

    @property
    def ratio(self) -> float | None:
        """Seen frequency over the model's."""
        return None if self.seen is None else self.seen.frequency / self.mode.frequency


@dataclass(frozen=True)
class ModalMatch:
    """The model's modes at the posture of the flight, beside the seen ones.

    model: the same with springs and dampers scaled so that its modes agree with the seen ones, a
    start for identification; factors: by which each spring's stiffness was scaled; unmatched: seen
    modes that no mode of the model explains.
    """

    matches: tuple[Match, ...]
    unmatched: tuple[SeenMode, ...]
    model: Model
    factors: Mapping[str, float]


def match_modes(
    model: Model, found: ModalFit, telemetry: Telemetry, *, options: MatchOptions = DEFAULTS
) -> ModalMatch:
    """Seen modes assigned to the model's by frequency and by shape at the sensors.

    Args:
        model: Whose modes are expected.
        found: The modes seen, from `identify_modes`.
        telemetry: The recording that they were seen in.
        options: How near a pair must be.

    Returns:
        Pairs of modes with the ratio of their frequencies, and springs that would agree.

    Raises:
        ModelError: Free coordinates of the model move no mass, so it has no modes.

    >>> import freefloat as ff
    >>> from freefloat.excitation import Moves
    >>> from freefloat.identification.modes.modal import identify_modes
    >>> wings = ff.load_model("servicer-wings")
    >>> kick = Moves((0.0, 1.0, 2.0), (0.6, 0.7, 0.6))
    >>> flight = ff.simulate(wings, ff.Plan(30.0, motions={"arm_2": kick}), seed=0)
    >>> match = match_modes(wings, identify_modes(flight, wings), flight)
    >>> [round(pair.ratio, 2) for pair in match.matches if pair.seen]
    [1.0, 1.0]
    """
    posture = posture_of(model, telemetry.between(found.start, found.end))
    matches = pair_modes(model, posture, found, options)
    taken = [match.seen for match in matches]
    scaled, factors = _scale_springs(model, posture, matches, options)
    unmatched = tuple(mode for mode in found.modes if mode not in taken)
    return ModalMatch(matches, unmatched, scaled, factors)


def pair_modes(
    model: Model, posture: dict[str, float], found: ModalFit, options: MatchOptions = DEFAULTS
) -> tuple[Match, ...]:
    """The model's modes, each with the seen one it is taken for."""
    own = modes(model, posture=posture)
    return tuple(Match(*pair) for pair in _assign(model, posture, own, found, options))


def disagreement(matches: Sequence[Match], options: MatchOptions = DEFAULTS) -> float:
    """How poorly the model's modes are those seen: nought for perfectly, one for each not seen."""

    def apart(ratio: float) -> float:
        return abs(float(np.log(ratio))) / np.log(options.farthest)

    return sum(1.0 if m.ratio is None else apart(m.ratio) + 1.0 - m.likeness for m in matches)


def posture_of(model: Model, telemetry: Telemetry) -> dict[str, float]:
    """Where the measured coordinates were, by the median of their encoders."""
    found = {}
    for coordinate in model.assembly.coordinates:
        name = channel_names(coordinate)[0]
        if coordinate.role != "passive" and name in telemetry:
            values = telemetry[name].usable()[1]
            if len(values):
                found[coordinate.name] = float(np.median(values))
    return found


def _assign(
    model: Model,
    posture: dict[str, float],
    own: list[Mode],
    found: ModalFit,
    options: MatchOptions,
) -> list[tuple[Mode, SeenMode | None, float]]:
    """Every mode of the model with the seen one that costs least, all together."""
    from scipy.optimize import linear_sum_assignment

    seen = found.modes
    pairs: list[tuple[Mode, SeenMode | None, float]] = [(mode, None, 0.0) for mode in own]
    if not own or not seen:
        return pairs
    scale = np.array(list(found.noise.values()))
    shapes = channel_shapes(model, posture, own, list(found.noise))
    alike = np.array([[_alike(shapes[i], s, scale) for s in seen] for i in range(len(own))])
    apart = np.abs(np.log([[s.frequency / mode.frequency for s in seen] for mode in own]))
    # A wholly different shape weighs as much as frequencies twice apart; not to match costs that.
    farthest = np.log(options.farthest)
    cost = np.where(apart < farthest, apart / farthest + (1.0 - alike), 1e3)
    whole = np.hstack([cost, np.ones((len(own), len(own)))])
    rows, columns = linear_sum_assignment(whole)
    for i, j in zip(rows, columns, strict=True):
        if j < len(seen):
            pairs[i] = (own[i], seen[j], float(alike[i, j]))
    return pairs


def _alike(shape: Complex, seen: SeenMode, scale: Array) -> float:
    measured, use = np.array([*seen.shape.values()], dtype=complex), np.isfinite(shape)
    if not use.any():
        return 1.0  # the model has none of these sensors: frequency alone decides
    return likeness(shape[use] / scale[use], np.asarray(measured[use] / scale[use], dtype=complex))


def channel_shapes(
    model: Model, posture: dict[str, float], own: list[Mode], channels: list[str]
) -> Complex:
    """Complex amplitudes (modes, channels) of the sensors per unit of each mode; NaN if unknown."""
    system = flatten(model)
    rest = Start(coordinates=posture).vector(system)
    n, states = len(own), [rest]
    for mode in own:
        pole = 2.0 * np.pi * mode.frequency * complex(
            -mode.damping, np.sqrt(max(1.0 - mode.damping**2, 0.0))
        )  # fmt: skip
        states += [_displace(system, rest, mode, SMALL, SMALL * pole.real),
                   _displace(system, rest, mode, 0.0, SMALL * pole.imag)]  # fmt: skip
    table = np.array(states)
    still = without_environment(system)  # gravity gradients are no part of a free oscillation
    motion = observe(still, table)
    at = FlightSegment(np.zeros(len(table)), table, motion, no_inputs(still, n_rows=len(table)))
    shapes = np.full((n, len(channels)), np.nan + 0j)
    for sensor in model.sensors:
        for stem, truth in sensor_readings(still, sensor, at).items():
            columns = truth[:, None] if truth.ndim == 1 else truth
            for k, suffix in enumerate(SUFFIXES[columns.shape[1]]):
                if stem + suffix in channels:
                    change = (columns[1:, k] - columns[0, k]) / SMALL
                    shapes[:, channels.index(stem + suffix)] = change[::2] + 1j * change[1::2]
    return shapes


def _displace(system: System, rest: Array, mode: Mode, by: float, speed: float) -> Array:
    """The state displaced by a share of a mode, and moving along it."""
    x, layout = rest.copy(), system.layout
    x[ATTITUDE] = quaternion_from_rotation_vector(by * mode.root[:3])
    x[POSITION] += by * mode.root[3:]
    x[VELOCITY], x[RATE] = speed * mode.root[3:], speed * mode.root[:3]
    for name, share in mode.shape.items():
        i = system.coordinates.index(name)
        x[layout.position_of(i)] += by * share
        x[layout.rate_of(i)] += speed * share
    return x


def _scale_springs(
    model: Model, posture: dict[str, float], matches: tuple[Match, ...], options: MatchOptions
) -> tuple[Model, dict[str, float]]:
    """Stiffness and damping that agree with the seen modes, as close to the model's as they can.

    Gauss-Newton on logarithms, with a prior that lets all springs change together more easily than
    one against another. Sensitivities are differences of the eigenvalues.
    """
    springs = [s for s in model.assembly.springs if s.stiffness > 0.0]
    owners = list(dict.fromkeys(s.owner for s in springs))
    used = [
        (i, m.seen) for i, m in enumerate(matches) if m.seen is not None and not m.seen.is_growing
    ]
    if not used or not owners:
        return model, {}
    stiffness = {s.owner: s.stiffness for s in springs}
    damping = {s.owner: s.damping for s in springs if s.damping > 0.0}
    prior = np.linalg.inv(options.apart**2 * np.eye(len(owners)) + options.together**2)
    x = np.zeros(len(owners))
    target = np.log([seen.frequency for _, seen in used])
    sigma = np.array([max(seen.frequency_std / seen.frequency, 1e-3) for _, seen in used])
    rows = [i for i, _ in used]

    def with_factors(log_factors: Array) -> Model:
        factors = np.exp(log_factors)
        values = {f"{o}.stiffness": stiffness[o] * f for o, f in zip(owners, factors, strict=True)}
        return with_parameters(model, values)

    def frequencies(log_factors: Array) -> Array:
        return np.log(
            [mode.frequency for mode in modes(with_factors(log_factors), posture=posture)]
        )

    for _ in range(6):
        base = frequencies(x)
        J = np.column_stack([(frequencies(x + 1e-4 * e) - base) / 1e-4 for e in np.eye(len(x))])
        J, missing = J[rows] / sigma[:, None], (target - base[rows]) / sigma
        step = np.linalg.solve(J.T @ J + prior, J.T @ missing - prior @ x)
        x = x + np.clip(step, -0.7, 0.7)
        if np.max(np.abs(step)) < 1e-6:
            break
    new = with_factors(x)
    own = modes(new, posture=posture)
    ratios = [seen.damping / own[i].damping for i, seen in used
              if own[i].damping > 0.0 and seen.damping > 3.0 * seen.damping_std]  # fmt: skip
    if ratios and damping:
        by = float(np.exp(np.mean(np.log(ratios))))
        new = with_parameters(new, {f"{o}.damping": d * by for o, d in damping.items()})
    return new, dict(zip(owners, np.exp(x).tolist(), strict=True))
