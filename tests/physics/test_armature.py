"""The rotor behind a stiff gear set beside Pinocchio's and MuJoCo's armature."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from engines import MuJoCo, Pinocchio
from systems import random_model, random_states, with_armature

from freefloat.dynamics import balance, flatten, observe
from freefloat.dynamics.equations import no_inputs
from freefloat.dynamics.joint_efforts import joint_columns, joint_efforts
from freefloat.dynamics.named_parameters import parameter_names
from freefloat.errors import ModelError
from freefloat.model.model import Model
from freefloat.model.parts import Drive

ROOTS = ("floating", "planar", "fixed")


def geared(seed: int, **kind) -> Model:
    model = random_model(seed, root=ROOTS[seed % 3], massless=False, springs=True, **kind)
    return with_armature(model, seed)


@pytest.mark.promise("P5")
@pytest.mark.parametrize("roles", [("torque", "passive"), ("torque", "motion")])
def test_accelerations_are_pinocchios(roles, figure):
    worst = 0.0
    for seed in range(12):
        model = geared(seed, roles=roles)
        system, engine = flatten(model), Pinocchio(model)
        states, rng, c = random_states(system, seed, 20), np.random.default_rng(seed), 0
        c = system.n_coordinates
        effort, ddq = rng.normal(size=(20, c)), rng.normal(size=(20, c))
        inputs, given = no_inputs(system, n_rows=20), system.tree.given
        inputs.effort[..., 0] = effort[:, None]
        table = [states[:, 13 + given], states[:, 13 + c + given], ddq[:, given]]
        inputs.given[:] = np.stack(table, axis=-1)[:, None]
        ours = observe(system, states, inputs=inputs).accelerations
        theirs = [engine.accelerations(*row) for row in zip(states, effort, ddq, strict=True)]
        worst = max(worst, np.abs(ours - theirs).max() / np.abs(theirs).max())
    figure("P5", f"armature: Pinocchio {worst:.1e} relative, 12 trees x 20 states")
    assert worst <= 1e-9  # the promise


@pytest.mark.promise("P5")
def test_accelerations_are_mujocos(figure):
    worst = 0.0
    for seed in range(12):
        model = geared(seed)
        model = replace(model, joints=tuple(replace(j, friction=0.0) for j in model.joints))
        system, engine = flatten(model), MuJoCo(model)
        states, inputs = random_states(system, seed, 20), no_inputs(system, n_rows=20)
        effort = np.random.default_rng(seed).normal(size=(20, system.n_coordinates))
        inputs.effort[..., 0] = effort[:, None]
        ours = observe(system, states, inputs=inputs).accelerations
        theirs = np.array([engine.accelerations(*row) for row in zip(states, effort, strict=True)])
        worst = max(worst, np.abs(ours - theirs).max() / np.abs(theirs).max())
    figure("P5", f"armature: MuJoCo {worst:.1e} relative, 12 trees x 20 states")
    assert worst <= 1e-9  # the promise


def test_what_the_motor_applies_is_the_effort_that_moves_the_joint():
    """Link torque and what is inside of the joint add up to what the joint was driven by."""
    for seed in range(6):
        system = flatten(geared(seed))
        states, inputs = random_states(system, seed, 10), no_inputs(system, n_rows=10)
        effort = np.random.default_rng(seed).normal(size=(10, system.n_coordinates))
        inputs.effort[..., 0] = effort[:, None]
        motion, c = observe(system, states, inputs=inputs), system.n_coordinates
        parts = (states[:, 13 : 13 + c], states[:, 13 + c :], motion.accelerations[:, 6:])
        inside = joint_efforts(system, np.stack(parts, axis=-1))
        # accelerations come from a factorised mass matrix: rounding times its condition
        np.testing.assert_allclose(motion.forces + inside, effort, atol=1e-9)


def test_kinetic_energy_has_the_rotors():
    for seed in range(6):
        model = geared(seed)
        system, engine = flatten(model), Pinocchio(model)
        states = random_states(system, seed, 10)
        theirs = []
        for x in states:
            q, v = engine.configuration(x)
            H = np.triu(pin.crba(engine.robot, engine.data, q))  # only the upper triangle is filled
            theirs.append(0.5 * v @ (H + np.triu(H, 1).T) @ v)
        np.testing.assert_allclose(balance(system, states).kinetic_energy, theirs, rtol=1e-12)


def test_columns_of_a_joint_are_differences_of_its_effort():
    model = random_model(3, springs=True, massless=False)
    joint = next(j for j in model.joints if j.type == "revolute")
    drive = Drive(0.02, 20.0, 0.2, friction=0.1, ratio=5.0, role="torque")
    model = with_armature(model.with_joint(joint.name, role="passive", drive=drive), 3)
    system, rng = flatten(model), np.random.default_rng(3)
    at = rng.normal(size=(8, system.n_coordinates, 3))
    fields = ("stiffness", "damping", "friction", "armature", "rest")
    names = [n for n in parameter_names(system) if n.endswith(fields) and "start" not in n]
    columns = joint_columns(system, names, at)
    for p, name in enumerate(names):
        owner, _, field = name.rpartition(".")
        k = [s.owner for s in model.assembly.springs].index(owner)
        column = ("stiffness", "damping", "rest", "friction", "armature").index(field)
        ends = []
        for delta in (0.5, -0.5):  # linear in each of them: any step gives the derivative
            spring = system.parameters.spring.copy()
            spring[k, column] += delta
            moved = replace(system, parameters=system.parameters._replace(spring=spring))
            ends.append(joint_efforts(moved, at))
        np.testing.assert_allclose(columns[..., p], ends[0] - ends[1], atol=1e-12)  # rounding


def test_a_drive_has_its_rotor_itself():
    model = random_model(3, n_joints=3, massless=False)
    joint = next(j for j in model.joints if j.type == "revolute")
    with pytest.raises(ModelError) as caught:
        flatten(model.with_joint(
            joint.name, role="passive", armature=0.1, drive=Drive(0.02, 20.0, role="torque")
        ))  # fmt: skip
    assert caught.value.codes == ("value.conflict",)
    assert caught.value.faults[0].place.endswith(".armature")


def test_names_are_those_of_joints_without_a_drive():
    model = geared(4)
    names = [n for n in parameter_names(flatten(model)) if n.endswith(".armature")]
    assert names == [f"{j.name}.armature" for j in model.assembly.joints if j.type != "fixed"]
