"""The square-root error-state Kalman filter itself: begin, move on, take readings in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, sqrt

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.named_parameters import (
    is_nonlinear,
    parameter_directions,
    with_parameter_values,
)
from freefloat.dynamics.state import ATTITUDE
from freefloat.dynamics.tree import System, with_friction
from freefloat.identification.output_error.unknowns import NON_NEGATIVE, state_names
from freefloat.model.parameter_name import ParameterName, field_of, owner_of
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
    rows_by_stream,
)
from freefloat.online.kalman_start import WindowEnd
from freefloat.online.propagation import (
    ORDERS,
    Layout,
    apply_step,
    inputs_at,
    layout_of,
    propagate,
    thrust_response,
)
from freefloat.online.sensing import innovation, predict, predict_with_slopes
from freefloat.online.square_root_covariance import nis_of, propagate_root, update_root
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
        self.rows_of = rows_by_stream(self.streams)
        self.memory = self._memory()
        self._made: tuple[bytes, System] | None = None
        # what parameters change depends on their values only for pendulums and rests of springs
        varying = any(is_nonlinear(self.home, name) for name in self.layout.names)
        self.known = None if varying else parameter_directions(self.home, self.layout.names)
        self.driven = [self._joint_of(stream) for stream in self.streams]
        biases = {
            p.name: k
            for k, p in enumerate(unknowns.free)
            if ParameterName.parse(p.name).kind == "bias"
        }
        self.biases = [
            [(row, biases[f"bias.{channel}"]) for row, channel in enumerate(stream.rows)
             if f"bias.{channel}" in biases]
            for stream in self.streams
        ]  # fmt: skip
        # what must be positive may go at most nine tenths down at once
        self._is_positive = np.array([field_of(p.name) in POSITIVE for p in unknowns.free], bool)
        self._bounds = np.array([[p.lower, p.upper] for p in unknowns.free]).T

    def _joint_of(self, stream: Measurement) -> tuple[int, int] | None:
        """The driven joint that a stream tells of, and the order of its motion."""
        given = [self.home.coordinates[c] for c in self.home.tree.given]
        kind, name = stream.sensor.kind, _coordinate_of(stream)
        return (given.index(name), ORDER[kind]) if kind in ORDER and name in given else None

    def _layout(self) -> Layout:
        free = [p.name for p in self.unknowns.free]
        inner = [name for name in free if not ParameterName.parse(name).is_of_sensor]
        inner += [name for name, _, _ in self.ties]
        self._inner = frozenset(inner)
        leaders = {name: (leader, factor) for name, leader, factor in self.ties}
        mix = np.zeros((len(inner), len(free)))
        for row, name in enumerate(inner):
            leader, factor = leaders.get(name, (name, 1.0))
            k = free.index(leader)
            mix[row, k] = factor * self.unknowns.sizes[k]
        return layout_of(self.home, self.states, inner, mix, len(free))

    def _memory(self) -> KalmanMemory:
        system, g = self.home, self.layout.n_joints
        start = np.array([p.value for p in self.unknowns.free])
        return KalmanMemory(
            np.zeros(system.layout.width), np.zeros((ORDERS, g)), np.diag(self._spread()),
            start + self.unknowns.sizes * self.unknowns.prior[:, 0],
            np.zeros(len(system.tree.thruster_link) + 6), np.zeros(3),
            np.zeros(4, dtype=np.int64), np.zeros(len(self.streams), dtype=np.int64),
            *innovation_arrays(sum(map(len, self.rows_of))),
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
            named = {p.name: float(v) for p, v in zip(self.unknowns.free, values, strict=True)}
            named |= {name: factor * named[leader] for name, leader, factor in self.ties}
            inner = {n: v for n, v in named.items() if n in self._inner}
            self._made = values.tobytes(), with_parameter_values(self.home, inner)
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
            joint = places.get(_coordinate_of(stream))
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
        x, joints, F = propagate(
            self.system, self.layout, float(m.numbers[TIME]), ahead, x=m.x, joints=m.joints,
            push=m.push, longest=self.options.step,
        )  # fmt: skip
        if not (np.isfinite(x).all() and np.isfinite(F).all()):
            return False
        noise = np.zeros(self.layout.n_all)
        noise[self.layout.parameters] = np.sqrt(settings.walk * ahead)
        noise[self.layout.n_all - self.layout.n_joints :] = self.options.jerk * np.sqrt(ahead)
        if settings.forgetting < 1.0:
            F[self.layout.parameters] *= settings.forgetting ** (-0.5 * ahead)
        W = np.hstack([np.diag(noise)[:, noise > 0.0], sqrt(n) * self._thrust_noise(ahead)])
        m.root[:] = propagate_root(m.root, F, W)
        m.x[:], m.joints[:], m.numbers[TIME] = x, joints, time
        return True

    def _thrust_noise(self, ahead: float) -> Array:
        """What noise in the levels of open valves does to the error state, column by column."""
        m, layout, noise = self.memory, self.layout, self.settings.thrust
        firing = np.flatnonzero(noise * m.push[: len(noise)])
        out = np.zeros((layout.n_all, len(firing)))
        if len(firing):
            inputs = inputs_at(self.home, m.joints, m.push, np.zeros((1, 3)))
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
        for turn in range(self.options.iterations):
            C, left = self._rows(places, [found[k] for k in places])
            if not np.isfinite(np.vstack(C)).all() or not np.isfinite(np.concatenate(left)).all():
                return self._undo(before)
            if turn == 0:
                blur = self._curvature_noise(places, before)
            C = [block / size[:, None] for block, size in zip(C, blur, strict=True)]
            left = [error / size for error, size in zip(left, blur, strict=True)]
            if turn == 0:
                odd = self._odd(places, C, left)
                kept = [n for n, k in enumerate(places) if k not in odd]
                places, C = [places[n] for n in kept], [C[n] for n in kept]
                left, blur = [left[n] for n in kept], [blur[n] for n in kept]
                if not places:
                    return odd
            rows, error = np.vstack(C), np.concatenate(left)
            root, new, white = update_root(before.root, rows, error + rows @ step)
            if not np.all(np.isfinite(new)):
                return self._undo(before)
            change, step = new - step, new
            self._move(before, step)
            if not self._is_large(change):
                break
        m.root[:] = root
        m.numbers[NIS], m.counts[DOF] = white @ white, len(white)
        m.numbers[CHI2] += m.numbers[NIS]
        note_innovations(m, np.concatenate([self.rows_of[k] for k in places]), white)
        m.counts[N_ROWS] += len(white)
        return odd

    def _curvature_noise(self, places: list[int], before: KalmanMemory) -> Sequence[Array]:
        """By how much what slopes leave out makes the noise of every row larger.

        Torques are products of what is not known yet: to trust slopes alone makes the filter sure
        of wrong parameters within a second. Pairs of opposite draws from the covariance show the
        curvature, as half the sum of both changes; it counts as noise until it fades.
        """
        m, layout = self.memory, self.layout
        blur = [np.ones(len(self.streams[k].noise)) for k in places]
        bent = [n for n, k in enumerate(places) if self.streams[k].needs_forces]
        spread = np.linalg.norm(before.root[layout.parameters], axis=1)
        if not bent or np.max(spread, initial=0.0) < self.options.sure:
            return blur
        streams = [self.streams[places[n]] for n in bent]
        middle = self._predict(streams)
        total = [np.zeros(len(s.noise)) for s in streams]
        draws, shrink = self.options.draws, self.options.shrink
        rng = np.random.default_rng(int(m.counts[N_ROWS]))
        for _ in range(draws):
            draw = shrink * (before.root @ rng.standard_normal(layout.n_all))
            self._move(before, draw)
            ahead = self._predict(streams)
            self._move(before, -draw)
            behind = self._predict(streams)
            for n, (a, b, c) in enumerate(zip(ahead, middle, behind, strict=True)):
                total[n] += (0.5 * (a + c) - b) ** 2 / (draws * shrink**4)
        self._undo(before)
        for n, stream, size in zip(bent, streams, total, strict=True):
            blur[n] = np.sqrt(1.0 + size / stream.noise**2)
        return blur

    def _predict(self, streams: Sequence[Measurement]) -> Sequence[Array]:
        m = self.memory
        inputs = inputs_at(self.home, m.joints, m.push, np.zeros((1, 3)))
        return predict(self.system, streams, float(m.numbers[TIME]), m.x, inputs=inputs)

    def _undo(self, before: KalmanMemory) -> None:
        for array, old in zip(self.memory, before, strict=True):
            array[...] = old

    def _odd(self, places: list[int], C: Sequence[Array], left: Sequence[Array]) -> list[int]:
        """Streams whose NIS is beyond the gate."""
        gates = self.settings.gates
        if not len(gates):
            return []
        B, ends = np.vstack(C) @ self.memory.root, np.cumsum([len(block) for block in C])
        parts = np.split(B, ends[:-1])
        return [
            k
            for k, part, error in zip(places, parts, left, strict=True)
            if nis_of(part, error) > gates[len(error)]
        ]

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
        m, layout = self.memory, self.layout
        m.x[:] = apply_step(self.home, layout, before.x, step[: layout.n_states])
        m.joints[:] = before.joints + step[layout.joints].reshape(m.joints.shape)
        self._move_parameters(before.values, self.unknowns.sizes * step[layout.parameters])
        self._settle()

    def _rows(self, places: list[int], measured: list[Array]) -> tuple[list[Array], list[Array]]:
        """Whitened slopes by the error state and innovations of some streams."""
        m, layout = self.memory, self.layout
        streams = [self.streams[k] for k in places]
        inputs = inputs_at(self.home, m.joints, m.push, np.zeros((1, 3)))
        seen = predict_with_slopes(
            self.system, streams, float(m.numbers[TIME]), m.x, inputs=inputs, names=layout.names,
            driven=[self.driven[k] for k in places], known=self.known,
        )  # fmt: skip
        both = layout.n_states + layout.n_parameters
        ends = np.cumsum([len(stream.noise) for stream in streams])
        table = np.zeros((ends[-1], layout.n_all))
        table[:, :both] = np.vstack(seen.by_names) @ layout.mix
        table[:, both : both + 3 * layout.n_joints] = np.vstack(
            [part.reshape(len(part), -1) for part in seen.by_joints]
        )
        left = []
        for k, stream in enumerate(streams):
            bias = stream.bias
            if self.biases[places[k]]:
                bias = bias.copy()
            for row, place in self.biases[places[k]]:
                bias[row] = m.values[place]
                at = ends[k] - len(stream.noise) + row
                table[at, layout.n_states + place] = self.unknowns.sizes[place]
            error = innovation(stream, measured[k], seen.values[k], bias)
            left.append(error / stream.noise)
        table /= np.concatenate([stream.noise for stream in streams])[:, None]
        return np.split(table, ends[:-1]), left

    def _move_parameters(self, before: Array, step: Array) -> None:
        """Parameters after a correction; what must be positive goes at most nine tenths down."""
        value = before + step
        least = np.where(self._is_positive, 0.1 * before, -np.inf)
        self.memory.values[:] = np.clip(np.maximum(value, least), *self._bounds)


# The order of a joint's motion that a kind of sensor tells.
ORDER = {"encoder": 0, "motor_encoder": 0, "joint_rate": 1, "motor_rate": 1, "wheel_speed": 1}


def _coordinate_of(stream: Measurement) -> str:
    """The coordinate that an encoder or a rate belongs to."""
    return f"{stream.target}.motor" if "motor" in stream.sensor.kind else stream.target
