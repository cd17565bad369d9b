"""Everything that a model and a recording take as exact, by name: with value, unit, size and doubt.

    for assumption in list_assumptions(model, telemetry):
        print(assumption.name, assumption.std, assumption.unit, assumption.reason)

Each name is a parameter that `Predictor.at` understands, its value and its Jacobian column alike.
What the model says of its own uncertainty counts; where it says nothing the table in `doubts.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from freefloat.dynamics.named_parameters import known_body_names
from freefloat.dynamics.tree import System, flatten
from freefloat.model import inertia
from freefloat.model.checks import sensor_targets
from freefloat.model.geometry import AXES
from freefloat.model.mass_properties import mass_properties
from freefloat.model.model import Model
from freefloat.model.parameter_name import SCALE, ParameterName
from freefloat.model.parts import Body, Vector
from freefloat.model.uncertainty import stated_uncertainty
from freefloat.prediction.doubts import DOUBTS
from freefloat.prediction.flight_setup import (
    SIZES,
    THRUSTER_FIELDS,
    WRENCHES,
    nominal_value,
    setup_size,
)
from freefloat.prediction.inputs import (
    drive_by_recording,
    driving_torques,
    open_thrust,
    torque_channel,
)
from freefloat.prediction.measurements import Measurement, measurements_of
from freefloat.prediction.quantities import per_second, setup_unit
from freefloat.prediction.sensor_errors import PLACED, RUBBING, SKEWED, TILTED
from freefloat.prediction.sensor_models import motor_place
from freefloat.telemetry.names import unit_of as channel_unit
from freefloat.telemetry.telemetry import Telemetry

STATED = "stated in the model file"
# theory: a convention; a hundredth of the robot's inertia at 1 rad/s, as for `natural_sizes`
STILL_DAMPING, STILL_FRICTION, STILL_ARMATURE = 1e-2, 1e-4, 1e-2


@dataclass(frozen=True)
class Assumption:
    """Something taken as exact, as a parameter.

    value, size (natural, always positive) and std (by how much it may be off) are in `unit`.
    is_stated: the model file gives the uncertainty; else it is the usual one, for the `reason`.
    key: what it is, as in the table of usual doubts.
    """

    name: str
    value: float
    unit: str
    size: float
    std: float
    is_stated: bool
    reason: str
    key: str = ""


def list_assumptions(model: Model, telemetry: Telemetry) -> list[Assumption]:
    """Everything that this model and this recording take as exact, in the order of the model.

    Parameters of springs, wheels and tanks are among them: whoever estimates some of them leaves
    those out.

    >>> import freefloat as ff
    >>> model = ff.load_model("cepheus")
    >>> flight = ff.simulate(model, ff.default_plan(model, duration=5.0), seed=1)
    >>> found = {a.name: a for a in list_assumptions(model, flight)}
    >>> found["arm_1.zero"].std, found["bus.scale"].unit, found["bus.scale"].is_stated
    (0.001, '1', True)
    """
    driven = drive_by_recording(model, telemetry)
    system = flatten(driven)
    measurements = measurements_of(system, telemetry)
    motors = [m.target for m in measurements if m.sensor.kind == "motor_torque"]
    found = [
        *_of_inputs(system, telemetry),
        *_of_geometry(driven),
        *_of_surroundings(driven),
        *_of_bodies(system),
        *_of_springs(system, {motor_place(system, joint) for joint in motors}),
    ]
    for measurement in measurements:
        if measurement.group not in driving_torques(driven):
            found += _of_sensor(driven, measurement)
    return [_by_table(model, a) for a in {a.name: a for a in found}.values()]


def _by_table(model: Model, assumption: Assumption) -> Assumption:
    """The assumption with what the table [uncertainty] says of it, which has the last word."""
    std = stated_uncertainty(model.uncertainty, assumption.name)
    if std is None:
        return assumption
    return replace(assumption, std=std, is_stated=True, reason=STATED)


def _usual(model: Model, name: str, key: str, factor: float = 1.0) -> Assumption:
    """An assumption of the setup with its usual doubt."""
    doubt, size = DOUBTS[key], setup_size(model, name)
    value, unit = nominal_value(model, name), setup_unit(model, name)
    return Assumption(name, value, unit, size, factor * doubt.std, False, doubt.reason, key)


def _state(assumption: Assumption, stated: float | None, value: float = 1.0) -> Assumption:
    """The assumption with what the model file says of its relative uncertainty, if it does."""
    if stated is None:
        return assumption
    return replace(assumption, std=stated * value, is_stated=True, reason=STATED)


def _of_inputs(system: System, telemetry: Telemetry) -> Iterator[Assumption]:
    """Thrust, wrench, torques and motions that drive the flight."""
    model = system.model
    for thruster in model.thrusters:
        thrust = open_thrust(telemetry, thruster.name)
        if thrust is None:
            continue
        full = float(np.max(np.abs(thrust[1])))
        factors = {"fade": 1.0 / max(telemetry.duration, 1.0), "bias": full}
        for field in THRUSTER_FIELDS:
            name, key = f"{thruster.name}.{field}", f"thruster.{field}"
            usual = _usual(model, name, key, factors.get(field, 1.0))
            yield _state(usual, thruster.uncertainty) if field == "gain" else usual
        # along its own direction neither turn nor displacement does anything
        for axis in _across(thruster.direction, _turns_in_use(model)):
            yield _usual(model, f"{thruster.name}.tilt.{axis}", "thruster.tilt")
        for axis in _across(thruster.direction, _axes_in_use(model)):
            yield _usual(model, f"{thruster.name}.offset.{axis}", "thruster.offset")
    for wrench in WRENCHES:
        channels = [telemetry[f"{wrench}.{a}"] for a in AXES if f"{wrench}.{a}" in telemetry]
        if any(np.any(channel.usable()[1]) for channel in channels):
            yield _usual(model, f"{wrench}.gain", "wrench.gain")
            yield _usual(model, f"{wrench}.delay", "wrench.delay")
    for c, coordinate in enumerate(model.assembly.coordinates):
        name = coordinate.name
        if coordinate.role == "torque" and torque_channel(name) in telemetry:
            torque = telemetry[torque_channel(name)].usable()[1]
            rms = float(np.sqrt(np.mean(torque**2))) if torque.any() else 1.0
            for field in ("gain", "bias", "delay"):
                factor = rms if field == "bias" else 1.0
                usual = _usual(model, f"{torque_channel(name)}.{field}", f"torque.{field}", factor)
                if field == "gain":
                    usual = _state(usual, _torque_uncertainty(model, name))
                yield replace(usual, size=rms) if field == "bias" else usual
        elif c in system.tree.given and coordinate.role == "motion":
            is_wheel = any(wheel.name == name for wheel in model.wheels)
            for field in ("delay",) if is_wheel else ("zero", "gear", "delay"):
                key = f"{'wheel' if is_wheel else 'joint'}.{field}"
                yield _usual(model, f"{name}.{field}", key)


def _torque_uncertainty(model: Model, coordinate: str) -> float | None:
    """What the model file says of the gain of the sensor that reads a coordinate's torque."""
    joint = coordinate.removesuffix(".motor")
    kinds = ("motor_torque",) if joint != coordinate else ("joint_torque", "wheel_torque")
    read = [s for s in model.sensors if s.kind in kinds and joint in sensor_targets(model, s)]
    return read[0].gain_uncertainty if read else None


