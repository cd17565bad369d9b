"""Accelerations set beside Pinocchio's and MuJoCo's, on trees the code was not written for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from engines import MuJoCo, Pinocchio
from systems import has_massless_link, random_model, random_states

from freefloat.dynamics import System, flatten, observe
from freefloat.dynamics.equations import no_inputs
from freefloat.model.model import Model
from freefloat.model.parts import Drive, Wheel

N_TREES, N_STATES = 50, 200  # 10 000 states
ROOTS = ("floating",) * 8 + ("planar", "fixed")
ROLES = (("torque",), ("torque", "passive"), ("torque", "passive", "motion"), ("motion", "torque"))


def tree(seed: int) -> Model:
    """Tree number `seed`: roots, roles, massless links and springs in every combination."""
    root = ROOTS[seed % len(ROOTS)]
    roles = ROLES[seed % len(ROLES)]
    return random_model(seed, root=root, roles=roles, springs=seed % 2 == 1)


def moved_anyhow(system: System, seed: int, n: int):
    """Random states, efforts and prescribed accelerations, and the inputs that say so."""
    rng = np.random.default_rng([seed, 7])
    states, c = random_states(system, seed, n), system.n_coordinates
    effort, ddq = rng.normal(size=(n, c)) * 3.0, rng.normal(size=(n, c)) * 2.0
    given = system.tree.given
    inputs = no_inputs(system, n_rows=n)
    inputs.effort[..., 0] = effort[:, None]
    table = [states[:, 13 + given], states[:, 13 + c + given], ddq[:, given]]
    inputs.given[:] = np.stack(table, axis=-1)[:, None]
    return states, effort, ddq, inputs


def relative(ours: np.ndarray, theirs: np.ndarray) -> float:
    """The largest error of a state's root angular, root linear and joint block.

    Each relative to the largest acceleration in its own block; nothing is averaged.
    """
    worst = 0.0
    for block in (slice(0, 3), slice(3, 6), slice(6, None)):
        size = np.abs(theirs[:, block]).max(axis=1)
        error = np.abs(ours[:, block] - theirs[:, block]).max(axis=1)
        worst = max(worst, float((error / np.maximum(size, 1e-3)).max()))
    return worst


@pytest.mark.promise("P5")
def test_accelerations_are_pinocchios(figure):
    worst, n_massless = 0.0, 0
    for seed in range(N_TREES):
        model = tree(seed)
        system, engine = flatten(model), Pinocchio(model)
        states, effort, ddq, inputs = moved_anyhow(system, seed, N_STATES)
        theirs = np.array(
            [engine.accelerations(*row) for row in zip(states, effort, ddq, strict=True)]
        )
        worst = max(worst, relative(observe(system, states, inputs=inputs).accelerations, theirs))
        n_massless += has_massless_link(model)
    assert n_massless >= 10
    figure("P5", f"Pinocchio {worst:.1e} relative, {N_TREES} trees x {N_STATES} states")
    assert worst <= 1e-9


@pytest.mark.promise("P5")
def test_accelerations_are_mujocos(figure):
    worst, n = 0.0, 40
    for seed in range(N_TREES):
        root = ROOTS[seed % len(ROOTS)]
        # zero inertia is refused, tanh friction and prescribed motion are unknown to MuJoCo
        model = random_model(seed, root=root, massless=False, springs=seed % 2 == 1)
        model = replace(model, joints=tuple(replace(j, friction=0.0) for j in model.joints))
        system, engine = flatten(model), MuJoCo(model)
        states, effort, _, inputs = moved_anyhow(system, seed, n)
        theirs = np.array([engine.accelerations(*row) for row in zip(states, effort, strict=True)])
        worst = max(worst, relative(observe(system, states, inputs=inputs).accelerations, theirs))
    figure("P5", f"MuJoCo {worst:.1e} relative, {N_TREES} trees x {n} states")
    assert worst <= 1e-9


def with_rotors(seed: int) -> Model:
    """A random tree with wheels on its bus and on a link, and a drive of either form."""
    model = random_model(
        seed, roles=("torque", "motion"), massless=False, root=("floating", "fixed")[seed % 2]
    )
    wheels = (
        Wheel("rw_bus", "bus", (0.0, 0.6, 0.8), 0.2, role="torque"),
        Wheel("rw_link", "link_1", (1.0, 0.0, 0.0), 0.03, role="motion"),
    )
    form = ("geared", "disc")[seed // 2 % 2]
    drive = Drive(0.02, 20.0, 0.1, friction=0.1, ratio=7.0, form=form, role="torque")
    model = replace(model, wheels=wheels)
    joint = next(j for j in model.joints if j.type == "revolute")
    return model.with_joint(joint.name, role="passive", friction_speed=0.2, drive=drive)


@pytest.mark.promise("P5")
def test_accelerations_with_wheels_and_drives_are_pinocchios(figure):
    worst = 0.0
    for seed in range(20):
        model = with_rotors(seed)
        system, engine = flatten(model), Pinocchio(model)
        states, effort, ddq, inputs = moved_anyhow(system, seed, 50)
        theirs = np.array(
            [engine.accelerations(*row) for row in zip(states, effort, ddq, strict=True)]
        )
        worst = max(worst, relative(observe(system, states, inputs=inputs).accelerations, theirs))
    figure("P5", f"wheels, geared and disc drives: {worst:.1e} relative, 20 trees x 50 states")
    assert worst <= 1e-9


@pytest.mark.promise("P5")
def test_uniform_gravity_is_pinocchios(figure):
    worst, gravity = 0.0, (0.4, -0.9, 1.3)
    for seed in range(5):
        model = replace(random_model(seed), gravity=gravity)
        system, engine = flatten(model), Pinocchio(model, gravity=gravity)
        states, effort, ddq, inputs = moved_anyhow(system, seed, 50)
        theirs = np.array(
            [engine.accelerations(*row) for row in zip(states, effort, ddq, strict=True)]
        )
        worst = max(worst, relative(observe(system, states, inputs=inputs).accelerations, theirs))
    figure("P5", f"uniform gravity: {worst:.1e} relative, 5 trees x 50 states")
    assert worst <= 1e-9
