"""Parameters by name: which there are, and what each changes in the arrays that kernels read.

Names: `bus.mass` [kg], `bus.mx|my|mz` first moment [kg m], `bus.ixx|ixy|ixz|iyy|iyz|izz` inertia
about the body's origin [kg m^2]; `hinge.stiffness|damping|rest|friction|armature`;
`arm_1.drive.stiffness|damping|friction|inertia`; `tank.mass` [kg], `tank.length` [m];
`rw_x.inertia` [kg m^2];
`bus.scale` [1], a common factor of a body's ten; `bus.com.x` [m], a displacement of all its mass;
`start.position.x` [m], `start.attitude.x` [rad]
(small rotation in root axes), `start.velocity.x` [m/s], `start.rate.x` [rad/s], and
`start.<coordinate>.position|velocity`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from freefloat.arrays import Array
from freefloat.dynamics.kernels.mechanism import ParameterArrays
from freefloat.dynamics.kernels.tangent import Directions
from freefloat.dynamics.state import D_ATTITUDE, D_POSITION, D_RATE, D_VELOCITY
from freefloat.dynamics.tree import SPRING_FIELDS, System, rotor_phi, with_friction
from freefloat.errors import IdentificationError
from freefloat.model import inertia as inertial
from freefloat.model.parameter_name import (
    COM,
    KNOWN_BODY_FIELDS,
    SCALE,
    ParameterName,
    is_start,
    owner_of,
)

# rows of the tangent that the root's initial states are
START_ROWS = {
    "position": D_POSITION,
    "attitude": D_ATTITUDE,
    "velocity": D_VELOCITY,
    "rate": D_RATE,
}


def parameter_names(system: System) -> list[str]:
    """Every name that can be asked for, in model order."""
    assembly, model = system.model.assembly, system.model
    tanks = {tank.name for tank in model.tanks}
    massless = {f"{tank.name}_link" for tank in model.tanks}
    geared = {joint.name for joint in model.joints if joint.drive is None}
    names = [
        f"{body.name}.{field}"
        for body in assembly.bodies
        if body.name not in tanks | massless
        for field in inertial.NAMES
    ]
    names += [f"{tank.name}.{field}" for tank in model.tanks for field in ("mass", "length")]
    for spring in assembly.springs:
        names += [f"{spring.owner}.{field}" for field in SPRING_FIELDS[:-1]]
        if spring.owner in geared:
            names.append(f"{spring.owner}.armature")
    for rotor in assembly.rotors:
        is_drive = rotor.coordinate.endswith(".motor")
        names.append(f"{rotor.owner}.drive.inertia" if is_drive else f"{rotor.owner}.inertia")
    names += [f"start.{field}.{axis}" for field in START_ROWS for axis in "xyz"]
    for c in _free_coordinates(system):
        names += [f"start.{system.coordinates[c]}.{field}" for field in ("position", "velocity")]
    return names


def known_body_names(system: System) -> list[str]:
    """Scale and displacements of all bodies that weigh something.

    Tanks aside, which have a mass and a length of their own.

    >>> from freefloat.dynamics.tree import flatten
    >>> from freefloat.model import load_model
    >>> known_body_names(flatten(load_model("cepheus")))[:4]
    ['bus.scale', 'bus.com.x', 'bus.com.y', 'bus.com.z']
    """
    tanks = {tank.name for tank in system.model.tanks}
    bodies = [b.name for b in system.model.assembly.bodies if b.phi.any() and b.name not in tanks]
    return [f"{body}.{field}" for body in bodies for field in KNOWN_BODY_FIELDS]


def _owner_and_field(name: str) -> tuple[str, str]:
    parsed = ParameterName.parse(name)
    return parsed.owner, parsed.field


def _free_coordinates(system: System) -> list[int]:
    return [int(g) - 6 for g in system.tree.free if g >= 6]


class _Collector:
    """Entries of `Directions` as they are found."""

    def __init__(self, system: System, n_parameters: int) -> None:
        self.system = system
        self.start = np.zeros((system.layout.tangent_width, n_parameters))
        self.body: list[tuple[int, int]] = []
        self.body_change: list[Array] = []
        self.spring: list[tuple[int, int]] = []
        self.spring_change: list[Array] = []
        self.rotor: list[tuple[int, int]] = []
        self.rotor_change: list[float] = []

    def add_body(self, p: int, body: str, change: Array) -> None:
        """Parameter p changes phi of a body (in its own frame)."""
        self.add_link(p, body, self.system.phi_map[body] @ change)

    def add_link(self, p: int, body: str, change: Array) -> None:
        """Parameter p changes phi of the link that a body belongs to."""
        self.body.append((p, self.system.body_link[body]))
        self.body_change.append(change)

    def finish(self) -> Directions:
        """The collected entries as arrays, bodies sorted so that each link is visited once."""
        order = np.argsort([link for _, link in self.body], kind="stable")
        return Directions(
            _pairs([self.body[i] for i in order]),
            np.reshape([self.body_change[i] for i in order], (-1, 10)).astype(float),
            _pairs(self.spring),
            np.reshape(self.spring_change, (-1, len(SPRING_FIELDS))).astype(float),
            _pairs(self.rotor),
            np.array(self.rotor_change, dtype=float),
        )


def _pairs(entries: Sequence[tuple[int, int]]) -> NDArray[np.int64]:
    return np.reshape(np.array(entries, dtype=np.int64), (-1, 2))


def parameter_directions(system: System, names: Sequence[str]) -> tuple[Directions, Array]:
    """The kernels' entries for the named parameters and the tangent of the initial state."""
    collector = _Collector(system, len(names))
    known = {*parameter_names(system), *known_body_names(system)}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise IdentificationError(
            f"{system.model.name!r} has no parameter called {', '.join(unknown[:5])};"
            f" names look like {', '.join(sorted(known)[:4])} (list them with parameter_names)",
            code="name.unknown",
        )
    for p, name in enumerate(names):
        _add(collector, p, name)
    return collector.finish(), collector.start