def _of_geometry(model: Model) -> Iterator[Assumption]:
    """Where moving joints sit and how they and the wheels stand."""
    is_planar = model.root.type == "planar"
    for joint in model.joints:
        if joint.type == "fixed":
            continue
        for axis in _axes_in_use(model):
            yield _usual(model, f"{joint.name}.offset.{axis}", "joint.offset")
        # in the plane, and along its own axis, a turn is told by the joint's zero
        for axis in "" if is_planar else _across(joint.axis, AXES):
            yield _usual(model, f"{joint.name}.tilt.{axis}", "joint.tilt")
    for wheel in model.wheels:
        for axis in "" if is_planar else _across(wheel.axis, AXES):
            yield _usual(model, f"{wheel.name}.tilt.{axis}", "wheel.tilt")


def _axes_in_use(model: Model) -> str:
    """Axes along which anything moves."""
    return "xy" if model.root.type == "planar" else AXES


def _turns_in_use(model: Model) -> str:
    """Axes about which anything turns."""
    return "z" if model.root.type == "planar" else AXES


def _across(direction: Vector, axes: str) -> str:
    """Those of the axes that do not lie along a direction.

    >>> _across((0.0, 1.0, 0.0), "xyz"), _across((0.0, 0.6, 0.8), "xyz")
    ('xz', 'xyz')
    """
    length = float(np.linalg.norm(direction))
    return "".join(a for a in axes if abs(direction[AXES.index(a)]) < (1.0 - 1e-9) * length)


