"""The compiled filter's problem for a model: which unknowns, how they act, how they are scaled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.tree import System, flatten
from freefloat.errors import IdentificationError
from freefloat.identification.linear.momentum import NUISANCE
from freefloat.identification.linear.parameter_columns import change_matrix, require_linear
from freefloat.model.model import Model
from freefloat.online.kernels.codes import LEVEL, SETTLED
from freefloat.online.kernels.memory import FilterMemory, FilterProblem
from freefloat.online.kernels.square_root_information import MOST
from freefloat.online.live_channels import Channels
from freefloat.parameters.natural_sizes import natural_sizes
from freefloat.parameters.parameters import Parameter, Parameters, parameter_values
from freefloat.records.values import LARGEST

if TYPE_CHECKING:
    from freefloat.online.live_filter import FilterRequest

# theory: natural sizes; a row that shows an unknown at one standard deviation counts 1e12 times as
# much as such a prior, which so moves no estimate, and yet every unknown has a deviation
DIFFUSE = 1e6


@dataclass(frozen=True)
class FilterUnknowns:
    """The free parameters, with the nuisance before them; sizes are their units inside the filter.

    prior (N, 2): mean, as a change from the model in sizes, and deviation in sizes.
    """

    free: tuple[Parameter, ...]
    nuisance: tuple[str, ...]
    sizes: Array  # (N,)
    prior: Array

    @property
    def names(self) -> tuple[str, ...]:
        """Nuisance first, then parameters."""
        return (*self.nuisance, *(p.name for p in self.free))

    @property
    def without_nuisance(self) -> FilterUnknowns:
        """The parameters alone."""
        n = len(self.nuisance)
        return FilterUnknowns(self.free, (), self.sizes[n:], self.prior[n:])


def unknowns_of(system: System, parameters: Parameters) -> FilterUnknowns:
    """The unknowns of a model; IdentificationError for what momentum cannot find."""
    free = parameters.free_ones
    if not free:
        raise IdentificationError(
            "nothing is free; say what to look for with Parameters.free(...)",
            code="parameters.none",
        )
    if len(free) + len(NUISANCE) > MOST:
        raise IdentificationError(
            f"{len(free)} parameters are free; live, {MOST} are the most", code="parameters.many"
        )
    root = system.model.root.type
    if root == "fixed":
        raise IdentificationError(
            "momentum is not conserved with a fixed root; use identify with torques",
            code="method.fixed_root",
        )
    if system.environment.gravity.any() or system.environment.has_drag:
        raise IdentificationError(
            "live momentum leaves gravity and drag out; use identify (weak)", code="method.gravity"
        )
    tied = [p for p in parameters if p.status == "tied"]
    require_linear(system, [p.name for p in (*free, *tied)])
    nuisance = NUISANCE[:2] if root == "planar" else NUISANCE
    sizes = natural_sizes(system, [p.name for p in free])
    whole = float(np.sum(system.parameters.phi[:, 0]))
    everything = np.concatenate([np.full(len(nuisance), whole), sizes])
    prior = np.column_stack([np.zeros(len(everything)), np.full(len(everything), DIFFUSE)])
    for k, p in enumerate(free, start=len(nuisance)):
        if p.prior is not None:
            prior[k] = np.array([p.prior[0] - p.value, p.prior[1]]) / everything[k]
    return FilterUnknowns(free, nuisance, everything, prior)


def problem_of(
    system: System,
    request: FilterRequest,
    unknowns: FilterUnknowns,
    channels: Channels,
    gates: tuple[float, float],
) -> FilterProblem:
    """The problem as arrays."""
    options = request.options
    sizes = unknowns.sizes[len(unknowns.nuisance) :]
    change = change_of(system, request.parameters) * sizes
    n_links = system.n_links
    unknown, place = np.nonzero(change[: 10 * n_links].T)
    return FilterProblem(
        system.tree, system.parameters, np.unique(place // 10).astype(np.int64),
        np.column_stack([place, unknown]).astype(np.int64), change[place, unknown],
        np.ascontiguousarray(change[10 * n_links :]),
        channels.sigma.copy(), channels.thrust_noise.copy(),
        np.array([0, 1, 5] if channels.is_planar else range(6), dtype=np.int64),
        len(unknowns.nuisance), len(unknowns.free), float(unknowns.sizes[0]),
        walk_rates(unknowns, request.random_walk),
        np.array(gates),
        np.array([options.solve_every, options.weigh_every, options.correct_every], dtype=np.int64),
        1.0 if request.correct else 0.0, checked_forgetting(request.forgetting), options.limits,
    )  # fmt: skip


def change_of(system: System, parameters: Parameters) -> Array:
    """d system vector / d free parameters, ties followed."""
    free = [p.name for p in parameters.free_ones]
    change = change_matrix(system, free)
    tied = [p for p in parameters if p.status == "tied" and p.tied_to and p.tied_to[0] in free]
    if tied:
        following = change_matrix(system, [p.name for p in tied])
        for column, p in zip(following.T, tied, strict=True):
            assert p.tied_to is not None
            change[:, free.index(p.tied_to[0])] += p.tied_to[1] * column
    return change


def walk_rates(unknowns: FilterUnknowns, walk: Mapping[str, float]) -> Array:
    """Variance per second of every unknown's walk, in sizes; walk: glob -> per root second."""
    rates = np.zeros(len(unknowns.names))
    for glob, rate in walk.items():
        hits = [k for k, name in enumerate(unknowns.names) if fnmatchcase(name, glob)]
        if not hits or not 0.0 <= rate <= LARGEST:
            raise IdentificationError(
                f"random_walk {glob!r}: {rate!r}; give a free parameter (or a glob) and a deviation"
                " per square root of a second, in its unit",
                code="option.form",
            )
        rates[hits] = rate
    return (rates / unknowns.sizes) ** 2


