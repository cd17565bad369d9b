"""The kept flight taken again: as it was, with assumptions off by their doubt, with other noise.

Each trial is the momentum filter itself on altered samples, with the weights it has found, so that
whitening, nuisance and estimate are those that count. Readings, gains and geometry are altered as
if the assumption were larger by its standard deviation and the filter knew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.tree import flatten
from freefloat.identification.linear.parameter_columns import change_matrix
from freefloat.model import inertia
from freefloat.model.checks import sensor_targets
from freefloat.model.geometry import with_geometry
from freefloat.model.parameter_name import ParameterName
from freefloat.model.parts import Coloured
from freefloat.model.rotations import (
    matrix_from_quaternion,
    quaternion_from_rotation_vector,
    quaternion_product,
)
from freefloat.online.filter_problem import leave_out, start
from freefloat.online.kept_flight import RESTART, SAMPLE, WRENCH, FlightTable
from freefloat.online.kernels.codes import (
    DOF,
    HISTORY,
    LEVEL,
    N_WRENCH,
    NIS,
    NOTHING,
    SETTLED,
    SHARE,
    TAKEN,
)  # fmt: skip
from freefloat.online.kernels.memory import FilterMemory, FilterProblem, new_memory, new_scratch
from freefloat.online.startup_replay import INFORMED, NEVER, WEIGHTS
from freefloat.parameters.parameters import parameter_values
from freefloat.prediction.assumptions import Assumption
from freefloat.prediction.sensor_noise import gauss_markov
from freefloat.telemetry.names import XYZ

if TYPE_CHECKING:
    from freefloat.online.momentum_filter import MomentumFilter

RATE, ATTITUDE, VELOCITY, JOINTS = slice(0, 3), slice(3, 6), slice(6, 9), 9  # of the sources
# theory: noise enters the columns squared as well; at a tenth of its size that is a hundredth
SMALL = 0.1


@dataclass(frozen=True)
class Trial:
    """The innovations (samples, rows) and unknowns in natural sizes that a run ended with.

    clear: how many samples, from the first on, came before the estimate was clear of noise in
    every direction: innovations of these are no linear function of the noise.
    """

    innovations: Array
    x: Array
    clear: int


@dataclass(frozen=True)
class AlteredFlight:
    """What a run takes: errors (entries, sources) on the readings, levels, wrench, the problem."""

    flight: FlightTable
    problem: FilterProblem
    weight_x: Array  # (n,) the unknowns that rows are weighted by


class Trials:
    """Runs of a filter's kept flight."""

    def __init__(self, filter: MomentumFilter, flight: FlightTable) -> None:
        self.filter = filter
        steady = np.array([1, NEVER, filter.problem.every[2]], dtype=np.int64)
        problem = filter.problem._replace(gates=np.zeros(2), every=steady)
        self.nominal = AlteredFlight(flight, problem, filter.memory.weight_x.copy())
        self.nominal = replace(self.nominal, flight=self._without_outliers(flight))
        self.is_sample = (self.nominal.flight.flags & SAMPLE) > 0

    @property
    def times(self) -> Array:
        """Of the entries [s], from the first on."""
        return self.nominal.flight.time - self.nominal.flight.time[0]

    def begin(self) -> Trial:
        """The flight as it was, weighted by what it says itself."""
        for _ in range(2):
            found = self.run(self.nominal)
            self._weigh(found)
        return found

    def _weigh(self, found: Trial) -> None:
        x = found.x[self.filter.problem.n_nuisance :]
        self.nominal = replace(self.nominal, weight_x=x.copy())

    def run(self, altered: AlteredFlight) -> Trial:
        """Take a flight."""
        return self._run(altered, None)[0]

    def run_assumption(self, assumption: Assumption) -> Trial | None:
        """The flight with an assumption larger by its doubt; None where that is no difference.

        The noise of a row depends on the masses. Where these move, the weights follow: else noise
        that is larger with all masses would look like evidence against what carries the scale.
        """
        altered = self.with_assumption(assumption)
        if altered is None:
            return None
        found, n = self.run(altered), self.filter.problem.n_nuisance
        moved = found.x[n:] - altered.weight_x
        # theory: variances that are off by 2 moved shift the sum of N squares by 2 N moved, which
        # is nothing below a quarter of a deviation's square
        if np.max(np.abs(moved), initial=0.0) * found.innovations.size > 0.25:
            found = self.run(replace(altered, weight_x=found.x[n:].copy()))
        return found

    def _run(
        self, altered: AlteredFlight, known: FilterMemory | None
    ) -> tuple[Trial, Array, FilterMemory]:
        from freefloat.numba_.bound_arguments import bind
        from freefloat.online.kernels.update import take_inputs, take_sample

        own, unknowns = self.filter, self.filter.unknowns
        problem, flight = altered.problem, altered.flight
        problem = problem._replace(sigma=problem.sigma.copy())
        memory = new_memory(problem)
        set_weights(problem, memory, altered.weight_x)
        start(memory, unknowns)
        if known is not None:
            for name in set(INFORMED) - set(WEIGHTS):
                getattr(memory, name)[...] = getattr(known, name)
        memory.numbers[LEVEL], memory.numbers[SETTLED] = 1.0, 1.0
        scratch = new_scratch(problem, memory)
        arrays = [flight.vector[0].copy(), flight.levels[0].copy(), flight.wrench[0].copy()]
        bound = bind(problem, memory, scratch, *arrays)
        rows, nis, clear = [], np.zeros((len(flight.time), 2)), 0
        for k, (time, flag) in enumerate(
            zip(flight.time.tolist(), flight.flags.tolist(), strict=True)
        ):
            arrays[0][:], arrays[1][:] = flight.vector[k], flight.levels[k]
            arrays[2][:], problem.sigma[:] = flight.wrench[k], flight.sigma[k]
            if not flag & SAMPLE:
                if memory.counts[HISTORY]:
                    take_inputs(bound, time, bool(flag & WRENCH))
                continue
            if flag & RESTART and memory.counts[HISTORY]:
                begin_segment(memory, own)
            if take_sample(bound, time, bool(flag & WRENCH), NOTHING) == TAKEN:
                rows.append(scratch.innovation.copy())
                nis[k] = memory.numbers[NIS], memory.numbers[DOF]
            else:
                rows.append(np.zeros(len(scratch.innovation)))
            if memory.numbers[SHARE] != 1.0:
                clear = len(rows)
        return Trial(np.array(rows), memory.x.copy(), clear), nis, memory

    def _without_outliers(self, flight: FlightTable) -> FlightTable:
        """The flight without samples that what all say together would not pass."""
        gates = self.filter.problem.gates
        if not gates[0] > 0.0:
            return flight
        for _ in range(2):
            altered = replace(self.nominal, flight=flight)
            _, _, memory = self._run(altered, None)
            _, nis, _ = self._run(altered, memory)
            limit = np.where(nis[:, 1] == len(self.filter.problem.rows), gates[0], gates[1])
            level = np.median(nis[nis[:, 1] > 0.0, 0] / nis[nis[:, 1] > 0.0, 1])
            out = (nis[:, 1] > 0.0) & (nis[:, 0] > limit * max(1.0, level))
            if not out.any():
                break
            flags = flight.flags.copy()
            flags[out] &= ~SAMPLE
            flight = replace(flight, flags=flags)
        return flight

    # -- altered flights ---------------------------------------------------------------------------

    def with_errors(self, errors: Array, levels: Array | None = None) -> AlteredFlight:
        """The flight with errors (entries, sources) on its readings, and other levels."""
        flight = self.nominal.flight
        vector = flight.vector.copy()
        vector[:, :3] += errors[:, RATE]
        turn = quaternion_from_rotation_vector(errors[:, ATTITUDE])
        vector[:, 3:7] = quaternion_product(vector[:, 3:7], turn)
        vector[:, 7:10] += errors[:, VELOCITY]
        vector[:, 10:] += errors[:, JOINTS:]
        flight = replace(flight, vector=vector)
        if levels is not None:
            flight = replace(flight, levels=levels)
        return replace(self.nominal, flight=flight)

    def with_noise(self, rng: np.random.Generator, coloured: Sequence[Coloured | None]) -> Trial:
        """Fresh noise, small enough to act linearly; coloured: by source, part of its noise."""
        flight = self.nominal.flight
        errors = np.zeros_like(flight.sigma)
        usual = self.filter.problem.sigma
        step = float(np.median(np.diff(flight.time[self.is_sample])))
        for k, colour in enumerate(coloured):
            fast = flight.sigma[:, k].copy()
            if colour is not None:
                white = max(usual[k] ** 2 - colour.sigma**2, 0.0) ** 0.5
                fast *= white / max(usual[k], 1e-300)
                slow = gauss_markov(colour, int(self.is_sample.sum()), 1, step, rng)[:, 0]
                errors[self.is_sample, k] += slow
            errors[:, k] += fast * rng.standard_normal(len(fast))
        noise = self.filter.problem.thrust_noise
        levels = flight.levels + SMALL * noise * (flight.levels != 0.0) * rng.standard_normal(
            flight.levels.shape
        )
        return self.run(self.with_errors(SMALL * errors, levels))

    def with_assumption(self, assumption: Assumption) -> AlteredFlight | None:
        """The flight as taken if an assumption is larger by its doubt; None: no difference."""
        parsed, size = ParameterName.parse(assumption.name), assumption.std
        if parsed.kind == "geometry":
            return self._with_geometry(assumption.name, size)
        if parsed.kind == "model":
            return self._with_bodies(parsed, assumption)
        if parsed.kind == "drag":
            return self._with_drag(parsed.field, size)
        if parsed.kind == "input" and parsed.field == "gain":
            return self._with_gain(parsed.owner, size)
        errors = self._errors(parsed, size)
        return None if errors is None or not errors.any() else self.with_errors(errors)

    def _errors(self, name: ParameterName, size: float) -> Array | None:
        """What a sensor's assumption takes off its readings."""
        flight, own = self.nominal.flight, self.filter
        errors, t = np.zeros_like(flight.sigma), self.times
        if name.kind == "gravity":  # in a frame that falls with it there is none
            errors[:, 6 + XYZ.index(name.field)] = -size * t
            return errors
        if name.kind == "input":  # of a joint's encoder
            if name.owner not in own.system.coordinates:
                return None
            joint, n = own.system.coordinates.index(name.owner), len(own.system.coordinates)
            q, dq = JOINTS + joint, JOINTS + n + joint
            place, rate = flight.vector[:, 10 + joint], flight.vector[:, 10 + n + joint]
            if name.field == "delay":
                errors[:, q], errors[:, dq] = size * rate, size * self._slope(rate)
            elif name.field == "gear":
                home = own.system.model.assembly.coordinates[joint].home
                errors[:, q], errors[:, dq] = -size * (place - home), -size * rate
            elif name.field == "zero":
                errors[:, q] = -size
            return errors
        groups = {"base.rate": (RATE, flight.vector[:, :3]), "base.attitude": (ATTITUDE, None),
                  "base.angle": (ATTITUDE, None),
                  "base.velocity": (VELOCITY, flight.vector[:, 7:10])}  # fmt: skip
        group, _, axis = name.owner.rpartition(".")
        if name.owner in groups:
            group, axis = name.owner, name.field
        where, readings = groups.get(group, (None, None))
        if where is None:
            return self._joint_errors(name, size, errors)
        k = XYZ.index(axis) if axis in XYZ and axis else 2
        one = errors[:, where]
        if name.kind == "bias":
            one[:, k] = -size
        elif name.kind == "drift":
            one[:, k] = -size * t
        elif name.kind == "gain" and readings is not None:
            one[:, k] = -size * readings[:, k]
        elif name.kind == "tilt" and readings is not None:
            one[:] = size * np.cross(np.eye(3)[k], readings)
        elif name.kind == "offset":
            turn = matrix_from_quaternion(flight.vector[:, 3:7])
            swing = np.cross(flight.vector[:, :3], np.eye(3)[k])
            one[:] = -size * np.einsum("nij,nj->ni", turn, swing)
        elif name.kind == "delay":
            one[:] = size * (flight.vector[:, :3] if readings is None else self._slope(readings))
        return errors

    def _joint_errors(self, name: ParameterName, size: float, errors: Array) -> Array | None:
        """Of a rate or position that a joint or wheel reports."""
        layout = self.filter.layout
        if name.owner not in layout.names:
            return None
        place = int(layout.places[layout.names.index(name.owner)])
        reading, column = self.nominal.flight.vector[:, place], errors[:, place - 1]
        column[:] = {
            "bias": -size, "drift": -size * self.times, "gain": -size * reading,
            "delay": size * self._slope(reading),
        }.get(name.kind, 0.0)  # fmt: skip
        return errors

    def _slope(self, readings: Array) -> Array:
        """The derivative by time of readings, at the samples."""
        out, here = np.zeros_like(readings), self.is_sample
        time = self.nominal.flight.time[here]
        out[here] = np.gradient(readings[here], time, axis=0)
        return out

    def _with_gain(self, owner: str, size: float) -> AlteredFlight | None:
        flight, layout = self.nominal.flight, self.filter.layout
        thruster = layout.thrusters.get(f"{owner}.force")
        if thruster is not None and flight.levels[:, thruster].any():
            levels = flight.levels.copy()
            levels[:, thruster] *= 1.0 + size
            return replace(self.nominal, flight=replace(flight, levels=levels))
        parts = [k for name, k in layout.wrench.items() if name.startswith(f"{owner}.")]
        if not parts or not flight.wrench[:, parts].any():
            return None
        wrench = flight.wrench.copy()
        wrench[:, parts] *= 1.0 + size
        return replace(self.nominal, flight=replace(flight, wrench=wrench))

    def _with_drag(self, field: str, size: float) -> AlteredFlight:
        """The wrench of a drag on the root, told with every sample."""
        flight = self.nominal.flight
        wrench, flags = flight.wrench.copy(), flight.flags.copy()
        flags[self.is_sample] |= WRENCH
        if field == "linear":
            wrench[:, 3:] -= size * flight.vector[:, 7:10]
        else:
            turn = matrix_from_quaternion(flight.vector[:, 3:7])
            wrench[:, :3] -= size * np.einsum("nij,nj->ni", turn, flight.vector[:, :3])
        return replace(self.nominal, flight=replace(flight, wrench=wrench, flags=flags))

    def _with_geometry(self, name: str, size: float) -> AlteredFlight | None:
        own, before = self.filter.system, self.nominal
        system = flatten(with_geometry(own.model, {name: size}))
        tree, numbers = system.tree, system.parameters
        problem = before.problem._replace(tree=tree, par=numbers)
        return replace(before, problem=problem)

    def _with_bodies(self, name: ParameterName, assumption: Assumption) -> AlteredFlight | None:
        """A body or rotor whose known numbers are other ones; what is free is estimated anyway."""
        own, before, sizes = self.filter.system, self.nominal, {str(name): assumption.std}
        if name.is_of_known_body:
            names = [f"{name.owner}.{field}" for field in inertia.NAMES]
            phi = np.array([parameter_values(own)[n] for n in names])
            if name.field != "scale":
                phi = inertia.displacement_change(phi, np.zeros(3), XYZ.index(name.field[-1]))
            sizes = dict(zip(names, assumption.std * phi, strict=True))
        estimated = {p.name for p in self.filter.request.parameters if p.status in ("free", "tied")}
        sizes = {n: s for n, s in sizes.items() if n not in estimated and s != 0.0}
        # theory: of how mass is spread, its place moves momentum most: inertias cost too many runs
        is_told = name.is_of_known_body or name.field in ("inertia", "mx", "my", "mz")
        if not sizes or not is_told:
            return None
        change = change_matrix(own, list(sizes)) @ np.array(list(sizes.values()))
        n = own.n_links
        phi, rotor = change[: 10 * n].reshape(n, 10), change[10 * n :]
        numbers = before.problem.par
        par = numbers._replace(phi=numbers.phi + phi, rotor=numbers.rotor + rotor)
        return replace(before, problem=before.problem._replace(par=par))