def is_nonlinear(system: System, name: str) -> bool:
    """Whether equations are nonlinear in a parameter, so that its direction depends on its value.

    >>> from freefloat.dynamics.tree import flatten
    >>> from freefloat.model import load_model
    >>> system = flatten(load_model("servicer-slosh"))
    >>> is_nonlinear(system, "bus.mass"), is_nonlinear(system, "tank.length")
    (False, True)
    """
    owner, field = _owner_and_field(name)
    is_whole = ParameterName.parse(name).is_of_known_body
    return field == "rest" or is_whole or owner in {tank.name for tank in system.model.tanks}


def varying_directions(system: System, names: Sequence[str]) -> tuple[int, ...]:
    """Places of the names whose direction depends on values of parameters."""
    resting = {owner_of(name) for name in names if name.endswith(".rest")}
    found = []
    for p, name in enumerate(names):
        is_stiffness = name.endswith(".stiffness") and owner_of(name) in resting
        if not is_start(name) and (is_stiffness or is_nonlinear(system, name)):
            found.append(p)
    return tuple(found)


def renew_directions(
    system: System, names: Sequence[str], entries: Directions, which: Sequence[int]
) -> None:
    """Write the directions of some names, as they are now, over those in `entries`."""
    if not which:
        return
    collector = _Collector(system, len(names))
    for p in which:
        _add(collector, p, names[p])
    fresh = collector.finish()
    for (own, changes), (places, table) in (
        ((fresh.body, fresh.body_change), (entries.body, entries.body_change)),
        ((fresh.spring, fresh.spring_change), (entries.spring, entries.spring_change)),
    ):
        for (p, part), change in zip(own, changes, strict=True):
            table[(places[:, 0] == p) & (places[:, 1] == part)] = change


def _add(collector: _Collector, p: int, name: str) -> None:
    system = collector.system
    owner, field = _owner_and_field(name)
    tanks = {tank.name: tank for tank in system.model.tanks}
    if is_start(name):
        collector.start[_start_row(system, name), p] = 1.0
    elif owner in tanks and field in ("mass", "length"):
        collector.add_link(p, owner, _fuel_change(system, owner, field))
    elif field in inertial.NAMES and owner in system.body_link:
        entry = _displace(system, owner, np.eye(10)[inertial.NAMES.index(field)])
        collector.add_body(p, owner, system.scales.get(owner, 1.0) * entry)
    elif field == SCALE and owner in system.body_link:
        collector.add_body(p, owner, _displace(system, owner, system.body_phi[owner]))
    elif field.startswith(COM) and owner in system.body_link:
        away = system.displacements.get(owner, np.zeros(3))
        change = inertial.displacement_change(system.body_phi[owner], away, "xyz".index(field[-1]))
        collector.add_body(p, owner, system.scales.get(owner, 1.0) * change)
    elif field in SPRING_FIELDS:
        owners = [spring.owner for spring in system.model.assembly.springs]
        s, k = owners.index(owner), SPRING_FIELDS.index(field)
        change = np.eye(len(SPRING_FIELDS))[k]
        stiffness, _, rest = system.parameters.spring[s, :3]
        if k == 0:
            change[2] = rest  # the kernels want k (q - rest) differentiated as x dk - d(k rest)
        if k == 2:
            change[2] = stiffness
        collector.spring.append((p, s))
        collector.spring_change.append(change)
    else:
        _add_rotor(collector, p, owner.removesuffix(".drive"))


def _displace(system: System, body: str, phi: Array) -> Array:
    """phi of a body, or a change of it, with all mass where it is displaced to."""
    away = system.displacements.get(body)
    return phi if away is None else inertial.phi_transform(np.eye(3), away) @ phi


