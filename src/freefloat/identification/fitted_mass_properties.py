"""Mass properties of a fit with their deviations, as data sheets ask for them.

Deviations follow from the covariances of the estimates by the derivative (the delta method). A
quantity that depends on anything the data do not show is not determined, and so are axes whose
moments noise could make equal. Bodies of which nothing was estimated are as the model has them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from freefloat.arrays import Array
from freefloat.errors import IdentificationError
from freefloat.model import inertia as inertial
from freefloat.model.central_quantities import (
    MOMENTS,
    QUANTITIES,
    UNITS,
    CentralQuantities,
    central_quantities,
    inputs_of,
)
from freefloat.model.mass_properties import body_poses, whole_phi
from freefloat.model.model import Model
from freefloat.model.parameter_name import ParameterName
from freefloat.text import did_you_mean, listing

if TYPE_CHECKING:
    from freefloat.identification.fit import Fit

Values = Mapping[str, float]
WHOLE = "the whole"
UNSEEN = "not seen"
KNOWN = ("seen", "weak")  # the statuses with a standard deviation
SIGMAS = 1.959964  # theory: of a 95 % interval of the normal distribution
# theory: a quotient by the mass is off by its square from what the derivative says: a tenth there
MOST_MASS_DEVIATION = 0.3
# theory: within a quarter of their distance what couples two moments turns their axes in
# proportion, to some per cent (tan 2a = 2 c / d); noise beyond that could as well make them equal
MOST_COUPLING = 0.25
SMALL_STEP = 1e-4  # theory: of differences of a smooth function, whose error is its square


@dataclass(frozen=True)
class FittedQuantity:
    """One number of a data sheet; NaN where it is not determined, and `note` says why.

    std: by noise alone; total_std: with what is taken as exact as well, NaN where not assessed;
    interval95: by total_std where there is one, else by std.
    """

    name: str
    unit: str
    value: float
    std: float = float("nan")
    total_std: float = float("nan")
    interval95: tuple[float, float] | None = None
    note: str = ""


@dataclass(frozen=True)
class FittedMassProperties:
    """The mass properties of a body in its own frame, or of the whole in the root's.

    >>> import freefloat as ff
    >>> model = ff.load_model("planar-capture")
    >>> flight = ff.simulate(model, ff.default_plan(model), seed=1)
    >>> fit = ff.identify(model, ff.Parameters(model).free("target.*"), flight, assess=False)
    >>> target, whole = fit.mass_properties
    >>> target.of, target["com.x"].unit, whole["mass"].std == target["mass"].std
    ('target', 'm', True)
    """

    of: str
    quantities: tuple[FittedQuantity, ...]

    def __getitem__(self, name: str) -> FittedQuantity:
        """The quantity of that name, such as "mass", "com.x", "inertia.xx" or "moment.x"."""
        if name not in QUANTITIES:
            hint = did_you_mean(name, QUANTITIES, otherwise=listing(QUANTITIES, most=20))
            text = f"no mass property is called {name!r}; {hint}"
            raise IdentificationError(text, code="name.unknown")
        return self.quantities[QUANTITIES.index(name)]


@dataclass(frozen=True)
class _Source:
    """Ten inertial parameters, their slopes (10, estimates), and what is not known of them."""

    of: str
    phi: Array
    slopes: Array
    missing: dict[str, tuple[str, ...]]  # by field of phi, the parameters nobody saw


def mass_properties_of(fit: Fit) -> tuple[FittedMassProperties, ...]:
    """Of every body with estimates and of the whole; nothing where no body has any."""
    known = _known_places(fit)
    names = [fit.estimates[k].name for k in known]
    model = as_estimated(fit)
    bodies = [_body_source(fit, model, owner, names) for owner in _owners(fit)]
    if not bodies:
        return ()
    covariances = [
        each[np.ix_(known, known)] if each.size else np.full((len(known),) * 2, np.nan)
        for each in (fit.covariance, fit.total_covariance)
    ]
    whole = _whole_source(fit, model, bodies, names)
    found: list[tuple[_Source, list[Array]]] = [
        (one, [one.slopes @ c @ one.slopes.T for c in covariances]) for one in bodies
    ]
    total = fit.whole_covariance if fit.whole_covariance.size else np.full((10, 10), np.nan)
    found.append((whole, [whole.slopes @ covariances[0] @ whole.slopes.T, total]))
    return tuple(
        FittedMassProperties(one.of, tuple(_quantities(one, spreads))) for one, spreads in found
    )


def whole_slopes(fit: Fit) -> Array:
    """The change (10, estimates) of the whole with each estimate; zero where one is not known."""
    slopes = np.zeros((10, len(fit.estimates)))
    known, model = _known_places(fit), as_estimated(fit)
    names = [fit.estimates[k].name for k in known]
    bodies = [_body_source(fit, model, owner, names) for owner in _owners(fit)]
    slopes[:, known] = _whole_source(fit, model, bodies, names).slopes
    return slopes


def _known_places(fit: Fit) -> list[int]:
    known = [k for k, e in enumerate(fit.estimates) if e.status in KNOWN and np.isfinite(e.std)]
    return [k for k in known if np.isfinite(fit.covariance[k, k])]


def _owners(fit: Fit) -> list[str]:
    """The bodies with estimates; a tank's mass is that of fuel, not of a body with ten numbers."""
    parsed = [ParameterName.parse(e.name) for e in fit.estimates if e.status != "fixed"]
    bodies = {body.name for body in fit.model.assembly.bodies}
    bodies -= {tank.name for tank in fit.model.tanks}
    return list(dict.fromkeys(p.owner for p in parsed if p.is_inertial and p.owner in bodies))


