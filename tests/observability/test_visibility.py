"""What a whitened matrix tells of its parameters: statuses, deviations, words, scale."""

from __future__ import annotations

import numpy as np
import pytest

from freefloat.observability.scale import is_scaled, scale_of, scale_remedy
from freefloat.observability.visibility import visibility, without


def named(n: int) -> list[str]:
    return [f"p{k}.mass" for k in range(n)]


def conditioned(rng: np.random.Generator, rows: int, n: int, spread: float = 1e5) -> np.ndarray:
    """A random matrix whose singular values lie between 100 and 100 times `spread`."""
    Q, _ = np.linalg.qr(rng.normal(size=(rows, n)))
    V, _ = np.linalg.qr(rng.normal(size=(n, n)))
    return Q * np.geomspace(100.0, 100.0 * spread, n) @ V.T


@pytest.mark.parametrize("seed", range(40))
def test_only_what_takes_part_in_the_null_space_is_called_so(seed: int) -> None:
    """Random matrices, null vectors with known support, columns of widely different size."""
    rng = np.random.default_rng(seed)
    n, n_null = int(rng.integers(4, 25)), int(rng.integers(1, 4))
    sizes = 10.0 ** rng.uniform(-4.0, 4.0, n)
    touched = rng.choice(n, size=min(n - 1, n_null + int(rng.integers(1, 6))), replace=False)
    n_null = min(n_null, len(touched) - 1)
    null = np.zeros((n, n_null))
    null[touched] = rng.normal(size=(len(touched), n_null))
    basis, _ = np.linalg.qr(null)
    scaled = conditioned(rng, 200, n) @ (np.eye(n) - basis @ basis.T)
    found = visibility(scaled / sizes, named(n), sizes)
    assert found.rank == n - n_null
    for k, one in enumerate(found.parameters):
        if k in touched:
            assert one.status == "only in combination" and np.isnan(one.std)
        else:
            assert one.status == "seen" and one.std > 0.0
    assert len(found.trades) == n_null
    words = " ".join(found.trades)
    assert not any(f"p{k}." in words.split() for k in range(n) if k not in touched)


def test_deviations_are_those_of_least_squares_with_the_nuisance_estimated_too() -> None:
    rng = np.random.default_rng(1)
    J, nuisance = rng.normal(size=(100, 4)), rng.normal(size=(100, 3))
    sizes = np.array([0.1, 3.0, 20.0, 1.0])
    found = visibility(J, named(4), sizes, nuisance=nuisance)
    both = np.hstack([J, nuisance])
    covariance = np.linalg.inv(both.T @ both)
    expected = np.sqrt(np.diag(covariance))[:4]
    assert np.allclose([s.std for s in found.parameters], expected, rtol=1e-12)
    relative = expected / sizes
    for one, share in zip(found.parameters, relative, strict=True):
        assert one.status == ("seen" if share < 0.1 else "weak" if share < 1.0 else one.status)


def test_four_statuses() -> None:
    # a alone, to 1 %; b alone, to 50 %; c and d only as a sum; e not at all; f below the noise
    J = np.diag([100.0, 2.0, 50.0, 0.0, 0.0, 0.5])
    J[2, 3] = 50.0
    found = visibility(J, [f"{x}.mass" for x in "abcdef"], np.ones(6))
    statuses = [one.status for one in found.parameters]
    together = "only in combination"
    assert statuses == ["seen", "weak", together, together, "invisible", "invisible"]
    assert np.isnan(found["c.mass"].std) and np.isnan(found["e.mass"].std)
    (trade,) = found.trades
    assert trade.startswith("d.mass ") and trade.endswith(" c.mass (-1)")
    assert [s.words for s in found.combinations] == ["c.mass + d.mass"]
    assert found.combinations[0].std == pytest.approx(0.02)
    assert found.names("seen") == ("a.mass",)


