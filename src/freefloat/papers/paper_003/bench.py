"""Cepheus on its granite table: the paper's eight parameters, its motion, and least squares."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.tree import System, flatten
from freefloat.excitation.motions import Fourier
from freefloat.identification.linear.angular import AngularForm
from freefloat.identification.linear.body_pairs import angular_rows, pair_form
from freefloat.identification.linear.samples import Samples
from freefloat.model import load_model
from freefloat.model.model import Model
from freefloat.papers.paper_003.published import PUBLISHED

JOINTS = ("arm_1", "arm_2")
WHEEL = "rw_z"


@dataclass(frozen=True)
class Bench:
    """The emulator with its parameters in the paper's order.

    form: the pair form reduced to eight columns in the order pi1 ... pi8; signs turns its
    parameters into the paper's, which counts pi3 and pi4 the other way.
    """

    model: Model
    system: System
    form: AngularForm
    signs: Array

    @classmethod
    def of(cls, model: Model | None = None) -> Bench:
        """The bench of a model with two joints and a wheel; the built-in one unless said."""
        model = load_model("cepheus") if model is None else model
        system = flatten(model)
        form = AngularForm.of(system)
        kept = [pair_form(system).names[k] for k in form.minimal.kept]
        places = [kept.index(name) for name in _order(system)]
        minimal = replace(
            form.minimal, kept=form.minimal.kept[places], regroup=form.minimal.regroup[places]
        )
        signs = np.array([1.0, 1.0, -1.0, -1.0, 1.0, 1.0, 1.0, 1.0])
        return cls(model, system, replace(form, minimal=minimal), signs)

    @property
    def pi(self) -> Array:
        """The true pi1 ... pi8 [kg m^2]."""
        return self.signs * self.form.parameters(self.system)

    @property
    def wheel_inertia(self) -> float:
        """Spin inertia of the wheel [kg m^2]."""
        return next(wheel.inertia for wheel in self.model.wheels if wheel.name == WHEEL)

    @property
    def wheel_speed(self) -> float:
        """The speed [rad/s] that leaves the paper's momentum to the rest, starting from rest."""
        return -PUBLISHED["momentum"] / self.wheel_inertia

    def rows(self, rate: Array, q: Array, dq: Array) -> Array:
        """Y (N, 8) of base rates (N,), joint angles (N, 2) and joint rates (N, 2)."""
        zero = np.zeros((len(rate), 1))
        still = np.zeros((len(rate), 6))
        rest = np.tile([1.0, 0.0, 0.0, 0.0, 0.0, 0.0], (len(rate), 1))
        x = np.hstack([still, rest, rate[:, None], q, zero, dq, zero])
        Y = angular_rows(self.system, x)[:, 2]
        return Y[:, self.form.minimal.kept] * self.signs

    def base_rate(self, q: Array, dq: Array, momentum: Array | float) -> Array:
        """The base rate (N,) [rad/s] at which links of the true pi have the momentum [N m s]."""
        return predicted_rate(self, self.pi, q, dq, momentum)

    def samples(self, time: Array, wheel_speed: Array | float) -> Samples:
        """Exact measurements of Table 2's motion, all at rest before the wheel was spun up."""
        q, dq = table_2(time)
        speed = np.broadcast_to(wheel_speed, time.shape)
        rate = self.base_rate(q, dq, -self.wheel_inertia * speed)
        zero = np.zeros_like(rate)
        return Samples(
            time, np.tile([0.0, 0.0, 0.0, 1.0], (len(time), 1)),
            np.column_stack([zero, zero, rate]), None, np.column_stack([q, zero]),
            np.column_stack([dq, speed]), None, np.zeros((len(time), 6)),
            np.zeros((len(time), len(self.model.thrusters))),
        )  # fmt: skip

    def solve(self, samples: Samples, *, momentum: float = 0.0, drag: bool = False) -> Array:
        """Least squares (eq. 11): pi1 ... pi8, and the drag [N m s/rad] where asked for.

        momentum: that of the whole robot, wheel included [N m s]; zero after a start from rest.
        """
        form = replace(self.form, momentum=(0.0, 0.0, momentum), has_drag=drag)
        equations = form.equations(self.system, samples, {}, noise=False)
        Y, y = equations.Y[:, 0], equations.y[:, 0]
        found = np.linalg.lstsq(Y, y, rcond=None)[0]
        return np.concatenate([self.signs * found[:8], found[8:]])

    def errors(self, found: Array) -> Array:
        """Relative errors [%] of pi1 ... pi8."""
        return 100.0 * (found[..., :8] / self.pi - 1.0)

    def worst(self, found: Array) -> float:
        """The largest of the eight relative errors [%]."""
        return float(np.max(np.abs(self.errors(found))))


def predicted_rate(bench: Bench, pi: Array, q: Array, dq: Array, momentum: Array | float) -> Array:
    """The base rate (N,) [rad/s] that parameters pi predict: the momentum is linear in it."""
    zero = np.zeros(len(q))
    locked = bench.rows(zero + 1.0, q, np.zeros_like(dq)) @ pi
    return (momentum - bench.rows(zero, q, dq) @ pi) / locked


def with_r_0(model: Model, r_0: tuple[float, float]) -> Model:
    """The model with joint 1 at r_0 [m] on the base."""
    place = replace(model.joint(JOINTS[0]).placement, xyz=(*r_0, 0.0))
    return model.with_joint(JOINTS[0], placement=place)


def instants() -> Array:
    """The paper's 35 sample times [s], both ends included."""
    return np.linspace(0.0, PUBLISHED["duration"], PUBLISHED["n_samples"])


def motions() -> dict[str, Fourier]:
    """Table 2's motion of each joint."""
    return {
        name: Fourier(PUBLISHED["duration"], a, b)
        for name, a, b in zip(JOINTS, PUBLISHED["a"], PUBLISHED["b"], strict=True)
    }


def table_2(time: Array) -> tuple[Array, Array]:
    """Angles and rates (N, 2) of Table 2's motion."""
    parts = [motion.at(time) for motion in motions().values()]
    return np.column_stack([p[0] for p in parts]), np.column_stack([p[1] for p in parts])


def _order(system: System) -> list[str]:
    """The pair form's columns behind pi1 ... pi8; straight links make a ninth zero."""
    base, one, two = pair_form(system).links
    return [
        f"B[{base},{one}].xx", f"B[{base},{two}].xx", f"B[{base},{one}].xy", f"B[{base},{two}].xy",
        f"J[{base}].zz", f"B[{one},{two}].xx", f"J[{one}].zz", f"J[{two}].zz",
    ]  # fmt: skip