def as_estimated(fit: Fit) -> Model:
    """The fit's model with what was adjusted together with the estimates, where it has a place.

    Unchecked: an adjusted inertia may lie past the edge of what can exist by part of its doubt.
    """
    from freefloat.parameters.write_back import names_without_place, with_any_values

    adjusted = {name: fit.adjusted[name] for name in fit.adjusted if moves_mass(fit, name)}
    if not adjusted:
        return fit.model
    missing = names_without_place(fit.model, adjusted)
    return with_any_values(fit.model, {n: v for n, v in adjusted.items() if n not in missing})


def moves_mass(fit: Fit, name: str) -> bool:
    """Whether a parameter could change where mass is, other than as one of ten of a body."""
    parsed = ParameterName.parse(name)
    if parsed.kind == "geometry" or parsed.is_of_known_body:
        return True
    return parsed.kind == "model" and not parsed.is_spring and parsed.owner not in _owners(fit)


def _body_source(fit: Fit, model: Model, body: str, known: Sequence[str]) -> _Source:
    fields = [f"{body}.{field}" for field in inertial.NAMES]
    phi, slopes = _phi(model, body), np.zeros((10, len(known)))
    for k, name in enumerate(fields):
        if name in known:
            phi[k] = fit[name].value
            slopes[k, known.index(name)] = 1.0
    missing = {
        f: (name,) for f, name in zip(inertial.NAMES, fields, strict=True) if name not in known
    }
    return _Source(body, phi, slopes, missing)


def _phi(model: Model, body: str) -> Array:
    return next(one.phi for one in model.assembly.bodies if one.name == body)


def _whole_source(
    fit: Fit, model: Model, bodies: Sequence[_Source], known: Sequence[str]
) -> _Source:
    """Everything as one body in the root's frame, with the joints at home."""
    poses = body_poses(model)
    phi, slopes = whole_phi(model), np.zeros((10, len(known)))
    missing: dict[str, tuple[str, ...]] = {}
    for one in bodies:
        X = inertial.phi_transform(*poses[one.of])
        phi = phi + X @ (one.phi - _phi(model, one.of))
        slopes += X @ one.slopes
        for row, field in enumerate(inertial.NAMES):
            used = [f for k, f in enumerate(inertial.NAMES) if abs(X[row, k]) > 1e-12]
            unseen = [name for f in used for name in one.missing.get(f, ())]
            missing[field] = (*missing.get(field, ()), *unseen)
    for e in fit.estimates:
        if e.status == "fixed" or not moves_mass(fit, e.name):
            continue
        step = SMALL_STEP * (abs(e.value) or 1.0)
        change = whole_slope(model, {e.name: e.value + step}, {e.name: e.value - step}, step=step)
        if e.name in known:
            slopes[:, known.index(e.name)] += change
            continue
        for field, moved in zip(inertial.NAMES, change, strict=True):
            missing[field] = (*missing.get(field, ()), *([e.name] * bool(moved)))
    return _Source(WHOLE, phi, slopes, {f: names for f, names in missing.items() if names})


