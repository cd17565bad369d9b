"""What a flight would tell, before it is flown: derivatives of readings in units of their noise.

Here is also what is asked: which parameters are free, which initial states are unknown, which
sensors are used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from math import sqrt

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.integrate import STEP, longest_stable_step
from freefloat.dynamics.tree import System
from freefloat.errors import Fault, IdentificationError
from freefloat.excitation.plan import Plan
from freefloat.least_squares.tall_tables import triangle_of
from freefloat.model.checks import sensor_targets
from freefloat.model.default_sensors import default_sensor_note, with_default_sensors
from freefloat.model.model import Model
from freefloat.model.parameter_name import ParameterName
from freefloat.model.parts import Sensor
from freefloat.notes import Note
from freefloat.parameters.parameters import Parameter, Parameters, parameter_values
from freefloat.prediction.measurements import Measurement
from freefloat.prediction.predictor import Predictor, plan_predictor
from freefloat.prediction.sensor_noise import QUIETEST, counted_noise, sample_noise
from freefloat.text import did_you_mean, listing

# theory: sensitivities of 40 states by 60 parameters over 6000 instants take about 100 MB
AT_ONCE = 60  # parameters a run
START_AXES = {
    "floating": ("position.xyz", "attitude.xyz", "velocity.xyz", "rate.xyz"),
    "planar": ("position.xy", "attitude.z", "velocity.xy", "rate.z"),
    "fixed": (),
}
TORQUES = ("joint_torque", "wheel_torque", "motor_torque")


@dataclass(frozen=True)
class ExpectedRows:
    """Rows in units of their noise: the triangular factor of all rows, as many as columns.

    A QR changes no length and no angle between columns, and nothing else is ever asked. columns
    (rows, any): the Jacobian, mixed as asked; biases (rows, any): what a bias of a channel does;
    torques (rows,): what torque sensors read, other sensors nothing; notes: what was assumed.
    """

    columns: Array
    biases: Array
    torques: Array
    notes: tuple[str, ...]


def expected_rows(
    system: System,
    plan: Plan,
    sensors: Sequence[Sensor],
    names: Sequence[str],
    mix: Array,
    biases: Sequence[str] = (),
) -> ExpectedRows:
    """The rows of a flight that `plan` would give, in units of their noise.

    Args:
        system: what flies.
        plan: the motion.
        sensors: the suite; thruster channels are commands and passed over.
        names: what readings are differentiated by.
        mix: (names, columns) how derivatives make columns, see `column_mix`.
        biases: channels (globs) that get a column of their own.

    Raises:
        IdentificationError: there is no sensor left, or a glob fits no channel.
    """
    suite = tuple(s for s in sensors if s.kind != "thruster")  # what is commanded is known anyway
    if not suite:
        raise IdentificationError(
            "thruster channels alone observe nothing",
            [Fault("sensors", "thrusters", "a sensor", "choose other sensors", "sensors.none")],
        )
    parts, predictor, values = _jacobian_columns(system, plan, suite, names, mix)
    measurements = predictor.measurements
    torques = [
        (read * (m.sensor.kind in TORQUES))[:, : len(m.rows), None]
        for m, read in zip(measurements, values, strict=True)  # an attitude has four numbers
    ]
    weights = [
        sqrt(1.0 - m.sensor.dropout) / counted_noise(m.sensor, read)
        for m, read in zip(measurements, values, strict=True)  # less for samples that get lost
    ]
    tables = (parts, _offsets(measurements, biases), torques)
    tall = np.hstack([_weigh_rows(table, weights) for table in tables])
    short = triangle_of(tall)
    n = mix.shape[1]
    return ExpectedRows(short[:, :n], short[:, n:-1], short[:, -1], tuple(_notes(suite)))


def _jacobian_columns(
    system: System, plan: Plan, suite: tuple[Sensor, ...], names: Sequence[str], mix: Array
) -> tuple[Sequence[Array], Predictor, tuple[Array, ...]]:
    """For every measurement its Jacobian times `mix` (N, r, columns); what it reads."""
    predictor = plan_predictor(system.model, plan, sensors=suite, step=_step(system, plan))
    parts: Sequence[Array] = ()
    values: tuple[Array, ...] = ()
    for first in range(0, max(1, len(names)), AT_ONCE):
        some = slice(first, first + AT_ONCE)
        prediction = predictor.at(names=names[some])
        if prediction is None:
            raise IdentificationError(
                f"the simulated motion of {system.model.name!r} is not finite; look at the model"
                " with `freefloat check`",
                code="motion.not_finite",
            )
        mixed = [table @ mix[some] for table in prediction.jacobian]
        parts = [old + new for old, new in zip(parts, mixed, strict=True)] if parts else mixed
        values = prediction.values
    return parts, predictor, values


def _weigh_rows(tables: Sequence[Array], weights: Sequence[float]) -> Array:
    """Tables (N, r, columns) one below the other, each times its weight."""
    flat = [table.reshape(table.shape[0] * table.shape[1], -1) for table in tables if table.size]
    if not flat:
        return np.zeros((sum(t.shape[0] * t.shape[1] for t in tables), 0))
    return np.vstack([w * rows for w, rows in zip(weights, flat, strict=True)])


def _step(system: System, plan: Plan) -> float:
    """Ten times the step of a simulation where springs allow: a Jacobian needs no ten digits."""
    coarse = 10.0 * STEP
    is_stable = longest_stable_step(system, plan.start_state(system), coarse) == coarse
    return coarse if is_stable else STEP


def _notes(suite: Sequence[Sensor]) -> Iterator[str]:
    perfect = [f"{sensor.kind} on {sensor.on}" for sensor in suite if sample_noise(sensor) == 0.0]
    if perfect:
        yield Note(
            "noise.missing",
            f"no noise given: {', '.join(perfect)}; counted as {QUIETEST:g} of its rms reading;"
            " state its noise for meaningful standard deviations",
        )
    if any(sensor.coloured for sensor in suite):
        yield Note(
            "noise.coloured",
            "coloured noise counts as white noise of the same density at low frequencies",
        )


def _offsets(measurements: Sequence[Measurement], biases: Sequence[str]) -> Sequence[Array]:
    """Columns (N, r, biases) of ones where a channel fits a glob of `biases`."""
    globs = [name.removeprefix("bias.") for name in biases]
    places = [
        (n, k)
        for n, measurement in enumerate(measurements)
        for k, channel in enumerate(measurement.rows)
        if any(fnmatchcase(channel, glob) for glob in globs)
    ]
    known = [channel for measurement in measurements for channel in measurement.channels]
    missing = [g for g in globs if not any(fnmatchcase(channel, g) for channel in known)]
    if missing:
        raise IdentificationError(
            "there is no such channel to have a bias",
            [
                Fault(name, "no sensor writes it", listing(known, most=6), "correct the name",
                      "name.unknown")
                for name in missing
            ],
        )  # fmt: skip
    columns = [np.zeros((len(m.times), len(m.rows), len(places))) for m in measurements]
    for p, (n, k) in enumerate(places):
        columns[n][:, k, p] = 1.0
    return columns


def at_model_values(system: System, parameters: Parameters) -> Parameters:
    """The parameters with the values of a system; all of them must be its own."""
    values = parameter_values(system)
    strange = [p.name for p in parameters if p.name not in values]
    if strange:
        remedy = "take the parameters of the model that flies"
        raise IdentificationError(
            f"{system.model.name!r} has no such parameters",
            [
                Fault(name, "unknown", "a parameter of it", remedy, "name.unknown")
                for name in strange
            ],
        )
    entries = (replace(p, value=values[p.name]) for p in parameters)
    return replace(parameters, entries=tuple(entries))


def free_parameters(parameters: Parameters) -> list[Parameter]:
    """The free parameters without initial states; at least one."""
    wanted = [p for p in parameters.free_ones if not ParameterName.parse(p.name).is_start]
    if not wanted:
        raise IdentificationError(
            "no parameter is free",
            [Fault("parameters", "none", "free ones", "free some: 'bus.*'", "parameters.none")],
        )
    return wanted


def unknown_initial_states(
    system: System, parameters: Parameters, unknown_start: bool
) -> list[str]:
    """Names of initial states that are not known: all that the root allows, or those set free."""
    free = [name for name in parameters.names if ParameterName.parse(name).is_start]
    if not unknown_start:
        return free
    names = [
        f"start.{field}.{axis}"
        for field, axes in (word.split(".") for word in START_AXES[system.model.root.type])
        for axis in axes
    ]
    for g in system.tree.free:
        if g >= 6:
            coordinate = system.coordinates[int(g) - 6]
            names += [f"start.{coordinate}.position", f"start.{coordinate}.velocity"]
    return list(dict.fromkeys([*names, *free]))


def column_mix(
    parameters: Parameters,
    wanted: Sequence[Parameter],
    states: Sequence[str],
    known: dict[str, list[Parameter]],
) -> tuple[list[str], Array]:
    """Names to differentiate by, and how they make columns: wanted, states, one a known part.

    A tied parameter adds its factor to the column of the one it follows; a known part is the sum
    of its parameters times their values.
    """
    columns = [p.name for p in wanted] + list(states)
    entries = [(name, k, 1.0) for k, name in enumerate(columns)]
    for p in parameters:
        if p.tied_to is not None and p.tied_to[0] in columns:
            entries.append((p.name, columns.index(p.tied_to[0]), p.tied_to[1]))
    for k, group in enumerate(known.values(), start=len(columns)):
        entries += [(p.name, k, p.value) for p in group]
    names = list(dict.fromkeys(name for name, _, _ in entries))
    mix = np.zeros((len(names), len(columns) + len(known)))
    for name, k, factor in entries:
        mix[names.index(name), k] = factor
    return names, mix


def choose_sensors(model: Model, asked: str | Sequence[Sensor] | None) -> tuple[Sensor, ...]:
    """The sensors asked for: all of the model's for None, or those that the words fit.

    A word is a kind (one or many: gyro, encoders), a channel prefix, or a name or glob of what a
    sensor sits on.

    >>> from freefloat.model import load_model
    >>> [s.kind for s in choose_sensors(load_model("ets7"), "gyro, encoders")]
    ['gyro', 'encoder']
    """
    if asked is not None and not isinstance(asked, str):
        suite = tuple(asked)
        if not suite:
            raise IdentificationError(
                "an empty list of sensors observes nothing",
                [Fault("sensors", "none", "a sensor", "name some", "sensors.none")],
            )
        return suite
    model = with_default_sensors(model)
    if not model.sensors:
        raise IdentificationError(
            f"{model.name!r} has nothing that a sensor could read",
            [Fault("sensors", "none", "a sensor", "free the root or a joint", "sensors.none")],
        )
    if asked is None:
        return model.sensors
    words = [word for word in re.split(r"[\s,]+", asked) if word]
    unknown = [w for w in words if not any(_fits(model, s, w) for s in model.sensors)]
    if unknown or not words:
        kinds = list(dict.fromkeys(sensor.kind for sensor in model.sensors))
        raise IdentificationError(
            f"{model.name!r} has no such sensor",
            [
                Fault("sensors", word or "nothing", ", ".join(kinds),
                      did_you_mean(word, kinds, otherwise="name others"), "name.unknown")
                for word in unknown or [""]
            ],
        )  # fmt: skip
    return tuple(s for s in model.sensors if any(_fits(model, s, word) for word in words))


def sensor_notes(model: Model, asked: str | Sequence[Sensor] | None) -> Iterator[Note]:
    """What `choose_sensors` took that neither the model nor the caller named."""
    if not model.sensors and (asked is None or isinstance(asked, str)):
        yield default_sensor_note(model)


def _fits(model: Model, sensor: Sensor, word: str) -> bool:
    if word in (sensor.kind, f"{sensor.kind}s", sensor.channel, sensor.on):
        return True
    return any(fnmatchcase(target, word) for target in sensor_targets(model, sensor))
