"""Mass properties of a fit: deviations as draws scatter, intervals that hold the truth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from fit_samples import sample_fit

import freefloat as ff
from freefloat.errors import IdentificationError
from freefloat.identification.fit import Estimate
from freefloat.identification.fit_text import mass_properties_text
from freefloat.identification.fitted_mass_properties import WHOLE, whole_slopes
from freefloat.model import inertia as inertial
from freefloat.model.central_quantities import QUANTITIES, UNITS, central_quantities
from freefloat.model.mass_properties import mass_properties, whole_phi
from freefloat.model.rotations import matrix_from_rpy
from freefloat.parameters.write_back import with_parameters

MODEL = ff.load_model("spatial-capture")
UNIT_OF_TEN = ("kg", *["kg m"] * 3, *["kg m^2"] * 6)


def body_fit(moments, *, share=1e-3, seen=inertial.NAMES, total=None):
    """A fit of all ten of the target; deviations are a share of the natural size, correlated."""
    R = matrix_from_rpy([0.2, -0.1, 0.3])
    phi = inertial.phi_from_com(50.0, [0.3, 0.1, -0.2], inertial.six(R @ np.diag(moments) @ R.T))
    sizes = np.array([50.0, *[10.0] * 3, *[10.0] * 6])
    rng = np.random.default_rng(5)
    root = np.diag(share * sizes) @ (np.eye(10) + 0.3 * rng.normal(size=(10, 10)))
    covariance = root @ root.T
    estimates = []
    for k, name in enumerate(inertial.NAMES):
        is_seen, std = name in seen, float(np.sqrt(covariance[k, k]))
        status = "seen" if is_seen else "invisible"
        std = std if is_seen else float("nan")
        value = float(phi[k])
        estimates.append(
            Estimate(f"target.{name}", UNIT_OF_TEN[k], value, std, None, status, value)
        )
        if not is_seen:
            covariance[k], covariance[:, k] = np.nan, np.nan
    names = [f"target.{name}" for name in inertial.NAMES]
    model = with_parameters(MODEL, dict(zip(names, phi.tolist(), strict=True)))
    return replace(
        sample_fit(MODEL), model=model, estimates=tuple(estimates), covariance=covariance,
        adjusted={},
        total_covariance=np.zeros((0, 0)) if total is None else total * covariance,
    )  # fmt: skip


def draws_of(fit, n=4000):
    """Central quantities (n, 19) of the target, drawn from the covariance of its estimates."""
    values = np.array([e.value for e in fit.estimates])
    drawn = np.random.default_rng(1).multivariate_normal(values, fit.covariance, size=n)
    return np.array([central_quantities(phi).values for phi in drawn])


def test_deviations_are_as_draws_of_the_covariance_scatter():
    fit = body_fit([10.0, 16.0, 20.0])
    target = fit.mass_properties[0]
    drawn = draws_of(fit)
    for k, q in enumerate(target.quantities):
        # 4000 draws know a deviation to 1.1 %: four times that
        assert q.std == pytest.approx(np.std(drawn[:, k]), rel=0.045)
        # the mean to 1/63 of a deviation, and second order of noise of 0.1 % is less
        assert q.value == pytest.approx(np.mean(drawn[:, k]), abs=0.1 * q.std)
        assert q.unit == UNITS[q.name.partition(".")[0]]


def test_axes_of_moments_that_are_almost_equal_are_not_determined():
    fit = body_fit([15.0, 15.001, 20.0])
    target = fit.mass_properties[0]
    for name in ("tilt.x.y", "tilt.x.z", "tilt.y.x", "tilt.y.z"):
        assert "not determined" in target[name].note
        assert target[name].interval95 is None
    assert not target["tilt.z.x"].note  # the third axis stands out
    drawn = np.sort(draws_of(fit)[:, 10:13], axis=1)
    errors = drawn[:, :2] - np.sort([target["moment.x"].value, target["moment.y"].value])
    # what scatters is not normal, and the two share it: together, to the accuracy of 4000 draws
    together = np.sqrt(np.mean(errors**2))
    assert target["moment.x"].std == pytest.approx(together, rel=0.05)
    assert target["moment.x"].std == target["moment.y"].std


def test_what_depends_on_the_unseen_is_not_determined():
    fit = body_fit([10.0, 16.0, 20.0], seen=("mass", "mx", "my", "izz"))
    for one in fit.mass_properties:
        known = {q.name for q in one.quantities if not q.note}
        assert all(np.isnan(q.value) for q in one.quantities if q.note)
        # the target is turned in the root's frame, so that its inertias mix there
        assert known == {"mass", "com.x", "com.y", "inertia.zz"} if one.of != WHOLE else known
    assert "mz not seen" in fit.mass_properties[0]["com.z"].note
    assert "not seen" in mass_properties_text(fit)


def test_total_deviations_make_the_intervals():
    fit = body_fit([10.0, 16.0, 20.0], total=4.0)
    for q in fit.mass_properties[0].quantities:
        assert q.total_std == pytest.approx(2.0 * q.std, rel=1e-9)  # four times the covariance
        low, high = q.interval95
        assert high - low == pytest.approx(2.0 * 1.959964 * q.total_std, rel=1e-9)


def test_a_mass_that_is_hardly_known_gives_no_quotients():
    target = body_fit([10.0, 16.0, 20.0], share=0.5).mass_properties[0]
    assert not target["mass"].note
    assert "mass" in target["com.x"].note


def test_the_whole_is_that_of_the_model_and_changes_as_differences_say():
    fit = body_fit([10.0, 16.0, 20.0])
    whole = fit.mass_properties[-1]
    expected = mass_properties(fit.model)
    assert whole.of == WHOLE
    assert whole["mass"].value == pytest.approx(expected.mass, rel=1e-12)
    com = [whole[f"com.{axis}"].value for axis in "xyz"]
    assert com == pytest.approx(expected.com, abs=1e-12)
    moments = [whole[f"moment.{axis}"].value for axis in "xyz"]
    assert sorted(moments) == pytest.approx(expected.principal, rel=1e-9)
    slopes = []
    for e in fit.estimates:
        step = 1e-4
        ends = [with_parameters(fit.model, {e.name: e.value + s}) for s in (step, -step)]
        up, down = (central_quantities(whole_phi(model)).values for model in ends)
        slopes.append((up - down) / (2.0 * step))
    J = np.array(slopes).T
    std = np.sqrt(np.diag(J @ fit.covariance @ J.T))
    # differences by steps of 1e-4 kg of hundreds, with rounding of a thousand kg m^2
    assert [q.std for q in whole.quantities] == pytest.approx(std, rel=1e-4)


def test_a_known_body_that_cannot_be_as_adjusted_counts_as_it_was_adjusted():
    fit = body_fit([10.0, 16.0, 20.0])
    link = fit.model.body("link_2")
    # a thin rod's inertia, a hundred times too large about one axis
    wild = replace(fit, adjusted={"link_2.izz": 100.0, "link_2.mass": link.mass + 1.5})
    before, after = fit.mass_properties[1], wild.mass_properties[1]
    assert after["mass"].value == pytest.approx(before["mass"].value + 1.5)
    assert repr(wild.mass_properties[0]) == repr(fit.mass_properties[0])
    # the target's own parameters change the whole as they did
    assert whole_slopes(wild) == pytest.approx(whole_slopes(fit))


def test_names_that_are_none_are_refused_and_a_fit_without_bodies_has_none():
    fit = body_fit([10.0, 16.0, 20.0])
    with pytest.raises(IdentificationError, match=r"com\.x"):
        fit.mass_properties[0]["com.xx"]
    held = tuple(replace(e, status="fixed") for e in fit.estimates)
    assert replace(fit, estimates=held).mass_properties == ()


def test_intervals_hold_the_truth():
    """Four flights of bodies that are not what the fit takes them for, within stated doubts."""
    found = []
    for seed in range(4):
        truth = _off(MODEL_OF_FLIGHTS, seed)
        flight = ff.simulate(truth, ff.default_plan(truth), seed=seed)
        wanted = ff.Parameters(MODEL_OF_FLIGHTS).free("target.mass", "target.m[xy]", "target.izz")
        fit = ff.identify(MODEL_OF_FLIGHTS, wanted, flight)
        again = ff.Fit.from_json(fit.to_json())
        assert repr(again.mass_properties) == repr(fit.mass_properties)  # NaN equals NaN there
        true = (truth.body("target").phi, whole_phi(truth))
        for one, phi in zip(fit.mass_properties, true, strict=True):
            values = dict(zip(QUANTITIES, central_quantities(phi).values, strict=True))
            known = [q for q in one.quantities if not q.note]
            assert [q.name for q in known] == ["mass", "com.x", "com.y", "inertia.zz"]
            found += [(one.of, (q.value - values[q.name]) / q.total_std) for q in known]
    for of in ("target", WHOLE):
        scores = np.array([score for who, score in found if who == of])
        # 16 scores of one are below 1.6 (chi-square, one in a thousand) and hardly one beyond 3.5;
        # doubts that were not drawn (gains, geometry) make them smaller
        assert np.sqrt(np.mean(scores**2)) < 1.6
        assert np.max(np.abs(scores)) < 3.5
        assert np.sqrt(np.mean(scores**2)) > 0.2  # nor are intervals so wide that nothing is said


MODEL_OF_FLIGHTS = ff.load_model("planar-capture")


def _off(model, seed):
    """The model with the scale of its bus as wrong as the model file says it may be (1 %)."""
    factor = 1.0 + 0.01 * np.random.default_rng(seed).normal()
    return with_parameters(model, {"bus.scale": factor})
