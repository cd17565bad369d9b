"""The angular momentum of a free-floating system stays: rows for the pair form (paper 003).

Every instant says Y pi + rotors = momentum, with the momentum known (a wheel spun up from rest) or
one more unknown. Only a rotor of known inertia, or a known momentum, fixes the scale.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.equations import balance
from freefloat.dynamics.frames import rotations
from freefloat.dynamics.tree import System
from freefloat.errors import IdentificationError
from freefloat.identification.linear.angular_regressor import (
    AXES,
    angular_rows,
    pair_form,
    pair_parameters,
    rotor_momentum,
)
from freefloat.identification.linear.family import (
    EquationInputs,
    Equations,
    Family,
    LinearForm,
    covariance,
)
from freefloat.identification.linear.linear_options import DEFAULTS, LinearOptions
from freefloat.identification.linear.parameter_columns import require_linear
from freefloat.identification.linear.samples import Samples
from freefloat.identification.linear.windows import fit_windows
from freefloat.model.parameter_name import field_of
from freefloat.observability.minimal_set import MinimalSet, generic_states, minimal_set
from freefloat.parameters.parameters import Parameter, Parameters


@dataclass(frozen=True)
class AngularForm:
    """The pair form of one mechanism, reduced to its minimal set.

    momentum: the known total angular momentum about the centre of mass [N m s], world axes; None
    when it is one more unknown. has_drag: the root loses momentum in proportion to how far it
    turned, by an unknown factor (an air bearing's drag).
    """

    minimal: MinimalSet
    momentum: tuple[float, float, float] | None = None
    has_drag: bool = False

    @classmethod
    def of(
        cls,
        system: System,
        *,
        momentum: tuple[float, float, float] | None = None,
        has_drag: bool = False,
    ) -> AngularForm:
        """The form for a system's mechanism; ranks come from generic motion."""
        names = pair_form(system).names
        n_states = 2 * len(names) // len(_rows(system)) + 10  # twice as many rows as columns
        states = generic_states(system, n_states)
        rows = angular_rows(system, states)[:, _rows(system)].reshape(-1, len(names))
        return cls(minimal_set(rows, names), momentum, has_drag)

    def parameters(self, system: System) -> Array:
        """The minimal parameters of a system [kg m^2]."""
        return self.minimal.regroup @ pair_parameters(system)

    def equations(
        self, system: System, samples: Samples, values: Mapping[str, float], *, noise: bool = True
    ) -> Equations:
        """The angular momentum of every instant: that of the links, minus known and unknown."""
        states, rows = samples.states, _rows(system)
        kept = [*self.minimal.kept]
        Y = angular_rows(system, states)[:, rows][:, :, kept]
        y = -rotor_momentum(system, states)[:, rows]
        names = list(self.minimal.words)
        if self.momentum is None:
            constant = np.broadcast_to(-np.eye(len(rows)), (len(y), len(rows), len(rows)))
            Y = np.concatenate([Y, constant], axis=2)
            names += [f"momentum0.{AXES[k]}" for k in rows]
        else:
            y = y + np.array(self.momentum)[rows]
        if self.has_drag:
            Y = np.concatenate([Y, _root_rotation(samples)[:, rows, None]], axis=2)
            names.append("drag")
        blocks = covariance(_slopes(system, samples)) if noise else np.zeros((0, 3, 3))
        return Equations(
            "angular", tuple(names), self.minimal.count, Y, y,
            tuple(f"angular.{AXES[k]}" for k in rows), ("N m s",) * len(rows),
            blocks[:, rows][:, :, rows],
        )  # fmt: skip


class Angular(Family):
    """Angular momentum about the centre of mass in the minimal parameters of the pair form."""

    name = "angular"
    fields = ("rate", "attitude")
    needs = ("rate",)
    scale_inputs = ()
    has_clock = True
    needs_free_root = True
    takes_momentum = True
    has_own_unknowns = True

    def prepare(
        self, system: System, samples: Samples, *, options: LinearOptions = DEFAULTS
    ) -> Samples:
        """The recording with every rate."""
        samples = super().prepare(system, samples)
        if system.model.root.type == "floating":
            samples.need(self.name, "attitude")
        if samples.thrust.any() or samples.wrench.any():
            raise IdentificationError(
                "external forces act in this recording, and their lever arm to the centre of mass"
                " is not known; use the momentum family (it needs base.velocity.*)",
                code="method.external_force",
            )
        if not samples.derived:
            return samples
        return fit_windows(samples, system, misfit=options.window_misfit)

    def rows(self, given: EquationInputs) -> Equations:
        """The rows of `AngularForm`, made for this system."""
        form = _angular_form(given.system, given.options)
        return form.equations(given.system, given.samples, given.values, noise=given.noise)

    def form(self, system: System, parameters: Parameters, options: LinearOptions) -> LinearForm:
        """The minimal parameters as unknowns; they are functions of the standard ones."""
        require_linear(system, parameters.names)
        rotors = [
            p.name for p in parameters if p.status != "fixed" and field_of(p.name) == "inertia"
        ]
        if rotors:
            raise IdentificationError(
                f"{rotors[0]}: the angular method takes rotors as known; use momentum or weak",
                code="method.rotors",
            )
        if any(p.status == "tied" for p in parameters):
            raise IdentificationError(
                "the angular method follows no ties; fix or free them", code="method.ties"
            )
        made = _angular_form(system, options)
        values = made.parameters(system)
        unknowns = tuple(
            Parameter(words, float(value), "kg m^2", status="free")
            for words, value in zip(made.minimal.words, values, strict=True)
        )
        return LinearForm(unknowns, made.equations, unknowns_of=made.parameters)


ANGULAR = Angular()


def _angular_form(system: System, options: LinearOptions) -> AngularForm:
    has_drag = options.drag or system.environment.angular_drag != 0.0
    return AngularForm.of(system, momentum=options.momentum, has_drag=has_drag)


def _rows(system: System) -> list[int]:
    return [2] if system.model.root.type == "planar" else [0, 1, 2]


def _root_rotation(samples: Samples) -> Array:
    """How far the root has turned since the start (N, 3) [rad], in world axes."""
    from scipy.integrate import cumulative_simpson

    assert samples.rate is not None
    rate = np.einsum("nij,nj->ni", rotations(samples.states), samples.rate)
    return cumulative_simpson(rate, x=samples.time, axis=0, initial=0.0)


def _slopes(system: System, samples: Samples) -> list[Array]:
    """How the angular momentum moves with every error."""
    pairs = samples.disturb("attitude", "rate", "q", "dq")
    return [0.5 * (_about_com(system, up) - _about_com(system, down)) for up, down in pairs]


def _about_com(system: System, samples: Samples) -> Array:
    return balance(system, samples.states).angular_momentum_about_com
