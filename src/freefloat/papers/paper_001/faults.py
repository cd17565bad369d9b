"""What paper 001's equations do when taken by the letter: eq. 16, and a spin about one axis."""

from __future__ import annotations

import numpy as np

from freefloat.dynamics.equations import momentum_regressor
from freefloat.dynamics.tree import flatten
from freefloat.identification.linear.parameter_columns import change_matrix
from freefloat.model import load_model
from freefloat.model.rotations import matrix_from_quaternion, quaternion_from_rotation_vector
from freefloat.online.literature.rls import ModifiedRls, PlainRls
from freefloat.papers.paper_001 import flights
from freefloat.papers.paper_rows import Row, within

SPIN = np.array([0.1, 0.2, 0.3])  # rad/s: the paper's initial rate
WAYS = (-42.857, -85.714, -128.571)  # [%] = -100 (3, 6, 9) / 7: b along the axis is never seen


def fault_rows(*, quick: bool = False) -> list[Row]:
    """Eq. 16 as printed, and eq. 39 with the vector part of a quaternion."""
    return [_literal_equation_16(), *_fixed_axis_rows()]


def _literal_equation_16() -> Row:
    """I_1 when H(t) stands where H(t) - H(t0) must."""
    flight = flights.planar(duration=60.0)
    form = flight.form
    columns, _ = flights.momentum_columns(form, flight.states[[0]])
    _, psi_0 = form.split(columns[0, [5], :20])
    rls = ModifiedRls(*flights.first_guess(form), flights.PRIOR, form.quadratic)
    for A, b, phi, y, psi in flights.rows_of(flight, "momentum"):
        rls.update(A, b, phi, y, psi - psi_0)
    k = flights.names_of(form).index("I_1")
    got, truth = flights.in_words(form, rls.x[None])[0, k], flights.truth_of(form)[k]
    note = "eq. 16 needs H(t) - H(t0): the angular momentum at the start is not zero"
    return within("Eq. 16 by the letter", "I_1, error", "%", float(100.0 * abs(got / truth - 1.0)),
                  between=(21_500.0, 21_700.0), status="paper wrong", note=note)  # fmt: skip


def _fixed_axis_rows() -> list[Row]:
    """b_1 from the linear rows when the base only ever turns about one axis."""
    model = load_model("spatial-capture")
    system, rng, n = flatten(model), np.random.default_rng(2), 80
    axis, c = SPIN / np.linalg.norm(SPIN), system.n_coordinates
    turned = quaternion_from_rotation_vector(rng.uniform(-2.0, 2.0, n)[:, None] * axis)
    rate, velocity = rng.normal(size=(n, 1)) * axis, rng.normal(size=(n, 3))
    q = np.array([x.home for x in model.assembly.coordinates]) + rng.normal(size=(n, c))
    coordinates = np.stack([q, rng.normal(size=(n, c)), np.zeros((n, c))], axis=-1)
    local, _ = momentum_regressor(system, rate, velocity, coordinates)
    form = flights.PaperForm(system, ("bus", "target"))
    part = (local @ change_matrix(system, form.names)[:, form.mu_places])[:, 3:]
    Y = np.array([matrix_from_quaternion(turn) for turn in turned]) @ part
    truth = np.concatenate([model.body(b).phi for b in form.bodies])[form.mu_places]
    rls = PlainRls(flights.first_guess(form)[0], np.full(len(truth), flights.PRIOR))
    for rows in Y[1:] - Y[0]:
        rls.update(rows, rows @ truth)
    b, known = rls.x[1:4] / rls.x[0], truth[1:4] / truth[0]
    note = "a law on the vector part of a quaternion keeps the axis; ZYX angles do not"
    errors = 100.0 * (b / known - 1.0)
    return [
        Row("Spin about a fixed axis", f"b_1{a}, error", "%", wanted, float(got),
            "reproduced" if abs(got - wanted) < 1e-2 else "missed", note)
        for a, wanted, got in zip("xyz", WAYS, errors, strict=True)
    ]  # fmt: skip


__all__ = ["fault_rows"]
