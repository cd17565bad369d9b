"""Named parameters written back into a Model, refused when no real robot could have them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.tree import flatten
from freefloat.errors import Fault, IdentificationError
from freefloat.model import inertia as inertial
from freefloat.model.assembly import assemble
from freefloat.model.checks import sensor_targets, structure_faults
from freefloat.model.geometry import with_geometry
from freefloat.model.model import Model
from freefloat.model.parameter_name import KNOWN_BODY_FIELDS, SCALE, ParameterName
from freefloat.model.parts import Body, Joint, Sensor, Tank
from freefloat.parameters.parameters import Parameters, parameter_values
from freefloat.prediction.flight_setup import setup_names
from freefloat.prediction.measurements import sensor_channels

PLANAR = (0, 1, 2, 9)  # theory: mass, mx, my, izz: what motion in the plane sees of a body
JOINT_FIELDS = ("stiffness", "damping", "rest", "friction", "armature")
DRIVE_FIELDS = ("inertia", "stiffness", "damping", "friction")

Fields = Mapping[str, float]


def with_parameters(model: Model, values: Mapping[str, float]) -> Model:
    """The model with named parameters changed: inertial ones, rotors, springs, dampers, tanks.

    Geometry is moved by its values, a body displaced, and multiplied by its scale; gravity, drag
    and a sensor's bias and delay are set. `start.*` is no part of a model and is passed over. A
    body that moves in a plane and of which only mass, mx, my, izz are named keeps its shape,
    stretched to fit (see `stretch_body`).

    Raises:
        IdentificationError: lists every unknown name and every value that no body can have.

    >>> from freefloat.model import load_model
    >>> with_parameters(load_model("ets7"), {"rw_x.inertia": 0.2, "bus.mass": 2600.0}).mass
    2706.0
    """
    named, placed = _sort_values(model, values)
    changed = _with_assumed(_with_parts(model, named), placed)
    faults = [*_unknown_faults(model, named), *structure_faults(changed)]
    if faults:
        raise IdentificationError(f"{model.name!r} cannot have these parameters", faults)
    return changed


def with_any_values(model: Model, values: Mapping[str, float]) -> Model:
    """`with_parameters` for slopes: nothing is checked, a body may come out that no robot has."""
    named, placed = _sort_values(model, values)
    return _take_as_sound(_with_assumed(_take_as_sound(_with_parts(model, named)), placed))


def _take_as_sound(model: Model) -> Model:
    vars(model)["assembly"] = assemble(model, is_sound=True)
    return model


def _sort_values(
    model: Model, values: Mapping[str, float]
) -> tuple[dict[str, dict[str, float]], dict[str, float]]:
    """Values of parts, by owner and field, and those of what the model takes as exact."""
    named: dict[str, dict[str, float]] = defaultdict(dict)
    assumed = {name: float(v) for name, v in values.items() if _is_assumed(name)}
    missing = names_without_place(model, assumed)
    placed = {name: value for name, value in assumed.items() if name not in missing}
    for name, value in values.items():
        parsed = ParameterName.parse(name)
        if not parsed.is_start and name not in placed:
            # what belongs to a sensor stays whole, for the fault that refuses it
            owner = name if parsed.is_of_sensor else parsed.owner
            named[owner][parsed.field] = float(value)
    return named, placed


def _with_parts(model: Model, named: Mapping[str, Fields]) -> Model:
    """The model with bodies, joints, tanks and wheels at other values."""
    changed = _with_bodies(model, named)
    return replace(
        changed,
        joints=tuple(_with_joint_values(joint, named) for joint in model.joints),
        tanks=tuple(_with_tank_values(tank, named) for tank in model.tanks),
        wheels=tuple(
            replace(wheel, **_values_of(named, wheel.name, ("inertia",))) for wheel in model.wheels
        ),
    )


def write_values(parameters: Parameters) -> Parameters:
    """The parameters of a model that has their values: fixed, tied or changed ones written in.

    Raises:
        IdentificationError: a parameter is tied to a tied one, or no model can have the values.
    """
    ties = {p.name: p.tied_to[0] for p in parameters if p.tied_to is not None}
    chained = [name for name, leader in ties.items() if leader in ties]
    if chained:
        raise IdentificationError(
            f"{chained[0]} is tied to {ties[chained[0]]}, itself tied", code="tie.chained"
        )
    own = parameter_values(flatten(parameters.model))
    wanted = {p.name: p.value for p in parameters if p.value != own.get(p.name, p.value)}
    for name, leader in ties.items():
        p = parameters[name]
        assert p.tied_to is not None
        wanted[name] = p.tied_to[1] * parameters[leader].value
    of_model = {
        name: v
        for name, v in wanted.items()
        if not (ParameterName.parse(name).is_start or _is_assumed(name))
    }
    if not of_model:
        return parameters
    model = with_parameters(parameters.model, of_model)
    entries = [replace(p, value=wanted.get(p.name, p.value)) for p in parameters]
    return replace(parameters, model=model, entries=tuple(entries))


def upright_bodies(model: Model) -> frozenset[str]:
    """The bodies whose z axis always stays square to the plane a planar root moves in."""
    if model.root.type != "planar":
        return frozenset()
    upright = {model.root.body}
    for joint in model.assembly.joints:
        tilt = 1.0 - abs(float(joint.placement.rotation[2, 2]))
        along = abs(joint.axis[2])
        lean = {"revolute": 1.0 - along, "prismatic": along, "fixed": 0.0}[joint.type]
        if joint.parent in upright and max(tilt, lean) < 1e-9:
            upright.add(joint.child)
    return frozenset(upright)


def stretch_body(body: Body, four: Array) -> Body:
    """The body with another mass, mx, my, izz, its mass spread like before but stretched.

    In the plane the spread about the centre of mass is scaled to meet izz; across it every mass
    element keeps its height. So a body that could be real stays one, however much the four change.
    """
    mass, mx, my, izz = map(float, four)
    about_com = izz - (mx**2 + my**2) / mass if mass > 0.0 else -1.0
    if not (about_com > 0.0 and body.mass > 0.0):  # not realisable; structure_faults will say why
        phi = body.phi
        phi[list(PLANAR)] = four
        return _body_of(body, phi)
    old = inertial.tensor(body.inertia)
    spread = 0.5 * np.trace(old) * np.eye(3) - old
    spread[2, 2] = max(spread[2, 2], 0.0)  # of a lamina: no rounding that a smaller one would feel
    if old[2, 2] <= 0.0:  # a point has no shape to keep
        spread[:2, :2] = np.eye(2)
    wide, high = np.sqrt(about_com / np.trace(spread[:2, :2])), np.sqrt(mass / body.mass)
    D = np.diag([wide, wide, high])
    spread = D @ spread @ D
    inertia = inertial.six(np.trace(spread) * np.eye(3) - spread)
    return replace(
        body, mass=mass, com=(mx / mass, my / mass, body.com[2]), inertia=tuple(inertia.tolist())
    )


def _body_of(body: Body, phi: Array) -> Body:
    mass, com, inertia = inertial.com_from_phi(phi)
    return replace(body, mass=mass, com=tuple(com.tolist()), inertia=tuple(inertia.tolist()))


def _with_bodies(model: Model, named: Mapping[str, Fields]) -> Model:
    upright = upright_bodies(model)
    for body in (*model.bodies, *(target.body for target in model.targets)):
        fields = {k: v for k, v in named.get(body.name, {}).items() if k in inertial.NAMES}
        if not fields:
            continue
        phi = body.phi
        for field, value in fields.items():
            phi[inertial.NAMES.index(field)] = value
        is_flat = body.name in upright and fields.keys() <= {inertial.NAMES[i] for i in PLANAR}
        new = stretch_body(body, phi[list(PLANAR)]) if is_flat else _body_of(body, phi)
        model = model.with_body(new)
    return model


def _values_of(
    named: Mapping[str, Fields], owner: str, fields: tuple[str, ...]
) -> dict[str, float]:
    return {field: value for field, value in named.get(owner, {}).items() if field in fields}


def _with_joint_values(joint: Joint, named: Mapping[str, Fields]) -> Joint:
    if joint.type != "fixed":
        joint = replace(joint, **_values_of(named, joint.name, JOINT_FIELDS))
    if joint.drive is None:
        return joint
    changes = _values_of(named, f"{joint.name}.drive", DRIVE_FIELDS)
    return replace(joint, drive=replace(joint.drive, **changes))


def _with_tank_values(tank: Tank, named: Mapping[str, Fields]) -> Tank:
    tank = replace(tank, **_values_of(named, tank.name, ("mass", "length")))
    for field in ("stiffness", "damping"):
        old = getattr(tank, field)
        pair = tuple(named.get(f"{tank.name}_{i}", {}).get(field, old[i - 1]) for i in (1, 2))
        tank = replace(tank, **{field: pair})
    return tank


def _is_assumed(name: str) -> bool:
    parsed = ParameterName.parse(name)
    return parsed.is_of_sensor or parsed.is_of_setup or parsed.is_of_known_body


def _with_assumed(model: Model, values: Mapping[str, float]) -> Model:
    """The model with what it takes as exact at other values."""
    model = with_geometry(model, values)
    gravity, root, sensors = list(model.gravity), model.root, list(model.sensors)
    for name, value in values.items():
        parsed = ParameterName.parse(name)
        if parsed.kind == "gravity":
            gravity["xyz".index(parsed.field)] = value
        elif parsed.kind == "drag":
            root = replace(root, **{f"{parsed.field}_drag": value})
        elif parsed.field == SCALE and parsed.kind == "model":
            body = model.body(parsed.owner)
            model = model.with_body(_body_of(body, value * body.phi))
        elif parsed.is_of_known_body:
            body, away = model.body(parsed.owner), value * np.eye(3)["xyz".index(parsed.field[-1])]
            phi = inertial.phi_transform(np.eye(3), away) @ body.phi
            model = model.with_body(_body_of(body, phi))
        elif parsed.is_of_sensor:
            place, row, width = _sensor_place(model, name)
            assert place is not None
            sensors[place] = _with_error(sensors[place], parsed.kind, row, width, value)
    x, y, z = gravity
    return replace(model, gravity=(x, y, z), root=root, sensors=tuple(sensors))


def _sensor_place(model: Model, name: str) -> tuple[int | None, int, int]:
    """Which sensor a bias or delay belongs to alone, which of its channels, and of how many."""
    parsed = ParameterName.parse(name)
    channels = sensor_channels(model)
    for channel, part in channels.items():
        own = [other for other, its in channels.items() if its.group == part.group]
        is_it = parsed.owner == (part.group if parsed.kind == "delay" else channel)
        if is_it and parsed.kind in ("bias", "delay") and part.sensor in model.sensors:
            is_alone = len(sensor_targets(model, part.sensor)) == 1
            place = model.sensors.index(part.sensor) if is_alone else None
            return place, own.index(channel), len(own)
    return None, 0, 0


def _with_error(sensor: Sensor, kind: str, row: int, width: int, value: float) -> Sensor:
    if kind == "delay":
        return replace(sensor, delay=value)
    bias = list(sensor.bias or (0.0,))
    bias = bias * width if len(bias) < width else bias[-width:]  # an attitude in the plane: about z
    bias[row] = value
    return replace(sensor, bias=tuple(bias))


def names_without_place(model: Model, names: Iterable[str]) -> list[str]:
    """Those of the names that no model file has a place for, such as the rest of a drive's spring.

    >>> from freefloat.model import load_model
    >>> names_without_place(load_model("cbk-arm"), ["bus.mass", "arm_1.drive.rest"])
    ['arm_1.drive.rest']
    >>> names_without_place(load_model("cepheus"), ["thr_1.gain", "thr_1.tilt.z", "drag.linear"])
    ['thr_1.gain']
    """
    known = _fields_held(model)
    return [name for name in names if not _has_place(model, known, name)]


def _has_place(model: Model, known: Mapping[str, tuple[str, ...]], name: str) -> bool:
    parsed = ParameterName.parse(name)
    if parsed.is_of_sensor:
        return _sensor_place(model, name)[0] is not None
    if parsed.is_of_setup:
        return parsed.kind != "input" and name in setup_names(model)
    return parsed.field in known.get(parsed.owner, ())


def _fields_held(model: Model) -> dict[str, tuple[str, ...]]:
    """The parameters that a model file can hold, by what they belong to."""
    known: dict[str, tuple[str, ...]] = {}
    for joint in model.joints:
        known[joint.name] = JOINT_FIELDS if joint.type != "fixed" else ()
        known[f"{joint.name}.drive"] = DRIVE_FIELDS if joint.drive else ()
    for tank in model.tanks:
        known[tank.name] = ("mass", "length")
        known |= {f"{tank.name}_{i}": ("stiffness", "damping") for i in (1, 2)}
    known |= {wheel.name: ("inertia",) for wheel in model.wheels}
    for body in (*model.bodies, *(target.body for target in model.targets)):
        # A joint may be called like a body, and then has fields under the same name.
        known[body.name] = (*known.get(body.name, ()), *inertial.NAMES, *KNOWN_BODY_FIELDS)
    return known


def _unknown_faults(model: Model, named: Mapping[str, Fields]) -> list[Fault]:
    known = _fields_held(model)
    return [
        Fault(
            f"{owner}.{field}".rstrip("."),
            f"{value:g}",
            "a parameter a model file can hold",
            "leave it out",
            "name.unknown",
        )
        for owner, fields in named.items()
        for field, value in fields.items()
        if field not in known.get(owner, ())
        # The springs of drives and tanks have a rest and a friction, but only zeros.
        and not (owner in known and field in ("rest", "friction") and value == 0.0)
    ]
