"""Wheels and drives: what the body feels of a rotor, by identities and a second Lagrangian."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from motions import integrate
from systems import random_model, random_states

from freefloat.dynamics import Start, flatten, mass_matrix, observe
from freefloat.dynamics.equations import no_inputs
from freefloat.model import load_model
from freefloat.model.inertia import com_from_phi
from freefloat.model.model import Model
from freefloat.model.parts import Body, Drive, Joint, Placement, Root, Wheel


@pytest.mark.promise("P4")
def test_body_carries_minus_the_momentum_of_a_wheel_spun_up_from_rest(figure):
    """I w = -J w_rel with I the locked inertia; J (1 - J / I) dw_rel = torque."""
    axis, locked, J, torque = np.array([0.0, 0.6, 0.8]), 12.0, 0.3, 0.05
    inertia = (locked, 0.0, 0.0, locked, 0.0, locked)
    body = Body("bus", 80.0, (0.2, 0.0, -0.1), inertia)
    wheel = Wheel("rw", "bus", tuple(axis), J, role="torque")
    system = flatten(Model("wheel", Root("bus"), (body,), wheels=(wheel,)))

    def inputs(time):
        table = no_inputs(system, n_rows=len(time))
        table.effort[..., 0] = torque
        return table

    times, states = integrate(system, Start(), seconds=60.0, inputs=inputs)
    spin = torque / (J * (1.0 - J / locked)) * times
    size = J * spin[-1]
    worst = max(
        np.abs(states[:, 14] - spin).max() / spin[-1],
        np.abs(locked * states[:, 10:13] + J * np.outer(spin, axis)).max() / size,
    )
    figure("P4", f"wheel spun up from rest, body carries -J w_rel: {worst:.1e}")
    assert worst <= 1e-8


def with_solid_wheel(model: Model, on: str) -> tuple[Model, Model]:
    """Twice the same machine: a wheel as Wheel, and as a solid disc on a revolute joint."""
    mass, J, across, place = 2.0, 0.15, 0.09, Placement((0.3, -0.2, 0.4), (0.5, -0.4, 0.9))
    disc = Body("disc", mass, (0.0, 0.0, 0.05), (across, 0.0, 0.0, across, 0.0, J))
    hinge = Joint("disc", "revolute", on, "disc", place, role="torque")
    solid = replace(model, bodies=(*model.bodies, disc), joints=(*model.joints, hinge))
    carrier = model.body(on)
    # the carrier with the disc locked on it, from the ten parameters added up
    R, p = place.rotation, place.position
    moved = Body("x", mass, tuple(R @ disc.com + p), _six(R @ np.diag([across, across, J]) @ R.T))
    m, com, inertia = com_from_phi(carrier.phi + moved.phi)
    locked = Body(on, m, tuple(com.tolist()), tuple(inertia.tolist()))
    wheel = Wheel("disc", on, tuple(R[:, 2].tolist()), J, role="torque")
    return replace(model.with_body(locked), wheels=(wheel,)), solid


def _six(tensor: np.ndarray) -> tuple[float, ...]:
    return tuple(float(tensor[i, j]) for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)))


@pytest.mark.promise("P4")
def test_a_wheel_is_a_solid_disc_on_a_joint(figure):
    """Exact for a body of revolution, wherever it sits: same accelerations, same torques."""
    worst = 0.0
    for seed in range(6):
        model = random_model(seed, massless=False)
        short, solid = with_solid_wheel(model, ("bus", "link_1")[seed % 2])
        ours, theirs = flatten(short), flatten(solid)
        order = [theirs.coordinates.index(name) for name in ours.coordinates]
        n = len(order)
        states = random_states(theirs, seed, 50)
        effort = np.random.default_rng(seed).normal(size=(50, n))
        tables = []
        for system, columns in ((ours, order), (theirs, range(n))):
            table = no_inputs(system, n_rows=50)
            table.effort[..., 0] = effort[:, None, list(columns)]
            tables.append(table)
        index = np.array(order)
        mixed = np.hstack([states[:, :13], states[:, 13 + index], states[:, 13 + n + index]])
        a = observe(ours, mixed, inputs=tables[0]).accelerations
        b = observe(theirs, states, inputs=tables[1]).accelerations
        b = np.hstack([b[:, :6], b[:, 6 + index]])
        worst = max(worst, float((np.abs(a - b).max(axis=1) / np.abs(b).max(axis=1)).max()))
    figure("P4", f"wheel against a solid disc on a joint: {worst:.1e} relative, 300 states")
    assert worst <= 1e-11


def geared(drive: Drive | None, *, root: str = "planar") -> Model:
    """A planar arm of two links; the drive, if any, sits in the second joint."""
    bodies = (
        Body("bus", 50.0, (0.1, 0.0, 0.0), (2.0, 0, 0, 2.0, 0, 3.0)),
        Body("link_1", 4.0, (0.3, 0.0, 0.0), (0.1, 0, 0, 0.2, 0, 0.25)),
        Body("link_2", 3.0, (0.2, 0.1, 0.0), (0.1, 0, 0, 0.1, 0, 0.15)),
    )
    role = "torque" if drive is None else "passive"
    joints = (
        Joint("one", "revolute", "bus", "link_1", Placement((0.4, 0.0, 0.0)), role="torque"),
        Joint(
            "two", "revolute", "link_1", "link_2", Placement((0.6, 0, 0)), role=role, drive=drive
        ),
    )
    return Model("geared", Root("bus", root), bodies, joints)


@pytest.mark.promise("P4")
@pytest.mark.parametrize("form", ["geared", "disc"])
def test_rotor_entries_of_the_mass_matrix(form, figure):
    """N^2 J at the joint, N J between it and everything that carries it, J on what carries it."""
    J, N = 0.004, 30.0
    drive = Drive(J, 5.0, ratio=N, form=form, role="torque")
    ratio = N if form == "geared" else 1.0
    q = np.array([0.4, -0.7])
    bare = mass_matrix(flatten(geared(None)), q)
    full = mass_matrix(flatten(geared(drive)), np.array([*q, 0.3]))
    turn, one, two, motor = 0, 3, 4, 5  # rows: root turn, x, y, joint one, joint two, motor
    expected = np.zeros((6, 6))
    expected[:5, :5] = bare
    for a in (turn, one):  # the axes are parallel: the rotor turns with the bus and with link 1
        for b in (turn, one):
            expected[a, b] += J
        expected[a, motor] = expected[motor, a] = ratio * J
    expected[motor, motor] = ratio**2 * J
    worst = np.abs(full - expected).max()
    figure("P4", f"{form} rotor in the mass matrix: {worst:.1e} kg m^2")
    assert worst <= 1e-13
    assert full[two, motor] == 0.0  # they meet in the spring only


@pytest.mark.promise("P4")
def test_a_disc_in_place_of_a_geared_rotor_overstates_the_reaction_on_the_base(figure):
    """The paper's disc of I_m = N^2 J pushes the base N times harder than the rotor."""
    J, N = 0.004, 30.0
    rotor = Drive(J, 5.0, ratio=N, form="geared", role="torque")
    disc = Drive(N**2 * J, 5.0, form="disc", role="torque")
    q = np.array([0.4, -0.7, 0.3])
    couplings = [mass_matrix(flatten(geared(d)), q)[0, 5] for d in (rotor, disc)]
    figure("P4", f"disc against rotor: reaction {couplings[1] / couplings[0]:.6f} = N = {N:g}")
    assert couplings[1] / couplings[0] == pytest.approx(N, rel=1e-12)


