"""How large a parameter is by nature: what makes kilograms, kg m^2 and N m/rad comparable."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.equations import inverse_dynamics
from freefloat.dynamics.tree import System
from freefloat.model import inertia as inertial
from freefloat.model.mass_properties import MassProperties, mass_properties
from freefloat.model.parameter_name import ParameterName, field_of
from freefloat.parameters.parameters import parameter_values
from freefloat.prediction.flight_setup import setup_size

# theory: a convention, like the choice of units: it decides what "a tenth of its size" means where
# a model gives no size. A hundredth of the whole mass is an appendage; 1 rad/s a slow mode.
SMALL_BODY = 0.01  # of the whole mass: what a body counts as that has none yet
# theory: likewise; k = I w^2 and d = I w at 1 rad/s, friction a hundredth of it, rest in rad
STILL = {"stiffness": 1.0, "damping": 1.0, "friction": 0.01, "rest": 0.1, "armature": 1.0}
IN_DRIVEN_JOINT = frozenset({"stiffness", "damping", "friction", "armature"})


def natural_sizes(system: System, names: Sequence[str]) -> Array:
    """The natural size of every named parameter, in its unit; always positive.

    A mass: the body's. A first moment: mass times radius of gyration. An inertia: a third of the
    trace. Springs, rotors and pendulums: their own value, and where that is zero the one that goes
    with the inertia of a small body at 1 rad/s. In a joint that a motor drives they are no smaller
    than what goes with its load: the inertia about the joint of all it carries, at 1 rad/s and
    1 rad/s^2, and the moment of its weight; there an armature compares with that inertia, friction
    with a hundredth of the load. A rest angle: 0.1 rad. States and biases: one. What a model takes
    as exact: see `setup_size`.

    >>> from freefloat.dynamics import flatten
    >>> from freefloat.model import load_model
    >>> natural_sizes(flatten(load_model("ets7")), ["bus.mass"])
    array([2645.9])
    """
    values = parameter_values(system)
    whole = mass_properties(system.model)
    bodies = {body.name: _body_sizes(whole, body.phi) for body in system.model.assembly.bodies}
    small = _body_sizes(whole, np.zeros(10))
    loads = _driven_loads(system) if any(field_of(n) in IN_DRIVEN_JOINT for n in names) else {}
    sizes = []
    for name in names:
        parsed = ParameterName.parse(name)
        owner, field = parsed.owner, parsed.field
        if parsed.is_of_setup or parsed.is_of_known_body:
            sizes.append(setup_size(system.model, name))
        elif owner in bodies and parsed.is_inertial:
            sizes.append(bodies[owner][inertial.NAMES.index(field)])
        elif owner in loads and field in IN_DRIVEN_JOINT:
            inertia, load = loads[owner]
            usual = STILL[field] * (inertia if field == "armature" else load)
            sizes.append(max(abs(values[name]), usual))
        elif name in values and abs(values[name]) > 0.0 and field != "rest":
            sizes.append(abs(values[name]))
        elif field in STILL:
            sizes.append(STILL[field] * (1.0 if field == "rest" else small[4]))
        else:
            sizes.append(1.0)
    return np.array(sizes)


def _driven_loads(system: System) -> dict[str, tuple[float, float]]:
    """Of every driven joint at home: the inertia about it, and the torque that 1 rad/s^2 takes.

    The torque holds the weight in the worst direction too.
    """
    joints = [joint for joint in system.model.joints if joint.type != "fixed"]
    driven = [j.name for j in joints if j.drive is None and j.role in ("motion", "torque")]
    places = [system.coordinates.index(name) for name in driven]
    n, c = len(places), system.n_coordinates
    still, moved = np.zeros((n + 3, 3)), np.zeros((n + 3, 6))
    at = np.zeros((n + 3, c, 3))
    at[:, :, 0] = [coordinate.home for coordinate in system.model.assembly.coordinates]
    at[np.arange(n), places, 2] = 1.0
    moved[n:, 3:] = np.eye(3)  # to lift the root is to weigh it
    torques = inverse_dynamics(system, still, moved, at)[:, 6:][:, places]
    gravity = float(np.linalg.norm(system.environment.gravity))
    weights = gravity * np.linalg.norm(torques[n:], axis=0)
    small = np.finfo(float).tiny
    return {
        name: (max(float(torques[k, k]), small), max(float(torques[k, k] + weights[k]), small))
        for k, name in enumerate(driven)
    }


def _body_sizes(whole: MassProperties, phi: Array) -> Array:
    """Natural sizes of the ten parameters of a body; of a small one if it has no mass."""
    radius = float(np.sqrt(0.5 * np.trace(whole.inertia) / whole.mass)) or 1.0
    mass, trace = float(phi[0]), float(phi[4] + phi[7] + phi[9])
    if not mass > 0.0:
        mass, trace = SMALL_BODY * whole.mass, 0.0
    # a point mass at its own origin still turns with the body that carries it
    trace = max(trace, 2.0 * mass * (SMALL_BODY * radius) ** 2)
    return np.array([mass, *3 * [np.sqrt(0.5 * mass * trace)], *6 * [trace / 3.0]])
