"""A gentle motion for any model: what one flies before having designed anything better."""

from __future__ import annotations

import numpy as np

from freefloat.errors import ExcitationError, require_type
from freefloat.excitation.motions import Duration, Fourier
from freefloat.excitation.plan import Plan
from freefloat.model.loading import load_model
from freefloat.model.model import Model
from freefloat.model.parts import Joint
from freefloat.records.option_record import require_value

# theory: 400 samples a period of the fifth harmonic miss its peak by (pi / 400)^2 / 2 = 3e-5 of it
N_SAMPLES = 2001
ROUNDING = 1e-3  # theory: what is left of a limit, well above what the samples can miss


def default_plan(
    model: Model | str,
    *,
    duration: float = 60.0,
    seed: int = 0,
    n_harmonics: int = 5,
    share: float = 0.5,
    reach: float = 0.5,
    speed: float = 0.2,
) -> Plan:
    """Every motion-driven joint on its own smooth multisine, rest to rest, within its limits.

    Args:
        model: a model, or the name of a built-in one.
        duration: length of the plan [s].
        seed: of the random Fourier coefficients; the same seed gives the same motion.
        n_harmonics: how many multiples of 1 / duration each joint moves with.
        share: of every limit of a joint that is used; 0.5 is gentle.
        reach: how far a joint goes from home at most [rad or m].
        speed: of a joint that has no velocity limit [rad/s or m/s].

    Returns:
        A plan that starts and ends at home and at rest. Joints that are not driven by a motion, and
        wheels, are left as they are.

    Raises:
        ExcitationError: the duration is no length of time that can be flown.

    >>> default_plan("cepheus", duration=5.0).duration
    5.0
    """
    if isinstance(model, str):
        model = load_model(model)
    require_type(model, Model, "model", error=ExcitationError)
    require_type(seed, (int, np.integer), "seed", error=ExcitationError)
    duration = require_value(duration, Duration, "duration", ExcitationError)
    rng = np.random.default_rng(seed)
    motions = {}
    for joint in model.joints:
        role = joint.drive.role if joint.drive else joint.role
        if joint.type == "fixed" or role != "motion":
            continue
        name = f"{joint.name}.motor" if joint.drive else joint.name
        weights = rng.normal(size=(2, n_harmonics)) / np.arange(1, n_harmonics + 1)
        raw = Fourier(duration, tuple(weights[0]), tuple(weights[1]))
        scale = _largest_scale(joint, raw, share, reach, speed)
        a, b = (scale * weights).tolist()
        motions[name] = Fourier(duration, tuple(a), tuple(b), joint.home, joint.home)
    return Plan(duration, motions=motions, name=f"default for {model.name}")


def _largest_scale(joint: Joint, raw: Fourier, share: float, reach: float, speed: float) -> float:
    """The factor that takes a motion to the first of a joint's limits it meets."""
    times = np.linspace(0.0, raw.duration, N_SAMPLES)
    q, dq, ddq = raw.at(times)
    limits = joint.limits
    allowed = [
        (_room(joint, share, reach), q),
        (speed if limits.velocity is None else share * limits.velocity, dq),
        (np.inf if limits.acceleration is None else share * limits.acceleration, ddq),
        (np.inf if limits.jerk is None else share * limits.jerk, np.gradient(ddq, times)),
    ]
    return (1.0 - ROUNDING) * min(limit / np.max(np.abs(part)) for limit, part in allowed)


def _room(joint: Joint, share: float, reach: float) -> float:
    """How far from home the joint may go [rad or m], at most `reach`."""
    lower, upper = joint.limits.lower, joint.limits.upper
    below = reach if lower is None else share * (joint.home - lower)
    above = reach if upper is None else share * (upper - joint.home)
    return max(0.0, min(below, above, reach))