# ---- Paper 004: seven coordinates x0, y0, q0, q1, q2, q3, q_m1, written out from eqs. (3)-(9) ----

MASS = np.array([58.69, 2.81, 2.82, 4.64])
TURNING = np.array([2.42, 0.0637, 0.0635, 0.0515])
COM = np.array([0.0, 0.1362 - 0.0017j, 0.1340 - 0.0005j, 0.1511 + 0.0004j])
REACH = np.array([0.337 - 0.001j, 0.449, 0.449])  # to the next joint, in each body
MOTOR, STIFFNESS, DAMPING = 5.6, 5.47, 0.5


def paper_mass_matrix(q: np.ndarray) -> np.ndarray:
    """M of T = sum m |v|^2 / 2 + I w^2 / 2 + I_m (dq0 + dq_m)^2 / 2; q may be complex."""
    angle = np.cumsum(q[2:6])
    cos, sin = np.cos(angle), np.sin(angle)

    def turned(k, v):
        return np.array([cos[k] * v.real - sin[k] * v.imag, sin[k] * v.real + cos[k] * v.imag])

    pivots = [np.array(q[:2])]  # the point each angle turns about: bus origin, then the joints
    for k in range(3):
        pivots.append(pivots[-1] + turned(k, REACH[k]))
    M = np.zeros((7, 7), dtype=q.dtype)
    for body in range(4):
        point = pivots[body] + turned(body, COM[body])
        slope = np.zeros((2, 7), dtype=q.dtype)
        slope[0, 0] = slope[1, 1] = 1.0
        spin = np.zeros(7)
        for k in range(body + 1):
            arm = point - pivots[k]
            slope[:, 2 + k] = -arm[1], arm[0]
            spin[2 + k] = 1.0
        M += MASS[body] * slope.T @ slope + TURNING[body] * np.outer(spin, spin)
    motor = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0])
    return M + MOTOR * np.outer(motor, motor)