def whole_slope(model: Model, up: Values, down: Values, *, step: float) -> Array:
    """The change (10,) of the whole with what has other values a step up and a step down."""
    first, second = (_whole_at(model, values) for values in (up, down))
    return (first - second) / (2.0 * step)


def _whole_at(model: Model, values: Values) -> Array:
    from freefloat.parameters.write_back import names_without_place, with_any_values

    missing = names_without_place(model, values)
    held = {name: value for name, value in values.items() if name not in missing}
    return whole_phi(with_any_values(model, held))


def _quantities(source: _Source, spreads: Sequence[Array]) -> list[FittedQuantity]:
    """The quantities by statistical and total covariance (10, 10) of their source."""
    widest = spreads[1] if np.isfinite(spreads[1]).all() else spreads[0]
    if source.phi[0] > 0.0:
        found = central_quantities(source.phi)
        equal = _equal_pairs(found, widest)
        deviations = [_deviations(found, each, equal) for each in spreads]
    else:
        found, equal, deviations = None, np.eye(3, dtype=bool), []
    made = []
    for k, name in enumerate(QUANTITIES):
        note, unit = _reason(source, name, widest, equal), UNITS[name.partition(".")[0]]
        if note or found is None:
            made.append(FittedQuantity(name, unit, float("nan"), note=f"not determined: {note}"))
            continue
        value, std, total = (float(x[k]) for x in (found.values, *deviations))
        half = SIGMAS * (std if np.isnan(total) else total)
        made.append(FittedQuantity(name, unit, value, std, total, (value - half, value + half)))
    return made


def _reason(source: _Source, name: str, covariance: Array, equal: Array) -> str:
    """Why a quantity is not determined; empty where it is."""
    inputs = [field for field in inertial.NAMES if field in inputs_of(name)]
    unseen = dict.fromkeys(p for field in inputs for p in source.missing.get(field, ()))
    if unseen:
        return f"{listing(unseen, most=3)} {UNSEEN}"
    if name != "mass":
        share = float(np.sqrt(covariance[0, 0])) / source.phi[0]
        if not 0.0 <= share <= MOST_MASS_DEVIATION:
            return "the mass is not positive" if share < 0.0 else f"the mass is ± {share:.0%}"
    kind, _, at = name.partition(".")
    if kind == "tilt" and np.sum(equal["xyz".index(at[0])]) > 1:
        return "principal moments too close to tell the axes"
    return ""


def _equal_pairs(found: CentralQuantities, covariance: Array) -> Array:
    """Which principal moments (3, 3) noise could make equal; every one is equal to itself."""
    moments, spread = found.values[MOMENTS], found.spread
    equal = np.eye(3, dtype=bool)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        coupling = spread[:, i, j]
        apart = spread[:, i, i] - spread[:, j, j]
        noise = max(2.0 * _deviation(coupling, covariance), _deviation(apart, covariance))
        equal[i, j] = equal[j, i] = not noise < MOST_COUPLING * abs(moments[i] - moments[j])
    return equal


def _deviations(found: CentralQuantities, covariance: Array, equal: Array) -> Array:
    """Standard deviations (19,) of the quantities for a covariance (10, 10) of phi."""
    std = np.array([_deviation(row, covariance) for row in found.jacobian])
    for i in range(3):
        group = np.flatnonzero(np.linalg.matrix_power(equal.astype(int), 2)[i])
        # theory: errors of the moments of a group have together the squares of those of its matrix
        # (Hoffman, Wielandt 1953); one by one they have no derivative where moments are equal
        squares = [_deviation(found.spread[:, a, b], covariance) ** 2 for a in group for b in group]
        std[MOMENTS.start + i] = np.sqrt(np.sum(squares) / len(group))
    return std


def _deviation(slope: Array, covariance: Array) -> float:
    """NaN where the covariance is not known."""
    return float(np.sqrt(np.maximum(slope @ covariance @ slope, 0.0)))
