"""Which parameters are estimated: free, fixed or tied, with bounds, priors and units.

A Parameters object is frozen; every method gives a new one. Names take globs: `target.*`,
`hinge_?1.stiffness`. What belongs to a sensor (`bias.base.rate.x`, `gain.<channel>`,
`delay.base.rate`) or is taken as exact (`thr_1.gain`, `arm_1.zero`, `gravity.x`, `drag.linear`,
`bus.scale`) is there once it is named; docs/assumptions.md lists all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Annotated, Literal

import numpy as np

from freefloat.dynamics.named_parameters import parameter_names
from freefloat.dynamics.tree import System, flatten
from freefloat.errors import IdentificationError, require_type
from freefloat.model import inertia as inertial
from freefloat.model.model import Model
from freefloat.model.parameter_name import ParameterName
from freefloat.prediction.quantities import sensor_quantities, setup_quantities, setup_unit
from freefloat.records.option_record import require_value
from freefloat.records.values import Bounds
from freefloat.text import closest

ParameterStatus = Literal["free", "fixed", "tied"]

UNITS = {
    "mass": "kg", "length": "m", "inertia": "kg m^2", "stiffness": "N m/rad",
    "damping": "N m s/rad", "rest": "rad", "friction": "N m", "armature": "kg m^2",
    **dict.fromkeys(("mx", "my", "mz"), "kg m"),
    **dict.fromkeys(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), "kg m^2"),
}  # fmt: skip
PRISMATIC_UNITS = {
    "stiffness": "N/m", "damping": "N s/m", "rest": "m", "friction": "N", "armature": "kg",
}  # fmt: skip
START_UNITS = {"position": "m", "attitude": "rad", "velocity": "m/s", "rate": "rad/s"}


# theory: far below what anything is known to, yet one over its square is still a finite number
SMALLEST = 1e-50
Spread = Annotated[float, Bounds(least=SMALLEST, remedy="give a standard deviation above 0")]


@dataclass(frozen=True)
class Parameter:
    """One parameter: its value in the model, unit, status, bounds and prior.

    prior: mean and standard deviation in the parameter's unit; tied_to: another parameter and the
    factor by which it is followed; is_shared: one value for all recordings.
    """

    name: str
    value: float
    unit: str
    status: ParameterStatus = "fixed"
    lower: float = -np.inf
    upper: float = np.inf
    prior: tuple[float, float] | None = None
    tied_to: tuple[str, float] | None = None
    is_shared: bool = True


@dataclass(frozen=True)
class Parameters:
    """The parameters of a model and what is asked of them; everything begins fixed.

    Args:
        model: whose parameters they are.
        entries: none given: all of the model's, at its values.

    Raises:
        IdentificationError: (by the methods) a name or glob fits no parameter of the model.

    >>> from freefloat.model import load_model
    >>> wanted = Parameters(load_model("servicer-wings")).free("bus.*").fix("bus.i?z")
    >>> [p.name for p in wanted.free_ones][:2], len(wanted.free_ones)
    (['bus.mass', 'bus.mx'], 7)
    """

    model: Model
    entries: tuple[Parameter, ...] = ()

    def __post_init__(self) -> None:
        require_type(self.model, Model, "model", error=IdentificationError)
        if not self.entries:
            values = parameter_values(flatten(self.model))
            entries = (Parameter(name, values[name], unit_of(name, self.model)) for name in values)
            object.__setattr__(self, "entries", tuple(entries))

    @classmethod
    def of(cls, model: Model) -> Parameters:
        """All parameters of a model, fixed at its values."""
        return cls(model)

    def free(self, *globs: str) -> Parameters:
        """With the matching parameters to be estimated."""
        return self._change(globs, lambda p: replace(p, status="free", tied_to=None))

    def fix(self, *globs: str, value: float | None = None) -> Parameters:
        """With the matching parameters held at their model value, or at `value` in their unit."""
        value = require_value(value, float | None, "value", IdentificationError)
        return self._change(
            globs,
            lambda p: replace(
                p, status="fixed", tied_to=None, value=p.value if value is None else value
            ),
        )

    def tie(self, glob: str, *, to: str, factor: float = 1.0) -> Parameters:
        """With the matching parameters following `factor` times the parameter `to`.

        Args:
            glob: Names of the parameters that follow.
            to: The parameter that they follow.
            factor: By which its value is multiplied.

        Returns:
            The parameters with the tie.

        Raises:
            IdentificationError: A name fits no parameter, or the factor is no number.

        >>> from freefloat.model import load_model
        >>> wings = Parameters(load_model("servicer-wings")).free("hinge_l1.stiffness")
        >>> wings.tie("hinge_r1.stiffness", to="hinge_l1.stiffness")["hinge_r1.stiffness"].tied_to
        ('hinge_l1.stiffness', 1.0)
        """
        factor = require_value(factor, float, "factor", IdentificationError)
        self[to]
        return self._change(
            (glob,),
            lambda p: (
                p
                if p.name == to
                else replace(p, status="tied", tied_to=(to, factor), value=factor * self[to].value)
            ),
        )

    def bound(self, *globs: str, lower: float = -np.inf, upper: float = np.inf) -> Parameters:
        """With bounds on the matching parameters, in their units.

        Args:
            *globs: Names of the parameters.
            lower: The smallest value allowed.
            upper: The largest value allowed.

        Returns:
            The parameters with the bounds.

        Raises:
            IdentificationError: `lower` is above `upper`, or a name fits no parameter.

        >>> from freefloat.model import load_model
        >>> bounded = Parameters(load_model("ets7")).free("bus.mass").bound("bus.mass", lower=0.0)
        >>> bounded["bus.mass"].lower, bounded["bus.mass"].upper
        (0.0, inf)
        """
        if not lower <= upper:  # not a number is no bound either
            raise IdentificationError(
                f"the bounds {lower:g} .. {upper:g} are empty; swap them", code="option.order"
            )
        return self._change(globs, lambda p: replace(p, lower=lower, upper=upper))

    def prior(
        self, *globs: str, std: float | None = None, relative: float | None = None
    ) -> Parameters:
        """With a Gaussian prior at the model value on the matching parameters.

        Args:
            *globs: names of the parameters.
            std: standard deviation, in their unit; or
            relative: standard deviation as a share of the value.

        Returns:
            The parameters with the prior.

        Raises:
            IdentificationError: none or both are given, one is not positive, or a name fits no
                parameter.

        >>> from freefloat.model import load_model
        >>> weighed = Parameters(load_model("ets7")).free("bus.mass").prior("bus.mass", std=5.0)
        >>> weighed["bus.mass"].prior
        (2645.9, 5.0)
        """
        if (std is None) == (relative is None):
            raise IdentificationError(
                "a prior needs either std= or relative=, and not both", code="option.conflict"
            )
        std = require_value(std, Spread | None, "std", IdentificationError)
        relative = require_value(relative, Spread | None, "relative", IdentificationError)

        def weigh(p: Parameter) -> Parameter:
            spread = std if std is not None else (relative or 0.0) * abs(p.value)
            if not spread >= SMALLEST:
                raise IdentificationError(
                    f"the prior of {p.name} has no spread (its value is {p.value:g}); give std=",
                    code="option.range",
                )
            return replace(p, prior=(p.value, spread))

        return self._change(globs, weigh)

    def per_recording(self, *globs: str) -> Parameters:
        """With the matching parameters found anew for every recording."""
        return self._change(globs, lambda p: replace(p, is_shared=False))

    def with_conditions_of(self, other: Parameters) -> Parameters:
        """With the bounds, priors and ties of another model's parameters of the same names.

        What was free stays free and fixed stays fixed, but for what is tied; a tie to what is not
        here is dropped, and so are conditions on it.
        """
        known = {p.name: p for p in other}

        def condition(p: Parameter) -> Parameter:
            like = known.get(p.name)
            if like is None:
                return p
            p = replace(p, lower=like.lower, upper=like.upper, is_shared=like.is_shared)
            if p.status == "free":
                return replace(p, prior=like.prior)
            if like.tied_to is not None and like.tied_to[0] in self._index:
                return replace(p, status="tied", tied_to=like.tied_to)
            return p

        return replace(self, entries=tuple(condition(p) for p in self))

    def __getitem__(self, name: str) -> Parameter:
        """The parameter of that name."""
        if name not in self._index:
            raise self._unknown(name)
        return self.entries[self._index[name]]

    def __iter__(self) -> Iterator[Parameter]:
        """All parameters in model order."""
        return iter(self.entries)

    @property
    def free_ones(self) -> tuple[Parameter, ...]:
        """The parameters to be estimated."""
        return tuple(p for p in self.entries if p.status == "free")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters to be estimated."""
        return tuple(p.name for p in self.free_ones)

    @cached_property
    def _index(self) -> dict[str, int]:
        return {p.name: i for i, p in enumerate(self.entries)}

    def _change(
        self, globs: tuple[str, ...], change: Callable[[Parameter], Parameter]
    ) -> Parameters:
        for glob in globs:
            require_value(glob, str, "name", IdentificationError)
        wider = self._with_named(globs)
        for glob in globs:
            if not any(fnmatchcase(p.name, glob) for p in wider):
                raise self._unknown(glob)
        entries = tuple(
            change(p) if any(fnmatchcase(p.name, glob) for glob in globs) else p for p in wider
        )
        return replace(self, entries=entries)

    def matching(self, glob: str) -> list[Parameter]:
        """The parameters that a name or glob means, those of sensors included if it says so.

        >>> from freefloat.model import load_model
        >>> [p.name for p in Parameters(load_model("planar-capture")).matching("bias.*.rate.z")]
        ['bias.base.rate.z', 'bias.hand.rate.z', 'bias.target.rate.z']
        """
        return [p for p in self._with_named((glob,)) if fnmatchcase(p.name, glob)]

    def _with_named(self, globs: tuple[str, ...]) -> tuple[Parameter, ...]:
        """The entries, and those of sensors and of the setup that a glob names."""
        found = self.entries
        kinds = {glob: ParameterName.parse(glob) for glob in globs}
        strange = [g for g in globs if not any(fnmatchcase(p.name, g) for p in self.entries)]
        asked = [glob for glob, name in kinds.items() if name.is_of_sensor or glob in strange]
        if any(name.is_of_sensor for name in kinds.values()):
            found = (*found, *self._new(sensor_parameters(self.model), asked))
        asked = [
            glob
            for glob, name in kinds.items()
            if name.is_of_setup or name.is_of_known_body or glob in strange
        ]
        if asked:
            found = (*found, *self._new(setup_parameters(self.model), asked))
        return found

    def _new(self, more: list[Parameter], globs: list[str]) -> list[Parameter]:
        """Those of the parameters that a glob names and that are not here yet."""
        return [
            p
            for p in more
            if p.name not in self._index and any(fnmatchcase(p.name, glob) for glob in globs)
        ]

    def _unknown(self, name: str) -> IdentificationError:
        close = closest(name, list(self._index), most=3, likeness=0.5)
        hint = f"did you mean {', '.join(close)}?" if close else "see Parameters(...).entries"
        return IdentificationError(
            f"{self.model.name!r} has no parameter like {name!r}; {hint}", code="name.unknown"
        )


