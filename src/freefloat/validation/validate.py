"""`validate`: from a fit and a flight it has not seen to a Verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from freefloat.errors import FreefloatError, IdentificationError, TelemetryError
from freefloat.identification.fit import Fit
from freefloat.identification.identify import digest
from freefloat.model.model import Model
from freefloat.provenance import provenance
from freefloat.telemetry import quality
from freefloat.telemetry.telemetry import Telemetry
from freefloat.validation import acceptance
from freefloat.validation.acceptance import AcceptanceCriterion, AcceptanceLimits
from freefloat.validation.balance import balances
from freefloat.validation.comparison import left_behind, scores_of, traces_of
from freefloat.validation.end_effectors import end_effectors
from freefloat.validation.expected import expected_errors
from freefloat.validation.prediction import Predicted, predict_flight
from freefloat.validation.verdict import Verdict


def validate(
    fit: Fit | Model,
    flight: Telemetry,
    *,
    limits: AcceptanceLimits = AcceptanceLimits(),  # noqa: B008
    deflections: bool = False,
    progress: Callable[[float], None] | None = None,
) -> Verdict:
    """Whether a fitted model (or any model) predicts a flight it was not made from, and why.

    The joints follow the recording; the start of the base is fitted to it, and with `deflections`
    that of wings and fuel, which otherwise start at rest. Everything else is prediction, compared
    with every sensor. Raises FreefloatError where the recording lacks what a prediction needs.
    progress is told the fraction done.

    >>> import freefloat as ff
    >>> model = ff.load_model("cepheus")
    >>> flight = ff.simulate(model, ff.default_plan(model, duration=10.0), seed=1)
    >>> verdict = ff.validate(model, flight)
    >>> verdict.is_positive, verdict["prediction"].reason
    (True, 'every sensor is met to within 2 times the expected error')
    """
    new, old = (fit, None) if isinstance(fit, Model) else (fit.model, fit.prior_model)
    recorded = _Recorded.of(fit, flight)
    told = progress or (lambda fraction: None)
    told(0.1)
    try:
        predicted = predict_flight(new, flight, deflections=deflections)
    except (IdentificationError, TelemetryError):
        raise  # bad input is not a verdict
    except FreefloatError as error:
        return recorded.without_prediction(error.message)
    told(0.4)
    before = None
    if old is not None and old != new:
        try:
            before = predict_flight(old, flight, deflections=deflections)
        except FreefloatError as error:
            recorded.notes.append(f"the model before could not be predicted: {error.message}")
    elif old is not None:
        recorded.notes.append("the fit changed no parameter of the model")
    told(0.7)
    return recorded.judged(predicted, before, limits)


@dataclass(frozen=True)
class _Recorded:
    """A flight and where the model came from: what every verdict on it has in common."""

    source: Fit | Model
    flight: Telemetry
    quality: tuple[str, ...]
    notes: list[str]

    @classmethod
    def of(cls, source: Fit | Model, flight: Telemetry) -> _Recorded:
        found = quality(flight)
        return cls(source, flight, (found.summary, *map(str, found.findings)), [])

    @property
    def is_held_out(self) -> bool | None:
        """Whether the flight took no part in the fit; None where the fit does not say."""
        if isinstance(self.source, Model):
            return None
        made_from = self.source.provenance.get("recordings", "").split()
        return digest([self.flight]) not in made_from if made_from else None

    @property
    def model(self) -> Model:
        return self.source if isinstance(self.source, Model) else self.source.model

    def verdict(self, **parts: object) -> Verdict:
        """A verdict with what is not given left empty."""
        empty = ("scores", "balances", "end_effectors", "whiteness", "spectra", "traces")
        told = {} if isinstance(self.source, Model) else dict(self.source.provenance)
        told = {f"fit_{name}": value for name, value in told.items()}
        record = provenance(data=digest([self.flight]), **told)
        whole: dict[str, object] = {name: () for name in empty}
        whole |= {
            "model": self.model.name,
            "method": "" if isinstance(self.source, Model) else self.source.method,
            "quality": self.quality,
            "notes": tuple(dict.fromkeys(self.notes)),
            "provenance": record,
        }
        return Verdict(**(whole | parts))  # type: ignore[arg-type]

    def without_prediction(self, why: str) -> Verdict:
        """A model that cannot even be run is not believed."""
        nan = float("nan")
        failed = AcceptanceCriterion("prediction", False, nan, nan, "no prediction could be made")
        return self.verdict(
            is_positive=False, has_run=False, execution=f"The prediction failed: {why}",
            status="The model cannot predict this flight: its simulation does not run.",
            criteria=(failed, acceptance.physical(self.model)),
        )  # fmt: skip

    def judged(
        self, predicted: Predicted, before: Predicted | None, limits: AcceptanceLimits
    ) -> Verdict:
        """The verdict on a prediction."""
        expected = expected_errors(predicted, self.flight, self.source)
        scores = scores_of(predicted, before, expected)
        found, why_not = balances(predicted.drive.system, self.flight, predicted.at)
        tips = end_effectors(predicted, self.flight)
        memory, spectra = left_behind(predicted, before)
        judged = (
            acceptance.prediction(scores, limits),
            acceptance.white_residuals(memory, scores, limits),
            acceptance.momentum(found, why_not, limits),
            acceptance.physical(self.model),
            *([] if before is None else [acceptance.improvement(scores, limits)]),
            *acceptance.tips(tips, limits),
            *acceptance.provenance_criteria(self.source, self.is_held_out),
        )
        self.notes.extend(predicted.drive.notes)
        return self.verdict(
            is_positive=not any(criterion.is_met is False for criterion in judged),
            has_run=True, execution=_execution(predicted), status=_status(judged),
            criteria=judged, scores=scores, balances=found, end_effectors=tips,
            whiteness=memory, spectra=spectra, traces=traces_of(predicted, before, self.flight),
        )  # fmt: skip


def _execution(predicted: Predicted) -> str:
    span = predicted.at.times
    n = sum(len(look.times) for look in predicted.looks)
    fitted = (
        f"{len(predicted.estimated)} numbers of the start fitted"
        if predicted.estimated
        else "no start to fit"
    )
    return (
        f"The prediction ran from {span[0]:.4g} s to {span[-1]:.4g} s beside {n} samples of"
        f" {len(predicted.looks)} sensors; {fitted}."
    )


def _status(judged: Sequence[AcceptanceCriterion]) -> str:
    """One sentence a person can act on."""
    failed = [criterion for criterion in judged if criterion.is_met is False]
    if not failed:
        open_ = [criterion.name for criterion in judged if criterion.is_met is None]
        rest = f" Not judged: {', '.join(open_)}." if open_ else ""
        return f"The model predicts this flight; every criterion that could be judged is met.{rest}"
    first = failed[0]
    names = ", ".join(criterion.name for criterion in failed)
    if first.name in ("held out", "fit"):
        return (
            f"The model predicts this flight, but not to be believed yet ({names}): {first.reason}"
        )
    return f"The model is not to be believed ({names}): {first.reason}."