def _of_surroundings(model: Model) -> Iterator[Assumption]:
    is_ground = model.root.type in ("planar", "fixed") or any(model.gravity)
    place = "ground" if is_ground else "space"
    for axis in _axes_in_use(model):
        yield _usual(model, f"gravity.{axis}", f"gravity.{place}")
    if model.root.type != "fixed":
        for field in ("linear", "angular"):
            size = setup_size(model, f"drag.{field}")
            stated = nominal_value(model, f"drag.{field}")
            factor = (stated or size) if is_ground else size
            yield _usual(model, f"drag.{field}", f"drag.{place}", factor)


def _of_bodies(system: System) -> Iterator[Assumption]:
    """Bodies, wheels, tanks and springs whose numbers are taken as they are."""
    model = system.model
    bodies = {body.name: body for body in model.assembly.bodies}
    for name in known_body_names(system):
        parsed = ParameterName.parse(name)
        body = bodies[parsed.owner]
        if parsed.field == SCALE:
            yield _state(_usual(model, name, "body.scale"), body.uncertainty)
            yield from _of_spread(model, body)
        elif parsed.field[-1] in _axes_in_use(model):
            radius = _gyration(model, body)
            yield _state(_usual(model, name, "body.com", radius), body.uncertainty, radius)
    for wheel in model.wheels:
        inertia = _own(f"{wheel.name}.inertia", wheel.inertia, "kg m^2", "wheel.inertia")
        yield _state(inertia, wheel.uncertainty, wheel.inertia)
    for tank in model.tanks:
        mass = _own(f"{tank.name}.mass", tank.mass, "kg", "tank.mass")
        yield _state(mass, tank.uncertainty, tank.mass)
        yield _own(f"{tank.name}.length", tank.length, "m", "tank.length")


def _of_springs(system: System, read: set[int]) -> Iterator[Assumption]:
    """What is inside of joints: it moves what is free, and shows where a motor's torque is read."""
    model = system.model
    whole = float(np.trace(mass_properties(model).inertia)) / 3.0
    geared = {joint.name for joint in model.joints if joint.drive is None}
    for spring, ends in zip(model.assembly.springs, system.tree.spring_ends, strict=True):
        is_given = all(end < 0 or end in system.tree.given for end in ends)
        if is_given and not read & set(ends.tolist()):
            continue  # where motion is prescribed a spring changes no other reading
        is_sliding = any(j.name == spring.owner and j.type == "prismatic" for j in model.joints)
        force, place = ("N", "m") if is_sliding else ("N m", "rad")
        if spring.stiffness > 0.0:
            name, value = f"{spring.owner}.stiffness", spring.stiffness
            stiffness = _own(name, value, f"{force}/{place}", "spring.stiffness")
            yield _state(stiffness, spring.stiffness_uncertainty, value)
            doubt = DOUBTS["spring.rest"]
            name = f"{spring.owner}.rest"
            yield Assumption(
                name, spring.rest, place, 0.1, doubt.std, False, doubt.reason, "spring.rest"
            )
        for field, unit, usual in (
            ("damping", f"{force} s/{place}", STILL_DAMPING * whole),
            ("friction", force, STILL_FRICTION * whole),
        ):
            value = getattr(spring, field)
            own = _own(f"{spring.owner}.{field}", value, unit, f"spring.{field}", usual)
            # of no damping at all a share says nothing
            is_stated = field == "damping" and value > 0.0
            yield _state(own, spring.damping_uncertainty if is_stated else None, value)
        if spring.owner in geared:
            unit = "kg" if is_sliding else "kg m^2"
            name, usual = f"{spring.owner}.armature", STILL_ARMATURE * whole
            yield _own(name, spring.armature, unit, "spring.armature", usual)


