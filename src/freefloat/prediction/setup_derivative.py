"""What each parameter of a setup changes in the system and its inputs, for the tangent of a flight.

Inputs are differenced as tables, not as flights: a flight's change is linear in theirs. Where a
joint sits elsewhere, all it carries is moved; a joint's axis that is turned by E turns what is on
it by E inboard of its angle, and back by E^T beyond it:

    rotation about E a  =  E (rotation about a) E^T
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.setup_change import Move, SetupChange, SetupChanges
from freefloat.dynamics.tree import System
from freefloat.model import inertia as inertial
from freefloat.model.geometry import AXES
from freefloat.model.parameter_name import ParameterName, is_of_setup
from freefloat.model.parts import Joint, Thruster
from freefloat.model.rotations import right_jacobian
from freefloat.prediction.flight_setup import (
    DRAGS,
    FlightSetup,
    InputTables,
    input_columns,
    is_jump_delay,
    nominal_value,
    setup_size,
)

# theory: of a natural size. Gains, zeros and biases are linear, and a gear bends by the square. A
# delay is by 1e-6 s: accelerations have kinks, which show by as much over a period of a second, and
# rounding, 1e-12 over it
DIFFERENCE = 1e-4


def setup_changes(
    setup: FlightSetup, tables: InputTables, values: Mapping[str, float], names: Sequence[str]
) -> SetupChanges | None:
    """What those of the names that belong to the setup change at `values`; None where none does."""
    own = [name for name in names if is_of_setup(name)]
    if not own:
        return None
    found = {name: _change(setup, tables, values, name) for name in own}
    return SetupChanges(found, setup.record_inputs)


def _change(
    setup: FlightSetup, tables: InputTables, values: Mapping[str, float], name: str
) -> SetupChange:
    parsed, system = ParameterName.parse(name), setup.system
    if parsed.kind == "input":
        return _of_inputs(system, tables, values, name)
    if parsed.kind == "gravity":
        return SetupChange(surround=np.eye(5)[AXES.index(parsed.field)])
    if parsed.kind == "drag":
        return SetupChange(surround=np.eye(5)[3 + list(DRAGS).index(parsed.field)])
    what, _, axis = parsed.field.partition(".")
    along = np.eye(3)[AXES.index(axis)]
    if what == "tilt":  # which way the axis turns, where it has been turned already
        turn = np.array([values.get(f"{parsed.owner}.tilt.{a}", 0.0) for a in AXES])
        along = right_jacobian(-turn) @ along
    model = system.model
    for t, thruster in enumerate(model.thrusters):
        if thruster.name == parsed.owner:
            return SetupChange(thrusters={t: _of_thruster(system, thruster, what, along)})
    for joint in model.joints:
        if joint.name == parsed.owner:
            return _of_joint(system, joint, what, along)
    return _of_rotor(system, parsed.owner, along)


def _of_inputs(
    system: System, tables: InputTables, values: Mapping[str, float], name: str
) -> SetupChange:
    """Columns of the inputs by central differences."""
    model, parsed = system.model, ParameterName.parse(name)
    owned = {
        other.field: value
        for other, value in ((ParameterName.parse(n), v) for n, v in values.items())
        if other.kind == "input" and other.owner == parsed.owner
    }
    value = values.get(name, nominal_value(model, name))
    step = DIFFERENCE * setup_size(model, name, tables.steps)
    both = []
    for is_record in (False, True):
        below, above = (
            input_columns(system, tables, parsed.owner, {**owned, parsed.field: v},
                          is_record=is_record)
            for v in (value - step, value + step)
        )  # fmt: skip
        both.append({key: (above[key] - below[key]) / (2.0 * step) for key in above})
    steps, records = both
    if is_jump_delay(tables.source, name):
        # a delay moves impulses; that it also flips a reading at an edge has no derivative
        records = {key: np.zeros_like(table) for key, table in records.items()}
    parts: dict[str, dict[int, tuple[Array, Array]]] = {"given": {}, "effort": {}, "push": {}}
    for (part, column), table in steps.items():
        if table.any() or records[part, column].any():
            parts[part][column] = table, records[part, column]
    return SetupChange(**parts)  # type: ignore[arg-type]


def _of_thruster(system: System, thruster: Thruster, what: str, along: Array) -> Array:
    """Torque and force of 1 N, in the thruster's link."""
    R, p = system.body_pose[thruster.body]
    position, force = R @ np.array(thruster.position) + p, R @ np.array(thruster.direction)
    if what == "offset":
        return np.concatenate([np.cross(R @ along, force), np.zeros(3)])
    turned = np.cross(R @ along, force)
    return np.concatenate([np.cross(position, turned), turned])