def colours_of(own: MomentumFilter) -> list[Coloured | None]:
    """By source of error, the slow part of its noise, where the model's sensors have one."""
    model = own.request.model
    found: list[Coloured | None] = [None] * len(own.problem.sigma)
    n = len(own.system.coordinates)
    groups = {"gyro": 0, "attitude": 3, "velocity": 6}
    for sensor in model.sensors:
        if sensor.coloured is None:
            continue
        targets = sensor_targets(model, sensor)
        places: Sequence[int] = ()
        if sensor.kind in groups and model.root.body in targets:
            places = range(groups[sensor.kind], groups[sensor.kind] + 3)
        elif sensor.kind in ("encoder", "joint_rate", "wheel_speed"):
            joints = [own.system.coordinates.index(t) for t in targets]
            places = [9 + k + (0 if sensor.kind == "encoder" else n) for k in joints]
        for k in places:
            if own.problem.sigma[k] > 0.0:
                found[k] = sensor.coloured
    return found


def begin_segment(m: FilterMemory, own: MomentumFilter) -> None:
    """Forget positions, impulses and the initial momentum."""
    nuisance = range(own.problem.n_nuisance)
    leave_out(m, list(nuisance))
    start(m, own.unknowns, nuisance)
    m.counts[HISTORY] = m.counts[N_WRENCH] = 0
    for array in (m.level_moments, m.wrench_moments, m.switch_displacement,
                  m.impulse_variance, m.wrench_error):  # fmt: skip
        array[:] = 0.0


def set_weights(problem: FilterProblem, m: FilterMemory, x: Array) -> None:
    """Rows are weighted by these free parameters, in natural sizes."""
    m.weight_x[:] = x
    m.weight_phi[:] = problem.par.phi
    place, unknown = problem.entries.T
    np.add.at(m.weight_phi.reshape(-1), place, problem.entry_sizes * x[unknown])
    m.weight_rotor[:] = problem.par.rotor + problem.rotor_blocks @ x