def sensor_parameters(model: Model) -> list[Parameter]:
    """Bias, gain, delay, ... of everything that can be measured, as the model file has them."""
    return [Parameter(*quantity) for quantity in sensor_quantities(model)]


def setup_parameters(model: Model) -> list[Parameter]:
    """What the model takes as exact of inputs, geometry, surroundings and the scale of bodies."""
    return [Parameter(*quantity) for quantity in setup_quantities(model)]


def unit_of(name: str, model: Model) -> str:
    """The unit of a parameter, in words of SI."""
    parsed = ParameterName.parse(name)
    owner, field = parsed.owner, parsed.field
    if parsed.is_start:
        return START_UNITS.get(owner, "rad" if field == "position" else "rad/s")
    if parsed.is_of_setup or parsed.is_of_known_body:
        return setup_unit(model, name)
    is_prismatic = any(j.name == owner and j.type == "prismatic" for j in model.joints)
    return PRISMATIC_UNITS.get(field, UNITS[field]) if is_prismatic else UNITS[field]


def parameter_values(system: System) -> dict[str, float]:
    """The model's value of every parameter; initial states are counted from the start, so zero."""
    bodies = {body.name: body for body in system.model.assembly.bodies}
    tanks = {tank.name: tank for tank in system.model.tanks}
    springs = {spring.owner: spring for spring in system.model.assembly.springs}
    rotors = {rotor.owner: rotor for rotor in system.model.assembly.rotors}
    values: dict[str, float] = {}
    for name in parameter_names(system):
        parsed = ParameterName.parse(name)
        owner, field = parsed.owner, parsed.field
        if parsed.is_start:
            values[name] = 0.0
        elif owner in tanks and field in ("mass", "length"):
            values[name] = float(getattr(tanks[owner], field))
        elif owner in bodies and parsed.is_inertial:
            values[name] = float(bodies[owner].phi[inertial.NAMES.index(field)])
        elif owner in springs and parsed.is_spring:
            values[name] = float(getattr(springs[owner], field))
        else:
            values[name] = float(rotors[owner.removesuffix(".drive")].inertia)
    return values