def _of_spread(model: Model, body: Body) -> Iterator[Assumption]:
    """First moments and inertias of a body, in the plane those that count there."""
    moment = float(body.phi[0]) * _gyration(model, body)
    moments = [(f"m{axis}", "kg m", moment) for axis in _axes_in_use(model)]
    turns = _turns_in_use(model)
    mean = float(np.mean([body.phi[inertia.NAMES.index(f"i{a}{a}")] for a in turns]))
    inertias = [(f"i{a}{a}", "kg m^2", mean) for a in turns]
    for key, entries in (("body.moment", moments), ("body.inertia", inertias)):
        for field, unit, size in entries:
            if size > 0.0:  # a point mass is spread nowhere
                value = float(body.phi[inertia.NAMES.index(field)])
                usual = _own(f"{body.name}.{field}", value, unit, key)
                usual = replace(usual, size=size, std=DOUBTS[key].std * size)
                yield _state(usual, body.uncertainty, size)


def _gyration(model: Model, body: Body) -> float:
    """The radius of gyration of a body about its origin [m], in the plane about that axis."""
    places = [9, 9] if model.root.type == "planar" else [4, 7, 9]
    return float(np.sqrt(0.5 * np.sum(body.phi[places]) / body.phi[0]))


def _own(name: str, value: float, unit: str, key: str, usual: float = 0.0) -> Assumption:
    """A quantity of the model, doubted by a share of its value, or of `usual` where it is zero."""
    doubt, size = DOUBTS[key], abs(value) or usual
    return Assumption(name, value, unit, size, doubt.std * size, False, doubt.reason, key)


def _of_sensor(model: Model, measurement: Measurement) -> Iterator[Assumption]:
    """Bias, gain, drift, delay, tilt, skew, offset and friction of a sensor."""
    kind, group = measurement.sensor.kind, measurement.group
    seconds = max(float(np.ptp(measurement.times)), 1.0)
    for r, channel in enumerate(measurement.rows):
        unit = "rad" if kind == "attitude" else channel_unit(channel)[0]
        noise = float(measurement.noise[r])
        bias = float(measurement.bias[r])
        # a constant turn of an attitude sensor is how it is aligned
        doubt = ("tilt", 1.0) if kind == "attitude" else ("bias", noise)
        yield _reading(f"bias.{channel}", bias, unit, 10.0 * noise, *doubt)
        slope = noise / seconds
        yield _reading(f"drift.{channel}", 0.0, per_second(unit), 10.0 * slope, "drift", slope)
        if kind != "attitude":
            gain = _reading(f"gain.{channel}", 1.0, "1", SIZES["gain"], _gain_key(kind))
            yield _state(gain, measurement.sensor.gain_uncertainty)
        # what rubs between a motor and a stiff joint is the joint's own friction
        is_own = kind == "motor_torque" and model.joint(measurement.target).drive is None
        if kind in RUBBING and not is_own:
            rms = float(np.sqrt(np.mean(measurement.values[:, r] ** 2))) or 1.0
            yield _reading(f"friction.{channel}", 0.0, unit, rms, "friction", rms)
    yield _reading(f"delay.{group}", measurement.sensor.delay, "s", SIZES["delay"], "delay")
    is_planar = model.root.type == "planar"
    if kind in TILTED:
        for axis in ("" if kind == "gyro" else "z") if is_planar else AXES:
            yield _reading(f"tilt.{group}.{axis}", 0.0, "rad", SIZES["tilt"], "tilt")
    if kind in SKEWED:
        for axis in ("" if kind == "gyro" else "z") if is_planar else AXES:
            yield _reading(f"skew.{group}.{axis}", 0.0, "rad", SIZES["tilt"], "skew")
    if kind in PLACED:
        for axis in _axes_in_use(model):
            yield _reading(f"offset.{group}.{axis}", 0.0, "m", SIZES["offset"], "offset")


def _reading(
    name: str, value: float, unit: str, size: float, key: str, factor: float = 1.0
) -> Assumption:
    doubt = DOUBTS[key]
    return Assumption(name, value, unit, size, factor * doubt.std, False, doubt.reason, key)


def _gain_key(kind: str) -> str:
    if kind.endswith("_torque"):
        return "gain.torque"
    return f"gain.{kind}" if f"gain.{kind}" in DOUBTS else "gain.other"
