"""Paper 000's motions and flights, wrong starts, and the end-effector errors of its tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.frames import frame_motion
from freefloat.dynamics.integrate import integrate
from freefloat.dynamics.tree import flatten
from freefloat.excitation.motions import Spline
from freefloat.excitation.plan import Plan
from freefloat.identification.fit import Fit
from freefloat.identification.identify import identify
from freefloat.identification.modes.modal import identify_modes
from freefloat.identification.modes.modal_match import match_modes
from freefloat.model.model import Model
from freefloat.model.rotations import quaternions_from_matrices, rotation_vector_from_quaternion
from freefloat.papers.paper_000.published import LIGHTER, STIFFER
from freefloat.parameters.parameters import Parameters
from freefloat.parameters.write_back import with_parameters
from freefloat.prediction.simulate import simulate
from freefloat.telemetry.telemetry import Telemetry

HAND = "hand"
PANELS = ("panel_l1", "panel_l2", "panel_r1", "panel_r2")


def splines(
    model: Model, *, duration: float, rest: float, reach: float, points: int, seed: int
) -> Plan:
    """B-splines with random control points for every arm joint, from home and back, then rest."""
    rng = np.random.default_rng(seed)
    motions = {}
    for joint in model.joints:
        if joint.role == "motion":
            inner = joint.home + rng.uniform(-reach, reach, points)
            control = (joint.home, *inner.tolist(), joint.home)
            motions[joint.name] = Spline(duration, control)
    return Plan(duration + rest, motions=motions, name="splines, then rest")


def flown(model: Model, plan: Plan, *, seed: int | None) -> Telemetry:
    """A flight with the noise of the model, or (seed None) a thousandth of it, weighed alike."""
    if seed is not None:
        return simulate(model, plan, seed=seed)
    silent = simulate(
        model,
        plan,
        sensors=tuple(replace(sensor, noise=1e-3 * sensor.noise) for sensor in model.sensors),
    )
    noise = {sensor.kind: sensor.noise for sensor in model.sensors}
    stated = {"rate": noise["gyro"], "position": noise["encoder"], "torque": noise["joint_torque"]}
    return silent.with_channels(
        *(c.with_noise(stated[c.name.split(".")[1]]) for c in silent.channels.values())
    )


def wrong(
    model: Model, *, stiffer: Sequence[float] = (STIFFER,), lighter: float = LIGHTER
) -> Model:
    """The model as believed before: springs too stiff (one factor, or one each), the bus light."""
    springs = [s for s in model.assembly.springs if s.stiffness > 0.0]
    factors = list(stiffer) * (len(springs) if len(stiffer) == 1 else 1)
    model = with_parameters(
        model,
        {f"{s.owner}.stiffness": f * s.stiffness for s, f in zip(springs, factors, strict=True)},
    )
    bus = model.body("bus")
    six = tuple(lighter * value for value in bus.inertia)
    return model.with_body(replace(bus, mass=lighter * bus.mass, inertia=six))  # type: ignore[arg-type]


def unknowns(model: Model) -> list[str]:
    """What the paper looks for, as far as sensors see it.

    The bus; of every panel m c and the inertia about its hinge; of the fuel mass and length;
    springs and dampers.
    """
    owners = dict.fromkeys(s.owner for s in model.assembly.springs if s.stiffness > 0.0)
    names = ["bus.*", *(f"{owner}.{field}" for owner in owners
                        for field in ("stiffness", "damping"))]  # fmt: skip
    known = {body.name for body in model.bodies}
    names += [f"{panel}.{field}" for panel in PANELS if panel in known for field in ("my", "ixx")]
    names += [f"{tank.name}.{field}" for tank in model.tanks for field in ("mass", "length")]
    return names


def found(believed: Model, names: Sequence[str], flight: Telemetry, plan: Plan) -> Fit:
    """Output error from a believed model; the flight starts at rest and the motion is known."""
    wanted = Parameters(believed).free(*names)
    return identify(believed, wanted, flight, method="output_error", plan=plan, known_start=True)


def matched(believed: Model, flight: Telemetry) -> Model:
    """The believed model with its springs scaled to the modes that swing in the flight."""
    return match_modes(believed, identify_modes(flight, believed), flight).model


Path = tuple[Array, Array]


def hand_path(model: Model, plan: Plan) -> Path:
    """Positions (N, 3) [m] and rotations (N, 3, 3) of the end-effector along a motion."""
    system = flatten(model)
    flight = integrate(
        system, plan.start_state(system), plan.inputs(system), duration=plan.duration, step=5e-3,
        every=4,
    )  # fmt: skip
    moved = frame_motion(system, HAND, flight.states)
    return moved.position, moved.rotation


def path_errors(one: Path, other: Path) -> tuple[float, float, float, float]:
    """Mean and largest distance [m], mean and largest turn [rad], as in Tables II and III."""
    apart = np.linalg.norm(one[0] - other[0], axis=1)
    between = np.einsum("nji,njk->nik", one[1], other[1])
    turn = rotation_vector_from_quaternion(quaternions_from_matrices(between))
    angle = np.linalg.norm(turn, axis=1)
    return float(apart.mean()), float(apart.max()), float(angle.mean()), float(angle.max())
