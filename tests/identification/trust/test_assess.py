"""A fit that was saved is graded as it was when it was made, whatever had to give way for it."""

from __future__ import annotations

from dataclasses import replace

import pytest

import freefloat as ff
from freefloat.identification.fit import Fit
from freefloat.identification.trust.evidence import METHODS_DISAGREE
from freefloat.model.model import Model
from freefloat.telemetry.telemetry import Telemetry


def capture(gain: float) -> tuple[Model, Telemetry]:
    """A capture in the plane whose gyro reads too much by a factor."""
    model = ff.load_model("planar-capture")
    flight = ff.simulate(model, ff.default_plan(model, duration=30.0), seed=1)
    gyro = flight["base.rate.z"]
    values = gain * gyro.values
    read = type(gyro)(gyro.name, gyro.unit, gyro.time, values, gyro.valid, gyro.noise)
    return model, flight.with_channels(read)


@pytest.mark.parametrize(
    ("gain", "grade", "n_causes"), [(1.003, "trusted", 0), (1.01, "with reservations", 1)]
)
def test_an_adjusted_fit_is_graded_as_when_it_was_made(gain, grade, n_causes):
    # within its doubt the gain is strained, beyond it contradicted: both are adjusted
    model, flight = capture(gain)
    wanted = ff.Parameters(model).free("target.mass", "target.izz")
    made = ff.identify(model, wanted, flight, raw=True)
    assert made.adjusted["gain.base.rate.z"] == pytest.approx(gain, abs=1e-3)  # of the doubt
    held = ff.identify(model, wanted, flight, raw=True, assess=False, method="output_error")
    # noise moves the gain that the masses depend on
    assert all(made[e.name].std > e.std for e in held.estimates)
    again = ff.assess_fit(Fit.from_json(made.to_json()), flight, raw=True)
    first, second = made.assessment, again.assessment
    assert first is not None and second is not None
    assert first.grade == second.grade == grade
    assert sorted(e.code for e in first.evidence) == sorted(e.code for e in second.evidence)
    assert len(first.causes) == n_causes
    assert [c.names for c in first.causes] == [c.names for c in second.causes]
    assert again.values == made.values
    for estimate in made.estimates:
        # both searches end within a fifth of a total deviation of the maximum, where slopes differ
        assert again[estimate.name].total_std == pytest.approx(estimate.total_std, rel=0.05)
        assert again[estimate.name].std == pytest.approx(estimate.std, rel=0.05)
        assert estimate.std < estimate.total_std


def test_what_the_method_said_is_kept_apart_from_what_was_made_of_it():
    # a fit that was not trusted before has no other objection against it than it had
    model, flight = capture(1.01)
    wanted = ff.Parameters(model).free("target.mass", "target.izz")
    made = ff.identify(model, wanted, flight, raw=True, method="momentum")
    assert made.assessment is not None and made.assessment.grade == "not trusted"
    again = ff.assess_fit(made, flight, raw=True)
    assert repr(again.assessment) == repr(made.assessment)  # as text: nan is not nan


def test_other_recordings_say_nothing_of_the_method_that_was_replaced():
    model, flight = capture(1.003)
    wanted = ff.Parameters(model).free("target.mass", "target.izz")
    made = ff.identify(model, wanted, flight, raw=True)
    assert made.assessment is not None
    assert METHODS_DISAGREE in [e.code for e in made.assessment.evidence]
    other = replace(made, provenance={**made.provenance, "data": "another"})
    again = ff.assess_fit(other, flight, raw=True)
    assert again.assessment is not None
    assert METHODS_DISAGREE not in [e.code for e in again.assessment.evidence]
