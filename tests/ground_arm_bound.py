"""Errors of the arm on the ground over the Cramer-Rao bound, in Monte Carlo.

    python tests/ground_arm_bound.py [--method output_error] [--first 1] [--seeds 12]
        [--buried 10]

Every seed is another motion, another noise and another wrong model to begin with. The bound takes
the motion for exactly known, so that no unbiased method could do better. Printed are root mean
square errors over the bound: of all base parameters (the directions of the 91 parameters that
torques show, each in units of its own bound) and of friction and damping one by one; and the
largest mass of a link, which torques do not show. --buried: how far (natural sizes) the linear
methods let what is not seen go from the model.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import NamedTuple

import ground_arm
import numpy as np

import freefloat as ff
from freefloat.dynamics import flatten
from freefloat.identification.linear.linear_options import LinearOptions
from freefloat.model.model import Model
from freefloat.parameters.parameters import Parameters, parameter_values
from freefloat.prediction.predictor import predictor_of

SEEN = 1e-9  # theory: of the largest singular value; what is less is rounding


class OverBound(NamedTuple):
    """Errors in units of the bound: of directions that show, and of friction and damping."""

    base: np.ndarray
    in_joints: np.ndarray
    largest_mass: float  # [kg] of a link


def over_bound(
    true: Model, seed: int, *, method: str, duration: float = 20.0, **options: float
) -> OverBound:
    """Errors of one flight's fit, which begins with a wrong model."""
    flight, wrong = ground_arm.flown(seed, duration), ground_arm.wrong(true, seed)
    free = Parameters(wrong).free(*ground_arm.FREE)
    linear = {"options": LinearOptions(**options)} if options else {}
    fit = ff.identify(wrong, free, flight, method=method, assess=False, **linear)
    names = [e.name for e in fit.estimates]
    error = values_of(fit.model, names) - values_of(true, names)
    predictor = predictor_of(true, flight, step=1e-2)
    prediction = predictor.at({}, names)
    assert prediction is not None
    rows = [
        slopes[:, 0] / float(measurement.noise[0])
        for slopes, measurement in zip(prediction.jacobian, predictor.measurements, strict=True)
    ]
    _, s, V = np.linalg.svd(np.vstack(rows), full_matrices=False)
    is_seen = s > SEEN * s[0]
    s, V = s[is_seen], V[is_seen]
    bound = np.sqrt(np.sum((V / s[:, None]) ** 2, axis=0))
    inside = [k for k, n in enumerate(names) if n.endswith((".friction", ".damping"))]
    largest = max(body.mass for body in fit.model.bodies)
    return OverBound(s * (V @ error), error[inside] / bound[inside], largest)


def values_of(model: Model, names: list[str]) -> np.ndarray:
    """The parameters of a model."""
    values = parameter_values(flatten(model))
    return np.array([values[name] for name in names])


def rms(errors: list[np.ndarray]) -> float:
    """The root mean square of all."""
    return float(np.sqrt(np.mean(np.concatenate(errors) ** 2)))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--method", default="output_error")
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=12)
    parser.add_argument("--buried", type=float)
    given = parser.parse_args()
    options = {} if given.buried is None else {"buried_size": given.buried}
    with tempfile.TemporaryDirectory() as folder:
        true = ground_arm.arm(Path(folder))
        found = []
        for seed in range(given.first, given.first + given.seeds):
            one = over_bound(true, seed, method=given.method, **options)
            found.append(one)
            figures = f"base {rms([one.base]):.3f}, friction and damping {rms([one.in_joints]):.3f}"
            print(f"seed {seed}: {figures}", flush=True)
    table = np.array([one.in_joints for one in found])
    worst = float(np.sqrt(np.mean(table**2, axis=0)).max())
    base, in_joints = (rms([one[k] for one in found]) for k in (0, 1))
    print(f"{given.method}, {len(found)} seeds: base {base:.3f}, friction and damping"
          f" {in_joints:.3f}, the worst of these {worst:.3f},"
          f" largest mass {max(one.largest_mass for one in found):.4g} kg")  # fmt: skip


if __name__ == "__main__":
    main()
