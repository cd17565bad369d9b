"""The flat arrays of a Kalman filter, made once: what its kernels read, and their scratch space."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.kernels.integrate import Inputs, Stages
from freefloat.dynamics.kernels.newton_euler import new_work
from freefloat.dynamics.named_parameters import parameter_directions
from freefloat.dynamics.parameter_map import ParameterMap
from freefloat.dynamics.sensitivity import linearised_tree, tangent_table
from freefloat.dynamics.setup_change import no_directions
from freefloat.dynamics.tree import System
from freefloat.model.parameter_name import ParameterName
from freefloat.online.error_state import Layout
from freefloat.online.filter_problem import FilterUnknowns
from freefloat.online.kalman_memory import Settings
from freefloat.online.kernels.kalman_tables import (
    ACCELEROMETER,
    ATTITUDE,
    DRIVEN,
    FORCE,
    FREE,
    GYRO,
    ORDERS,
    OTHER,
    POSITION,
    VELOCITY,
    Algebra,
    ErrorState,
    Mechanics,
    ParameterTable,
    Readings,
    Streams,
)
from freefloat.online.sensing import coordinate_of
from freefloat.prediction.measurements import Measurement

# The order of a joint's motion that a kind of sensor tells.
ORDER = {"encoder": 0, "motor_encoder": 0, "joint_rate": 1, "motor_rate": 1, "wheel_speed": 1}
FRAMES = {
    "gyro": GYRO, "position": POSITION, "velocity": VELOCITY, "accelerometer": ACCELEROMETER,
}  # fmt: skip
JOINT_FORCES = ("joint_torque", "wheel_torque")


def mechanics_of(system: System, layout: Layout, numbers: ParameterTable) -> Mechanics:
    """The mechanism, its parameters in the memory of `numbers`."""
    tree, c = system.tree, system.n_coordinates
    directions, first = parameter_directions(system, layout.names)
    slopes = linearised_tree(system, len(first))
    setup, changes = no_directions()
    width, n_names = system.layout.width, len(layout.names)
    ends, parts = 0, []
    for array in system.parameters:
        parts.append(numbers.flat[ends : ends + array.size].reshape(array.shape))
        ends += array.size
    return Mechanics(
        tree, type(system.parameters)(*parts), new_work(tree), _no_inputs(system),
        _no_inputs(system), Stages(*(np.zeros(width) for _ in range(3))), np.zeros(width), slopes,
        directions, tangent_table(first, len(slopes.rows)), first, np.zeros((2, width)),
        np.zeros((2, *first.shape)), np.zeros((2, 6 + 2 * c, n_names)),
        np.zeros((0, 6 + 2 * c, n_names)), setup, changes,
    )  # fmt: skip


def _no_inputs(system: System) -> Inputs:
    """Inputs of one step whose coordinates nobody controls."""
    c, tree = system.n_coordinates, system.tree
    gains = np.zeros((c, 3))
    gains[:, 2] = np.inf
    return Inputs(
        np.zeros((1, 3, len(tree.given), 3)), np.zeros((1, 3, c, 3)),
        np.zeros((1, 3, len(tree.thruster_link) + 6)), gains,
    )  # fmt: skip


def parameter_table(numbers: ParameterMap, shares: Array) -> ParameterTable:
    """A parameter map for kernels; shares (inner, free): the map's parameters of the free ones."""
    base, columns, linear, tanks = numbers.tables()
    places = np.array([[-1 if k is None else k for k in at] for at, _ in tanks], dtype=np.int64)
    return ParameterTable(
        np.ascontiguousarray(shares), numbers.start.copy(), base, columns,
        np.array(linear, dtype=np.int64), places.reshape(-1, 2),
        np.reshape(np.array([values for _, values in tanks], dtype=float), (-1, 2)),
        np.zeros(len(base)), np.zeros(len(shares)),
    )  # fmt: skip


def error_state(
    system: System, layout: Layout, unknowns: FilterUnknowns, settings: Settings, least: Array
) -> ErrorState:
    """Where everything is in the error state; least: see `ErrorState`."""
    tree, options = system.tree, settings.options
    places, motions = system.layout.placements, system.layout.motions
    motion = [
        (1, motions.index(row)) if row in motions else (0, places.index(row))
        for row in layout.rows.tolist()
    ]
    mix = np.argwhere(layout.mix)
    free = tree.free[tree.free >= 6] - 6
    return ErrorState(
        layout.rows.astype(np.int64), np.array(motion, dtype=np.int64).reshape(-1, 2),
        np.ascontiguousarray(mix, dtype=np.int64), layout.mix[mix[:, 0], mix[:, 1]],
        np.array(settings.walk, dtype=float), np.array(unknowns.sizes, dtype=float), least,
        np.array([[p.lower, p.upper] for p in unknowns.free], dtype=float).T.copy(),
        np.array(settings.thrust, dtype=float), np.array(settings.gates, dtype=float),
        np.array([settings.forgetting, options.jerk, options.large_parameter,
                  options.large_acceleration]),
        np.ascontiguousarray(free, dtype=np.int64), tree.given.astype(np.int64),
        np.zeros(system.layout.tangent_width),
    )  # fmt: skip


