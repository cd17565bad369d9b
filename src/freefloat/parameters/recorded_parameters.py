"""Parameters of sensors that recordings have: those of other channels are not looked for."""

from __future__ import annotations

from collections.abc import Sequence

from freefloat.dynamics.tree import flatten
from freefloat.errors import IdentificationError
from freefloat.model.model import Model
from freefloat.model.parameter_name import ParameterName, is_of_sensor
from freefloat.notes import Note
from freefloat.parameters.parameters import Parameters
from freefloat.prediction.inputs import drive_by_recording
from freefloat.prediction.measurements import measurements_of
from freefloat.telemetry.telemetry import Telemetry
from freefloat.text import listing


def fix_unrecorded(
    parameters: Parameters, recorded: Sequence[Telemetry], *, is_planned: bool
) -> tuple[Parameters, tuple[Note, ...]]:
    """The parameters with those of sensors that nobody recorded held, and a note of it.

    `bias.*` means every channel that a robot could have; a recording has some of them.

    Args:
        parameters: what is to be estimated.
        recorded: from what.
        is_planned: whether a plan drives the joints, so that their encoders are sensors, too.

    >>> import freefloat as ff
    >>> model = ff.load_model("planar-capture")
    >>> flight = ff.simulate(model, ff.default_plan(model, duration=2.0), seed=1)
    >>> wanted = Parameters(model).free("delay.*")
    >>> fix_unrecorded(wanted, [flight], is_planned=False)[0].names
    ('delay.base.position', 'delay.base.velocity', 'delay.base.angle', 'delay.base.rate')
    """
    free = [p.name for p in parameters.free_ones if is_of_sensor(p.name)]
    if not free:
        return parameters, ()
    model = parameters.model
    channels = {
        name
        for telemetry in recorded
        for name in _channels(model if is_planned else drive_by_recording(model, telemetry),
                              telemetry)
    }  # fmt: skip
    # what another one follows is looked for where that one is recorded
    led = {p.tied_to[0] for p in parameters if p.tied_to and _is_of(p.name, channels)}
    unknown = [name for name in free if not _is_of(name, channels) and name not in led]
    if not unknown:
        return parameters, ()
    words = listing(unknown, most=4)
    if len(unknown) == len(parameters.free_ones):
        raise IdentificationError(
            f"none of the recordings has a channel of {words}; free something that was recorded",
            code="parameters.none",
        )
    text = f"no channel was recorded of {words}: not estimated, taken as the model has them"
    return parameters.fix(*unknown), (Note("parameters.not_recorded", text),)


def _channels(model: Model, telemetry: Telemetry) -> set[str]:
    """The channels and groups of channels that are compared with a simulation."""
    found = measurements_of(flatten(model), telemetry)
    return {name for measurement in found for name in (*measurement.rows, measurement.group)}


def _is_of(name: str, channels: set[str]) -> bool:
    """Whether a parameter such as delay.base.rate or tilt.base.rate.x belongs to one of them."""
    return ParameterName.parse(name).owner in channels
