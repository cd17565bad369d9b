"""All that is unknown: shared parameters, and those of each recording.

The vector theta holds the parameters in their units: the shared ones, then recording after
recording its own: per-recording parameters and the initial state.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.named_parameters import parameter_names
from freefloat.dynamics.tree import System, flatten
from freefloat.identification.output_error.options import USUAL, SearchOptions
from freefloat.identification.output_error.physical_step import Group, groups_of
from freefloat.identification.output_error.realisable_step import RealisableSet
from freefloat.identification.output_error.recording import Recording
from freefloat.model.parameter_name import ParameterName, is_of_sensor
from freefloat.observability.information import START_AXES
from freefloat.parameters.natural_sizes import natural_sizes
from freefloat.parameters.parameters import Parameter, Parameters
from freefloat.parameters.write_back import upright_bodies
from freefloat.prediction.flight_setup import setup_names, setup_size

NON_NEGATIVE = (
    "stiffness", "damping", "friction", "armature", "inertia", "length", "mass", "scale", "linear",
    "angular",
)  # fmt: skip


@dataclass(frozen=True)
class Unknown:
    """One number to be found: a parameter, for one recording or (None) for all of them."""

    parameter: Parameter
    recording: int | None
    is_reported: bool
    label: str

    @property
    def name(self) -> str:
        """The parameter's name."""
        return self.parameter.name


@dataclass(frozen=True)
class SearchUnknowns:
    """The unknowns in the order of theta, their natural sizes and bounds, and which go together.

    room: by how much each may well be off; more than its size where the model's value is next to
    nothing.
    """

    items: tuple[Unknown, ...]
    sizes: Array
    room: Array
    groups: tuple[Group, ...]
    lower: Array
    upper: Array
    ties: tuple[tuple[str, str, float], ...]  # follower, leader, factor
    fixed: Mapping[str, float]  # states and sensors that are known but not nominal
    options: SearchOptions = USUAL
    realisable: RealisableSet | None = None  # where bodies are among them

    @cached_property
    def shared_places(self) -> list[int]:
        """Places of the shared unknowns."""
        return [k for k, u in enumerate(self.items) if u.recording is None]

    def own(self, recording: int) -> list[int]:
        """Places of a recording's own unknowns."""
        return [k for k, u in enumerate(self.items) if u.recording == recording]

    @cached_property
    def start(self) -> Array:
        """Theta as the model has it."""
        return np.array([u.parameter.value for u in self.items])

    def move(self, theta: Array, step: Array) -> Array:
        """Parameters after a step: straight on where that is possible, else bent to be real."""
        out = theta.copy()
        for group in self.groups:
            places = list(group.places)
            out[places] = group.move(theta[places], step[places], self.options)
        return np.clip(out, self.lower, self.upper)

    def is_straight(self, theta: Array, step: Array) -> bool:
        """Whether a step need not be bent."""
        return bool(np.array_equal(self.move(theta, step), theta + step))

    def values(self, theta: Array, recording: int) -> dict[str, float]:
        """Parameter values for one recording, the tied ones included."""
        found = dict(self.fixed)
        found |= {
            u.name: float(theta[k])
            for k, u in enumerate(self.items)
            if u.recording is None or u.recording == recording
        }
        for follower, leader, factor in self.ties:
            if leader in found:
                found[follower] = factor * found[leader]
        return found

    def columns(self, recording: int) -> tuple[list[int], list[str], Array]:
        """Places in theta that act on a recording, engine names, and mix (names, places)."""
        places = [*self.own(recording), *self.shared_places]
        own = [self.items[k].name for k in places]
        entries = [(name, k, 1.0) for k, name in enumerate(own)]
        entries += [(f, own.index(leader), a) for f, leader, a in self.ties if leader in own]
        names = list(dict.fromkeys(name for name, _, _ in entries))
        mix = np.zeros((len(names), len(places)))
        for name, k, factor in entries:
            mix[names.index(name), k] = factor
        return places, names, mix


def unknowns_of(
    parameters: Parameters,
    recordings: Sequence[Recording],
    *,
    is_start_known: bool,
    options: SearchOptions = USUAL,
    held: Collection[str] = (),
) -> SearchUnknowns:
    """The free parameters, and unless it is known the initial state of every recording.

    held: coordinates whose initial state is not looked for.
    """
    items: list[Unknown] = []
    for p in parameters.free_ones:
        if p.is_shared and not p.name.startswith("start."):
            items.append(Unknown(p, None, True, p.name))
    for r, recording in enumerate(recordings):
        mark = f"[{r + 1}]" if len(recordings) > 1 else ""
        asked = [p for p in parameters.free_ones if p.name.startswith("start.") or not p.is_shared]
        known = set(parameter_names(flatten(recording.model)))
        asked = [p for p in asked if is_assumed(p.name) or p.name in known]
        items += [Unknown(p, r, True, p.name + mark) for p in asked]
        if not is_start_known:
            names = {p.name for p in asked}
            states = [
                name
                for name in _states(recording)
                if name not in names and ParameterName.parse(name).owner not in held
            ]
            items += [Unknown(Parameter(n, 0.0, ""), r, False, n + mark) for n in states]
    return _bring_together(parameters, items, _noise_sizes(recordings, options), options)


def is_assumed(name: str) -> bool:
    """Whether a parameter belongs to sensors, inputs, geometry or surroundings, or is a scale."""
    parsed = ParameterName.parse(name)
    return parsed.is_of_sensor or parsed.is_of_setup or parsed.is_of_known_body


