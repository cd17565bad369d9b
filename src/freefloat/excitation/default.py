"""A gentle motion for any model: what one flies before having designed anything better."""

from __future__ import annotations

import numpy as np

from freefloat.errors import ExcitationError, Fault
from freefloat.excitation.motions import Fourier
from freefloat.excitation.plan import Plan
from freefloat.model.loading import load_model
from freefloat.model.model import Model
from freefloat.model.parts import Joint

N_HARMONICS = 5
SHARE = 0.5  # of every limit: gentle
ROUNDING = 1e-3  # peaks may lie between the samples they are looked for at


def default_plan(model: Model | str, *, duration: float = 60.0, seed: int = 0) -> Plan:
    """Every motion-driven joint on its own smooth multisine, within half its limits, rest to rest.

    Joints without limits get 0.5 rad and 0.2 rad/s. The same seed gives the same motion.

    >>> default_plan("cepheus", duration=5.0).duration
    5.0
    """
    if isinstance(model, str):
        model = load_model(model)
    if not 0.0 < duration < np.inf:
        fault = Fault("duration", f"{duration:g}", "> 0 s", "give a duration")
        raise ExcitationError("a plan needs a duration", [fault])
    rng = np.random.default_rng(seed)
    motions = {}
    for joint in model.joints:
        driven = joint.drive.role if joint.drive else joint.role
        if joint.type == "fixed" or driven != "motion":
            continue
        name = f"{joint.name}.motor" if joint.drive else joint.name
        motions[name] = _multisine(joint, duration, rng)
    return Plan(duration, motions=motions, name=f"default for {model.name}")


def _multisine(joint: Joint, duration: float, rng: np.random.Generator) -> Fourier:
    weights = rng.normal(size=(2, N_HARMONICS)) / np.arange(1, N_HARMONICS + 1)
    raw = Fourier(duration, tuple(weights[0]), tuple(weights[1]))
    times = np.linspace(0.0, duration, 2001)
    q, dq, ddq = raw.at(times)
    limits = joint.limits
    allowed = [
        (_reach(joint), q),
        (SHARE * (limits.velocity if limits.velocity is not None else 0.4), dq),
        (SHARE * (limits.acceleration if limits.acceleration is not None else np.inf), ddq),
        (SHARE * (limits.jerk if limits.jerk is not None else np.inf), np.gradient(ddq, times)),
    ]
    scale = (1.0 - ROUNDING) * min(limit / np.max(np.abs(part)) for limit, part in allowed)
    a, b = (scale * weights).tolist()
    return Fourier(duration, tuple(a), tuple(b), joint.home, joint.home)


def _reach(joint: Joint) -> float:
    """How far from home the joint may go, at most 0.5."""
    lower, upper = joint.limits.lower, joint.limits.upper
    below = SHARE * (joint.home - lower) if lower is not None else 0.5
    above = SHARE * (upper - joint.home) if upper is not None else 0.5
    return max(0.0, min(below, above, 0.5))