def paper_accelerations(q: np.ndarray, dq: np.ndarray, torque: np.ndarray) -> np.ndarray:
    """d/dt (dL / d dq) - dL / dq + dF / d dq = Q, with dM / dq by complex steps (exact)."""
    slopes = np.array([paper_mass_matrix(q + 1e-30j * e).imag / 1e-30 for e in np.eye(7)])
    coriolis = np.einsum("kij,j,k->i", slopes, dq, dq)
    coriolis -= 0.5 * np.einsum("ijk,j,k->i", slopes, dq, dq)
    pull = STIFFNESS * (q[6] - q[3]) + DAMPING * (dq[6] - dq[3])
    force = np.array([0.0, 0.0, 0.0, pull, torque[0], torque[1], torque[2] - pull])
    return np.linalg.solve(paper_mass_matrix(q.astype(complex)).real, force - coriolis)


@pytest.mark.promise("P4")
def test_flexible_joint_of_paper_004(figure):
    """`cbk-arm` against the paper's Lagrangian: the disc form, 200 states."""
    model = load_model("cbk-arm")
    for name in ("arm_2", "arm_3"):
        model = model.with_joint(name, role="torque")
    system, rng = flatten(model), np.random.default_rng(4)
    assert system.coordinates == ("arm_1", "arm_2", "arm_3", "arm_1.motor")
    states, torque = random_states(system, 4, 200), rng.normal(size=(200, 3))
    inputs = no_inputs(system, n_rows=200)
    inputs.effort[:, :, 1:, 0] = torque[:, None]
    ours = observe(system, states, inputs=inputs).accelerations
    worst = 0.0
    for x, tau, found in zip(states, torque, ours, strict=True):
        turn = 2.0 * np.arctan2(x[5], x[6])
        q = np.array([x[0], x[1], turn, *x[13:17]])
        dq = np.array([x[7], x[8], x[12], *x[17:21]])
        a = paper_accelerations(q, dq, tau)
        c, s = np.cos(turn), np.sin(turn)
        exact = np.array([a[2], c * a[0] + s * a[1], c * a[1] - s * a[0], *a[3:]])
        error = np.abs(found[[2, 3, 4, 6, 7, 8, 9]] - exact).max()
        worst = max(worst, float(error / np.abs(exact).max()))
    figure("P4", f"seven-coordinate Lagrangian of paper 004: {worst:.1e} relative, 200 states")
    assert worst <= 1e-11


@pytest.mark.promise("P4")
def test_mass_matrix_of_paper_004(figure):
    model = load_model("cbk-arm")
    for name in ("arm_2", "arm_3"):
        model = model.with_joint(name, role="torque")
    q = np.array([0.3, -0.5, 0.8, 0.2])
    ours = mass_matrix(flatten(model), q)
    theirs = paper_mass_matrix(np.array([0.0, 0.0, 0.0, *q], dtype=complex)).real
    order = [2, 0, 1, 3, 4, 5, 6]  # freefloat puts the turn before the position
    worst = np.abs(ours - theirs[np.ix_(order, order)]).max()
    figure("P4", f"mass matrix of paper 004: {worst:.1e} kg m^2")
    assert worst <= 1e-12