def test_what_the_start_explains_is_not_seen() -> None:
    J = np.array([[1e3, 0.0], [1e3, 5e2], [1e3, 0.0]])
    found = visibility(J, ["hinge.rest", "bus.mass"], np.ones(2), nuisance=np.ones((3, 1)))
    assert found["hinge.rest"].status == "only in combination"
    assert [trade.split()[0] for trade in found.trades] == ["hinge.rest"]
    assert found["bus.mass"].status == "seen"
    assert not np.any(without(np.ones((3, 1)), J)[:, 0])


def test_rounding_is_no_information() -> None:
    rng = np.random.default_rng(0)
    J = np.outer(rng.normal(size=50), [1e9, 1e9]) + 1e-4 * rng.normal(size=(50, 2))
    found = visibility(J, named(2), np.ones(2))
    assert [s.status for s in found.parameters] == ["only in combination"] * 2
    assert np.all(np.isnan([s.std for s in found.parameters]))


def test_a_prior_helps_the_others_but_does_not_count_as_seen() -> None:
    J = np.array([[100.0, 100.0]])
    found = visibility(J, named(2), np.ones(2), prior_std=np.array([np.nan, 0.02]))
    assert found["p1.mass"].status == "only in combination"
    assert found["p1.mass"].std == pytest.approx(0.02)
    assert found["p0.mass"].status == "seen"
    assert found["p0.mass"].std == pytest.approx(np.hypot(0.01, 0.02))


def test_lines_name_four_at_most() -> None:
    rng = np.random.default_rng(3)
    direction = np.ones(9) / 3.0
    J = conditioned(rng, 50, 9) @ (np.eye(9) - np.outer(direction, direction))
    found = visibility(J, named(9), np.ones(9))
    assert len(found.trades) == 1
    assert found.trades[0].count(".mass") == 4 and found.trades[0].endswith("+ 5 more")


def test_a_homogeneous_problem_has_no_scale() -> None:
    rng = np.random.default_rng(5)
    theta = rng.uniform(0.5, 2.0, 6)
    J = conditioned(rng, 80, 6) @ (np.eye(6) - np.outer(theta, theta) / (theta @ theta))
    scale = scale_of(J, theta, {})
    assert scale is not None and not scale.is_fixed and np.isnan(scale.std)
    assert not scale.sources and "thrust" in scale.words  # as a remedy
    found = visibility(J, named(6), np.ones(6))
    assert found.rank == 5 and not found.names("seen") and not found.names("weak")


def test_the_source_of_the_scale_is_named() -> None:
    rng = np.random.default_rng(6)
    theta, J = rng.uniform(0.5, 2.0, 5), conditioned(rng, 80, 5)
    scale = scale_of(J, theta, {"thrust": -0.97 * J @ theta, "known bodies": -0.03 * J @ theta})
    assert scale is not None and scale.is_fixed and 0.0 < scale.std < 0.02
    assert scale.sources == ("thrust",)


def test_lengths_and_rest_angles_do_not_grow_with_the_scale() -> None:
    grown = ("bus.ixx", "hinge.stiffness", "arm.drive.inertia", "fuel.mass", "arm.friction")
    assert all(map(is_scaled, grown))
    assert not any(
        map(is_scaled, ("hinge.rest", "fuel.length", "start.rate.x", "bias.base.rate.x"))
    )
    assert scale_of(np.ones((3, 1)), np.zeros(1), {}) is None


def test_what_is_there_and_too_weak_is_not_asked_for_again():
    A, theta = 1e-3 * np.eye(2), np.ones(2)
    found = scale_of(A, theta, {"measured joint torques": -A @ theta})
    assert found is not None and not found.is_fixed
    assert found.weak == ("measured joint torques",)
    said, asked = found.words.split(";")
    assert "measured joint torques: below the noise" in said
    assert "measured" not in asked and "thrust" in asked and "faster motion" in asked
    assert "measured joint torques" in scale_remedy(None)
