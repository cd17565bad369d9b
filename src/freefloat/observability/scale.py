"""Are masses and forces observable, or only their ratios?

Motion is unchanged when every mass, inertia, stiffness, damping, friction and spin inertia grows by
the same factor together with every force (the equations of motion are homogeneous in them). So a
flight fixes the scale only through something with known newtons or kilograms: a thrust, a measured
torque, a wheel or a body that is known. With c the change of the readings per unit growth of such a
source,

    J theta_free + sum of c over the sources = 0

holds exactly (Euler's theorem), and says how much of the answer comes from which source.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from freefloat.arrays import Array
from freefloat.model.model import Model
from freefloat.model.parameter_name import ParameterName

# theory: sensitivities are integrated to about 1e-12; their sum over a hundred parameters to 1e-10
HOMOGENEOUS = 1e-8  # of the sum of its parts: a smaller J theta means that nothing fixes the scale
WORTH_NAMING = 0.1  # format: a source with a smaller share of the answer is not named
# format: what would fix the scale, and the word by which a source is known to be such a thing
REMEDIES = {
    "thrust": "thrust", "a wheel of known inertia": "wheel", "measured joint torques": "measured",
}  # fmt: skip
GROUND_REMEDIES = {
    "measured joint torques": "measured", "a body or spring that is known": "what is known",
}  # fmt: skip
STRONGER = "faster motion, so that what there is shows above the errors"
NOT_SCALED = ("rest", "length")


@dataclass(frozen=True)
class Scale:
    """Whether the scale is fixed, its relative standard deviation (NaN if not), and in words.

    sources: what fixes it, the largest share first; empty if nothing does. weak: what could fix it
    and is there, if it says too little.
    """

    is_fixed: bool
    std: float
    words: str
    sources: tuple[str, ...] = ()
    weak: tuple[str, ...] = ()


def is_scaled(name: str) -> bool:
    """Whether a parameter grows with the scale.

    >>> is_scaled("bus.mass"), is_scaled("hinge.rest"), is_scaled("start.rate.x")
    (True, False, False)
    """
    parsed = ParameterName.parse(name)
    if parsed.kind in ("start", "bias") or parsed.owner == "momentum0":
        return False
    return (parsed.field or parsed.owner.rpartition(".")[2]) not in NOT_SCALED


def scale_of(
    A: Array, theta: Array, sources: Mapping[str, Array], *, least_seen: float = 0.05,
    remedy: str | None = None,
) -> Scale | None:  # fmt: skip
    """Whether the scale is observable, from scaled columns A (rows, unknowns) without nuisance.

    Args:
        A: derivatives of the readings in units of their noise, by unknowns in natural sizes.
        theta: values over natural sizes, zero for what does not grow with the scale.
        sources: for each thing with known newtons or kilograms the change of the rows per unit
            growth.
        least_seen: share of |theta|^2 that must lie in observable directions; with less, the
            observable part says nothing of the whole.
        remedy: what would fix it, if nothing does.

    Returns:
        the scale, or None where no unknown grows with it.
    """
    if not np.any(theta != 0.0):
        return None
    remedy = scale_remedy(None, sources) if remedy is None else remedy
    parts = np.linalg.norm(A * theta, axis=0).sum()
    whole = float(np.linalg.norm(A @ theta))
    if parts == 0.0:
        return not_fixed("no free parameter moves the readings", remedy)
    if whole <= HOMOGENEOUS * parts:
        return not_fixed("", remedy)
    weight, std = _estimator(A, theta, least_seen)
    if weight is None or not std < 1.0:
        names = ", ".join(sources)
        return not_fixed(f"{names}: below the noise" if names else "", remedy, [*sources])
    shares = {name: float(-weight @ rows) for name, rows in sources.items()}
    named = sorted((n for n in shares if shares[n] > WORTH_NAMING), key=lambda n: -shares[n])
    named = named or ["what is held fixed"]
    words = f"fixed by {' and '.join(named)}, to about {100.0 * std:.2g} %"
    return Scale(True, std, words, tuple(named))


def _estimator(A: Array, theta: Array, least_seen: float) -> tuple[Array | None, float]:
    """Weights w on the rows that give the growth along theta, w.(A theta) = 1, and its deviation.

    All directions are free. Each counts by f = s^2 / (1 + s^2), how far it is known compared with
    its natural size: what nobody sees, such as masses that merge, must not blur the rest.
    """
    Q, triangle = np.linalg.qr(A)
    U, s, Vt = np.linalg.svd(triangle)
    kept = s > 1e-9 * s[0]
    s, along = s[kept], Vt[: len(s)][kept] @ theta
    f = s**2 / (1.0 + s**2)
    size = float(along**2 @ f)
    if size < least_seen * float(theta @ theta):
        return None, np.inf
    weight = Q @ (U[:, : len(kept)][:, kept] @ (along * f / s)) / size
    return weight, float(np.linalg.norm(weight))


def scale_remedy(model: Model | None, present: Iterable[str] = ()) -> str:
    """What would fix the scale of a model: a root on the ground has neither thrust nor wheels.

    present: what could fix it and is there; of that, only more would.
    """
    on_ground = model is not None and model.root.type == "fixed"
    words, present = GROUND_REMEDIES if on_ground else REMEDIES, tuple(present)
    wanted = [name for name, word in words.items() if not any(word in one for one in present)]
    wanted += [STRONGER] * (len(wanted) < len(words))
    return f"what would fix it: {', '.join(wanted)}"


def not_fixed(why: str, remedy: str, weak: Sequence[str] = ()) -> Scale:
    """The scale where nothing fixes it."""
    reason = f" ({why})" if why else ""
    words = f"not fixed: only ratios{reason}; {remedy}"
    return Scale(False, float("nan"), words, weak=tuple(weak))
