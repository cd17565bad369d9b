"""What a model may lack, as columns: a change along the flight, a knock, a joint that bends, ...

An assumption is off all along; these set in at an instant, grow, or are no number of the model at
all. Each effect is a block of whitened columns at a joint point, as if it were there a little:

    change.BODY          mass or its place changes, at an instant or little by little
    knock                velocity and rate jump
    push                 a force and a torque act on the root all along
    gravity.gradient     of an orbit that the model does not have

and those of joints that yield in `flexible_joints`, of the readings in `sensor_effects`.

theory: what sets in at t is a tangent that begins with nought there. With S the change of states by
initial states and T that by a parameter, the tangent from t on is T(.) - S(.) S(t)^-1 T(t): every
instant comes with one simulation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.kernels.integrate import Inputs
from freefloat.dynamics.kernels.spatial import GRADIENT, HAS_GRAVITY, RADIAL
from freefloat.dynamics.named_parameters import known_body_names, parameter_names
from freefloat.dynamics.state import D_RATE, D_VELOCITY
from freefloat.excitation.commands import WRENCH
from freefloat.identification.output_error.recording import Recording
from freefloat.identification.trust.assumption_columns import AssumptionColumns, coarse_recording
from freefloat.identification.trust.effect_flights import (
    FlownRecording,
    base_flights,
    setup_column,
)
from freefloat.identification.trust.flexible_joints import joint_compliances
from freefloat.identification.trust.sensor_effects import (
    Effect,
    bent_scales,
    bias_walks,
    clock_drift,
    reading_steps,
    row_times,
)
from freefloat.identification.trust.white_rows import WhiteRows
from freefloat.model.geometry import AXES
from freefloat.model.parameter_name import ParameterName, is_start
from freefloat.prediction.flight_setup import FlightSetup

INSTANTS = 24  # theory: a step that is placed a 50th of the flight wrongly keeps most of its power
# theory: differences of what is linear err by rounding alone; these are far below what can be seen
GRADIENT_STEP, WRENCH_STEP = 1e-7, 1e-6  # [1/s^2], [N] or [N m]
ROOT_HALF = float(np.sqrt(0.5))  # theory: half way between two axes
# theory: radial directions whose gradients 3 r r' - 1 span all symmetric ones without a trace
RADIALS = (
    (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (ROOT_HALF, ROOT_HALF, 0.0), (ROOT_HALF, 0.0, ROOT_HALF),
    (0.0, ROOT_HALF, ROOT_HALF),
)  # fmt: skip


def missing_effects(
    rows: WhiteRows,
    taken: AssumptionColumns,
    *,
    is_brief: bool = False,
    near: float | None = None,
) -> Iterator[Effect]:
    """Every effect at every instant, at the parameters and assumptions of the rows.

    is_brief: only those that come with one simulation. near [s]: only what sets in about there.
    """
    for r in range(len(rows.problem.recordings)):
        instants = _instants(rows, r, near)
        yield from _events(rows, r, instants)
        yield from reading_steps(rows, taken, r, instants)
    if near is not None:
        return
    yield from clock_drift(rows, taken)
    yield from bias_walks(rows)
    flown = [] if is_brief else base_flights(rows)
    if not flown:
        return
    yield from bent_scales(rows, [one.prediction for one in flown])
    yield from joint_compliances(rows, flown)
    yield from _push(rows, flown)
    yield from _gradient(rows, flown)


def _instants(rows: WhiteRows, r: int, near: float | None) -> Array:
    """Instants [s] all over a recording, or about one of them."""
    begin, end = rows.span(r)
    apart = (end - begin) / (INSTANTS + 1.0)
    if near is None:
        return begin + apart * (np.arange(INSTANTS) + 1.0)
    some = near + np.linspace(-apart, apart, INSTANTS // 2)
    return some[(some > begin) & (some < end)]


def _events(rows: WhiteRows, r: int, instants: Array) -> Iterator[Effect]:
    """Changes of bodies and knocks, at every instant, and changes little by little."""
    problem, recording = rows.problem, coarse_recording(rows.problem.recordings[r])
    states = [name for name in parameter_names(recording.system) if is_start(name)]
    bodies = _bodies(rows, recording)
    axes = "xy" if recording.model.root.type == "planar" else AXES
    fields = ("scale", *(f"com.{axis}" for axis in axes))
    names = [f"{body}.{field}" for body in bodies for field in fields]
    values = problem.unknowns.values(rows.descent.at.theta, r)
    found = recording.at(values, [*states, *names])
    if found is None or found.segment is None:
        return
    times, n = row_times(rows, r), len(states)
    slopes = np.zeros((len(times), len(states) + len(names)))
    slopes[np.isfinite(times)] = problem.whiten_prediction(r, found)[0]
    tangents, grid = found.segment.tangent.tangents, recording.grid
    moves = [D_VELOCITY.start + AXES.index(a) for a in axes]
    moves += [D_RATE.start + AXES.index(a) for a in (axes if len(axes) == 3 else "z")]
    jumps = np.eye(tangents.shape[1])[:, moves]
    gradual = dict.fromkeys(bodies, np.zeros((len(times), len(fields))))
    for t in instants.tolist():
        at = tangents[min(round((t - grid.first) / grid.interval), grid.n_records - 1)]
        back = np.linalg.pinv(at[:, :n])
        after = (times >= t)[:, None]
        later = after * (slopes[:, n:] - slopes[:, :n] @ (back @ at[:, n:]))
        for k, body in enumerate(bodies):
            columns = later[:, k * len(fields) : (k + 1) * len(fields)]
            gradual[body] = gradual[body] + columns / len(instants)
            yield Effect(
                f"change.{body}", _parts_of(body, fields), columns,
                f"identify the flight before and after {t:.3g} s by itself, and compare", t,
            )  # fmt: skip
        units = [("velocity", "m/s") if row < D_RATE.start else ("rate", "rad/s") for row in moves]
        yield Effect(
            "knock", tuple((f"knock.{word}", unit) for word, unit in units),
            after * (slopes[:, :n] @ (back @ jumps)),
            f"something pushed at {t:.3g} s that nobody recorded: leave that time out", t,
        )  # fmt: skip
    for body in bodies if len(instants) == INSTANTS else ():
        yield Effect(
            f"change.{body}", _parts_of(body, fields), gradual[body],
            "something is used up or moves along the flight: identify parts of it and compare",
        )  # fmt: skip


def _parts_of(body: str, fields: Sequence[str]) -> tuple[tuple[str, str], ...]:
    return tuple((f"change.{body}.{f}", "1" if f == "scale" else "m") for f in fields)


def _bodies(rows: WhiteRows, recording: Recording) -> list[str]:
    """The bus, what is held, and whatever is estimated."""
    model = recording.model
    names = map(ParameterName.parse, (u.name for u in rows.problem.unknowns.items))
    estimated = [name.owner for name in names if name.is_inertial]
    held = [target.name for target in model.targets]
    # what weighs nothing, as the world of a fixed root, has nothing to change
    weighing = {ParameterName.parse(name).owner for name in known_body_names(recording.system)}
    return [b for b in dict.fromkeys([model.bus, *held, *estimated]) if b in weighing]


def _push(rows: WhiteRows, flown: Sequence[FlownRecording]) -> Iterator[Effect]:
    """A force and a torque on the root that stay as they are, in its axes."""
    model = rows.problem.recordings[0].model
    if model.root.type == "fixed":
        return
    planar = ("force.x", "force.y", "torque.z")
    wanted = [name for name in WRENCH if model.root.type == "floating" or name in planar]

    def push_on(flown: FlownRecording, k: int) -> FlightSetup:
        def add(inputs: Inputs) -> Inputs:
            push = inputs.push.copy()
            push[:, :, k] += WRENCH_STEP
            return inputs._replace(push=push)

        base = flown.setup
        return replace(base, inputs=add(base.inputs), record_inputs=add(base.record_inputs))

    places = [len(model.thrusters) + WRENCH.index(name) for name in wanted]
    columns = [
        setup_column(rows, flown, lambda one, k=k: push_on(one, k), WRENCH_STEP) for k in places
    ]
    yield from _block(
        "push", [(f"push.{name}", "N" if name[0] == "f" else "N m") for name in wanted], columns,
        "something pushes all along that nobody recorded, such as a leak or a cable: find it",
    )  # fmt: skip


def _gradient(rows: WhiteRows, flown: Sequence[FlownRecording]) -> Iterator[Effect]:
    """The gradient of gravity along any radial direction, where the model has none."""
    model = rows.problem.recordings[0].model
    if model.orbit is not None or model.root.type != "floating" or any(model.gravity):
        return

    def put_in_orbit(flown: FlownRecording, radial: tuple[float, float, float]) -> FlightSetup:
        tree = flown.setup.system.tree
        field = tree.field.copy()
        field[GRADIENT], field[HAS_GRAVITY] = GRADIENT_STEP, 1.0
        field[RADIAL : RADIAL + 3] = radial
        system = replace(flown.setup.system, tree=tree._replace(field=field))
        return replace(flown.setup, system=system)

    columns = [
        setup_column(rows, flown, lambda one, r=radial: put_in_orbit(one, r), GRADIENT_STEP)
        for radial in RADIALS
    ]
    parts = [("gravity.gradient", "1/s^2")] * len(RADIALS)
    yield from _block("gravity.gradient", parts, columns, "give the model its `[orbit]`")


def _block(
    name: str, parts: Sequence[tuple[str, str]], columns: Sequence[Array | None], remedy: str
) -> Iterator[Effect]:
    """One effect of several columns, where all could be simulated."""
    known = [column for column in columns if column is not None]
    if len(known) == len(parts):
        yield Effect(name, tuple(parts), np.column_stack(known), remedy)
