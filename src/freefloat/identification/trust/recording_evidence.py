"""Streams of a recording that contradict each other, as evidence that comes before all other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from freefloat.identification.assessment import Evidence, worst_grade
from freefloat.identification.fit import Fit
from freefloat.telemetry.diagnosis import Finding


def with_contradictions(fit: Fit, findings: Sequence[Finding]) -> Fit:
    """The graded fit, not trusted where axes, frames or quaternions are not what names say.

    Whatever else is found wrong with such a fit follows from it, so it is the first reason.
    """
    if fit.assessment is None or not findings:
        return fit
    own = [
        Evidence(
            f.code, f"{f.place}: {f.text}", "not trusted", f.chance, remedy=f.advice
        )
        for f in dict.fromkeys(findings)
    ]  # fmt: skip
    evidence = (*own, *fit.assessment.evidence)
    graded = replace(fit.assessment, grade=worst_grade(evidence), evidence=evidence)
    return replace(fit, assessment=graded, is_trustworthy=False)
