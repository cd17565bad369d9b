"""What drove a recorded flight, tabulated for a prediction of it.

Joints and wheels follow the recording (as in output error), thrust and wrench act as recorded;
everything else is integrated, so that friction and control of the joints play no part.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freefloat.arrays import Array
from freefloat.dynamics.kernels.integrate import Inputs
from freefloat.dynamics.tree import System, flatten
from freefloat.errors import TelemetryError
from freefloat.model.model import Model
from freefloat.prediction.inputs import inputs_from_telemetry
from freefloat.telemetry.names import channel_names
from freefloat.telemetry.telemetry import Telemetry

UNBRIDGED = 20.0  # median steps: `smooth` does not bridge a longer gap


@dataclass(frozen=True)
class ReplayInputs:
    """A flight's inputs on a grid of `n_steps` steps of `step` [s] from `start` [s] on.

    system has every recorded actuator driven by motion; inputs are tabulated at the start, middle
    and end of every step.
    """

    system: System
    start: float
    step: float
    n_steps: int
    inputs: Inputs
    notes: tuple[str, ...]

    @property
    def times(self) -> Array:
        """The instants of the grid [s], on the clock of the recording."""
        return self.start + self.step * np.arange(self.n_steps + 1)


def drive_of(model: Model, telemetry: Telemetry, *, step: float) -> ReplayInputs:
    """The inputs of a recorded flight, over the longest stretch in which all of them are known."""
    model, notes = _stiffened(model, telemetry)
    whole = telemetry.duration
    telemetry = _longest_stretch(model, telemetry)
    driving = inputs_from_telemetry(model, telemetry)
    start, end = driving.first, driving.last
    n_steps = int(np.floor((end - start) / step * (1.0 + 1e-12)))
    if n_steps < 2:
        raise TelemetryError(
            f"the recording has {end - start:.3g} s in which every driven joint is known; record"
            " more, or look at its gaps with `freefloat telemetry`"
        )
    if end - start < 0.99 * whole:
        notes.append(
            f"predicted from {start:.4g} s to {end:.4g} s, where every driven joint is recorded"
        )
    stages = start + step * (np.arange(n_steps)[:, None] + np.array([0.0, 0.5, 1.0]))
    inputs = driving.tabulate(stages)
    return ReplayInputs(
        flatten(driving.model), start, step, n_steps, inputs, (*notes, *driving.notes)
    )  # fmt: skip


def _stiffened(model: Model, telemetry: Telemetry) -> tuple[Model, list[str]]:
    """The model with those flexible drives stiff whose motor nobody recorded, and notes on them."""
    notes = []
    for joint in model.joints:
        motor = f"{joint.name}.motor_position"
        if joint.drive is None or motor in telemetry or f"{joint.name}.position" not in telemetry:
            continue
        notes.append(f"{motor} is not recorded: the drive counts as stiff")
        model = model.with_joint(joint.name, drive=None, role="motion")
    return model, notes


def _longest_stretch(model: Model, telemetry: Telemetry) -> Telemetry:
    """The recording where no driven joint or wheel has a long gap."""
    breaks: list[tuple[float, float]] = []
    for coordinate in model.assembly.coordinates:
        if coordinate.role not in ("motion", "torque"):
            continue
        for name in channel_names(coordinate):
            if name not in telemetry or telemetry[name].valid.sum() < 3:
                continue
            time = telemetry[name].usable()[0]
            steps = np.diff(time)
            long = np.flatnonzero(steps > UNBRIDGED * np.median(steps))
            breaks += [(float(time[k]), float(time[k + 1])) for k in long]
            break  # the position; the rate beside it is not followed
    if not breaks:
        return telemetry
    pieces, begin = [], telemetry.start
    for gap_start, gap_end in sorted(breaks):
        if gap_start > begin:
            pieces.append((begin, gap_start))
        begin = max(begin, gap_end)
    pieces.append((begin, telemetry.end))
    return telemetry.between(*max(pieces, key=lambda piece: piece[1] - piece[0]))
