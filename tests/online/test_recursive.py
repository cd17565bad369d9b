"""The recursions of the literature behind the interface of the live filter."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from live_flights import clean_flight, truth, wanted

import freefloat as ff
from freefloat.errors import IdentificationError
from freefloat.online.literature.recursions import RECURSIVE

PLANE, SPACE = "planar-capture", "spatial-capture"


def started_elsewhere(name: str) -> ff.Parameters:
    """Everything of base and target free, from a target a fifth too heavy."""
    from freefloat.parameters.write_back import with_parameters

    model = ff.load_model(name)
    wrong = {f"target.{n}": 1.2 * model.body("target").mass for n in ("mass",)}
    free = [p.name for p in wanted(name).free_ones]
    return ff.Parameters(with_parameters(model, wrong)).free(*free)


def tracker(name: str, method: str, **options: object) -> ff.OnlineEstimator:
    return ff.OnlineEstimator(
        ff.load_model(name),
        started_elsewhere(name),
        method=method,
        **options,  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("name", [PLANE, SPACE])
@pytest.mark.parametrize("method", RECURSIVE)
def test_each_finds_the_masses_of_a_quiet_flight(name, method):
    rls = tracker(name, method)
    n = 200 if method == "two-step" else 600  # it works through all rows again with each sample
    for sample in islice(clean_flight(name), n):
        estimate = rls.update(sample)
    assert estimate.verdict == "taken" and estimate.health.sentence == "fine"
    # differences at 10 Hz across thrust that switches say less than momentum does
    close = 0.03 if method == "modified-rls-force" else 0.01
    for body in ("bus.mass", "target.mass"):
        expected = truth(name)[estimate.names.index(body)]
        assert estimate[body][0] == pytest.approx(expected, rel=close)
        assert np.isnan(estimate[body][1]) and set(estimate.statuses) == {"no band"}
    assert estimate.physical.model.body("target").mass > 0.0


def test_inertias_are_about_the_frames_whatever_the_method():
    found = []
    for method in ("rls", "modified-rls"):
        rls = tracker(PLANE, method)
        for sample in clean_flight(PLANE):
            estimate = rls.update(sample)
        found.append(estimate["target.izz"][0])
    expected = truth(PLANE)[estimate.names.index("target.izz")]
    assert found == pytest.approx([expected, expected], rel=0.02)


def test_modified_and_two_step_agree():
    one, two = tracker(PLANE, "modified-rls"), tracker(PLANE, "two-step")
    for sample in islice(clean_flight(PLANE), 60):
        a, b = one.update(sample), two.update(sample)
    assert np.allclose(a.values, b.values, rtol=1e-6)


@pytest.mark.parametrize("method", RECURSIVE)
def test_saved_and_restored_they_go_on_bit_for_bit(tmp_path, method):
    one, two = tracker(PLANE, method), tracker(PLANE, method)
    samples = list(clean_flight(PLANE))[:40]
    for sample in samples[:20]:
        one.update(sample)
    one.save(tmp_path / "state")
    two.restore(tmp_path / "state")
    for sample in samples[20:]:
        one.update(sample)
        two.update(sample)
    assert np.array_equal(one.values, two.values) and one.health == two.health


def test_bad_samples_and_methods_are_told():
    rls = tracker(PLANE, "rls")
    assert rls.update({"time": 1.0}).verdict == "incomplete"
    assert rls.update("nothing").verdict == "unreadable"  # type: ignore[arg-type]
    for method, match in (("kalmann", "expected one of"), ("modified-rls", "two bodies")):
        with pytest.raises(IdentificationError, match=match):
            ff.OnlineEstimator(
                ff.load_model(PLANE), ff.Parameters(ff.load_model(PLANE)).free("bus.mass"),
                method=method,
            )  # fmt: skip
    with pytest.raises(IdentificationError, match="has no forgetting"):
        tracker(PLANE, "rls", forgetting=0.9)


def test_methods_of_record_are_chosen_by_name():
    model = ff.load_model(PLANE)
    params = ff.Parameters(model).free("bus.mass", "target.mass")
    kinds = {
        m: type(ff.OnlineEstimator(model, params, method=m)).__name__
        for m in ("auto", "square-root", "kalman", "rls")
    }
    assert kinds == {
        "auto": "OnlineEstimator", "square-root": "OnlineEstimator", "kalman": "KalmanEstimator",
        "rls": "RecursiveEstimator",
    }  # fmt: skip
