"""What every test says of a fit, in words, with what it is worth and what to do next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.special import ndtri

from freefloat.arrays import Array
from freefloat.digits import amount_text
from freefloat.identification.assessment import Cause, DoubtShare, Evidence, Grade, ScaleCarrier
from freefloat.identification.fit import Fit
from freefloat.identification.fit_text import shift_text
from freefloat.identification.trust.assumption_columns import is_common
from freefloat.identification.trust.causes import Explanation, Reported
from freefloat.identification.trust.misfit import BlockTest, band_tests, excess
from freefloat.identification.trust.trust_options import TrustOptions
from freefloat.identification.trust.white_rows import WhiteRows
from freefloat.model.mass_properties import unit_note
from freefloat.model.parameter_name import ParameterName
from freefloat.notes import split_remedy
from freefloat.text import listing

NOT_TRUSTED_CODES = ("scale.not_fixed", "seen.none")
METHODS_DISAGREE = "methods.disagree"
# what to do about fits of earlier versions, whose statuses do not all say it
LOOK_CLOSER = "look at the recording (`freefloat telemetry`) and identify again"


def grade_of_shift(shift: float, options: TrustOptions, *, best: Grade = "trusted") -> Grade:
    """What a possible shift of an estimate [total standard deviations] leaves of trust.

    >>> grade_of_shift(2.0, TrustOptions())
    'with reservations'
    """
    if shift > options.refuse:
        return "not trusted"
    return "with reservations" if shift > options.reserve else best


def status_evidence(fit: Fit) -> Iterator[Evidence]:
    """What the method itself objects to."""
    if is_refused(fit):
        text, remedy = split_remedy(fit.status)
        yield Evidence(
            fit.status_code or "status", text, "not trusted", remedy=remedy or LOOK_CLOSER
        )


def unit_evidence(fit: Fit) -> Iterator[Evidence]:
    """A model whose numbers can be in no m and kg, which no recording of angles would show."""
    note = unit_note(fit.model)
    if note is not None:
        yield Evidence(
            note.code, str(note), "with reservations",
            remedy="give lengths in m, masses in kg and inertias in kg m^2",
        )  # fmt: skip


def is_refused(fit: Fit) -> bool:
    """Whether the method itself objects to the fit, whatever an assessment made of it later."""
    code = fit.status_code
    if code.startswith("not_trusted") or code in NOT_TRUSTED_CODES:
        return True
    if fit.assessment is None:
        return not fit.is_trustworthy
    return any(e.code == (code or "status") for e in fit.assessment.evidence)


def search_evidence(found: Explanation) -> Iterator[Evidence]:
    """Whether the maximum of the likelihood was reached.

    Short of it nobody can tell what the residuals that are left would do to the estimates.
    """
    descent = found.rows.descent
    if descent.ending != "converged":
        text = (
            "the maximum of the likelihood of all channels was not reached: the search is"
            f" {descent.ending}"
        )
        yield Evidence(
            "assessment.not_converged", text,
            "with reservations" if found.is_noise else "not trusted",
            remedy="start from better values, free fewer parameters or give priors",
        )  # fmt: skip


def noise_evidence(rows: WhiteRows) -> Iterator[Evidence]:
    """Channels whose noise nobody stated."""
    unknown = [
        name
        for recording in rows.problem.recordings
        for measurement in recording.measurements
        if not measurement.is_noise_known
        for name in measurement.rows
    ]
    if unknown:
        text = (
            f"the noise of {listing(unknown, most=3)} is not stated: it was taken from the fast"
            " content of the samples"
        )
        yield Evidence(
            "noise.not_stated", text, "with reservations",
            remedy="state the noise with the recording or in the model's [[sensor]]",
        )  # fmt: skip


def misfit_evidence(found: Explanation, ratio: float, options: TrustOptions) -> Iterator[Evidence]:
    """Residuals too large or too small for noise; ratio: of statistical to total deviations."""
    tests = band_tests(found.rows, options)
    n = 2 * len(tests)
    large = [t for t in tests if t.chance * n < options.significance]
    small = [t for t in tests if t.too_small * n < options.significance]
    if large:
        worst = max(large, key=lambda t: t.ratio * np.sqrt(t.n))
        shift = excess(found.rows).shift * ratio
        names = list(dict.fromkeys(t.channel for t in large))
        text = (
            f"residuals of {listing(names, most=3)} are not noise: between {worst.low:.2g} and"
            f" {worst.high:.2g} Hz {worst.channel} has {worst.ratio:.3g} times the power of its"
            " noise"
        )
        remedy = (
            "something is missing in the model (`freefloat structure`) or wrong in the recording"
            " (`freefloat telemetry`): plot the residuals"
        )
        if found.causes:
            remedy = (
                "the causes below do not explain all of it: look for one that is not listed, such"
                " as a part that bends, sloshes or rubs (`freefloat structure`), units, axes or"
                " signs, and plot the residuals"
            )
        grade = grade_of_shift(shift, options, best="with reservations")
        yield Evidence("residuals.too_large", text, grade, worst.ratio, 1.0, shift, remedy)
    if small:
        worst = min(small, key=lambda t: t.ratio)
        names = list(dict.fromkeys(t.channel for t in small))
        text = (
            f"residuals of {listing(names, most=3)} are too small for their noise: between"
            f" {worst.low:.2g} and {worst.high:.2g} Hz {worst.channel} has {worst.ratio:.2g} times"
            " its power"
        )
        yield Evidence(
            "residuals.too_small", text, "with reservations", worst.ratio, 1.0,
            remedy="the noise is overstated, or samples are interpolated or filtered: correct it",
        )  # fmt: skip


def cause_evidence(
    found: Explanation, options: TrustOptions, *, is_adjusted: bool
) -> Iterator[Evidence]:
    """Assumptions that the data contradict, or that are strained.

    is_adjusted: whether the estimates allow for it.
    """
    freed = [cause for cause in found.causes if cause.heals] or found.causes[:1]
    for cause in freed:
        if cause.remedy:
            yield _effect_evidence(cause, max(cause.shift, found.shift), options)
            continue
        others = f" (or {listing(cause.names[1:], most=3)})" if cause.names[1:] else ""
        text = (
            f"the data contradict {cause.names[0]}{others}: off by"
            f" {amount_text(cause.amplitude, cause.unit, cause.std)}, which"
            f" {shift_text(cause.moves, cause.shift)}"
        )
        grade = grade_of_shift(cause.shift, options)
        if is_adjusted:
            text += "; the estimates allow for it"
            left = grade_of_shift(found.shift, options, best="with reservations")
            grade = "with reservations" if found.is_noise else left
        yield Evidence(
            "assumption.contradicted", text, grade, cause.chi_square, float("nan"), cause.shift,
            remedy=_remedy(cause.names[0]),
        )  # fmt: skip
    if not found.causes and found.shift > options.reserve:
        text = (
            f"what is taken as exact, adjusted to the data within its doubt, moves {found.moved} by"
            f" {found.shift:.3g} total standard deviations"
        )
        if is_adjusted:
            text += "; the estimates allow for it"
        yield Evidence(
            "assumptions.strained", text,
            "trusted" if is_adjusted else grade_of_shift(found.shift, options),
            found.shift, options.reserve, found.shift,
            remedy="state the uncertainties that apply, or free what is doubtful",
        )  # fmt: skip


def _remedy(name: str) -> str:
    """What to do about an assumption that the data contradict."""
    if is_common(name):
        return f"correct {name}, or state in [uncertainty] how far it may be off"
    return f"free {name}, or correct it"


def _effect_evidence(cause: Cause, shift: float, options: TrustOptions) -> Evidence:
    """Something that the model lacks and the data show."""
    when = f" from {cause.time:.4g} s on" if np.isfinite(cause.time) else ""
    text = (
        f"the data show {cause.names[0]}{when}, which the model does not have:"
        f" {amount_text(cause.amplitude, cause.unit, cause.std)}; it"
        f" {shift_text(cause.moves, cause.shift)}"
    )
    return Evidence(
        "effect.missing", text, grade_of_shift(shift, options, best="with reservations"),
        cause.chi_square, float("nan"), shift, remedy=cause.remedy,
    )  # fmt: skip


def scale_evidence(carriers: Sequence[ScaleCarrier]) -> Iterator[Evidence]:
    """What newtons or kilograms rest on, where nobody vouches for it and no datum checks it."""
    bold = [c for c in carriers if not (c.is_stated or c.is_checked)]
    if bold:
        rests = [
            f"{listing(c.names, most=len(c.names))} (known to {amount_text(c.deviation, '1')})"
            for c in bold
        ]
        text = (
            f"masses and inertias rest on {listing(rests, most=len(rests))}: that is assumed,"
            " nobody stated it, and nothing in the flight would contradict it"
        )
        share = max(abs(c.share) for c in bold)
        are_sensors = all(ParameterName.parse(name).is_of_sensor for c in bold for name in c.names)
        parts = "" if are_sensors else "`uncertainty` of a body, wheel or thruster, "
        yield Evidence(
            "scale.assumed", text, "with reservations", share, float("nan"),
            remedy=f"state in the model file how well they are known: {parts}`gain_uncertainty` of"
            " a sensor, or by name in [uncertainty]",
        )  # fmt: skip


def total_evidence(
    reported: Reported, total: Array, doubts: Sequence[DoubtShare]
) -> Iterator[Evidence]:
    """Estimates that doubts of what is taken as exact leave unknown, whatever noise does.

    No reason to distrust the others: its interval and its status say so of the estimate itself.
    """
    grade: Grade = "with reservations" if np.all(total > reported.sizes) else "trusted"
    relative = total / reported.sizes
    bad = [int(k) for k in np.argsort(-relative) if relative[k] > 1.0]
    if bad:
        names = [reported.names[k] for k in bad]
        carriers = [doubt for doubt in doubts if doubt.moves in names] or doubts[:1]
        by = listing([f"{d.name} (± {amount_text(d.deviation, d.unit)})" for d in carriers], most=3)
        text = (
            f"{listing(names, most=3)} {'is' if len(bad) == 1 else 'are'} not known: by the doubt"
            f" of {by or 'what is taken as exact'} the total standard deviation of {names[0]} is"
            f" {relative[bad[0]]:.3g} times its natural size"
        )
        yield Evidence(
            "total.too_large", text, grade, float(relative[bad[0]]), 1.0,
            remedy="state how well that is known, free it, or fly a motion that shows it",
        )  # fmt: skip


def block_evidence(
    tests: Sequence[BlockTest], labels: Sequence[str], std: Array, total: Array,
    options: TrustOptions,
) -> Iterator[Evidence]:  # fmt: skip
    """Stretches of the flight that do not agree."""
    bad = [
        (np.sqrt(test.inflation) * std[i] / total[i], i, test)
        for i, test in enumerate(tests)
        if np.isfinite(std[i]) and test.chance * len(tests) < options.significance
    ]
    if bad:
        shift, i, test = max(bad, key=lambda entry: entry[0])
        text = (
            f"stretches of the flight disagree about {labels[i]}: they scatter"
            f" {np.sqrt(test.inflation):.3g} times as much as noise explains; total deviations"
            " are as wide as that"
        )
        yield Evidence(
            "stretches.disagree", text, grade_of_shift(shift, options, best="with reservations"),
            test.inflation, 1.0, float(shift),
            remedy="something changes along the flight: identify from parts of it and compare",
        )  # fmt: skip


def method_evidence(
    fit: Fit, rows: WhiteRows, places: Sequence[int], labels: Sequence[str], total: Array,
    options: TrustOptions, *, is_settled: bool,
) -> Iterator[Evidence]:  # fmt: skip
    """The method's estimate against the maximum of the likelihood of all channels.

    is_settled: the latter is reported, and nothing but noise is left by it.
    """
    spread = dict(zip(labels, total, strict=True))
    found = [
        (moved / spread[name], name, z)
        for name, moved, z in method_differences(fit, rows, places, labels, options)
        if spread[name] > 0.0
    ]
    if found:
        shift, name, z = max(found)
        text = (
            f"{fit.method} and the maximum of the likelihood of all channels differ in {name} by"
            f" {z:.3g} standard deviations of their difference"
        )
        yield Evidence(
            METHODS_DISAGREE, text,
            "trusted" if is_settled else grade_of_shift(shift, options), z, float("nan"),
            float(shift),
            remedy="a channel or an effect that the method leaves out matters; use auto or"
            " output_error",
        )  # fmt: skip


def method_differences(
    fit: Fit, rows: WhiteRows, places: Sequence[int], labels: Sequence[str], options: TrustOptions
) -> Iterator[tuple[str, float, float]]:
    """Estimates that differ significantly: name, difference, and the same in its deviations.

    theory: of an efficient estimate and another one the difference has the difference of their
    covariances (Hausman, Econometrica 46, 1978).
    """
    sizes = rows.problem.unknowns.sizes
    covariance = np.linalg.pinv(rows.jacobian.T @ rows.jacobian, rcond=1e-14, hermitian=True)
    best = np.sqrt(np.maximum(np.diag(covariance), 0.0)) * sizes
    limit = float(-ndtri(0.5 * options.significance / max(len(places), 1)))
    known = {e.name: e for e in fit.estimates if np.isfinite(e.std) and e.std > 0.0}
    for label, k in zip(labels, places, strict=True):
        if label not in known:
            continue
        moved = abs(float(rows.descent.at.theta[k]) - known[label].value)
        # both rest on finite samples, so their difference is not known to better than this
        room = np.sqrt(max(known[label].std ** 2 - best[k] ** 2, 0.0) + (best[k] / limit) ** 2)
        if moved > limit * room:
            yield label, moved, float(moved / room)
