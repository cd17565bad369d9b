"""What the derivatives must satisfy whatever the model: the second formulation of each of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from fault_codes import refused
from motions import inputs_of, integrate, on_the_swing, random_swing
from scipy.spatial.transform import Rotation
from systems import damped, random_model, random_states, servicer, spacecraft

from freefloat.dynamics import System, balance, flatten, force_regressor, mass_matrix, observe
from freefloat.dynamics.equations import coordinates_of, no_inputs
from freefloat.dynamics.named_parameters import parameter_names
from freefloat.dynamics.sensitivity import Sensitivity, integrate_with_sensitivity
from freefloat.errors import IdentificationError
from freefloat.model.inertia import NAMES
from freefloat.model.parts import Wheel

STEP, N_STEPS = 2e-3, 1000


def loose_tree(seed: int) -> System:
    """A random tree with springs, friction, a massless link and a wheel, nothing prescribed."""
    model = random_model(seed, n_joints=5, roles=("torque", "passive"), springs=True)
    wheel = Wheel("rw", "bus", (0.0, 0.6, 0.8), 0.2, role="torque", speed=20.0)
    return flatten(replace(model, wheels=(wheel,)))


def started(system: System, seed: int) -> np.ndarray:
    x = random_states(system, seed, 1, speed=0.3)[0]
    x[13 : 13 + system.n_coordinates] *= 0.2
    return x


def followed(system: System, start: np.ndarray, names: list[str]) -> Sensitivity:
    return integrate_with_sensitivity(
        system, start, names, inputs=no_inputs(system), step=STEP, n_steps=N_STEPS, every=N_STEPS
    )


def start_names(system: System) -> list[str]:
    """The start's parameters in the order of the tangent's rows."""
    parts = ("position", "attitude", "velocity", "rate")
    names = [f"start.{part}.{axis}" for part in parts for axis in "xyz"]
    loose = [system.coordinates[g - 6] for g in system.tree.free if g >= 6]
    return names + [f"start.{c}.{what}" for what in ("position", "velocity") for c in loose]


def motion_at(system: System, x: np.ndarray) -> np.ndarray:
    """The rate of a state as a tangent: v, w, dv, dw, dq, ddq."""
    a = observe(system, x).accelerations[0]
    n = system.n_coordinates
    world = Rotation.from_quat(x[3:7])
    return np.concatenate([x[7:10], x[10:13], world.apply(a[3:6]), a[:3], x[13 + n :], a[6:]])


def relative(found: np.ndarray, exact: np.ndarray) -> float:
    return float(np.abs(found - exact).max() / np.abs(exact).max())


@pytest.mark.promise("P7")
@pytest.mark.parametrize("seed", range(3))
def test_starting_later_is_being_later(seed, figure):
    """T(t) f(x0) = f(x(t)) for x' = f(x): every column of the state's derivative at once."""
    system = loose_tree(seed)
    x = started(system, seed)
    run = followed(system, x, start_names(system))
    assert np.array_equal(run.tangents[0], np.eye(run.tangents.shape[1]))
    ahead = run.tangents[-1] @ motion_at(system, x)
    worst = relative(ahead, motion_at(system, run.states[-1]))
    figure("P7", f"starting later is being later, tree {seed}: {worst:.1e} relative")
    assert worst <= 1e-9  # two integrations of order four with 2 ms


@pytest.mark.promise("P7")
@pytest.mark.parametrize("seed", range(3))
def test_turning_or_moving_the_world_moves_the_trajectory(seed, figure):
    system = loose_tree(seed)
    x = started(system, seed)
    run = followed(system, x, start_names(system))
    worst = 0.0
    for axis in np.eye(3):

        def turned(y, axis=axis):
            """The tangent of a state when the world is turned about an axis."""
            own = Rotation.from_quat(y[3:7]).inv().apply(axis)
            rest = np.zeros(run.tangents.shape[1] - 9)
            return np.concatenate([np.cross(axis, y[:3]), own, np.cross(axis, y[7:10]), rest])

        worst = max(worst, relative(run.tangents[-1] @ turned(x), turned(run.states[-1])))
    shift = np.zeros_like(run.tangents[-1][:, :3])
    shift[:3] = np.eye(3)
    assert np.array_equal(run.tangents[-1][:, :3], shift)
    figure("P7", f"turning the world turns the trajectory, tree {seed}: {worst:.1e} relative")
    assert worst <= 1e-9


def values(system: System, names: list[str]) -> np.ndarray:
    """The numbers behind inertial, spring and wheel names."""
    owners = [spring.owner for spring in system.model.assembly.springs]
    fields = ("stiffness", "damping", "rest", "friction", "armature")
    found = []
    for name in names:
        owner, _, field = name.rpartition(".")
        if field in fields:
            found.append(system.parameters.spring[owners.index(owner), fields.index(field)])
        elif field in NAMES:
            found.append(system.model.body(owner).phi[NAMES.index(field)])
        else:
            found.append(next(w.inertia for w in system.model.wheels if w.name == owner))
    return np.array(found)


@pytest.mark.promise("P7")
@pytest.mark.parametrize("seed", range(3))
def test_a_twice_heavier_and_stiffer_system_moves_the_same(seed, figure):
    """sum p dx/dp = 0 over masses, inertias, stiffness, damping and friction: only ratios count."""
    system = loose_tree(seed)
    names = [n for n in parameter_names(system) if not n.startswith("start.")]
    names = [n for n in names if not n.endswith(".rest")]
    run = followed(system, started(system, seed), names)
    shares = run.tangents[-1] * values(system, names)
    worst = float(np.abs(shares.sum(axis=1)).max() / np.abs(shares).max())
    figure("P7", f"scaling all parameters changes nothing, tree {seed}: {worst:.1e} relative")
    assert worst <= 1e-10


@pytest.mark.promise("P7")
@pytest.mark.parametrize("seed", range(3))
def test_change_of_acceleration_is_the_regressor_through_the_mass_matrix(seed, figure):
    """da/dphi = -H^-1 Y, with H and Y formed by other kernels."""
    system = loose_tree(seed)
    x = started(system, seed)[None]
    names = [f"{body.name}.{field}" for body in system.model.bodies for field in NAMES]
    run = followed(system, x[0], names)
    a = observe(system, x).accelerations
    Y = force_regressor(system, x[:, 10:13], a[:, :6], coordinates_of(x, a))[0]
    n, free = system.n_coordinates, system.tree.free
    maps = [system.phi_map[body.name] for body in system.model.bodies]
    links = [system.body_link[body.name] for body in system.model.bodies]
    columns = np.hstack([Y[:, 10 * i : 10 * i + 10] @ m for i, m in zip(links, maps, strict=True)])
    exact = -np.linalg.solve(mass_matrix(system, x[0, 13 : 13 + n]), columns[free])
    worst = relative(run.efforts[0, free], exact)
    figure("P7", f"da/dphi = -H^-1 Y, tree {seed}: {worst:.1e} relative")
    assert worst <= 1e-11


@pytest.mark.promise("P7")
@pytest.mark.parametrize("kind", ["flexible", "slosh"])
def test_momentum_changes_with_parameters_as_the_start_says(kind, figure):
    """d(total momentum)/dp is constant along a free flight, for any parameter of the start."""
    system = flatten(damped(spacecraft(kind, 3)))
    x = started(system, 3)
    x[13:] *= 0.1
    run = followed(system, x, start_names(system))

    def momentum(y: np.ndarray) -> np.ndarray:
        kept = balance(system, y)
        return np.concatenate([kept.linear_momentum[0], kept.angular_momentum[0]])

    slopes = []
    for state, tangent in zip(run.states, run.tangents, strict=True):
        step = 1e-6
        sides = [_moved(system, state, sign * step * tangent.T) for sign in (1.0, -1.0)]
        pairs = zip(*sides, strict=True)
        slopes.append([(momentum(a) - momentum(b)) / (2.0 * step) for a, b in pairs])
    worst = relative(np.array(slopes[1]), np.array(slopes[0]))
    figure("P7", f"momentum along the tangents of a {kind} flight: {worst:.1e} relative")
    assert worst <= 1e-7  # what differences of 1e-6 can show


def _moved(system: System, x: np.ndarray, tangents: np.ndarray) -> list[np.ndarray]:
    loose = system.tree.free[system.tree.free >= 6] - 6
    n, f, moved = system.n_coordinates, len(loose), []
    for t in tangents:
        y = x.copy()
        y[:3] += t[:3]
        y[3:7] = (Rotation.from_quat(x[3:7]) * Rotation.from_rotvec(t[3:6])).as_quat()
        y[7:13] += t[6:12]
        y[13 + loose] += t[12 : 12 + f]
        y[13 + n + loose] += t[12 + f :]
        moved.append(y)
    return moved


def test_states_are_those_of_the_plain_integrator():
    system = flatten(servicer(2))
    swing = random_swing(system, 2)
    start = on_the_swing(system, swing, started(system, 2))
    stages = (np.arange(200)[:, None] + np.array([0.0, 0.5, 1.0])) * 0.01
    run = integrate_with_sensitivity(
        system, start, ["bus.mass"], inputs=inputs_of(system, swing, stages), step=0.01,
        n_steps=200, every=20,
    )  # fmt: skip
    _, states = integrate(system, start, seconds=2.0, step=0.01, every=20, swing=swing)
    assert run.states == pytest.approx(states, rel=1e-13, abs=1e-14)


def test_efforts_can_be_left_out():
    system = loose_tree(0)
    run = integrate_with_sensitivity(
        system, started(system, 0), ["bus.mass"], inputs=no_inputs(system), step=0.01, n_steps=10,
        every=5, with_efforts=False,
    )  # fmt: skip
    assert run.efforts.shape[0] == 0
    assert run.tangents.shape == (3, 12 + 2 * len(run.free), 1)


def test_an_unknown_parameter_is_named():
    system = loose_tree(0)
    with refused(IdentificationError, "name.unknown", naming="bus.weight"):
        followed(system, started(system, 0), ["bus.mass", "bus.weight"])
