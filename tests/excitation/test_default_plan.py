"""The default plan is gentle: within half of every limit, rest to rest, the same for a seed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from fault_codes import refused

from freefloat.errors import ExcitationError
from freefloat.excitation import default_plan
from freefloat.model import JointLimits, builtin_models, load_model

NAMES = [model.name for model in builtin_models()]


def moved(model):
    """Every coordinate the default plan moves, with the joint whose limits count."""
    for joint in model.joints:
        if (joint.drive.role if joint.drive else joint.role) == "motion":
            yield (f"{joint.name}.motor" if joint.drive else joint.name), joint


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("duration", [5.0, 60.0])
def test_stays_within_half_of_every_limit(name, duration):
    model = load_model(name)
    plan = default_plan(model, duration=duration, seed=3)
    assert set(plan.motions) == {name for name, _ in moved(model)}
    plan.check(model)
    t = np.linspace(0.0, duration, 50_001)
    for coordinate, joint in moved(model):
        q, dq, ddq = plan.motions[coordinate].at(t)
        limits, home = joint.limits, joint.home
        assert limits.lower is not None and limits.upper is not None
        assert q.min() >= home - 0.5 * (home - limits.lower)
        assert q.max() <= home + 0.5 * (limits.upper - home)
        pairs = [(dq, limits.velocity), (ddq, limits.acceleration)]
        pairs += [(np.gradient(ddq, t), limits.jerk)]
        for part, limit in pairs:
            assert limit is None or np.abs(part).max() <= 0.5 * limit
        assert np.ptp(q) > 0.01  # yet it does move
        ends = np.array([[q[0], q[-1]], [dq[0], dq[-1]], [ddq[0], ddq[-1]]])
        np.testing.assert_allclose(ends, [[home] * 2, [0, 0], [0, 0]], atol=1e-12)


def test_the_seed_decides():
    assert default_plan("servicer", seed=5) == default_plan("servicer", seed=5)
    assert default_plan("servicer", seed=5) != default_plan("servicer", seed=6)


def test_joints_without_limits_move_a_little():
    model = load_model("cepheus")
    model = replace(model, joints=tuple(replace(j, limits=JointLimits()) for j in model.joints))
    for motion in default_plan(model).motions.values():
        q, dq, _ = motion.at(np.linspace(0.0, 60.0, 9999))
        assert np.abs(q).max() <= 0.5 and np.abs(dq).max() <= 0.2


def test_a_joint_at_its_limit_stays():
    model = load_model("cepheus").with_joint("arm_1", limits=JointLimits(lower=0.0, upper=1.0))
    assert np.ptp(default_plan(model).motions["arm_1"].at(np.linspace(0.0, 60.0, 99))[0]) == 0.0


@pytest.mark.parametrize("duration", [0.0, -5.0, float("nan"), float("inf")])
def test_a_duration_is_needed(duration):
    with refused(ExcitationError, "value.range", naming="duration"):
        default_plan("cepheus", duration=duration)
