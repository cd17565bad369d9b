"""A filter of one's own is one class: here the mass of a pushed body, by least squares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import freefloat as ff
from freefloat.arrays import Array
from freefloat.dynamics.tree import flatten
from freefloat.errors import IdentificationError
from freefloat.online.filter_problem import unknowns_of
from freefloat.online.health import SampleOutcome
from freefloat.online.intake import Intake
from freefloat.online.live_estimate import SampleReport, ValueEstimate
from freefloat.online.live_filter import FilterRequest, LiveFilter
from freefloat.telemetry.sample_rows import Sample

PUSH, SPEED = "base.force.x", "base.velocity.x"


class PushedMass(LiveFilter):
    """m dv = F dt between samples, the force held: m = sum(F dt dv) / sum(dv^2)."""

    method, channels = "pushed-mass", (PUSH, SPEED)

    def __init__(self, request: FilterRequest) -> None:
        self.parameters = request.parameters
        self.unknowns = unknowns_of(flatten(request.model), request.parameters).without_nuisance
        self.state = np.array([0.0, 0.0, np.nan, 0.0, 0.0])  # sums; time, speed and force before

    def take(self, sample: Sample, intake: Intake) -> SampleOutcome:
        if not all(np.isfinite(sample.values.get(name, np.nan)) for name in self.channels):
            intake.note_missing(self.channels, sample.values)
            return "incomplete"
        _, _, before, speed, force = self.state
        step = sample.values[SPEED] - speed
        if is_begun := not np.isnan(before):
            self.state[:2] += force * (sample.time - before) * step, step**2
        self.state[2:] = sample.time, sample.values[SPEED], sample.values[PUSH]
        intake.time = sample.time
        return "taken" if is_begun else "begun"

    @property
    def values(self) -> Array:
        start = np.array([p.value for p in self.unknowns.free])
        return start if self.state[1] == 0.0 else np.array([self.state[0] / self.state[1]])

    def estimate(self, report: SampleReport) -> ValueEstimate:
        return ValueEstimate(report, np.nan, 0, self.parameters, self.unknowns, self.values)

    def settings(self) -> dict[str, Any]:
        return {}

    def arrays(self) -> dict[str, Any]:
        return {"state": self.state}

    def restore(self, arrays: Mapping[str, Any]) -> None:
        self.state[:] = arrays["state"]


def tracker() -> ff.OnlineEstimator:
    model = ff.load_model("planar-capture")
    return ff.OnlineEstimator(model, ff.Parameters(model).free("bus.mass"), filter=PushedMass)


def samples(n: int, mass: float = 120.0) -> list[dict[str, float]]:
    """A body that is pushed harder and harder."""
    force, speed, found = np.arange(n) % 7 - 2.0, 0.0, []
    for k in range(n):
        found.append({"time": 0.1 * k, PUSH: force[k], SPEED: speed})
        speed += 0.1 * force[k] / mass
    return found


def test_it_is_driven_like_any_other():
    t = tracker()
    for sample in samples(50):
        e = t.update(sample)
    assert e.outcome == "taken" and e["bus.mass"][0] == pytest.approx(120.0)
    assert e.status.code == "observable.unknown" and t.health.is_fine
    assert t.update(samples(50)[-1]).outcome == "duplicate"
    assert t.update(samples(50)[3]).outcome == "late"
    assert t.update({"time": 6.0, SPEED: 1.0}).outcome == "incomplete"
    assert t.update({"time": "now"}).outcome == "unreadable"  # type: ignore[dict-item]
    assert t.health.missing == (PUSH,)
    assert dict(t.counts) == {"begun": 1, "taken": 49, "duplicate": 1, "late": 1, "incomplete": 1,
                              "unreadable": 1}  # fmt: skip


def test_its_state_is_saved_and_restored_and_refused_by_others(tmp_path):
    one, two = tracker(), tracker()
    for sample in samples(20):
        one.update(sample)
    one.save(tmp_path / "state")
    two.restore(tmp_path / "state")
    for sample in samples(40)[20:]:
        assert one.update(sample).values == two.update(sample).values
    assert one.health == two.health
    model = one.model
    other = ff.OnlineEstimator(model, ff.Parameters(model).free("bus.mass"))
    with pytest.raises(IdentificationError) as error:
        other.restore(tmp_path / "state")
    (fault,) = error.value.faults
    assert (fault.code, fault.expected) == ("state.method", "'pushed-mass'")
