"""A Fit made by hand, with one of everything, for tests to show, save and spoil."""

from __future__ import annotations

import numpy as np

from freefloat.identification.fit import Estimate, Fit, FittedCombination, Residual
from freefloat.model import load_model
from freefloat.model.model import Model

NAN = float("nan")


def estimates() -> tuple[Estimate, ...]:
    return (
        Estimate("bus.mass", "kg", 902.3456789, 2.14, (898.1, 906.6), "seen", 900.0),
        Estimate("bus.mx", "kg m", -0.0, 0.0321, (-0.07, 0.05), "weak", 0.0, note="barely seen"),
        Estimate("bus.ixx", "kg m^2", 612.3, NAN, None, "only in combination", 600.0),
        Estimate("bus.iyy", "kg m^2", 600.0, NAN, None, "invisible", 600.0),
        Estimate("arm_1.damping", "N m s/rad", 0.0, NAN, (0.0, np.inf), "at bound", 0.1),
        Estimate("target.mass", "kg", 0.1 + 0.2, NAN, None, "fixed", 0.3),
    )


def sample_fit(model: Model | None = None, **changes: object) -> Fit:
    """A sound fit of a model; `changes` replace fields of it."""
    prior = model or load_model("cepheus")
    n = len(estimates())
    covariance = np.full((n, n), NAN)
    covariance[:2, :2] = [[2.14**2, -1e-300], [-1e-300, 0.0321**2]]
    parts: dict[str, object] = {
        "model": prior.with_joint("arm_1", damping=1.0 / 3.0),
        "prior_model": prior,
        "method": "angular momentum",
        "reason": "no velocity is measured",
        "estimates": estimates(),
        "covariance": covariance,
        "combinations": (
            FittedCombination("bus.izz + 2 arm_1.mass", "kg m^2", 12.34567, 0.123, (12.1, 12.6)),
            FittedCombination("bus.ixx - bus.iyy", "kg m^2", 12.3, NAN, None),
        ),
        "trades": ("bus.mass trades against target.mass",),
        "scale": "the known inertia of the wheel fixes the scale",
        "residuals": (
            Residual("angular.x", "N m s", 1200, 1.03, 2e-3),
            Residual("angular.y", "N m s", 1200, 0.97),
        ),
        "status": "Two of five are known to 5 %; move arm_3 further to see bus.ixx by itself.",
        "is_trustworthy": True,
        "notes": ("a note with “quotes” and a \\ backslash",),
        "provenance": {"seed": "3", "freefloat": "0.1.0"},
        "adjusted": {"thr_1.gain": 1.0 + 1.0 / 3.0, "gain.base.rate.z": 0.1 + 0.2},
    }
    return Fit(**(parts | changes))  # type: ignore[arg-type]
