"""The square-root error-state Kalman filter itself: begin, move on, take readings in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil
from typing import Any

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.named_parameters import renew_directions, varying_directions
from freefloat.dynamics.parameter_map import ParameterMap
from freefloat.dynamics.sensitivity import Sensitivity
from freefloat.dynamics.state import ATTITUDE
from freefloat.dynamics.tree import System, with_friction
from freefloat.identification.output_error.unknowns import NON_NEGATIVE, state_names
from freefloat.model.parameter_name import ParameterName, field_of, owner_of
from freefloat.online.error_state import Layout, apply_steps, layout_of
from freefloat.online.filter_problem import FilterUnknowns
from freefloat.online.kalman_arrays import (
    algebra_of,
    error_state,
    mechanics_of,
    parameter_table,
    readings_of,
    stream_table,
)
from freefloat.online.kalman_memory import KalmanMemory, Settings, innovation_arrays
from freefloat.online.kalman_rows import KalmanRows
from freefloat.online.kalman_start import WindowEnd
from freefloat.online.kernels.kalman_tables import (
    AGAIN,
    BROKEN,
    DRIVEN,
    IS_BEGUN,
    N_BAD,
    N_ROWS,
    ORDERS,
    OTHER,
    TIME,
)
from freefloat.parameters.parameters import Parameters
from freefloat.prediction.measurements import Measurement

POSITIVE = (*NON_NEGATIVE, "ixx", "iyy", "izz")


class KalmanRecursion:
    """State, parameters and joints with their covariance, in memory that can be saved."""

    def __init__(
        self, system: System, parameters: Parameters, streams: Sequence[Measurement],
        unknowns: FilterUnknowns, settings: Settings,
    ) -> None:  # fmt: skip
        names = [p.name for p in parameters if p.status in ("free", "tied")]
        has_friction = any(field_of(name) == "friction" for name in names)
        self.home = with_friction(system) if has_friction else system
        self.streams, self.unknowns, self.settings = tuple(streams), unknowns, settings
        self.options = settings.options
        self.states = state_names(system, {s.sensor.kind for s in streams})
        self.ties = [
            (p.name, *p.tied_to)
            for p in parameters
            if p.tied_to and p.tied_to[0] in [q.name for q in unknowns.free]
        ]
        self.layout = self._layout()
        start = self._shares @ np.array([p.value for p in unknowns.free])
        self._map = ParameterMap(self.home, self._inner, start)
        self._root_body = system.model.root.body
        self._varying = varying_directions(self.home, self.layout.names)
        self._made: tuple[bytes, System] | None = None
        # what must be positive may go at most nine tenths down at once
        self._is_positive = np.array([field_of(p.name) in POSITIVE for p in unknowns.free], bool)
        self._make_tables()

    def _make_tables(self) -> None:
        """The memory, and the arrays that the kernels work on, bound to them."""
        home, layout, settings = self.home, self.layout, self.settings
        streams = stream_table(home, self.streams, self.unknowns, layout)
        n_motions, n_rows = len(home.layout.motions), len(streams.noise)
        n_thrusters = len(home.tree.thruster_link)
        self.memory = self._memory(n_rows)
        numbers = parameter_table(self._map, self._shares)
        self.mechanics = mechanics_of(home, layout, numbers)
        least = np.where(self._is_positive, 0.1, 0.0)
        self.table = error_state(home, layout, self.unknowns, settings, least)
        self.readings = readings_of(streams, layout, n_thrusters, n_motions)
        self.algebra = algebra_of(layout, home, n_rows, n_motions)
        self.rows = KalmanRows(home, self.streams, streams)
        self._others = np.flatnonzero(streams.kind == OTHER)
        self._bent = np.array([stream.needs_forces for stream in self.streams], dtype=bool)
        self._kernels: tuple[Callable[..., Any], ...] | None = None
        self._arguments = (
            self.mechanics, numbers, self.table, streams, self.readings, self.algebra, self.memory,
        )  # fmt: skip

    def _compile(self) -> tuple[Callable[..., Any], ...]:
        """`move`, `look` and `correct` with their arrays."""
        if self._kernels is None:
            from freefloat.numba_.bound_arguments import bind, compile_call
            from freefloat.online.kernels.kalman_motion import move
            from freefloat.online.kernels.kalman_update import correct, look

            bound = bind(*self._arguments)
            self._kernels = (
                compile_call(move, bound, 0.0, 0.0, 1), compile_call(look, bound, 0.0),
                compile_call(correct, bound, 0, True),
            )  # fmt: skip
        return self._kernels

    def _layout(self) -> Layout:
        free = [p.name for p in self.unknowns.free]
        inner = [name for name in free if not ParameterName.parse(name).is_of_sensor]
        inner += [name for name, _, _ in self.ties]
        leaders = {name: (leader, factor) for name, leader, factor in self.ties}
        self._inner, self._shares = tuple(inner), np.zeros((len(inner), len(free)))
        for row, name in enumerate(inner):
            leader, factor = leaders.get(name, (name, 1.0))
            self._shares[row, free.index(leader)] = factor
        mix = self._shares * self.unknowns.sizes
        return layout_of(self.home, self.states, inner, mix, len(free))

    def _memory(self, n_rows: int) -> KalmanMemory:
        system, g = self.home, self.layout.n_joints
        start = np.array([p.value for p in self.unknowns.free])
        return KalmanMemory(
            np.zeros(system.layout.width), np.zeros((ORDERS, g)), np.diag(self._spread()),
            start + self.unknowns.sizes * self.unknowns.prior[:, 0],
            np.zeros(len(system.tree.thruster_link) + 6), np.zeros(3),
            np.zeros(4, dtype=np.int64), np.zeros(len(self.streams), dtype=np.int64),
            *innovation_arrays(n_rows),
        )  # fmt: skip

    def _spread(self) -> Array:
        """Deviations at the beginning."""
        o, spread = self.options, np.zeros(self.layout.n_all)
        of_root = {
            "position": o.position_spread, "attitude": o.attitude_spread,
            "velocity": o.velocity_spread, "rate": o.rate_spread,
        }  # fmt: skip
        for k, name in enumerate(self.states):
            spread[k] = of_root.get(owner_of(name), o.swing_spread)
        spread[self.layout.parameters] = self.unknowns.prior[:, 1]
        spread[self.layout.joints] = np.repeat(o.joint_spread, self.layout.n_joints)
        return spread

    @property
    def system(self) -> System:
        """The system with the parameters as they are known now."""
        values = self.memory.values
        if self._made is None or self._made[0] != values.tobytes():
            self._made = values.tobytes(), self._map.system(self._shares @ values)
        return self._made[1]

    def begin(self, time: float) -> bool:
        """Start a segment at what is read; False unless it tells where every driven joint is."""
        m, system, table, readings = self.memory, self.home, self.rows.table, self.readings
        coordinates, g = system.model.assembly.coordinates, self.layout.n_joints
        joints = np.zeros_like(m.joints)
        for k, c in enumerate(system.tree.given):
            joints[:2, k] = coordinates[c].home, coordinates[c].speed
        attitude = np.array([0.0, 0.0, 0.0, 1.0])
        for k, stream in enumerate(self.streams):
            at = table.value_at[k]
            if table.kind[k] == DRIVEN:
                if not readings.present[k]:
                    return False
                joints[divmod(table.where[k], g)] = readings.measured[at]
            elif readings.present[k] and stream.is_attitude and stream.target == self._root_body:
                attitude = readings.measured[at : at + 4]
                attitude = attitude / np.linalg.norm(attitude)
        m.x[:] = 0.0
        m.x[ATTITUDE] = attitude
        m.x[system.layout.q] = [one.home for one in coordinates]
        m.joints[:] = joints
        self._forget_states()
        self._settle()
        m.numbers[TIME], m.counts[IS_BEGUN], m.counts[N_BAD] = time, 1, 0
        return True

    def begin_at(self, start: WindowEnd) -> None:
        """Start where the first seconds end."""
        m = self.memory
        m.x[:], m.joints[:], m.root[:] = start.x, start.joints, start.root
        m.values[:] = start.values
        self._settle()
        m.numbers[TIME], m.counts[IS_BEGUN], m.counts[N_BAD] = start.time, 1, 0

    def _forget_states(self) -> None:
        """States and joints as at the beginning; what is known of parameters stays."""
        m, inside = self.memory, self.layout.parameters
        kept = np.asarray(np.linalg.qr(m.root[inside].T, mode="r")).T
        m.root[:] = np.diag(self._spread())
        m.root[inside, inside] = kept

    def forget(self, which: Sequence[int]) -> None:
        """Parameters that are unknown again: their deviation is that of the beginning."""
        S, inside = self.memory.root, self.layout.parameters
        P = S[inside] @ S[inside].T
        P[which] = P[:, which] = 0.0
        P[which, which] = self.unknowns.prior[which, 1] ** 2
        self._forget_states()
        S[inside, inside] = np.linalg.cholesky(P)

    def _settle(self) -> None:
        """Put the joints' motion into the state."""
        m, given, state = self.memory, self.home.tree.given, self.home.layout
        m.x[state.position_of(given)], m.x[state.rate_of(given)] = m.joints[0], m.joints[1]

    def move_to(self, time: float) -> bool:
        """Carry everything on to a time; False where that is not finite.

        In short steps, over which the reaction to the joints' errors is straight.
        """
        m, move = self.memory, self._compile()[0]
        ahead = time - float(m.numbers[TIME])
        self._renew()
        is_fine = move(float(m.numbers[TIME]), ahead, ceil(ahead / self.options.step - 1e-9))
        m.numbers[TIME] = time
        return bool(is_fine)

    def _renew(self) -> None:
        """Directions of parameters as they are now, where these depend on values."""
        if self._varying:
            names, entries = self.layout.names, self.mechanics.directions
            renew_directions(self.system, names, entries, self._varying)

    def look(self) -> None:
        """What the streams that are present should read now, with slopes, into `readings`."""
        m, found, time = self.memory, self.readings, float(self.memory.numbers[TIME])
        self._renew()
        self._compile()[1](time)
        if len(self._others) and (places := self._others[found.present[self._others] == 1]).size:
            own, system = self.mechanics, self.home
            free = [system.coordinates[c] for c in self.table.free]
            tangent = Sensitivity(
                self.layout.names, own.states[:1], own.tangents[:1], own.efforts[:1], tuple(free)
            )
            self.rows.read_into(
                found, places.tolist(), self.system, tangent, time, x=m.x, joints=m.joints,
                push=m.push,
            )  # fmt: skip

    def take(self) -> bool:
        """The readings into the estimate; False where it is not finite.

        `readings.odd` says which streams were gated.
        """
        correct, found = self._compile()[2], self.readings
        found.blur[:] = 1.0
        found.odd[:] = 0
        for turn in range(self.options.iterations):
            self.look()
            if turn == 0:
                self._widen_by_curvature()
            done = correct(turn, turn + 1 == self.options.iterations)
            if done != AGAIN:
                return done != BROKEN
        return True

    def _widen_by_curvature(self) -> None:
        """By how much what slopes leave out makes the noise of every row larger.

        Torques are products of what is not known yet: to trust slopes alone makes the filter sure
        of wrong parameters within a second. Pairs of opposite draws from the covariance show the
        curvature, as half the sum of both changes; it counts as noise until it fades.
        """
        m, layout, readings = self.memory, self.layout, self.readings
        bent = np.flatnonzero(self._bent & (readings.present == 1)).tolist()
        S = m.root[layout.parameters]
        if not bent or np.max(np.einsum("ij,ij->i", S, S), initial=0.0) < self.options.sure**2:
            return
        draws, shrink = self.options.draws, self.options.shrink
        rng = np.random.default_rng(int(m.counts[N_ROWS]))
        aside = shrink * (rng.standard_normal((draws, layout.n_all)) @ m.root.T)
        x, joints, values = self._ends_of(np.vstack([np.zeros(layout.n_all), aside, -aside]))
        sets = self._map.arrays(values @ self._shares.T)
        seen = self.rows.read_sets(
            sets, float(m.numbers[TIME]), states=x, joints=joints, push=m.push, places=bent
        )
        for k, reading in zip(bent, seen, strict=True):
            curve = 0.5 * (reading[1 : 1 + draws] + reading[1 + draws :]) - reading[0]
            rows = self.rows.rows[k]
            total = np.sum(curve**2, axis=0) / (draws * shrink**4)
            readings.blur[rows] = np.sqrt(1.0 + total / self.rows.table.noise[rows] ** 2)

    def _ends_of(self, steps: Array) -> tuple[Array, Array, Array]:
        """States, joints and parameters where steps (rows, error state) from now end.

        As `put_step` in `kernels/kalman_update.py`. What must be positive goes at most nine tenths
        down at once.
        """
        m, layout, state, given = self.memory, self.layout, self.home.layout, self.home.tree.given
        x = apply_steps(self.home, layout, m.x, steps[:, : layout.n_states])
        joints = m.joints + steps[:, layout.joints].reshape(len(steps), *m.joints.shape)
        x[:, state.position_of(given)], x[:, state.rate_of(given)] = joints[:, 0], joints[:, 1]
        values = m.values + self.unknowns.sizes * steps[:, layout.parameters]
        least = np.where(self._is_positive, 0.1 * m.values, -np.inf)
        return x, joints, np.clip(np.maximum(values, least), *self.table.bounds)