def _of_joint(system: System, joint: Joint, what: str, along: Array) -> SetupChange:
    """Everything a joint carries is moved, where it is turned beyond the joint back again."""
    R, p = system.body_pose[joint.parent]
    if joint.type == "fixed":  # has no axis; an offset moves its bodies within their link
        return _of_fixed(system, joint, R @ along) if what == "offset" else SetupChange()
    link = system.body_link[joint.child]
    if what == "offset":
        return SetupChange(moves=(Move(link, False, np.concatenate([np.zeros(3), R @ along])),))
    place = joint.placement
    inboard = _turn_about(R @ place.rotation @ along, R @ place.position + p)
    R, p = system.body_pose[joint.child]
    moves = Move(link, False, inboard), Move(link, True, _turn_about(-(R @ along), p))
    return replace(_of_rotor(system, joint.name, place.rotation @ along), moves=moves)


def _turn_about(turn: Array, point: Array) -> Array:
    """A turn about an axis through a point, as turn and shift about the origin."""
    return np.concatenate([turn, np.cross(point, turn)])


def _of_rotor(system: System, owner: str, along: Array) -> SetupChange:
    """The axis of a wheel, or of the motor of a joint, turned in the axes of its body."""
    for r, rotor in enumerate(system.model.assembly.rotors):
        if rotor.owner != owner:
            continue
        axis, R = np.array(rotor.axis), system.body_pose[rotor.body][0]
        turned, phi = np.cross(along, axis), {}
        if not rotor.is_included:
            inertia = np.outer(turned, axis)
            share = np.concatenate([np.zeros(4), inertial.six(inertia + inertia.T)])
            phi[system.body_link[rotor.body]] = (
                float(system.parameters.rotor[r]) * system.phi_map[rotor.body] @ share
            )
        return SetupChange(axes={r: R @ turned}, phi=phi)
    return SetupChange()


def _of_fixed(system: System, joint: Joint, shift: Array) -> SetupChange:
    """What a fixed joint carries, shifted within its link."""
    model = system.model
    bodies, link = [joint.child], system.body_link[joint.child]
    for body in bodies:  # grows as it is gone through
        bodies += [j.child for j in model.joints if j.parent == body and j.type == "fixed"]
    change, phi = np.concatenate([np.zeros(3), shift]), np.zeros(10)
    moves = [Move(link, True, change, body) for body in bodies]
    moves += [
        Move(system.body_link[j.child], False, change)
        for j in system.model.assembly.joints
        if j.parent in bodies and j.type != "fixed"
    ]
    for body in bodies:
        R, p = system.body_pose[body]
        # quadratic in the place: the difference is exact
        sides = (inertial.phi_transform(R, p + s * shift) for s in (0.5, -0.5))
        own = system.scales.get(body, 1.0) * system.body_phi[body]
        phi += np.subtract(*sides) @ own
    thrusters = {
        t: np.concatenate([np.cross(shift, system.tree.thrusters[t, 3:]), np.zeros(3)])
        for t, thruster in enumerate(model.thrusters)
        if thruster.body in bodies
    }
    return SetupChange(moves=tuple(moves), phi={link: phi}, thrusters=thrusters)
