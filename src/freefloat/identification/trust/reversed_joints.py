"""Joints that turn the other way than the model's axis: tried one by one, as no slope shows a sign.

Angle, rate and torque of such a joint agree with each other; only the base contradicts them. Where
a fit leaves far more than noise, the channels of every joint are negated in turn and the model
simulated once; with the joint that leaves least, the unknowns are found anew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from freefloat.arrays import Array
from freefloat.errors import FreefloatError
from freefloat.identification.assessment import Evidence, worst_grade
from freefloat.identification.fit import Fit
from freefloat.identification.output_error.cost import OutputErrorProblem
from freefloat.identification.output_error.levenberg import descend
from freefloat.identification.trust.white_rows import WhiteRows
from freefloat.telemetry.telemetry import Telemetry

Problem = tuple[OutputErrorProblem, Array]

CODE = "joint.reversed"
SIGNED = ("position", "velocity", "torque", "motor_position", "motor_velocity", "motor_torque")
EVALUATIONS = 12  # theory: nearly linear once the sign is right; a wrong one needs no more to lose
# theory: of the excess; a sign explains nearly all of it or hardly anything, so that any share in
# between would do: a convention
MOST_LEFT = 0.5


def with_reversed_joint(
    graded: Fit,
    rows: WhiteRows,
    recorded: Sequence[Telemetry],
    problem_of: Callable[[Sequence[Telemetry]], Problem],
) -> Fit:
    """The graded fit, with a joint whose reversal explains most of its misfit as first reason.

    rows: what the fit leaves. problem_of: recordings as a problem, begun at the model before the
    fit. Fits that are not refused, or leave little more than noise, cost nothing.
    """
    noisy = rows.problem.options.trust.noisy
    if graded.assessment is None or graded.grade != "not trusted":
        return graded
    if float(rows.residual @ rows.residual) < noisy * len(rows.residual):
        return graded
    found = _reversed_joint(graded, recorded, problem_of)
    if found is None:
        return graded
    joint, before, after = found
    text = (
        f"{joint} turns the other way than its axis in the model: with angle, rate and torque"
        f" negated, the mean square of the residuals over that of their noise is {after:.3g}"
        f" instead of {before:.3g}"
    )
    remedy = f"reverse the axis of {joint} in the model, or the signs of its channels"
    first = Evidence(CODE, text, "not trusted", after, before, remedy=remedy)
    evidence = (first, *graded.assessment.evidence)
    assessment = replace(graded.assessment, grade=worst_grade(evidence), evidence=evidence)
    return replace(graded, assessment=assessment, is_trustworthy=False)


def _reversed_joint(
    fit: Fit, recorded: Sequence[Telemetry], problem_of: Callable[[Sequence[Telemetry]], Problem]
) -> tuple[str, float, float] | None:
    """The joint, and what is left as the model is and with it reversed [of the noise]."""
    joints = [
        joint.name
        for joint in fit.model.joints
        if joint.role != "locked" and all(f"{joint.name}.position" in one for one in recorded)
    ]
    costs = {joint: _first_cost(_negate(recorded, joint), problem_of) for joint in joints}
    if not costs:
        return None
    best = min(costs, key=lambda joint: costs[joint])
    before = _least(recorded, problem_of)
    after = _least(_negate(recorded, best), problem_of)
    is_clear = after - 1.0 < MOST_LEFT * (before - 1.0)
    return (best, before, after) if is_clear else None


def _negate(recorded: Sequence[Telemetry], joint: str) -> list[Telemetry]:
    names = [f"{joint}.{quantity}" for quantity in SIGNED]
    return [
        one.with_channels(*(replace(one[n], values=-one[n].values) for n in names if n in one))
        for one in recorded
    ]


def _first_cost(
    recorded: Sequence[Telemetry], problem_of: Callable[[Sequence[Telemetry]], Problem]
) -> float:
    """The cost at the values before the fit; infinite where they cannot be simulated."""
    try:
        problem, theta = problem_of(recorded)
    except FreefloatError:
        return float("inf")
    found = problem.evaluate_errors(theta)
    return float("inf") if found is None else found[0]


def _least(
    recorded: Sequence[Telemetry], problem_of: Callable[[Sequence[Telemetry]], Problem]
) -> float:
    """The mean square that is left, over that of the noise, once the unknowns are found."""
    try:
        problem, theta = problem_of(recorded)
        at = descend(problem, theta, most=EVALUATIONS).at
    except FreefloatError:
        return float("inf")
    return 2.0 * at.cost / at.n_rows