def _add_rotor(collector: _Collector, p: int, owner: str) -> None:
    rotors = collector.system.model.assembly.rotors
    r = [rotor.owner for rotor in rotors].index(owner)
    collector.rotor.append((p, r))
    collector.rotor_change.append(1.0)
    if not rotors[r].is_included:
        collector.add_body(p, rotors[r].body, rotor_phi(rotors[r].axis))


def _fuel_change(system: System, tank: str, field: str) -> Array:
    """d phi of the point mass, in its link, per unit mass or length of its pendulum.

    The numbers of the system count, which may no longer be those of its model.
    """
    phi = system.parameters.phi[system.body_link[tank]]
    mass = phi[0]
    if field == "mass":
        return phi / mass
    length = float(np.linalg.norm(phi[1:4])) / mass  # the pivot is the link's origin
    change = 2.0 * phi / length  # the inertia goes with the square of the length,
    change[1:4] /= 2.0  # the first moment with the length itself,
    change[0] = 0.0  # the mass not at all
    return change


def _start_row(system: System, name: str) -> int:
    owner, field = _owner_and_field(name)
    if owner in START_ROWS:
        return START_ROWS[owner].start + "xyz".index(field)
    place = _free_coordinates(system).index(system.coordinates.index(owner))
    rows = system.layout.d_dq if field == "velocity" else system.layout.d_q
    return rows.start + place


def with_parameter_values(system: System, values: Mapping[str, float]) -> System:
    """The system with named parameters at `values`; initial states are passed over.

    Searches do this thousands of times. Nothing is checked: a body may come out that no robot
    has. `system.model` stays the one the system was made of, and `system` is as `flatten`
    made it: changes are counted from the numbers of its model.

    >>> from freefloat.dynamics.tree import flatten
    >>> from freefloat.model import load_model
    >>> system = flatten(load_model("ets7"))
    >>> with_parameter_values(system, {"bus.mass": 2600.0}).parameters.phi[0, 0]
    np.float64(2600.0)
    """
    phi = system.parameters.phi.copy()
    rotors, springs = system.parameters.rotor.copy(), system.parameters.spring.copy()
    assembly = system.model.assembly
    owned = {owner_of(name) for name in values}
    tanks = {tank.name: tank for tank in system.model.tanks if tank.name in owned}
    bodies = {body.name: body.phi for body in assembly.bodies if body.name in owned}
    owners = [spring.owner for spring in assembly.springs]
    spinners = [rotor.owner for rotor in assembly.rotors]
    body_phi, scales, displacements = system.body_phi, {}, dict[str, Array]()
    for name, value in values.items():
        owner, field = _owner_and_field(name)
        if is_start(name) or owner in tanks:
            continue
        if field in inertial.NAMES and owner in bodies:
            change = np.zeros(10)
            place = inertial.NAMES.index(field)
            change[place] = value - bodies[owner][place]
            phi[system.body_link[owner]] += system.phi_map[owner] @ change
            body_phi = {**body_phi, owner: body_phi[owner] + change}
        elif field == SCALE:
            scales[owner] = value
        elif field.startswith(COM) and owner in bodies:
            displacements.setdefault(owner, np.zeros(3))["xyz".index(field[-1])] = value
        elif field in SPRING_FIELDS:
            springs[owners.index(owner), SPRING_FIELDS.index(field)] = value
        else:
            r = spinners.index(owner.removesuffix(".drive"))
            rotor = assembly.rotors[r]
            rotors[r] = value
            if not rotor.is_included:
                share = system.phi_map[rotor.body] @ rotor_phi(rotor.axis)
                phi[system.body_link[rotor.body]] += (value - rotor.inertia) * share
    for name, tank in tanks.items():
        mass = values.get(f"{name}.mass", tank.mass)
        length = values.get(f"{name}.length", tank.length)
        change = _pendulum(bodies[name], mass / tank.mass, length / tank.length)
        phi[system.body_link[name]] += system.phi_map[name] @ (change - bodies[name])
    changed = replace(system, body_phi=body_phi, scales=scales, displacements=displacements)
    for owner in {*scales, *displacements}:
        now = scales.get(owner, 1.0) * _displace(changed, owner, body_phi[owner])
        phi[system.body_link[owner]] += system.phi_map[owner] @ (now - body_phi[owner])
    if any(name.endswith(".friction") for name in values):
        changed = with_friction(changed)
    return replace(changed, parameters=ParameterArrays(phi, rotors, springs))


def _pendulum(phi: Array, heavier: float, longer: float) -> Array:
    """phi of a point mass about its pivot, so many times heavier and farther away."""
    powers = np.array([0, 1, 1, 1, 2, 2, 2, 2, 2, 2])
    return heavier * phi * longer**powers
