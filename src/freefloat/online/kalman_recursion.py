"""The square-root error-state Kalman filter itself: begin, move on, take readings in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, sqrt

import numpy as np
from numpy.typing import NDArray

from freefloat.arrays import Array
from freefloat.dynamics.parameter_map import ParameterMap
from freefloat.dynamics.state import ATTITUDE
from freefloat.dynamics.tangent_steps import TangentSteps
from freefloat.dynamics.tree import System, with_friction
from freefloat.identification.output_error.unknowns import NON_NEGATIVE, state_names
from freefloat.model.parameter_name import ParameterName, field_of, owner_of
from freefloat.online.covariance_root import propagate_root, update_root
from freefloat.online.filter_problem import FilterUnknowns
from freefloat.online.kalman_memory import (
    CHI2,
    DOF,
    IS_BEGUN,
    N_BAD,
    N_ROWS,
    NIS,
    TIME,
    KalmanMemory,
    Settings,
    copy_of,
    innovation_arrays,
    note_innovations,
)
from freefloat.online.kalman_rows import ORDER, KalmanRows, beyond_gate
from freefloat.online.kalman_start import WindowEnd
from freefloat.online.propagation import (
    ORDERS,
    Layout,
    apply_steps,
    carry_on,
    inputs_now,
    layout_of,
    propagate,
    thrust_response,
)
from freefloat.online.sensing import coordinate_of
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
        self.rows = KalmanRows(self.home, self.streams, unknowns, self.layout)
        self.steps = TangentSteps(self.home, self.layout.names)
        self.memory = self._memory()
        start = self._shares @ np.array([p.value for p in unknowns.free])
        self._map = ParameterMap(self.home, self._inner, start)
        self._made: tuple[bytes, System] | None = None
        # what must be positive may go at most nine tenths down at once
        self._is_positive = np.array([field_of(p.name) in POSITIVE for p in unknowns.free], bool)
        self._bounds = np.array([[p.lower, p.upper] for p in unknowns.free]).T

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

    def _memory(self) -> KalmanMemory:
        system, g = self.home, self.layout.n_joints
        start = np.array([p.value for p in self.unknowns.free])
        return KalmanMemory(
            np.zeros(system.layout.width), np.zeros((ORDERS, g)), np.diag(self._spread()),
            start + self.unknowns.sizes * self.unknowns.prior[:, 0],
            np.zeros(len(system.tree.thruster_link) + 6), np.zeros(3),
            np.zeros(4, dtype=np.int64), np.zeros(len(self.streams), dtype=np.int64),
            *innovation_arrays(len(self.rows.noise)),
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

    def begin(self, time: float, found: Mapping[int, Array]) -> bool:
        """Start a segment at a sample; False unless it tells where every driven joint is."""
        m, system = self.memory, self.home
        coordinates = system.model.assembly.coordinates
        places = {system.coordinates[c]: k for k, c in enumerate(system.tree.given)}
        joints = np.zeros_like(m.joints)
        for name, k in places.items():
            joints[:2, k] = coordinates[system.coordinates.index(name)].home, 0.0
            joints[1, k] = coordinates[system.coordinates.index(name)].speed
        attitude = np.array([0.0, 0.0, 0.0, 1.0])
        for k, stream in enumerate(self.streams):
            joint = places.get(coordinate_of(stream))
            if joint is not None and stream.sensor.kind in ORDER:
                if k not in found:
                    return False
                joints[ORDER[stream.sensor.kind], joint] = found[k][0]
            elif k in found and stream.is_attitude and stream.target == system.model.root.body:
                attitude = found[k] / np.linalg.norm(found[k])
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
        begin = float(self.memory.numbers[TIME])
        n = ceil((time - begin) / self.options.step - 1e-9)
        return all(self._step_to(begin + (time - begin) * (k + 1) / n, n) for k in range(n))

    def _step_to(self, time: float, n: int) -> bool:
        """One of the n steps to a sample; what a valve is off holds for all of them."""
        m, settings = self.memory, self.settings
        ahead = time - float(m.numbers[TIME])
        x, joints, rows = propagate(
            self.system, self.layout, float(m.numbers[TIME]), ahead, x=m.x, joints=m.joints,
            push=m.push, longest=self.options.step, steps=self.steps,
        )  # fmt: skip
        if not (np.isfinite(x).all() and np.isfinite(rows).all()):
            return False
        noise = np.zeros(self.layout.n_all)
        noise[self.layout.parameters] = np.sqrt(settings.walk * ahead)
        noise[self.layout.n_all - self.layout.n_joints :] = self.options.jerk * np.sqrt(ahead)
        growth = settings.forgetting ** (-0.5 * ahead)
        W = np.hstack([np.diag(noise)[:, noise > 0.0], sqrt(n) * self._thrust_noise(ahead)])
        FS = carry_on(m.root, rows, self.layout, ahead, growth=growth)
        m.root[:] = propagate_root(FS, W)
        m.x[:], m.joints[:], m.numbers[TIME] = x, joints, time
        return True

    def _thrust_noise(self, ahead: float) -> Array:
        """What noise in the levels of open valves does to the error state, column by column."""
        m, layout, noise = self.memory, self.layout, self.settings.thrust
        firing = np.flatnonzero(noise * m.push[: len(noise)])
        out = np.zeros((layout.n_all, len(firing)))
        if len(firing):
            inputs = inputs_now(m.joints, m.push, self.home.n_coordinates)
            time = float(m.numbers[TIME])
            felt = thrust_response(self.system, time, ahead, x=m.x, inputs=inputs, which=firing)
            out[: layout.n_states] = felt[layout.rows] * noise[firing]
        return out

    def take(self, found: Mapping[int, Array]) -> list[int] | None:
        """Readings by stream into the estimate; the streams that were gated, None if not finite.

        Torques are products of inertias and accelerations, so after a large step the slopes are
        taken anew where it ended (Gauss-Newton on the one sample).
        """
        m, layout = self.memory, self.layout
        before = copy_of(m)
        places, odd = list(found), []
        step, white = np.zeros(layout.n_all), np.zeros(0)
        blur = np.ones(0)
        for turn in range(self.options.iterations):
            C, left = self._rows(places, [found[k] for k in places])
            if not (np.isfinite(C).all() and np.isfinite(left).all()):
                return self._undo(before)
            if turn == 0:
                blur = self._curvature_noise(places, before)
            C, left = C / blur[:, None], left / blur
            B = C @ before.root
            if turn == 0:
                odd, kept = self._odd(places, B, left)
                if len(odd) == len(places):
                    return odd
                places = [k for k in places if k not in odd]
                C, B, left, blur = C[kept], B[kept], left[kept], blur[kept]
            root, new, white = update_root(before.root, B, left + C @ step)
            if not np.all(np.isfinite(new)):
                return self._undo(before)
            change, step = new - step, new
            self._move(before, step)
            if not self._is_large(change):
                break
        m.root[:] = root
        m.numbers[NIS], m.counts[DOF] = white @ white, len(white)
        m.numbers[CHI2] += m.numbers[NIS]
        note_innovations(m, self._rows_of(places), white)
        m.counts[N_ROWS] += len(white)
        return odd

    def _rows_of(self, places: Sequence[int]) -> NDArray[np.intp]:
        return np.concatenate([self.rows.rows[k] for k in places])

    def _curvature_noise(self, places: list[int], before: KalmanMemory) -> Array:
        """By how much what slopes leave out makes the noise of every row larger.

        Torques are products of what is not known yet: to trust slopes alone makes the filter sure
        of wrong parameters within a second. Pairs of opposite draws from the covariance show the
        curvature, as half the sum of both changes; it counts as noise until it fades.
        """
        m, layout = self.memory, self.layout
        rows = self._rows_of(places)
        bent = [k for k in places if self.streams[k].needs_forces]
        spread = np.linalg.norm(before.root[layout.parameters], axis=1)
        if not bent or np.max(spread, initial=0.0) < self.options.sure:
            return np.ones(len(rows))
        draws, shrink = self.options.draws, self.options.shrink
        rng = np.random.default_rng(int(m.counts[N_ROWS]))
        aside = shrink * (rng.standard_normal((draws, layout.n_all)) @ before.root.T)
        x, joints, values = self._ends_of(
            before, np.vstack([np.zeros(layout.n_all), aside, -aside])
        )
        sets = self._map.arrays(values @ self._shares.T)
        total = np.zeros(len(self.rows.noise))
        seen = self.rows.read_sets(
            sets, float(m.numbers[TIME]), states=x, joints=joints, push=m.push, places=bent
        )
        for k, reading in zip(bent, seen, strict=True):
            curve = 0.5 * (reading[1 : 1 + draws] + reading[1 + draws :]) - reading[0]
            total[self.rows.rows[k]] = np.sum(curve**2, axis=0) / (draws * shrink**4)
        return np.sqrt(1.0 + total[rows] / self.rows.noise[rows] ** 2)

    def _undo(self, before: KalmanMemory) -> None:
        for array, old in zip(self.memory, before, strict=True):
            array[...] = old

    def _odd(self, places: list[int], B: Array, left: Array) -> tuple[list[int], NDArray[np.intp]]:
        """Streams whose NIS is beyond the gate, and the rows of all others."""
        if not len(self.settings.gates):
            return [], np.arange(len(left))
        sizes = np.array([len(self.rows.rows[k]) for k in places], dtype=np.intp)
        is_odd = beyond_gate(B, left, sizes, self.settings.gates)
        kept = np.flatnonzero(~np.repeat(is_odd, sizes))
        return [k for k, odd in zip(places, is_odd, strict=True) if odd], kept

    def _is_large(self, change: Array) -> bool:
        """Whether a step is so long that slopes may differ at its end."""
        g, n = self.layout.n_joints, self.layout.n_all
        parameters, speeding = change[self.layout.parameters], change[n - 2 * g : n - g]
        return bool(
            np.max(np.abs(parameters), initial=0.0) > self.options.large_parameter
            or np.max(np.abs(speeding), initial=0.0) > self.options.large_acceleration
        )

    def _move(self, before: KalmanMemory, step: Array) -> None:
        """Put what is known where a step from `before` ends."""
        m = self.memory
        for array, moved in zip((m.x, m.joints, m.values), self._ends_of(before, step[None]),
                                strict=True):  # fmt: skip
            array[:] = moved[0]

    def _ends_of(self, before: KalmanMemory, steps: Array) -> tuple[Array, Array, Array]:
        """States, joints and parameters where steps (rows, error state) from `before` end.

        What must be positive goes at most nine tenths down at once.
        """
        layout, state, given = self.layout, self.home.layout, self.home.tree.given
        x = apply_steps(self.home, layout, before.x, steps[:, : layout.n_states])
        joints = before.joints + steps[:, layout.joints].reshape(len(steps), *before.joints.shape)
        x[:, state.position_of(given)], x[:, state.rate_of(given)] = joints[:, 0], joints[:, 1]
        values = before.values + self.unknowns.sizes * steps[:, layout.parameters]
        least = np.where(self._is_positive, 0.1 * before.values, -np.inf)
        return x, joints, np.clip(np.maximum(values, least), *self._bounds)

    def _rows(self, places: list[int], measured: Sequence[Array]) -> tuple[Array, Array]:
        """Whitened slopes by the error state and innovations of some streams."""
        m = self.memory
        return self.rows.linearise(
            self.system, self.steps, float(m.numbers[TIME]), x=m.x, joints=m.joints, push=m.push,
            values=m.values, places=places, measured=measured,
        )  # fmt: skip