def stream_table(
    home: System, streams: Sequence[Measurement], unknowns: FilterUnknowns, layout: Layout
) -> Streams:
    """What every stream reads. What never changes is written once.

    That is the rows of encoders, which tell a driven joint's motion and no more, and those of
    sensor biases.
    """
    given = [home.coordinates[c] for c in home.tree.given]
    first = np.cumsum([0, *(len(s.noise) for s in streams)])
    noise = np.concatenate([stream.noise for stream in streams])
    fixed, own = np.zeros((first[-1], layout.n_all)), np.full(first[-1], -1, dtype=np.int64)
    biases = {
        p.name: k for k, p in enumerate(unknowns.free) if ParameterName.parse(p.name).kind == "bias"
    }
    kinds, frames, components = [], np.zeros((len(streams), 12)), []
    for k, stream in enumerate(streams):
        kind, where = _kind_of(home, stream, given)
        kinds.append((kind, where, ORDER.get(stream.sensor.kind, 0)))
        if GYRO <= kind <= ACCELEROMETER:
            _, R, p = home.frame_pose(stream.target)
            frames[k] = [*R.ravel(), *p]
        if kind == DRIVEN:
            fixed[first[k], layout.joints.start + where] = 1.0
        columns = range(3) if kind == ATTITUDE else stream.columns
        components += list(columns)[: len(stream.noise)]
        for row, channel in enumerate(stream.rows, int(first[k])):
            if f"bias.{channel}" in biases:
                own[row] = at = biases[f"bias.{channel}"]
                fixed[row, layout.n_states + at] = unknowns.sizes[at]
    kind, where, order = np.array(kinds, dtype=np.int64).T.copy()
    return Streams(
        kind, first, np.cumsum([0, *(len(s.channels) for s in streams)]), where, order, frames,
        np.array(components, dtype=np.int64), noise,
        np.concatenate([np.resize(s.bias, len(s.noise)) for s in streams]).astype(float), own,
        fixed / noise[:, None],
    )  # fmt: skip


def _kind_of(home: System, stream: Measurement, given: Sequence[str]) -> tuple[int, int]:
    """What a stream reads, and of which link, coordinate or place in the joints' motion."""
    kind = stream.sensor.kind
    if kind in ORDER:
        name = coordinate_of(stream)
        if name in given:
            return DRIVEN, ORDER[kind] * len(given) + given.index(name)
        return FREE, home.coordinates.index(name)
    if kind in JOINT_FORCES:
        return FORCE, home.coordinates.index(stream.target)
    is_frame = kind in FRAMES or stream.is_attitude
    link = home.frame_pose(stream.target)[0] if is_frame else 0
    return (ATTITUDE if stream.is_attitude else FRAMES.get(kind, OTHER)), link


def readings_of(streams: Streams, layout: Layout, n_thrusters: int, n_motions: int) -> Readings:
    """Room for readings and their slopes."""
    n, rows, nudges = len(streams.kind), streams.first[-1], 1 + 3 * layout.n_joints
    return Readings(
        np.zeros(streams.value_at[-1]), np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64),
        np.zeros((nudges, rows)), np.zeros((nudges, n, 9)), np.zeros((rows, len(layout.names))),
        np.zeros((rows, 3 * layout.n_joints)), np.zeros((nudges + n_thrusters, n_motions)),
        np.ones(rows),
    )  # fmt: skip


def algebra_of(layout: Layout, home: System, n_rows: int, n_motions: int) -> Algebra:
    """Room for the tables of the square roots."""
    n, g, width = layout.n_all, layout.n_joints, layout.n_states
    n_thrusters = len(home.tree.thruster_link)
    noises = layout.n_parameters + g + n_thrusters
    tables = [np.zeros((n_rows, n)) for _ in range(3)]
    return Algebra(
        transition=np.zeros((width, n)), carried=np.zeros((width, n)),
        response=np.zeros((2, 3, g, n_motions)), felt=np.zeros((n_thrusters, n_motions)),
        table=np.zeros((n + noises, n)), sums=np.zeros(n), C=tables[0], B=tables[1],
        spoilt=tables[2], left=np.zeros(n_rows), pushed=np.zeros(n_rows),
        used=np.zeros(n_rows, dtype=np.int64), head=np.zeros((n_rows, n_rows + n)),
        white=np.zeros(n_rows), step=np.zeros(n), new=np.zeros(n), gate=np.zeros((4, 5)),
        before_x=np.zeros(home.layout.width), before_joints=np.zeros((ORDERS, g)),
        before_values=np.zeros(layout.n_parameters),
    )  # fmt: skip