def _noise_sizes(recordings: Sequence[Recording], options: SearchOptions) -> dict[str, float]:
    """Natural sizes of biases, by the noise of a sample, and of their drifts over a flight.

    The bias of a driving torque: the torque's root mean square.
    """
    sizes = {}
    for recording in recordings:
        seconds = max(float(np.ptp(recording.times)), 1.0)
        for measurement in recording.measurements:
            for channel, noise in zip(measurement.rows, measurement.noise, strict=True):
                sizes[f"bias.{channel}"] = options.bias_noise * float(noise)
                sizes[f"drift.{channel}"] = options.bias_noise * float(noise) / seconds
        for name in setup_names(recording.model):
            if name.endswith(".bias"):
                sizes[name] = setup_size(recording.model, name, recording.inputs)
    return sizes


def _bring_together(
    parameters: Parameters,
    items: list[Unknown],
    noise: Mapping[str, float],
    options: SearchOptions,
) -> SearchUnknowns:
    """The unknowns with their sizes, bounds and groups."""
    names = [u.name for u in items]
    sizes = _sizes(parameters, names, noise, options)
    start = np.array([u.parameter.value for u in items])
    lower = np.array([u.parameter.lower for u in items])
    upper = np.array([u.parameter.upper for u in items])
    bounded = np.isfinite(lower) | np.isfinite(upper)
    upright = upright_bodies(parameters.model)
    groups: list[Group] = []
    for recording in sorted({u.recording for u in items}, key=lambda r: -1 if r is None else r):
        places = [k for k, u in enumerate(items) if u.recording == recording]
        found = groups_of(
            [names[k] for k in places], start[places], [bool(bounded[k]) for k in places], upright
        )
        groups += [replace(g, places=tuple(places[k] for k in g.places)) for g in found]
    ties = tuple((p.name, p.tied_to[0], p.tied_to[1]) for p in parameters if p.tied_to is not None)
    is_state = np.array([n.startswith("start.") or is_of_sensor(n) for n in names], dtype=bool)
    positive = np.array([n.rpartition(".")[2] in NON_NEGATIVE for n in names], dtype=bool)
    lower = np.where(positive & ~is_state, np.maximum(lower, 0.0), lower)
    fixed = {
        p.name: p.value
        for p in parameters
        if p.status == "fixed" and (p.name.startswith("start.") or is_assumed(p.name))
    }
    held = [options.friction_size * _spring_of(parameters, name) for name in names]
    room = np.maximum(sizes, held)
    is_shared = [u.recording is None and not bounded[k] for k, u in enumerate(items)]
    realisable = RealisableSet.of(parameters, names, is_shared)
    return SearchUnknowns(
        tuple(items), sizes, room, tuple(groups), lower, upper, ties, fixed, options, realisable
    )


def _spring_of(parameters: Parameters, name: str) -> float:
    """Stiffness of the spring that a friction or damping holds back, else nought."""
    owner, _, field = name.rpartition(".")
    if field not in ("friction", "damping") or is_of_sensor(name):
        return 0.0
    known = {p.name: p.value for p in parameters}
    return float(known.get(f"{owner}.stiffness", 0.0))


def _sizes(
    parameters: Parameters,
    names: Sequence[str],
    noise: Mapping[str, float],
    options: SearchOptions,
) -> Array:
    """Natural sizes; a bias is known when it is known to the noise of a sample."""
    sizes = natural_sizes(flatten(parameters.model), names)
    values = {p.name: p.value for p in parameters}
    for k, name in enumerate(names):
        owner, _, field = name.rpartition(".")
        if name.startswith("start."):
            sizes[k] = getattr(options, f"{_kind(name)}_size")
        elif name in noise:
            sizes[k] = noise[name]
        elif is_of_sensor(name):
            sizes[k] = getattr(options, f"{name.split('.')[0]}_size")
        elif field == "friction" and values[name] == 0.0:
            sizes[k] = max(sizes[k], options.friction_size * values.get(f"{owner}.stiffness", 0.0))
    return sizes


def _kind(name: str) -> str:
    part, _, field = name.removeprefix("start.").rpartition(".")
    if part in ("position", "attitude", "velocity", "rate"):
        return part
    return "attitude" if field == "position" else "rate"


def _states(recording: Recording) -> list[str]:
    """Initial states that the recording could tell."""
    kinds = {measurement.sensor.kind for measurement in recording.measurements}
    return state_names(flatten(recording.model), kinds)


def state_names(system: System, kinds: Set[str]) -> list[str]:
    """States that kinds of sensors could tell, as `start.*`: none of the root nothing reads."""
    is_placed = bool(kinds & {"position", "velocity"})
    environment = system.environment
    has_field = environment.has_gravity or environment.has_drag
    wanted = {
        "position": "position" in kinds or (has_field and is_placed),
        "velocity": is_placed,
        "attitude": "attitude" in kinds or is_placed or environment.has_gravity,
        "rate": True,
    }
    names = [
        f"start.{field}.{axis}"
        for field, axes in (word.split(".") for word in START_AXES[system.model.root.type])
        if wanted[field]
        for axis in axes
    ]
    for g in system.tree.free:
        if g >= 6:
            c = system.coordinates[int(g) - 6]
            names += [f"start.{c}.position", f"start.{c}.velocity"]
    return names