def start(
    memory: FilterMemory, unknowns: FilterUnknowns, which: Sequence[int] | None = None
) -> None:
    """Put the priors of the unknowns (all, or which) into the square-root information matrix."""
    for k in range(len(unknowns.sizes)) if which is None else which:
        mean, deviation = unknowns.prior[k]
        memory.information_root[k, k] = 1.0 / deviation
        memory.information_root[k, -1] = mean / deviation


def renew_model_weights(problem: FilterProblem, memory: FilterMemory) -> None:
    """Weights are made of the model's parameters again."""
    memory.weight_x[:] = 0.0
    memory.weight_phi[:], memory.weight_rotor[:] = problem.par.phi, problem.par.rotor
    memory.numbers[LEVEL], memory.numbers[SETTLED] = 1.0, 0.0


def with_fixed_values(model: Model, parameters: Parameters) -> Model:
    """The model with the values asked for: fixed or started from elsewhere."""
    from freefloat.parameters.write_back import with_parameters

    known = parameter_values(flatten(model))
    moved = {p.name: p.value for p in parameters if known.get(p.name, p.value) != p.value}
    return with_parameters(model, moved) if moved else model


def checked_forgetting(forgetting: float) -> float:
    """The factor, if it is one; IdentificationError otherwise."""
    if not 0.0 < forgetting <= 1.0:
        raise IdentificationError(
            f"forgetting={forgetting!r}; give more than 0, at most 1 (nothing is forgotten)",
            code="option.range",
        )
    return float(forgetting)


def gates_of(gate: float, channels: Channels) -> tuple[float, float]:
    """The largest NIS for all rows and for the linear ones; zeros for no gate."""
    largest = gate_limits(gate, [3, 2] if channels.is_planar else [6, 3])
    return (0.0, 0.0) if largest is None else (float(largest[0]), float(largest[1]))


def gate_limits(gate: float, dof: Sequence[int]) -> Array | None:
    """The NIS that so small a share of good samples exceeds, by degrees of freedom; None: no gate.

    >>> gate_limits(1e-6, [3]).round(1).tolist()
    [30.7]
    """
    if not 0.0 <= gate < 0.5:
        raise IdentificationError(
            f"gate={gate!r}; give a chance from 0 (no gate) to 0.5", code="option.range"
        )
    if gate == 0.0:
        return None
    from scipy.stats import chi2

    return chi2.isf(gate, dof)


def reset_places(
    model: Model, unknowns: FilterUnknowns, reset: tuple[str, ...] | None
) -> list[int]:
    """Which unknowns a change makes unknown again: those of the targets, unless told."""
    globs = tuple(f"{t.name}.*" for t in model.targets) if reset is None else reset
    names, n = unknowns.names, len(unknowns.nuisance)
    return [k for k in range(n, len(names)) if any(fnmatchcase(names[k], glob) for glob in globs)]


def leave_out(memory: FilterMemory, dropped: Sequence[int]) -> None:
    """Forget all that is known of some unknowns, keeping what the others have without them.

    The factor R is triangularised anew with the dropped ones first, and their rows go. What noise
    does goes with it: with x_d = q - G x_k eliminated, B becomes that of the columns Y_k - Y_d G.
    """
    T, bias = memory.information_root, memory.bias
    N, n = len(T), len(dropped)
    d = np.array(dropped, dtype=int)
    k = np.setdiff1d(np.arange(N), d)
    turned = np.asarray(np.linalg.qr(T[:, [*d, *k, N]], mode="r"))[:N]
    turned *= np.where(np.diag(turned) < 0.0, -1.0, 1.0)[:, None]
    gone = np.linalg.solve(turned[:n, :n], turned[:n, n:])
    mix = np.zeros((N, len(k)))
    mix[k] = np.eye(len(k))
    mix[d] = -gone[:, :-1]
    right = bias[:, N] - bias[:, d] @ gone[:, -1]
    B, c = mix.T @ bias[:, :N] @ mix, mix.T @ right
    T[:], bias[:] = 0.0, 0.0
    T[np.ix_(k, np.append(k, N))] = turned[n:, n:]
    bias[np.ix_(k, k)], bias[k, N] = B, c
    memory.x[d] = 0.0
