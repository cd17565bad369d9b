"""Trajectories: the state over time, for given inputs.

RK4 with a fixed step is the default (1 ms keeps momentum to 1e-10 over ten minutes); DOP853 with
error control is there where asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.equations import mass_matrix
from freefloat.dynamics.kernels.integrate import Inputs, Stages
from freefloat.dynamics.kernels.newton_euler import new_work
from freefloat.dynamics.state import ATTITUDE, as_states, positions
from freefloat.dynamics.tree import System
from freefloat.errors import FreefloatError
from freefloat.model.assembly import Spring
from freefloat.progress import Progress, silent

InputFunction = Callable[[Array], Inputs]

# measured: tests/physics/test_conservation.py, momentum stays to 1e-10 for 600 s
STEP = 1e-3  # [s]
# theory: twice the 1e-9 s (excitation.commands.SAME_INSTANT) up to which an instant counts as past
# a jump
BEFORE = 2e-9  # [s]
# theory: RK4 damps what it should up to 2.785 on the real axis and 2.83 on the imaginary one
STABLE = 2.7  # step times rate
CHUNK = 20_000  # format: steps per table of inputs; bounds memory, and how often progress is told


@dataclass(frozen=True)
class Trajectory:
    """States (N, 13 + 2 c) at times (N,) [s]."""

    times: Array
    states: Array


def integrate(
    system: System,
    start: Array,
    inputs: InputFunction,
    *,
    duration: float,
    step: float = STEP,
    every: int = 1,
    method: Literal["rk4", "dop853"] = "rk4",
    breaks: Sequence[float] = (),
    progress: Progress = silent,
) -> Trajectory:
    """The motion of a mechanism from a start.

    Args:
        system: The mechanism, from `flatten`; it has c coordinates.
        start: Initial state (13 + 2 c).
        inputs: Gives the input tables for an array of times (rows, 3): start, middle and end of
            each step. `Plan.inputs` makes such a function.
        duration: How long [s].
        step: Length of a step [s].
        every: Keep every so many-th step.
        method: "rk4", or "dop853", which controls its steps between those kept.
        breaks: Times [s] at which inputs jump; DOP853 starts afresh there, RK4 needs them on steps.
        progress: Called every 20 000 steps; may raise to stop.

    Returns:
        Times [s] and states, at the start and at every step kept.

    Raises:
        FreefloatError: The motion is not finite, or the step is too long for a spring.
    """
    n_steps = whole_steps(duration, step, every)
    if method not in ("rk4", "dop853"):
        raise FreefloatError(
            f"there is no method {method!r}; choose 'rk4' or 'dop853'", code="option.choice"
        )
    start = as_states(start, system)[0]
    times = np.arange(0, n_steps + 1, every) * step
    if method == "dop853":
        states = _adaptive(system, start, inputs, times, breaks, progress)
    else:
        require_stable_step(system, start, step)
        states = _fixed_step(system, start, inputs, n_steps, step, every, progress)
    if not np.all(np.isfinite(states)):
        first = times[np.argmin(np.all(np.isfinite(states), axis=1))]
        raise FreefloatError(
            f"the motion of {system.model.name!r} is not finite from t = {first:g} s on; a free"
            " joint carries no inertia (see `freefloat check`), or the step is too long for the"
            f" stiffest spring or feedback (step {step:g} s)",
            code="motion.not_finite",
        )
    return Trajectory(times, states)


def require_stable_step(system: System, start: Array, step: float) -> None:
    """Raise FreefloatError when a spring, damper or friction is too stiff for RK4 at this step."""
    for spring, rate in _spring_rates(system, start):
        load = step * rate
        if load > STABLE:
            sticking = spring.friction / spring.friction_speed
            what = "friction" if sticking > spring.damping else "spring or damper"
            needed = spring.friction_speed * load / 2.5
            remedy = f"raise friction_speed to {needed:.2g}, " if what == "friction" else ""
            raise FreefloatError(
                f"the {what} of {spring.owner!r} is too stiff for RK4 with a step of {step:g} s;"
                f" {remedy}use a step of {2.5 * step / load:.2g} s or method dop853",
                code="step.unstable",
            )


def longest_stable_step(
    system: System, start: Array, step: float, *, shortest: float = 1e-4
) -> float:
    """The step [s], halved until RK4 is stable with every spring, damper and friction.

    shortest: no step of this length [s] or less is halved again; at 1e-4 s RK4 is stable up to
    2.83 / (2 pi 1e-4) = 4.5 kHz.

    >>> from freefloat.dynamics.state import Start
    >>> from freefloat.dynamics.tree import flatten
    >>> from freefloat.model import load_model
    >>> rigid = flatten(load_model("cepheus"))
    >>> longest_stable_step(rigid, Start().vector(rigid), 0.02)
    0.02
    """
    fastest = max((rate for _, rate in _spring_rates(system, start)), default=0.0)
    while step > shortest and step * fastest > STABLE:
        step /= 2.0
    return step


def _spring_rates(system: System, start: Array) -> Iterator[tuple[Spring, float]]:
    """Every spring with the fastest rate [1/s] at which it lets its coordinate move.

    That is its damping (friction included: beyond its limit it chatters instead of holding) over
    the inertia, or its frequency. The inertia is the one that a coordinate feels with everything
    else free to give way.
    """
    free = system.tree.free
    names = [system.coordinates[int(g) - 6] if g >= 6 else "" for g in free]
    give = np.diag(np.linalg.pinv(mass_matrix(system, positions(start))))
    for spring in system.model.assembly.springs:
        ease = sum(give[names.index(end)] for end in (spring.coordinate, spring.other or "")
                   if end in names and end)  # fmt: skip
        sticking = spring.friction / spring.friction_speed
        yield spring, max((spring.damping + sticking) * ease, np.sqrt(spring.stiffness * ease))


def whole_steps(duration: float, step: float, every: int) -> int:
    """The number of steps in a duration; FreefloatError unless it is a whole number of records."""
    is_sound = step > 0.0 and every >= 1 and np.isfinite(duration)
    n_steps = round(duration / step) if is_sound else 0
    if n_steps < 1 or n_steps % every or abs(n_steps * step - duration) > 1e-3 * step:
        raise FreefloatError(
            f"the duration {duration:g} s is not a whole number of records of {every * step:g} s;"
            " change the duration or the recording rate",
            code="duration.records",
        )
    return n_steps


def _fixed_step(
    system: System,
    start: Array,
    inputs: InputFunction,
    n_steps: int,
    step: float,
    every: int,
    progress: Progress,
) -> Array:
    from freefloat.dynamics.kernels.integrate import rk4

    x = np.array(start, dtype=float)
    states = np.empty((1 + n_steps // every, len(x)))
    states[0] = x
    work, stages = new_work(system.tree), Stages(*(np.zeros_like(x) for _ in range(3)))
    chunk = max(every, CHUNK // every * every)
    for first in range(0, n_steps, chunk):
        n = min(chunk, n_steps - first)
        at = (first + np.arange(n)[:, None] + np.array([0.0, 0.5, 1.0])) * step
        out = states[1 + first // every : 1 + (first + n) // every]
        table = inputs(at)
        at_start, par = first * step, system.parameters
        rk4(system.tree, par, work, table, at_start, step, n, every, x, stages, out)
        progress("simulating", (first + n) / n_steps)
    return states


def _adaptive(
    system: System,
    start: Array,
    inputs: InputFunction,
    times: Array,
    breaks: Sequence[float],
    progress: Progress,
) -> Array:
    from scipy.integrate import solve_ivp

    from freefloat.dynamics.kernels.integrate import state_rate_at

    work = new_work(system.tree)
    dx = np.empty_like(start)

    def rate(t: float, x: Array, before: float) -> Array:
        now = min(t, before)  # up to its end a stretch has its own inputs, not those of the next
        table = inputs(np.array([[now, now, now]]))
        state_rate_at(system.tree, system.parameters, work, table, t, x, dx)
        return dx.copy()

    x = np.array(start, dtype=float)
    states = np.empty((len(times), len(x)))
    states[0] = x
    edges = [times[0], *sorted({b for b in breaks if times[0] < b < times[-1]}), times[-1]]
    for a, b in pairwise(edges):
        inside = (times > a) & (times <= b)
        wanted = np.unique(np.append(times[inside], b))
        before = max(a, b - BEFORE)
        result = solve_ivp(
            rate, (a, b), x, "DOP853", wanted, args=(before,), rtol=1e-11, atol=1e-13
        )
        if not result.success:
            raise FreefloatError(
                f"the adaptive integrator stopped: {result.message}", code="integrator.stopped"
            )
        rows = result.y.T
        rows[:, ATTITUDE] /= np.linalg.norm(rows[:, ATTITUDE], axis=1, keepdims=True)
        states[inside] = rows[np.isin(wanted, times[inside])]
        x = rows[-1]
        progress("simulating", float(b / times[-1]))
    return states
