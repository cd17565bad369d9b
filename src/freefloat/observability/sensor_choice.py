"""Part of a sensor suite, asked for in words: "gyro encoders", "arm_1", or a list of sensors."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

from freefloat.errors import IdentificationError
from freefloat.model.checks import sensor_targets
from freefloat.model.model import Model
from freefloat.model.parts import Sensor


def chosen_sensors(model: Model, asked: str | Sequence[Sensor] | None) -> tuple[Sensor, ...]:
    """The sensors asked for: all of the model's for None, or those that the words fit.

    A word is a kind (one or many: gyro, encoders), a channel prefix, or a name or glob of what a
    sensor sits on.

    >>> from freefloat.model import load_model
    >>> [s.kind for s in chosen_sensors(load_model("ets7"), "gyro, encoders")]
    ['gyro', 'encoder']
    """
    if asked is not None and not isinstance(asked, str):
        suite = tuple(asked)
        if not suite:
            raise IdentificationError("an empty list of sensors sees nothing; name some")
        return suite
    if not model.sensors:
        raise IdentificationError(
            f"{model.name!r} has no sensors; add [[sensor]] entries to its .toml file"
        )
    if asked is None:
        return model.sensors
    words = [word for word in re.split(r"[\s,]+", asked) if word]
    unknown = [w for w in words if not any(_fits(model, s, w) for s in model.sensors)]
    if unknown or not words:
        kinds = ", ".join(dict.fromkeys(sensor.kind for sensor in model.sensors))
        shown = ", ".join(map(repr, unknown)) or "nothing"
        raise IdentificationError(f"{model.name!r} has no sensor called {shown}; it has {kinds}")
    return tuple(s for s in model.sensors if any(_fits(model, s, word) for word in words))


def _fits(model: Model, sensor: Sensor, word: str) -> bool:
    if word in (sensor.kind, f"{sensor.kind}s", sensor.channel, sensor.on):
        return True
    return any(fnmatchcase(target, word) for target in sensor_targets(model, sensor))
